//! A recorded run as an animated figure.

use crate::analysis::CriticalPath;
use crate::report::space_time::{DiagramWindow, SpaceTime};
use crate::report::{Animation, Drawing, Figure, Picture, time};
use parsim_sim::trace::Recording;
use parsim_sim::trace::events::MESSAGE;
use parsim_sim::units::SimDuration;
use std::cmp::Reverse;

/// The maximum size of the packed data, in bytes, on a page with a single run. More packets take a browser seconds to
/// load.
pub const MAX_BYTES_ALONE: usize = 6 << 20;
/// The maximum number of messages in a still picture; more cannot be distinguished.
const MAX_MESSAGES: usize = 400;
const MAX_RANKS: usize = 32;

/// Draws the run `run`, titled `title`, whose critical path is `path`, on the network in `drawing`. The animation shows
/// every packet if that takes at most `bytes`, and sums over time bins otherwise. The still picture shows the whole
/// run, or a time window from its middle.
#[must_use]
pub fn animated_figure(
    title: &str,
    path: &CriticalPath<'_>,
    run: Option<&Recording>,
    drawing: Option<Drawing>,
    bytes: usize,
) -> Figure {
    let animation = Animation::of(title, path, run, drawing, bytes);
    let mut window = DiagramWindow::whole(path);
    let mut parts = Vec::new();
    let mut messages = messages(path);
    if messages.len() > MAX_MESSAGES {
        let begin = (messages.len() - MAX_MESSAGES) / 2;
        messages = messages[begin..begin + MAX_MESSAGES].to_vec();
        let ends = messages.first().zip(messages.last());
        if let Some((first, last)) = ends.filter(|(first, last)| last.0 > first.0) {
            (window.from, window.until) = (first.0, last.0);
            let [from, until, whole] = [first.0, last.0, path.length()].map(|at| time(at.seconds()));
            parts.push(format!("{from} to {until} of {whole}"));
        }
    }
    if window.processes.len() > MAX_RANKS {
        window.processes = busiest(&messages, window.processes.len());
        parts.push(format!("the {MAX_RANKS} ranks with the most messages"));
    }
    let still = SpaceTime::new(path, title, window).svg();
    let some = if parts.is_empty() {
        String::new()
    } else {
        format!(" The still picture for saving shows {}.", parts.join(", "))
    };
    let detail = if animation.is_exact() {
        ""
    } else {
        " The run is too long to show packet by packet: activities are summed over time bins."
    };
    let caption = format!("Activities of ranks and links over time, and the critical path: {title}.{detail}{some}");
    Figure::new("space-time.svg", &caption, Picture::Run(Box::new(animation), still))
}

/// The delivery time of a message, and its two end points.
type DeliveredMessage = (SimDuration, [u32; 2]);

/// Returns all messages, ordered by delivery time.
fn messages(path: &CriticalPath<'_>) -> Vec<DeliveredMessage> {
    let events = path.events();
    let of_event = |event| {
        let messages = events.antecedents(event).iter().filter(|one| events.way_of(one).kind == MESSAGE);
        messages.map(move |one| {
            let ends = [events.sender_of(one), events.get(event).process];
            (path.critical(one.event) + one.delay, ends)
        })
    };
    let mut messages: Vec<DeliveredMessage> = (0..events.count()).flat_map(of_event).collect();
    messages.sort_unstable();
    messages
}

/// Returns the [`MAX_RANKS`] ranks with the most messages, in rank order.
fn busiest(messages: &[DeliveredMessage], ranks: usize) -> Vec<u32> {
    let mut counts: Vec<(usize, u32)> = (0..).take(ranks).map(|rank| (0, rank)).collect();
    for rank in messages.iter().flat_map(|(_, ends)| ends) {
        counts[*rank as usize].0 += 1;
    }
    counts.sort_by_key(|(count, rank)| (Reverse(*count), *rank));
    let mut busiest: Vec<u32> = counts.into_iter().take(MAX_RANKS).map(|(_, rank)| rank).collect();
    busiest.sort_unstable();
    busiest
}
