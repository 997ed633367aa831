//! Speeds of single nodes and noise: how much longer or shorter than described their processors take.

use super::{Machine, NodeOverride};
use crate::engine::Streams;
use crate::node::Noise;
use crate::node::processor::{Computation, KernelError, Stopwatch};
use crate::units::SimDuration;
use rand_chacha::ChaCha8Rng;

/// The speeds of all processors, and the noise of all computations.
pub struct SpeedProfile {
    /// The relative speed of the processors of each vertex.
    speeds: Vec<f64>,
    noise: Noise,
    /// The random stream of the noise of each owner of computations.
    rng: Vec<ChaCha8Rng>,
}

impl Machine {
    /// Returns the speed of the processors of each vertex of the part in use, relative to the description.
    #[must_use]
    pub fn speeds(&self, vertices: u32) -> Vec<f64> {
        let mut speeds = vec![1.0; vertices as usize];
        for NodeOverride::NodeSpeed { nodes, factor } in &self.overrides {
            // Nodes of the machine may be outside the part in use.
            for node in nodes.iter().filter(|node| **node < vertices) {
                speeds[*node as usize] *= factor;
            }
        }
        speeds
    }
}

impl SpeedProfile {
    /// Returns the profile of a machine, or `None` if all processors take the time that is described.
    pub fn of(machine: &Machine, vertices: u32, owners: u32, streams: Streams) -> Option<Box<Self>> {
        if machine.overrides.is_empty() && machine.nodes.noise.is_quiet() {
            return None;
        }
        let speeds = machine.speeds(vertices);
        let rng = (0..owners).map(|owner| streams.stream("noise", owner.into())).collect();
        Some(Box::new(Self { speeds, noise: machine.nodes.noise, rng }))
    }

    /// Returns the time of `service` of communication software on `node`.
    pub fn service(&self, node: u32, service: SimDuration) -> SimDuration {
        service.scaled(1.0 / self.speeds[node as usize])
    }

    /// Returns the time on `node` of the rows of the next computation of `owner`.
    pub fn row(&mut self, node: u32, owner: u32, row: SimDuration) -> SimDuration {
        let noise = self.noise.factor(&mut self.rng[owner as usize]);
        row.scaled(noise / self.speeds[node as usize])
    }
}

/// Returns the time of one row of the next computation of an owner on a node, and the number of rows.
///
/// # Errors
/// Returns an error if the processor cannot compute such a row.
#[inline]
pub fn paced_rows(
    stopwatch: &mut Stopwatch,
    pace: Option<&mut SpeedProfile>,
    (node, owner): (u32, u32),
    computation: Computation,
) -> Result<(SimDuration, u64), KernelError> {
    let (row, passes) = stopwatch.rows(computation)?;
    Ok((pace.map_or(row, |pace| pace.row(node, owner, row)), passes))
}
