//! A scenario file, with the values that replace its own.

use super::StudyError;
use crate::scenario::source::{Document, TreeValue};
use crate::scenario::{Override, Plan, apply_settings, assigned};
use std::path::PathBuf;

/// The path of a field, and the text of its value.
pub type Setting = (String, String);

/// Reads `PATH=VALUE`.
///
/// # Errors
/// A text of another form, in words that say what would be right.
pub fn read_setting(text: &str) -> Result<Setting, String> {
    let setting = assigned(text).map(|(path, value)| (path.to_owned(), value.to_owned()));
    setting.ok_or_else(|| "write path=value".to_owned())
}

/// A scenario file, with the values that replace its own.
#[derive(Clone, Debug, Default)]
pub struct ScenarioFile {
    /// The file.
    pub path: PathBuf,
    /// Base values, in the machine file too.
    pub set: Vec<Setting>,
    /// The seed, in the place of its base value and of an axis over it.
    pub seed: Option<u64>,
    /// Axes, or other values of the axes that there are.
    pub over: Vec<Override>,
}

impl ScenarioFile {
    /// The scenario, to be unfolded along its axes.
    ///
    /// # Errors
    /// Faults of the file; values that do not fit; a seed that is given twice.
    pub fn plan(&self) -> Result<Plan, StudyError> {
        let span = tracing::info_span!("parse", scenario = %self.path.display()).entered();
        let document = Document::load(&self.path)?;
        drop(span);
        self.plan_of(document)
    }

    /// The scenario of `document`, which stands for the file, with the other values.
    ///
    /// # Errors
    /// Values that do not fit; a seed that is given twice.
    pub fn plan_of(&self, mut document: Document) -> Result<Plan, StudyError> {
        let span = tracing::info_span!("parse", scenario = %self.path.display()).entered();
        set_all(&mut document, &self.set)?;
        let mut overrides = self.over.clone();
        if let Some(seed) = self.seed {
            if self.set.iter().any(|(path, _)| path == "seed") {
                let message = format!("--seed {seed} and --set both give the seed: give one of them");
                return Err(StudyError::Request(message));
            }
            replace_seed(seed, &mut document, &mut overrides)?;
        }
        drop(span);
        Ok(Plan::new(document, &overrides)?.with_settings(self.set.clone()))
    }
}

/// A seed replaces the base value, and the values of an axis that varies it.
fn replace_seed(seed: u64, document: &mut Document, overrides: &mut Vec<Override>) -> Result<(), StudyError> {
    let text = seed.to_string();
    document.set("seed", &text).map_err(|fault| document.faults(vec![fault]))?;
    let declared = declared_over_seeds(document);
    if overrides.iter().any(|over| over.name == "seed" || declared.contains(&over.name)) {
        return Err(StudyError::Request(format!("--seed {seed} and --over both give the seed: give one of them")));
    }
    overrides.extend(declared.into_iter().map(|name| Override { name, values: vec![text.clone()] }));
    Ok(())
}

/// The names of the declared axes over the seed.
fn declared_over_seeds(document: &Document) -> Vec<String> {
    let axes = (0..).map_while(|index| {
        let path = document.get(&format!("axes.{index}.path"))?;
        Some((index, matches!(&path.node, TreeValue::Text(path) if path == "seed")))
    });
    let over_seeds = axes.filter(|(_, is_over_seeds)| *is_over_seeds);
    over_seeds.filter_map(|(index, _)| document.read_at(&format!("axes.{index}.name")).ok()).collect()
}

/// Replaces base values of a description.
///
/// # Errors
/// A path that leads nowhere, a value that does not fit there, and a change that a later one would undo.
pub fn set_all(document: &mut Document, settings: &[Setting]) -> Result<(), StudyError> {
    Ok(apply_settings(document, settings)?)
}
