//! Fits to tables.

use super::*;

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
