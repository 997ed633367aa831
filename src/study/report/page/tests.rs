use super::*;
use crate::report::panels::Panels;
use crate::report::plot::{ChartAxis, LineChart, PlotLine, Scale};

fn chapter() -> Chapter {
    let mut row = Record::default();
    row.put("p", 4);
    row.put("makespan_s", 0.25);
    row.put("measured_s", crate::answer::QuantityValue::Missing);
    row.end_summary();
    row.put("events", 7);
    let chart = LineChart {
        title: "Times".to_owned(),
        x: ChartAxis::new("p", Scale::Log2),
        y: ChartAxis::new("Time [s]", Scale::Log10),
        lines: vec![PlotLine::new("</script><script>alert(1)", vec![(1.0, 2.0)], 0)],
        reference: None,
    };
    let charts = Picture::Charts(Panels::one(chart));
    Chapter {
        name: "ring".to_owned(),
        question: "Is 1 < 2 & 3?".to_owned(),
        facts: vec![("machine".to_owned(), "a ring".to_owned())],
        summary: vec![Statement {
            label: "Asked",
            sentences: vec!["One case, as `parsim run` <1> has it.".to_owned()],
        }],
        rows: vec![row],
        sections: vec![Section { title: "Times", figures: vec![Figure::new("times.svg", "Times of it", charts)] }],
        resolved: "Scenario(ranks: 4)".to_owned(),
        ..Chapter::default()
    }
}

#[test]
fn a_page_holds_everything_and_needs_nothing() {
    let page = page("parsim", &[chapter()]);
    assert!(page.contains("Is 1 &lt; 2 &amp; 3?"));
    assert!(page.contains("One case, as <code>parsim run</code> &lt;1&gt; has it."));
    assert!(page.contains("<svg") && page.contains("Scenario(ranks: 4)"));
    assert!(page.contains("makespan_s") && !page.contains("<th scope=\"col\"><button type=\"button\">events"));
    // The file to save has the columns that the table omits.
    assert!(page.contains("ring.csv") && page.contains("events"));
    for outside in ["src=", "@import", "url(", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
    // The library is distributed with its licence.
    assert!(page.contains("Copyright (c) 2022 Leon Sorokin") && page.contains("uPlot (v1.6.32)"));
}

#[test]
fn every_entry_of_the_contents_leads_somewhere() {
    let page = page("parsim", &[chapter(), Chapter { name: "star".to_owned(), ..chapter() }]);
    let places: Vec<_> = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(places.contains(&"ring--times") && places.contains(&"star--in-short"), "{places:?}");
    for place in places {
        assert_eq!(page.matches(&format!("id=\"{place}\"")).count(), 1, "{place}");
    }
}

#[test]
fn no_name_ends_the_data_early() {
    let page = page("parsim", &[chapter()]);
    assert!(!page.contains("<script>alert"));
    let data = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next()).unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["charts"][0]["charts"][0]["lines"][0]["name"], "</script><script>alert(1)");
    assert_eq!(data["files"]["ring.ron"], "Scenario(ranks: 4)");
}

#[test]
fn the_same_chapters_are_the_same_bytes() {
    assert_eq!(page("parsim", &[chapter(), chapter()]), page("parsim", &[chapter(), chapter()]));
}
