//! The figures of a chapter.

use super::summary::SummaryInput;
use crate::report::figures::{composition, times_by_group};
use crate::report::latency_load::latency_load;
use crate::report::scaling::{growing_problem, scaling};
use crate::report::{Figure, MAX_PANELS, Panels, Picture, Section};

/// The maximum size of a figure in bytes; more details cannot be distinguished.
const LARGEST_PICTURE: usize = 1 << 20;

/// Draws the times along the axis, their scaling, and their composition.
pub(super) fn curves(findings: &SummaryInput<'_>) -> Vec<Section> {
    let (program, axis) = (&findings.base.scenario.program, findings.axis);
    if axis.name.is_empty() || findings.cases < 2 || findings.times.is_empty() {
        return Vec::new();
    }
    if program.is_traffic() {
        let chart = latency_load(program.name(), &axis.along, findings.times);
        let figure = charts(
            "latency-load.svg",
            "Latency over the load: the mean, and dashed the 99th percentile.",
            Panels::one(chart),
        );
        return vec![Section { title: "Latency", figures: vec![figure] }];
    }
    let scales = findings.is_over_ranks.then(|| match &findings.growth {
        Some(growth) => growing_problem(program.name(), &axis.along.label, growth, findings.times)
            .map(|(panels, caption)| charts("growing-problem.svg", &caption, panels)),
        None => scaling(program.name(), &axis.along.label, findings.times).map(|(panels, caption)| {
            charts("scaling.svg", &format!("Speedup, efficiency, serial fraction. {caption}"), panels)
        }),
    });
    vec![
        Section { title: "Times", figures: vec![times(findings)] },
        Section { title: "Scaling", figures: scales.flatten().into_iter().collect() },
        Section { title: "Where the time goes", figures: compositions(findings) },
    ]
}

fn times(findings: &SummaryInput<'_>) -> Figure {
    let (panels, left_out) =
        times_by_group(findings.base.scenario.program.name(), &findings.axis.along, findings.times);
    let has_bars = findings.times.iter().flat_map(|line| &line.half_widths).any(|half| *half > 0.0);
    let bars = if has_bars { " Bars are 95 % intervals of the means." } else { "" };
    let has_band = findings.times.iter().any(|line| !line.intervals.is_empty());
    let band = if has_band { " Bands should contain new measurements." } else { "" };
    let points = findings.times.iter().flat_map(|line| &line.points);
    let zeros = match points.filter(|point| point.1 <= 0.0).count() {
        0 => String::new(),
        1 => " One time of 0 has no place on the logarithmic axis.".to_owned(),
        some => format!(" {some} times of 0 have no place on the logarithmic axis."),
    };
    let rest = match left_out {
        0 => String::new(),
        some => format!(" {some} more groups are in the table only."),
    };
    let caption = format!(
        "Execution times: runs as lines with marks, measurements as marks, models as dashed lines.{bars}{band}{zeros}{rest}"
    );
    charts("times.svg", &caption, panels)
}

fn compositions(findings: &SummaryInput<'_>) -> Vec<Figure> {
    let curves: Vec<_> = findings.curves.iter().map(|group| (group.name.as_str(), &group.curve)).collect();
    let rest = match curves.len().saturating_sub(MAX_PANELS) {
        0 => String::new(),
        some => format!(" {some} more groups are in the table only."),
    };
    let figure = |file: &str, title: &str, of_parts| {
        let panels = composition(title, &curves, of_parts)?;
        Some(charts(
            file,
            &format!("{title}, on the rank that ends last; its waits for other ranks count as communication.{rest}"),
            panels,
        ))
    };
    let components = figure("components.svg", "Components of the execution time", false);
    let parts = figure("parts.svg", "Parts of the components", true);
    components.into_iter().chain(parts).collect()
}

pub(super) fn links(svg: String) -> Figure {
    Figure::new("links.svg", "Utilization of every link over the whole of the last case.", Picture::Drawn(svg))
}

fn charts(file: &str, caption: &str, panels: Panels) -> Figure {
    Figure::new(file, caption, Picture::Charts(panels))
}

/// Returns `true` if a figure is small enough for the page; otherwise, adds a note.
pub(super) fn fits(figure: &Figure, notes: &mut Vec<String>) -> bool {
    let size = figure.svg().len();
    if size > LARGEST_PICTURE {
        notes.push(format!(
            "One picture is left out, as it has {} MiB of details: {} `parsim run --heat-map` and \
             `parsim critical-path --space-time` draw such pictures into files.",
            size >> 20,
            figure.caption
        ));
    }
    size <= LARGEST_PICTURE
}
