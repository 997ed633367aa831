//! The machines of `scenarios/machines`, built into the library. The folder `shipped` holds links to these files, so
//! that they are part of the package.
//!
//! ```
//! use parsim_study::machines;
//! use parsim_study::prelude::*;
//!
//! let machine = machines::parsytec_supercluster_t800();
//! assert_eq!(machine.network.topology.nodes(), 128);
//! let trace = Simulation::new(&machine, 2)?.run(&async |me: Process| match me.rank() {
//!     0 => me.send(1, Message::new(120)).await,
//!     _ => drop(me.receive(0).await),
//! })?;
//! assert_eq!(trace.counts.messages, 1);
//! # Ok::<(), SimulationError>(())
//! ```

use super::check::read_part;
use super::machine_form::MachineForm;
use super::source::Document;
use parsim_sim::Machine;

macro_rules! files {
    ($($folder:literal: $($name:literal),+;)+) => {
        /// The shipped files that describe machines, and the files that they include, by file name.
        const FILES: &[(&str, &str)] = &[$($((
            concat!($name, ".ron"),
            include_str!(concat!("shipped/", $folder, "/", $name, ".ron")),
        )),+),+];
    };
}

files! {
    "machines":
        "bwforcluster", "bwforhlr1", "bwgrid", "bwunicluster", "fugaku", "fugaku-all-lengths", "hopper", "ideal-hypercube", "ideal-torus", "leonardo", "loggopsim-default", "marenostrum5", "parsytec-gcel-512",
        "parsytec-supercluster-t800", "parsytec-supercluster-t800-kernels", "router-network", "small-cluster", "trestles";
    "processors": "t800-20", "t805-30";
    "kernels":
        "add", "axpy", "buf", "dot", "inv", "modules", "norm", "rsub-pointer-table", "rsub-row-pointers", "set";
}

macro_rules! machines {
    ($($(#[$doc:meta])+ $name:ident = $file:literal;)+) => {
        $(
            $(#[$doc])+
            ///
            /// # Panics
            /// Never: the tests read every description.
            #[must_use]
            pub fn $name() -> Machine {
                read($file)
            }
        )+

        /// All shipped machines: the name of each file without `.ron`, and its function.
        pub const ALL: &[(&str, fn() -> Machine)] = &[$(($file, $name as fn() -> Machine)),+];
    };
}

machines! {
    /// bwForCluster, after Kredel, Kruse and Richling (2015).
    bwforcluster = "bwforcluster";
    /// bwForHLR I, after Kredel, Kruse and Richling (2015).
    bwforhlr1 = "bwforhlr1";
    /// bwGRiD, after Kredel, Kruse and Richling (2015).
    bwgrid = "bwgrid";
    /// bwUniCluster, after Kredel, Kruse and Richling (2015).
    bwunicluster = "bwunicluster";
    /// Fugaku: a job of 8 × 8 × 8 nodes, its rings folded over the 6-D network.
    fugaku = "fugaku";
    /// Fugaku, calibrated on measurements of all lengths; described in validation/fugaku-all-lengths/README.md.
    fugaku_all_lengths = "fugaku-all-lengths";
    /// Hopper, a Cray XE6: a torus of 17 × 8 × 24 Gemini routers with 48 cores each.
    hopper = "hopper";
    /// A hypercube for comparisons with closed forms: a message to a neighbour takes `t_s + m t_w`, everything else no
    /// time.
    ideal_hypercube = "ideal-hypercube";
    /// A torus for comparisons with closed forms: a message to a neighbour takes `t_s + m t_w`, everything else no
    /// time.
    ideal_torus = "ideal-torus";
    /// The Booster partition of Leonardo, from public constants; described in
    /// validation/measured-collectives/marenostrum5.md.
    leonardo = "leonardo";
    /// `MareNostrum` 5, general purpose partition, calibrated on measured collectives
    /// (validation/measured-collectives/marenostrum5.md).
    marenostrum5 = "marenostrum5";
    /// The cluster that LogGOPSim simulates by default, described by the LogGOPS model.
    loggopsim_default = "loggopsim-default";
    /// A Parsytec `GCel` of 512 T805 transputers at 30 MHz.
    parsytec_gcel_512 = "parsytec-gcel-512";
    /// The Parsytec `SuperCluster` of 128 T800 transputers of CS-RR-281, with measured times of its modules.
    parsytec_supercluster_t800 = "parsytec-supercluster-t800";
    /// The machine of [`parsytec_supercluster_t800`], with its modules timed instruction by instruction.
    parsytec_supercluster_t800_kernels = "parsytec-supercluster-t800-kernels";
    /// 64 nodes without software costs, on links that transfer one byte per nanosecond.
    router_network = "router-network";
    /// 16 nodes of 8 cores below a fat tree of switches. The numbers are invented.
    small_cluster = "small-cluster";
    /// Trestles of the San Diego Supercomputer Center: 324 nodes of 32 cores below an InfiniBand fat tree.
    trestles = "trestles";
}

/// Reads the shipped machine `name`.
fn read(name: &str) -> Machine {
    let text = with_files(&format!("{name}.ron"));
    let document = Document::from_text(name, &text).unwrap_or_else(|faults| panic!("{faults}"));
    read_part::<MachineForm>(&document).unwrap_or_else(|faults| panic!("{faults}")).into()
}

/// Returns the text of a shipped file without its comments, with every `File("…")` replaced by the text of that file.
fn with_files(name: &str) -> String {
    let (_, text) = FILES.iter().find(|(file, _)| *file == name).expect("a shipped file");
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with("//")).collect();
    let text = lines.join("\n");
    let mut parts = text.split("File(\"");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (path, rest) = part.split_once("\")").expect("the end of a File");
        whole += &with_files(path.rsplit('/').next().unwrap_or(path));
        whole += rest;
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    #[test]
    fn every_shipped_machine_is_that_of_its_file() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/machines");
        for (name, machine) in ALL {
            let file = folder.join(name).with_extension("ron");
            assert_eq!(machine(), crate::load_machine(&file).unwrap_or_else(|faults| panic!("{faults}")), "{name}");
        }
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let files: BTreeSet<_> = files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        assert_eq!(files, ALL.iter().map(|(name, _)| (*name).to_owned()).collect());
    }
}
