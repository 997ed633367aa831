use super::*;
use crate::scenario::source::Faults;
use std::fs;
use tempfile::TempDir;

/// Two nodes of a fat tree, between which a message of 1 B and more is sent.
const SCENARIO: &str = r#"Scenario(
    machine: Machine(
        name: "a cluster",
        nodes: Node(processor: FlopRate("10 Gflop/s"), memory: "64 GiB", router: Hardware,
            interface: Interface(overhead: "1 us", gap: "0.1 us", gap_per_byte: "8 GB/s", copy_per_byte: "4 GB/s", progress: AfterArrival)),
        network: Network(topology: FatTree(arity: 4, levels: 2), routing: DimensionOrder, switching: CutThrough(packet: "4 KiB"),
            links: Link(per_byte: "10 GB/s", latency: "0.5 us")),
        sends: Eager(up_to: "16 KiB")),
    ranks: 2, placement: Apart(hops: 2), program: Ping(bytes: "8 B"),
    axes: [Axis(name: "bytes", path: "program.bytes", unit: "B", values: [8]), Axis(name: "hops", path: "placement.hops", values: [2])],
    seed: 1)"#;
/// Times on a machine of 0.7 us, 10 GB/s and 0.375 us, with noise of 2 %.
const PINGS: &str = "bytes,hops,measured_us\n8,2,2.1398\n8,4,2.9306\n512,2,2.1913\n512,4,2.9327\n4096,2,2.5124\n\
    4096,4,3.2955\n32768,2,5.5488\n32768,4,6.2294\n262144,2,28.959\n262144,4,29.26\n1048576,2,107.86\n1048576,4,108.16\n";
const OVERHEAD: &str = r#"Parameter(path: "machine.nodes.interface.overhead", from: "0.05 us", to: "5 us")"#;
const GAP_PER_BYTE: &str = r#"Parameter(path: "machine.nodes.interface.gap_per_byte", from: "1 GB/s", to: "80 GB/s")"#;
const LATENCY: &str = r#"Parameter(path: "machine.network.links.latency", from: "0.05 us", to: "3 us")"#;
const LINKS: &str = r#"Parameter(path: "machine.network.links.per_byte", from: "1 GB/s", to: "80 GB/s")"#;

/// A case over pings, in a folder of its own.
struct PingCase {
    folder: TempDir,
    file: std::path::PathBuf,
}

impl PingCase {
    /// Writes a case with these parameters, fields of its table and other fields.
    fn new(parameters: &[&str], table: &str, rest: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "Calibration(\ntables: [Table(name: \"pings\", scenario: \"s.ron\", data: \"data.csv\", simulated: \"message_s\", \
             reference: \"measured_us\",\n{table})],\nparameters: [\n{}],\n{rest})",
            parameters.join(",\n")
        );
        let file = folder.path().join("case.ron");
        let this = Self { folder, file };
        this.write("s.ron", SCENARIO).write("data.csv", PINGS).write("case.ron", &text)
    }

    fn write(self, name: &str, text: &str) -> Self {
        fs::write(self.folder.path().join(name), text).unwrap();
        self
    }

    fn read(&self) -> (Document, CalibrationCase) {
        let document = Document::load(&self.file).unwrap();
        let case = CalibrationCase::of(&document).unwrap();
        (document, case)
    }

    fn identified(&self) -> Result<Identified, StudyError> {
        let (document, case) = self.read();
        case.identify(&document, &self.file, Workers::default())
    }

    fn calibrated(&self) -> Calibrated {
        let (document, case) = self.read();
        case.calibrate(&document, &self.file, Workers::default()).unwrap()
    }

    /// Returns the faults that `check` finds, and asserts that `calibrate` finds the same.
    fn faults(&self) -> Faults {
        let (document, case) = self.read();
        let faults = |error: StudyError| match error {
            StudyError::Faults(faults) => faults,
            other => panic!("it has no place: {other}"),
        };
        let checked = faults(case.inspect(&document, &self.file).expect_err("it is faulty"));
        let Err(error) = case.calibrate(&document, &self.file, Workers::default()) else { panic!("it is faulty") };
        assert_eq!(faults(error).render(false), checked.render(false));
        checked
    }

    /// Asserts that the first fault is at this line of the case and says this.
    fn assert_fault(&self, line: usize, said: &[&str]) {
        let faults = self.faults();
        let (entry, words) = (faults.entries().remove(0), faults.render(false));
        assert_eq!((entry.file.as_deref(), entry.line), (self.file.to_str(), Some(line)), "{words}");
        assert!(said.iter().all(|said| words.contains(said)), "{words}");
    }
}

/// A parameter that the data leave open within an interval widens predictions by what it changes there, not by what
/// values change that the data exclude: links of 1 GB/s would be ten times too slow.
#[test]
fn values_that_the_data_exclude_do_not_widen_predictions() {
    let case = PingCase::new(
        &[OVERHEAD, GAP_PER_BYTE, LINKS, LATENCY],
        "noise: 0.02",
        "groups: [\"bytes\"], intervals: Intervals(level: 90)",
    );
    let found = case.calibrated();
    let links = &found.parameters[2];
    assert!(!links.is_determined && links.interval95.0 > 9.0 && links.interval95.1 > 70.0, "{links:?}");
    let intervals = found.intervals.as_ref().unwrap();
    for (row, interval) in found.rows.iter().zip(&intervals.of_rows) {
        let ((low, high), measured) = (interval.unwrap(), row.reference.unwrap());
        assert!(low < measured && measured < high && high < 1.2 * low, "{row:?} {low} {high}");
    }
    let (document, case_of) = case.read();
    let level = IntervalLevel::of_percent(90).unwrap();
    let predictor = case_of.predictor(&document, &case.file, level, Workers::default()).unwrap();
    let variations = predictor.variations();
    let of_links: Vec<_> = variations.iter().flatten().filter(|(path, _)| path.ends_with("links.per_byte")).collect();
    let rate = |text: &str| text.split(' ').next().unwrap().parse::<f64>().unwrap();
    assert!(of_links.len() >= 2 && of_links.iter().all(|(_, text)| rate(text) > 9.0), "{variations:?}");
}

const ALL: [&str; 3] = [OVERHEAD, GAP_PER_BYTE, LATENCY];

/// A field that a column sets for every row is not fitted, whether the column is named by its axis or by its path.
#[test]
fn what_a_column_sets_is_not_fitted() {
    let bytes = r#"Parameter(path: "program.bytes", from: "1 B", to: "3000 B")"#;
    let said = ["the column `bytes` gives each row a value of what is fitted"];
    PingCase::new(&[OVERHEAD, bytes], "", "").assert_fault(6, &said);
    let choice = r#"choices: [Choice(path: "program.bytes", values: ["1 B", "2 B"])]"#;
    PingCase::new(&[OVERHEAD], "", choice).assert_fault(6, &said);
    let data = PINGS.replace("bytes,", "program.bytes,");
    PingCase::new(&[OVERHEAD, bytes], "", "").write("data.csv", &data).assert_fault(6, &["the column `program.bytes`"]);
}

/// Neither is a field of an axis that follows a column, whose value depends on the row.
#[test]
fn what_follows_a_column_is_not_fitted() {
    let latency = r#", Axis(name: "latency", path: "machine.network.links.latency", unit: "ns", expression: "bytes")],
    seed"#;
    let scenario = SCENARIO.replace("],\n    seed", latency);
    assert_ne!(scenario, SCENARIO);
    let said = ["the axis `latency`, which follows columns, gives each row a value of what is fitted"];
    PingCase::new(&[LATENCY], "", "").write("s.ron", &scenario).assert_fault(5, &said);
}

/// A value of `set` that a column, a parameter or a choice replaces is an error, and so is one that the scenario rejects.
#[test]
fn values_of_set_that_are_undone_or_rejected_have_places() {
    let case = |set: &str, rest: &str| PingCase::new(&ALL, &format!("set: [\n(\"ranks\", \"2\"),\n{set}]"), rest);
    case(r#"("program.bytes", "1 B")"#, "").assert_fault(5, &["never used: the column `bytes` gives others"]);
    let latency = r#"("machine.network.links.latency", "1 us")"#;
    case(latency, "").assert_fault(5, &["never used: a parameter gives others"]);
    let sends = r#"choices: [Choice(path: "machine.sends", values: ["Buffered", "UntilDelivered"])]"#;
    case(r#"("machine.sends", "Buffered")"#, sends).assert_fault(5, &["never used: a choice gives others"]);
    case(&latency.replace("latency", "latenc"), "").assert_fault(5, &["did you mean `latency`?"]);
    case(r#"("machine.sends", "Rendezvous")"#, "").assert_fault(5, &["Rendezvous"]);
    assert!(case(r#"("machine.nodes.interface.gap", "0.2 us")"#, "").calibrated().has_converged);
}

/// An alternative that the machine does not take is found before anything is run, at its place.
#[test]
fn impossible_alternatives_have_places() {
    let choices = "choices: [Choice(path: \"machine.nodes.interface.data\", values: [\"AtOnce\", \"OnRequest(above: \\\"16 KiB\\\")\"]),\n\
        Choice(path: \"machine.sends\", values: [\"Buffered\",\nVALUE])]";
    for value in ["\"Rendezvous\"", "\"Bufered\""] {
        let case = PingCase::new(&ALL, "", &choices.replace("VALUE", value));
        case.assert_fault(10, &[&format!("`machine.sends` cannot be `{}`", value.trim_matches('"'))]);
    }
}

#[test]
fn conditions_that_select_too_few_rows_have_places() {
    PingCase::new(&ALL, "intervals: \"bytes == 77\"", "").assert_fault(3, &["it selects no row"]);
    let said = ["3 parameters cannot be fitted to 2 rows", "let more rows calibrate, or fit fewer parameters"];
    PingCase::new(&ALL, "train: \"bytes == 8\"", "").assert_fault(3, &said);
    let data = "bytes,hops,measured_us\n8,2,2.1398\n";
    PingCase::new(&ALL, "", "").write("data.csv", data).assert_fault(4, &["add measurements, or fit fewer parameters"]);
}

#[test]
fn an_empty_table_is_called_empty() {
    for data in ["", "\n\n", "# nothing yet\n"] {
        PingCase::new(&ALL, "", "").write("data.csv", data).assert_fault(2, &["data.csv: it is empty"]);
    }
}

/// Two rates, the slower of which counts, and a fit that takes the one for the other: neither is determined, and few
/// descents are reported.
#[test]
fn exchanged_rates_that_fit_as_well_are_not_determined() {
    let case = PingCase::new(&[OVERHEAD, GAP_PER_BYTE, LINKS, LATENCY], "noise: 0.02", "evaluations: 40");
    let found = case.calibrated();
    assert!(found.descents.first < 3, "{}", found.descents.first);
    let words = found.answer().words;
    assert!(words.contains("of the descents from the best 3 starting points ended within the budget"), "{words}");
    let whole = PingCase::new(&ALL, "noise: 0.02", "").calibrated();
    assert_eq!((whole.descents.first, whole.not_followed), (3, 0));
    assert!(!whole.answer().words.contains("starting points"));
}

/// Every descent that ends is counted where it ended, also if it approached a known optimum.
#[test]
fn descents_are_counted_where_they_ended() {
    let found = PingCase::new(&ALL, "noise: 0.02", "").calibrated();
    let DescentCounts { all, at_best, at_worse, .. } = found.descents;
    assert!(all >= 3 && (at_best, at_worse) == (all, 0), "{:?}", found.descents);
    let words = found.answer().words;
    assert!(words.contains(&format!("; {all} of {all} descents ended at the best optimum")), "{words}");
    let single = Calibrated { descents: DescentCounts { all: 3, first: 3, at_best: 1, at_worse: 2 }, ..found };
    let words = single.answer().words;
    assert!(words.contains("2 of 3 descents ended at worse optima, and only one at the best one"), "{words}");
    let summary = single.answer().records.pop().unwrap();
    assert_eq!((summary.number("best_reached"), summary.number("worse_optima")), (Some(1.0), Some(2.0)));
}

/// Two levels of switches, and one, on which no two nodes are four hops apart.
const LEVELS: &str = r#"Choice(path: "machine.network.topology.levels", values: ["2", "1"])"#;

/// An alternative that cannot be run is reported with its reason; the others are fitted and judged.
#[test]
fn an_alternative_that_cannot_be_run_does_not_end_the_others() {
    let choices = format!("choices: [{LEVELS}]");
    let case = PingCase::new(&ALL, "noise: 0.02", &choices);
    let (document, read) = case.read();
    let (_, remarks) = read.inspect(&document, &case.file).unwrap();
    assert!(remarks.len() == 1 && remarks[0].contains("cannot be run: with machine.network.topology.levels = 1"));
    let found = case.calibrated();
    assert!(found.has_converged && found.check().is_ok() && found.choices[0].failure.is_none());
    let failure = found.choices[1].failure.as_ref().unwrap();
    assert!(
        failure.contains("line 3 of data.csv") && found.answer().words.contains("cannot be run: table"),
        "{failure}"
    );
    let identified = case.identified().unwrap();
    let verdicts: Vec<_> = identified.choices.iter().map(|choice| choice.verdict).collect();
    assert_eq!(verdicts, [Verdict::NotToldApart, Verdict::CannotRun]);
    let of_values: Vec<_> = identified.mechanisms.iter().map(|mechanism| mechanism.verdict).collect();
    assert!(identified.check().is_ok() && of_values == verdicts, "{of_values:?}");
    let words = identified.answer().words;
    assert!(words.contains("with machine.network.topology.levels = 1 cannot be run: table"), "{words}");
}

/// If no alternative can be run, all reasons are given.
#[test]
fn alternatives_none_of_which_can_be_run_fail() {
    let data = PINGS.replace(",4,", ",40,");
    let case = PingCase::new(&ALL, "noise: 0.02", &format!("choices: [{LEVELS}]")).write("data.csv", &data);
    let Err(StudyError::Failed(messages)) = case.identified() else { panic!("it has a result") };
    let alternatives = ["levels = 2: ", "levels = 1: "];
    assert!(messages.iter().zip(alternatives).all(|(message, said)| message.contains(said)), "{messages:?}");
    let (document, read) = case.read();
    assert!(read.inspect(&document, &case.file).is_err());
}

/// A combination of values each of which is possible with others cannot be left out of a case, and is no fault.
#[test]
fn an_impossible_combination_of_possible_values_is_no_fault() {
    let choices = r#"choices: [Choice(path: "machine.network.contention", values: ["FirstComeFirstServed", "FairFlows"]),
        Choice(path: "machine.nodes.interface.progress", values: ["AfterArrival", "WhileArriving"])]"#;
    let identified = PingCase::new(&ALL, "noise: 0.02", choices).identified().unwrap();
    let failures: Vec<_> = identified.choices.iter().filter_map(|choice| choice.failure.as_deref()).collect();
    assert_eq!(failures, ["the receiver of a flow notices only its last byte"]);
    assert!(identified.mechanisms.iter().all(|mechanism| mechanism.verdict != Verdict::CannotRun));
}

/// Of the measurements that could be made, those whose predictions differ most come first.
#[test]
fn measurements_that_would_tell_alternatives_apart_are_named() {
    let eager = r#"choices: [Choice(path: "machine.sends", values: ["Eager(up_to: \"16 KiB\")", "Buffered"]),
        Choice(path: "machine.nodes.interface.data", values: ["AtOnce", "OnRequest(above: \"64 KiB\")"])]"#;
    let (data, _) = PINGS.split_once("262144").unwrap();
    let case = PingCase::new(&ALL, "noise: 0.02", eager).write("data.csv", &format!("{data}16,2,\n100000,4,\n"));
    let identified = case.identified().unwrap();
    let [first, second] = &identified.candidates[..] else { panic!("{:?}", identified.candidates) };
    assert!(first.row.columns().any(|(_, value)| value.to_string() == "100000"), "{first:?}");
    assert!(first.spread > second.spread && second.spread >= 0.0, "{first:?} {second:?}");
    let words = identified.answer().words;
    assert!(words.contains("of a measurement at bytes = 100000, hops = 4, predictions would differ by"), "{words}");
}

/// A case with a budget too small for the profiles says that its intervals are those of slopes.
#[test]
fn intervals_that_are_not_checked_are_counted() {
    let found = PingCase::new(&ALL, "noise: 0.02", "evaluations: 24").calibrated();
    assert!(found.not_followed > 0, "{}", found.interval_evaluations);
    let words = found.answer().words;
    assert!(words.contains("to slopes alone"), "{words}");
}

/// A bound is no hint at values beyond it if all values fit as well.
#[test]
fn a_bound_of_what_has_no_influence_is_not_named() {
    let gap = r#"Parameter(path: "machine.nodes.interface.gap", from: "0.1 us", to: "50 us")"#;
    let found = PingCase::new(&[OVERHEAD, GAP_PER_BYTE, gap, LATENCY], "noise: 0.02", "").calibrated();
    let words = found.answer().words;
    assert!(found.parameters[2].is_at_bound && !found.parameters[2].has_influence, "{words}");
    assert!(words.contains("gap: all values from") && !words.contains("is at a bound"), "{words}");
}

#[test]
fn noise_above_all_measured_values_is_remarked() {
    let words = |noise: &str| PingCase::new(&ALL, noise, "loss: Absolute").calibrated().answer().words;
    let said = "the noise of pings, 0.2000 s, exceeds all its measured values";
    assert!(words("noise: 0.2").contains(said), "{}", words("noise: 0.2"));
    assert!(!words("noise: 2e-8").contains(said));
}

/// The value of a size is the one that is written.
#[test]
fn a_size_is_whole() {
    let packet = r#"Parameter(path: "machine.network.switching.packet", from: "128 B", to: "8192 B")"#;
    let found = PingCase::new(&[OVERHEAD, GAP_PER_BYTE, packet], "noise: 0.02", "").calibrated();
    let value = found.parameters[2].value;
    assert!(value.fract() == 0.0 && found.machine.contains(&format!("packet: \"{value} B\"")), "{value}");
}

/// The interval of a sum does not leave what the bounds of its members allow.
#[test]
fn a_combination_stays_within_the_bounds_of_its_members() {
    let equal = |line: &str| line.rsplit_once(',').map_or_else(String::new, |(point, _)| format!("{point},5.0\n"));
    let data: String = PINGS.lines().skip(1).map(equal).collect();
    let found = PingCase::new(&ALL, "noise: 0.02", "")
        .write("data.csv", &format!("bytes,hops,measured_us\n{data}"))
        .calibrated();
    let [sum] = &found.combinations[..] else { panic!("{:?}", found.combinations) };
    assert!(sum.interval95.0 >= 0.1 && sum.interval95.0 <= sum.value && sum.value <= sum.interval95.1, "{sum:?}");
}

/// Two nodes of a line, between which a message takes the times of the sender and of the receiver together.
const LINE: &str = r#"Scenario(
    machine: Machine(
        name: "line",
        nodes: Node(processor: FlopRate("1 Mflop/s"), memory: "4 MiB", router: Hardware,
            sending: Sending(per_packet: "10 us", per_byte: "0 us/B", per_hop: "0 us", overlap: true),
            receiving: Receiving(per_packet: "8 us", per_byte: "0 us/B")),
        network: Network(topology: Line(nodes: 4), routing: DimensionOrder, switching: StoreAndForward(packet: "100000 B"),
            links: Link(per_byte: "0.02 us/B", latency: "0 us", per_packet: "0 us")),
        sends: Buffered),
    ranks: 2, placement: Apart(hops: 1), program: Ping(bytes: "8 B"),
    axes: [Axis(name: "bytes", path: "program.bytes", unit: "B", values: [8])],
    seed: 1)"#;

/// The data determine only the sum of two parameters. A prediction that depends on the larger one bends where they are
/// equal, and its interval contains what all values of this sum give, by the case and by a fit that is kept.
#[test]
fn predictions_follow_a_sum_that_alone_is_determined() {
    let parameters = ["sending", "receiving"]
        .map(|part| format!(r#"Parameter(path: "machine.nodes.{part}.per_packet", from: "1 us", to: "100 us")"#));
    let noise = [1.02, 0.99, 1.0, 0.985, 1.01];
    let row = |(index, bytes): (usize, u32)| {
        format!("{},{bytes},{:.4}\n", index / 5, (83.5 + 0.02 * f64::from(bytes)) * noise[(index * 7 + index / 5) % 5])
    };
    let data: String = [10, 50, 100, 200, 500].repeat(3).into_iter().enumerate().map(row).collect();
    let burst_of = |one: f64, other: f64| 40.0 * one.max(other) + one.min(other);
    for loss in ["Relative", "Absolute"] {
        let rest = format!("loss: {loss}, intervals: Intervals(level: 90)");
        let case = PingCase::new(&[&parameters[0], &parameters[1]], "labels: [\"run\"]", &rest)
            .write("s.ron", LINE)
            .write("data.csv", &format!("run,bytes,measured_us\n{data}"));
        let (document, _) = case.read();
        let found = case.calibrated();
        let text = found.fit_file(&document, &case.file).unwrap();
        let kept = Predictor::of(&Document::from_text("fit.ron", &text).unwrap(), Path::new("fit.ron")).unwrap();
        let predictor = found.predictor.unwrap();
        let burst = |values: &[Setting]| {
            let time = |(_, text): &Setting| text.trim_end_matches(" us").parse::<f64>().unwrap() * 1e-6;
            let [one, other] = &values.iter().map(time).collect::<Vec<_>>()[..] else { panic!("{values:?}") };
            burst_of(*one, *other)
        };
        let best: Vec<Setting> = predictor.settings().collect();
        let nearby: Vec<f64> = predictor
            .variations()
            .into_iter()
            .map(|changed| {
                let of = |(path, text): &Setting| {
                    let other = changed.iter().find(|(other, _)| other == path);
                    (path.clone(), other.map_or(text, |(_, text)| text).clone())
                };
                burst(&best.iter().map(of).collect::<Vec<_>>())
            })
            .collect();
        let (low, high) = predictor.interval(burst(&best), 1.0, &nearby).unwrap();
        let [ends, inside, middle] = [1.0, 20.0, 41.75].map(|one: f64| burst_of(1e-6 * one, 1e-6 * (83.5 - one)));
        assert!(low <= inside && ends <= high, "{loss}: {low} {inside} {ends} {high}");
        // The bend itself may lie between two points.
        assert!(low < 1.01 * middle, "{loss}: {low} {middle}");
        assert!(low > 0.9 * middle && high < 1.1 * ends, "{loss}: {low} {middle} {ends} {high}");
        assert_eq!(
            (kept.interval(burst(&best), 1.0, &nearby), kept.variations()),
            (Some((low, high)), predictor.variations())
        );
    }
    assert!(
        PingCase::new(&ALL, "noise: 0.02", "intervals: Intervals(level: 90)")
            .calibrated()
            .predictor
            .unwrap()
            .allowed
            .is_empty()
    );
}

/// Rows that set intervals took no part in the fit, and judge nothing: a machine names them, and a picture shows them.
#[test]
fn rows_that_set_intervals_are_told_apart() {
    let table = r#"noise: 0.02, train: "bytes <= 32768", intervals: "bytes >= 4096 && bytes <= 262144""#;
    let case = PingCase::new(&ALL, table, "");
    let found = case.calibrated();
    let named: Vec<(String, usize)> =
        found.chart().lines.into_iter().map(|line| (line.name, line.points.len())).collect();
    let expected = [("pings, calibrates", 4), ("pings, judges", 2), ("pings, sets intervals", 6)];
    assert_eq!(named, expected.map(|(name, rows)| (name.to_owned(), rows)));
    let header = case.calibrated().machine_file(&case.file);
    assert!(
        header
            .contains("the rows with bytes <= 32768, without those with bytes >= 4096 && bytes <= 262144, of data.csv"),
        "{header}"
    );
}
