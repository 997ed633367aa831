//! The scenario as its file describes it: the reference for measurements and published predictions.

use super::named_topology;
use super::source::{Document, Faults, NamedFiles};
use super::sweep::{ColumnFields, Plan, SHARED_FIELDS, meant_path, unknown_value};
use super::{AxisValue, Case, Scenario};

/// A scenario as its file describes it, before any override.
pub struct Described(Option<BaseScenario>);

struct BaseScenario {
    plan: Plan,
    /// The scenario's document without its axes, which every case would otherwise copy.
    base: Document,
}

impl Described {
    /// Reads the scenario of `document`. If the document cannot be read, the result describes nothing.
    #[must_use]
    pub fn of(document: Result<Document, Faults>) -> Self {
        let plan = document.and_then(|document| Plan::new(document, &[])).ok();
        Self(plan.map(|plan| BaseScenario { base: plan.document().without(&SHARED_FIELDS), plan }))
    }

    /// Returns `true` if `case` has the machine, the ranks and the program that the file describes at the values of the
    /// case for the axes in `columns`. Seeds, limits and comparisons are ignored.
    #[must_use]
    pub fn matches(&self, case: &Case, columns: &[String]) -> bool {
        self.at(case, columns).is_some_and(|described| {
            let played = &case.scenario;
            described.machine == played.machine
                && described.program == played.program
                && described.ranks == played.ranks
                && described.placement == played.placement
                && described.partition == played.partition
        })
    }

    /// Returns the files that the scenario may name.
    #[must_use]
    pub fn named_files(&self) -> NamedFiles {
        self.0.as_ref().map(|description| description.base.named_files().clone()).unwrap_or_default()
    }

    /// Returns `true` if `name` is an axis or names a field that an axis could vary. Always `true` if nothing is
    /// described.
    #[must_use]
    pub fn has_axis(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|BaseScenario { plan, .. }| {
            plan.axes().any(|axis| axis.name == name) || plan.free_axis(name).is_ok()
        })
    }

    /// Returns the names of the declared axes.
    pub fn axes(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|description| description.plan.axes()).map(|axis| axis.name.as_str())
    }

    /// Returns the path and the unit of the axis `name`, or of the field with this path; `None` if there is none, or
    /// nothing is described.
    #[must_use]
    pub fn field_along(&self, name: &str) -> Option<(String, Option<String>)> {
        self.0.as_ref()?.plan.field_along(name)
    }

    /// Returns the fields that columns of data set; `None` if nothing is described.
    #[must_use]
    pub fn column_fields(&self, columns: &[&String]) -> Option<ColumnFields<'_>> {
        Some(self.0.as_ref()?.plan.column_fields(columns))
    }

    /// Returns the advice for a path to no field, if it is similar to that of a field.
    #[must_use]
    pub fn meant_path(&self, path: &str) -> Option<String> {
        meant_path(self.0.as_ref()?.plan.document(), path)
    }

    /// Returns the fault of `key` and its help, if it is certain that no row has a value called so.
    #[must_use]
    pub fn unknown_value(&self, key: &str) -> Option<(String, String)> {
        unknown_value(key, self.0.as_ref()?.plan.scenario())
    }

    /// Returns `true` if the scenario declares an axis called `name`.
    #[must_use]
    pub fn declares(&self, name: &str) -> bool {
        self.0.as_ref().is_some_and(|description| description.plan.axes().any(|axis| axis.name == name))
    }

    /// Returns `true` if the scenario declares an axis called `name` with a value that is not a number.
    #[must_use]
    pub fn has_texts_on(&self, name: &str) -> bool {
        let mut axes = self.0.iter().flat_map(|description| description.plan.axes());
        axes.any(|axis| axis.name == name && axis.values.iter().any(|value| value.number().is_none()))
    }

    /// Returns `true` if the scenario declares an axis called `name` whose values are all numbers.
    #[must_use]
    pub fn has_numbers_on(&self, name: &str) -> bool {
        let mut axes = self.0.iter().flat_map(|description| description.plan.axes());
        axes.any(|axis| {
            axis.name == name && !axis.values.is_empty() && axis.values.iter().all(|value| value.number().is_some())
        })
    }

    /// Returns `true` if `case` has the machine that the file describes at the values of the case for the declared
    /// axes.
    #[must_use]
    pub fn has_machine_of(&self, case: &Case) -> bool {
        let axes: Vec<_> =
            self.0.iter().flat_map(|description| description.plan.axes()).map(|axis| axis.name.clone()).collect();
        self.at(case, &axes).is_some_and(|described| described.machine == case.scenario.machine)
    }

    fn at(&self, case: &Case, columns: &[String]) -> Option<Scenario> {
        let known = case.keys.iter().filter(|(name, _)| columns.contains(name));
        let known: Vec<_> = known.filter_map(|(name, value)| Some((name.as_str(), value.as_ref()?))).collect();
        let BaseScenario { plan, base } = self.0.as_ref()?;
        plan.described_at(base.clone(), &known).ok()
    }
}

impl Plan {
    /// Reads the scenario at the base values of `document`, with the axes of `known`, or fields given by path, set to the
    /// given values. Axes that follow them are set accordingly.
    fn described_at(&self, mut document: Document, known: &[(&str, &AxisValue)]) -> Result<Scenario, Faults> {
        let failed = |fault| self.document().faults(vec![fault]);
        let point = self.point(known.iter().copied()).map_err(failed)?;
        self.apply_point(&mut document, &point).map_err(failed)?;
        named_topology::read(&document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Override;
    use std::path::Path;

    fn met(settings: &[(&str, &str)], overs: &[(&str, &str)], columns: &[&str]) -> bool {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/gauss-jordan-neighbour.ron");
        let mut document = Document::load(&path).unwrap();
        for (path, value) in settings {
            document.set(path, value).unwrap();
        }
        let over = |(name, value): &(&str, &str)| Override { name: (*name).into(), values: vec![(*value).into()] };
        let plan = Plan::new(document, &overs.iter().map(over).collect::<Vec<_>>()).unwrap();
        let case = if overs.is_empty() { plan.base().unwrap() } else { plan.cases().unwrap().swap_remove(0) };
        let columns: Vec<_> = columns.iter().map(|&column| column.to_owned()).collect();
        Described::of(Document::load(&path)).matches(&case, &columns)
    }

    #[test]
    fn columns_may_vary_and_nothing_else() {
        let columns = ["n", "p"];
        assert!(met(&[], &[], &columns));
        assert!(met(&[("ranks", "16"), ("program.n", "128"), ("seed", "7")], &[], &columns));
        assert!(met(&[], &[("p", "4"), ("n", "100")], &columns));
        assert!(!met(&[("ranks", "16")], &[], &["n"]));
        assert!(!met(&[("machine.network.links.per_byte", "0.34 us/B")], &[], &columns));
        assert!(!met(&[("program.barrier", "ideal")], &[], &columns));
        assert!(!met(&[], &[("p", "4"), ("n", "128"), ("machine.sends", "buffered")], &columns));
    }
}
