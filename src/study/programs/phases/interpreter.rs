//! Execution of compiled steps by a process.

mod calls;
mod exchange;
mod requests;
mod verbs;

use super::bound::BoundExpression;
use super::changes::Watch;
use super::compiled::{Address, CompiledProgram, CompiledStep, StepAction};
use super::distribution::BoundDistribution;
use crate::programs::expression::Value;
use calls::CallStack;
use parsim_sim::fault::Fault;
use parsim_sim::program::Process;
use parsim_sim::units::SimTime;
use rand_chacha::ChaCha8Rng;
use requests::RequestsUnderWay;
use std::rc::Rc;

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
    /// Steps counted at one instant, and the instant.
    idle: u32,
    idle_since: SimTime,
    /// Steps that may begin before they are counted.
    uncounted: u32,
    under_way: RequestsUnderWay,
    calls: CallStack,
    /// The streams of random numbers; none before the first number is drawn.
    streams: Vec<Option<Box<ChaCha8Rng>>>,
    /// Compares values with those of earlier versions, in a dry run for that.
    watch: Option<Rc<Watch>>,
}

/// A step that has been taken, or what it asks for.
enum TakenStep {
    Done,
    Asks,
}

/// Reason why no more steps are taken before something else.
enum Halt<'p> {
    /// This step asks for something.
    Asks(&'p CompiledStep),
    /// So many steps have been taken that a dry run counts them.
    Pauses,
    Ends,
}

/// The number of a step, and its fault.
type PlacedFault = (usize, Box<Fault>);

impl StepInterpreter {
    pub fn new(me: Process, program: Rc<CompiledProgram>, watch: Option<Rc<Watch>>) -> Self {
        Self {
            slots: program.slots_of(me.rank()),
            at: 0,
            phase: 0,
            changes: 0,
            idle: 0,
            idle_since: me.now(),
            uncounted: PAUSE - 1,
            under_way: RequestsUnderWay::default(),
            calls: CallStack::default(),
            streams: Vec::new(),
            me,
            program,
            watch,
        }
    }

    /// Takes all steps.
    ///
    /// # Errors
    /// The number of a step that cannot be taken, and the reason; its path is that of a field of the step.
    pub async fn run(&mut self) -> Result<(), PlacedFault> {
        let program = Rc::clone(&self.program);
        loop {
            match self.go_on(&program)? {
                Halt::Asks(step) => self.ask(step).await.map_err(|fault| (step.number, fault))?,
                Halt::Pauses => self.me.pause(PAUSE.into()).await,
                Halt::Ends => break,
            }
        }
        let forgotten = self.under_way.forgotten(&program.requests);
        forgotten.map_or(Ok(()), |(step, fault)| Err((step, Box::new(fault))))
    }

    /// Takes steps as far as they ask for nothing.
    fn go_on<'p>(&mut self, program: &'p CompiledProgram) -> Result<Halt<'p>, PlacedFault> {
        while let Some(step) = program.steps.get(self.at as usize) {
            if step.action.begins() {
                self.me.step(step.number);
                if self.uncounted == 0 {
                    self.count_steps().map_err(|fault| (step.number, fault))?;
                    return Ok(Halt::Pauses);
                }
                self.uncounted -= 1;
                if let Some(watch) = &self.watch {
                    watch.step(&step.action, &self.slots);
                }
            }
            self.at += 1;
            match self.control(&step.action) {
                Ok(TakenStep::Done) => {}
                Ok(TakenStep::Asks) => return Ok(Halt::Asks(step)),
                Err(fault) => return Err((step.number, fault)),
            }
        }
        Ok(Halt::Ends)
    }

    /// Counts the steps since they were last counted, so that loops in which nothing happens come to an end.
    #[cold]
    fn count_steps(&mut self) -> Result<(), Box<Fault>> {
        self.uncounted = PAUSE;
        self.idle += PAUSE;
        let now = self.me.now();
        if now > self.idle_since {
            (self.idle, self.idle_since) = (0, now);
        }
        if self.idle >= MOST_IDLE {
            let message = format!("takes {MOST_IDLE} steps without any simulated time passing");
            return Err(Box::new(Fault::new("", message, FEWER)));
        }
        Ok(())
    }

    /// Takes a step that asks for nothing.
    #[inline]
    fn control(&mut self, action: &StepAction) -> Result<TakenStep, Box<Fault>> {
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
            StepAction::Let { slot, value } => self.change(*slot, value.number(&self.slots, "value")?),
            StepAction::Draw { slot, from, stream } => self.draw(*slot, from, *stream)?,
            StepAction::Call { function, arguments } => {
                self.at = self.calls.open(&self.program, (*function, self.at), arguments, &mut self.slots)?;
            }
            StepAction::Return => self.at = self.calls.close(&self.program, &mut self.slots),
            _ => return Ok(TakenStep::Asks),
        }
        Ok(TakenStep::Done)
    }

    fn set(&mut self, slot: u16, value: Value) {
        self.slots[usize::from(slot)] = value;
    }

    /// Gives a value to a variable.
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
}

fn index_value(index: usize) -> Value {
    Value::Whole(i64::try_from(index).unwrap_or(i64::MAX))
}

fn rounds(times: &BoundExpression, slots: &[Value]) -> Result<i64, Fault> {
    let count = times.count(slots, "times")?;
    let too_large = |_| Fault::new("times", format!("`{}` is too large", times.source()), FEWER);
    i64::try_from(count).map_err(too_large)
}
