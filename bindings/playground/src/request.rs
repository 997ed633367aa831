//! What a page may ask.

use serde::Deserialize;

/// A request.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum Request {
    /// The shipped scenarios: their names and texts.
    Scenarios,
    /// The faults of a scenario.
    Check(Question),
    /// The base values of a scenario.
    Run(Question),
    /// Every case of its axes.
    Sweep(Question),
    /// The ranks against the time.
    SpaceTime(Question),
    /// The run as data of a moving picture.
    Animation(Question),
    /// The network with the utilization of every link.
    HeatMap(Question),
    /// Every constant of the machine and every number of the program, for sliders.
    Constants(Question),
}

/// A scenario, with the values that replace its own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The name of the scenario in faults.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Base values by their paths, as `--set` has them.
    #[serde(default)]
    pub set: Vec<(String, String)>,
    /// Axes and their values, as `--over` has them.
    #[serde(default)]
    pub over: Vec<(String, Vec<String>)>,
    /// The seed in the place of that of the scenario.
    #[serde(default)]
    pub seed: Option<u64>,
}
