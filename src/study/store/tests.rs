//! Tests of intact, truncated, damaged, shared and incompatible stores.

use super::*;
use crate::programs::phases::named_phase;
use parsim_sim::fault::{Fault, Rejection};
use parsim_sim::simulation::SimulationError;
use parsim_sim::trace::{Accounts, Activity, BackgroundCounts, Counts, LinkLoad, Trace};
use parsim_sim::units::SimDuration;
use proptest::prelude::*;
use record::HEAD_BYTES;
use segment::HEADER_BYTES;
use std::fs::File;
use std::io::Error;
use tempfile::{TempDir, tempdir};

fn id(number: u8) -> CaseId {
    CaseId::from_bytes([number; 16])
}

/// Returns a trace with content in every part, including the greatest numbers.
fn trace(number: u64) -> Trace {
    let mut accounts = Accounts::new(3, &["begin", "nothing"]);
    accounts.add(2, "begin", Activity::Computing, SimDuration::from_ps(number + 1));
    accounts.add(0, named_phase("own"), Activity::Idle, SimDuration::from_ps(u64::MAX));
    Trace {
        makespan: SimDuration::from_ps(number),
        host: 2,
        accounts,
        links: vec![LinkLoad { from: 0, to: 1, packets: u64::MAX, busy: SimDuration::from_ps(7) }],
        counts: Counts { events: number, messages: 2, packet_hops: u64::MAX },
        background: Some(BackgroundCounts { messages: 4, bytes: 5 }),
        outcomes: vec![("a", 0.1 + 0.2), ("b", f64::NAN), ("c", -0.0), ("d", f64::INFINITY)],
        critical_intervals: vec![(f64::MIN_POSITIVE, 1e300)],
        sources: Vec::new(),
        deliveries: Vec::new(),
        written: SimDuration::from_ps(number),
        activity_log: None,
        requests: None,
    }
}

/// Returns a folder with a store of these cases, each with a trace of its number.
fn filled(cases: impl IntoIterator<Item = u8>) -> TempDir {
    let folder = tempdir().unwrap();
    fill(folder.path(), cases);
    folder
}

fn fill(folder: &Path, cases: impl IntoIterator<Item = u8>) {
    let store = Store::open(folder).unwrap();
    cases.into_iter().for_each(|case| store.append(id(case), &Ok(trace(case.into()))).unwrap());
    store.finish().unwrap();
}

fn only_segment(folder: &Path) -> PathBuf {
    let [segment] = &segments(folder).unwrap()[..] else { panic!("there is one segment") };
    segment.clone()
}

/// Returns the makespan, in picoseconds, of a case that is found.
fn makespan(store: &Store, case: u8) -> Option<u64> {
    store.get(id(case)).unwrap().map(|result| result.unwrap().makespan.ps())
}

#[test]
fn a_trace_comes_back_bit_by_bit() {
    let folder = filled([9]);
    let found = Store::read(folder.path()).unwrap().get(id(9)).unwrap().unwrap().unwrap();
    let bits = |trace: &Trace| trace.outcomes.iter().map(|(name, value)| (*name, value.to_bits())).collect::<Vec<_>>();
    let (written, outcomes) = (trace(9), bits(&trace(9)));
    assert_eq!(bits(&found), outcomes);
    assert_eq!(found.accounts, written.accounts);
    assert_eq!((found.makespan, found.host, found.links), (written.makespan, written.host, written.links));
    assert_eq!((found.counts, found.background), (written.counts, written.background));
    assert_eq!(found.critical_intervals, written.critical_intervals);
}

#[test]
fn a_failure_comes_back_in_its_words_and_kind() {
    let folder = tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let rejected = SimulationError::Rejected(Rejection(vec![Fault::new("ranks", "there are none", "give some")]));
    let limit = SimulationError::EventLimit { limit: 5, at_s: 0.25 };
    store.append(id(1), &Err(rejected.clone())).unwrap();
    store.append(id(2), &Err(limit.clone())).unwrap();
    let store = Store::read(folder.path()).unwrap();
    assert_eq!(store.get(id(1)).unwrap().unwrap().unwrap_err(), rejected);
    assert_eq!(store.get(id(2)).unwrap().unwrap().unwrap_err(), SimulationError::Recalled(limit.to_string()));
    assert_eq!([1, 2, 3].map(|case| store.state(id(case))), [State::Failed, State::Failed, State::Missing]);
}

#[test]
fn what_another_try_may_change_is_not_kept() {
    let folder = tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let wall = SimulationError::WallLimit { limit: SimDuration::from_ms(1), events: 1, at_s: 0.0 };
    let cancelled = SimulationError::Cancelled { events: 1, at_s: 0.0 };
    for error in [
        wall,
        cancelled,
        SimulationError::Defect("lost".to_owned()),
        SimulationError::NotRecorded(Error::other("lost").into()),
    ] {
        store.append(id(1), &Err(error)).unwrap();
    }
    assert_eq!(store.state(id(1)), State::Missing);
    assert!(segments(folder.path()).unwrap().is_empty());
}

#[test]
fn a_result_takes_the_place_of_a_failure_and_none_is_written_twice() {
    let folder = tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let failure = || Err(SimulationError::EventLimit { limit: 5, at_s: 0.25 });
    for result in [failure(), failure(), Ok(trace(1)), Ok(trace(1)), failure()] {
        store.append(id(1), &result).unwrap();
    }
    assert_eq!(makespan(&store, 1), Some(1));
    let store = Store::read(folder.path()).unwrap();
    assert_eq!((store.state(id(1)), store.places(id(1)).count()), (State::Found, 2));
    assert_eq!(makespan(&store, 1), Some(1));
}

#[test]
fn writers_share_a_folder() {
    let folder = tempdir().unwrap();
    let stores = [(); 2].map(|()| Store::open(folder.path()).unwrap());
    for case in 0..100 {
        stores[usize::from(case % 2)].append(id(case), &Ok(trace(case.into()))).unwrap();
    }
    stores[0].append(id(1), &Ok(trace(1))).unwrap();
    let store = Store::read(folder.path()).unwrap();
    assert_eq!(segments(folder.path()).unwrap().len(), 2);
    assert!((0..100).all(|case| makespan(&store, case) == Some(case.into())));
    assert_eq!(store.places(id(1)).count(), 2);
}

/// Checks that, with a segment truncated at `length`, exactly the whole records before are found.
fn torn_at(whole: &[u8], ends: &[usize], length: usize) {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("torn.segment"), &whole[..length]).unwrap();
    let store = Store::read(folder.path()).unwrap();
    let found = ends.iter().filter(|end| **end <= length).count();
    for (case, expected) in (0..).zip((0..ends.len()).map(|index| index < found)) {
        assert_eq!(makespan(&store, case), expected.then_some(case.into()), "cut at {length}");
    }
    let is_whole = length == 0 || length == HEADER_BYTES || ends.contains(&length);
    assert_eq!(store.warnings().len(), usize::from(!is_whole), "cut at {length}");
}

/// Returns the bytes of a segment with this number of records, and the end of each record.
fn segment_of(cases: u8) -> (Vec<u8>, Vec<usize>) {
    let folder = filled(0..cases);
    let whole = fs::read(only_segment(folder.path())).unwrap();
    let store = Store::read(folder.path()).unwrap();
    let begins = (1..cases).map(|case| usize::try_from(store.places(id(case)).next().unwrap().offset).unwrap());
    let ends = begins.chain([whole.len()]).collect();
    (whole, ends)
}

#[test]
fn a_segment_may_be_cut_at_every_byte() {
    let (whole, ends) = segment_of(2);
    (0..=whole.len()).for_each(|length| torn_at(&whole, &ends, length));
}

#[test]
fn a_store_grows_after_a_cut() {
    let folder = filled([1, 2]);
    let segment = only_segment(folder.path());
    let length = fs::metadata(&segment).unwrap().len();
    File::options().write(true).open(&segment).unwrap().set_len(length - 1).unwrap();
    fill(folder.path(), [2]);
    let store = Store::read(folder.path()).unwrap();
    assert_eq!([1, 2].map(|case| makespan(&store, case)), [Some(1), Some(2)]);
}

/// A power cut may leave zeros in place of the last records.
#[test]
fn zeros_at_the_end_are_a_cut() {
    let (whole, ends) = segment_of(3);
    for begin in [ends[0], ends[0] + 60, ends[1] + 4, ends[1] + HEAD_BYTES + 1] {
        let folder = tempdir().unwrap();
        let zeros = [&whole[..begin], &vec![0; whole.len() - begin][..]].concat();
        fs::write(folder.path().join("x.segment"), zeros).unwrap();
        match Store::read(folder.path()) {
            Ok(store) => assert_eq!((store.warnings().len(), makespan(&store, 0)), (1, Some(0)), "from {begin}"),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Returns a store with one segment of these bytes.
fn store_of(folder: &TempDir, bytes: &[u8]) -> Store {
    fs::write(folder.path().join("a.segment"), bytes).unwrap();
    Store::read(folder.path()).unwrap()
}

/// Checks that a damaged record is reported and missing, can be kept again, and affects no other record.
#[test]
fn a_damaged_record_is_missing_and_all_others_are_found() {
    let (whole, ends) = segment_of(3);
    for byte in ends[0]..ends[1] {
        let mut damaged = whole.clone();
        damaged[byte] ^= 0x10;
        let folder = tempdir().unwrap();
        let store = store_of(&folder, &damaged);
        let told = format!("a.segment: the record at byte {} is damaged", ends[0]);
        assert!(matches!(&store.warnings()[..], [only] if only.contains(&told)), "byte {byte}");
        assert_eq!([0, 1, 2].map(|case| makespan(&store, case)), [Some(0), None, Some(2)], "byte {byte}");
        assert_eq!((store.state(id(1)), store.check().is_ok()), (State::Missing, true));
        fill(folder.path(), [0, 1, 2]);
        let store = Store::read(folder.path()).unwrap();
        assert_eq!([0, 1, 2].map(|case| makespan(&store, case)), [0, 1, 2].map(Some), "byte {byte}");
        assert_eq!((store.places(id(0)).count(), store.places(id(1)).count()), (1, 1));
    }
}

#[test]
fn a_long_stretch_of_damage_is_told_once() {
    let (whole, ends) = segment_of(6);
    for begin in [ends[0], ends[0] + 7, ends[0] + HEAD_BYTES, ends[1] - 1] {
        let mut damaged = whole.clone();
        damaged[begin..ends[3]].fill(0xf5);
        let folder = tempdir().unwrap();
        let store = store_of(&folder, &damaged);
        assert_eq!(store.warnings().len(), 1, "from {begin}");
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(|case| makespan(&store, case).is_some()),
            [true, false, false, false, true, true]
        );
    }
}

/// A record too long to be read for the index is checked when it is requested.
#[test]
fn a_long_record_is_checked_when_it_is_asked_for() {
    let long = |case: u64| Trace { critical_intervals: vec![(0.5, 1e300); 10_000], ..trace(case) };
    let folder = tempdir().unwrap();
    let write = |cases: &[u8]| {
        let store = Store::open(folder.path()).unwrap();
        for case in cases {
            store.append(id(*case), &Ok(long((*case).into()))).unwrap();
        }
        store.finish().unwrap();
    };
    write(&[0, 1, 2]);
    let segment = only_segment(folder.path());
    let mut bytes = fs::read(&segment).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&segment, bytes).unwrap();
    let store = Store::open(folder.path()).unwrap();
    assert_eq!((store.warnings().len(), store.state(id(1)), store.state(id(0))), (0, State::Missing, State::Found));
    assert!(store.get(id(1)).unwrap().is_none() && store.check().is_ok());
    let warnings = store.warnings();
    assert!(warnings.len() == 1 && warnings[0].contains(" is damaged: "), "{warnings:?}");
    store.append(id(1), &Ok(long(1))).unwrap();
    assert_eq!([0, 1, 2].map(|case| makespan(&store, case)), [0, 1, 2].map(Some));
    let store = Store::read(folder.path()).unwrap();
    assert_eq!([0, 1, 2].map(|case| makespan(&store, case)), [0, 1, 2].map(Some));
}

/// Reads a segment of several windows, with records of up to almost a window in length: forwards, backwards, and at
/// random.
#[test]
fn records_are_found_in_any_order() {
    let (folder, cases) = (tempdir().unwrap(), 2000u64);
    let id = |case: u64| CaseId::from_bytes(u128::from(case).to_le_bytes());
    let store = Store::open(folder.path()).unwrap();
    for case in 0..cases {
        let length = if case % 100 == 50 { 10 * case } else { case % 40 };
        let outcomes = (0..length).map(|_| ("a", 0.5)).collect();
        store.append(id(case), &Ok(Trace { outcomes, ..trace(case) })).unwrap();
    }
    store.finish().unwrap();
    let bytes = fs::metadata(only_segment(folder.path())).unwrap().len();
    assert!(bytes > 4 << 18, "{bytes} bytes are several windows");
    let makespan = |store: &Store, case| store.get(id(case)).unwrap().unwrap().unwrap().makespan.ps();
    let reread = Store::read(folder.path()).unwrap();
    for store in [&store, &reread] {
        assert!((0..cases).chain((0..cases).rev()).all(|case| makespan(store, case) == case));
        assert!((0..cases).map(|turn| turn * 617 % cases).all(|case| makespan(store, case) == case));
    }
}

#[test]
fn other_files_and_versions_are_rejected() {
    let read = |name: &str, bytes: &[u8]| {
        let folder = tempdir().unwrap();
        fs::write(folder.path().join(name), bytes).unwrap();
        Store::read(folder.path()).map(drop).map_err(|error| error.to_string())
    };
    let mut newer = segment::header();
    newer[14] += 1;
    assert!(
        read("a.segment", &newer).unwrap_err().contains("has version 2 of its format, and this parsim reads version 1")
    );
    assert!(read("a.segment", b"a letter to somebody").unwrap_err().contains("this is not a segment"));
    assert!(read("a.segment", b"a note").unwrap_err().contains("this is not a segment"));
    assert!(read("README", b"a letter to somebody").is_ok());
}

#[test]
fn a_folder_that_cannot_be_is_an_error() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(Store::open(&file.join("store")).is_err_and(|error| error.to_string().contains("cannot be written")));
    assert!(Store::read(&folder.path().join("nowhere")).unwrap().get(id(1)).unwrap().is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cuts_lose_only_what_they_cut(cases in 1u8..6, cut in 0.0..=1.0) {
        let (whole, ends) = segment_of(cases);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a short file")]
        let length = (cut * whole.len() as f64) as usize;
        torn_at(&whole, &ends, length);
    }

    #[test]
    fn no_bytes_make_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), at in any::<prop::sample::Index>()) {
        let (mut whole, _) = segment_of(3);
        let begin = at.index(whole.len());
        whole.iter_mut().skip(begin).zip(bytes).for_each(|(byte, other)| *byte = other);
        let folder = tempdir().unwrap();
        fs::write(folder.path().join("x.segment"), whole).unwrap();
        if let Ok(store) = Store::read(folder.path()) {
            (0..3).for_each(|case| drop(store.get(id(case))));
        }
    }
}
