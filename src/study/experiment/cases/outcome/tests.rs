//! Tests that rows of outcomes agree with published values.

use std::path::{Path, PathBuf};

use super::*;
use crate::answer::{QuantityValue, Role};
use crate::scenario::source::{Document, Faults};
use crate::scenario::{Case, Plan};

fn record(settings: &[(&str, &str)]) -> Record {
    outcome(settings).unwrap().record()
}

fn outcome(settings: &[(&str, &str)]) -> Result<Outcome, SimulationError> {
    let case = case(settings).unwrap();
    Outcome::of(&case, &References::load(&case.scenario, &path()).unwrap(), Recall::default())
}

fn case(settings: &[(&str, &str)]) -> Result<Case, Faults> {
    let mut document = Document::load(path()).unwrap();
    for (field, value) in settings {
        document.set(field, value).unwrap();
    }
    Plan::new(document, &[]).unwrap().base()
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/kernel-rsub.ron")
}

fn number(record: &Record, key: &str) -> f64 {
    record.number(key).unwrap_or_else(|| panic!("there is no number {key}"))
}

/// Compares with CS-RR-281, Table 5: one listing and one memory cycle explain all components.
#[test]
fn the_inner_iteration_is_that_of_table_5() {
    let record = record(&[]);
    for (component, percent) in
        [("cpu", 12.0), ("fpu", 5.0), ("external", 12.0), ("internal_memory", 12.0), ("sum", 6.0)]
    {
        let error = 100.0 * number(&record, &format!("error_of_{component}_cycles"));
        assert!(error.abs() <= percent, "{component}: {error:+.1} %");
    }
    let published = ["cpu", "fpu", "external", "internal_memory"]
        .map(|component| number(&record, &format!("published_{component}_cycles")));
    for (published, rounded) in published.into_iter().zip([47.5, 29.7, 79.7, 16.9]) {
        assert!((published - rounded).abs() <= 0.05, "{published} is not {rounded}");
    }
}

#[test]
fn beside_means_values_of_one_run_are_marked() {
    let role = |settings: &[(&str, &str)]| record(settings).quantity("iteration_ns").unwrap().role;
    assert_eq!((role(&[]), role(&[("repeat", "2")])), (Role::Detail, Role::FirstSeed));
}

#[test]
fn the_inner_iteration_is_exact() {
    let record = record(&[]);
    let expected = [
        ("cpu_cycles", 51.0),
        ("fpu_cycles", 30.0),
        ("overlapped_cycles", 13.0),
        ("internal_memory_cycles", 15.0),
        ("external_memory_cycles", 36.0),
        ("fetch_cycles", 38.0),
        ("fetch_held_up_cycles", 6.0),
        ("iteration_overlapped_ns", 6250.0),
        ("iteration_summed_ns", 8500.0),
    ];
    for (key, value) in expected {
        assert!((number(&record, key) - value).abs() < 1e-9, "{key}");
    }
}

#[test]
fn a_processor_is_also_a_rate_or_counted_instructions() {
    let counted = r#"Counted(
        clock: "25 MHz",
        cycles: (load: 2, store: 3, add: 6, multiply: 18),
        modules: (inv: (), norm: (), set: (), rsub: (load: 2, store: 1, add: 1, multiply: 1), buf: (), flop: ()),
    )"#;
    for (processor, ns) in [(r#"Rate(inner_iteration: "9 us")"#, 9000.0), (counted, 31.0 * 40.0)] {
        let record = record(&[("machine.nodes.processor", processor)]);
        assert!((number(&record, "iteration_ns") - ns).abs() < 1e-6, "{processor}");
        assert_eq!(record.get("published_cpu_cycles"), Some(&QuantityValue::Missing));
    }
}

#[test]
fn a_row_that_does_not_fit_on_the_chip_is_rejected() {
    let placement = ("machine.nodes.processor.modules.rsub.placement.data", "on-chip");
    let faults = case(&[placement, ("program.iterations", "300")]).expect_err("it does not fit").list;
    let [fault] = &faults[..] else { panic!("{faults:?}") };
    assert!(fault.path == "program.iterations" && fault.message.contains("placed on the chip"), "{fault:?}");
    assert!(case(&[placement, ("program.iterations", "250")]).is_ok());
}

#[test]
fn the_simulated_time_follows_the_accounting() {
    for (accounting, ns) in [("overlapped", 6250.0), ("summed", 8500.0)] {
        let record = record(&[("machine.nodes.processor.accounting", accounting)]);
        let simulated = number(&record, "iteration_ns");
        assert!(simulated > ns && simulated < 1.001 * ns, "{simulated} ns, {accounting}");
    }
}
