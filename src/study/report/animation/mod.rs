//! A recorded run as data for an animation: ranks, links, packets and the critical path over time.
//!
//! The script of the page (`page/player.js`) draws the animation. Runs of a few hundred vertices are given in full,
//! with picosecond resolution; larger runs in groups of neighbours and bins of time.

mod binned;
mod exact;
mod pack;
mod scene;

use super::drawing::Drawing;
use crate::analysis::CriticalPath;
use binned::Binned;
use exact::Exact;
use parsim_sim::trace::Recording;
use scene::Scene;
use serde::Serialize;

/// The largest number of vertices that are shown one by one.
const MAX_VERTICES: usize = 640;
/// The largest number of ranks with a separate row each.
const MAX_ROWS: u32 = 640;

/// A run as data for an animation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Animation {
    /// The title of the run.
    title: String,
    /// The end of the run, in picoseconds.
    makespan: u64,
    /// The positions of vertices and the links between them.
    scene: Scene,
    detail: AnimationDetail,
}

/// The level of detail of the data.
#[derive(Clone, Debug, PartialEq, Serialize)]
enum AnimationDetail {
    Exact(Exact),
    Binned(Binned),
}

impl Animation {
    /// Creates the animation of the run `run`, whose critical path is `path`, on the network in `drawing`, or without a
    /// drawing on the network that the recording implies. The data are exact if their packed size is at most `bytes`.
    #[must_use]
    pub fn of(
        title: &str,
        path: &CriticalPath<'_>,
        run: Option<&Recording>,
        drawing: Option<Drawing>,
        bytes: usize,
    ) -> Self {
        let makespan = run.map_or(path.length(), |run| run.makespan);
        let scene = Scene::of(run, path.events().processes(), drawing);
        let is_small = scene.vertices() <= MAX_VERTICES && path.events().processes() <= MAX_ROWS;
        let exact = is_small.then(|| Exact::of(path, run, &scene)).filter(|exact| exact.bytes() <= bytes);
        let (scene, detail) = if let Some(exact) = exact {
            (scene, AnimationDetail::Exact(exact))
        } else {
            let groups = scene.groups();
            let binned = Binned::of(path, run, &scene, &groups, makespan);
            (scene.grouped(&groups), AnimationDetail::Binned(binned))
        };
        Self { title: title.to_owned(), makespan: makespan.ps(), scene, detail }
    }

    /// Returns whether the animation shows every packet and activity instead of groups and bins.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        matches!(self.detail, AnimationDetail::Exact(_))
    }
}

#[cfg(test)]
mod tests;
