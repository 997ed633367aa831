//! Traces of calls, by format.

use super::call::Call;
use super::line_reader::{CallQueue, LineReader};
use super::*;
use parsim_sim::program::collective::CollectiveCall;
use proptest::prelude::*;
use std::io::Write;

mod liballprof;
mod otf2_print;
mod time_independent;

/// A time-independent trace of two ranks.
const SMALL: &str = "# a trace\n0 init\n1 init\n0 compute 1e6\n0 isend 1 0 100 0\n1 irecv 0 0 100\n0 wait 0 1 0\n1 wait 0 1 0\n\
    0 allreduce 8 100\n1 allreduce 8 100\n0 alltoallv 4 2 2 4 2 2\n1 alltoallv 4 2 2 4 2 2\n0 finalize\n1 finalize\n";

/// Returns the faults of a time-independent trace, as a survey finds them.
fn surveyed(text: &str) -> Result<Vec<String>, String> {
    let mut file = tempfile::NamedTempFile::new().expect("there is room");
    file.write_all(text.as_bytes()).expect("there is room");
    let path = file.path().display().to_string();
    let program = TimeIndependent { file: ProgramFile::new(path.clone()), collectives: Library::SimGrid, first: None };
    let words = |fault: &Fault| fault.message.replace(&path, "FILE");
    match program.surveyed() {
        Ok(surveyed) => Ok(surveyed.survey.faults.iter().map(words).collect()),
        Err(fault) => Err(words(&fault)),
    }
}

/// Returns the program that replays liballprof recordings of ranks, with their folder.
fn recording(ranks: &[String]) -> (tempfile::TempDir, MpiTrace) {
    let folder = tempfile::tempdir().expect("there is room");
    for (rank, text) in ranks.iter().enumerate() {
        std::fs::write(folder.path().join(format!("t-{rank}.txt")), text).expect("there is room");
    }
    let file = ProgramFile::new(folder.path().display().to_string());
    let (format, collectives) = (MpiTraceFormat::Liballprof, Library::OpenMpi);
    (folder, MpiTrace { folder: file, format, computation: 1.0, collectives, first: None })
}
