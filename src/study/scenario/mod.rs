//! Scenarios: a program on a machine, with the axes along which both are varied.
//!
//! A scenario is read from RON ([`source`]), checked for every fault that can be found before the run
//! ([`check`](Scenario::check)) and unfolded into cases along its axes ([`Plan`]).

mod axis;
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
pub use check::CheckedScenario;
pub use described::Described;
pub use description::Description;
pub use id::{CaseId, RESULTS};
pub use machine_form::MachineForm;
pub use measurements::Measurements;
pub(crate) use parameter::common_unit;
pub use parameter::{Dimension, Parameter};
pub use repeat::{Repeat, Until};
pub use settings::{SettingGroup, apply_settings};
pub use sweep::{
    Case, CaseCost, CaseCosts, Cases, ColumnFields, Exemplars, Ids, Inspection, Override, Plan, Settings, Similarity,
    assigned,
};

use crate::programs::{Shipped, write_whole_path};
use parsim_sim::engine::Streams;
use parsim_sim::machine::{LogGops, Machine, Partition, Placement};
use parsim_sim::program::BackgroundTraffic;
use parsim_sim::simulation::Limits;
use serde::{Deserialize, Serialize};
use source::{Document, Faults};
use std::path::Path;

/// A scenario: its base values and its axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The machine, usually `File("machines/….ron")`.
    #[serde(deserialize_with = "machine_form::read")]
    #[schemars(with = "MachineForm")]
    pub machine: Machine,
    /// The number of processes.
    pub ranks: u32,
    /// The part of the machine allocated to the ranks. By default a part that fits the ranks.
    #[serde(default)]
    pub partition: Partition,
    /// The placement of the ranks on the nodes of that part.
    pub placement: Placement,
    /// The program to run.
    pub program: Shipped,
    /// Background traffic: messages of other jobs that share the network with the program. None by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<BackgroundTraffic>,
    /// The axes of a sweep. None by default.
    #[serde(default)]
    pub axes: Vec<Axis>,
    /// Groups of axes, by name, that advance together instead of forming a product.
    #[serde(default)]
    pub zip: Vec<Vec<String>>,
    /// An expression over the axes that a case must satisfy, such as `"p <= n"`.
    #[serde(default)]
    pub filter: Option<String>,
    /// The references with which the simulated time is compared.
    #[serde(default)]
    pub compare: Vec<Comparison>,
    /// The seed of all random streams.
    pub seed: u64,
    /// Number of runs, with seeds from `seed` on; more than one adds mean, standard deviation and confidence interval.
    /// Instead of a number, `Until(relative_half_width: 0.01, at_least: 10, at_most: 1000)` runs until the 95 %
    /// confidence interval of the mean is that narrow.
    #[serde(default)]
    pub repeat: Repeat,
    /// The limits of a run.
    #[serde(default)]
    pub limits: Limits,
}

/// A reference with which the simulated time is compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Comparison {
    /// The equations of CS-RR-281 read literally.
    AsWritten,
    /// A reconstruction of the predictions that CS-RR-281 prints; available only where it prints one.
    AsPrinted,
    /// CS-RR-281, equation (4) with Table 2: the time of one message.
    PointToPoint,
    /// CS-RR-281, Table 5 at p = 1: the cycles of one inner iteration by component, compared with those of a `Compute`
    /// of `Rsub` that is timed from kernels.
    InnerIteration,
    /// The hierarchical model of multi-core clusters: the efficiency of a `Characteristic` program by equation (5) of
    /// Kredel, Kruse and Richling (2015), corrected, with the roofline, and as printed.
    Hierarchical,
    /// Measurements: a CSV file with a column for each relevant axis, and `measured_s` for times or `efficiency` for
    /// known efficiencies. The path is relative to the scenario or, on the command line, to the current folder.
    Measured(#[serde(serialize_with = "write_whole_path")] String),
    /// A model of your own: the makespan as a formula, over the axes that are numbers, the parameters of a `Phases`
    /// program, and the number of ranks `p`.
    Formula {
        /// The name of the model in tables, pictures and the key `predicted_NAME_s`.
        name: String,
        /// The time in seconds, such as `"2e-9 * n ^ 3 / p + 5e-6 * log2(p)"` (docs/expressions.md).
        seconds: String,
    },
    /// The same program on one rank. Its makespan over the makespan on all ranks is the relative speedup.
    OneRank,
}

impl Scenario {
    /// Creates a scenario of one case: `ranks` ranks in row-major order on the part of the machine that fits them, with
    /// seed 1.
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

    /// Returns the random streams of the run.
    #[must_use]
    pub const fn streams(&self) -> Streams {
        Streams::new(self.seed)
    }

    /// Returns the resolved scenario as RON: every value that the run uses, including defaults.
    ///
    /// # Panics
    /// Never: RON can express every scenario.
    #[must_use]
    pub fn to_ron(&self) -> String {
        as_ron(self)
    }

    /// Returns the machine as RON, in the form of a machine file: a LogGOPS model by its own constants.
    ///
    /// # Panics
    /// Never: RON can express every machine.
    #[must_use]
    pub fn machine_ron(&self) -> String {
        LogGops::describing(&self.machine).map_or_else(|| as_ron(&self.machine), |model| as_ron(&model))
    }

    /// Returns the resolved scenario as a document whose fields can be changed. Axes are omitted, because an axis may
    /// refer to a field that is not written when it has its default. A machine that is a LogGOPS model has the fields
    /// of the model.
    ///
    /// # Errors
    /// As for [`Document::from_text`].
    ///
    /// # Panics
    /// Never: RON can express every scenario.
    pub fn to_document(&self) -> Result<Document, Faults> {
        let base = Self { axes: Vec::new(), zip: Vec::new(), filter: None, ..self.clone() };
        let mut document = Document::from_text("the resolved scenario", &base.to_ron())?;
        if let Some(model) = LogGops::describing(&self.machine) {
            document.set("machine", &as_ron(&model)).expect("a scenario has a machine");
        }
        Ok(document)
    }
}

/// Returns a value as RON.
///
/// # Panics
/// If RON cannot express it, such as a map with keys that are not texts.
pub(crate) fn as_ron(value: &impl Serialize) -> String {
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
