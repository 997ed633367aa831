//! Explanation of the difference between simulation and model: the inputs of the model are replaced one after another.

use super::{Demand, Hardware, Scaling};

/// The model's time for a problem, in seconds. Each field replaces one more input by the value counted in a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InputReplacements {
    /// The time of equation (3) with the published characteristic values.
    pub published_s: f64,
    /// The time with the operations of the program.
    pub operations_s: f64,
    /// The time with the program's bytes between memory and cores in addition.
    pub memory_s: f64,
    /// The time with the bytes that the program exchanges between nodes in addition.
    pub exchange_s: f64,
    /// The time with the interfaces of all nodes in parallel in addition, where every byte uses one of them:
    /// `#x / (p b_cl)` instead of `q #x / (β1 b_cl)`.
    pub interfaces_s: f64,
}

impl InputReplacements {
    /// Computes the times for a problem with a `published` and a `counted` demand, on `p` nodes with `q` cores.
    #[must_use]
    pub fn of(published: &Demand, counted: &Demand, hardware: &Hardware, beta1: f64, at: (f64, f64)) -> Self {
        let time_s = |demand: Demand| demand.time_s(hardware, beta1, at, Scaling::Hockney);
        let with_operations = Demand { operations: counted.operations, ..*published };
        let with_memory = Demand { bytes: counted.bytes, ..with_operations };
        let (q, p) = at;
        let nodes_s = counted.node_time_s(hardware, q, Scaling::Hockney) / p;
        Self {
            published_s: time_s(*published),
            operations_s: time_s(with_operations),
            memory_s: time_s(with_memory),
            exchange_s: time_s(*counted),
            interfaces_s: nodes_s + counted.exchanged_bytes / (p * hardware.cluster_bytes_per_s),
        }
    }

    /// Returns the factor by which each replacement lengthens the time, in order, and finally that of the run, which
    /// took `makespan_s`. The product of all factors and the published time is the makespan.
    #[must_use]
    pub fn factors(&self, makespan_s: f64) -> [f64; 5] {
        let Self { published_s, operations_s, memory_s, exchange_s, interfaces_s } = *self;
        [
            operations_s / published_s,
            memory_s / operations_s,
            exchange_s / memory_s,
            interfaces_s / exchange_s,
            makespan_s / interfaces_s,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HARDWARE: Hardware = Hardware { core_flop_per_s: 1e9, memory_bytes_per_s: 2e9, cluster_bytes_per_s: 1e8 };

    #[test]
    fn each_input_counts_once() {
        let published = Demand { operations: 4e9, bytes: 8e9, exchanged_bytes: 1e8 };
        let counted = Demand { operations: 8e9, bytes: 4e9, exchanged_bytes: 2e8 };
        // q = 2, p = 4: operations / 8e9 + bytes / 8e9 + 2 #x / 1e8.
        let explained = InputReplacements::of(&published, &counted, &HARDWARE, 1.0, (2.0, 4.0));
        let close = |one: f64, other: f64| assert!((one - other).abs() < 1e-12, "{one} is not {other}");
        close(explained.published_s, 0.5 + 1.0 + 2.0);
        close(explained.operations_s, 1.0 + 1.0 + 2.0);
        close(explained.memory_s, 1.0 + 0.5 + 2.0);
        close(explained.exchange_s, 1.0 + 0.5 + 4.0);
        close(explained.interfaces_s, 1.0 + 0.5 + 0.5);
        close(explained.factors(7.0).iter().product::<f64>() * explained.published_s, 7.0);
    }
}
