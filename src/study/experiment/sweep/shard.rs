//! Shards: K/N, or the element of a job array that the job engine assigns.

use std::num::NonZero;

/// The variables in which job engines give the number of an array element.
const NUMBERS: [&str; 4] = ["SLURM_ARRAY_TASK_ID", "LSB_JOBINDEX", "PBS_ARRAY_INDEX", "HQ_TASK_ID"];

/// One of several parts of the cases, which cost roughly the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The number of the shard, from 1.
    pub number: u64,
    /// The number of shards.
    pub of: NonZero<u64>,
}

impl Shard {
    /// Reads `K/N`.
    ///
    /// # Errors
    /// Returns a message that states the correct form.
    pub fn read(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=NonZero::get(of)).contains(&number) => Ok(Self { number, of }),
            _ => Err("give K/N with K from 1 to N, such as 1/8".to_owned()),
        }
    }

    /// Reads `K/N`; for `auto` or `auto/N`, takes the shard from the environment variables of the job engine.
    ///
    /// # Errors
    /// Returns a message that states the correct form, or that there is no such array.
    pub fn read_or_ask(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let number = |name: &str| variable(name)?.parse::<u64>().ok();
        match text.strip_prefix("auto") {
            None => Self::read(text),
            Some("") => automatic(number),
            Some(of) => numbered(of.strip_prefix('/').unwrap_or_default(), number),
        }
    }
}

/// Returns the shard of an array element, by its position in the array.
fn automatic(number: impl Fn(&str) -> Option<u64>) -> Result<Shard, String> {
    let slurm = || {
        let step = number("SLURM_ARRAY_TASK_STEP").filter(|step| *step > 0).unwrap_or(1);
        let before = number("SLURM_ARRAY_TASK_ID")?.checked_sub(number("SLURM_ARRAY_TASK_MIN")?)?;
        Some((before / step + 1, number("SLURM_ARRAY_TASK_COUNT")?))
    };
    // LSF sets the index to 0 in a job that is not an array element.
    let lsf = || Some((number("LSB_JOBINDEX").filter(|index| *index > 0)?, number("LSB_JOBINDEX_END")?));
    let (element, of) = slurm().or_else(lsf).ok_or(
        "this is no element of an array: neither SLURM_ARRAY_TASK_ID, _MIN and _COUNT nor LSB_JOBINDEX and _END are set: \
         give K/N or, in arrays of other engines, auto/N",
    )?;
    Shard::read(&format!("{element}/{of}"))
        .map_err(|_| format!("this is element {element} of {of}: give auto/N with the number N of shards"))
}

/// Returns the shard with the number from the job engine, out of the number of shards that the user gives.
fn numbered(of: &str, number: impl Fn(&str) -> Option<u64>) -> Result<Shard, String> {
    let (name, element) = NUMBERS
        .into_iter()
        .find_map(|name| Some((name, number(name)?)))
        .ok_or_else(|| format!("this is no element of an array: none of {} is set: give K/N", NUMBERS.join(", ")))?;
    Shard::read(&format!("{element}/{of}"))
        .map_err(|_| format!("{name} is {element}: give auto/N with elements from 1 to N, such as auto/8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the shard that `text` selects with these variables.
    fn with(text: &str, variables: &[(&str, &str)]) -> Option<(u64, u64)> {
        let variable =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Shard::read_or_ask(text, variable).ok().map(|shard| (shard.number, shard.of.get()))
    }

    #[test]
    fn a_shard_is_one_of_several() {
        for text in ["0/4", "5/4", "1/0", "1", "a/b", "1/2/3", "-1/2"] {
            assert!(Shard::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_element_of_an_array_is_a_shard() {
        let slurm = [("SLURM_ARRAY_TASK_ID", "7"), ("SLURM_ARRAY_TASK_MIN", "5"), ("SLURM_ARRAY_TASK_COUNT", "4")];
        assert_eq!(with("auto", &slurm), Some((3, 4)));
        assert_eq!(with("auto/9", &slurm), Some((7, 9)));
        let stepped = [slurm[0], slurm[1], ("SLURM_ARRAY_TASK_COUNT", "2"), ("SLURM_ARRAY_TASK_STEP", "2")];
        assert_eq!(with("auto", &stepped), Some((2, 2)));
        assert_eq!(with("auto", &[("LSB_JOBINDEX", "2"), ("LSB_JOBINDEX_END", "3")]), Some((2, 3)));
        for name in ["PBS_ARRAY_INDEX", "HQ_TASK_ID"] {
            assert_eq!((with("auto/3", &[(name, "2")]), with("auto", &[(name, "2")])), (Some((2, 3)), None));
        }
    }

    #[test]
    fn what_is_no_element_is_no_shard() {
        for text in ["auto", "auto/3", "auto/", "autos", "auto/x"] {
            assert_eq!(with(text, &[]), None, "{text}");
        }
        assert_eq!(with("auto", &[("LSB_JOBINDEX", "0"), ("LSB_JOBINDEX_END", "0")]), None);
        for (text, number) in [("auto/3", "0"), ("auto/3", "4"), ("auto/0", "1"), ("auto", "1"), ("auto/3", "x")] {
            assert_eq!(with(text, &[("HQ_TASK_ID", number)]), None, "{text} {number}");
        }
        assert_eq!(with("2/3", &[]), Some((2, 3)));
    }
}
