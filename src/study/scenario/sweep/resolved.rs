//! The resolved scenario of a plan as text, including the whole descriptions that its axes vary.

use super::{AxisSetting, Case, Plan, PlannedAxis, Scenario};
use crate::scenario::source::{Document, Tree, TreeValue};

impl Plan {
    /// Returns the scenario of `case` as RON, including every default, with the axes of the plan. Descriptions among the
    /// values of its axes are written out in full, and a LogGOPS machine keeps its form, so that axes find its
    /// constants.
    #[must_use]
    pub fn to_ron(&self, case: &Case) -> String {
        let axes = self.axes.iter().map(PlannedAxis::resolved).collect();
        let mut text = Scenario { axes, ..(**case.scenario).clone() }.to_ron();
        let Ok(document) = Document::from_text("resolved", &text) else { return text };
        let mut whole: Vec<(Tree, &Tree)> = Vec::new();
        let described = self.document.get("machine").filter(|machine| machine.name() == Some("LogGOPS"));
        whole.extend(document.get("machine").cloned().zip(described));
        for (index, planned) in self.axes.iter().enumerate() {
            for (number, value) in planned.values.iter().enumerate() {
                let shown = document.get(&format!("axes.{index}.values.{number}"));
                if let (AxisSetting::Tree(tree), Some(shown)) = (&value.setting, shown)
                    && has_parts(tree)
                {
                    whole.push((shown.clone(), tree));
                }
            }
        }
        // Replacing from the end keeps the places of earlier values valid.
        for (shown, tree) in whole.into_iter().rev() {
            text.replace_range(shown.place.start..shown.place.end, &tree.to_ron());
        }
        text
    }
}

const fn has_parts(tree: &Tree) -> bool {
    matches!(tree.node, TreeValue::Record { .. } | TreeValue::Tuple { .. } | TreeValue::List(_) | TreeValue::Map(_))
}

#[cfg(test)]
mod tests {
    use super::super::Override;
    use super::*;

    #[test]
    fn axes_over_constants_of_loggops_are_kept() {
        let mut document = Document::load("../../scenarios/loggops-collectives.ron").unwrap();
        document.set("axes", "[Axis(name: \"o\", path: \"machine.o\", values: [\"1 us\", \"2 us\"])]").unwrap();
        let plan = Plan::new(document, &[]).unwrap();
        let again = Document::from_text("again", &plan.to_ron(&plan.base().unwrap())).unwrap();
        let again = Plan::new(again, &[]).unwrap();
        let ids = |plan: &Plan| plan.cases().unwrap().iter().map(|case| case.scenario.id()).collect::<Vec<_>>();
        assert_eq!((ids(&plan).len(), ids(&plan)), (2, ids(&again)));
    }

    #[test]
    fn descriptions_among_the_values_of_an_axis_are_kept() {
        let mut document = Document::load("../../scenarios/stencil.ron").unwrap();
        let machines = "../../scenarios/machines/";
        let values = ["parsytec-supercluster-t800", "bwgrid"].map(|name| format!("File(\"{machines}{name}.ron\")"));
        let machines = format!("Axis(name: \"machine\", path: \"machine\", values: [{}])", values.join(", "));
        let axes = format!("[{machines}, Axis(name: \"p\", path: \"ranks\", values: [16, 64])]");
        document.set("axes", &axes).unwrap();
        let plan = Plan::new(document, &[]).unwrap();
        let text = plan.to_ron(&plan.base().unwrap());
        assert!(text.contains("Machine(name: \"bwGRiD\", "), "{text}");
        let again = Plan::new(Document::from_text("again", &text).unwrap(), &[]).unwrap();
        let ids = |plan: &Plan| plan.cases().unwrap().iter().map(|case| case.scenario.id()).collect::<Vec<_>>();
        assert_eq!(ids(&plan), ids(&again));
        assert_eq!(ids(&plan).len(), 4);
    }

    #[test]
    fn axes_of_the_command_line_are_kept() {
        let document = Document::load("../../scenarios/ring-shift.ron").unwrap();
        let over = [Override::new("p", &["4", "8"]), Override::new("machine.sends", &["until-delivered", "buffered"])];
        let plan = Plan::new(document, &over).unwrap();
        let text = plan.to_ron(&plan.base().unwrap());
        let again = Plan::new(Document::from_text("again", &text).unwrap(), &[]).unwrap();
        let ids = |plan: &Plan| plan.cases().unwrap().iter().map(|case| case.scenario.id()).collect::<Vec<_>>();
        assert_eq!((ids(&plan).len(), ids(&plan)), (4, ids(&again)), "{text}");
    }

    /// The resolved scenario has the same value for every axis, whatever the unit, and whether the scenario gives the
    /// value or leaves it at its default. A few fields, such as `noise`, are omitted from the resolved scenario if they
    /// have their default.
    #[test]
    fn axes_of_shipped_scenarios_keep_their_base_values() {
        let files = std::fs::read_dir("../../scenarios").unwrap().map(|entry| entry.unwrap().path());
        for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "ron")) {
            let plan = Plan::new(Document::load(&file).unwrap(), &[]).unwrap();
            let base = plan.base().unwrap();
            let again = Plan::new(Document::from_text("again", &plan.to_ron(&base)).unwrap(), &[]).unwrap();
            for ((key, value), axis) in again.base().unwrap().keys.iter().zip(&base.keys).zip(plan.axes()) {
                let is_left_out = again.document().get(&axis.path).is_none();
                assert!(key == value || is_left_out && key.1.is_none(), "{}: {key:?} {value:?}", file.display());
            }
        }
    }
}
