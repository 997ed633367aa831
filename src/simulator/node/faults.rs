//! Validation of the description of a node.

use super::{Detour, Level, Node, Router, RoutingCosts, Shared};
use crate::fault::{Fault, within};

/// The largest number of cores of a group: far more than real machines have, and few enough for 32-bit numbers.
const MAX_CORES: u32 = 1 << 24;

impl Node {
    /// Returns all faults, by the fields of the description.
    #[must_use]
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults: Vec<_> = within("levels", Level::faults(&self.levels)).collect();
        if self.acknowledging.bytes.count() > u64::from(u32::MAX) {
            faults.push(Fault::new(
                "acknowledging.bytes",
                "an acknowledgement is longer than 4 GiB",
                "give a shorter one",
            ));
        }
        faults.extend(within("processor", self.processor.faults()));
        if let Some(message) = self.noise.fault() {
            faults.push(Fault::new("noise", message, "give a number from 0 to below 1"));
        }
        faults.extend(within("detours", Detour::faults(&self.detours)));
        faults.extend(self.router_faults());
        faults
    }

    /// Returns the faults of fields that apply only to software routers on a node with hardware routers.
    fn router_faults(&self) -> impl Iterator<Item = Fault> {
        const NO_COST: &str =
            "leave `routing` out, or write `router: Software`; the cost at the destination is `receiving`";
        let is_hardware = self.router == Router::Hardware;
        let cost = (is_hardware && self.routing != RoutingCosts::default())
            .then(|| Fault::new("routing", "hardware routers take no processor time", NO_COST));
        let turn = self.router_turn.filter(|_| is_hardware).map(|_| {
            let help = "leave `router_turn` out, or write `router: Software`";
            Fault::new("router_turn", "hardware routers do not wait for a processor", help)
        });
        cost.into_iter().chain(turn)
    }
}

impl Shared {
    /// Returns the fault of the limit of a core, which is at `path`.
    fn fault(&self, path: &str) -> Option<Fault> {
        let limit = self.per_core?;
        if self.is_in_line() {
            let message = "users that pass one at a time do not share the bandwidth, so that a limit has no meaning";
            return Some(Fault::new(path, message, "use `discipline: ProcessorSharing`, or leave out `per_core`"));
        }
        (limit.bytes_per_s() > self.bandwidth.bytes_per_s()).then(|| {
            let message = format!("a core cannot get more than the whole bandwidth of {}", self.bandwidth);
            Fault::new(path, message, "give at most that, or leave out `per_core`")
        })
    }
}

impl Level {
    /// Returns all faults of a list of levels, by their indices.
    #[must_use]
    pub fn faults(levels: &[Self]) -> Vec<Fault> {
        let sizes = levels.iter().zip(Self::sizes(levels)).enumerate();
        let of_level = |(index, (level, size)): (usize, (&Self, u64))| {
            let name = Fault::of_empty_name(&format!("{index}.name"), "level", &level.name);
            let memory = level.memory.as_ref().and_then(|shared| shared.fault(&format!("{index}.memory.per_core")));
            let interface =
                level.interface.as_ref().and_then(|shared| shared.fault(&format!("{index}.interface.per_core")));
            name.into_iter().chain(level.fault(&format!("{index}.members"), size)).chain(memory).chain(interface)
        };
        sizes.flat_map(of_level).collect()
    }

    fn fault(&self, path: &str, size: u64) -> Option<Fault> {
        if self.members == 0 {
            return Some(Fault::new(
                path,
                format!("the level `{}` has no members", self.name),
                "give a number from 1 on",
            ));
        }
        (size > u64::from(MAX_CORES)).then(|| {
            let message = format!("a {} would have {size} cores", self.name);
            Fault::new(path, message, format!("give fewer members: at most {MAX_CORES} cores are supported"))
        })
    }
}
