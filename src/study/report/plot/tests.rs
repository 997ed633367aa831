use super::*;

fn chart() -> LineChart {
    let axis = |label: &str, scale| ChartAxis::new(label, scale);
    let points = vec![(1.0, 0.0), (2.0, 3.0), (128.0, 40.0)];
    LineChart {
        title: "Times & <ratios>".to_owned(),
        x: axis("Processors p", Scale::Log2),
        y: axis("Time [s]", Scale::Log10),
        lines: vec![
            PlotLine::new("simulated", points.clone(), 0),
            PlotLine { style: LineStyle::Dashed, ..PlotLine::new("measured", points, 1) },
        ],
        reference: Some(1.0),
    }
}

#[test]
fn a_chart_is_the_same_bytes_every_time() {
    let svg = chart().svg();
    assert_eq!(svg, chart().svg());
    for text in ["Times &amp; &lt;ratios&gt;", "Processors p", "Time [s]", "measured", "128"] {
        assert!(svg.contains(text), "{text} is missing");
    }
}

#[test]
fn empty_and_constant_lines_are_charts_too() {
    for points in [vec![], vec![(3.0, 5.0)], vec![(0.0, 0.0), (1.0, 0.0)]] {
        for scale in [Scale::Linear, Scale::Log2, Scale::Log10] {
            let mut chart = chart();
            chart.lines.truncate(1);
            chart.lines[0].points.clone_from(&points);
            chart.x.scale = scale;
            chart.y.scale = scale;
            chart.reference = None;
            assert!(chart.svg().ends_with("</svg>\n"));
        }
    }
}

#[test]
fn categories_stand_beside_each_other_by_name() {
    let mut chart = chart();
    chart.x = ChartAxis::of_categories("Noise", ["LogNormal(0.0)", "LogNormal(0.1)"].map(str::to_owned).to_vec());
    chart.lines = vec![PlotLine { half_widths: vec![0.5, 0.0], ..PlotLine::new("", vec![(0.0, 1.0), (1.0, 2.0)], 0) }];
    let svg = chart.svg();
    assert!(svg.contains("LogNormal(0.0)") && svg.contains("LogNormal(0.1)"));
    assert_eq!(svg.matches("<polygon").count(), 2);
    assert_eq!(fitted("LogNormal(0.01)", 8), "Log….01)");
    assert_eq!(fitted("News", 8), "News");
}

#[test]
fn marks_are_round_numbers() {
    let texts = |scale: Scale, values: &[f64]| -> Vec<String> {
        scale.layout(values.iter().copied(), false).marks.into_iter().map(|mark| scale.text(mark)).collect()
    };
    assert_eq!(texts(Scale::Log2, &[1.0, 3.0, 8.0]), ["1", "2", "4", "8"]);
    assert_eq!(texts(Scale::Log10, &[0.4, 3.0]), ["0.2", "0.5", "1", "2", "5"]);
    assert_eq!(texts(Scale::Linear, &[0.03, 0.29]), ["0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3"]);
}

#[test]
fn processors_are_spread_by_ratio() {
    assert_eq!(Scale::fitting([1.0, 128.0]), Scale::Log2);
    assert_eq!(Scale::fitting([0.0, 128.0]), Scale::Linear);
    assert_eq!(Scale::fitting([100.0, 130.0]), Scale::Linear);
}
