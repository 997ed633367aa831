//! Case ids: equal for all descriptions of the same simulation.
//!
//! Units, defaults, included files and the order of fields are resolved first. The id is then the sum of the hashes of
//! all values of the scenario, each hashed with its path. A change of a few values therefore changes the id by the
//! difference of their hashes, independently of the other values (see [`crate::scenario::Ids`]).

mod leaves;

use super::{Limits, Scenario};
use leaves::sum;
use parsim_sim::program::BackgroundTraffic;
use parsim_sim::units::SimDuration;
use serde::Serialize;
use std::fmt;

/// The version of the results, incremented whenever the result of any scenario changes.
pub const RESULTS: u32 = 30;

/// The id of a case: 128 bits, the same on every machine.
///
/// The id covers machine, ranks, partition, placement, program, background traffic, seed, the limits of simulated time
/// and of events, and [`RESULTS`]. It does not cover the names of machines and kernels, nor the fields that do not affect
/// the results: axes, filter, `repeat` and `compare`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CaseId(u128);

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl CaseId {
    /// Returns the id as 16 bytes, the same on every machine.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// Returns the id as a number; its 32 hexadecimal digits are the displayed text.
    #[must_use]
    pub const fn number(self) -> u128 {
        self.0
    }

    /// Returns the most significant 64 bits. They have the order of the ids and are evenly distributed.
    #[must_use]
    pub fn first_bits(self) -> u64 {
        u64::try_from(self.0 >> 64).unwrap_or(u64::MAX)
    }

    /// Creates the id of these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_le_bytes(bytes))
    }

    /// Returns the id after a change of one part, given the sums of that part before and after the change.
    pub(super) const fn changed(self, before: Sum, after: Sum) -> Self {
        Self(self.0.wrapping_sub(before).wrapping_add(after))
    }
}

/// The sum of the hashes of some values.
pub(super) type Sum = u128;

/// A field of a scenario that the id covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Covered {
    Machine,
    Ranks,
    Partition,
    Placement,
    Program,
    Background,
    Seed,
    Limits,
}

impl Covered {
    const ALL: [Self; 8] = [
        Self::Machine,
        Self::Ranks,
        Self::Partition,
        Self::Placement,
        Self::Program,
        Self::Background,
        Self::Seed,
        Self::Limits,
    ];

    pub const fn field(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Ranks => "ranks",
            Self::Partition => "partition",
            Self::Placement => "placement",
            Self::Program => "program",
            Self::Background => "background",
            Self::Seed => "seed",
            Self::Limits => "limits",
        }
    }

    /// Returns the covered field that contains the field at `path`, or `None` if the id does not cover it.
    pub fn at(path: &str) -> Option<Self> {
        let first = path.split('.').next();
        Self::ALL.into_iter().find(|covered| first == Some(covered.field()))
    }

    /// Returns the sum over the values of `part`, the content of this field.
    pub fn sum(self, part: &impl Serialize) -> Sum {
        sum(self.field(), part)
    }
}

/// Returns the sum over the background traffic: 0 if there is none.
pub(super) fn of_background(background: Option<&BackgroundTraffic>) -> Sum {
    background.map_or(0, |background| Covered::Background.sum(background))
}

/// Returns the limits that can change the results. The other limits concern the host computer.
pub(super) const fn of_results(limits: &Limits) -> (SimDuration, u64) {
    (limits.simulated, limits.events)
}

impl Scenario {
    /// Returns the id of the case given by the scenario's base values.
    #[must_use]
    pub fn id(&self) -> CaseId {
        let parts = Covered::ALL.into_iter().map(|covered| match covered {
            Covered::Machine => covered.sum(&self.machine),
            Covered::Ranks => covered.sum(&self.ranks),
            Covered::Partition => covered.sum(&self.partition),
            Covered::Placement => covered.sum(&self.placement),
            Covered::Program => covered.sum(&self.program),
            Covered::Background => of_background(self.background.as_ref()),
            Covered::Seed => covered.sum(&self.seed),
            Covered::Limits => covered.sum(&of_results(&self.limits)),
        });
        CaseId(parts.fold(sum("results", &RESULTS), Sum::wrapping_add))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Plan;
    use crate::scenario::source::Document;

    const PING: &str = r#"Scenario(machine: File("../../scenarios/machines/parsytec-supercluster-t800.ron"), ranks: 2,
        placement: Apart(hops: 2), program: Ping(bytes: "1 kB"), seed: 1)"#;

    fn id(settings: &[(&str, &str)]) -> String {
        let mut document = Document::from_text("x.ron", PING).unwrap();
        for (path, value) in settings {
            document.set(path, value).unwrap();
        }
        document.read::<Scenario>().unwrap().id().to_string()
    }

    /// A change of the id of an unchanged scenario would orphan every stored result; if that is intended, raise
    /// `RESULTS`.
    #[test]
    fn an_id_is_the_same_on_every_machine() {
        let of = |number: u32| sum("seed", &number);
        assert_eq!(format!("{:032x}", of(1)), "c353352c6fb3f6e5faaa6801b97c95c2");
    }

    #[test]
    fn an_id_covers_what_moves_results() {
        for (path, value) in [
            ("program.bytes", "1001 B"),
            ("ranks", "3"),
            ("seed", "2"),
            ("partition", "Whole"),
            ("placement.hops", "3"),
            ("machine.sends", "Buffered"),
            ("machine.network.links.per_byte", "1 us/B"),
            ("limits", "(simulated: \"1 s\", events: 1000)"),
        ] {
            assert_ne!(id(&[(path, value)]), id(&[]), "{path}");
        }
    }

    #[test]
    fn an_id_covers_nothing_else() {
        let axis = r#"[(name: "bytes", path: "program.bytes", values: ["1 kB"])]"#;
        for (path, value) in [
            ("program.bytes", "1000 B"),
            ("machine.name", "\"another\""),
            ("repeat", "5"),
            ("compare", "[OneRank]"),
            ("axes", axis),
            ("filter", "Some(\"1 < 2\")"),
            ("partition", "Fitted"),
        ] {
            assert_eq!(id(&[(path, value)]), id(&[]), "{path}");
        }
    }

    #[test]
    fn a_rate_is_its_value_in_whatever_unit() {
        for per_byte in ["machine.network.links.per_byte", "machine.nodes.sending.per_byte"] {
            let [time, rate, other] = ["1 us/B", "1 MB/s", "8 Mbit/s"].map(|text| id(&[(per_byte, text)]));
            assert_eq!((&time, &time), (&rate, &other), "{per_byte}");
            assert_ne!(time, id(&[(per_byte, "3 MB/s")]));
        }
    }

    #[test]
    fn values_that_change_places_change_the_id() {
        let machine = |left: &str, right: &str| {
            id(&[("machine.nodes.sending.per_packet", left), ("machine.nodes.receiving.per_packet", right)])
        };
        assert_ne!(machine("1 us", "2 us"), machine("2 us", "1 us"));
    }

    #[test]
    fn a_base_case_has_the_id_of_its_scenario() {
        let mut document = Document::from_text("x.ron", PING).unwrap();
        document.set("partition", "Whole").unwrap();
        let plan = Plan::new(document, &[]).unwrap();
        assert_eq!(plan.base().unwrap().scenario.id().to_string(), id(&[("partition", "Whole")]));
    }
}
