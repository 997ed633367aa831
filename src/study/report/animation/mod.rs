//! A recorded run as data for a moving picture: ranks, links, packets and the critical path over the time.
//!
//! The script of the page (`page/player.js`) draws it. Runs of some hundred vertices are given whole, to the picosecond;
//! larger ones in groups of neighbours and bins of time.

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

/// The largest network that is shown vertex by vertex.
const MOST_VERTICES: usize = 640;
/// More ranks than this have no row of their own.
const MOST_ROWS: u32 = 640;

/// A run that can be played.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Animation {
    /// Its title.
    title: String,
    /// Its end, in picoseconds.
    makespan: u64,
    /// The places of vertices and the links between them.
    scene: Scene,
    detail: AnimationDetail,
}

/// Form of the data.
#[derive(Clone, Debug, PartialEq, Serialize)]
enum AnimationDetail {
    Exact(Exact),
    Binned(Binned),
}

impl Animation {
    /// The run `run`, whose critical path is `path`, on the network in `drawing`; without it, as far as the recording knows the
    /// network. It is given whole if that takes at most `bytes` of packed data.
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
        let is_small = scene.vertices() <= MOST_VERTICES && path.events().processes() <= MOST_ROWS;
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

    /// True if it shows every packet and activity, not groups and bins.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        matches!(self.detail, AnimationDetail::Exact(_))
    }
}

#[cfg(test)]
mod tests;
