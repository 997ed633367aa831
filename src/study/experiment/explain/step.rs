//! The itemised costs of one step of a rank.

use super::constants::{Constants, source, value};
use super::{WantedStep, reject_unknown_rank, run_alone};
use crate::analysis::step::{PhaseIteration, PhaseIterations, StepItem, StepPart};
use crate::answer::Record;
use crate::experiment::StudyError;
use crate::report::{TextTable, counted, signed_us};
use crate::scenario::CheckedScenario;
use crate::scenario::source::Document;
use parsim_sim::node::{Level, Processor};
use parsim_sim::trace::{Software, Trace};

/// Runs the scenario and selects the step.
pub fn find(scenario: &CheckedScenario, wanted: &WantedStep<'_>) -> Result<PhaseIteration, StudyError> {
    let trace = run_alone(scenario, parsim_sim::simulation::Simulation::log_activities)?;
    let Trace { activity_log: Some(log), deliveries, .. } = &trace else {
        unreachable!("the run was asked for an activity log");
    };
    choose(&PhaseIterations::of(log, deliveries, scenario.ranks), wanted)
}

fn choose(steps: &PhaseIterations<'_>, wanted: &WantedStep<'_>) -> Result<PhaseIteration, StudyError> {
    let phases = steps.phases();
    let found = match wanted.phase {
        None => phases.first(),
        Some(name) => phases.iter().find(|(phase, _)| *phase == name),
    };
    let Some((phase, _)) = found.copied() else {
        if phases.is_empty() {
            return Err(StudyError::Request("no rank enters a phase: the run has no steps".to_owned()));
        }
        let known: Vec<_> = phases.iter().map(|(phase, times)| format!("{phase} ({times} ×)")).collect();
        let name = wanted.phase.unwrap_or_default();
        let known = known.join(", ");
        return Err(StudyError::Argument("phase", format!("{name}: ranks spend no time in it; they enter {known}")));
    };
    reject_unknown_rank("rank", wanted.rank, steps.ranks())?;
    let rank = wanted.rank.or_else(|| steps.critical(phase, wanted.number));
    rank.and_then(|rank| steps.step(rank, phase, wanted.number)).ok_or_else(|| {
        let of = |rank| steps.count(rank, phase);
        let (who, times) = match wanted.rank {
            Some(rank) => (format!("rank {rank}"), of(rank)),
            None => ("every rank".to_owned(), (0..steps.ranks()).map(of).max().unwrap_or(0)),
        };
        let right = match times {
            0 => "give another --phase or --rank".to_owned(),
            1 => "give 1".to_owned(),
            _ => format!("give a number from 1 to {times}"),
        };
        let (number, times) = (wanted.number, counted(times, "time"));
        StudyError::Argument("step", format!("{number}: {who} enters `{phase}` at most {times}; {right}"))
    })
}

/// Returns the name of an item.
fn name(part: StepPart) -> String {
    let transfer = |is_input| if is_input { "input" } else { "output" };
    match part {
        StepPart::Loop("operations") => "floating-point operations".to_owned(),
        StepPart::Loop(module) => format!("computing {module}"),
        StepPart::Disturbance => "computations against their time alone".to_owned(),
        StepPart::Software(software) => words(software).0.to_owned(),
        StepPart::NotSent { from } => format!("waiting for rank {from} to send"),
        StepPart::UnderWay { from } => format!("waiting for a message on its way from rank {from}"),
        StepPart::Blocked => "waiting for others".to_owned(),
        StepPart::Forwarding => "making received bytes ready to be sent on".to_owned(),
        StepPart::Sending { to: Some(to) } => format!("waiting for a send to rank {to}"),
        StepPart::Sending { to: None } => "waiting for sends".to_owned(),
        StepPart::HostStart { is_input } => format!("start of {}", transfer(is_input)),
        StepPart::HostBytes { is_input } => format!("bytes of {}", transfer(is_input)),
        StepPart::Moving { is_memory: true } => "waiting for bytes through memory".to_owned(),
        StepPart::Moving { is_memory: false } => "waiting for bytes through the interface".to_owned(),
        StepPart::AtBarrier => "waiting at a barrier".to_owned(),
        StepPart::ForHost => "waiting for the host, which serves others".to_owned(),
    }
}

/// Returns the name of a software service and the path of its constant.
const fn words(software: Software) -> (&'static str, &'static str) {
    match software {
        Software::Preparing => ("preparing packets", "machine.nodes.sending.per_packet"),
        Software::CopyingOut => ("copying at the source", "machine.nodes.sending.per_byte"),
        Software::Route => ("setting up routes", "machine.nodes.sending.per_hop"),
        Software::Routing => ("routing packets", "machine.nodes.routing.per_packet"),
        Software::Receiving => ("receiving packets", "machine.nodes.receiving.per_packet"),
        Software::CopyingIn => ("copying at the destination", "machine.nodes.receiving.per_byte"),
        Software::Acknowledging => ("acknowledging", "machine.nodes.acknowledging.per_hop"),
        Software::Overhead => ("messages at the processor", "machine.nodes.interface.overhead"),
        Software::HandedBytes => ("bytes at the processor", "machine.nodes.interface.overhead_per_byte"),
        Software::TakenBytes => ("bytes from the interface", "machine.nodes.interface.gap_per_byte"),
        Software::CopiedBytes => ("bytes from another core", "machine.nodes.interface.copy_per_byte"),
    }
}

/// Returns the path of the constant behind an item, if there is one.
fn constant(scenario: &CheckedScenario, part: StepPart) -> Option<String> {
    let processor = "machine.nodes.processor";
    let host = |is_input: bool| if is_input { "machine.host.input" } else { "machine.host.output" };
    match part {
        StepPart::Loop("time") => Some("program".to_owned()),
        StepPart::Loop(module) => match &scenario.machine.nodes.processor {
            Processor::Calibrated(_) if module == "operations" => Some(format!("{processor}.flop")),
            Processor::Calibrated(_) => Some(format!("{processor}.{module}")),
            Processor::Rate(_) => Some(format!("{processor}.inner_iteration")),
            Processor::FlopRate(_) => Some(processor.to_owned()),
            Processor::Counted(_) => Some(format!("{processor}.clock")),
            Processor::Kernels(_) => Some(format!("{processor}.t800.clock")),
            Processor::Unspecified => None,
        },
        StepPart::Software(software) => Some(words(software).1.to_owned()),
        StepPart::Forwarding => Some("machine.nodes.forwarding.per_byte".to_owned()),
        StepPart::HostStart { is_input } => Some(format!("{}.start", host(is_input))),
        StepPart::HostBytes { is_input } => Some(format!("{}.per_byte", host(is_input))),
        StepPart::Moving { is_memory } => shared(scenario, is_memory),
        _ => None,
    }
}

/// Returns the path of the bandwidth of the innermost memory, or interface, that cores share.
fn shared(scenario: &CheckedScenario, is_memory: bool) -> Option<String> {
    let what = if is_memory { "memory" } else { "interface" };
    let has = |level: &Level| if is_memory { level.memory.is_some() } else { level.interface.is_some() };
    let of = |levels: &[Level], path: &str| {
        levels.iter().position(has).map(|index| format!("{path}.{index}.{what}.bandwidth"))
    };
    let machine = &scenario.machine;
    of(&machine.nodes.levels, "machine.nodes.levels").or_else(|| of(&machine.levels, "machine.levels"))
}

pub fn records(step: &PhaseIteration, scenario: &CheckedScenario, document: &Document) -> Vec<Record> {
    let record = |item: &StepItem| {
        let constant = constant(scenario, item.part);
        let constant = constant.as_deref();
        let mut record = Record::default();
        record.put("rank", step.rank);
        record.put("step", step.number);
        record.put("steps", step.of);
        record.put("step_phase", step.phase);
        record.put("begin_s", step.begin.seconds());
        record.put("end_s", step.end.seconds());
        record.put("phase", item.phase);
        record.put("item", name(item.part));
        record.put("constant", constant);
        record.put("value", constant.and_then(|path| value(document, path)));
        record.put("source", constant.and_then(|path| source(document, path)));
        record.put("count", item.count);
        record.put("longest_message", item.longest.map(|(number, _)| number));
        record.put("time_ps", item.time_ps);
        record
    };
    step.items.iter().map(record).collect()
}

pub fn text(step: &PhaseIteration, scenario: &CheckedScenario, document: &Document) -> String {
    let mut table = TextTable::new(["phase", "item", "times", "value", "us", "constant"]);
    let mut constants = Constants::new(document);
    for item in &step.items {
        let [value, number] = constants.note(constant(scenario, item.part).as_deref());
        let (phase, count, time) = (item.phase.to_owned(), item.count.to_string(), signed_us(item.time_ps));
        table.row([phase, name(item.part), count, value, time, number]);
    }
    let sum = step.items.iter().map(|item| item.time_ps).sum();
    table.row(["", "sum", "", "", &signed_us(sum), ""].map(str::to_owned));
    let PhaseIteration { rank, phase, number, of, begin, end, .. } = step;
    let longest = longest_wait(step).map_or_else(String::new, |(from, message)| {
        format!("\nThe message it waits for longest: --from {from} --to {rank} --number {message}\n")
    });
    format!(
        "step {number} of {of} of rank {rank}: from where it enters `{phase}`, at {} s,\nto where it enters it again, or ends, at {} s\n\n{table}\n{constants}{longest}",
        begin.seconds(),
        end.seconds()
    )
}

/// Returns the sender and the number of the in-flight message with the longest wait.
fn longest_wait(step: &PhaseIteration) -> Option<(u32, u32)> {
    let waits = step.items.iter().filter_map(|item| match item.part {
        StepPart::UnderWay { from } => item.longest.map(|(number, time)| (time, from, number)),
        _ => None,
    });
    waits.max_by_key(|(time, ..)| *time).map(|(_, from, number)| (from, number))
}

#[cfg(test)]
mod tests;
