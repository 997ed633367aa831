//! Values from the command line.

use super::files::Claims;
use super::{Failure, OutputArguments, ScenarioArguments};
use parsim_sim::network::Topology;
use parsim_study::scenario::source::Document;
use parsim_study::scenario::{Override, Plan, complete_topology};
use std::path::Path;

impl ScenarioArguments {
    /// Those with which a command reads a scenario that it is given in its own way.
    pub fn of(scenario: &Path, set: &[String], seed: Option<u64>) -> Self {
        let output = OutputArguments::default();
        Self { scenario: scenario.to_owned(), set: set.to_vec(), seed, output, dump_config: false }
    }

    /// The files that the command writes and reads: `-o` and the files of `plan`.
    pub fn claims(&self, plan: &Plan) -> Claims {
        self.output.claims().inputs(plan.files())
    }

    /// The scenario with the values of the command line, unfolded along its axes.
    pub fn plan(&self, overs: &[String]) -> Result<Plan, Failure> {
        let span = tracing::info_span!("parse", scenario = %self.scenario.display()).entered();
        let mut document = Document::load(&self.scenario)?;
        set_all(&mut document, &self.set)?;
        let mut overrides = Vec::new();
        for over in overs {
            let (name, values) = split(over, "--over", "name=v1,v2")?;
            overrides.push(Override { name: name.to_owned(), values: list(values) });
        }
        if let Some(seed) = self.seed {
            replace_seed(seed, &mut document, &mut overrides)?;
        }
        drop(span);
        Ok(Plan::new(document, &overrides)?.with_settings(settings(&self.set)?))
    }
}

/// A seed replaces the base value, and the values of an axis that varies it.
fn replace_seed(seed: u64, document: &mut Document, overrides: &mut Vec<Override>) -> Result<(), Failure> {
    let text = seed.to_string();
    document.set("seed", &text).map_err(|fault| document.faults(vec![fault]))?;
    let declared = declared_over_seeds(document);
    if overrides.iter().any(|over| over.name == "seed" || declared.contains(&over.name)) {
        return Err(Failure::Usage(format!("--seed {seed} and --over both give the seed: give one of them")));
    }
    overrides.extend(declared.into_iter().map(|name| Override { name, values: vec![text.clone()] }));
    Ok(())
}

/// The names of the declared axes over the seed.
fn declared_over_seeds(document: &Document) -> Vec<String> {
    let axes = (0..).map_while(|index| {
        let path = document.get(&format!("axes.{index}.path"))?;
        Some((index, matches!(&path.node, parsim_study::scenario::source::TreeValue::Text(path) if path == "seed")))
    });
    let over_seeds = axes.filter(|(_, is_over_seeds)| *is_over_seeds);
    over_seeds.filter_map(|(index, _)| document.read_at(&format!("axes.{index}.name")).ok()).collect()
}

/// The path and text of every `--set path=value`.
pub fn settings(settings: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let parts = |setting: &String| {
        split(setting, "--set", "path=value").map(|(path, value)| (path.to_owned(), value.to_owned()))
    };
    settings.iter().map(parts).collect()
}

/// Applies every `--set path=value`.
pub fn set_all(document: &mut Document, settings: &[String]) -> Result<(), Failure> {
    for (path, value) in self::settings(settings)? {
        let before = document.read_at::<Topology>(&path).ok();
        document
            .set(&path, &value)
            .and_then(|()| complete_topology(document, &path, &value, before.as_ref()))
            .map_err(|fault| document.faults(vec![fault]))?;
    }
    Ok(())
}

fn split<'t>(text: &'t str, option: &str, form: &str) -> Result<(&'t str, &'t str), Failure> {
    let parts = text.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty());
    parts.ok_or_else(|| Failure::Usage(format!("`{option} {text}`: write {option} {form}")))
}

/// Values between commas; commas within parentheses, brackets or quotes belong to a value.
fn list(values: &str) -> Vec<String> {
    let (mut depth, mut quoted) = (0i32, false);
    let mut list = vec![String::new()];
    for character in values.chars() {
        match character {
            '"' => quoted = !quoted,
            '(' | '[' if !quoted => depth += 1,
            ')' | ']' if !quoted => depth -= 1,
            ',' if depth == 0 && !quoted => {
                list.push(String::new());
                continue;
            }
            _ => {}
        }
        list.last_mut().expect("the list is never empty").push(character);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_inside_a_value_do_not_separate() {
        assert_eq!(list("1,2"), ["1", "2"]);
        assert_eq!(list("Shape(rows: 2, columns: 3),Whole"), ["Shape(rows: 2, columns: 3)", "Whole"]);
    }
}
