//! Curves of cases over one of their axes.

use crate::experiment::StudyError;
use crate::experiment::cases::outcome::Outcome;
use crate::report::HorizontalAxis;
use crate::report::figures::{self, LineOrigin, TimeLine};
use crate::report::latency_load::{MEAN, OF_ARRIVED, P99, latency_load};
use crate::report::plot::LineChart;
use crate::report::{ReferenceTarget, ReferenceValue};
use crate::scenario::{AxisValue, Case, Plan};

/// The path of the offered load.
pub const OFFERED: &str = "program.offered";

/// The kind of simulated times.
pub const SIMULATED: &str = "simulated";

/// The axis along which curves are drawn.
pub struct CurveAxis {
    /// Its name; empty if the scenario has no axes.
    pub name: String,
    /// Its label in figures, with the unit, and its categories.
    pub along: HorizontalAxis,
    /// The unit in which its values are numbers, if they have one.
    unit: Option<String>,
    /// Names of axes whose values follow from those of this axis and therefore do not distinguish curves.
    follows: Vec<String>,
    /// Names of axes that have a single value, which the title of a figure has.
    constant: Vec<String>,
}

impl CurveAxis {
    /// Returns the axis `name` of `plan`; by default the load of traffic, or else the last axis with several values that
    /// are not computed.
    ///
    /// # Errors
    /// Returns an error if there is no such axis.
    pub fn of(plan: &Plan, name: Option<&str>) -> Result<Self, StudyError> {
        let over = |axis| Self::over(plan, axis);
        let Some(name) = name else {
            let varies = |axis: &&crate::scenario::Axis| axis.expression.is_none() && plan.may_vary(&axis.name);
            let load = plan.axes().find(|axis| axis.path == OFFERED).filter(varies);
            let last = || plan.axes().rfind(varies).map(|axis| plan.distinct_along(axis));
            let last = || last().or_else(|| plan.axes().next_back());
            return Ok(load.or_else(last).map_or_else(Self::none, over));
        };
        plan.axes().find(|axis| axis.name == name).map(over).ok_or_else(|| {
            let names: Vec<_> = plan.axes().map(|axis| axis.name.as_str()).collect();
            StudyError::Argument("axis", format!("{name}: there is no such axis; the axes are: {}", names.join(", ")))
        })
    }

    /// Returns the axis `name` of `plan` for a figure; the default is that of [`of`](Self::of).
    ///
    /// # Errors
    /// Returns an error if there is no such axis, or none at all.
    pub fn to_draw(plan: &Plan, name: Option<&str>) -> Result<Self, StudyError> {
        let axis = Self::of(plan, name)?;
        if axis.name.is_empty() {
            let message = "has no axis to draw along; give one, such as --over p=1,2,4,8";
            return Err(StudyError::Argument("plot", message.to_owned()));
        }
        Ok(axis)
    }

    /// Chooses the most informative axis for a page: the load of traffic, the ranks if they vary, or else the last axis
    /// that varies independently. Axes that are constant at each value of the chosen one do not distinguish curves.
    pub fn of_page(plan: &Plan, cases: &[Case]) -> Self {
        let varies = |axis: &&crate::scenario::Axis| {
            let mut values = cases.iter().filter_map(|case| value(case, &axis.name));
            values.next().is_some_and(|first| values.any(|other| other != first))
        };
        let at = |path: &str| plan.axes().find(|axis| axis.path == path).filter(varies);
        let last = || plan.axes().rfind(|axis| axis.expression.is_none() && varies(axis));
        let last = || last().map(|axis| plan.distinct_along(axis));
        let chosen = at(OFFERED).or_else(|| at("ranks")).or_else(last).or_else(|| plan.axes().next_back());
        let Some(chosen) = chosen.map(|axis| Self::over(plan, axis)) else { return Self::none() };
        let follows = |axis: &&crate::scenario::Axis| {
            let same = |one: &&Case, other: &&Case, name: &str| value(one, name) == value(other, name);
            let mut pairs = cases.iter().flat_map(|one| cases.iter().map(move |other| (one, other)));
            pairs.all(|(one, other)| !same(&one, &other, &chosen.name) || same(&one, &other, &axis.name))
        };
        let constant = plan.axes().filter(follows).map(|axis| axis.name.clone());
        let follows = constant.chain(chosen.follows.iter().cloned()).collect();
        Self { follows, ..chosen }
    }

    /// Draws the times along the axis; for traffic, the latencies over the load.
    #[must_use]
    pub fn chart(&self, plan: &Plan, times: &TimeLines) -> LineChart {
        let program = plan.scenario().program.name();
        let program = &match times.constants.as_deref() {
            None | Some("") => program.to_owned(),
            Some(constants) => format!("{program}, {constants}"),
        };
        let chart = if plan.scenario().program.is_traffic() {
            latency_load(program, &self.along, times.lines())
        } else {
            figures::times(program, &self.along, times.lines()).1
        };
        chart.with_short_names()
    }

    fn none() -> Self {
        let (follows, constant) = (Vec::new(), Vec::new());
        Self { name: String::new(), along: HorizontalAxis::default(), unit: None, follows, constant }
    }

    fn over(plan: &Plan, axis: &crate::scenario::Axis) -> Self {
        let unit = plan.unit_along(&axis.name);
        let label = match (axis.path.as_str(), &unit) {
            (OFFERED, _) => "Offered load [flits per node and cycle]".to_owned(),
            ("ranks", _) if axis.name == "ranks" => "Processors".to_owned(),
            ("ranks", _) => format!("Processors {}", axis.name),
            (_, Some(unit)) => format!("{} [{unit}]", axis.name),
            (_, None) => axis.name.clone(),
        };
        let are_quantities = unit.is_some() && axis.unit.is_none();
        let categories = if are_quantities { Vec::new() } else { plan.categories(&axis.name) };
        let along = HorizontalAxis { label, categories };
        let follows = plan.determined_along(&axis.name);
        let is_constant = |name: &String| *name != axis.name && !follows.contains(name) && !plan.may_vary(name);
        let constant = plan.axes().map(|other| other.name.clone()).filter(is_constant).collect();
        Self { name: axis.name.clone(), along, unit, follows, constant }
    }

    /// Returns `true` if the axis varies the number of ranks.
    pub fn is_ranks(&self, plan: &Plan) -> bool {
        plan.axes().any(|axis| axis.name == self.name && axis.path == "ranks")
    }

    /// Describes how the problem grows along this axis: the parameters of the program that vary with it, or else its data
    /// or its work. Returns `None` unless the program's data at least double from the first value to the last or, if they
    /// are not known, unless such a parameter grows or the work of a rank stays.
    pub fn growth(&self, plan: &Plan, cases: &[Case]) -> Option<String> {
        let first_group = self.group(cases.first()?);
        let of_one_curve = cases.iter().filter(|case| self.group(case) == first_group);
        let positions: Vec<_> = of_one_curve.filter_map(|case| Some((self.position(case)?, case))).collect();
        let (_, least) = positions.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
        let (_, most) = positions.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
        let data = |case: &Case| case.scenario.data();
        // Copies and halos of a problem of constant size add less than its own data.
        let are_known = data(most) > 0;
        if are_known && data(most) < 2 * data(least).max(1) {
            return None;
        }
        let of_program =
            plan.axes().filter(|axis| self.follows.contains(&axis.name) && axis.path.starts_with("program."));
        let grows = of_program.filter_map(|axis| {
            let (from, to) = (value(least, &axis.name)?, value(most, &axis.name)?);
            let field = axis.path.trim_start_matches("program.");
            let is_more = || from.number().zip(to.number()).is_some_and(|(from, to)| from < to);
            (if are_known { from != to } else { is_more() }).then(|| format!("{field} from {from} to {to}"))
        });
        let words = Some(grows.collect::<Vec<_>>().join(", ")).filter(|words| !words.is_empty());
        let of_ranks = || match data(most) {
            0 => "the work of all ranks together grows with their number".to_owned(),
            all => format!("its data from {} to {all} B", data(least)),
        };
        words.or_else(|| most.scenario.has_larger_problem_than(&least.scenario).then(of_ranks))
    }

    /// Returns the value of the axis in `case`.
    #[must_use]
    pub fn value<'c>(&self, case: &'c Case) -> Option<&'c AxisValue> {
        value(case, &self.name)
    }

    /// Returns the value of the axis in `case` as a number, in the unit of the axis.
    #[must_use]
    pub fn position(&self, case: &Case) -> Option<f64> {
        self.value(case).and_then(|value| value.clone().without_unit(self.unit.as_deref()).number())
    }

    /// Returns the position of `case` along the axis of a figure.
    fn place(&self, case: &Case) -> Option<f64> {
        self.along.place(self.position(case), &self.value(case)?.to_string())
    }

    /// Returns the values of all other axes in words; cases that agree in them belong to the same curve.
    #[must_use]
    pub fn group(&self, case: &Case) -> String {
        in_words(case, |name| *name != self.name && !self.follows.contains(name))
    }

    /// Returns the same without the values that all curves have in common.
    fn distinction(&self, case: &Case) -> String {
        let is_own =
            |name: &String| *name != self.name && !self.follows.contains(name) && !self.constant.contains(name);
        in_words(case, is_own)
    }

    /// Returns the values that all curves have in common.
    fn constants(&self, case: &Case) -> String {
        in_words(case, |name| self.constant.contains(name))
    }
}

/// Returns the values of the chosen axes with their units.
fn in_words(case: &Case, is_chosen: impl Fn(&String) -> bool) -> String {
    let unit = |name: &str| case.settings.units.iter().find(|(axis, _)| axis == name).map(|(_, unit)| unit);
    let words = case.keys.iter().filter(|(name, _)| is_chosen(name)).map(|(name, value)| match (value, unit(name)) {
        (Some(value), Some(unit)) if value.number().is_some() => format!("{name} = {value} {unit}"),
        (Some(value), _) => format!("{name} = {value}"),
        (None, _) => name.clone(),
    });
    words.collect::<Vec<_>>().join(", ")
}

fn value<'c>(case: &'c Case, name: &str) -> Option<&'c AxisValue> {
    case.keys.iter().find(|(other, _)| other == name).and_then(|(_, value)| value.as_ref())
}

fn origin(compared: &ReferenceValue) -> LineOrigin {
    match compared.beside {
        ReferenceTarget::MeasuredMakespan => LineOrigin::Measurement,
        _ => LineOrigin::Model,
    }
}

/// The time of a case in a figure.
pub struct CurveTime<'k> {
    /// The kind of the time, such as `simulated`.
    pub kind: &'k str,
    /// The time in seconds, if there is one.
    pub seconds: Option<f64>,
    /// Half the 95 % confidence interval, in seconds; 0 if there is none.
    pub half_width: f64,
    /// The interval that should contain a new measurement, its percentage and its ends in seconds, if there is one.
    pub interval: Option<(u8, (f64, f64))>,
}

impl<'k> CurveTime<'k> {
    /// Returns a time without intervals.
    #[must_use]
    pub const fn new(kind: &'k str, seconds: Option<f64>) -> Self {
        Self { kind, seconds, half_width: 0.0, interval: None }
    }
}

/// Times of cases, gathered into the lines of a figure.
#[derive(Default)]
pub struct TimeLines {
    lines: Vec<TimeLine>,
    /// The values that all cases have in common, from the first case on.
    constants: Option<String>,
}

impl TimeLines {
    /// Adds the time of `case` and the times for comparison.
    pub fn add(&mut self, axis: &CurveAxis, case: &Case, time: &CurveTime<'_>, compared: &[ReferenceValue]) {
        let Some(place) = axis.place(case) else { return };
        self.constants.get_or_insert_with(|| axis.constants(case));
        let group = axis.distinction(case);
        self.add_point(&group, LineOrigin::Subject, place, time);
        // A prediction that is itself the subject is not compared with itself.
        let others = compared.iter().filter(|one| !time.kind.ends_with(one.title.as_str()));
        let times =
            others.filter(|one| !matches!(one.beside, ReferenceTarget::Outcome(_) | ReferenceTarget::Outcomes(_)));
        times.for_each(|one| self.add_point(&group, origin(one), place, &CurveTime::new(&one.title, one.value)));
    }

    /// Adds the simulated outcome of `case` and its references: for traffic the latencies, otherwise the makespan. If
    /// packets had not arrived by the end, the only latency is the mean of the others, as a kind of its own.
    pub fn add_outcome(&mut self, axis: &CurveAxis, case: &Case, outcome: &Outcome) {
        if case.scenario.program.is_traffic() {
            let complete = [(MEAN, "latency_mean_s"), (P99, "latency_p99_s")];
            let of_arrived = [(OF_ARRIVED, "latency_mean_s")];
            let latencies = if outcome.leaves_packets() { &of_arrived[..] } else { &complete };
            for (kind, name) in latencies {
                let (seconds, half_width) = outcome.reported(name).unzip();
                let time = CurveTime { half_width: half_width.unwrap_or(0.0), ..CurveTime::new(kind, seconds) };
                self.add(axis, case, &time, &[]);
            }
        } else {
            let (seconds, half_width) = outcome.makespan_s();
            let interval = outcome.interval().and_then(|interval| Some((interval.level.percent(), interval.ends?)));
            let time = CurveTime { half_width, interval, ..CurveTime::new(SIMULATED, Some(seconds)) };
            self.add(axis, case, &time, outcome.compared());
        }
    }

    fn add_point(&mut self, group: &str, origin: LineOrigin, place: f64, time: &CurveTime<'_>) {
        let Some(seconds) = time.seconds else { return };
        let line = self.line(group, time.kind, origin);
        line.points.push((place, seconds));
        line.half_widths.push(time.half_width);
        let (percent, ends) = time.interval.unzip();
        line.percent = percent.or(line.percent);
        if ends.is_some() || !line.intervals.is_empty() {
            line.intervals.resize(line.points.len() - 1, None);
            line.intervals.push(ends);
        }
    }

    fn line(&mut self, group: &str, kind: &str, origin: LineOrigin) -> &mut TimeLine {
        let found = self.lines.iter().position(|line| line.group == group && line.kind == kind);
        let index = found.unwrap_or_else(|| {
            self.lines.push(TimeLine::new(group, kind, origin, Vec::new()));
            self.lines.len() - 1
        });
        &mut self.lines[index]
    }

    /// Returns the lines, ordered by their first cases.
    #[must_use]
    pub fn lines(&self) -> &[TimeLine] {
        &self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Override;
    use crate::scenario::source::Document;

    /// A figure over an axis that the command line reduces to one value would be points above each other.
    #[test]
    fn axes_that_follow_others_distinguish_no_curves() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/real-dot-product.ron");
        let plan = Plan::new(Document::load(path).unwrap(), &[Override::new("n", &["1000"])]).unwrap();
        let curves = |name: Option<&str>| {
            let axis = CurveAxis::of(&plan, name).unwrap();
            let cases = plan.cases().unwrap();
            assert!(cases.iter().all(|case| axis.group(case) == format!("n = 1000, {}", axis.distinction(case))));
            let mut groups: Vec<_> = cases.iter().map(|case| axis.distinction(case)).collect();
            groups.sort();
            groups.dedup();
            (axis.name, groups)
        };
        let by_q = ["q = 1", "q = 16", "q = 4", "q = 8"].map(str::to_owned).to_vec();
        assert_eq!(curves(None), ("p".to_owned(), by_q.clone()));
        assert_eq!(curves(Some("ranks")), ("ranks".to_owned(), by_q));
    }

    /// Returns the plan of a program of steps with these axes, and its cases.
    fn steps(axes: &str) -> (Plan, Vec<Case>) {
        let name = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/test.ron");
        let text = format!(
            "Scenario(machine: File(\"machines/ideal-hypercube.ron\"), ranks: 4, placement: RowMajor, seed: 1, \
             program: Phases(parameters: {{\"n\": 1, \"m\": 1}}, steps: [Compute(seconds: \"n\")]), {axes})"
        );
        let plan = Plan::new(Document::from_text(name, &text).unwrap(), &[]).unwrap();
        let cases = plan.cases().unwrap();
        (plan, cases)
    }

    const P: &str = r#"Axis(name: "p", path: "ranks", values: [1, 2, 4])"#;

    #[test]
    fn axes_that_are_computed_from_two_others_split_no_curves_of_a_page() {
        let (m, n) = (
            r#"Axis(name: "m", path: "program.parameters.m", values: [1, 2])"#,
            r#"Axis(name: "n", path: "program.parameters.n", expression: "m * p")"#,
        );
        let (plan, cases) = steps(&format!("axes: [{m}, {P}, {n}]"));
        let axis = CurveAxis::of_page(&plan, &cases);
        let mut groups: Vec<_> = cases.iter().map(|case| axis.group(case)).collect();
        groups.dedup();
        assert_eq!((axis.name.as_str(), groups), ("p", vec!["m = 1".to_owned(), "m = 2".to_owned()]));
    }

    #[test]
    fn a_problem_whose_data_are_not_known_grows_with_its_parameters() {
        let growth = |expression: &str| {
            let n = format!(r#"Axis(name: "n", path: "program.parameters.n", expression: "{expression}")"#);
            let (plan, cases) = steps(&format!("axes: [{P}, {n}]"));
            CurveAxis::of_page(&plan, &cases).growth(&plan, &cases)
        };
        assert_eq!(growth("10 * p"), Some("parameters.n from 10 to 40".to_owned()));
        assert_eq!(growth("8 / p"), None);
    }

    #[test]
    fn quantities_of_the_command_line_are_numbers_in_the_unit_of_the_first() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/ring-shift.ron");
        let positions = |values: &[&str]| {
            let over = Override::new("program.bytes", values);
            let plan = Plan::new(Document::load(path).unwrap(), &[over]).unwrap();
            let axis = CurveAxis::of(&plan, Some("program.bytes")).unwrap();
            let places: Vec<_> = plan.cases().unwrap().iter().take(2).filter_map(|case| axis.place(case)).collect();
            (axis.along.label, axis.along.categories.len(), places)
        };
        assert_eq!(positions(&["512B", "1 kB"]), ("program.bytes [B]".to_owned(), 0, vec![512.0, 1000.0]));
    }

    #[test]
    fn curves_run_along_the_zipped_axis_without_repeated_values() {
        let m = r#"Axis(name: "m", path: "program.parameters.m", values: [1, 1, 2])"#;
        let n = r#"Axis(name: "n", path: "program.parameters.n", values: [1, 2, 3])"#;
        let (plan, cases) = steps(&format!(r#"axes: [{n}, {m}], zip: [["n", "m"]]"#));
        for axis in [CurveAxis::of(&plan, None).unwrap(), CurveAxis::of_page(&plan, &cases)] {
            assert_eq!(axis.name, "n");
            assert!(cases.iter().all(|case| axis.group(case).is_empty()));
        }
    }

    #[test]
    fn curves_run_along_the_zipped_axis_of_numbers() {
        let n = r#"Axis(name: "n", path: "program.parameters.n", values: [1, 2, 3])"#;
        let placement =
            r#"Axis(name: "placement", path: "placement", values: ["RowMajor", "Random", "Explicit([3, 2, 1, 0])"])"#;
        let (plan, cases) = steps(&format!(r#"axes: [{n}, {placement}], zip: [["n", "placement"]]"#));
        for axis in [CurveAxis::of(&plan, None).unwrap(), CurveAxis::of_page(&plan, &cases)] {
            assert_eq!(axis.name, "n");
        }
    }

    #[test]
    fn an_axis_with_one_value_is_not_drawn_along() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/ping.ron");
        let axis = |over: &[(&str, &[&str])]| {
            let overrides: Vec<_> = over.iter().map(|(name, values)| Override::new(name, values)).collect();
            CurveAxis::of(&Plan::new(Document::load(path).unwrap(), &overrides).unwrap(), None).unwrap().name
        };
        assert_eq!(axis(&[]), "hops");
        assert_eq!(axis(&[("hops", &["1"])]), "bytes");
        assert_eq!(axis(&[("hops", &["1"]), ("bytes", &["8:32:8"])]), "bytes");
        assert_eq!(axis(&[("hops", &["1"]), ("bytes", &["8"])]), "hops");
    }
}
