//! A scenario file with replacements for its values.

use super::StudyError;
use crate::scenario::source::{Document, Faults, TreeValue};
use crate::scenario::{Override, Plan, SettingGroup, apply_settings, assigned};
use std::path::{Path, PathBuf};

/// The path of a field and the text of its value.
pub type Setting = (String, String);

/// Reads `PATH=VALUE`.
///
/// # Errors
/// Returns a message that states the correct form.
pub fn read_setting(text: &str) -> Result<Setting, String> {
    let setting = assigned(text).map(|(path, value)| (path.to_owned(), value.to_owned()));
    setting.ok_or_else(|| "write path=value".to_owned())
}

/// A scenario file with replacements for its values.
#[derive(Clone, Debug, Default)]
pub struct ScenarioFile {
    /// The path of the file.
    pub path: PathBuf,
    /// Base values to replace, including those in the machine file.
    pub set: Vec<Setting>,
    /// The seed, which replaces both its base value and an axis over it.
    pub seed: Option<u64>,
    /// New axes, or new values for declared axes.
    pub over: Vec<Override>,
    /// The values of a calibration, which replace base values after those of `set`.
    pub calibrated: CalibratedValues,
}

/// Base values from a calibration.
#[derive(Clone, Debug, Default)]
pub struct CalibratedValues {
    /// The option with its file, for diagnostics.
    pub option: String,
    /// The file of the case, to which the names of files in values are relative.
    pub case: PathBuf,
    /// The values.
    pub settings: Vec<Setting>,
}

impl CalibratedValues {
    fn group(&self) -> SettingGroup<'_> {
        SettingGroup { option: &self.option, from: &self.case, settings: &self.settings }
    }

    /// Returns the values in words.
    #[must_use]
    pub fn words(&self) -> String {
        self.settings.iter().map(|(path, value)| format!("{path} = {value}")).collect::<Vec<_>>().join(", ")
    }
}

impl ScenarioFile {
    /// Returns the same scenario with another value of a field, which replaces earlier ones.
    #[must_use]
    pub fn with(&self, setting: Setting) -> Self {
        let mut file = self.clone();
        for earlier in [&mut file.set, &mut file.calibrated.settings] {
            earlier.retain(|(path, _)| *path != setting.0);
        }
        file.set.push(setting);
        file
    }

    /// Returns the same scenario with other calibrated values of some fields.
    #[must_use]
    pub fn with_calibrated(&self, settings: Vec<Setting>) -> Self {
        let mut file = self.clone();
        file.calibrated.settings.retain(|(path, _)| settings.iter().all(|(other, _)| path != other));
        file.calibrated.settings.extend(settings);
        file
    }

    /// Reads what the file describes, with the calibrated values: they belong to the same machine and program. All other
    /// replacements make another one.
    ///
    /// # Errors
    /// Returns the faults of the file, or of calibrated values that do not fit.
    pub fn described(&self) -> Result<Document, Faults> {
        let mut document = Document::load(&self.path)?;
        apply_settings(&mut document, &[self.calibrated.group()])?;
        Ok(document)
    }

    /// Reads the scenario, with its axes.
    ///
    /// # Errors
    /// Returns an error for faults of the file, for values that do not fit, or if the seed is given twice.
    pub fn plan(&self) -> Result<Plan, StudyError> {
        let span = tracing::info_span!("parse", scenario = %self.path.display()).entered();
        let document = Document::load(&self.path)?;
        drop(span);
        self.plan_of(document)
    }

    /// Reads the scenario from `document`, which stands for the file, and applies the replacements.
    ///
    /// # Errors
    /// Returns an error for values that do not fit, or if the seed is given twice.
    pub fn plan_of(&self, mut document: Document) -> Result<Plan, StudyError> {
        let span = tracing::info_span!("parse", scenario = %self.path.display()).entered();
        let calibrated = self.calibrated.group();
        if !calibrated.settings.is_empty() {
            let option = calibrated.option;
            document.suspect(option, &format!("`{option}` sets {}", self.calibrated.words()));
        }
        apply_settings(&mut document, &[typed(&self.set), calibrated])?;
        let mut overrides = self.over.clone();
        if let Some(seed) = self.seed {
            if self.set.iter().any(|(path, _)| path == "seed") {
                return Err(seed_given_twice(seed, "--set"));
            }
            replace_seed(seed, &mut document, &mut overrides)?;
        }
        drop(span);
        let settings = [&self.set[..], calibrated.settings].concat();
        let changed = settings.iter().map(|(path, _)| path.as_str());
        Ok(Plan::new(document, &overrides)?.following_base(changed)?.with_settings(settings))
    }
}

/// Replaces the base value of the seed, and the values of an axis over it.
fn replace_seed(seed: u64, document: &mut Document, overrides: &mut Vec<Override>) -> Result<(), StudyError> {
    let text = seed.to_string();
    document.set("seed", &text).map_err(|fault| document.faults(vec![fault]))?;
    let declared = declared_over_seeds(document);
    if overrides.iter().any(|over| over.name == "seed" || declared.contains(&over.name)) {
        return Err(seed_given_twice(seed, "--over"));
    }
    overrides.extend(declared.into_iter().map(|name| Override { name, values: vec![text.clone()] }));
    Ok(())
}

fn seed_given_twice(seed: u64, other: &str) -> StudyError {
    StudyError::Argument("seed", format!("{seed}: {other} gives the seed, too; give one of them"))
}

/// Returns the names of the declared axes over the seed.
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
/// Returns an error for a path that does not exist, a value that does not fit, or a change that a later one would undo.
pub fn set_all(document: &mut Document, settings: &[Setting]) -> Result<(), StudyError> {
    Ok(apply_settings(document, &[typed(settings)])?)
}

/// Returns values that were typed on the command line.
fn typed(settings: &[Setting]) -> SettingGroup<'_> {
    SettingGroup { option: "--set", from: Path::new(""), settings }
}
