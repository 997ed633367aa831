use super::*;
use std::path::Path;

fn search(p: &[u32], document: &Document, kept: HeldQuantity) -> Result<Vec<SearchedProblem>, StudyError> {
    Ok(growing(p, document).search(kept, Recall::NONE)?.found)
}

fn growing(p: &[u32], document: &Document) -> GrowingProblem {
    let (document, size) = (document.clone(), "program.n".to_owned());
    GrowingProblem { document, processors: p.into(), size, largest: 1 << 18 }
}

fn document(name: &str, settings: &[(&str, &str)]) -> Document {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.ron"));
    let mut document = Document::load(path).unwrap();
    for (path, value) in settings {
        document.set(path, value).unwrap();
    }
    document
}

#[expect(clippy::cast_precision_loss, reason = "it is compared to a percent")]
fn differences(found: &[SearchedProblem]) -> Vec<f64> {
    let difference = |one: &SearchedProblem| one.problem.as_ref().unwrap().size as f64 / one.closed_form.unwrap() - 1.0;
    found.iter().map(difference).collect()
}

/// With n / p additions of 1 us and log₂ p steps, the closed form is exact except for the rounding of n / p.
#[test]
fn a_reduction_grows_as_its_closed_form() {
    let document = document("reduction", &[("machine.nodes.processor.flop", "1 us")]);
    let found = search(&[2, 4, 16, 64], &document, HeldQuantity::Efficiency(0.75)).unwrap();
    assert!(differences(&found).iter().all(|difference| difference.abs() < 0.01), "{:?}", differences(&found));
    for one in &found {
        assert!(one.problem.as_ref().unwrap().efficiency >= 0.75);
    }
}

/// Sizes that a program skips are not the smallest that would do, and the answer says so.
#[test]
fn skipped_sizes_are_reported() {
    let notes = |document: &Document| {
        growing(&[4], document).search(HeldQuantity::Efficiency(0.5), Recall::NONE).unwrap().notes()
    };
    let said = |document: &Document| notes(document).iter().any(|note| note.contains("rejects some sizes on p = 4"));
    assert!(said(&document("fft2d-transpose", &[])));
    assert!(!said(&document("reduction", &[("machine.nodes.processor.flop", "1 us")])));
}

#[test]
fn a_program_that_takes_no_time_has_no_efficiency() {
    let Err(failure) = search(&[4], &document("reduction", &[]), HeldQuantity::Efficiency(0.5)) else {
        panic!("additions are free on that machine")
    };
    assert!(format!("{failure:?}").contains("takes no time on one processor"), "{failure:?}");
}

/// Returns a hypercube or mesh whose iterations take 1 us; messages have only a start-up time or only a time per byte.
fn ideal(name: &str, settings: &[(&str, &str)]) -> Document {
    let machine = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/machines/ideal-{name}.ron"));
        format!("File({path:?})")
    };
    let mesh = name == "finite-difference";
    let machine = machine(if mesh { "torus" } else { "hypercube" });
    let mut all = vec![("machine", machine.as_str())];
    if mesh {
        all.push(("machine.network.topology", "Mesh2d(rows: 8, columns: 8)"));
    }
    all.extend([("machine.nodes.processor.rsub", "1 us"), ("machine.nodes.processor.flop", "1 us")]);
    all.extend(settings);
    document(name, &all)
}

const NO_STARTUP: (&str, &str) = ("machine.nodes.sending.per_packet", "0 us");

/// A broadcast of a row of n words in log₂ p stages takes log₂ p times the time of its bytes.
#[test]
fn floyd_grows_as_its_closed_form_where_only_bytes_take_time() {
    let document = ideal("floyd", &[NO_STARTUP]);
    let found = search(&[2, 4, 8], &document, HeldQuantity::Efficiency(0.5)).unwrap();
    assert!(differences(&found).iter().all(|difference| difference.abs() < 0.02), "{:?}", differences(&found));
}

/// The closed form applies from p = 4 on, where a rank waits for two neighbours at once.
#[test]
fn finite_differences_grow_as_their_closed_form_where_only_bytes_take_time() {
    let document = ideal("finite-difference", &[NO_STARTUP, ("program.rows", "None")]);
    let found = search(&[4, 16, 64], &document, HeldQuantity::Efficiency(0.75)).unwrap();
    assert!(differences(&found).iter().all(|difference| difference.abs() < 0.005), "{:?}", differences(&found));
}

fn sizes(found: &[SearchedProblem]) -> Vec<f64> {
    #[expect(clippy::cast_precision_loss, reason = "it is compared to a percent")]
    let size = |one: &SearchedProblem| one.problem.as_ref().unwrap().size as f64;
    found.iter().map(size).collect()
}

fn assert_near(sizes: &[f64], processors: &[u32], expected: impl Fn(f64) -> f64, tolerance: f64) {
    for (size, p) in sizes.iter().zip(processors) {
        let expected = expected(f64::from(*p));
        assert!((size / expected - 1.0).abs() < tolerance, "p = {p}: {size} is not {expected}");
    }
}

/// T(n, p) = n³ / 2 p us + b n² log₂ p + b n² (1 − 1/p), with b = 16 us per word. The last term, the distribution, is
/// not in the closed form, which therefore grows faster.
#[test]
fn gauss_jordan_grows_as_its_closed_form_and_the_distribution() {
    let document = ideal("gauss-jordan-neighbour", &[NO_STARTUP, ("ranks", "4"), ("program.broadcast", "Binomial")]);
    let p = [2, 4, 8];
    let found = search(&p, &document, HeldQuantity::Efficiency(0.5)).unwrap();
    let with_distribution = |p: f64| 2.0 * 16.0 * p * (p.log2() + 1.0 - 1.0 / p);
    assert_near(&sizes(&found), &p, with_distribution, 0.015);
    assert!(differences(&found)[2] < -0.1);
}

/// A broadcast costs log₂ p start-ups of 100 us and negligible time for bytes, so n³ / p us = 100 us n log₂ p.
#[test]
fn floyd_grows_as_a_root_where_only_startups_take_time() {
    let document = ideal("floyd", &[("machine.network.links.per_byte", "0.001 us/B")]);
    let p = [4, 8, 16, 32];
    let found = search(&p, &document, HeldQuantity::Efficiency(0.5)).unwrap();
    assert_near(&sizes(&found), &p, |p| (100.0 * p * p.log2()).sqrt(), 0.03);
}

/// Checks that one size less misses the efficiency, and one more exceeds the time.
#[test]
fn what_is_found_is_the_edge() {
    let document = document("floyd", &[]);
    let growing = growing(&[4], &document);
    let problem = Problem::new(&growing, 4, Recall::NONE).unwrap();
    let found = problem.search(HeldQuantity::Efficiency(0.5)).unwrap().unwrap();
    let reaches = |size, kept| problem.reaches(size, &problem.scenario(size, 4).unwrap(), kept).unwrap();
    assert!(reaches(found.size, HeldQuantity::Efficiency(0.5)));
    assert!(!reaches(found.size - 1, HeldQuantity::Efficiency(0.5)));
    let found = problem.search(HeldQuantity::Seconds(0.1)).unwrap().unwrap();
    assert!(found.time_s <= 0.1);
    assert!(reaches(found.size + 1, HeldQuantity::Seconds(0.1)));
}

/// The transforms accept powers of two only, and between them there are gaps as wide as the sizes.
#[test]
fn powers_of_two_are_found_and_a_limit_between_them_is_reported() {
    let document = document("fft2d-transpose", &[]);
    let found = search(&[1, 4], &document, HeldQuantity::Seconds(0.5)).unwrap();
    let sizes: Vec<_> = found.iter().map(|one| one.problem.as_ref().unwrap().size).collect();
    assert_eq!(sizes, [32, 64]);
    let growing = GrowingProblem { largest: 100, ..growing(&[4, 64], &document) };
    let Err(failure) = growing.search(HeldQuantity::Seconds(50.0), Recall::NONE) else { panic!("all are shorter") };
    assert!(failure.to_string().contains("raise `--largest`"), "{failure}");
    let partly = GrowingProblem { processors: vec![1, 64], ..growing }.search(HeldQuantity::Seconds(0.5), Recall::NONE);
    let found = partly.unwrap().found;
    assert_eq!(
        found.iter().map(|one| one.problem.as_ref().err().copied()).collect::<Vec<_>>(),
        [None, Some(NotFound::Beyond)]
    );
}

/// Sizes with fewer points than ranks along a side are rejected, and skipped.
#[test]
fn sizes_that_a_program_refuses_are_stepped_over() {
    let document = document("finite-difference", &[("program.rows", "1"), ("program.iterations", "1")]);
    let found = search(&[8], &document, HeldQuantity::Efficiency(0.001)).unwrap();
    assert_eq!(found[0].problem.as_ref().unwrap().size, 8);
}

#[test]
fn a_fault_of_every_size_is_reported() {
    let document = document("finite-difference", &[]);
    let Err(StudyError::Faults(faults)) = search(&[6], &document, HeldQuantity::Efficiency(0.5)) else {
        panic!("four rows do not divide six ranks");
    };
    assert!(faults.render(false).contains("rows"), "{}", faults.render(false));
}

/// Returns a program of steps with one parameter, whose data are not described.
fn steps() -> Document {
    let program = r#"Phases(parameters: {"cells": 10}, steps: [Compute(seconds: "cells * 1e-6")])"#;
    document("floyd", &[("program", program), ("axes", "[]")])
}

#[test]
fn memory_that_a_program_does_not_state_is_unknown() {
    let growing = GrowingProblem { size: "program.parameters.cells".to_owned(), ..growing(&[4], &steps()) };
    let growth = growing.search(HeldQuantity::Seconds(0.1), Recall::NONE).unwrap();
    let answer = growth.answer();
    let record = &answer.records[0];
    // Links are ready after 5080 us.
    assert_eq!(record.number("n"), Some(94_920.0));
    assert!(["needed_memory_bytes", "fits"].iter().all(|key| record.get(key).unwrap().is_missing()), "{record:?}");
    assert!(answer.notes.iter().any(|note| note.contains("states no memory")), "{:?}", answer.notes);
}

#[test]
fn a_size_that_is_missing_names_the_parameters() {
    let Err(StudyError::Faults(faults)) = search(&[4], &steps(), HeldQuantity::Seconds(0.001)) else {
        panic!("there is no `program.n`");
    };
    assert!(faults.render(false).contains("one of `program.parameters.cells`"), "{}", faults.render(false));
}

#[test]
fn a_fixed_time_has_no_closed_form() {
    let document = document("floyd", &[]);
    let found = search(&[1, 4], &document, HeldQuantity::Seconds(0.1)).unwrap();
    assert!(found.iter().all(|one| one.closed_form.is_none()));
    let sizes: Vec<_> = found.iter().map(|one| one.problem.as_ref().unwrap().size).collect();
    assert!(sizes[0] < sizes[1], "{sizes:?}");
}
