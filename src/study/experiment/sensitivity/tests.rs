use super::*;
use crate::answer::{QuantityValue, Record};
use crate::experiment::run;
use crate::scenario::Plan;
use std::path::Path;

fn study(settings: &[(&str, &str)]) -> VariedRun {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/gauss-jordan-neighbour.ron");
    let mut document = Document::load(path).unwrap();
    for (path, value) in [("program.n", "48"), ("ranks", "8")].iter().chain(settings) {
        document.set(path, value).unwrap();
    }
    VariedRun::of(&Plan::new(document, &[]).unwrap().base().unwrap().scenario).unwrap()
}

#[test]
fn doubling_every_time_doubles_the_makespan_exactly() {
    for settings in [&[][..], &[("ranks", "6")][..], &[("machine.sends", "rendezvous")][..]] {
        let study = study(settings);
        let ps = |factor: f64| {
            let mut changed = study.base.document().clone();
            study.base.parameters().iter().try_for_each(|one| one.slow_down(&mut changed, factor)).unwrap();
            run(&Plan::new(changed, &[]).unwrap().base().unwrap().scenario).unwrap().makespan.ps()
        };
        assert_eq!(ps(2.0), 2 * ps(1.0));
    }
}

#[test]
fn elasticities_of_times_sum_to_one() {
    let study = study(&[]);
    let answers =
        study.sensitivities(DerivativeMethod { exact: true, step: Some(1e-4), ..DerivativeMethod::default() }, &());
    let find = |name: &str| answers.findings.iter().find(|one| one.parameter.name == name).unwrap();
    let of_times = |finding: &ParameterSensitivity| match finding.parameter.dimension {
        Dimension::Time => finding.elasticity().map(|elasticity| elasticity.right),
        Dimension::Rate => finding.elasticity().map(|elasticity| -elasticity.right),
        Dimension::None => None,
    };
    let sum: f64 = answers.findings.iter().filter_map(of_times).sum();
    assert!((sum - 1.0).abs() < 0.005, "{sum}");
    let sum: f64 = answers.groups.iter().map(|group| group.effect.as_ref().unwrap().right).sum();
    assert!((sum - 1.0).abs() < 0.005, "{sum}");
    assert!(find("machine.nodes.processor.rsub").has_effect());
    assert_eq!(find("machine.nodes.processor.rsub").group, "computation");
    // The measured rate overrides the protocol of the link.
    assert!(!find("machine.network.links.protocol.bit_rate").has_effect());
    assert_eq!(find("machine.nodes.processor.inv").effect.as_ref().err().unwrap(), "it is zero");
}

/// Two messages reach a link a picosecond after each other. The smallest change of the speed of the processors decides
/// which of them waits for the other one, 25 % of the makespan.
#[test]
fn a_jump_has_the_secant_of_a_larger_change() {
    let text = r#"Scenario(
        machine: Machine(
            name: "line",
            nodes: Node(processor: FlopRate("1 Gflop/s"), memory: "1 GiB", router: Hardware),
            network: Network(topology: Line(nodes: 4), routing: DimensionOrder,
                switching: StoreAndForward(packet: "1 MiB"), links: Link(per_byte: "1 GB/s")),
            sends: UntilInjected,
        ),
        ranks: 4, placement: RowMajor,
        program: Phases(steps: [
            When(condition: "rank == 0", then: [Compute(flops: 100000), Send(to: 3, bytes: "100 B")]),
            When(condition: "rank == 1", then: [Compute(seconds: "1.00100001e-4"), Send(to: 2, bytes: "50 kB")]),
            When(condition: "rank == 2", then: [Receive(from: 1)]),
            When(condition: "rank == 3", then: [Receive(from: 0), Compute(seconds: 1e-4)]),
        ]),
        seed: 1,
    )"#;
    let document = Document::from_text("jump.ron", text).unwrap();
    let study = VariedRun::of(&Plan::new(document, &[]).unwrap().base().unwrap().scenario).unwrap();
    let answers = study.sensitivities(DerivativeMethod::default(), &());
    let speed = answers.findings.iter().find(|one| one.parameter.name == "machine.nodes.processor.0").unwrap();
    let effect = speed.continuous().unwrap();
    assert!(effect.slopes.is_jump && effect.slopes.is_flagged(), "{effect:?}");
    // 49.9 of 200.3 us for one per cent, and the share of the computation of rank 0.
    assert!(
        (effect.elasticity.left + 24.7).abs() < 0.1 && (effect.elasticity.right + 0.499).abs() < 0.001,
        "{effect:?}"
    );
}

/// A default that is not written, such as absent noise, may still be the path of an axis.
#[test]
fn a_scenario_with_axes_over_defaults_is_varied() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/straggler.ron");
    let mut document = Document::load(path).unwrap();
    for (path, value) in [("program.n", "16"), ("ranks", "2")] {
        document.set(path, value).unwrap();
    }
    let study = VariedRun::of(&Plan::new(document, &[]).unwrap().base().unwrap().scenario).unwrap();
    assert!(study.base.makespan_after(|_| Ok(())).unwrap() > 0.0);
}

/// A LogGOPS machine is varied by the constants in its file; over a network, L is not used.
#[test]
fn a_model_is_varied_by_its_own_constants() {
    let varied = |settings: &[(&str, &str)]| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/loggops-collectives.ron");
        let mut document = Document::load(path).unwrap();
        for (path, value) in settings {
            document.set(path, value).unwrap();
        }
        VariedRun::of(&Plan::new(document, &[]).unwrap().base().unwrap().scenario).unwrap()
    };
    let with_effect = |study: &VariedRun| {
        let found =
            study.sensitivities(DerivativeMethod { step: Some(1e-3), ..DerivativeMethod::default() }, &()).findings;
        let mut names: Vec<_> =
            found.iter().filter(|one| one.has_effect()).map(|one| one.parameter.name.clone()).collect();
        names.sort_unstable();
        names
    };
    let alone = varied(&[("program.bytes", "1 kB")]);
    assert_eq!(with_effect(&alone), ["machine.G", "machine.L", "machine.o"]);
    let names = alone.base.parameters().iter().filter_map(|one| one.name.strip_prefix("machine."));
    assert_eq!(names.collect::<Vec<_>>(), ["L", "o", "g", "G", "O", "S", "processor.0"]);
    let network = "Network(topology: Complete(nodes: 64), routing: DimensionOrder, switching: StoreAndForward(packet: \
                   \"4 KiB\"), links: Link(per_byte: \"10 ns/B\", latency: \"5 us\"))";
    let over = varied(&[("program.bytes", "1 kB"), ("machine.over", network)]);
    let links = ["latency", "per_byte"].map(|field| format!("machine.over.links.{field}"));
    assert_eq!(with_effect(&over), ["machine.o", &links[0], &links[1]]);
}

#[test]
fn whole_numbers_have_steps_instead_of_elasticities() {
    let study = study(&[]);
    let n = study.base.parameters().iter().find(|one| one.name == "program.n").unwrap();
    let Ok(Effect::Steps { smaller: Some(smaller), larger }) = study.whole_number(n, 0.01).effect else {
        panic!("n is a count")
    };
    // The host's node is 0, and there is none before.
    let node = study.base.parameters().iter().find(|one| one.name == "machine.host.node").unwrap();
    assert!(matches!(study.whole_number(node, 0.01).effect, Ok(Effect::Steps { smaller: None, .. })));
    assert_eq!((smaller.value.as_str(), larger.value.as_str()), ("47", "49"));
    assert!(smaller.change.unwrap() < 0.0 && larger.change.unwrap() > 0.0);
}

#[test]
fn twice_as_fast_everywhere_is_twice_as_fast() {
    let study = study(&[]);
    let of = |part: &str| {
        let part = WHAT_IFS.iter().find(|(name, _)| *name == part).unwrap();
        study.what_if(*part).unwrap().faster.unwrap()
    };
    assert!((of("everything") - 2.0).abs() < 1e-6);
    assert!(of("processor") > 1.0 && of("links") > 1.0 && of("processor") < 2.0);
}

/// A part that is missing would make the page say that nothing helps.
#[test]
fn every_time_of_a_machine_belongs_to_a_part() {
    let of_no_part = ["machine.nodes.time_slice", "machine.nodes.noise"];
    let parts = || WHAT_IFS.iter().filter(|(name, _)| *name != "everything");
    for name in
        ["stencil", "collective", "loggops-collectives", "shipped-clusters", "ml-step", "booksim2-mesh", "real-lu"]
    {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.ron"));
        let resolved = Plan::new(Document::load(path).unwrap(), &[]).unwrap().base().unwrap().scenario;
        for parameter in Parameter::all(&resolved.to_document().unwrap()).iter().filter(|one| has_time(one)) {
            let path = &parameter.name;
            let is_machine = path.starts_with("machine.") && !stands_below(path, &of_no_part);
            let count = parts().filter(|(_, places)| stands_below(path, places)).count();
            assert!(count == usize::from(is_machine) || !is_machine, "{name}: {path} is in {count} parts");
        }
    }
}

/// Several ranks of a node share a memory and an interface: each is what limits another program.
#[test]
fn shared_memories_and_interfaces_are_parts() {
    let faster = |program: &str, part: &str| {
        let level = "Level(name: \"node\", members: 2, memory: Shared(bandwidth: \"10 GB/s\", discipline: \
                     FirstComeFirstServed), interface: Shared(bandwidth: \"1 GB/s\", discipline: FirstComeFirstServed))";
        let text = format!(
            "Scenario(machine: Machine(name: \"m\", nodes: Node(processor: FlopRate(\"10 Gflop/s\"), memory: \"1 TiB\", \
             router: Hardware, levels: [{level}], sending: Sending(per_packet: \"1 us\", overlap: true), \
             receiving: Receiving(per_packet: \"1 us\")), network: Network(topology: Complete(nodes: 4), \
             routing: DimensionOrder, switching: StoreAndForward(packet: \"1 MiB\"), links: Link(per_byte: \"10 GB/s\")), \
             sends: Buffered), ranks: 8, placement: Packed(ranks_per_node: 2), program: Phases(steps: [{program}]), seed: 1)"
        );
        let document = Document::from_text("shared.ron", &text).unwrap();
        let study = VariedRun::of(&Plan::new(document, &[]).unwrap().base().unwrap().scenario).unwrap();
        study.what_ifs().into_iter().find(|one| one.part == part).unwrap().faster.unwrap()
    };
    let exchange = "Exchange(with: Ring, bytes: \"1000000 B\")";
    assert!(faster(exchange, "network interfaces") > 1.5);
    assert!(faster(exchange, "links and network interfaces") >= faster(exchange, "network interfaces"));
    assert!(faster("Compute(flops: \"10\", bytes: \"1000000 B\")", "memory") > 1.9);
}

/// Clocked routers with rendezvous: some effects are so small that rounding hides them at the default step.
const CLOCKED: &str = r#"Scenario(
    machine: Machine(name: "f", nodes: Node(processor: FlopRate("0.3 Gflop/s"), memory: "64 GiB", router: Software,
        sending: Sending(per_packet: "0.2 us", per_byte: "0.2 ns/B", per_hop: "0.3 us", overlap: false),
        receiving: Receiving(per_packet: "0.3 us"), routing: Routing(per_packet: "0.3 us"),
        acknowledging: Acknowledging(bytes: "0 B", per_hop: "0.2 us"), noise: Uniform(0.1)),
        network: Network(topology: Mesh2d(rows: 4, columns: 4), routing: DimensionOrder,
            switching: Wormhole(packet: "128 B", flit: "4 B", buffer: 8, lanes: 1), links: Link(per_byte: "1 GB/s")),
        sends: Rendezvous),
    ranks: 16, placement: RowMajor,
    program: Phases(parameters: {"it": 3}, steps: [Repeat(times: "it", steps: [
        Irecv(from: "(rank + 2) % p", request: "a"), Isend(to: "(rank + p - 2) % p", bytes: "4096 B", request: "a"),
        Compute(flops: "20000 * (1 + rank % 5)"), Wait(request: "a"),
        Irecv(from: "(rank + p - 1) % p", tag: 1, request: "b"), Isend(to: "(rank + 1) % p", bytes: "4096 B", tag: 1, request: "b"),
        Wait(request: "b"), Compute(flops: "3000 + rank * 0"),
        Collective(operation: AllReduce(algorithm: RecursiveDoubling), bytes: "8 B")])]), seed: 1)"#;

fn text_of<'r>(record: &'r Record, key: &str) -> Option<&'r str> {
    match record.get(key)? {
        QuantityValue::Text(text) => Some(text),
        _ => None,
    }
}

fn flag_of(record: &Record, key: &str) -> Option<bool> {
    match record.get(key)? {
        QuantityValue::Flag(flag) => Some(*flag),
        _ => None,
    }
}

/// The text and the data call the same parameters ties, and the same ones rounding.
#[test]
fn text_and_data_agree_on_ties() {
    let plan = Plan::new(Document::from_text("clocked", CLOCKED).unwrap(), &[]).unwrap();
    let study = VariedRun::of(&plan.base().unwrap().scenario).unwrap();
    let parts = ["machine.nodes.sending", "machine.nodes.acknowledging", "machine.network.links"].map(str::to_owned);
    let study = study.limited_to(&parts).unwrap();
    // By default, effects that rounding hides are found with the largest step.
    for step in [None, Some(6.7e-4)] {
        let found = study.sensitivities(DerivativeMethod { exact: true, step, ..DerivativeMethod::default() }, &());
        let text = output::text(&study, &found);
        for record in output::records(&found).iter().filter(|record| text_of(record, "record") == Some("parameter")) {
            let (name, is_tie) = (text_of(record, "name").unwrap(), flag_of(record, "tie"));
            let line = text.lines().find(|line| line.trim_start().starts_with(&format!("{name} ")));
            let says = |word: &str| line.is_some_and(|line| line.split_whitespace().any(|one| one == word));
            assert!(!says("tie") || is_tie == Some(true), "{name}: {text}");
            assert!(!says("rounding") || is_tie == Some(false), "{name}: {text}");
            assert!(record.number("elasticity").is_some() || record.number("derivative_s").is_none(), "{name}");
        }
        assert!(text.contains("as --exact requests") && !text.contains("not itemised"), "{text}");
        let small = found.findings.iter().find(|one| one.parameter.name == "machine.nodes.sending.per_byte").unwrap();
        let Elasticity { left, right } = small.elasticity().unwrap();
        let is_found = [left, right].iter().all(|side| (0.0015..0.0025).contains(side));
        assert_eq!(is_found, step.is_none(), "{left} {right}");
        assert!(text.contains("the rounding of times to picoseconds or ticks explains"), "{text}");
    }
}

/// Clocked routers behind network interfaces: a percent of the run is ten ticks.
const STAIRCASE: &str = r#"Scenario(
    machine: Machine(name: "f", nodes: Node(processor: FlopRate("1 Gflop/s"), memory: "64 GiB", router: Hardware,
        interface: Interface(overhead: "1 us", gap: "0.2 us", gap_per_byte: "0.1 ns/B", progress: AfterArrival)),
        network: Network(topology: Mesh2d(rows: 2, columns: 2), routing: DimensionOrder,
            switching: Wormhole(packet: "128 B", flit: "16 B", buffer: 8, lanes: 1), links: Link(per_byte: "1 GB/s")),
        sends: Buffered),
    ranks: 4, placement: RowMajor,
    program: Phases(steps: [Repeat(times: "3", steps: [
        Exchange(with: Ring, bytes: "1000 B"), Compute(flops: "1100 + rank * 100")])]), seed: 1)"#;

/// A change of a percent is a few ticks: the effects are those of wider changes.
#[test]
fn elasticities_of_a_staircase_are_secants_and_say_so() {
    let plan = Plan::new(Document::from_text("clocked", STAIRCASE).unwrap(), &[]).unwrap();
    let study = VariedRun::of(&plan.base().unwrap().scenario).unwrap();
    let found = study.sensitivities(DerivativeMethod::default(), &());
    let records = output::records(&found);
    let overhead = |record: &&Record| text_of(record, "name") == Some("machine.nodes.interface.overhead");
    let overhead = records.iter().find(overhead).unwrap();
    assert!(text_of(overhead, "note").unwrap().contains("staircase"), "{overhead:?}");
    let text = output::text(&study, &found);
    assert!(text.contains("Routers act at the ticks of their clock"), "{text}");
}

#[test]
fn an_unknown_constant_is_not_drawn() {
    let study = study(&[]);
    let said = |name: &str| study.curve(name).map(|_| ()).unwrap_err().to_string();
    assert!(said("machine.network.links.per_bite").contains("did you mean `machine.network.links.per_byte`?"));
    assert!(
        said("program.n").contains("it is a whole number")
            && said("machine.nodes.processor.inv").contains("it is zero")
    );
}

/// Groups and faster parts consist of all their constants: a part of them would be misleading.
#[test]
fn a_selection_varies_only_its_parameters() {
    let limited =
        |paths: &[&str]| study(&[]).limited_to(&paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>());
    let study = limited(&["machine.nodes.sending", "program.n"]).unwrap();
    let found = study.sensitivities(DerivativeMethod::default(), &());
    let mut names: Vec<_> = found.findings.iter().map(|one| one.parameter.name.as_str()).collect();
    names.sort_unstable();
    let sending = ["per_byte", "per_hop", "per_packet"].map(|field| format!("machine.nodes.sending.{field}"));
    assert_eq!(names, [sending.each_ref().map(String::as_str).as_slice(), &["program.n"]].concat());
    assert!(found.groups.is_empty() && found.what_ifs.is_empty());
    let text = output::text(&study, &found);
    assert!(!text.contains("group together"), "{text}");
    let error = |path: &str| limited(&[path]).err().unwrap().to_string();
    assert!(error("machine.nodes.sendin.per_hop").ends_with("did you mean `machine.nodes.sending.per_hop`?"));
    assert!(error("machine.nodes.sending.start").contains("there are `machine.nodes.sending.per_packet`, "));
}
