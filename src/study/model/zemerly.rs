//! Two models of the parallel Gauss-Jordan time of CS-RR-281 (Zemerly, Papay, Nudd 1995: *Characterisation based
//! bottleneck analysis of parallel systems*, University of Warwick).
//!
//! - [`as_written`] evaluates the report's equations with its published coefficients, for any number of equations and
//!   any mesh. Nothing is fitted to p > 1. Its results differ from those that the report tabulates.
//! - [`as_printed`] returns the columns *predicted* of the report's Tables 3 and 4 and the communication rows of its
//!   Table 5, for the published n and p only.
//!
//! The two differ because the report did not compute what it states. Reconstructed from the tables: the neighbour
//! broadcast lacks the factor N of equation 11; rows were distributed and collected with one message per row, not one
//! per block as the lengths under equation 14 imply; and `T_x` in equation 11 still contains `T_I/O`, which is
//! therefore counted 1 + 1/p times.
//!
//! # Constants that are calibrated, not derived
//!
//! [`as_printed`] needs five numbers per p that were fitted to the printed cells and that no property of an r × c mesh
//! explains: the distance sum D, the number of messages K of the neighbour broadcast, the link initialisation `T_cini`,
//! and a and b of the naive broadcast. The extra initialisation of the naive program, `c(p) = 1270 µs · p (p − 4) / 4`,
//! fits every p but has no derivation (and is negative at p = 2). D, K and `T_cini` determine seven cells per p and are
//! evidence for the form of the sum; a and b determine three and are little more than an interpolation. `T_x` is
//! calibrated per n within its printed digits.
//!
//! # Symbols
//!
//! N equations (an N × N matrix and a right-hand side), p processors, `l` bytes, `d` hops.
//! Elements have 8 bytes. Times are in seconds.

mod components;

pub use components::{RSUB_WORDS_PER_FLOP, place};

use super::input_output::InputOutput;
use super::point_to_point::PointToPoint;

/// The time to initialise one link, in seconds (CS-RR-281, section 3.2: 1270 µs).
const LINK_INITIALISATION_S: f64 = 1270e-6;
const ELEMENT_BYTES: f64 = 8.0;
const NETWORK: PointToPoint = PointToPoint::PARSYTEC_SUPERCLUSTER;
const DISK: InputOutput = InputOutput::PARSYTEC_SUPERCLUSTER;

/// The terms for the broadcast of a pivot row by its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BroadcastTerms {
    /// One message to every other processor (equation 14; Table 3).
    Naive,
    /// Messages between neighbours only (equation 15; Tables 4 and 5).
    Neighbour,
}

/// A mesh of r × c processors, without wrap-around.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mesh {
    rows: u32,
    columns: u32,
}

impl Mesh {
    /// Creates a mesh of `rows` × `columns` processors.
    ///
    /// # Panics
    ///
    /// If either is zero.
    #[must_use]
    pub const fn new(rows: u32, columns: u32) -> Self {
        assert!(rows > 0 && columns > 0, "a mesh has at least one processor");
        Self { rows, columns }
    }

    /// Returns p = r c.
    #[must_use]
    pub fn processors(&self) -> f64 {
        f64::from(self.rows) * f64::from(self.columns)
    }

    /// Returns r (c − 1) + c (r − 1), with each link counted once for both directions.
    #[must_use]
    pub fn links(&self) -> f64 {
        let (rows, columns) = (f64::from(self.rows), f64::from(self.columns));
        rows * (columns - 1.0) + columns * (rows - 1.0)
    }

    /// Returns the mean number of neighbours of a processor: 2 links / p.
    #[must_use]
    pub fn mean_neighbours(&self) -> f64 {
        2.0 * self.links() / self.processors()
    }

    /// Returns the sum of the distances from one processor to all others, in hops, averaged over all processors: p ((r²
    /// − 1) / 3r + (c² − 1) / 3c).
    #[must_use]
    pub fn mean_distance_sum(&self) -> f64 {
        self.processors() * (mean_line_distance(self.rows) + mean_line_distance(self.columns))
    }
}

/// Returns the mean distance of two independent positions on a line of k positions: (k² − 1) / 3k.
fn mean_line_distance(places: u32) -> f64 {
    let k = f64::from(places);
    (k * k - 1.0) / (3.0 * k)
}

/// A predicted execution time and its components, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The computation on one processor, (`T_x` − `T_I/O`) / p: Tproc + Tmem in Table 5.
    pub computation_s: f64,
    /// The parts of the computation. The report has them for N = 256 only.
    pub computation_shares: Option<ComputationShares>,
    /// The initialisation of the links: Tcini in Table 5.
    pub initialisation_s: f64,
    /// The distribution of the rows from processor 0: Tdist in Table 5.
    pub distribution_s: f64,
    /// The broadcast of all pivot rows: Tbroad in Table 5.
    pub broadcast_s: f64,
    /// The collection of the solution at processor 0: Tcol in Table 5.
    pub collection_s: f64,
    /// Reading the system: Tinp in Table 5.
    pub input_s: f64,
    /// Writing the solution: Tout in Table 5.
    pub output_s: f64,
    /// `T_I/O` / p, which the printed predictions count a second time for p > 1. It is not in Table 5, whose rows
    /// therefore do not sum to Txp. It is zero in the equations as written.
    pub repeated_input_output_s: f64,
    /// The sum of all components: Txp in Table 5.
    pub total_s: f64,
}

impl Prediction {
    /// Returns `T_tcom = T_init + T_dist + T_coll + Σ T_com`: Tcom in Table 5.
    ///
    /// The available text numbers this equation (5), like the input time; its place is (3).
    #[must_use]
    pub fn communication_s(&self) -> f64 {
        self.initialisation_s + self.distribution_s + self.broadcast_s + self.collection_s
    }

    /// Returns input and output: Ti/o in Table 5.
    #[must_use]
    pub fn input_output_s(&self) -> f64 {
        self.input_s + self.output_s
    }

    /// Returns a prediction with computation, input and output only.
    fn without_communication(n: u32, computation_s: f64) -> Self {
        Self {
            computation_s,
            computation_shares: (n == 256).then(|| ComputationShares::of(computation_s)),
            initialisation_s: 0.0,
            distribution_s: 0.0,
            broadcast_s: 0.0,
            collection_s: 0.0,
            input_s: input_s(n),
            output_s: output_s(n),
            repeated_input_output_s: 0.0,
            total_s: 0.0,
        }
    }

    /// Sets `total_s` to the sum of the components.
    fn summed(mut self) -> Self {
        self.total_s =
            self.computation_s + self.communication_s() + self.input_output_s() + self.repeated_input_output_s;
        self
    }
}

/// The parts of a computation, in the proportions of CS-RR-281, Table 5 (N = 256, p = 1). They are the same at every p
/// because the machine has no cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComputationShares {
    /// The floating-point unit (Tfpu).
    pub fpu_s: f64,
    /// The rest of the processor (Tcpu).
    pub cpu_s: f64,
    /// External memory (Texm).
    pub external_memory_s: f64,
    /// Internal memory (Tinm).
    pub internal_memory_s: f64,
}

impl ComputationShares {
    const TABLE_5: Self = Self { fpu_s: 12.34, cpu_s: 19.75, external_memory_s: 33.16, internal_memory_s: 7.04 };

    /// Returns the processing time Tproc = Tfpu + Tcpu.
    #[must_use]
    pub fn processing_s(&self) -> f64 {
        self.fpu_s + self.cpu_s
    }

    /// Returns the memory time Tmem = Texm + Tinm.
    #[must_use]
    pub fn memory_s(&self) -> f64 {
        self.external_memory_s + self.internal_memory_s
    }

    /// Returns the parts of one inner iteration, `a[i][j] -= f a[k][j]`: Table 5 (N = 256, p = 1) divided by the (N −
    /// 1)² N / 2 iterations.
    #[must_use]
    pub fn inner_iteration() -> Self {
        const ITERATIONS: f64 = 255.0 * 255.0 * 256.0 / 2.0;
        Self::TABLE_5.scaled(1.0 / ITERATIONS)
    }

    fn of(computation_s: f64) -> Self {
        Self::TABLE_5.scaled(computation_s / (Self::TABLE_5.processing_s() + Self::TABLE_5.memory_s()))
    }

    fn scaled(self, scale: f64) -> Self {
        Self {
            fpu_s: self.fpu_s * scale,
            cpu_s: self.cpu_s * scale,
            external_memory_s: self.external_memory_s * scale,
            internal_memory_s: self.internal_memory_s * scale,
        }
    }
}

/// Evaluates the equations as the report states them, for `n` equations on `mesh`:
/// `T_xp = (T_x − T_I/O) / p + T_init + T_dist + N T_broad + T_coll + T_I/O`
/// (CS-RR-281, equations 7 and 11 with `T_s` = `T_po` = 0 and `U_p` = 1).
///
/// - `T_x`: see [`sequential_s`]. Equation 11 divides all of `T_x` by p and adds `T_I/O` again. By equation 7 only
///   the parallel part is divided, so `T_I/O` is subtracted first.
/// - `T_init` = 1270 µs per link. Equation 11 omits it; section 3.2 and Table 5 have it.
/// - `T_dist`, `T_coll`: one message per processor of `l` = (N/p)(N+1) 8 and (N/p) 8 bytes (equations 12 and 13).
///   They are printed as sums of p terms; p − 1 are correct, since processor 0 keeps its block.
/// - `T_broad`: see [`BroadcastTerms`], with `l` = (N+1) 8. Equation 14 also has one term too many. For equation 15,
///   it is the mean number of mesh neighbours times `T_com(l, 1)`.
///
/// Distances are means over the mesh, because the report states neither its shape nor the position of processor 0. If p
/// does not divide N, N/p is the mean block.
#[must_use]
pub fn as_written(n: u32, mesh: Mesh, broadcast: BroadcastTerms) -> Prediction {
    let p = mesh.processors();
    let block = f64::from(n) / p;
    let to_all_s = |bytes| one_to_all_s(bytes, p - 1.0, mesh.mean_distance_sum());
    let broadcast_s = match broadcast {
        BroadcastTerms::Naive => to_all_s(row_bytes(n)),
        BroadcastTerms::Neighbour => mesh.mean_neighbours() * NETWORK.time_s(row_bytes(n), 1.0),
    };
    let computation_s = (sequential_s(n) - input_output_s(n)) / p;
    Prediction {
        initialisation_s: mesh.links() * LINK_INITIALISATION_S,
        distribution_s: to_all_s(block * row_bytes(n)),
        broadcast_s: f64::from(n) * broadcast_s,
        collection_s: to_all_s(block * ELEMENT_BYTES),
        ..Prediction::without_communication(n, computation_s)
    }
    .summed()
}

/// Returns `T_x(N)`, the time on one processor with input and output, in seconds.
///
/// - N = 128, 256, 512: the printed predictions at p = 1, 9.51, 74.26 and 586.94 (CS-RR-281,
///   Tables 3 and 4). Printed for N = 512 is 586.52; right is 586.92 to 586.97, as all other
///   predictions for N = 512 need.
/// - Other N: 8.641 µs · N (N − 1)² / 2 + 5.5 µs · N² + `T_I/O(N)`, a fit to these three; it gives
///   9.507, 74.251 and 586.915, so it does not replace them.
#[must_use]
pub fn sequential_s(n: u32) -> f64 {
    match n {
        128 => 9.51,
        256 => 74.26,
        512 => 586.94,
        _ => fitted_sequential_s(n),
    }
}

/// Returns the prediction that the report prints, or `None` outside its tables: `n` is 128, 256 or 512 and `p` a power
/// of two from 1 to 128.
///
/// - p = 1: `T_x` itself, 9.5119, 74.2693 and 586.9422 s (printed for N = 512: 586.52, see
///   [`sequential_s`]).
/// - p > 1: `T_xp = T_x / p + T_I/O + T_init + T_dist + T_bc + T_coll`, with `l` = 8 (N + 1),
///   `T_dist = (N/p) ((p − 1)(α2 + β2 l) + D (γ2 + δ2 l))`,
///   `T_coll = (N/p) ((p − 1)(α1 + 8 β1) + D (γ1 + 8 δ1))`,
///   neighbour: `T_init = T_cini`, `T_bc = K T_com(l, 1)`,
///   naive: `T_init = T_cini + c`, `T_bc = N (a + b l)`.
///
/// Source: reconstruction from CS-RR-281, Tables 2 to 5. The documentation of the module lists the calibrated
/// constants. The report truncates digits instead of rounding them.
#[must_use]
pub fn as_printed(n: u32, p: u32, broadcast: BroadcastTerms) -> Option<Prediction> {
    let computation_s = (calibrated_sequential_s(n)? - input_output_s(n)) / f64::from(p);
    let alone = Prediction::without_communication(n, computation_s);
    match p {
        1 => Some(alone.summed()),
        _ => Some(PrintedConstants::at(p)?.extend(alone, n, broadcast).summed()),
    }
}

/// The constants of [`as_printed`] for one p.
struct PrintedConstants {
    processors: u32,
    /// D: the sum of the distances from processor 0, in hops.
    distance_sum: f64,
    /// K: the number of neighbour messages of all broadcasts together.
    neighbour_messages: f64,
    /// `T_cini`: the initialisation of the links, in seconds.
    initialisation_s: f64,
    /// a: the constant part of the naive broadcast of one row, in seconds.
    naive_s: f64,
    /// b: the naive broadcast of one row, in seconds per byte.
    naive_s_per_byte: f64,
}

impl PrintedConstants {
    const TABLE: [Self; 7] = [
        Self::new(2, 0.911, 1.925, 0.00146, 84.98e-6, 0.93175e-6),
        Self::new(4, 2.779, 8.889, 0.00449, 114.5e-6, 3.56035e-6),
        Self::new(8, 10.031, 22.736, 0.0134, 170.13e-6, 10.12904e-6),
        Self::new(16, 29.079, 57.782, 0.0339, 424.74e-6, 23.15885e-6),
        Self::new(32, 73.287, 131.096, 0.07031, 898.23e-6, 57.8534e-6),
        Self::new(64, 248.366, 278.977, 0.17719, 2844.61e-6, 127.80267e-6),
        Self::new(128, 566.268, 581.072, 0.49696, 6311.43e-6, 285.51926e-6),
    ];

    const fn new(
        processors: u32,
        distance_sum: f64,
        neighbour_messages: f64,
        initialisation_s: f64,
        naive_s: f64,
        naive_s_per_byte: f64,
    ) -> Self {
        Self { processors, distance_sum, neighbour_messages, initialisation_s, naive_s, naive_s_per_byte }
    }

    fn at(processors: u32) -> Option<&'static Self> {
        Self::TABLE.iter().find(|c| c.processors == processors)
    }

    /// Adds the components that exist only for p > 1 to `alone`.
    fn extend(&self, alone: Prediction, n: u32, broadcast: BroadcastTerms) -> Prediction {
        let p = f64::from(self.processors);
        let block = f64::from(n) / p;
        let to_all_s = |bytes| block * one_to_all_s(bytes, p - 1.0, self.distance_sum);
        Prediction {
            initialisation_s: self.initialisation_s(broadcast),
            distribution_s: to_all_s(row_bytes(n)),
            broadcast_s: self.broadcast_s(n, broadcast),
            collection_s: to_all_s(ELEMENT_BYTES),
            repeated_input_output_s: input_output_s(n) / p,
            ..alone
        }
    }

    fn initialisation_s(&self, broadcast: BroadcastTerms) -> f64 {
        let p = f64::from(self.processors);
        match broadcast {
            BroadcastTerms::Naive => self.initialisation_s + LINK_INITIALISATION_S * p * (p - 4.0) / 4.0,
            BroadcastTerms::Neighbour => self.initialisation_s,
        }
    }

    fn broadcast_s(&self, n: u32, broadcast: BroadcastTerms) -> f64 {
        let bytes = row_bytes(n);
        match broadcast {
            BroadcastTerms::Naive => f64::from(n) * (self.naive_s + self.naive_s_per_byte * bytes),
            BroadcastTerms::Neighbour => self.neighbour_messages * NETWORK.time_s(bytes, 1.0),
        }
    }
}

/// Returns `Σ T_com(l, d_i)` over the receivers of one message each, in seconds. By the linearity of equation 4 in d,
/// this is receivers · `T_com(l, mean d)`.
fn one_to_all_s(bytes: f64, receivers: f64, distance_sum: f64) -> f64 {
    if receivers > 0.0 { receivers * NETWORK.time_s(bytes, distance_sum / receivers) } else { 0.0 }
}

/// Returns the length of a row of the matrix with its right-hand side: 8 (N + 1) bytes.
fn row_bytes(n: u32) -> f64 {
    ELEMENT_BYTES * (f64::from(n) + 1.0)
}

/// Returns `T_input` of 8 N (N + 1) bytes, in seconds. The length is inferred from the report's Table 4.
fn input_s(n: u32) -> f64 {
    DISK.input_s(f64::from(n) * row_bytes(n))
}

/// Returns `T_output` of 8 N bytes, in seconds. The length is inferred from the report's Table 4.
fn output_s(n: u32) -> f64 {
    DISK.output_s(f64::from(n) * ELEMENT_BYTES)
}

fn input_output_s(n: u32) -> f64 {
    input_s(n) + output_s(n)
}

fn fitted_sequential_s(n: u32) -> f64 {
    let order = f64::from(n);
    let updates = order * (order - 1.0).powi(2) / 2.0;
    8.641e-6 * updates + 5.5e-6 * order * order + input_output_s(n)
}

fn calibrated_sequential_s(n: u32) -> Option<f64> {
    match n {
        128 => Some(9.5119),
        256 => Some(74.2693),
        512 => Some(586.9422),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
