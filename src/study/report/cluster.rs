//! Pictures of clusters of multi-core nodes.

use super::contour::ContourMap;
use super::plot::{ChartAxis, LineChart, LineStyle, PlotLine, Scale};
use crate::analysis::ClusterPoint;
use crate::model::kredel::{Hardware, Scaling, node_efficiency, node_performance};

/// Returns a map of the speed-up over cores and nodes, from one node to `most_nodes` and from one core to `most_cores`.
#[must_use]
pub fn speedup(
    title: &str,
    (most_cores, most_nodes): (u32, u32),
    marks: &[(ClusterPoint, &str)],
    speedup: impl Fn(f64, f64) -> f64,
) -> ContourMap {
    let (cores, nodes) = (rising(most_cores.into(), 48), rising(most_nodes.into(), 96));
    let values = cores.iter().map(|q| nodes.iter().map(|p| speedup(*q, *p)).collect()).collect();
    ContourMap {
        title: title.to_owned(),
        x: ChartAxis::new("Nodes p", Scale::Log2),
        y: ChartAxis::new("Cores per node q", Scale::Log2),
        value: "Speed-up S".to_owned(),
        xs: nodes,
        ys: cores,
        values,
        marks: named(marks),
        has_no_legend: false,
    }
}

/// Returns each point once, with all of its names.
fn named(marks: &[(ClusterPoint, &str)]) -> Vec<(f64, f64, String)> {
    let mut named: Vec<(f64, f64, String)> = Vec::new();
    for (point, name) in marks {
        let (x, y) = (f64::from(point.nodes), f64::from(point.cores));
        match named.iter_mut().find(|(p, q, _)| p.total_cmp(&x).is_eq() && q.total_cmp(&y).is_eq()) {
            Some((_, _, others)) => *others = format!("{others}, {name}"),
            None => named.push((x, y, (*name).to_owned())),
        }
    }
    named
}

/// Returns a map of the efficiency of a node over operational intensity and cores: Gustafson's law along x, Amdahl's
/// along q.
#[must_use]
pub fn efficiency(title: &str, x: f64, q: f64, most_cores: u32, scaling: Scaling) -> ContourMap {
    // From far fewer to far more operations than the memory can feed, including the point of the application.
    let (least, most) = (0.125_f64.min(x), (16.0 * f64::from(most_cores)).max(2.0 * x));
    let xs: Vec<f64> = rising(most / least, 96).into_iter().map(|value| least * value).collect();
    let cores = rising(most_cores.into(), 48);
    let values = cores.iter().map(|q| xs.iter().map(|x| node_efficiency(*x, *q, scaling)).collect()).collect();
    ContourMap {
        title: title.to_owned(),
        x: ChartAxis::new("Operational intensity x", Scale::Log2),
        y: ChartAxis::new("Cores q", Scale::Log2),
        value: "Efficiency of a node".to_owned(),
        xs,
        ys: cores,
        values,
        marks: vec![(x, q, "application".to_owned())],
        has_no_legend: false,
    }
}

/// Returns a chart of the performance of a node with `cores` cores over the operations per byte, with the point of the
/// application.
#[must_use]
pub fn roofline(title: &str, hardware: &Hardware, cores: u32, intensity: f64, flop_per_s: f64) -> LineChart {
    let ridge = f64::from(cores) * hardware.balance();
    let (least, most) = ((ridge / 64.0).min(0.5 * intensity), (ridge * 64.0).max(2.0 * intensity));
    let intensities: Vec<f64> = rising(most / least, 33).into_iter().map(|value| least * value).collect();
    let line = |name: &str, scaling, dashed, index| {
        let at = |a: &f64| {
            let performance = node_performance(hardware, a / hardware.balance(), cores.into(), scaling);
            (*a, 1e-9 * performance)
        };
        PlotLine {
            style: if dashed { LineStyle::Dashed } else { LineStyle::Solid },
            ..PlotLine::new(name, intensities.iter().map(at).collect(), index)
        }
    };
    LineChart {
        title: title.to_owned(),
        x: ChartAxis::new("Operations per byte [flop/B]", Scale::Log10),
        y: ChartAxis::new("Performance of a node [Gflop/s]", Scale::Log10),
        lines: vec![
            line("roofline, min(1, z)", Scaling::Roofline, false, 0),
            line("Hockney, z / (1 + z)", Scaling::Hockney, true, 2),
            PlotLine::new("application, simulated", vec![(intensity, 1e-9 * flop_per_s)], 1),
        ],
        reference: None,
    }
}

/// Returns a chart of simulated speed-ups and of those of the model, over the nodes.
#[must_use]
pub fn simulated_and_predicted(title: &str, simulated: Vec<(f64, f64)>, predicted: Vec<(f64, f64)>) -> LineChart {
    LineChart {
        title: title.to_owned(),
        x: ChartAxis::new("Nodes p", Scale::Log2),
        y: ChartAxis::new("Speed-up S", Scale::Linear),
        lines: vec![
            PlotLine { style: LineStyle::Dashed, ..PlotLine::new("equation (5)", predicted, 0) },
            PlotLine::new("simulated", simulated, 1),
        ],
        reference: None,
    }
}

/// Returns `count` numbers from 1 to `most` in equal ratios.
fn rising(most: f64, count: u32) -> Vec<f64> {
    let most = most.max(2.0);
    (0..count).map(|index| most.powf(f64::from(index) / f64::from(count - 1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_node_efficiency_falls_with_cores_and_rises_with_intensity() {
        let map = efficiency("node", 8.0, 4.0, 16, Scaling::Hockney);
        assert!(map.values.iter().all(|row| row.windows(2).all(|pair| pair[1] >= pair[0])));
        assert!(map.values.windows(2).all(|rows| rows[1][5] < rows[0][5]));
        assert!((map.xs[0] - 0.125).abs() < 1e-12 && (map.ys[47] - 16.0).abs() < 1e-12);
    }

    #[test]
    fn the_roofline_bends_at_the_ridge() {
        let hardware = Hardware { core_flop_per_s: 2e9, memory_bytes_per_s: 4e9, cluster_bytes_per_s: 1e9 };
        let chart = roofline("node", &hardware, 8, 1.0, 4e9);
        let roof = &chart.lines[0].points;
        assert!((roof[0].1 - 0.25).abs() < 1e-9 && (roof[32].1 - 16.0).abs() < 1e-9);
        assert!(chart.lines[1].points.iter().zip(roof).all(|(hockney, roof)| hockney.1 < roof.1));
    }
}
