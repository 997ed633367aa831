//! One rank of a simulation: its logical processes, its messages, and the costs of its work.

use super::events::{EventMessage, EventQueue, IsingEventKind, RollbackCost};
use super::lattice::IsingModel;
use super::messenger::OrderedMessenger;
use super::wire::RankMessage;
use super::{Ising, StateSaving};
use parsim_sim::node::{Module, Work};
use parsim_sim::program::BlockPartition;
use parsim_sim::program::Process;

/// Size of an element that [`Module::Buf`] copies, in bytes.
const ELEMENT_BYTES: u64 = 8;

/// The state of a rank that all protocols need.
pub struct Rank {
    pub me: Process,
    pub program: Ising,
    pub queue: EventQueue,
    pub courier: OrderedMessenger,
    /// Number of messages between logical processes sent to each rank.
    pub sent: Vec<u64>,
    /// Number of messages between logical processes received.
    pub received: u64,
    /// Number of null messages sent.
    pub null_messages: u64,
    /// Number of computations of the global virtual time.
    pub rounds: u32,
    model: IsingModel,
}

impl Rank {
    /// Creates the rank of `me` before the first event.
    pub fn new(me: &Process, program: &Ising) -> Self {
        let model = IsingModel::of(program);
        let blocks = BlockPartition::new(model.processes() as u64, me.ranks());
        let (first, count) = (to_index(blocks.first(me.rank())), to_index(blocks.count(me.rank())));
        let mut lattices = model.beginning(me.streams());
        let mut own: Vec<_> = lattices.drain(first..first + count).collect();
        for lattice in &mut own {
            lattice.tally.critical.attempts = f64::from(program.initialisation);
        }
        Self {
            queue: EventQueue::new(&model, first, own, program.saving().is_some()),
            courier: OrderedMessenger::new(me),
            sent: vec![0; me.ranks() as usize],
            received: 0,
            null_messages: 0,
            rounds: 0,
            me: me.clone(),
            program: program.clone(),
            model,
        }
    }

    /// Returns the rank that holds a logical process.
    pub fn holder(&self, process: usize) -> u32 {
        let blocks = BlockPartition::new(self.model.processes() as u64, self.me.ranks());
        let holds = |rank: &u32| to_index(blocks.first(rank + 1)) > process;
        (0..self.me.ranks()).find(holds).unwrap_or(0)
    }

    /// Returns the ranks that hold neighbours of this rank's logical processes.
    pub fn neighbours(&self) -> Vec<u32> {
        let own = (0..self.model.processes()).filter(|process| self.holder(*process) == self.me.rank());
        let around =
            own.flat_map(|process| super::lattice::BoundarySide::ALL.map(|side| self.model.neighbour(process, side)));
        let mut ranks: Vec<u32> = around.map(|process| self.holder(process)).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks.retain(|rank| *rank != self.me.rank());
        ranks
    }

    /// Processes the earliest event and accounts for its cost; returns `false` if there is none.
    pub async fn process_next(&mut self) -> bool {
        let Some((kind, rolled_back)) = self.queue.process_next() else { return false };
        let operations = match kind {
            IsingEventKind::Attempt => self.program.costs.attempt,
            IsingEventKind::Update => self.program.costs.update,
        };
        self.operate(operations).await;
        self.save().await;
        self.account_rollback(rolled_back).await;
        true
    }

    /// Accepts a message and accounts for its cost.
    pub async fn accept(&mut self, message: EventMessage) {
        self.received += 1;
        let rolled_back = self.queue.accept(message);
        self.account_rollback(rolled_back).await;
    }

    /// Sends a note to another rank and accounts for its cost.
    pub async fn notify(&mut self, to: u32, note: &RankMessage) {
        self.operate(self.program.costs.send).await;
        let bytes = match note {
            RankMessage::Report(report) => self.program.costs.message.count() + 4 * report.sent.len() as u64,
            _ => self.program.costs.message.count(),
        };
        self.courier.send(to, bytes, &note.encode()).await;
    }

    /// Returns the next note with its sender, if one has arrived, and accounts for its cost.
    pub async fn poll(&mut self) -> Option<(u32, RankMessage)> {
        let (from, content) = self.courier.poll().await?;
        self.operate(self.program.costs.receive).await;
        Some((from, RankMessage::decode(&content)))
    }

    /// Waits for the next note, and accounts for its cost.
    pub async fn next(&mut self) -> (u32, RankMessage) {
        let (from, content) = self.courier.next().await;
        self.operate(self.program.costs.receive).await;
        (from, RankMessage::decode(&content))
    }

    /// Accounts for the cost of a rollback, and sends the outgoing messages.
    async fn account_rollback(&mut self, rolled_back: RollbackCost) {
        if rolled_back.happened {
            let costs = &self.program.costs;
            let operations = u64::from(costs.rollback) + u64::from(costs.undo) * rolled_back.undone;
            self.compute(Module::Flop, operations).await;
            self.save().await;
        }
        for message in std::mem::take(&mut self.queue.outgoing) {
            let to = self.holder(message.update.to);
            self.sent[to as usize] += 1;
            self.notify(to, &RankMessage::Message(message)).await;
        }
    }

    /// Accounts for copying the state of a logical process to save or to restore it.
    async fn save(&self) {
        let sites = match self.program.saving() {
            None => return,
            Some(StateSaving::Incremental) => 1,
            Some(StateSaving::Copy) => self.model.state_sites() as u64,
        };
        let bytes = sites * self.program.costs.site.count();
        self.compute(Module::Buf, bytes.div_ceil(ELEMENT_BYTES)).await;
    }

    async fn operate(&self, operations: u32) {
        self.compute(Module::Flop, u64::from(operations)).await;
    }

    async fn compute(&self, module: Module, iterations: u64) {
        if iterations > 0 {
            self.me.compute(Work::new(module, iterations)).await;
        }
    }
}

fn to_index(count: u64) -> usize {
    usize::try_from(count).expect("logical processes are counted in 32 bits")
}
