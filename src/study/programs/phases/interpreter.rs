//! Execution of compiled steps by a process.

use super::bound::{BoundExpression, NUMBER, SOURCE};
use super::changes::Watch;
use super::compiled::{Address, CompiledProgram, CompiledStep, StepAction};
use super::step::Neighbours;
use crate::programs::expression::Value;
use parsim_sim::fault::Fault;
use parsim_sim::node::Work;
use parsim_sim::program::Grid;
use parsim_sim::program::collective::CollectiveOperation;
use parsim_sim::program::{Message, MessagePattern, Process, Received};
use parsim_sim::units::SimTime;
use std::rc::Rc;

/// The tags of exchanges lie above all that a step can name.
pub(super) const FIRST_OWN_TAG: u32 = 1 << 31;

/// Number of steps counted at once.
const PAUSE: u32 = 4096;
/// A process that takes more steps at one instant will not come to its end.
const MOST_IDLE: u32 = 10_000_000;
const FEWER: &str = "repeat less often";

/// A process on its way through the steps.
pub(super) struct StepInterpreter {
    me: Process,
    program: Rc<CompiledProgram>,
    slots: Box<[Value]>,
    /// The next step.
    at: Address,
    /// The number of the phase.
    phase: usize,
    /// Number of changes of variables that a condition of a loop may wait for.
    changes: i64,
    /// Steps taken at one instant, and the instant.
    idle: u32,
    idle_since: SimTime,
    /// Compares values with those of earlier versions, in a dry run for that.
    watch: Option<Rc<Watch>>,
}

/// A step that has been taken, or what it asks for.
enum Taken {
    Done,
    Asks,
}

impl StepInterpreter {
    pub fn new(me: Process, program: Rc<CompiledProgram>, watch: Option<Rc<Watch>>) -> Self {
        let slots = program.slots_of(me.rank());
        Self { slots, at: 0, phase: 0, changes: 0, idle: 0, idle_since: me.now(), me, program, watch }
    }

    /// Takes all steps.
    ///
    /// # Errors
    /// The number of a step that cannot be taken, and the reason; its path is that of a field of the step.
    pub async fn run(mut self) -> Result<(), (usize, Fault)> {
        let program = Rc::clone(&self.program);
        while let Some(step) = program.steps.get(self.at as usize) {
            self.at += 1;
            self.take(step).await.map_err(|fault| (step.number, fault))?;
        }
        Ok(())
    }

    async fn take(&mut self, step: &CompiledStep) -> Result<(), Fault> {
        if step.action.begins() {
            self.begin(step)?;
            if self.idle.is_multiple_of(PAUSE) {
                self.me.pause(PAUSE.into()).await;
            }
        }
        match self.control(&step.action)? {
            Taken::Done => Ok(()),
            Taken::Asks => self.ask(&step.action).await,
        }
    }

    /// Notes that a step begins, and counts it, so that loops in which nothing happens come to an end.
    fn begin(&mut self, step: &CompiledStep) -> Result<(), Fault> {
        self.me.step(step.number);
        self.idle += 1;
        if let Some(watch) = &self.watch {
            watch.step(&step.action, &self.slots);
        }
        if self.idle.is_multiple_of(PAUSE) { self.count_steps() } else { Ok(()) }
    }

    #[cold]
    fn count_steps(&mut self) -> Result<(), Fault> {
        let now = self.me.now();
        if now > self.idle_since {
            (self.idle, self.idle_since) = (0, now);
        }
        if self.idle >= MOST_IDLE {
            let message = format!("takes {MOST_IDLE} steps without any simulated time passing");
            return Err(Fault::new("", message, FEWER));
        }
        Ok(())
    }

    /// Takes a step that asks for nothing.
    fn control(&mut self, action: &StepAction) -> Result<Taken, Fault> {
        match action {
            StepAction::Enter { phase, outer } => {
                self.set(*outer, index_value(self.phase));
                self.enter(*phase);
            }
            StepAction::Leave { outer } => self.enter(self.index(*outer)),
            StepAction::Repeat { times, happens, index, end, behind } => {
                let rounds = if *happens { rounds(times, &self.slots)? } else { 0 };
                self.set(*index, Value::Whole(0));
                self.set(*end, Value::Whole(rounds));
                self.at = if rounds > 0 { self.at } else { *behind };
            }
            StepAction::Round { index, end, body } => self.round(*index, *end, *body),
            StepAction::While { condition, changes, behind } => {
                self.set(*changes, Value::Whole(self.changes));
                self.at = if condition.condition(&self.slots, "condition")? { self.at } else { *behind };
            }
            StepAction::WhileRound { changes, begin } => self.while_round(*changes, *begin)?,
            StepAction::When { condition, otherwise } => {
                self.at = if condition.condition(&self.slots, "condition")? { self.at } else { *otherwise };
            }
            StepAction::Jump(to) => self.at = *to,
            _ => return Ok(Taken::Asks),
        }
        Ok(Taken::Done)
    }

    fn set(&mut self, slot: u16, value: Value) {
        self.slots[usize::from(slot)] = value;
    }

    /// A slot that holds the number of something.
    fn index(&self, slot: u16) -> usize {
        self.slots[usize::from(slot)].as_whole().and_then(|whole| usize::try_from(whole).ok()).unwrap_or(0)
    }

    fn enter(&mut self, phase: usize) {
        self.phase = phase;
        self.me.phase(self.program.phases[phase]);
    }

    fn round(&mut self, index: u16, end: u16, body: Address) {
        let next = self.slots[usize::from(index)].as_whole().map_or(0, |round| round + 1);
        self.set(index, Value::Whole(next));
        if self.slots[usize::from(end)] != Value::Whole(next) {
            self.at = body;
        }
    }

    fn while_round(&mut self, changes: u16, begin: Address) -> Result<(), Fault> {
        let program = Rc::clone(&self.program);
        let StepAction::While { condition, behind, .. } = &program.steps[begin as usize].action else { return Ok(()) };
        if self.slots[usize::from(changes)] == Value::Whole(self.changes) {
            let condition = condition.source();
            let message = format!("repeats for ever: nothing is received that could change `{condition}`");
            return Err(Fault::new("condition", message, "receive a `number` in the loop, or use Repeat"));
        }
        if let Some(watch) = &self.watch {
            watch.expression(condition, &self.slots);
        }
        self.set(changes, Value::Whole(self.changes));
        self.at = if condition.condition(&self.slots, "condition")? { begin + 1 } else { *behind };
        Ok(())
    }

    async fn ask(&mut self, action: &StepAction) -> Result<(), Fault> {
        match action {
            StepAction::Compute { flops, rows } => {
                if let Some(work) = self.work(flops, rows.as_ref())? {
                    self.me.compute(work).await;
                }
            }
            StepAction::Send { to, bytes, tag, number } => {
                let message = Message::new(bytes.bytes(&self.slots)?).tag(self.tag(tag.as_ref())?);
                let message = message.values(self.values(number.as_ref())?);
                self.me.send(self.rank("to", "sends to", to)?, message).await;
            }
            StepAction::Receive { from, tag } => {
                let from = from.as_ref().map(|from| self.rank("from", "receives from", from)).transpose()?;
                let tag = Some(self.tag(tag.as_ref())?);
                let received = self.me.receive_where(MessagePattern { from, tag }).await;
                self.note(&received);
            }
            StepAction::Exchange { with, bytes } => self.exchange(*with, bytes.bytes(&self.slots)?).await,
            StepAction::Collective { operation, bytes, root } => {
                let root = root.as_ref().map_or(Ok(0), |root| self.rank("root", "has the root", root))?;
                self.collective(operation, bytes.bytes(&self.slots)?, root).await;
            }
            StepAction::Input { bytes } => self.me.input(bytes.bytes(&self.slots)?).await,
            StepAction::Output { bytes } => self.me.output(bytes.bytes(&self.slots)?).await,
            _ => {}
        }
        Ok(())
    }

    /// The rank that `expression` in `field` names.
    fn rank(&self, field: &str, does: &str, expression: &BoundExpression) -> Result<u32, Fault> {
        let rank = expression.rank(&self.slots, field)?;
        let last = self.me.ranks() - 1;
        if rank > last {
            let message = format!("{does} rank {rank}, but the ranks are 0 to {last}");
            return Err(Fault::new(field, message, format!("give a rank from 0 to {last}")));
        }
        Ok(rank)
    }

    fn tag(&self, tag: Option<&BoundExpression>) -> Result<u32, Fault> {
        match tag.map(|tag| tag.rank(&self.slots, "tag")).transpose()? {
            Some(tag) if tag >= FIRST_OWN_TAG => {
                Err(Fault::new("tag", format!("the tag {tag} is not below 2^31"), "give a smaller one"))
            }
            tag => Ok(tag.unwrap_or(0)),
        }
    }

    fn values(&self, number: Option<&BoundExpression>) -> Result<Option<Rc<[f64]>>, Fault> {
        let number = number.map(|number| number.number(&self.slots, "number")).transpose()?;
        Ok(number.and_then(Value::as_real).map(|number| [number].into()))
    }

    fn work(&self, flops: &BoundExpression, rows: Option<&BoundExpression>) -> Result<Option<Work>, Fault> {
        let flops = flops.count(&self.slots, "flops")?;
        let rows = rows.map_or(Ok(1), |rows| rows.count(&self.slots, "rows"))?;
        if rows == 0 && flops > 0 {
            return Err(Fault::new("rows", format!("{flops} operations in 0 rows"), "give a number of rows from 1 on"));
        }
        let rows = rows.min(flops);
        Ok((flops > 0).then(|| Work::flops(flops.div_ceil(rows)).rows(rows)))
    }

    /// Notes what a message brings.
    fn note(&mut self, received: &Received) {
        self.set(SOURCE, Value::Whole(received.from.into()));
        if let Some([number]) = received.message.values.as_deref() {
            self.set(NUMBER, Value::of_number(*number));
        }
        self.changes += 1;
    }

    /// Exchanges messages with the neighbours. Each direction has a tag of its own: on a short ring both neighbours
    /// are the same.
    async fn exchange(&self, with: Neighbours, bytes: u64) {
        let neighbours = with.of(self.me.rank(), self.program.grid);
        let mut under_way = [None; 4];
        for direction in 0..4 {
            if let Some(to) = neighbours[direction] {
                let message = Message::new(bytes).tag(own_tag(direction));
                under_way[direction] = Some(self.me.start_send(to, message).await);
            }
        }
        for direction in 0..4 {
            if let Some(from) = neighbours[direction] {
                let tag = Some(own_tag(direction ^ 1));
                self.me.receive_where(MessagePattern { from: Some(from), tag }).await;
            }
        }
        for operation in under_way.into_iter().flatten() {
            self.me.wait(operation).await;
        }
    }

    async fn collective(&self, operation: &CollectiveOperation, bytes: u64, root: u32) {
        self.me.collective(Some(operation.name()));
        // Apart, because its state is larger than all others together.
        Box::pin(operation.run(&self.me, root, bytes, None)).await;
        self.me.collective(None);
    }
}

fn index_value(index: usize) -> Value {
    Value::Whole(i64::try_from(index).unwrap_or(i64::MAX))
}

fn rounds(times: &BoundExpression, slots: &[Value]) -> Result<i64, Fault> {
    let count = times.count(slots, "times")?;
    let too_large = |_| Fault::new("times", format!("`{}` is too large", times.source()), FEWER);
    i64::try_from(count).map_err(too_large)
}

fn own_tag(direction: usize) -> u32 {
    FIRST_OWN_TAG + u32::try_from(direction).expect("there are four directions")
}

impl Neighbours {
    /// The neighbours of a rank, opposite directions side by side.
    pub(super) fn of(self, rank: u32, grid: Grid) -> [Option<u32>; 4] {
        let (row, column) = grid.coordinates(rank);
        let all = |closed| beside(rank, grid.ranks(), closed);
        let along = |closed| beside(column, grid.columns, closed).map(|column| Some(row * grid.columns + column?));
        let down = |closed| beside(row, grid.rows(), closed).map(|row| Some(row? * grid.columns + column));
        let ([after, before], [below, above]) = match self {
            Self::Line => (all(false), [None; 2]),
            Self::Ring => (all(true), [None; 2]),
            Self::LeftAndRight => (along(false), [None; 2]),
            Self::AboveAndBelow => (down(false), [None; 2]),
            Self::Grid => (along(false), down(false)),
            Self::Torus => (along(true), down(true)),
        };
        [after, before, below, above]
    }
}

/// The places after and before `place` in a line or ring of `count` places.
fn beside(place: u32, count: u32, closed: bool) -> [Option<u32>; 2] {
    let after = (place + 1 < count || closed).then(|| (place + 1) % count);
    let before = (place > 0 || closed).then(|| (place + count - 1) % count);
    [after, before].map(|neighbour| neighbour.filter(|_| count > 1))
}
