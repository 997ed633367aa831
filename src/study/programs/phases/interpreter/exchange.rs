//! Exchanges with neighbours.

use crate::programs::communicator_tag::FIRST_OWN_TAG;
use crate::programs::phases::step::Neighbours;
use parsim_sim::program::{Grid, Message, MessagePattern, Process};

/// Exchanges messages with the neighbours. Each direction has a separate tag, because on a short ring both neighbours are
/// the same rank.
pub(super) async fn exchange(me: &Process, neighbours: [Option<u32>; 4], bytes: u64) {
    let mut under_way = [None; 4];
    for (direction, to) in neighbours.into_iter().enumerate() {
        if let Some(to) = to {
            let message = Message::new(bytes).tag(exchange_tag(direction));
            under_way[direction] = Some(me.start_send(to, message).await);
        }
    }
    for (direction, from) in neighbours.into_iter().enumerate() {
        if let Some(from) = from {
            let tag = Some(exchange_tag(direction ^ 1));
            me.receive_where(MessagePattern { from: Some(from), tag }).await;
        }
    }
    for operation in under_way.into_iter().flatten() {
        me.wait(operation).await;
    }
}

fn exchange_tag(direction: usize) -> u32 {
    FIRST_OWN_TAG + u32::try_from(direction).expect("there are four directions")
}

impl Neighbours {
    /// Returns the neighbours of a rank. Opposite directions are adjacent.
    pub(in crate::programs::phases) fn of(self, rank: u32, grid: Grid) -> [Option<u32>; 4] {
        let (row, column) = grid.coordinates(rank);
        let all = |closed| beside(rank, grid.ranks(), closed);
        let along = |closed| beside(column, grid.columns, closed).map(|column| Some(row * grid.columns + column?));
        let down = |closed| beside(row, grid.rows(), closed).map(|row| Some(row? * grid.columns + column));
        let ([after, before], [below, above]) = match self {
            Self::Line => (all(false), [None; 2]),
            Self::Ring => (all(true), [None; 2]),
            Self::LeftAndRight => (along(false), [None; 2]),
            Self::AboveAndBelow => (down(false), [None; 2]),
            Self::Grid => (along(false), down(false)),
            Self::Torus => (along(true), down(true)),
        };
        [after, before, below, above]
    }
}

/// Returns the places after and before `place` in a line or ring of `count` places.
fn beside(place: u32, count: u32, closed: bool) -> [Option<u32>; 2] {
    let after = (place + 1 < count || closed).then(|| (place + 1) % count);
    let before = (place > 0 || closed).then(|| (place + count - 1) % count);
    [after, before].map(|neighbour| neighbour.filter(|_| count > 1))
}
