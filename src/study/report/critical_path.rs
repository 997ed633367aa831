//! The critical path as text, tables and keys.

use super::comparison;
use super::table::{TextTable, digits, time};
use crate::analysis::Parallelism;
use crate::analysis::critical_path::{Composition, CriticalPath, EventArc, PathPart};
use crate::analysis::{Accounting, Gain};
use crate::answer::{Answer, Metadata, QuantityValue, Record};
use parsim_sim::trace::Recording;
use parsim_sim::trace::events::{Label, MESSAGE};
use parsim_sim::units::{SimDuration, TotalTime, counted};
use std::fmt;

/// The largest number of rows of a printed table.
const ROWS: usize = 12;

/// The report on a critical path, as text and as records.
pub struct CriticalPathReport {
    title: String,
    makespan: Option<SimDuration>,
    processes: u32,
    events: u32,
    length: SimDuration,
    pieces: usize,
    busy: TotalTime,
    messages: TotalTime,
    average_parallelism: Option<f64>,
    mean_active: Option<f64>,
    has_loads: bool,
    composition: Composition,
    parallelism: Parallelism,
    slack: Vec<Slack>,
}

/// The slack of the activities with one label.
struct Slack {
    label: Label,
    activities: u64,
    /// The number of activities without slack.
    critical: u64,
    total: TotalTime,
}

impl CriticalPathReport {
    /// Creates the report on the path of a trace called `title`, which is the trace of `run` if it was recorded.
    #[must_use]
    pub fn new(title: String, path: &CriticalPath<'_>, run: Option<&Recording>) -> Self {
        Self {
            title,
            makespan: run.map(|run| run.makespan),
            processes: path.events().processes(),
            events: path.events().count(),
            length: path.length(),
            pieces: path.spans().len(),
            busy: path.busy(),
            messages: path.messages(),
            average_parallelism: path.average_parallelism(),
            mean_active: path.mean_active(),
            has_loads: path.has_loads(),
            composition: run.map_or_else(|| path.composition(), |run| path.composition_of(run)),
            parallelism: path.parallelism(),
            slack: slack(path),
        }
    }

    /// Returns the report, with the accounts of the ranks and the gain over one rank if they are known.
    #[must_use]
    pub fn answer(&self, accounts: Option<&(Accounting, Option<Gain>)>, metadata: Option<&Metadata>) -> Answer {
        let (mut record, mut words) = (self.record(), self.to_string());
        if let Some((accounting, gain)) = accounts {
            words += &comparison::accounts(accounting, gain.as_ref());
            record.append(comparison::gain_record(*gain));
            record.append(comparison::rank_record(accounting));
        }
        if metadata.is_some() {
            record.put_metadata(metadata.cloned());
        }
        Answer::one(record, &words)
    }

    /// Returns the report as a flat object.
    #[must_use]
    pub fn record(&self) -> Record {
        let mut record = Record::default();
        record.put("trace", self.title.as_str());
        record.put("processes", self.processes);
        record.put("makespan_s", self.makespan.map(SimDuration::seconds));
        record.put("critical_path_s", self.length.seconds());
        record.put("critical_path_spans", self.pieces);
        record.put("events", self.events);
        record.put("events_without_slack", self.slack.iter().map(|slack| slack.critical).sum::<u64>());
        record.put("busy_s", self.busy.seconds());
        record.put("messages_s", self.messages.seconds());
        record.put("average_parallelism", self.average_parallelism);
        record.put("mean_active", self.mean_active);
        let Composition { processes, kinds, phases, links, message_stages } = &self.composition;
        record.put("path_by_kind_s", object(kinds, |of| named(of)));
        record.put("path_by_phase_s", object(phases, |of| named(of)));
        record.put("path_by_process_s", object(processes, |of| process(*of)));
        record.put("path_by_link_s", object(links, |of| link(of.as_deref())));
        record.put("path_by_message_stage_s", object(message_stages, ToString::to_string));
        record.put("degree_of_parallelism", self.parallelism.histogram());
        record
    }

    fn parts<T>(&self, what: &str, parts: &[PathPart<T>], name: impl Fn(&T) -> String) -> TextTable {
        let mut table = TextTable::new([what, "time", "% of the path", "spans"]);
        let share = |time: SimDuration| format!("{:.1}", 100.0 * time.seconds() / self.length.seconds());
        for part in parts.iter().take(ROWS) {
            table.row([name(&part.of), time(part.time.seconds()), share(part.time), part.pieces.to_string()]);
        }
        if parts.len() > ROWS {
            let rest = &parts[ROWS..];
            let time: SimDuration = rest.iter().map(|part| part.time).sum();
            let pieces: u64 = rest.iter().map(|part| part.pieces).sum();
            table.row([format!("{} others", rest.len()), self::time(time.seconds()), share(time), pieces.to_string()]);
        }
        table
    }

    fn slacks(&self) -> TextTable {
        let mut table = TextTable::new(["activity", "phase", "activities", "% without slack", "mean slack"]);
        for slack in &self.slack {
            let count = count(slack.activities);
            let critical = format!("{:.1}", 100.0 * self::count(slack.critical) / count);
            let mean = time(slack.total.seconds() / count);
            table.row([
                named(&slack.label.kind),
                named(&slack.label.phase),
                slack.activities.to_string(),
                critical,
                mean,
            ]);
        }
        table
    }

    fn degrees(&self) -> TextTable {
        let mut table = TextTable::new(["processors at work", "% of the time"]);
        let histogram = self.parallelism.histogram();
        let width = histogram.len().div_ceil(2 * ROWS).max(1);
        for (index, shares) in histogram.chunks(width).enumerate() {
            let (first, last) = (index * width, index * width + shares.len() - 1);
            let name = if first == last { first.to_string() } else { format!("{first} to {last}") };
            table.row([name, format!("{:.1}", 100.0 * shares.iter().sum::<f64>())]);
        }
        table
    }
}

impl CriticalPathReport {
    /// Explains an average parallelism of more than the processes.
    fn beyond(&self) -> &'static str {
        match self.average_parallelism {
            Some(parallelism) if parallelism > f64::from(self.processes) => "; messages under way occupy no processor",
            _ => "",
        }
    }
}

impl fmt::Display for CriticalPathReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.title)?;
        let mut table = TextTable::new(["", ""]);
        let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
        if let Some(makespan) = self.makespan {
            row("makespan", time(makespan.seconds()));
        }
        row("critical path", format!("{}, in {}", time(self.length.seconds()), counted(self.pieces, "span")));
        row(
            "events",
            format!(
                "{} of {}",
                self.events,
                if self.processes == 1 { "1 process".to_owned() } else { format!("{} processes", self.processes) }
            ),
        );
        row("service of processors", time(self.busy.seconds()));
        row("delays of messages", time(self.messages.seconds()));
        let number = |number: Option<f64>| number.map_or("none".to_owned(), digits);
        row(
            "average parallelism",
            number(self.average_parallelism)
                + ", service, messages and waits on the path, divided by its length"
                + self.beyond(),
        );
        let loads = if self.has_loads { "; memory loads are waits" } else { "" };
        row("processors at work", number(self.mean_active) + ", service divided by the length of the path" + loads);
        writeln!(f, "{table}")?;
        let Composition { processes, kinds, phases, links, message_stages } = &self.composition;
        writeln!(f, "Composition of the critical path:\n")?;
        writeln!(f, "{}", self.parts("kind", kinds, |of| named(of)))?;
        writeln!(f, "{}", self.parts("phase", phases, |of| named(of)))?;
        writeln!(f, "{}", self.parts("process", processes, |of| process(*of)))?;
        if !message_stages.is_empty() {
            writeln!(f, "{}", self.parts("stage of messages", message_stages, ToString::to_string))?;
        }
        writeln!(f, "{}", self.parts("link", links, |of| link(of.as_deref())))?;
        writeln!(f, "Slack: how much longer activities could take without lengthening the path:\n")?;
        writeln!(f, "{}", self.slacks())?;
        writeln!(f, "Degree of parallelism, if only dependencies delay the processors:\n")?;
        write!(f, "{}", self.degrees())
    }
}

fn slack(path: &CriticalPath<'_>) -> Vec<Slack> {
    let events = path.events();
    let none = |label: &Label| Slack { label: label.clone(), activities: 0, critical: 0, total: TotalTime::default() };
    let mut sorts: Vec<Slack> = events.labels().iter().map(none).collect();
    path.visit_slacks(|event, slack| {
        let sort = &mut sorts[usize::from(events.get(event).label)];
        sort.activities += 1;
        sort.critical += u64::from(slack == SimDuration::ZERO);
        sort.total += slack;
    });
    sorts.retain(|sort| sort.activities > 0);
    sorts
}

#[expect(clippy::cast_precision_loss, reason = "events are counted in 32 bits")]
fn count(number: u64) -> f64 {
    number as f64
}

fn named(name: &str) -> String {
    if name.is_empty() { "unnamed".to_owned() } else { name.to_owned() }
}

fn process(process: Option<u32>) -> String {
    process.map_or("between processes".to_owned(), |process| process.to_string())
}

fn link(link: Option<&str>) -> String {
    link.unwrap_or("within processes").to_owned()
}

fn object<T>(parts: &[PathPart<T>], name: impl Fn(&T) -> String) -> QuantityValue {
    let entry = |part: &PathPart<T>| (name(&part.of), QuantityValue::from(part.time.seconds()));
    QuantityValue::Group(parts.iter().map(entry).collect())
}

/// Writes one line for each event: the columns of a table of events, and the critical time and the slack of the event.
///
/// # Errors
/// Returns the errors of the sink.
pub fn write_events(path: &CriticalPath<'_>, sink: impl std::io::Write) -> std::io::Result<()> {
    let events = path.events();
    let mut lines = csv::Writer::from_writer(sink);
    let columns =
        ["id", "process", "clock", "service_s", "antecedents", "kind", "phase", "critical_s", "slack_s", "on_path"];
    lines.write_record(columns)?;
    let mut spans = path.spans().map(|span| span.event).collect::<Vec<_>>();
    spans.sort_unstable();
    for (event, slack) in (0..).zip(path.slacks()) {
        let (entry, label) = (events.get(event), events.label_of(event));
        let critical = path.critical(event).seconds();
        let antecedents = events.antecedents(event).iter().map(|antecedent| {
            let link = &events.way_of(antecedent).link;
            let at = if link.is_empty() { "" } else { "@" };
            format!("{}:{}{at}{link}", events.name(antecedent.event), antecedent.delay.seconds())
        });
        lines.write_record([
            events.name(event).to_string(),
            entry.process.to_string(),
            events.stamp(event).map_or(critical, |stamp| stamp.clock).to_string(),
            entry.service.seconds().to_string(),
            antecedents.collect::<Vec<_>>().join(" "),
            label.kind.clone(),
            label.phase.clone(),
            critical.to_string(),
            slack.seconds().to_string(),
            u8::from(spans.binary_search(&event).is_ok()).to_string(),
        ])?;
    }
    lines.flush()
}

/// A piece of a path: an activity, or a message at one place on its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPiece<'p> {
    /// The start of the piece.
    pub from: SimDuration,
    /// The end of the piece.
    pub to: SimDuration,
    /// The kind of activity, or the kind of delay between two activities.
    pub kind: &'p str,
    /// The phase of the program.
    pub phase: &'p str,
    /// The process of an activity; `None` for a message.
    pub process: Option<u32>,
    /// The node or link on which a message is; empty if it is not known, and for activities.
    pub place: String,
}

/// Returns every piece of the path in the order of time. If `run` records them, a message has one piece for each place
/// on its path. The times of all pieces sum to the length of the path.
#[must_use]
pub fn pieces<'p>(path: &'p CriticalPath<'_>, run: Option<&Recording>) -> Vec<PathPiece<'p>> {
    let carried = run.and_then(|run| path.carried(run));
    let events = path.events();
    let mut pieces = Vec::new();
    for span in path.spans().filter(|span| span.to > span.from) {
        let (process, label) = (events.get(span.event).process, events.label_of(span.event));
        let (kind, link) = match &span.through {
            EventArc::Activity => (&label.kind, ""),
            EventArc::Antecedent(antecedent) => (&events.way_of(antecedent).kind, &*events.way_of(antecedent).link),
        };
        let way = carried.as_ref().and_then(|carried| carried.way(path, &span));
        let way = way.map(|way| way.iter().map(|it| (it.from, it.to, it.place.to_string())).collect());
        for (from, to, place) in way.unwrap_or_else(|| vec![(span.from, span.to, link.to_owned())]) {
            let process = (kind != MESSAGE).then_some(process);
            pieces.push(PathPiece { from, to, kind, phase: &label.phase, process, place });
        }
    }
    pieces
}

/// Writes one line for each of the [`pieces`] of the path.
///
/// # Errors
/// Returns the errors of the sink.
pub fn write_path(path: &CriticalPath<'_>, run: Option<&Recording>, sink: impl std::io::Write) -> std::io::Result<()> {
    let mut lines = csv::Writer::from_writer(sink);
    lines.write_record(["from_s", "to_s", "kind", "phase", "process", "place"])?;
    for PathPiece { from, to, kind, phase, process, place } in pieces(path, run) {
        let times = [from, to].map(|time| time.seconds().to_string());
        let process = process.map_or(String::new(), |process| process.to_string());
        lines.write_record([&times[0], &times[1], kind, phase, &process, &place])?;
    }
    lines.flush()
}
