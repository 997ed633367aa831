use super::*;
use parsim_sim::trace::{Accounts, Counts, LinkLoad};

/// Two ranks. The host's rank reads for 2 s, distributes for 1 s, computes for 3 s, and routes for 1 s meanwhile; the
/// other one computes for 4 s.
pub fn trace() -> Trace {
    let seconds = |count: u64| SimDuration::from_us(1_000_000 * count);
    let mut accounts = Accounts::new(2, &["input"]);
    accounts.add(0, "input", Activity::InputOutput, seconds(2));
    accounts.add(0, "distribution", Activity::Sending, seconds(1));
    accounts.add(0, "reduction", Activity::Computing, seconds(3));
    accounts.add(0, "reduction", Activity::System, seconds(1));
    accounts.add(1, "distribution", Activity::Blocked, seconds(3));
    accounts.add(1, "reduction", Activity::Computing, seconds(4));
    let link = |from, to, busy| LinkLoad { from, to, packets: 1, busy: seconds(busy) };
    Trace {
        makespan: seconds(7),
        host: 0,
        accounts,
        links: vec![link(0, 1, 1), link(1, 0, 0)],
        counts: Counts::default(),
        background: None,
        outcomes: Vec::new(),
        written: SimDuration::ZERO,
        activity_log: None,
        requests: None,
        critical_intervals: Vec::new(),
        sources: Vec::new(),
        deliveries: Vec::new(),
    }
}

const SPLIT: ComputationSplit = ComputationSplit {
    cpu: 0.25,
    fpu: 0.25,
    internal_memory: 0.125,
    external_memory: 0.375,
    words_per_flop: Some(1.5),
};

fn assert_is(actual: Option<f64>, expected: f64) {
    assert!(actual.is_some_and(|actual| (actual - expected).abs() < 1e-12), "{actual:?} is not {expected}");
}

#[test]
fn a_run_without_a_split_has_computation() {
    let components = Components::of_trace(&trace(), None);
    assert_is(components.component_s(Component::Computation), 3.0);
    assert_is(components.component_s(Component::Communication), 2.0);
    assert_is(components.part_s(SubComponent::OtherCommunication), 1.0);
    assert_is(components.component_s(Component::InputOutput), 2.0);
    assert_is(Some(components.unattributed_s()), 0.0);
    assert_eq!(components.component_s(Component::Processing), None);
    assert_eq!(components.memory_to_processing(), None);
    assert_is(components.b_ratio(Component::Computation), 3.0 / 4.0);
    assert_is(components.communication_to_computation(), 2.0 / 3.0);
    assert_is(Some(components.processor_utilization), 0.5);
    assert_is(Some(components.load_balance), 0.875);
}

/// A host that ends early says little about the time of the run.
#[test]
fn components_are_those_of_the_rank_that_ends_last() {
    let mut trace = trace();
    let seconds = |count: u64| SimDuration::from_us(1_000_000 * count);
    trace.makespan = seconds(10);
    trace.accounts.add(0, "reduction", Activity::Idle, seconds(3));
    trace.accounts.add(1, "reduction", Activity::InputOutput, seconds(3));
    trace.written = seconds(1);
    let components = Components::of_trace(&trace, None);
    assert_is(components.component_s(Component::Computation), 4.0);
    assert_is(components.part_s(SubComponent::Input), 2.0);
    assert_is(components.part_s(SubComponent::Output), 1.0);
    assert_is(Some(components.unattributed_s()), 0.0);
}

#[test]
fn a_run_with_a_split_has_processing_and_memory() {
    use Component::{Communication, InputOutput, Memory, Processing};
    let components = Components::of_trace(&trace(), Some(SPLIT));
    assert_is(components.component_s(Component::Processing), 1.5);
    assert_is(components.part_s(SubComponent::ExternalMemory), 1.125);
    assert_is(components.b_ratio(Component::Memory), 1.5 / 5.5);
    assert_is(components.memory_to_processing(), 1.0);
    assert_is(components.mword_per_mflop(), 1.5);
    let distinct: Vec<_> = components.distinct().map(|(component, _)| component).collect();
    assert_eq!(distinct, [Processing, Memory, Communication, InputOutput]);
}

#[test]
fn a_component_that_is_alone_has_no_ratio() {
    let mut components = Components::of_trace(&trace(), None);
    components = Components {
        distribution_s: 0.0,
        other_communication_s: 0.0,
        input_s: 0.0,
        total_s: components.computation_s,
        ..components
    };
    assert_eq!(components.b_ratio(Component::Computation), None);
    assert_is(components.b_ratio(Component::Communication), 0.0);
}

#[test]
fn communication_by_phase_is_that_of_the_rank_that_ends_last_and_the_mean() {
    let mut trace = trace();
    let seconds = |count: u64| SimDuration::from_us(1_000_000 * count);
    trace.accounts.add(1, "exchange", Activity::Blocked, seconds(1));
    let [reduction, exchange] = Components::of_trace(&trace, None).other_communication_phases[..] else { panic!() };
    assert_eq!((reduction.phase, reduction.last_rank_s, reduction.mean_s), ("reduction", 1.0, 0.5));
    assert_eq!((exchange.phase, exchange.last_rank_s, exchange.mean_s), ("exchange", 0.0, 0.5));
    assert!(reduction.is_uneven(7.0) && !reduction.is_uneven(20.0));
    assert!(!PhaseCommunication { mean_s: 0.9, ..reduction }.is_uneven(1.0));
}
