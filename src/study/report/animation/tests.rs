use super::*;
use crate::analysis::read_table;
use parsim_sim::trace::events::Events;
use serde_json::Value;

const TABLE: &str =
    "id,process,clock,service_s,antecedents,kind\n1,0,1,2,,work\n2,1,1,1,,work\n3,1,2,0,1:0.5,receive\n4,1,3,3,,work\n";

fn played(events: &Events, bytes: usize) -> Value {
    let path = CriticalPath::of(events).unwrap();
    serde_json::to_value(Animation::of("a < b", &path, None, None, bytes)).unwrap()
}

/// Returns the numbers in a packed text.
fn numbers(packed: &Value) -> Vec<u64> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes: Vec<u8> = Vec::new();
    for four in packed.as_str().unwrap().as_bytes().chunks(4) {
        let bits = four.iter().fold(0_u32, |bits, digit| {
            bits << 6 | u32::try_from(DIGITS.find(char::from(*digit)).unwrap_or(0)).unwrap()
        });
        let known = four.iter().filter(|digit| **digit != b'=').count() - 1;
        bytes.extend(&bits.to_be_bytes()[1..=known]);
    }
    let mut numbers = vec![];
    let (mut number, mut shift) = (0, 0);
    for byte in bytes {
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            numbers.push(std::mem::take(&mut number));
            shift = 0;
        }
    }
    numbers
}

#[test]
fn activities_messages_and_the_path_are_those_of_the_trace() {
    const S: u64 = 1_000_000_000_000;
    let run = played(&read_table(TABLE.as_bytes()).unwrap(), usize::MAX);
    assert_eq!(run["makespan"], 5 * S + S / 2);
    let exact = &run["detail"]["Exact"];
    assert_eq!(exact["labels"][0], serde_json::json!(["work", ""]));
    // Process 0 works for 2 s; process 1 works for 1 s, waits for the message of 2.5 s, and works for 3 s.
    assert_eq!(numbers(&exact["activities"]), [1, 2 * S, 0, 3, S, 0, S + S / 2, 1, 3 * S, 0]);
    assert_eq!(numbers(&exact["messages"]), [1, 2 * S + S / 2, S / 2, 0, 1]);
    assert_eq!(numbers(&exact["path"]), [3, 2 * S, 0, 0, 0, 0, S / 2, 1, 1, 0, 2, 3 * S, 0, 1, 1, 0]);
}

#[test]
fn more_than_there_is_room_for_is_told_in_bins() {
    let run = played(&read_table(TABLE.as_bytes()).unwrap(), 3);
    let binned = &run["detail"]["Binned"];
    assert_eq!(binned["kinds"], serde_json::json!(["waiting", "work", "receive"]));
    assert_eq!((binned["path"][0].as_u64(), binned["path"][239].as_u64()), (Some(0), Some(1)));
    // Two groups, three kinds, 240 bins of two bytes.
    assert_eq!(binned["activities"].as_str().unwrap().len(), (2 * 3 * 240 * 2 / 3) * 4);
}

#[test]
fn a_run_of_nothing_can_be_played() {
    for bytes in [0, usize::MAX] {
        assert_eq!(played(&Events::default(), bytes)["makespan"], 0);
    }
}

#[test]
fn many_vertices_are_shown_in_groups() {
    let places: Vec<_> = (0..2500_u32).map(|vertex| (f64::from(vertex % 50), f64::from(vertex / 50))).collect();
    let drawing = Drawing::new("", &places, 2500, Vec::new());
    let events = read_table(TABLE.as_bytes()).unwrap();
    let path = CriticalPath::of(&events).unwrap();
    let run = Animation::of("many", &path, None, Some(drawing), usize::MAX);
    assert!(!run.is_exact());
    let run = serde_json::to_value(run).unwrap();
    let groups = run["scene"]["places"].as_array().unwrap().len();
    assert!((100..=256).contains(&groups), "{groups}");
    assert_eq!(run["scene"]["groups"][0][0], 0);
}
