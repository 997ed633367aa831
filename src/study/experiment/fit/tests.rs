//! Fits to tables.

use super::*;
use crate::answer::QuantityValue;

fn fitted(request: &FitRequest, table: &str) -> Fits {
    request.fit(Table::parse("times.csv", table).unwrap()).unwrap()
}

fn loggp(fits: &Fits) -> &LogGp {
    let Ok(FittedModel::Loggp(fit)) = fits.models().next().unwrap().1 else { panic!("no fit of loggp") };
    fit
}

fn with_overhead() -> FitRequest {
    let messages = MessageColumns { overhead: Some("ov_s".to_owned()), ..MessageColumns::default() };
    FitRequest { messages, ..FitRequest::new(FitModel::Loggp) }
}

#[test]
fn a_row_without_an_overhead_is_not_used() {
    for table in [
        "bytes,time_s,ov_s\n1,1e-5,1e-6\n100,1.1e-5,\n1000,2e-5,1e-6\n2000,3e-5,1e-6\n",
        "bytes,ov_s,time_s\n1,1e-6,1e-5\n100,,1.1e-5\n1000,1e-6,2e-5\n2000,1e-6,3e-5\n",
    ] {
        let fits = fitted(&with_overhead(), table);
        let fit = loggp(&fits);
        assert_eq!(fit.quality.points, 3);
        assert!((fit.overhead_s.unwrap() - 1e-6).abs() < 1e-12, "{fit:?}");
        assert!(fits.notes[0].contains("1 of 4 rows have no `ov_s` and are not used"), "{:?}", fits.notes);
    }
}

#[test]
fn no_overhead_is_an_overhead_of_0() {
    let fits = fitted(&with_overhead(), "bytes,time_s,ov_s\n1,1e-5,0\n1000,2e-5,0\n2000,3e-5,0\n");
    let fit = loggp(&fits);
    assert_eq!((fit.overhead_s, fit.overhead_per_byte_s), (Some(0.0), Some(0.0)));
    assert_eq!(fit.latency_s, Some(fit.end_to_end_s));
}

#[test]
fn equal_times_have_no_rate() {
    let fits = fitted(&FitRequest::new(FitModel::Hockney), "bytes,time_s\n8,0.3\n1000,0.3\n");
    let Ok(FittedModel::Hockney(fit)) = fits.models().next().unwrap().1 else { panic!("no fit of Hockney") };
    assert_eq!((fit.rate_bytes_per_s(), fit.half_length_bytes()), (None, None));
    assert!((fit.startup_s - 0.3).abs() < 1e-12, "{fit:?}");
}

/// A number of chunks follows from the bytes: no two rows would agree in it.
#[test]
fn a_column_that_the_bytes_determine_makes_no_groups() {
    let fits = fitted(&FitRequest::new(FitModel::Hockney), "bytes,chunks,time_s\n100,1,2\n200,2,3\n400,4,5\n800,8,9\n");
    let Ok(FittedModel::Hockney(fit)) = fits.models().next().unwrap().1 else { panic!("no fit of Hockney") };
    assert!((fit.startup_s - 1.0).abs() < 1e-9 && fits.models().count() == 1, "{fit:?}");
    assert!(fits.notes[0].contains("`chunks` changes with `bytes`"), "{:?}", fits.notes);
    let table = "bytes,hops,time_s\n100,1,2\n200,1,3\n100,2,3\n200,2,4\n";
    assert_eq!(fitted(&FitRequest::new(FitModel::Hockney), table).models().count(), 2);
}

#[test]
fn no_messages_have_no_time() {
    let messages = MessageColumns { messages: Some("m".to_owned()), ..MessageColumns::default() };
    let request = FitRequest { messages, ..FitRequest::new(FitModel::Loggp) };
    let error = request.fit(Table::parse("times.csv", "bytes,m,time_s\n1,1,1e-5\n100,0,2e-5\n1000,2,3e-5\n").unwrap());
    let error = error.err().expect("a row has no messages").to_string();
    assert!(error.contains("line 3, column `m`: the number of messages is 0"), "{error}");
}

fn form_notes(table: &str, form: FormRequest) -> String {
    let request = FitRequest { form, weighting: Weighting::Absolute, ..FitRequest::new(FitModel::NormalForm) };
    fitted(&request, table).notes.join("\n")
}

#[test]
fn poor_forms_are_noted() {
    let noise = "n,time_s\n1,3\n2,1\n4,4\n8,1\n16,5\n32,3\n";
    let falling = "p,time_s\n1,64\n2,32\n4,16\n8,8\n16,4\n32,2.1\n64,1.2\n";
    let good = "p,time_s\n1,1\n2,2\n4,4\n8,8\n16,16\n32,32.5\n";
    let notes = |table: &str| form_notes(table, FormRequest::default());
    assert!(notes(noise).contains("explains little of how the values differ: adjusted R² is "), "{}", notes(noise));
    let of_falling = notes(falling);
    assert!(of_falling.contains("fall with p, which no form does: `--strong-scaling p`"), "{of_falling}");
    assert!(of_falling.contains("the form is negative within the range of the rows, at p = "), "{of_falling}");
    assert_eq!(notes(&falling.replace("p,", "n,")).matches("fall with").count(), 0);
    let scaled = FormRequest { strong_scaling: Some("p".to_owned()), ..FormRequest::default() };
    assert_eq!((form_notes(falling, scaled), notes(good)), (String::new(), String::new()));
}

#[test]
fn forms_that_the_data_cannot_tell_apart_are_rejected() {
    let fit = |table: &str, parameters: &[&str]| {
        let parameters = parameters.iter().map(|name| (*name).to_owned()).collect();
        let form = FormRequest { parameters, ..FormRequest::default() };
        let request = FitRequest { form, ..FitRequest::new(FitModel::NormalForm) };
        request.fit(Table::parse("times.csv", table).unwrap()).map_err(|error| error.to_string())
    };
    let error = |table: &str, parameters: &[&str]| fit(table, parameters).err().unwrap();
    let fixed = "p,n,time_s\n4,1000,1\n8,1000,2\n16,1000,3\n";
    assert!(error(fixed, &["p", "n"]).contains("`n` has the same value in every row"));
    let two = "p,time_s\n4,1\n4,1.1\n8,2\n8,2.1\n";
    assert!(error(two, &[]).contains("the rows have 2 values of `p`"));
    let weak = "p,n,time_s\n4,1000,1\n8,2000,2\n16,4000,3\n32,8000,4\n";
    assert!(error(weak, &[]).contains("each `n` its own `p`"));
    let of_both = fit(weak, &["p"]).unwrap();
    assert_eq!((of_both.groups.len(), of_both.notes.join("\n").contains("`n` changes with `p`")), (1, true));
    let stepped = "p,nodes,time_s\n1,1,1\n2,1,2\n4,1,4\n8,2,8\n16,4,16\n";
    let of_both = fit(stepped, &["p"]).unwrap();
    assert_eq!((of_both.groups.len(), of_both.notes.join("\n").contains("`nodes` changes with `p`")), (1, true));
    let apart = "p,run,time_s\n1,1,1\n2,1,2\n4,1,4\n8,2,1\n16,2,2\n32,2,4\n";
    assert_eq!(fit(apart, &["p"]).unwrap().groups.len(), 2);
    // Each size has two numbers of processors.
    let mixed = "p,n,time_s\n4,1000,1\n8,1000,2\n16,1000,3\n8,2000,4\n16,2000,6\n32,2000,8\n32,4000,16\n";
    assert_eq!(fit(mixed, &[]).unwrap().groups.len(), 1);
}

/// The symmetric error of a measured 0 is defined, and a relative one is not.
#[test]
fn a_measured_zero_has_a_symmetric_error() {
    let request = FitRequest { weighting: Weighting::Absolute, ..FitRequest::new(FitModel::Hockney) };
    let fits = fitted(&request, "bytes,time_s\n1,0\n1000,2e-5\n2000,3e-5\n4000,6e-5\n");
    let (record, words) = (&fits.groups[0].1.record, &fits.groups[0].1.words);
    let number = |key: &str| record.get(key).and_then(QuantityValue::number).filter(|value| value.is_finite());
    assert!(number("smape").is_some_and(|smape| (0.5..1.0).contains(&smape)) && number("largest_error").is_none());
    assert!(words.contains("largest error none") && words.contains("relative to a measured 0"), "{words}");
}
