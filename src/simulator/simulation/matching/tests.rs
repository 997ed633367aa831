//! Comparison of message matching with a slow reference implementation.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Act {
    Send {
        from: u32,
        to: u32,
        tag: u32,
    },
    /// One of the messages in flight arrives.
    Arrive {
        which: usize,
    },
    Receive {
        rank: u32,
        pattern: MessagePattern,
    },
    /// Time advances.
    Pass,
}

fn any_act() -> impl Strategy<Value = Act> {
    let choice = |count: u32| prop_oneof![Just(None), (0..count).prop_map(Some)];
    prop_oneof![
        3 => (0u32..3, 0u32..2, 0u32..2).prop_map(|(from, to, tag)| Act::Send { from, to, tag }),
        3 => any::<usize>().prop_map(|which| Act::Arrive { which }),
        3 => (0u32..2, choice(3), choice(2))
            .prop_map(|(rank, from, tag)| Act::Receive { rank, pattern: MessagePattern { from, tag } }),
        1 => Just(Act::Pass),
    ]
}

#[derive(Debug)]
struct ReferenceMessage {
    from: u32,
    to: u32,
    tag: u32,
    /// The time of arrival, and the number of messages that had arrived before.
    arrival: Option<(u64, usize)>,
    is_matched: bool,
}

/// The reference implementation: messages and receives in the order of the calls, searched completely for every rule.
#[derive(Debug, Default)]
struct ReferenceMatching {
    overtaking: Overtaking,
    messages: Vec<ReferenceMessage>,
    /// The rank, the pattern and the matched message of each receive.
    receives: Vec<(u32, MessagePattern, Option<usize>)>,
}

impl ReferenceMatching {
    fn settle(&mut self) {
        while let Some((message, receive)) = self.next_match() {
            self.messages[message].is_matched = true;
            self.receives[receive].2 = Some(message);
        }
    }

    fn next_match(&self) -> Option<(usize, usize)> {
        let waits = |index: &usize| self.messages[*index].arrival.is_some() && !self.messages[*index].is_matched;
        let mut arrived: Vec<usize> = (0..self.messages.len()).filter(waits).collect();
        let is_ordered = self.overtaking == Overtaking::Forbidden;
        arrived.sort_by_key(|index| {
            let ReferenceMessage { arrival, from, .. } = self.messages[*index];
            let (time, place) = arrival.expect("it has arrived");
            (time, from, if is_ordered { *index } else { place })
        });
        arrived.into_iter().find_map(|message| Some((message, self.receive_for(message)?)))
    }

    fn receive_for(&self, index: usize) -> Option<usize> {
        let message = &self.messages[index];
        let fits = |message: &ReferenceMessage, receive: &(u32, MessagePattern, Option<usize>)| {
            receive.0 == message.to && receive.2.is_none() && receive.1.matches(message.from, message.tag)
        };
        let first = self.receives.iter().position(|receive| fits(message, receive))?;
        let before = if self.overtaking == Overtaking::Allowed { 0 } else { index };
        let older = self.messages[..before].iter().filter(|other| other.from == message.from && !other.is_matched);
        let is_blocked = older.into_iter().any(|other| fits(other, &self.receives[first]));
        (!is_blocked).then_some(first)
    }
}

/// Message matching and its reference implementation side by side.
struct MatchingPair {
    office: Matching,
    slow: ReferenceMatching,
    now: u64,
    handles: Vec<u32>,
    operations: Vec<Operation>,
}

impl MatchingPair {
    fn act(&mut self, act: Act) {
        let now = SimTime::from_ps(self.now);
        match act {
            Act::Send { from, to, tag } => {
                self.handles.push(self.office.post(now, from, to, Message::new(1).tag(tag)).1);
                self.slow.messages.push(ReferenceMessage { from, to, tag, arrival: None, is_matched: false });
            }
            Act::Arrive { which } => {
                let under_way = self.slow.messages.iter().enumerate().filter(|(_, one)| one.arrival.is_none());
                let under_way: Vec<usize> = under_way.map(|(index, _)| index).collect();
                if under_way.is_empty() {
                    return;
                }
                let index = under_way[which % under_way.len()];
                let place = self.slow.messages.iter().filter(|message| message.arrival.is_some()).count();
                self.slow.messages[index].arrival = Some((self.now, place));
                self.office.delivered(now, self.handles[index], 0);
                assert!(self.office.matches.drain(..).all(|found| found.by == self.handles[index]));
            }
            Act::Receive { rank, pattern } => {
                self.slow.receives.push((rank, pattern, None));
                self.operations.push(self.office.receive(rank, pattern).0);
            }
            Act::Pass => self.now += 1,
        }
        self.slow.settle();
    }

    /// Returns the message matched with each receive.
    fn met(&self) -> Vec<Option<usize>> {
        let met =
            |operation: &Operation| match self.office.operations.get(operation.place).expect("it is not ended").state {
                OperationState::Received(handle) => self.handles.iter().position(|one| *one == handle),
                _ => None,
            };
        self.operations.iter().map(met).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn matching_agrees_with_the_reference(
        acts in prop::collection::vec(any_act(), 1..60),
        overtaking in prop_oneof![Just(Overtaking::Forbidden), Just(Overtaking::Allowed)],
    ) {
        let mut offices = MatchingPair {
            office: Matching::new(3, overtaking),
            slow: ReferenceMatching { overtaking, ..ReferenceMatching::default() },
            now: 0,
            handles: Vec::new(),
            operations: Vec::new(),
        };
        for act in acts {
            offices.act(act);
            let expected: Vec<Option<usize>> = offices.slow.receives.iter().map(|receive| receive.2).collect();
            prop_assert_eq!(offices.met(), expected, "after {:?}", act);
        }
        if overtaking == Overtaking::Forbidden {
            assert_in_order(&offices.slow);
        }
    }
}

/// A later message of the same sender, receiver and tag is not received by the earlier of two receives that both fit.
fn assert_in_order(office: &ReferenceMatching) {
    for (place, (rank, pattern, first)) in office.receives.iter().enumerate() {
        for (.., second) in office.receives[place + 1..].iter().filter(|later| later.0 == *rank) {
            let Some(second) = second else { continue };
            let message = &office.messages[*second];
            if !pattern.matches(message.from, message.tag) {
                continue;
            }
            // An earlier receive that fits has received another message, and not a later one of the same sender.
            let first = first.expect("the earlier receive is served first");
            assert!(office.messages[first].from != message.from || first < *second, "{first} and {second}");
        }
    }
}
