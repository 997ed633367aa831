//! Tables of a run for programs: the accounts of every rank, the load of every link, and the pieces of the critical
//! path.

use super::critical_path::pieces;
use crate::analysis::CriticalPath;
use crate::answer::Record;
use parsim_sim::trace::{Activity, Recording, Trace};
use parsim_sim::units::SimDuration;

/// Returns a record for every rank and phase with the seconds in each activity, `computing_s` and so on. The records of
/// a rank sum to the makespan.
#[must_use]
pub fn accounts(trace: &Trace) -> Vec<Record> {
    let phases = trace.accounts.phases();
    let of_rank = |rank| phases.iter().map(move |phase| (rank, *phase));
    let record = |(rank, phase): (u32, &str)| {
        let account = trace.accounts.account(rank, phase);
        let mut record = Record::default();
        record.put("rank", rank);
        record.put("phase", phase);
        for activity in Activity::ALL {
            record.put(format!("{}_s", activity.name()), account.get(activity).seconds());
        }
        record
    };
    (0..trace.accounts.ranks()).flat_map(of_rank).map(record).collect()
}

/// Returns a record for every direction of every link: `from`, `to`, `packets`, `busy_s`, and `utilization`, the busy
/// share of the makespan.
#[must_use]
pub fn links(trace: &Trace) -> Vec<Record> {
    let makespan = trace.makespan.seconds();
    let is_long = trace.makespan > SimDuration::ZERO;
    let record = |link: &parsim_sim::trace::LinkLoad| {
        let mut record = Record::default();
        record.put("from", link.from);
        record.put("to", link.to);
        record.put("packets", link.packets);
        record.put("busy_s", link.busy.seconds());
        record.put("utilization", is_long.then(|| link.busy.seconds() / makespan));
        record
    };
    trace.links.iter().map(record).collect()
}

/// Returns a record for every piece of the critical path in the order of time: `from_s`, `to_s`, `kind`, `phase`,
/// `process` (none for a message) and `place` (the node or link on which a message is).
#[must_use]
pub fn path_pieces(path: &CriticalPath<'_>, run: Option<&Recording>) -> Vec<Record> {
    let record = |piece: super::critical_path::PathPiece<'_>| {
        let mut record = Record::default();
        record.put("from_s", piece.from.seconds());
        record.put("to_s", piece.to.seconds());
        record.put("kind", piece.kind);
        record.put("phase", piece.phase);
        record.put("process", piece.process);
        record.put("place", (!piece.place.is_empty()).then_some(piece.place));
        record
    };
    pieces(path, run).into_iter().map(record).collect()
}
