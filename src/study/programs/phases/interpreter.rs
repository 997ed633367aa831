//! Execution of steps by a process.

use super::changes::Watch;
use super::expression::{Expression, Size};
use super::name;
use super::scope::Scope;
use super::step::{Neighbours, Source, Step};
use crate::programs::expression::Value;
use parsim_sim::fault::Fault;
use parsim_sim::node::Work;
use parsim_sim::program::Grid;
use parsim_sim::program::collective::CollectiveOperation;
use parsim_sim::program::{Message, MessagePattern, Process, Received};
use parsim_sim::trace::Phase;
use parsim_sim::units::SimTime;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

/// The tags of exchanges lie above all that a step can name.
pub(super) const FIRST_OWN_TAG: u32 = 1 << 31;

/// Number of steps counted at once.
const PAUSE: u64 = 4096;
/// A process that takes more steps at one instant will not come to its end.
const MOST_IDLE: u64 = 10_000_000;
const FEWER: &str = "repeat less often";

type StepFuture<'s> = Pin<Box<dyn Future<Output = Result<(), Fault>> + 's>>;

/// A process on its way through the steps.
pub(super) struct StepInterpreter {
    pub me: Process,
    pub scope: Scope,
    pub phase: Phase,
    pub received: u64,
    /// Steps taken at one instant, and the instant.
    pub idle: u64,
    pub idle_since: SimTime,
    /// Compares values with those of earlier versions, in a dry run for that.
    pub watch: Option<Rc<Watch>>,
}

impl StepInterpreter {
    /// Takes all steps.
    ///
    /// # Errors
    /// The reason why a step cannot be taken.
    pub fn take<'s>(&'s mut self, steps: &'s [Step]) -> StepFuture<'s> {
        Box::pin(async move {
            for (index, step) in steps.iter().enumerate() {
                self.count_step().await?;
                if let Some(watch) = &self.watch {
                    watch.step(step, &self.scope);
                }
                self.me.step(step.number());
                self.step(step).await.map_err(|fault| fault.within(&index.to_string()))?;
            }
            Ok(())
        })
    }

    async fn step(&mut self, step: &Step) -> Result<(), Fault> {
        match step {
            Step::Phase { name, steps } => self.in_phase(name, steps).await,
            Step::Repeat { times, index, steps } => self.repeat(times, index.as_deref(), steps).await,
            Step::While { condition, steps } => self.repeat_while(condition, steps).await,
            Step::When { condition, then, otherwise } => {
                let holds = condition.condition(&self.scope).map_err(|fault| fault.at("condition"))?;
                let (field, steps) = if holds { ("then", then) } else { ("otherwise", otherwise) };
                self.take(steps).await.map_err(|fault| fault.within(field))
            }
            Step::Compute { flops, rows } => self.compute(flops, rows.as_ref()).await,
            Step::Send { to, bytes, tag, number } => self.send(to, bytes, tag.as_ref(), number.as_ref()).await,
            Step::Receive { from, tag } => self.receive(from, tag.as_ref()).await,
            Step::Exchange { with, bytes } => self.exchange(*with, bytes).await,
            Step::Collective { operation, bytes, root } => self.collective(operation, bytes, root.as_ref()).await,
            Step::Input { bytes } => {
                self.me.input(self.bytes(bytes)?).await;
                Ok(())
            }
            Step::Output { bytes } => {
                self.me.output(self.bytes(bytes)?).await;
                Ok(())
            }
        }
    }

    async fn in_phase(&mut self, name: &str, steps: &[Step]) -> Result<(), Fault> {
        let outer = self.phase;
        self.enter(name::phase(name));
        self.take(steps).await.map_err(|fault| fault.within("steps"))?;
        self.enter(outer);
        Ok(())
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.me.phase(phase);
    }

    async fn repeat(&mut self, times: &Expression, index: Option<&str>, steps: &[Step]) -> Result<(), Fault> {
        let count = times.count(&self.scope).map_err(|fault| fault.at("times"))?;
        let count = i64::try_from(count).map_err(|_| Fault::new("times", format!("`{times}` is too large"), FEWER))?;
        for round in 0..if happens(steps) { count } else { 0 } {
            if let Some(index) = index {
                self.scope.declare(index, Value::Whole(round));
            }
            self.take(steps).await.map_err(|fault| fault.within("steps"))?;
            if index.is_some() {
                self.scope.forget();
            }
        }
        Ok(())
    }

    async fn repeat_while(&mut self, condition: &Expression, steps: &[Step]) -> Result<(), Fault> {
        while condition.condition(&self.scope).map_err(|fault| fault.at("condition"))? {
            let received = self.received;
            self.take(steps).await.map_err(|fault| fault.within("steps"))?;
            if self.received == received {
                let message = format!("repeats for ever: nothing is received that could change `{condition}`");
                return Err(Fault::new("condition", message, "receive a `number` in the loop, or use Repeat"));
            }
            if let Some(watch) = &self.watch {
                watch.expression(condition, &self.scope);
            }
        }
        Ok(())
    }

    /// Counts a step, so that loops in which nothing happens come to an end.
    async fn count_step(&mut self) -> Result<(), Fault> {
        self.idle += 1;
        if !self.idle.is_multiple_of(PAUSE) {
            return Ok(());
        }
        let now = self.me.now();
        if now > self.idle_since {
            (self.idle, self.idle_since) = (0, now);
        }
        if self.idle >= MOST_IDLE {
            let message = format!("takes {MOST_IDLE} steps without any simulated time passing");
            return Err(Fault::new("", message, FEWER));
        }
        self.me.pause(PAUSE).await;
        Ok(())
    }

    fn bytes(&self, bytes: &Size) -> Result<u64, Fault> {
        bytes.bytes(&self.scope).map_err(|fault| fault.at("bytes"))
    }

    /// The rank that `expression` in `field` names.
    fn rank(&self, field: &str, does: &str, expression: &Expression) -> Result<u32, Fault> {
        let rank = expression.rank(&self.scope).map_err(|fault| fault.at(field))?;
        let last = self.me.ranks() - 1;
        if rank > last {
            let message = format!("{does} rank {rank}, but the ranks are 0 to {last}");
            return Err(Fault::new(field, message, format!("give a rank from 0 to {last}")));
        }
        Ok(rank)
    }

    async fn compute(&mut self, flops: &Expression, rows: Option<&Expression>) -> Result<(), Fault> {
        let flops = flops.count(&self.scope).map_err(|fault| fault.at("flops"))?;
        let rows = rows.map_or(Ok(1), |rows| rows.count(&self.scope)).map_err(|fault| fault.at("rows"))?;
        if rows == 0 && flops > 0 {
            return Err(Fault::new("rows", format!("{flops} operations in 0 rows"), "give a number of rows from 1 on"));
        }
        let rows = rows.min(flops);
        if flops > 0 {
            self.me.compute(Work::flops(flops.div_ceil(rows)).rows(rows)).await;
        }
        Ok(())
    }

    async fn send(
        &mut self,
        to: &Expression,
        bytes: &Size,
        tag: Option<&Expression>,
        number: Option<&Expression>,
    ) -> Result<(), Fault> {
        let number = number.map(|number| number.number(&self.scope)).transpose().map_err(|fault| fault.at("number"))?;
        let message = Message::new(self.bytes(bytes)?).tag(self.tag(tag)?);
        let message = message.values(number.and_then(Value::as_real).map(|number| [number].into()));
        self.me.send(self.rank("to", "sends to", to)?, message).await;
        Ok(())
    }

    async fn receive(&mut self, from: &Source, tag: Option<&Expression>) -> Result<(), Fault> {
        let from = match from {
            Source::Any => None,
            Source::Rank(rank) => Some(self.rank("from", "receives from", rank)?),
        };
        let Received { from, message } =
            self.me.receive_where(MessagePattern { from, tag: Some(self.tag(tag)?) }).await;
        self.scope.set("source", Value::Whole(from.into()));
        if let Some([number]) = message.values.as_deref() {
            self.scope.set("number", Value::of_number(*number));
        }
        self.received += 1;
        Ok(())
    }

    fn tag(&self, tag: Option<&Expression>) -> Result<u32, Fault> {
        match tag.map(|tag| tag.rank(&self.scope)).transpose().map_err(|fault| fault.at("tag"))? {
            Some(tag) if tag >= FIRST_OWN_TAG => {
                Err(Fault::new("tag", format!("the tag {tag} is not below 2^31"), "give a smaller one"))
            }
            tag => Ok(tag.unwrap_or(0)),
        }
    }

    /// Exchanges messages with the neighbours. Each direction has a tag of its own: on a short ring both neighbours
    /// are the same.
    async fn exchange(&mut self, with: Neighbours, bytes: &Size) -> Result<(), Fault> {
        let bytes = self.bytes(bytes)?;
        let neighbours = with.of(self.me.rank(), self.me.grid());
        let mut under_way = Vec::new();
        for (direction, to) in neighbours.iter().enumerate() {
            if let Some(to) = to {
                let message = Message::new(bytes).tag(own_tag(direction));
                under_way.push(self.me.start_send(*to, message).await);
            }
        }
        for (direction, from) in neighbours.iter().enumerate() {
            if from.is_some() {
                self.me.receive_where(MessagePattern { from: *from, tag: Some(own_tag(direction ^ 1)) }).await;
            }
        }
        self.me.wait_all(under_way).await;
        Ok(())
    }

    async fn collective(
        &mut self,
        operation: &CollectiveOperation,
        bytes: &Size,
        root: Option<&Expression>,
    ) -> Result<(), Fault> {
        let root = root.map_or(Ok(0), |root| self.rank("root", "has the root", root))?;
        let bytes = self.bytes(bytes)?;
        self.me.collective(Some(operation.name()));
        operation.run(&self.me, root, bytes, None).await;
        self.me.collective(None);
        Ok(())
    }
}

/// True if a process that takes these steps ever asks for anything.
fn happens(steps: &[Step]) -> bool {
    steps.iter().any(|step| {
        let inner = step.inner();
        inner.is_empty() || inner.into_iter().any(|(_, steps)| happens(steps))
    })
}

fn own_tag(direction: usize) -> u32 {
    FIRST_OWN_TAG + u32::try_from(direction).expect("there are four directions")
}

impl Neighbours {
    /// The neighbours of a rank, opposite directions side by side.
    pub(super) fn of(self, rank: u32, grid: Grid) -> Vec<Option<u32>> {
        let (row, column) = grid.coordinates(rank);
        let all = |closed| beside(rank, grid.ranks(), closed).into();
        let along = |closed| beside(column, grid.columns, closed).map(|column| Some(row * grid.columns + column?));
        let down = |closed| beside(row, grid.rows(), closed).map(|row| Some(row? * grid.columns + column));
        match self {
            Self::Line => all(false),
            Self::Ring => all(true),
            Self::LeftAndRight => along(false).into(),
            Self::AboveAndBelow => down(false).into(),
            Self::Grid => [along(false), down(false)].concat(),
            Self::Torus => [along(true), down(true)].concat(),
        }
    }
}

/// The places after and before `place` in a line or ring of `count` places.
fn beside(place: u32, count: u32, closed: bool) -> [Option<u32>; 2] {
    let after = (place + 1 < count || closed).then(|| (place + 1) % count);
    let before = (place > 0 || closed).then(|| (place + count - 1) % count);
    [after, before].map(|neighbour| neighbour.filter(|_| count > 1))
}
