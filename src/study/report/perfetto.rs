//! Export of a trace in the trace-event format, which Perfetto (ui.perfetto.dev) and Chrome display.

use crate::analysis::critical_path::{CriticalPath, EventArc, PieceKind, TimelinePiece};
use parsim_sim::trace::events::{EventId, MESSAGE};
use parsim_sim::trace::{Direction, Recording, Transfer};
use parsim_sim::units::{SimDuration, SimTime};
use parsim_sim::version;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// The groups of tracks.
const PROCESSES: u32 = 1;
const PATH: u32 = 2;
const LINKS: u32 = 3;

/// Writes a trace: one track for each process with its activities and waits, an arrow for each message, and one track
/// for the critical path. A recorded run also has a track with the paths of the messages on the critical path, and one
/// for each direction of a link, or each of its virtual channels, with the transfers over it or, if those are not
/// recorded, its mean utilisation. Returns the number of slices written.
///
/// # Errors
/// Returns the errors of the sink.
pub fn write_perfetto(path: &CriticalPath<'_>, run: Option<&Recording>, sink: impl Write) -> io::Result<u64> {
    let mut export = PerfettoWriter { sink, entries: 0, slices: 0, arrows: 0 };
    writeln!(
        export.sink,
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{},\"traceEvents\":[",
        json!({"parsim": version()})
    )?;
    export.name_tracks(path, run)?;
    for event in 0..path.events().count() {
        export.slices(path, event)?;
    }
    // Arrows come after the slices that they join, so that each finds its slice.
    for event in 0..path.events().count() {
        export.arrows(path, event)?;
    }
    export.path(path)?;
    if let Some(run) = run {
        export.ways(path, run)?;
        export.links(run)?;
    }
    export.sink.write_all(b"\n]}\n")?;
    export.sink.flush()?;
    Ok(export.slices)
}

struct PerfettoWriter<W> {
    sink: W,
    entries: u64,
    slices: u64,
    arrows: u64,
}

impl<W: Write> PerfettoWriter<W> {
    fn put(&mut self, entry: &Value) -> io::Result<()> {
        if self.entries > 0 {
            self.sink.write_all(b",\n")?;
        }
        self.entries += 1;
        serde_json::to_writer(&mut self.sink, entry)?;
        Ok(())
    }

    fn name(&mut self, group: u32, track: u32, name: &str) -> io::Result<()> {
        let entry = json!({"ph": "M", "name": "thread_name", "pid": group, "tid": track, "args": {"name": name}});
        self.put(&entry)?;
        self.put(
            &json!({"ph": "M", "name": "thread_sort_index", "pid": group, "tid": track, "args": {"sort_index": track}}),
        )
    }

    fn name_tracks(&mut self, path: &CriticalPath<'_>, run: Option<&Recording>) -> io::Result<()> {
        for (group, name) in [(PROCESSES, "processes"), (PATH, "critical path"), (LINKS, "links")] {
            self.put(&json!({"ph": "M", "name": "process_name", "pid": group, "args": {"name": name}}))?;
        }
        for process in 0..path.events().processes() {
            let node = run.and_then(|run| run.header.nodes.get(process as usize));
            let node = node.map_or_else(String::new, |node| format!(", node {node}"));
            self.name(PROCESSES, track(process), &format!("process {process}{node}"))?;
        }
        self.name(PATH, 1, "critical path")
    }

    fn slice(
        &mut self,
        (group, track): (u32, u32),
        name: &str,
        span: (SimDuration, SimDuration),
        more: &Value,
    ) -> io::Result<()> {
        let name = if name.is_empty() { "activity" } else { name };
        self.slices += 1;
        let (from, to) = (nanoseconds(span.0), nanoseconds(span.1));
        self.put(&json!({
            "ph": "X", "name": name, "pid": group, "tid": track,
            "ts": microseconds(from), "dur": microseconds(to - from), "args": more,
        }))
    }

    /// Writes the wait before an event and the activity that ends with it.
    fn slices(&mut self, path: &CriticalPath<'_>, event: EventId) -> io::Result<()> {
        let events = path.events();
        let place = (PROCESSES, track(events.get(event).process));
        for TimelinePiece { event, kind, from, to, handling } in path.pieces(event) {
            let label = events.label_of(event);
            let mut arguments = json!({"event": events.name(event), "phase": label.phase});
            if let Some(handling) = handling {
                arguments["work"] = handling.name().into();
            }
            let name = if kind == PieceKind::Gap { "wait" } else { label.kind.as_str() };
            self.slice(place, name, (from, to), &arguments)?;
        }
        Ok(())
    }

    fn arrows(&mut self, path: &CriticalPath<'_>, event: EventId) -> io::Result<()> {
        let events = path.events();
        for antecedent in events.antecedents(event) {
            let way = events.way_of(antecedent);
            if way.kind != MESSAGE || antecedent.delay == SimDuration::ZERO {
                continue;
            }
            let sent = path.critical(antecedent.event);
            // Perfetto pairs the ends of an arrow by a number alone.
            self.arrows += 1;
            let id = self.arrows;
            let ends = [
                ("s", events.sender_of(antecedent), nanoseconds(sent)),
                // An arrow ends within the wait that it ends.
                ("f", events.get(event).process, nanoseconds(path.critical(event)).saturating_sub(1)),
            ];
            for (phase, process, time) in ends {
                self.put(&json!({
                    "ph": phase, "bp": "e", "id": id, "name": "message", "cat": "message", "pid": PROCESSES,
                    "tid": track(process), "ts": microseconds(time), "args": {"link": way.link},
                }))?;
            }
        }
        Ok(())
    }

    fn path(&mut self, path: &CriticalPath<'_>) -> io::Result<()> {
        let events = path.events();
        for span in path.spans().filter(|span| span.to > span.from) {
            let label = events.label_of(span.event);
            let process = events.get(span.event).process;
            let (name, link) = match &span.through {
                EventArc::Activity => (label.kind.as_str(), ""),
                EventArc::Antecedent(antecedent) => {
                    let way = events.way_of(antecedent);
                    (way.kind.as_str(), way.link.as_str())
                }
            };
            let arguments = json!({"process": process, "phase": label.phase, "link": link});
            self.slice((PATH, 1), name, (span.from, span.to), &arguments)?;
        }
        Ok(())
    }

    /// Writes a track with the path of every message on the critical path, if it is known, with a slice for each node
    /// and link.
    fn ways(&mut self, path: &CriticalPath<'_>, run: &Recording) -> io::Result<()> {
        let Some(carried) = path.carried(run) else { return Ok(()) };
        self.name(PATH, 2, "messages on the critical path")?;
        for span in path.spans() {
            for stretch in carried.way(path, &span).unwrap_or_default() {
                let arguments = json!({"phase": path.events().label_of(span.event).phase});
                self.slice((PATH, 2), &stretch.place.to_string(), (stretch.from, stretch.to), &arguments)?;
            }
        }
        Ok(())
    }

    /// Writes a track for each direction of a link, or for each of its virtual channels that carries data. Tracks have
    /// the trains of packets if they are recorded, otherwise a single slice.
    fn links(&mut self, run: &Recording) -> io::Result<()> {
        let mut carrying: FxHashMap<Direction, BTreeSet<u32>> = FxHashMap::default();
        for transfer in &run.transfers {
            carrying.entry(transfer.direction()).or_default().insert(transfer.channel);
        }
        let mut tracks = FxHashMap::default();
        let mut numbers = 1..;
        for (link, direction) in run.links.iter().zip(Direction::of_loads(&run.links)) {
            let used = link.busy.seconds() / run.makespan.seconds().max(f64::MIN_POSITIVE);
            let busy = format!("{:.1} % busy", 100.0 * used);
            let only = BTreeSet::from([0]);
            let channels = carrying.remove(&direction).unwrap_or_else(|| only.clone());
            let are_virtual = link.from != link.to && channels != only;
            for (channel, number) in channels.into_iter().zip(&mut numbers) {
                let which = if are_virtual { format!(", virtual channel {channel}") } else { String::new() };
                self.name(LINKS, number, &format!("{}{which}, {busy}", direction.ends().join(" → ")))?;
                tracks.insert((direction, channel), number);
                if run.transfers.is_empty() {
                    let arguments =
                        json!({"packets": link.packets, "busy_s": link.busy.seconds(), "utilization": used});
                    self.slice((LINKS, number), &busy, (SimDuration::ZERO, run.makespan), &arguments)?;
                }
            }
        }
        for transfer in &run.transfers {
            if let Some(number) = tracks.get(&(transfer.direction(), transfer.channel)) {
                self.transfer(*number, run, transfer)?;
            }
        }
        Ok(())
    }

    fn transfer(&mut self, track: u32, run: &Recording, transfer: &Transfer) -> io::Result<()> {
        let sender = run.events.get(transfer.event).process;
        let what = if transfer.is_acknowledge { "acknowledge to" } else { "from" };
        let name = format!("{what} process {sender}");
        let span = [transfer.first, transfer.end()].map(|time| time.since(SimTime::START));
        let arguments = json!({
            "packets": transfer.packets, "packet_bytes": transfer.bytes, "busy_s": transfer.busy().seconds(),
            "destination": transfer.destination, "caused_by": run.events.name(transfer.event),
        });
        self.slice((LINKS, track), &name, (span[0], span[1]), &arguments)
    }
}

/// Returns the number of a track, counted from 1: zero is the idle process of a machine.
const fn track(process: u32) -> u32 {
    process.saturating_add(1)
}

/// Converts a time to nanoseconds, the resolution of the format.
const fn nanoseconds(time: SimDuration) -> u64 {
    time.ps() / 1000
}

#[expect(clippy::cast_precision_loss, reason = "a hundred days in nanoseconds are below 2^53")]
fn microseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::read_table;

    #[test]
    fn activities_waits_messages_and_the_path_are_exported() {
        let table =
            "id,process,clock,service_s,antecedents,kind\n1,0,1,2,,work\n2,1,1,1,,work\n3,1,2,0,1:0.5,receive\n";
        let events = read_table(table.as_bytes()).unwrap();
        let path = CriticalPath::of(&events).unwrap();
        let mut written = Vec::new();
        // Two activities and a wait, and on the critical path an activity and a message.
        assert_eq!(write_perfetto(&path, None, &mut written).unwrap(), 5);
        let export: Value = serde_json::from_slice(&written).unwrap();
        let entries = export["traceEvents"].as_array().unwrap();
        let of = |phase: &str| entries.iter().filter(|entry| entry["ph"] == phase).collect::<Vec<_>>();
        assert_eq!((of("X").len(), of("s").len(), of("f").len()), (5, 1, 1));
        assert_eq!((of("s")[0]["ts"].as_f64(), of("f")[0]["ts"].as_f64()), (Some(2e6), Some(2_499_999.999)));
        assert_eq!(of("X")[1]["dur"], 1e6);
        // Perfetto's trace processor accepts only numbers as identifiers of arrows.
        assert!(of("s")[0]["id"].is_u64() && of("s")[0]["id"] == of("f")[0]["id"]);
    }
}
