//! The utilisation of every link, as colours on the picture of a network.

use super::drawing::Drawing;
use super::lettering::{Lettered, wide_enough};
use parsim_sim::trace::{LinkLoad, Trace};
use std::fmt;

const LEGEND: f64 = 72.0;
const BAR: (f64, f64) = (220.0, 12.0);
/// Half the distance between the two directions of a link.
const ASIDE: f64 = 2.6;
const RADIUS: f64 = 11.0;
/// From idle to busy: grey, amber, red, crimson.
const STOPS: [[f64; 3]; 4] = [[217.0, 222.0, 228.0], [253.0, 190.0, 111.0], [232.0, 96.0, 44.0], [140.0, 16.0, 41.0]];
const STYLE: &str = "
  .title { font: 600 17px sans-serif; fill: #1f2933 }
  .note { font: 13px sans-serif; fill: #3e4c59 }
  .channel { fill: none; stroke-width: 4.4 }
  .node { fill: #52606d; stroke: #ffffff; stroke-width: 1.5 }
  .switch { fill: #9aa5b1; stroke: #ffffff; stroke-width: 1.5 }
  .number { font-family: sans-serif; fill: #ffffff; text-anchor: middle }
";

/// A network whose links are coloured by their utilisation, displayed as SVG. The two directions of a link are drawn
/// side by side, each to the right of the link in its direction.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    drawing: Drawing,
    /// The busiest channel is last, so that it is drawn on top.
    channels: Vec<ChannelUtilization>,
    /// The utilisation at the end of the colour scale.
    top: f64,
    has_legend: bool,
}

/// One direction of a link, and the fraction of the time in which it is busy.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ChannelUtilization {
    from: u32,
    to: u32,
    used: f64,
}

impl Lettered for HeatMap {
    fn titled(self, title: String) -> Self {
        Self { drawing: self.drawing.with_title(title), ..self }
    }

    fn without_legend(self) -> Self {
        Self { has_legend: false, ..self }
    }
}

impl HeatMap {
    /// Creates the map of the links of `trace`, at the positions of `drawing`.
    #[must_use]
    pub fn new(drawing: Drawing, trace: &Trace) -> Self {
        let makespan = trace.makespan.seconds();
        let used = |link: &LinkLoad| if makespan > 0.0 { link.busy.seconds() / makespan } else { 0.0 };
        // In reverse order, so that the first of equally busy links is the busiest, as in the report of the run.
        let channel = |link: &LinkLoad| ChannelUtilization { from: link.from, to: link.to, used: used(link) };
        let mut channels: Vec<_> = trace.links.iter().rev().map(channel).collect();
        channels.sort_by(|a, b| a.used.total_cmp(&b.used));
        let most = channels.last().map_or(0.0, |channel| channel.used);
        let top = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5].into_iter().find(|top| *top >= most).unwrap_or(1.0);
        let map = Self { drawing: drawing.with_radius(RADIUS), channels, top, has_legend: true };
        let width = wide_enough(0, &[(&map.words(), 13)]);
        Self { drawing: map.drawing.with_width(width.into()), ..map }
    }

    /// Returns the line below the picture.
    fn words(&self) -> String {
        format!("utilization; {}", self.note())
    }

    /// Returns the busiest link and the mean utilisation as text.
    fn note(&self) -> String {
        let Some(ChannelUtilization { from, to, used }) = self.channels.last() else { return "no links".to_owned() };
        let sum: f64 = self.channels.iter().map(|channel| channel.used).sum();
        let mean = sum / f64::from(u32::try_from(self.channels.len()).unwrap_or(u32::MAX));
        format!("busiest {from} → {to}: {:.1} %, mean {:.1} %", 100.0 * used, 100.0 * mean)
    }

    fn write_channel(&self, f: &mut fmt::Formatter<'_>, channel: ChannelUtilization) -> fmt::Result {
        let ChannelUtilization { from, to, used } = channel;
        let (path, colour) = (self.drawing.path(from, to, ASIDE), colour(used / self.top));
        let words = format!("{from} → {to}: {:.1} %", 100.0 * used);
        writeln!(f, r#"<path class="channel" stroke="{colour}" d="{path}"><title>{words}</title></path>"#)
    }

    fn write_legend(&self, f: &mut fmt::Formatter<'_>, top: f64) -> fmt::Result {
        let ((width, height), left) = (BAR, 20.0);
        writeln!(f, r#"<defs><linearGradient id="heat">"#)?;
        for (percent, share) in [(0, 0.0), (33, 1.0 / 3.0), (67, 2.0 / 3.0), (100, 1.0)] {
            writeln!(f, r#"<stop offset="{percent}%" stop-color="{}"/>"#, colour(share))?;
        }
        writeln!(f, "</linearGradient></defs>")?;
        let (words, numbers) = (top + 8.0, top + height + 31.0);
        writeln!(f, r#"<text class="note" x="{left}" y="{words:.1}">{}</text>"#, self.words())?;
        let bar = top + 16.0;
        writeln!(f, r#"<rect x="{left}" y="{bar:.1}" width="{width}" height="{height}" rx="2" fill="url(#heat)"/>"#)?;
        for (share, anchor) in [(0.0, "start"), (0.5, "middle"), (1.0, "end")] {
            let (x, value) = (width.mul_add(share, left), 100.0 * share * self.top);
            writeln!(f, r#"<text class="note" x="{x:.1}" y="{numbers:.1}" text-anchor="{anchor}">{value} %</text>"#)?;
        }
        Ok(())
    }
}

impl fmt::Display for HeatMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, height) = self.drawing.size();
        self.drawing.write_opening(f, STYLE, if self.has_legend { LEGEND } else { 0.0 })?;
        for channel in &self.channels {
            self.write_channel(f, *channel)?;
        }
        self.drawing.write_vertices(f)?;
        if self.has_legend {
            self.write_legend(f, height)?;
        }
        writeln!(f, "</svg>")
    }
}

/// Returns the colour at a share of the scale.
fn colour(share: f64) -> String {
    let position = 3.0 * share.clamp(0.0, 1.0);
    let (index, rest) = match position {
        ..1.0 => (0, position),
        ..2.0 => (1, position - 1.0),
        _ => (2, position - 2.0),
    };
    let [red, green, blue] = [0, 1, 2].map(|part| {
        let (low, high): (f64, f64) = (STOPS[index][part], STOPS[index + 1][part]);
        (high - low).mul_add(rest, low)
    });
    format!("rgb({red:.0},{green:.0},{blue:.0})")
}

#[cfg(test)]
mod tests {
    use super::super::Lettering;
    use super::*;
    use parsim_sim::trace::{Accounts, Counts};
    use parsim_sim::units::SimDuration;

    fn trace(busy_us: &[u64]) -> Trace {
        let link =
            |(from, busy): (u32, &u64)| LinkLoad { from, to: 1 - from, packets: 1, busy: SimDuration::from_us(*busy) };
        Trace {
            makespan: SimDuration::from_us(10),
            host: 0,
            accounts: Accounts::new(2, &[]),
            links: (0..).zip(busy_us).map(link).collect(),
            counts: Counts::default(),
            background: None,
            outcomes: Vec::new(),
            written: SimDuration::ZERO,
            activity_log: None,
            requests: None,
            critical_intervals: Vec::new(),
            sources: Vec::new(),
            deliveries: Vec::new(),
        }
    }

    #[test]
    fn every_direction_has_the_colour_of_its_utilization() {
        let drawing = Drawing::new("two", &[(0.0, 0.0), (1.0, 0.0)], 2, vec![(0, 1)]);
        let svg = HeatMap::new(drawing.clone(), &trace(&[0, 5])).to_string();
        assert!(svg.contains("rgb(217,222,228)") && svg.contains("rgb(140,16,41)"), "{svg}");
        assert!(svg.contains("busiest 1 → 0: 50.0 %, mean 25.0 %"), "{svg}");
        let texts = Lettering { title: Some("Links".to_owned()), has_no_legend: true };
        let svg = HeatMap::new(drawing.clone(), &trace(&[0, 5])).lettered(&texts).to_string();
        assert!(svg.contains(">Links<") && !svg.contains("busiest") && !svg.contains(">two<"), "{svg}");
        assert!(HeatMap::new(drawing, &trace(&[])).to_string().contains("no links"));
    }
}
