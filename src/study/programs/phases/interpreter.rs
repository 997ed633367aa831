//! Execution of compiled steps by a process.

mod calls;
mod collective_order;
mod exchange;
mod requests;
mod verbs;

use super::bound::BoundExpression;
use super::compiled::{Address, CompiledProgram, CompiledStep, StepAction};
use super::distribution::BoundDistribution;
use crate::programs::expression::Value;
use calls::CallStack;
pub(super) use collective_order::CollectiveOrder;
use parsim_sim::fault::Fault;
use parsim_sim::program::{Process, SideTasks};
use parsim_sim::units::SimTime;
use rand_chacha::ChaCha8Rng;
use requests::OutstandingRequests;
use std::rc::Rc;

/// Number of steps that are counted at a time.
const PAUSE: u32 = 4096;
/// Maximum number of steps at one instant. A process that exceeds it is assumed never to end.
const MAX_IDLE: u32 = 10_000_000;
const FEWER: &str = "repeat less often";

/// The state of a process that executes steps.
pub(super) struct StepInterpreter {
    me: Process,
    program: Rc<CompiledProgram>,
    slots: Box<[Value]>,
    /// The address of the next step.
    at: Address,
    /// The number of the current phase.
    phase: usize,
    /// Number of changes of variables on which the condition of a loop may depend.
    changes: i64,
    /// Number of counted steps since the instant `idle_since`.
    idle: u32,
    /// The instant at which the count of idle steps began.
    idle_since: SimTime,
    /// Number of steps that may begin before they are counted.
    uncounted: u32,
    under_way: OutstandingRequests,
    /// The non-blocking collective operations that have begun.
    side_tasks: SideTasks,
    calls: CallStack,
    /// The streams of random numbers, each opened at its first use.
    streams: Vec<Option<Box<ChaCha8Rng>>>,
    /// The collective operations of all ranks of the run.
    collectives: Rc<CollectiveOrder>,
}

/// The outcome of a step.
enum StepOutcome {
    Done,
    NeedsSimulator,
}

/// The reason why the execution of steps is interrupted.
enum InterruptReason<'p> {
    /// This step is a verb that requires the simulator.
    Verb(&'p CompiledStep),
    /// As many steps have been executed as are counted at a time.
    Pause,
    End,
}

/// The number of a step, and its fault.
type PlacedFault = (usize, Box<Fault>);

impl StepInterpreter {
    pub fn new(me: Process, program: Rc<CompiledProgram>, collectives: Rc<CollectiveOrder>) -> Self {
        Self {
            slots: program.slots_of(me.rank()),
            at: 0,
            phase: 0,
            changes: 0,
            idle: 0,
            idle_since: me.now(),
            uncounted: PAUSE - 1,
            under_way: OutstandingRequests::default(),
            side_tasks: SideTasks::default(),
            calls: CallStack::default(),
            streams: Vec::new(),
            me,
            program,
            collectives,
        }
    }

    /// Executes all steps.
    ///
    /// # Errors
    /// The number of a step that cannot be executed, and the reason, whose path is that of a field of the step.
    pub async fn run(&mut self) -> Result<(), PlacedFault> {
        let program = Rc::clone(&self.program);
        loop {
            match self.run_steps(&program)? {
                InterruptReason::Verb(step) => self.execute_verb(step).await.map_err(|fault| (step.number, fault))?,
                InterruptReason::Pause => self.me.pause(PAUSE.into()).await,
                InterruptReason::End => break,
            }
        }
        let forgotten = self.under_way.still_pending(&program.requests);
        forgotten.map_or(Ok(()), |(step, fault)| Err((step, Box::new(fault))))
    }

    /// Executes steps up to the next one that requires the simulator.
    fn run_steps<'p>(&mut self, program: &'p CompiledProgram) -> Result<InterruptReason<'p>, PlacedFault> {
        while let Some(step) = program.steps.get(self.at as usize) {
            if step.action.begins() {
                self.me.step(step.number);
                if self.uncounted == 0 {
                    self.count_steps().map_err(|fault| (step.number, fault))?;
                    return Ok(InterruptReason::Pause);
                }
                self.uncounted -= 1;
            }
            self.at += 1;
            match self.control(&step.action) {
                Ok(StepOutcome::Done) => {}
                Ok(StepOutcome::NeedsSimulator) => return Ok(InterruptReason::Verb(step)),
                Err(fault) => return Err((step.number, fault)),
            }
        }
        Ok(InterruptReason::End)
    }

    /// Counts the steps since the last count, so that loops without progress are detected.
    #[cold]
    fn count_steps(&mut self) -> Result<(), Box<Fault>> {
        self.uncounted = PAUSE;
        self.idle += PAUSE;
        let now = self.me.now();
        if now > self.idle_since {
            (self.idle, self.idle_since) = (0, now);
        }
        if self.idle >= MAX_IDLE {
            let message = format!("takes {MAX_IDLE} steps without any simulated time passing");
            return Err(Box::new(Fault::new("", message, FEWER)));
        }
        Ok(())
    }

    /// Executes a step unless it requires the simulator.
    #[inline]
    fn control(&mut self, action: &StepAction) -> Result<StepOutcome, Box<Fault>> {
        match action {
            StepAction::Enter { phase, outer } => {
                self.set(*outer, index_value(self.phase));
                self.enter(*phase);
            }
            StepAction::Leave { outer } => self.enter(self.index(*outer)),
            StepAction::Repeat { times, has_verbs: happens, index, end, behind } => {
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
            StepAction::Let { slot, value } => self.change(*slot, value.number(&self.slots, "value")?),
            StepAction::Draw { slot, from, stream } => self.draw(*slot, from, *stream)?,
            StepAction::Call { function, arguments } => {
                self.at = self.calls.open(&self.program, (*function, self.at), arguments, &mut self.slots)?;
            }
            StepAction::Return => self.at = self.calls.close(&self.program, &mut self.slots),
            _ => return Ok(StepOutcome::NeedsSimulator),
        }
        Ok(StepOutcome::Done)
    }

    fn set(&mut self, slot: u16, value: Value) {
        self.slots[usize::from(slot)] = value;
    }

    /// Assigns a value to a variable.
    fn change(&mut self, slot: u16, value: Value) {
        self.set(slot, value);
        self.changes += 1;
    }

    fn draw(&mut self, slot: u16, from: &BoundDistribution, stream: usize) -> Result<(), Fault> {
        if self.streams.is_empty() {
            self.streams.resize(self.program.streams.len(), None);
        }
        let open = || Box::new(self.me.random(&format!("steps {}", self.program.streams[stream])));
        let value = from.draw(&self.slots, self.streams[stream].get_or_insert_with(open))?;
        self.change(slot, value);
        Ok(())
    }

    /// Returns the number stored in a slot as an index.
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
            let message = format!("repeats for ever: nothing that is received could change `{condition}`");
            return Err(Fault::new("condition", message, "receive a `number` in the loop, or use Repeat"));
        }
        self.set(changes, Value::Whole(self.changes));
        self.at = if condition.condition(&self.slots, "condition")? { begin + 1 } else { *behind };
        Ok(())
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
