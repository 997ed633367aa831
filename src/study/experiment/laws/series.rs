//! The laws of speedup for the times of a sweep or of measurements.

use super::weak::WorkGrowth;
use super::{processors, shown, weak};
use crate::answer::{Answer, Key, QuantityValue, Record, Role, Unit};
use crate::experiment::StudyError;
use crate::model::laws::{Base, KarpFlattVerdict, RequestedBase, SeriesPoint, SpeedupPoint, SpeedupSeries};
use crate::scenario::AxisValue;
use crate::scenario::table::{Row, Table};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// The activities of a rank, by their keys in the output of a sweep; the times sum to the makespan.
const ACTIVITIES: [&str; 6] = ["computing_s", "input_output_s", "sending_s", "blocked_s", "system_s", "idle_s"];

/// The activities that are consequences of others: the wait for a message, and that for the end of the other ranks.
const WAITING: [&str; 2] = ["blocked_s", "idle_s"];

/// The activities of ranks that share a memory or a core; tables without these columns have none.
const SHARING: [&str; 2] = ["loading_s", "ready_s"];

/// The key of the makespan averaged over all seeds.
const MEAN: &str = "makespan_mean_s";

/// The columns of times over the number of processors.
#[derive(Clone, Debug)]
pub struct SeriesColumns {
    /// The column of the times; by default one that is known as such. The columns before it are the varied parameters.
    pub time: Option<String>,
    /// The column of the number of processors.
    pub processors: String,
    /// The time of a sequential program in seconds, which replaces T(1) as the base of speedups.
    pub sequential_s: Option<f64>,
    /// The number of processors P whose time is the base of relative speedups T(P) / T(p); by default 1. Not used with
    /// `sequential_s`.
    pub base: Option<u32>,
    /// Columns that sum to the time, whose parts in the Karp-Flatt metric are reported; by default the activities of
    /// ranks.
    pub components: Vec<String>,
    /// Columns of varied parameters that separate no series.
    pub ignored: Vec<String>,
    /// The work on more processors.
    pub work: SeriesWork,
}

/// The work on increasing numbers of processors.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SeriesWork {
    /// The same on any number.
    #[default]
    Fixed,
    /// More on more processors (weak scaling).
    Scaled(WorkGrowth),
}

/// The columns of a table of times, by their roles.
struct Roles {
    time: String,
    processors: String,
    /// The column of the work: the time of the same problem on one processor.
    work: Option<String>,
    components: Vec<String>,
}

/// The values of the varied parameters other than the number of processors.
type SeriesKey = Vec<(String, AxisValue)>;

impl SeriesColumns {
    /// Returns the laws at every point, and a conclusion for every series.
    ///
    /// # Errors
    /// Returns an error for columns that do not exist or have invalid values, or for a series without a base.
    pub fn answer(&self, mut data: Table) -> Result<Answer, StudyError> {
        let mut answer = Answer::default();
        let roles = self.roles(&mut data, &mut answer.notes)?;
        let mut words = String::new();
        for (group, series) in self.series(&data, &roles)? {
            let laws = self.laws(&series);
            let records = records(laws, &group, &roles.time).map_err(|lost| data.fault_of_name(&lost))?;
            answer.records.extend(records);
            words += &self.sentences(&series, &group, &roles);
        }
        answer.words = format!("{}{words}", shown(&answer.records));
        Ok(answer)
    }

    /// Returns the roles of the columns of `data`, which keeps the rows that have a point, with notes on those without.
    fn roles(&self, data: &mut Table, notes: &mut Vec<String>) -> Result<Roles, StudyError> {
        let components = self.components(data)?;
        let time = data.quantity(self.time.as_deref())?;
        let named = "`--processors KEY` names the column of the processors, such as `ranks`";
        let processors = data.column(&self.processors).map_err(|fault| fault.help(named))?;
        data.need_numbers([&processors])?;
        notes.extend([&time, &processors].into_iter().filter_map(|column| data.unused(column)));
        data.rows.retain(|row| row.number(&time).is_some() && row.number(&processors).is_some());
        if data.rows.is_empty() {
            return Err(data.failure(&format!("no row has both `{processors}` and `{time}`")).into());
        }
        let work = self.work_column(data)?;
        // The activities of ranks are known for the first seed only, and sum to its time.
        let is_mean = self.components.is_empty() && time == MEAN;
        let components = if is_mean { Vec::new() } else { self.complete(data, components)? };
        if !self.components.is_empty() {
            need_sums(data, &components, &time)?;
        }
        Ok(Roles { time, processors, work, components })
    }

    /// Returns the column of the work, if the work grows and a column has it.
    fn work_column(&self, data: &mut Table) -> Result<Option<String>, StudyError> {
        match &self.work {
            SeriesWork::Fixed => Ok(None),
            SeriesWork::Scaled(_) if self.sequential_s.is_some() => Ok(None),
            SeriesWork::Scaled(growth) => growth.column(data),
        }
    }

    /// Returns the series of the table, by the values of the other axes.
    fn series(&self, data: &Table, roles: &Roles) -> Result<Vec<(SeriesKey, SpeedupSeries)>, StudyError> {
        let axes = self.axes(data, roles)?;
        data.need_values(&axes)?;
        data.need_different_points(&axes.iter().chain([&roles.processors]).cloned().collect::<Vec<_>>())?;
        let groups = groups(data, &axes, roles)?.into_iter();
        groups.map(|(group, points)| self.one_series(data, &axes, group, points)).collect()
    }

    fn one_series(
        &self,
        data: &Table,
        axes: &[String],
        group: SeriesKey,
        points: Vec<SeriesPoint>,
    ) -> Result<(SeriesKey, SpeedupSeries), StudyError> {
        let fewest = points.iter().map(|point| point.processors).fold(f64::INFINITY, f64::min);
        let Some(series) = SpeedupSeries::new(points, self.requested_base()) else {
            let at = if group.is_empty() { String::new() } else { format!(" for {}", described(&group)) };
            let fault = data.failure(&self.no_base(&at, fewest));
            let hint = self.followers(data, axes);
            return Err(hint.map_or(fault.clone(), |hint| fault.help(&hint)).into());
        };
        if let SeriesWork::Scaled(growth) = &self.work {
            growth.need_within(series.base())?;
        }
        Ok((group, series))
    }

    fn laws(&self, series: &SpeedupSeries) -> Vec<(SpeedupPoint, Record)> {
        match &self.work {
            SeriesWork::Fixed => laws(series),
            SeriesWork::Scaled(growth) => weak::laws(series, growth.constant_s()),
        }
    }

    fn sentences(&self, series: &SpeedupSeries, group: &SeriesKey, roles: &Roles) -> String {
        let beginning = if group.is_empty() { String::new() } else { format!("{}: ", described(group)) };
        match &self.work {
            SeriesWork::Fixed => sentences(series, &beginning, series.verdict().as_ref()),
            SeriesWork::Scaled(growth) => {
                weak::sentences(series, &beginning, growth.constant_s(), roles.work.as_deref())
            }
        }
    }

    /// Returns the columns whose values separate series.
    fn axes(&self, data: &Table, roles: &Roles) -> Result<Vec<String>, StudyError> {
        let is_role = |axis: &String| *axis == roles.processors || Some(axis) == roles.work.as_ref();
        let axes: Vec<_> = data.axes(&roles.time).filter(|axis| !is_role(axis)).cloned().collect();
        if let Some(other) = self.ignored.iter().find(|name| !axes.contains(name)) {
            let known = if axes.is_empty() { "none".to_owned() } else { axes.join(", ") };
            let message = format!("--ignore {other}: this column separates no series; those that do: {known}");
            return Err(StudyError::Request(message));
        }
        Ok(axes.into_iter().filter(|axis| !self.ignored.contains(axis)).collect())
    }

    /// Returns a hint at the columns whose values follow from the number of processors in all rows, if there are any.
    fn followers(&self, data: &Table, axes: &[String]) -> Option<String> {
        let processors = &self.processors;
        let names: Vec<_> = axes.iter().filter(|axis| follows(data, axis, processors)).map(String::as_str).collect();
        let list = names.join(",");
        let advice = match self.work {
            SeriesWork::Fixed => format!(
                "if they do not change the problem, add `--ignore {list}`; if the work grows with them, `--weak`, too"
            ),
            SeriesWork::Scaled(_) => format!("add `--ignore {list}`"),
        };
        (!names.is_empty()).then(|| format!("the values of {list} follow from `{processors}`; {advice}"))
    }

    fn requested_base(&self) -> RequestedBase {
        let processors = RequestedBase::Processors(self.base.unwrap_or(1).into());
        self.sequential_s.map_or(processors, RequestedBase::Sequential)
    }

    /// Returns the fault of a series without a time on the processors of the base, whose fewest processors are `fewest`.
    fn no_base(&self, at: &str, fewest: f64) -> String {
        let processors = &self.processors;
        let relative = format!("`--base {fewest}` gives speedups relative to the fewest processors here");
        match self.base {
            Some(base) => format!("there is no time at {processors} = {base}{at}: {relative}"),
            None => format!(
                "there is no time at {processors} = 1{at}: {relative}, and `--sequential-s` takes the time of a sequential program"
            ),
        }
    }

    /// Returns the columns of the components, in seconds: the named ones, or the activities of ranks if a table has all
    /// of them.
    fn components(&self, data: &mut Table) -> Result<Vec<String>, StudyError> {
        if self.components.is_empty() {
            let known = ACTIVITIES.iter().map(|name| data.column(name).ok()).collect::<Option<Vec<_>>>();
            let sharing = SHARING.iter().filter_map(|name| data.column(name).ok());
            return Ok(known.map_or_else(Vec::new, |known| known.into_iter().chain(sharing).collect()));
        }
        self.components.iter().map(|name| Ok(data.quantity(Some(name))?)).collect()
    }

    /// Returns the components that every row has; named components must be present in every row.
    fn complete(&self, data: &Table, components: Vec<String>) -> Result<Vec<String>, StudyError> {
        data.need_numbers(&components)?;
        match data.need_values(&components) {
            Err(_) if self.components.is_empty() => Ok(Vec::new()),
            complete => Ok(complete.map(|()| components)?),
        }
    }
}

/// Returns `true` if the values of `axis` follow from the number of processors in all rows.
fn follows(data: &Table, axis: &str, processors: &str) -> bool {
    let mut values: HashMap<_, Vec<String>> = HashMap::new();
    for row in &data.rows {
        let [count, value] = [processors, axis].map(|name| row.value(name).map(ToString::to_string));
        let known = values.entry(count).or_default();
        known.extend(value.filter(|value| !known.contains(value)));
    }
    let distinct: HashSet<_> = values.values().flatten().collect();
    distinct.len() > 1 && values.values().all(|of_count| of_count.len() == 1)
}

/// Checks that components sum to the time in every row, within the accuracy of measurements.
fn need_sums(data: &Table, components: &[String], time: &str) -> Result<(), StudyError> {
    const ROUNDING: f64 = 0.01;
    for row in &data.rows {
        let sum: f64 = components.iter().filter_map(|name| row.number(name)).sum();
        let whole = row.number(time).unwrap_or_default();
        if (sum - whole).abs() > ROUNDING * whole.abs() {
            let what = format!("{} sum to {sum}, and `{time}` is {whole}", components.join(", "));
            let help = "name all columns that the time consists of by --components";
            return Err(data.fault_at(row, &what).help(help).into());
        }
    }
    Ok(())
}

/// Groups rows with the same values of all other axes into series.
fn groups(data: &Table, axes: &[String], roles: &Roles) -> Result<Vec<(SeriesKey, Vec<SeriesPoint>)>, StudyError> {
    let mut groups: Vec<(SeriesKey, Vec<SeriesPoint>)> = Vec::new();
    let mut places = HashMap::new();
    for row in &data.rows {
        let point = point(data, row, roles)?;
        let group: SeriesKey = row.cells.iter().filter(|(name, _)| axes.contains(name)).cloned().collect();
        let place = *places.entry(described(&group)).or_insert(groups.len());
        if place == groups.len() {
            groups.push((group, Vec::new()));
        }
        groups[place].1.push(point);
    }
    Ok(groups)
}

fn point(data: &Table, row: &Row, roles: &Roles) -> Result<SeriesPoint, StudyError> {
    let number = |column: &String, is_good: &dyn Fn(f64) -> bool, right: &str| {
        let number = row.number(column).filter(|number| is_good(*number));
        number.ok_or_else(|| data.fault_in(row, column, right))
    };
    let time_s = number(&roles.time, &|time| time > 0.0, "a time is above 0")?;
    let work = roles.work.as_ref();
    let work_s = work.map(|work| number(work, &|time| time > 0.0, "a time on one processor is above 0")).transpose()?;
    let processors = number(
        &roles.processors,
        &|count| count >= 1.0 && count.fract() == 0.0,
        "a number of processors is whole, 1 or more",
    )?;
    let component = |name: &String| Some((name.clone(), row.number(name)?));
    let components = roles.components.iter().filter_map(component).collect();
    Ok(SeriesPoint { processors, time_s, work_s, components })
}

/// Returns the records of a series, or the name of a column that is also the key of another value.
fn records(laws: Vec<(SpeedupPoint, Record)>, group: &SeriesKey, time: &str) -> Result<Vec<Record>, Key> {
    let laws = laws.into_iter();
    laws.map(|(point, laws)| beginning(group).joined(count(&point))?.joined(timed(time, &point))?.joined(laws))
        .collect()
}

fn beginning(group: &SeriesKey) -> Record {
    let mut record = Record::default();
    for (name, value) in group {
        let value = value.number().map_or_else(|| QuantityValue::from(value.to_string()), processors);
        record.put_as(Role::Axis, name.to_owned(), value);
    }
    record
}

fn count(point: &SpeedupPoint) -> Record {
    let mut record = Record::default();
    record.put_as(Role::Axis, "p", processors(point.processors));
    record
}

fn timed(time: &str, point: &SpeedupPoint) -> Record {
    let mut record = Record::default();
    record.put(time.to_owned(), point.time_s);
    record
}

/// Returns the laws at each point of a series.
fn laws(series: &SpeedupSeries) -> Vec<(SpeedupPoint, Record)> {
    let (verdict, parts) = (series.verdict(), series.parts());
    let record = |point: SpeedupPoint| {
        let mut record = Record::default();
        record.put("speedup", point.speedup);
        record.put("efficiency", point.efficiency);
        record.put("karp_flatt", point.serial_fraction);
        record.end_summary();
        record.put("base", series.base().name());
        record.put("base_s", series.base().time_s());
        let own = parts.iter().find(|(p, _)| p.total_cmp(&point.processors).is_eq());
        for (index, (column, _)) in parts.first().map_or(&[][..], |(_, parts)| parts).iter().enumerate() {
            let part = own.map(|(_, parts)| parts[index].1);
            record.put(format!("karp_flatt_of_{}", time_name(column)), part);
        }
        record.put("knee_p", series.knee().map(processors));
        record.put("verdict", verdict.as_ref().map(|verdict| verdict.trend.name()));
        record.put(
            "growing",
            verdict.as_ref().and_then(|verdict| verdict.growing.first()).map(|growing| growing.0.clone()),
        );
        (point, record)
    };
    series.laws().into_iter().map(record).collect()
}

/// Returns the name of a column of times without its unit.
fn time_name(column: &str) -> &str {
    Unit::Seconds.strip(column)
}

/// Describes a series by the laws.
fn sentences(series: &SpeedupSeries, beginning: &str, verdict: Option<&KarpFlattVerdict>) -> String {
    let base = match series.base() {
        Base::OneProcessor(_) => format!("speedup is relative to {}", series.base().name()),
        Base::Sequential(time) => format!("speedup is relative to {} of {time} s", series.base().name()),
        Base::Processors { count, .. } => format!(
            "speedup T({count}) / T(p) and efficiency {count} T({count}) / (p T(p)) are relative to {}; the Karp-Flatt metric \
             and its verdict need T(1)",
            series.base().name()
        ),
    };
    let mut text = format!("\n{beginning}{base}");
    let last = series.laws().last().map_or(1.0, |point| point.processors);
    match series.knee() {
        Some(knee) => write!(text, "; the knee is at p = {knee}"),
        None => write!(text, "; no knee up to p = {last}"),
    }
    .expect("a text can be written to");
    if let Some(KarpFlattVerdict { trend, growing, largest }) = verdict {
        let fractions = series.laws().into_iter().filter_map(|point| point.serial_fraction);
        write!(text, "; {}", trend.meaning(fractions)).expect("a text can be written to");
        text += &growth(growing);
        // The part that has grown most since few processors is not always the largest on many.
        let other = largest.iter().filter(|(name, _)| growing.first().is_some_and(|(most, _)| most != name));
        text.extend(other.map(|part| format!("; at p = {last} its largest part is {}", named(part))));
    }
    text.push('\n');
    text
}

/// Describes the components whose parts of e grow, the largest first. Waiting is the consequence of something else, so
/// the largest cause is named, too.
fn growth(growing: &[(String, f64)]) -> String {
    let is_waiting = |one: &&(String, f64)| WAITING.contains(&one.0.as_str());
    match (growing.first(), growing.iter().find(|one| !is_waiting(one))) {
        (None, _) => String::new(),
        (Some(most), Some(cause)) if most == cause => format!("; of its parts, {} grows most", named(most)),
        (Some(most), cause) => {
            let cause = cause.map_or_else(
                || "no other part grows: `parsim critical-path` shows what ranks wait for".to_owned(),
                |cause| format!("of the other parts, {} grows most", named(cause)),
            );
            format!(
                "; of its parts, {} grows most, which is waiting, the consequence of imbalance or communication; {cause}",
                named(most)
            )
        }
    }
}

fn named((component, part): &(String, f64)) -> String {
    format!("{} ({part:+.4} of e)", time_name(component).replace('_', " "))
}

fn described(group: &SeriesKey) -> String {
    group.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}
