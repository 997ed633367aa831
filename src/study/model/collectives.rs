//! Collective operations on networks without contention.
//!
//! Source: `execution-time-topologies-collectives`, its table of collective operations, recomputed. Deviations from the
//! printed formulas are stated. p is the number of ranks. m, in bytes, is the length of the message or, if every rank
//! has its own, of a block. The formulas of the hypercube require p = 2^k, those of the torus p = k² and a k × k torus.

/// The cost of a message to a neighbour: `t_s + m t_w`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MessageCost {
    /// `t_s`, in seconds.
    pub start_s: f64,
    /// `t_w`, in seconds.
    pub per_byte_s: f64,
}

impl MessageCost {
    /// Returns the time of a one-to-all broadcast on a hypercube, `(t_s + m t_w) log₂ p`.
    #[must_use]
    pub fn broadcast_hypercube_s(self, ranks: f64, bytes: f64) -> f64 {
        (self.start_s + bytes * self.per_byte_s) * ranks.log2()
    }

    /// Returns the time of an all-to-one reduction on a hypercube, `(t_s + m t_w) log₂ p`. Additions take no time.
    #[must_use]
    pub fn reduce_hypercube_s(self, ranks: f64, bytes: f64) -> f64 {
        self.broadcast_hypercube_s(ranks, bytes)
    }

    /// Returns the time of an allreduce on a hypercube, `(t_s + m t_w) log₂ p`; printed, without m, as `T_AR`.
    #[must_use]
    pub fn all_reduce_hypercube_s(self, ranks: f64, bytes: f64) -> f64 {
        self.broadcast_hypercube_s(ranks, bytes)
    }

    /// Returns the time of an allgather on a hypercube, `t_s log₂ p + m t_w (p − 1)`.
    #[must_use]
    pub fn all_gather_hypercube_s(self, ranks: f64, bytes: f64) -> f64 {
        self.start_s * ranks.log2() + bytes * self.per_byte_s * (ranks - 1.0)
    }

    /// Returns the time of a reduce-scatter, the all-to-all reduction proper, on a hypercube:
    /// `t_s log₂ p + m t_w (p − 1)`.
    #[must_use]
    pub fn reduce_scatter_hypercube_s(self, ranks: f64, bytes: f64) -> f64 {
        self.all_gather_hypercube_s(ranks, bytes)
    }

    /// Returns the time of a scatter or gather on a hypercube, `t_s log₂ p + m t_w (p − 1)`.
    #[must_use]
    pub fn scatter_hypercube_s(self, ranks: f64, bytes: f64) -> f64 {
        self.all_gather_hypercube_s(ranks, bytes)
    }

    /// Returns the time of an all-to-all on a hypercube, `(t_s + ½ p m t_w) log₂ p`.
    #[must_use]
    pub fn all_to_all_hypercube_s(self, ranks: f64, bytes: f64) -> f64 {
        (self.start_s + 0.5 * ranks * bytes * self.per_byte_s) * ranks.log2()
    }

    /// Returns the time of an allgather on a 2D torus, `2 t_s (√p − 1) + m t_w (p − 1)`.
    #[must_use]
    pub fn all_gather_torus_s(self, ranks: f64, bytes: f64) -> f64 {
        2.0 * self.start_s * (ranks.sqrt() - 1.0) + bytes * self.per_byte_s * (ranks - 1.0)
    }

    /// Returns the time of an all-to-all on a 2D torus whose rings are used in one direction,
    /// `(2 t_s + p m t_w) (√p − 1)`; printed with √(p − 1).
    #[must_use]
    pub fn all_to_all_torus_s(self, ranks: f64, bytes: f64) -> f64 {
        (2.0 * self.start_s + ranks * bytes * self.per_byte_s) * (ranks.sqrt() - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str =
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/collectives/collectives.csv"));

    fn time(operation: &str) -> fn(MessageCost, f64, f64) -> f64 {
        match operation {
            "Broadcast(algorithm: Hypercube)" => MessageCost::broadcast_hypercube_s,
            "Reduce(algorithm: Hypercube)" => MessageCost::reduce_hypercube_s,
            "AllReduce(algorithm: RecursiveDoubling)" => MessageCost::all_reduce_hypercube_s,
            "AllGather(algorithm: RecursiveDoubling)" => MessageCost::all_gather_hypercube_s,
            "ReduceScatter(algorithm: RecursiveHalving)" => MessageCost::reduce_scatter_hypercube_s,
            "Scatter(algorithm: Hypercube)" => MessageCost::scatter_hypercube_s,
            "AllToAll(algorithm: Hypercube)" => MessageCost::all_to_all_hypercube_s,
            "AllGather(algorithm: Torus)" => MessageCost::all_gather_torus_s,
            "AllToAll(algorithm: Torus)" => MessageCost::all_to_all_torus_s,
            other => panic!("no operation {other}"),
        }
    }

    #[test]
    fn all_cases_of_the_table() {
        for row in TABLE.lines().skip(1) {
            let cells: Vec<&str> = row.split(',').collect();
            let number = |column: usize| cells[column].parse::<f64>().expect("a number");
            let costs = MessageCost { start_s: number(6), per_byte_s: number(7) };
            let time = time(cells[0])(costs, number(2), number(3));
            assert!((time - number(4)).abs() < 1e-9, "{row}: {time}");
        }
    }
}
