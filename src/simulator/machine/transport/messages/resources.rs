//! Processors and interfaces, each with the time from which it is free.

use crate::engine::{AbortCheck, Streams};
use crate::machine::{IssueResources, RankLocation};
use crate::node::{Detour, DetourSequence, Interface, InterfaceChoice, InterruptedProcessor};
use crate::units::{SimDuration, SimTime};
use rustc_hash::FxHashMap;

/// The cores and interfaces of all nodes.
pub struct Resources {
    cores_per_node: u32,
    per_node: u32,
    cores: Vec<Core>,
    /// The detours of all cores; `None` if there are none.
    detours: Option<Box<CoreDetours>>,
    interfaces: Vec<Ends>,
    /// The number of messages that each node has sent, modulo its interfaces; empty unless interfaces are chosen round
    /// robin.
    turns: Vec<u32>,
    /// The additional cores that programs request, by the first core of the rank and the requested index.
    more_cores: FxHashMap<(u32, u8), u32>,
    /// The additional interfaces that programs request, by the first interface and the requested index.
    more_interfaces: FxHashMap<(usize, u8), usize>,
}

/// An interface of a node.
#[derive(Clone, Copy)]
pub struct Port {
    pub node: u32,
    /// The number of the interface within its node.
    pub interface: u32,
    /// The index among the interfaces with this number, counted from 0.
    pub nic: u8,
}

/// A processor, or one direction of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource(u32);

impl Resource {
    /// No resource: the event has not been called from a retrial queue.
    pub const NONE: Self = Self(u32::MAX);
    const KINDS: u32 = 3;

    pub const fn core(core: u32) -> Self {
        Self(core * Self::KINDS)
    }

    pub const fn number(self) -> u32 {
        self.0
    }

    fn of_ends(ends: usize, kind: u32) -> Self {
        let ends = u32::try_from(ends).expect("interfaces are counted in 32 bits");
        Self(ends * Self::KINDS + kind)
    }
}

#[derive(Clone, Copy, Default)]
struct Core {
    free: SimTime,
    /// The end of the latest communication work.
    communicates_until: SimTime,
    /// The total communication work that has begun.
    worked: SimDuration,
}

/// The detours of all cores.
struct CoreDetours {
    sources: Vec<Detour>,
    streams: Streams,
    abort: Option<AbortCheck>,
    of_cores: Vec<DetourSequence>,
}

impl CoreDetours {
    /// Adds the detours of a core.
    fn add(&mut self, of: InterruptedProcessor) {
        let mut detours = DetourSequence::new(&self.sources, self.streams, of);
        if let Some(check) = &self.abort {
            detours.abort_on(check.clone());
        }
        self.of_cores.push(detours);
    }
}

/// The times from which the two directions of an interface are free.
#[derive(Clone, Copy, Default)]
struct Ends {
    sends: SimTime,
    receives: SimTime,
}

impl Resources {
    pub fn new(nodes: u32, cores_per_node: u32, interface: &Interface) -> Self {
        let turns = interface.count > 1 && interface.choice == InterfaceChoice::RoundRobin;
        Self {
            cores_per_node,
            per_node: interface.count,
            cores: vec![Core::default(); nodes as usize * cores_per_node as usize],
            interfaces: vec![Ends::default(); nodes as usize * interface.count as usize],
            detours: None,
            turns: if turns { vec![0; nodes as usize] } else { Vec::new() },
            more_cores: FxHashMap::default(),
            more_interfaces: FxHashMap::default(),
        }
    }

    /// Lets the operating system interrupt all cores.
    pub fn interrupted(mut self, sources: &[Detour], streams: Streams) -> Self {
        if !sources.is_empty() {
            let cores = 0..u32::try_from(self.cores.len()).expect("cores are counted in 32 bits");
            let core = |number| InterruptedProcessor {
                node: number / self.cores_per_node,
                core: number % self.cores_per_node,
                cpu: 0,
            };
            let (sources, of_cores) = (sources.to_vec(), Vec::with_capacity(self.cores.len()));
            let mut detours = CoreDetours { sources, streams, abort: None, of_cores };
            cores.for_each(|number| detours.add(core(number)));
            self.detours = Some(Box::new(detours));
        }
        self
    }

    /// Makes all cores check whether the run is to be aborted.
    pub fn abort_on(&mut self, check: &AbortCheck) {
        if let Some(detours) = &mut self.detours {
            detours.abort = Some(check.clone());
            detours.of_cores.iter_mut().for_each(|detours| detours.abort_on(check.clone()));
        }
    }

    pub fn memory(nodes: u32, cores: f64, interface: &Interface, detours: &[Detour]) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "sizes of a few bytes")]
        let (core, ends) = ((size_of::<Core>() + DetourSequence::memory(detours)) as f64, size_of::<Ends>() as f64);
        cores * core + f64::from(nodes) * f64::from(interface.count) * ends
    }

    /// Returns the number of the core of a rank. A node may have fewer cores than ranks, which then share them.
    pub const fn core(&self, location: RankLocation) -> u32 {
        location.node * self.cores_per_node + location.core_of(self.cores_per_node)
    }

    /// Returns the number of the core that a program requests as core `cpu` of a rank.
    pub fn cpu(&self, location: RankLocation, cpu: u8) -> u32 {
        let first = self.core(location);
        if cpu == 0 { first } else { self.more_cores.get(&(first, cpu)).copied().unwrap_or(first) }
    }

    /// Creates the core and the interface that a program requests for a rank, if they do not exist yet.
    pub fn provide(&mut self, location: RankLocation, interface: u32, IssueResources { cpu, nic }: IssueResources) {
        if cpu > 0 {
            let next = u32::try_from(self.cores.len()).expect("cores are counted in 32 bits");
            if *self.more_cores.entry((self.core(location), cpu)).or_insert(next) == next {
                self.cores.push(Core::default());
                let core = location.core_of(self.cores_per_node);
                if let Some(detours) = &mut self.detours {
                    detours.add(InterruptedProcessor { node: location.node, core, cpu });
                }
            }
        }
        if nic > 0 {
            let next = self.interfaces.len();
            let first = self.ends(Port { node: location.node, interface, nic: 0 });
            if *self.more_interfaces.entry((first, nic)).or_insert(next) == next {
                self.interfaces.push(Ends::default());
            }
        }
    }

    /// Chooses the interface for a message, and returns its number. Chosen round robin, the next message of the node
    /// takes the next interface.
    pub fn choose(&mut self, interface: &Interface, from: RankLocation, to: RankLocation) -> u32 {
        match interface.choice {
            InterfaceChoice::RoundRobin => self.turns.get_mut(from.node as usize).map_or(0, |turn| {
                *turn = (*turn + 1) % self.per_node;
                (*turn + self.per_node - 1) % self.per_node
            }),
            InterfaceChoice::ByCore => from.core_of(self.cores_per_node) % self.per_node,
            InterfaceChoice::ByDestination => to.node % self.per_node,
        }
    }

    fn ends(&self, Port { node, interface, nic }: Port) -> usize {
        let first = node as usize * self.per_node as usize + interface as usize;
        if nic == 0 { first } else { self.more_interfaces.get(&(first, nic)).copied().unwrap_or(first) }
    }

    pub fn free_at(&self, core: u32) -> SimTime {
        self.cores[core as usize].free
    }

    /// Returns the end of the communication work of a core that has begun so far.
    pub fn communicates_until(&self, core: u32) -> SimTime {
        self.cores[core as usize].communicates_until
    }

    /// Returns the sending side of an interface.
    pub fn sender(&self, port: Port) -> Resource {
        Resource::of_ends(self.ends(port), 1)
    }

    /// Returns the receiving side of an interface.
    pub fn receiver(&self, port: Port) -> Resource {
        Resource::of_ends(self.ends(port), 2)
    }

    /// Returns the time from which a resource is free.
    pub fn free(&self, Resource(number): Resource) -> SimTime {
        let place = (number / Resource::KINDS) as usize;
        match number % Resource::KINDS {
            0 => self.cores[place].free,
            1 => self.interfaces[place].sends,
            _ => self.interfaces[place].receives,
        }
    }

    /// Occupies the sending side of an interface until `end`.
    pub fn send(&mut self, port: Port, end: SimTime) {
        let ends = self.ends(port);
        self.interfaces[ends].sends = end;
    }

    /// Occupies the receiving side of an interface until `end`.
    pub fn receive(&mut self, port: Port, end: SimTime) {
        let ends = self.ends(port);
        self.interfaces[ends].receives = end;
    }

    /// Returns the end of `work` that a core begins at `begin`, and passes the detours of the core until then.
    pub fn end_of(&mut self, core: u32, begin: SimTime, work: SimDuration) -> SimTime {
        match &mut self.detours {
            Some(detours) => detours.of_cores[core as usize].end_of(begin, work),
            None => begin + work,
        }
    }

    /// Occupies a free core with a computation of `time`. Returns its end.
    pub fn compute(&mut self, core: u32, now: SimTime, time: SimDuration) -> SimTime {
        let end = self.end_of(core, now, time);
        self.cores[core as usize].free = end;
        end
    }

    /// Occupies a free core with communication work of `time`. Returns its end.
    pub fn communicate(&mut self, core: u32, now: SimTime, time: SimDuration) -> SimTime {
        let end = self.end_of(core, now, time);
        self.communicate_until(core, now, end);
        end
    }

    /// Occupies a free core with communication work until `end`.
    pub fn communicate_until(&mut self, core: u32, now: SimTime, end: SimTime) {
        let core = &mut self.cores[core as usize];
        core.free = end;
        core.communicates_until = end;
        core.worked += end.since(now);
    }

    /// Returns the time that a core has spent on communication up to `now`.
    pub fn worked(&self, core: u32, now: SimTime) -> SimDuration {
        let core = &self.cores[core as usize];
        let still_to_do =
            if core.communicates_until > now { core.communicates_until.since(now) } else { SimDuration::ZERO };
        core.worked - still_to_do
    }
}
