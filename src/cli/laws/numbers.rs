//! Numbers on the command line of `parsim laws`.

fn number(text: &str, is_good: impl Fn(f64) -> bool, right: &str) -> Result<f64, String> {
    text.parse().ok().filter(|value| is_good(*value)).ok_or_else(|| format!("give {right}"))
}

pub(super) fn count(text: &str) -> Result<f64, String> {
    number(
        text,
        |value| value >= 1.0 && (value.is_infinite() || value.fract() == 0.0),
        "a whole number of processors from 1 on, or inf",
    )
}

pub(super) fn time(text: &str) -> Result<f64, String> {
    number(text, |value| value.is_finite() && value >= 0.0, "seconds, from 0 on")
}

pub(super) fn positive(text: &str) -> Result<f64, String> {
    number(text, |value| value.is_finite() && value > 0.0, "a number above 0")
}

pub(super) fn fraction(text: &str) -> Result<f64, String> {
    number(text, |value| (0.0..=1.0).contains(&value), "a number from 0 to 1")
}

pub(super) fn between(text: &str) -> Result<f64, String> {
    let held = text.parse().ok().filter(|held: &f64| *held > 0.0 && *held < 1.0);
    held.ok_or_else(|| "give a number above 0 and below 1".to_owned())
}

pub(super) fn links(text: &str) -> Result<f64, String> {
    whole(text, "a number of links from 1 on")
}

pub(super) fn packets(text: &str) -> Result<f64, String> {
    whole(text, "a number of packets from 1 on")
}

fn whole(text: &str, right: &str) -> Result<f64, String> {
    text.parse::<u32>().ok().filter(|value| *value > 0).map(f64::from).ok_or_else(|| format!("give {right}"))
}
