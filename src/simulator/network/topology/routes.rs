//! The natural routes of a topology, prepared for fast look-up.

use super::grid::{Courses, Divided};
use super::{Topology, mesh, torus};

/// The natural routes of a topology: those of [`Topology::course`], found faster.
#[derive(Clone, Debug)]
pub struct Routes(RouteTable);

#[derive(Clone, Debug)]
enum RouteTable {
    Line(Courses<[Divided; 1]>),
    Plane(Courses<[Divided; 2]>),
    Space(Courses<[Divided; 3]>),
    Grid(Courses<Box<[Divided]>>),
    Other(Topology),
}

impl Routes {
    /// Creates the routes of `topology`.
    #[must_use]
    pub fn of(topology: &Topology) -> Self {
        Self(match topology {
            Topology::Line { nodes } => RouteTable::Line(Courses::of(mesh::line(*nodes))),
            Topology::Ring { nodes } => RouteTable::Line(Courses::of(torus::ring(*nodes))),
            Topology::Mesh2d { rows, columns } => RouteTable::Plane(Courses::of(mesh::plane(*rows, *columns))),
            Topology::Torus2d { rows, columns } => RouteTable::Plane(Courses::of(torus::plane(*rows, *columns))),
            Topology::Mesh3d { layers, rows, columns } => {
                RouteTable::Space(Courses::of(mesh::space(*layers, *rows, *columns)))
            }
            Topology::Torus3d { layers, rows, columns } => {
                RouteTable::Space(Courses::of(torus::space(*layers, *rows, *columns)))
            }
            Topology::Mesh { sides } => RouteTable::Grid(Courses::of_any(mesh::of_sides(sides))),
            Topology::Torus { sides } => RouteTable::Grid(Courses::of_any(torus::of_sides(sides))),
            _ => RouteTable::Other(topology.clone()),
        })
    }

    /// Returns the same as [`Topology::course`].
    ///
    /// # Panics
    /// If `at` is `to`.
    #[must_use]
    #[inline]
    pub fn course(&self, at: u32, to: u32) -> (u32, u32) {
        match &self.0 {
            RouteTable::Line(courses) => courses.course(at, to),
            RouteTable::Plane(courses) => courses.course(at, to),
            RouteTable::Space(courses) => courses.course(at, to),
            RouteTable::Grid(courses) => courses.course(at, to),
            RouteTable::Other(topology) => topology.course(at, to),
        }
    }
}
