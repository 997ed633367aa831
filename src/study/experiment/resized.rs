//! A scenario on other numbers of cores and nodes.

use crate::scenario::source::{Document, Faults};
use crate::scenario::{Axis, Case, CheckedScenario, Plan, Scenario};
use parsim_sim::machine::Placement;

const RANKS: &str = "ranks";
const PLACEMENT: &str = "placement";
const CORES: &str = "placement.ranks_per_node";
const NODES: &str = "machine.network.topology.nodes";

/// The base values of a scenario, of which the numbers of cores and nodes in use are changed. Axes that are computed from
/// them follow.
#[derive(Clone, Copy)]
pub struct ResizedScenario<'s> {
    plan: &'s Plan,
    case: &'s Case,
}

impl<'s> ResizedScenario<'s> {
    /// Returns the base values `case` of `plan`, ready for other numbers.
    pub const fn new(plan: &'s Plan, case: &'s Case) -> Self {
        Self { plan, case }
    }

    /// Returns the base values.
    pub const fn base(self) -> &'s Case {
        self.case
    }

    /// Returns the names of the axes that are computed from the numbers.
    pub fn followers(self) -> impl Iterator<Item = &'s str> {
        let is_number = |axis: &Axis| [RANKS, PLACEMENT, CORES, NODES].contains(&axis.path.as_str());
        self.plan.following(is_number).filter(|axis| axis.expression.is_some()).map(|axis| axis.name.as_str())
    }

    /// Returns the scenario with one rank on each of `cores` cores on each of `nodes` nodes.
    ///
    /// # Errors
    /// Returns the reason if there is no such scenario, such as that it does not fit on the machine.
    pub fn at(self, cores: u32, nodes: u32) -> Result<CheckedScenario, String> {
        if self.followers().next().is_some() {
            return self.followed(cores, nodes).map_err(|faults| faults.to_string());
        }
        let placement = Placement::Packed { ranks_per_node: cores };
        Scenario { ranks: cores * nodes, placement, ..Scenario::clone(&self.case.scenario) }
            .checked()
            .map_err(|faults| faults.to_string())
    }

    fn followed(self, cores: u32, nodes: u32) -> Result<CheckedScenario, Faults> {
        let mut document = self.plan.document().clone();
        let mut set = |path: &str, text: String| {
            document.set(path, &text).map_err(|fault| Document::faults(&document, vec![fault]))
        };
        set(PLACEMENT, format!("Packed(ranks_per_node: {cores})"))?;
        set(RANKS, (cores * nodes).to_string())?;
        let of_nodes = self.plan.axes().any(|axis| axis.path == NODES).then_some(NODES);
        of_nodes.map_or(Ok(()), |path| set(path, nodes.to_string()))?;
        let changed = [PLACEMENT, RANKS].into_iter().chain(of_nodes);
        Ok(Plan::new(document, &[])?.following_base(changed)?.base()?.into_scenario())
    }
}
