use super::*;
use crate::program::process::{Message, MessagePattern};
use crate::units::Bytes;

fn on(sends: Sends) -> UntimedMachine {
    UntimedMachine { sends, packet_bytes: 100, unit_bytes: 100, has_speed: true }
}

fn faults(program: &dyn Program, ranks: u32) -> Vec<String> {
    rehearse(program, (ranks, 0), on(Sends::Buffered), Streams::new(1))
        .faults()
        .into_iter()
        .map(|fault| fault.message)
        .collect()
}

#[test]
fn a_send_without_receive_is_named_and_a_receive_without_send() {
    let program = async |me: Process| {
        me.phase("first");
        match me.rank() {
            0 => me.send(1, Message::new(1)).await,
            1 => {
                me.receive(0).await;
                me.phase("second");
                me.receive(2).await;
            }
            _ => me.send(0, Message::new(1).tag(7)).await,
        }
    };
    let expected = [
        "rank 1, phase second: the receive of a message from rank 2 has no matching send",
        "rank 2, phase first: a send with tag 7 to rank 0 without a matching receive",
    ];
    assert_eq!(faults(&program, 3), expected);
}

#[test]
fn a_circle_is_shown_and_nothing_that_follows_from_it() {
    let program = async |me: Process| {
        if me.rank() < 3 {
            me.receive((me.rank() + 2) % 3).await;
            me.send((me.rank() + 1) % 3, Message::new(1)).await;
        } else {
            me.send(0, Message::new(1)).await;
            me.receive(0).await;
        }
    };
    let circle = "3 ranks wait for messages from each other in a cycle: rank 0 from rank 2, rank 2 from rank 1, rank 1 from rank 0";
    assert_eq!(faults(&program, 4), [circle]);
}

#[test]
fn a_wait_for_another_tag_than_the_one_sent_is_named() {
    let swap = async |me: Process| {
        let other = 1 - me.rank();
        let _sent = me.start_send(other, Message::new(1).tag(3)).await;
        me.receive_where(MessagePattern { from: Some(other), tag: Some(2) }).await;
    };
    let waits = [(0, 1), (1, 0)]
        .map(|(rank, other)| format!("rank {rank} waits for tag 2 from rank {other}, which has sent tag 3"));
    assert_eq!(faults(&swap, 2), [waits.join("; ")]);
}

#[test]
fn a_rendezvous_waits_for_its_receive() {
    let swap = async |me: Process| {
        let other = 1 - me.rank();
        me.send(other, Message::new(1)).await;
        me.receive(other).await;
    };
    let with = |sends| {
        let faults = rehearse(&swap, (2, 0), on(sends), Streams::new(1)).faults();
        faults.into_iter().map(|fault| fault.message).collect::<Vec<_>>()
    };
    let circle = "2 ranks wait for each other in a cycle: rank 0 sends 1 B to rank 1, rank 1 sends 1 B to rank 0";
    assert_eq!(with(Sends::Rendezvous), [circle]);
    assert_eq!(with(Sends::Eager { up_to: Bytes::new(0) }), [circle]);
    assert_eq!(with(Sends::Eager { up_to: Bytes::new(1) }), Vec::<String>::new());
    assert_eq!(with(Sends::Buffered), Vec::<String>::new());
    let by_itself = async |me: Process| {
        me.send(0, Message::new(1)).await;
        me.receive(0).await;
    };
    let rehearsal = rehearse(&by_itself, (1, 0), on(Sends::Rendezvous), Streams::new(1));
    assert!(rehearsal.faults()[0].message.ends_with("the send to itself waits for a receive that follows it"));
}

/// Each rank of a ring waits for its send, which the next one never receives: no order of receives would help.
#[test]
fn a_missing_receive_is_named_and_not_the_cycle_of_senders_behind_it() {
    let ring = async |me: Process| {
        let sent = me.start_send((me.rank() + 1) % me.ranks(), Message::new(9)).await;
        me.wait(sent).await;
    };
    let with = |sends| {
        let faults = rehearse(&ring, (3, 0), on(sends), Streams::new(1)).faults();
        faults.into_iter().map(|fault| fault.message).collect::<Vec<_>>()
    };
    let missing =
        |rank: u32| format!("rank {}, phase program: a send to rank {rank} without a matching receive", (rank + 2) % 3);
    let expected: Vec<_> = (0..3).map(missing).collect();
    for sends in [Sends::Rendezvous, Sends::Eager { up_to: Bytes::new(8) }, Sends::Buffered] {
        assert_eq!(with(sends), expected, "{sends:?}");
    }
}

#[test]
fn operations_and_barriers_are_followed() {
    let program = async |me: Process| {
        let other = 1 - me.rank();
        let coming = me.start_receive(MessagePattern::default()).await;
        let going = me.start_send(other, Message::new(3)).await;
        let first = me.wait_any(&[coming, going]).await;
        assert!(first < 2);
        me.wait_all([coming, going]).await;
        me.barrier().await;
    };
    assert_eq!(faults(&program, 2), Vec::<String>::new());
    let late = async |me: Process| {
        if me.rank() == 0 {
            me.barrier().await;
        }
    };
    assert_eq!(faults(&late, 2), ["rank 0, phase program: not all ranks reach the barrier"]);
}

#[test]
fn a_send_to_nobody_is_a_fault() {
    let program = async |me: Process| me.send(me.ranks(), Message::new(1)).await;
    assert_eq!(faults(&program, 1), ["rank 0, phase program: sends to rank 1, but the ranks are 0 to 0"]);
}
