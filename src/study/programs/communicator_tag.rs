//! Tags that keep the messages of communicators apart, as the contexts of MPI do.
//!
//! The simulator matches messages by sender and tag. A program therefore gives the messages of each communicator tags of
//! their own, above all those that it can use otherwise.

/// The first tag above all those that a program can give its messages.
pub const FIRST_OWN_TAG: u32 = 1 << 31;
/// The number of tags of a communicator.
pub const TAGS_OF_A_COMMUNICATOR: u32 = 1 << 20;
/// The largest number of communicators with their own tags. The tags above theirs include those of collective operations.
pub const MAX_COMMUNICATORS: u32 = (u32::MAX - FIRST_OWN_TAG) / TAGS_OF_A_COMMUNICATOR - 1;

/// Returns the tag of the simulator for messages with `tag` in communicator `number`. Number 0 has all ranks, and its tags
/// are those of the simulator. The result is `None` if the tag or the number is too large.
pub const fn tag_within(number: u32, tag: u32) -> Option<u32> {
    if number == 0 {
        return Some(tag);
    }
    let is_known = number <= MAX_COMMUNICATORS && tag < TAGS_OF_A_COMMUNICATOR;
    if is_known { Some(FIRST_OWN_TAG + number * TAGS_OF_A_COMMUNICATOR + tag) } else { None }
}

/// Returns the number of the communicator, and the tag within it, of a tag of the simulator; `None` if it belongs to no
/// communicator.
pub const fn communicator_of(tag: u32) -> Option<(u32, u32)> {
    let Some(own) = tag.checked_sub(FIRST_OWN_TAG) else { return None };
    let number = own / TAGS_OF_A_COMMUNICATOR;
    if number == 0 || number > MAX_COMMUNICATORS { None } else { Some((number, own % TAGS_OF_A_COMMUNICATOR)) }
}

/// Returns the serial number of a non-blocking collective operation of a communicator, which
/// [side tasks](parsim_sim::program::SideTasks) need. The communicators of a rank that have fewer operations in progress
/// than the distance between them share no number.
pub const fn serial_within(communicator: u32, number: u32) -> u32 {
    const DISTANCE: u32 = 127;
    number.wrapping_add(communicator.wrapping_mul(DISTANCE))
}

/// Returns the tag of messages of a trace. Beyond the largest tag or number of [`tag_within`], only the tag counts.
pub const fn tag_of_trace(number: u32, tag: u32) -> u32 {
    match tag_within(number, tag) {
        Some(own) => own,
        None => tag,
    }
}

/// Returns the name for users of a tag within a communicator of a trace; `None` if it belongs to no communicator.
pub fn name_in_trace(tag: u32) -> Option<String> {
    communicator_of(tag).map(|(number, tag)| format!("{tag} of communicator {number}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsim_sim::trace::RESERVED_TAGS;

    #[test]
    fn tags_of_communicators_are_unique_and_below_those_of_collective_operations() {
        for (number, tag) in [(1, 0), (1, TAGS_OF_A_COMMUNICATOR - 1), (2, 0), (MAX_COMMUNICATORS, 7)] {
            let own = tag_within(number, tag).unwrap();
            assert!((FIRST_OWN_TAG..RESERVED_TAGS).contains(&own));
            assert_eq!(communicator_of(own), Some((number, tag)));
        }
        assert!(tag_within(MAX_COMMUNICATORS, TAGS_OF_A_COMMUNICATOR - 1).unwrap() < RESERVED_TAGS);
        assert_eq!(tag_within(0, u32::MAX), Some(u32::MAX));
        assert_eq!([tag_within(1, TAGS_OF_A_COMMUNICATOR), tag_within(MAX_COMMUNICATORS + 1, 0)], [None; 2]);
        assert_eq!([7, FIRST_OWN_TAG + 3, RESERVED_TAGS, u32::MAX].map(communicator_of), [None; 4]);
    }
}
