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
fn what_is_not_drawn_and_what_whiskers_are_is_said() {
    let said = |svg: &str| svg.split_whitespace().collect::<Vec<_>>().join(" ");
    let points = vec![(1.0, 0.0), (2.0, 3.0), (4.0, 0.0)];
    let line = PlotLine { half_widths: vec![0.0, 0.5, 0.0], ..PlotLine::new("a", points, 0) };
    let some = LineChart { lines: vec![line], ..chart() };
    assert!(said(&some.svg()).contains("2 points of 0 not drawn:"), "{}", some.svg());
    assert!(said(&some.svg()).contains("whiskers: 95 % intervals") && !some.is_blank());
    let none = LineChart { lines: vec![PlotLine::new("a", vec![(1.0, 0.0)], 0)], ..chart() };
    assert!(none.is_blank() && said(&none.svg()).contains("no value above 0"));
    let all = LineChart { lines: vec![PlotLine::new("a", vec![(1.0, 2.0)], 0)], ..chart() };
    assert!(notes(std::slice::from_ref(&all)).is_empty() && !all.is_blank());
}

#[test]
fn categories_stand_beside_each_other_by_name() {
    let mut chart = chart();
    chart.x = ChartAxis::of_categories("Noise", ["LogNormal(0.0)", "LogNormal(0.1)"].map(str::to_owned).to_vec());
    chart.lines = vec![PlotLine { half_widths: vec![0.5, 0.0], ..PlotLine::new("", vec![(0.0, 1.0), (1.0, 2.0)], 0) }];
    let svg = chart.svg();
    assert!(svg.contains("LogNormal(0.0)") && svg.contains("LogNormal(0.1)"));
    assert_eq!(svg.matches("<polygon").count(), 2);
}

/// Returns the values of an attribute of all texts of a picture that contain `part`.
fn of_texts(svg: &str, attribute: &str, part: &str) -> Vec<f64> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    let named = texts.filter(|node| node.text().is_some_and(|text| text.contains(part)));
    named.map(|node| node.attribute(attribute).unwrap().parse().unwrap()).collect()
}

#[test]
fn a_long_title_is_whole() {
    let mut chart = chart();
    let width = |chart: &LineChart| {
        let svg = chart.svg();
        let end = svg.find("\" height").unwrap();
        svg[..end].rsplit('"').next().unwrap().parse::<f64>().unwrap()
    };
    let narrow = width(&chart);
    chart.title =
        "Execution time of GaussJordan on a machine with a name of so many letters that there are more than a hundred"
            .to_owned();
    assert!(width(&chart) > narrow + 100.0 && chart.svg().contains("more than a hundred"));
}

#[test]
fn the_name_of_an_axis_is_beside_its_labels() {
    let mut chart = chart();
    chart.y.scale = Scale::Linear;
    chart.lines[0].points = vec![(1.0, 1e6), (2.0, 3_000_001.0)];
    let svg = chart.svg();
    let labels = of_texts(&svg, "x", "000000");
    let name = of_texts(&svg, "x", "Time [s]");
    assert!(!labels.is_empty() && labels.iter().all(|right| right - 7.0 * 6.4 > name[0] + 12.0), "{labels:?} {name:?}");
}

#[test]
fn labels_of_narrow_panels_do_not_cover_each_other() {
    let mut chart = chart();
    let names: Vec<String> = (0..8).map(|index| format!("LogNormal(0.{index})")).collect();
    chart.x = ChartAxis::of_categories("Noise", names);
    chart.lines = vec![PlotLine::new("", (0..8).map(|place| (f64::from(place), 1.0)).collect(), 0)];
    for width in [430, PLOT_WIDTH] {
        let svg = document((width, 330), |paper| chart.draw_plot(paper, &AxisExtent::default()));
        let mut places = of_texts(&svg, "x", ")");
        places.sort_by(f64::total_cmp);
        let letters = svg.lines().filter(|line| line.ends_with(')')).map(|line| line.chars().count()).max().unwrap();
        let room = places.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        assert!(places.len() > 2 && room >= 7.5 * f64::from(u32::try_from(letters).unwrap()), "{width}: {places:?}");
    }
}

#[test]
fn lines_of_one_colour_differ_in_markers_or_dashes() {
    let looks = |style: LineStyle| {
        let line = |index| PlotLine { style, ..PlotLine::new("a", vec![(1.0, 1.0), (2.0, 1.0)], index) };
        let looks = (0..44).map(line).map(|line| match style {
            LineStyle::Formula => (line.hue % COLOURS.len(), line.dashes(), Vec::new()),
            _ => (line.hue % COLOURS.len(), (0, 0), line.outline((0, 0))),
        });
        looks.collect::<std::collections::HashSet<_>>().len()
    };
    let styles = [LineStyle::Solid, LineStyle::Dashed, LineStyle::Formula, LineStyle::Marks];
    assert_eq!(styles.map(looks), [44; 4]);
    let mut chart = chart();
    let formula = |index| PlotLine { style: LineStyle::Formula, ..PlotLine::new("f", Vec::new(), index) };
    let signs = [0, 11, 22, 33].map(|index| {
        chart.lines = vec![formula(index)];
        document((200, 60), |paper| chart.draw_legend(paper, &[]))
    });
    assert!((1..4).all(|index| !signs[..index].contains(&signs[index])), "{signs:?}");
}

#[test]
fn marks_are_round_numbers() {
    let texts = |scale: Scale, values: &[f64]| -> Vec<String> {
        scale.layout(values.iter().copied(), false).marks.into_iter().map(|mark| scale.text(mark)).collect()
    };
    assert_eq!(texts(Scale::Log2, &[1.0, 3.0, 8.0]), ["1", "2", "4", "8"]);
    assert_eq!(texts(Scale::Log10, &[0.4, 3.0]), ["0.2", "0.5", "1", "2", "5"]);
    assert_eq!(texts(Scale::Log10, &[1.0, 9.0]), ["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    assert_eq!(texts(Scale::Log10, &[0.013, 0.017]), ["0.013", "0.014", "0.015", "0.016", "0.017"]);
    assert_eq!(texts(Scale::Log10, &[1.201, 1.22]), ["1.2", "1.205", "1.21", "1.215", "1.22"]);
    assert_eq!(texts(Scale::Log10, &[7.0, 7.0]), ["5", "6", "7", "8", "9"]);
    assert_eq!(texts(Scale::Linear, &[0.03, 0.29]), ["0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3"]);
}

#[test]
fn processors_are_spread_by_ratio() {
    assert_eq!(Scale::fitting([1.0, 128.0]), Scale::Log2);
    assert_eq!(Scale::fitting([0.0, 128.0]), Scale::Linear);
    assert_eq!(Scale::fitting([100.0, 130.0]), Scale::Linear);
}
