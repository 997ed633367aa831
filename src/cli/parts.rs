//! Parts of machines that machines do not have.

use parsim_sim::machine::Submachine;
use parsim_study::scenario::CheckedScenario;
use std::collections::BTreeSet;

/// The number of parts that are named.
const MOST_SHOWN: usize = 3;

/// The parts simulated in a command's cases that their machines do not have, in words.
#[derive(Debug, Default)]
pub struct MissingParts(BTreeSet<String>);

impl MissingParts {
    /// Those of `scenarios`.
    pub fn of<'s>(scenarios: impl IntoIterator<Item = &'s CheckedScenario>) -> Self {
        let mut missing = Self::default();
        for scenario in scenarios {
            missing.see(scenario);
        }
        missing
    }

    /// Adds the part of a case, if it does not exist.
    pub fn see(&mut self, scenario: &CheckedScenario) {
        let part = part(scenario);
        if !part.exists() {
            self.0.insert(part.to_string());
        }
    }

    /// The parts, in a sentence, if there are any.
    pub fn note(&self) -> Option<String> {
        let shown = self.0.iter().take(MOST_SHOWN).cloned().collect::<Vec<_>>().join("; ");
        let rest = if self.0.len() > MOST_SHOWN { "; …" } else { "" };
        (!self.0.is_empty()).then(|| {
            format!("warning: simulated: {shown}{rest}. `partition: Whole` takes the machine as it is described")
        })
    }
}

/// The part of the machine that a scenario gets.
pub fn part(scenario: &CheckedScenario) -> Submachine {
    Submachine::new(&scenario.machine.network.topology, &scenario.layout())
}
