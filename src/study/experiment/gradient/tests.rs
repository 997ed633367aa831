use super::*;
use crate::scenario::Plan;
use crate::scenario::source::Document;
use std::path::Path;

fn scenario(file: &str, settings: &[(&str, &str)]) -> CheckedScenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(file);
    let mut document = Document::load(path).unwrap();
    for (path, value) in settings {
        document.set(path, value).unwrap();
    }
    Plan::new(document, &[]).unwrap().base().unwrap().into_scenario()
}

/// Checks that every time counts once: Σ c dT/dc = T over times, and −T over rates.
#[test]
fn the_derivatives_by_all_times_make_up_the_makespan() {
    let base = Variation::of(&scenario("gauss-jordan-neighbour.ron", &[("program.n", "48"), ("ranks", "8")])).unwrap();
    let gradient = Gradient::of(&base, DerivativeMethod::default(), |_| true);
    let shares = gradient.derivatives.iter().filter_map(|one| {
        let value = one.parameter.number() * one.parameter.si_factor();
        let sign = if one.parameter.dimension == crate::scenario::Dimension::Rate { -1.0 } else { 1.0 };
        one.slopes.as_ref().ok().map(|slopes| sign * value * slopes.right)
    });
    let sum: f64 = shares.sum();
    assert!((sum / gradient.makespan_s - 1.0).abs() < 1e-3, "{sum} s of {} s", gradient.makespan_s);
}

#[test]
fn a_tree_of_messages_pays_for_whole_latencies() {
    let checked = scenario("loggops-collectives.ron", &[("program.bytes", "1 kB")]);
    let slopes = derivatives(&checked, |name| name == "machine.L").unwrap();
    let [(name, Ok(slopes))] = &slopes[..] else { panic!("one constant is wanted: {slopes:?}") };
    // The critical path of a tree of 64 ranks contains a whole number of latencies.
    assert!(name == "machine.L" && (slopes.right - slopes.right.round()).abs() < 1e-6 && slopes.right > 1.0);
}

/// Checks that the path and runs on both sides agree, on machines whose services are itemised.
#[test]
fn a_path_gives_what_runs_on_both_sides_give() {
    let cases = [
        ("gauss-jordan-neighbour.ron", &[("program.n", "24"), ("ranks", "4")][..]),
        ("ring-shift.ron", &[]),
        ("switching.ron", &[]),
        ("collective.ron", &[]),
        ("master-worker.ron", &[]),
    ];
    for (file, settings) in cases {
        let base = Variation::of(&scenario(file, settings)).unwrap();
        let of = |approach| Gradient::of(&base, approach, |_| true);
        let (by_path, by_reruns) =
            (of(DerivativeMethod::default()), of(DerivativeMethod { exact: true, ..DerivativeMethod::default() }));
        for (one, other) in by_path.derivatives.iter().zip(&by_reruns.derivatives) {
            let (Ok(path), Ok(rerun)) = (&one.slopes, &other.slopes) else { continue };
            let bound = 1e-6 * rerun.mean().abs() + path.rounding + rerun.rounding;
            assert!((path.mean() - rerun.mean()).abs() <= bound, "{file}, {}: {path:?}, {rerun:?}", one.parameter.name);
        }
        let is_known = |one: &&Derivative<'_>| one.slopes.as_ref().is_ok_and(|slopes| slopes.method == Method::Path);
        assert!(by_path.derivatives.iter().filter(is_known).count() > 2, "{file}");
    }
}

/// A path that omits the latency of interfaces does not sum to the makespan, so that no constant has it as its method.
#[test]
fn the_latency_of_interfaces_is_priced() {
    for contention in ["Off", "FirstComeFirstServed"] {
        let text = format!(
            r#"Scenario(
                machine: Machine(
                    name: "m",
                    nodes: Node(
                        processor: FlopRate("1 Gflop/s"),
                        memory: "1 GiB",
                        router: Hardware,
                        interface: Interface(
                            overhead: "300 ns",
                            gap: "200 ns",
                            latency: "700 ns",
                            latency_per_byte: "0.3 ns/B",
                            gap_per_byte: "0.1 ns/B",
                            header: "20 B",
                        ),
                    ),
                    network: Network(
                        topology: Ring(nodes: 8),
                        routing: DimensionOrder,
                        switching: StoreAndForward(packet: "1 kB"),
                        links: Link(per_byte: "0.08 ns/B", latency: "100 ns"),
                        contention: {contention},
                    ),
                    sends: Buffered,
                ),
                ranks: 8,
                placement: RowMajor,
                program: Phases(steps: [
                    Compute(flops: "5000 * (rank + 1)"),
                    Exchange(with: Line, bytes: "2500 B"),
                    Exchange(with: Line, bytes: "0 B"),
                ]),
                seed: 1,
            )"#
        );
        let plan = Plan::new(Document::from_text("latency", &text).unwrap(), &[]).unwrap();
        let base = Variation::of(&plan.base().unwrap().into_scenario()).unwrap();
        let of = |exact| Gradient::of(&base, DerivativeMethod { exact, ..DerivativeMethod::default() }, |_| true);
        let (by_path, by_runs) = (of(false), of(true));
        assert_eq!(by_path.path.as_ref().err(), None, "{contention}");
        for name in ["latency", "latency_per_byte", "overhead"].map(|field| format!("machine.nodes.interface.{field}"))
        {
            let [path, runs] = [&by_path, &by_runs].map(|found| found.by(&name).unwrap().slopes.clone().unwrap());
            assert!(path.method == Method::Path && path.mean() > 0.0, "{contention}, {name}: {path:?}");
            let bound = 1e-6 * runs.mean().abs() + path.rounding + runs.rounding;
            assert!((path.mean() - runs.mean()).abs() <= bound, "{contention}, {name}: {path:?}, {runs:?}");
        }
    }
}

/// Several orders tie in this run: only a faster processor alone changes one of them and not the others, and the makespan jumps.
#[test]
fn a_tie_that_one_component_alone_breaks_is_found() {
    const SCENARIO: &str = r#"Scenario(
        machine: Machine(
            name: "m",
            nodes: Node(
                processor: FlopRate("1 Gflop/s"),
                memory: "1 GiB",
                router: Hardware,
                sending: Sending(per_packet: "500 ns", per_byte: "1 ns/B", overlap: false),
                receiving: Receiving(per_packet: "300 ns", per_byte: "0.5 ns/B"),
            ),
            network: Network(
                topology: Ring(nodes: 8),
                routing: DimensionOrder,
                switching: CutThrough(packet: "200 B", header: "8 B"),
                links: Link(per_byte: "1 ns/B", latency: "300 ns"),
            ),
            sends: UntilInjected,
        ),
        ranks: 8,
        partition: Whole,
        placement: Random,
        program: Phases(steps: [
            Exchange(with: Line, bytes: "8 B"),
            Repeat(times: "3", index: "i", steps: [Compute(flops: "400 + 100 * i"), Exchange(with: Ring, bytes: "8 B")]),
            When(
                condition: "rank == 0",
                then: [Repeat(times: "p - 1", steps: [Receive(from: Any)])],
                otherwise: [Send(to: 0, bytes: "151 B")],
            ),
            Repeat(times: "3", index: "i", steps: [Compute(flops: "400 + 100 * i"), Exchange(with: Ring, bytes: "3000 B")]),
        ]),
        seed: 1,
    )"#;
    let plan = Plan::new(Document::from_text("tie", SCENARIO).unwrap(), &[]).unwrap();
    let base = Variation::of(&plan.base().unwrap().into_scenario()).unwrap();
    let of = |verification| {
        let approach = DerivativeMethod { verification, ..DerivativeMethod::default() };
        let gradient = Gradient::of(&base, approach, |one| one.name.starts_with("machine."));
        gradient.by("machine.nodes.processor.0").unwrap().slopes.clone().unwrap()
    };
    assert_eq!(of(Verification::Together).method, Method::Path, "a joint change shows nothing");
    let slopes = of(Verification::ByComponent);
    assert!(slopes.method == Method::Rerun && slopes.is_tie(), "{slopes:?}");
}
