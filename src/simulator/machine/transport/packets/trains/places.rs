//! Places: resources for which packets queue together, in the order of their arrival.
//!
//! If the processor of a vertex is the only one that hands packets to its links, packets leave the vertex in the order
//! of their arrival, and processor and links are one place. If hardware routers or acknowledgements hand packets to
//! links as well, every processor and every link is a separate place, and a *way* without length leads from the
//! processor of a vertex to its router. The other ways are the links.

use crate::engine::Entity;
use crate::network::Topology;
use crate::node::Router;

/// The number that stands for no link, for packets that start or end at a vertex.
pub(super) const NO_LINK: u32 = u32::MAX;

/// The numbering of places, ways and arrivals. Places are the vertices, followed by the links. Ways are the links,
/// followed by the connections from each processor to its router.
pub(super) struct Places {
    vertices: u32,
    ports: u32,
    links: u32,
    router: Router,
    /// `true` if links are separate places.
    separates_links: bool,
    /// The entity of the arrivals by the first link: 0 if a packet leaves a link and arrives at its end in one event,
    /// otherwise the first entity after those of the departures.
    first_arrival: Entity,
}

impl Places {
    /// Creates the numbering. With `arrives_on_departure`, a packet leaves a link and arrives at its end in one event.
    pub(super) fn of(topology: &Topology, router: Router, separates_links: bool, arrives_on_departure: bool) -> Self {
        let (vertices, ports) = (topology.vertices(), topology.ports());
        let links = vertices * ports;
        let first_arrival = if arrives_on_departure { 0 } else { links };
        Self { vertices, ports, links, router, separates_links, first_arrival }
    }

    pub(super) const fn links(&self) -> u32 {
        self.links
    }

    pub(super) const fn ways(&self) -> u32 {
        if self.separates_links { self.links + self.vertices } else { self.links }
    }

    pub(super) const fn count(&self) -> u32 {
        if self.separates_links { self.vertices + self.links } else { self.vertices }
    }

    /// Returns whether links are separate places.
    #[inline]
    pub(super) const fn separates_links(&self) -> bool {
        self.separates_links
    }

    /// Returns the number of events of a packet on a link.
    pub(super) const fn link_events(&self) -> u32 {
        if self.first_arrival == 0 { 1 } else { 2 }
    }

    #[inline]
    pub(super) const fn link(&self, vertex: u32, port: u32) -> u32 {
        vertex * self.ports + port
    }

    pub(super) const fn links_of(&self, vertex: u32) -> std::ops::Range<u32> {
        vertex * self.ports..(vertex + 1) * self.ports
    }

    /// Returns the vertex at the start of a link.
    pub(super) const fn start(&self, link: u32) -> u32 {
        link / self.ports
    }

    /// Returns the port by which a link leaves the vertex at its start.
    pub(super) const fn port(&self, link: u32) -> u32 {
        link % self.ports
    }

    /// Returns the vertex at the end of a link.
    pub(super) fn neighbour(&self, topology: &Topology, link: u32) -> Option<u32> {
        topology.neighbour(self.start(link), self.port(link)).map(|(end, _)| end)
    }

    /// Returns the entity of the arrivals by a link.
    #[inline]
    pub(super) const fn arrival(&self, link: u32) -> Entity {
        self.first_arrival + link
    }

    /// Returns the link of this entity, if the entity is that of an arrival.
    pub(super) const fn arrives_by(&self, entity: Entity) -> Option<u32> {
        entity.checked_sub(self.first_arrival)
    }

    /// Returns the way from the processor of a vertex to its router.
    #[inline]
    pub(super) const fn to_router(&self, vertex: u32) -> u32 {
        self.links + vertex
    }

    /// Returns the vertex of a way from a processor to its router, if `way` is one.
    #[inline]
    pub(super) fn processor_before(&self, way: u32) -> Option<u32> {
        way.checked_sub(self.links).filter(|vertex| *vertex < self.vertices)
    }

    /// Returns whether a packet to `to` that arrives at `vertex` goes to its router and not to its processor.
    #[inline]
    pub(super) fn is_routed(&self, way: u32, vertex: u32, to: u32) -> bool {
        self.separates_links && (self.processor_before(way).is_some() || self.is_routed_behind_link(vertex, to))
    }

    /// Returns the same for a packet that arrives by a link, if links are separate places.
    #[inline]
    pub(super) fn is_routed_behind_link(&self, vertex: u32, to: u32) -> bool {
        self.router == Router::Hardware && vertex != to
    }

    /// Returns the place of a link that is a separate place.
    #[inline]
    pub(super) const fn of_link(&self, link: u32) -> u32 {
        self.vertices + link
    }

    /// Returns the link of a place, if it is the place of a link.
    #[inline]
    pub(super) const fn as_link(&self, place: u32) -> Option<u32> {
        place.checked_sub(self.vertices)
    }
}
