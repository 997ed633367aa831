//! Values from the command line.

use super::{Failure, ScenarioArguments};
use parsim_study::answer::Answer;
use parsim_study::experiment::{Level, ScenarioFile, Setting, Shard};
use parsim_study::files::Claims;
use parsim_study::scenario::{Case, Cases, Override, Plan};
use std::num::NonZero;

impl ScenarioArguments {
    /// The files that the command writes and reads: `-o` and the files of `plan`.
    pub fn claims(&self, plan: &Plan) -> Claims {
        self.output.claims().inputs(plan.files())
    }

    /// The scenario with the values of the command line, unfolded along its axes.
    pub fn plan(&self, over: &[Override]) -> Result<Plan, Failure> {
        Ok(self.file(over).plan()?)
    }

    /// The scenario with the values of the command line.
    pub fn file(&self, over: &[Override]) -> ScenarioFile {
        let (path, set) = (self.scenario.clone(), self.set.clone());
        ScenarioFile { path, set, seed: self.seed, over: over.to_vec() }
    }

    /// Prints the answer to the base values of a scenario, or with `--dump-config` these.
    pub fn answer(
        &self,
        claims: impl FnOnce(Claims) -> Claims,
        answer: impl FnOnce(&Plan, &Case) -> Result<Answer, Failure>,
    ) -> Result<(), Failure> {
        let plan = self.plan(&[])?;
        let case = plan.base()?;
        if self.dump_config {
            return self.output.write(format_args!("{}\n", case.scenario.to_ron()));
        }
        claims(self.claims(&plan)).check()?;
        self.output.print(answer(&plan, &case)?)
    }

    /// Writes the resolved scenarios of all cases with `--dump-config`; whether it has.
    pub fn dumps(&self, cases: &Cases<'_>) -> Result<bool, Failure> {
        if !self.dump_config {
            return Ok(false);
        }
        let mut output = self.output.raw()?;
        for point in cases.points() {
            if cases.holds(point)? {
                output.words(format_args!("{}\n", cases.case(point)?.scenario.to_ron()))?;
            }
        }
        output.finish().map(|()| true)
    }
}

/// Reads the level of intervals, in percent.
pub fn level(text: &str) -> Result<Level, String> {
    let percent = text.parse().ok().and_then(Level::of_percent);
    percent.ok_or_else(|| format!("give whole percents from {} to {}", Level::BOUNDS.0, Level::BOUNDS.1))
}

/// Reads `PATH=VALUE`.
pub fn setting(text: &str) -> Result<Setting, String> {
    split(text).map(|(path, value)| (path.to_owned(), value.to_owned())).ok_or_else(|| "write path=value".to_owned())
}

/// Reads `NAME=V1,V2,…`.
pub fn over(text: &str) -> Result<Override, String> {
    let over = split(text).map(|(name, values)| Override { name: name.to_owned(), values: list(values) });
    let over = over.ok_or_else(|| "write name=v1,v2".to_owned())?;
    match over.values.iter().position(|value| value.trim().is_empty()) {
        Some(index) => Err(format!("value {} is empty: write name=v1,v2", index + 1)),
        None => Ok(over),
    }
}

/// Reads the shard that is meant, by its number or by what the engine of an array says.
pub fn shard(text: &str) -> Result<Shard, String> {
    Shard::read_or_ask(text, |name| std::env::var(name).ok())
}

/// Reads a number of threads.
pub fn jobs(text: &str) -> Result<NonZero<usize>, String> {
    text.parse().map_err(|_| "give a number from 1 on".to_owned())
}

fn split(text: &str) -> Option<(&str, &str)> {
    text.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty())
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
        assert!(over("p=1,,2").unwrap_err().starts_with("value 2 is empty"));
        assert_eq!(list("Shape(rows: 2, columns: 3),Whole"), ["Shape(rows: 2, columns: 3)", "Whole"]);
    }
}
