//! A scenario puts a program on a machine and asks a question about it.
//!
//! It is read from RON ([`source`]), checked for everything that can be known before the run
//! ([`check`](Scenario::check)) and unfolded into cases along its axes ([`Plan`]).

mod axis;
mod changes;
mod check;
mod described;
mod description;
mod estimate;
mod id;
mod machine_form;
pub mod machines;
mod measurements;
mod named_topology;
mod parameter;
mod repeat;
mod settings;
pub mod source;
mod sweep;
pub mod table;

pub use axis::{Axis, AxisValue};
pub use changes::ChangedValues;
pub use check::CheckedScenario;
pub use described::Described;
pub use description::Description;
pub use id::{CaseId, RESULTS};
pub use machine_form::MachineForm;
pub use measurements::Measurements;
pub use parameter::{Dimension, Parameter};
pub use repeat::{Repeat, Until};
pub use settings::apply_settings;
pub use sweep::{
    Case, CaseCost, CaseCosts, Cases, Exemplars, Ids, Inspection, Likeness, Override, Plan, Settings, assigned,
};

use crate::programs::Shipped;
use parsim_sim::engine::Streams;
use parsim_sim::machine::{LogGops, Machine, Partition, Placement};
use parsim_sim::program::BackgroundTraffic;
use parsim_sim::simulation::Limits;
use serde::{Deserialize, Serialize};
use source::{Document, Faults};
use std::path::Path;

/// A scenario with its base values and its axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The machine, usually `File("machines/….ron")`.
    #[serde(deserialize_with = "machine_form::read")]
    #[schemars(with = "MachineForm")]
    pub machine: Machine,
    /// The number of processes.
    pub ranks: u32,
    /// The part of the machine that they get; fitted to the ranks unless given.
    #[serde(default)]
    pub partition: Partition,
    /// The placement of ranks on its nodes.
    pub placement: Placement,
    /// The program.
    pub program: Shipped,
    /// Messages of others beside the program; none unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<BackgroundTraffic>,
    /// The axes of a sweep; none unless given.
    #[serde(default)]
    pub axes: Vec<Axis>,
    /// Axes that advance together instead of forming a product, by name.
    #[serde(default)]
    pub zip: Vec<Vec<String>>,
    /// An expression over the axes that a case must satisfy, such as `"p <= n"`.
    #[serde(default)]
    pub filter: Option<String>,
    /// The values to compare with the simulated time.
    #[serde(default)]
    pub compare: Vec<Comparison>,
    /// The seed of all random streams.
    pub seed: u64,
    /// Number of seeds to run, from `seed` on; more than one adds mean, deviation and interval. Or
    /// `Until(relative_half_width: 0.01, at_least: 10, at_most: 1000)`: as many as it takes until the 95 % interval of the mean is that
    /// narrow.
    #[serde(default)]
    pub repeat: Repeat,
    /// The limits of a run.
    #[serde(default)]
    pub limits: Limits,
}

/// Something to set beside the simulated time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Comparison {
    /// The equations of CS-RR-281 read literally.
    AsWritten,
    /// A reconstruction of the printed predictions of CS-RR-281; only where it prints one.
    AsPrinted,
    /// CS-RR-281, equation (4) with Table 2: the time of one message.
    PointToPoint,
    /// CS-RR-281, Table 5 at p = 1: the cycles of one inner iteration by component, beside those of a `Compute`
    /// of `Rsub` that is timed from kernels.
    InnerIteration,
    /// The hierarchical model of multi-core clusters: the efficiency of a `Characteristic` program by equation (5) of
    /// Kredel, Kruse and Richling (2015), corrected, with the roofline, and as printed.
    Hierarchical,
    /// Measurements: a CSV file with a column for each axis that matters, and `measured_s`, or `efficiency` for
    /// efficiencies that are known from elsewhere.
    /// The path is relative to the scenario.
    Measured(String),
    /// The same program on one rank: its makespan over that of all ranks is the relative speedup.
    OneRank,
}

impl Scenario {
    /// A scenario of one case: `ranks` ranks in row-major order on the part of the machine that fits them, seed 1.
    #[must_use]
    pub fn new(machine: Machine, ranks: u32, program: Shipped) -> Self {
        Self {
            machine,
            ranks,
            partition: Partition::default(),
            placement: Placement::RowMajor,
            program,
            background: None,
            axes: Vec::new(),
            zip: Vec::new(),
            filter: None,
            compare: Vec::new(),
            seed: 1,
            repeat: Repeat::default(),
            limits: Limits::default(),
        }
    }

    /// Reads and checks the base values of the scenario in `path`.
    ///
    /// # Errors
    /// All faults of the file, each with its place.
    pub fn load(path: impl AsRef<Path>) -> Result<CheckedScenario, Faults> {
        let document = Document::load(path)?;
        document.read::<Self>()?.check(&document)
    }

    /// The random streams of the run.
    #[must_use]
    pub const fn streams(&self) -> Streams {
        Streams::new(self.seed)
    }

    /// The resolved scenario as RON: every value that the run uses, defaults included.
    ///
    /// # Panics
    /// Never: a scenario consists of what RON can say.
    #[must_use]
    pub fn to_ron(&self) -> String {
        as_ron(self)
    }

    /// The machine as RON, as a file of machines has it: a LogGOPS model by its own constants.
    ///
    /// # Panics
    /// Never: a machine consists of what RON can say.
    #[must_use]
    pub fn machine_ron(&self) -> String {
        LogGops::describing(&self.machine).map_or_else(|| as_ron(&self.machine), |model| as_ron(&model))
    }

    /// The resolved scenario as a document, whose fields can be changed. Axes are left out: a path of theirs may lead to a
    /// field that is not written because it has its default. A machine that is a LogGOPS model has the model's fields.
    ///
    /// # Errors
    /// As [`Document::from_text`].
    ///
    /// # Panics
    /// Never: a scenario consists of what RON can say.
    pub fn to_document(&self) -> Result<Document, Faults> {
        let base = Self { axes: Vec::new(), zip: Vec::new(), filter: None, ..self.clone() };
        let mut document = Document::from_text("the resolved scenario", &base.to_ron())?;
        if let Some(model) = LogGops::describing(&self.machine) {
            document.set("machine", &as_ron(&model)).expect("a scenario has a machine");
        }
        Ok(document)
    }
}

fn as_ron(value: &impl Serialize) -> String {
    let options = ron::Options::default().with_default_extension(ron::extensions::Extensions::UNWRAP_VARIANT_NEWTYPES);
    let pretty = ron::ser::PrettyConfig::new().struct_names(true);
    options.to_string_pretty(value, pretty).expect("a scenario can be written as RON")
}

/// Reads the machine description in `path`.
///
/// # Errors
/// All faults of the file, each with its place.
pub fn load_machine(path: impl AsRef<Path>) -> Result<Machine, Faults> {
    check::read_part::<MachineForm>(&Document::load(path)?).map(Machine::from)
}
