//! Positions of vertices in a drawing.

use std::f64::consts::TAU;

/// Returns points on a circle about the origin, clockwise from the top.
pub(super) fn circle(count: u32, radius: f64) -> impl Iterator<Item = (f64, f64)> {
    (0..count).map(move |index| {
        let angle = TAU * f64::from(index) / f64::from(count);
        (radius * angle.sin(), -radius * angle.cos())
    })
}

/// Returns the radius at which `count` points on a circle are one unit apart.
pub(super) fn roomy_radius(count: u32) -> f64 {
    f64::from(count.max(1)) / TAU
}

/// The largest number of nodes of a tree that is drawn in rows.
const LONGEST_ROW: u32 = 32;
/// The distance of neighbours on the circles of a tree, and the least distance of two circles as its multiple.
const CLOSE: f64 = 0.6;
const BETWEEN_CIRCLES: f64 = 3.0;

/// Returns the positions of the nodes of a tree and of its switches, which are given by level from the leaves on; `None`
/// for a small tree, which has room in rows. The switches of a level are on a circle, the top inside or in the middle, and
/// nodes are around their leaf.
pub(super) fn tree_on_circles(nodes: u32, switches: &[u32]) -> Option<Vec<(f64, f64)>> {
    if nodes <= LONGEST_ROW {
        return None;
    }
    let of_leaf = nodes / switches.first()?;
    let spoke = roomy_radius(of_leaf).max(1.0);
    let circles = switch_circles(switches, 2.0 * spoke + 1.0);
    let around = |(x, y): &(f64, f64)| {
        let centre = (*x, *y);
        circle(of_leaf, CLOSE * spoke).map(move |(right, down)| (centre.0 + right, centre.1 + down))
    };
    let below: Vec<_> = circles.first()?.iter().flat_map(around).collect();
    Some(below.into_iter().chain(circles.into_iter().flatten()).collect())
}

/// Returns the positions of the switches of each level, on circles on which leaves have this much `room`.
fn switch_circles(switches: &[u32], room: f64) -> Vec<Vec<(f64, f64)>> {
    let on_circles = switches.iter().filter(|count| **count > 1).count();
    let most = switches[..on_circles].iter().skip(1).max().copied().unwrap_or(0);
    let outer = room * roomy_radius(switches[0]);
    let inner = roomy_radius(most).max(outer / 2.0);
    let inwards = f64::from(u32::try_from(on_circles.saturating_sub(1)).unwrap_or(u32::MAX));
    let outer = outer.max(BETWEEN_CIRCLES.mul_add(inwards, inner));
    let level = |(level, count): (u32, &u32)| {
        let radius = if *count > 1 { outer - (outer - inner) * f64::from(level) / inwards.max(1.0) } else { 0.0 };
        circle(*count, CLOSE * radius).collect()
    };
    (0..).zip(switches).map(level).collect()
}

/// Returns the position of a corner of a hypercube: three bits form a cube in oblique projection, the next three a cube
/// of cubes.
pub(super) fn corner(number: u32) -> (f64, f64) {
    let steps = [(1.0, 0.0), (0.0, 1.0), (0.4, 0.4)];
    let mut place = (0.0, 0.0);
    let mut scale = 1.0;
    for bit in 0..u32::BITS {
        let (right, down) = steps[bit as usize % 3];
        if number >> bit & 1 == 1 {
            place = (place.0 + right * scale, place.1 + down * scale);
        }
        if bit % 3 == 2 {
            scale *= 3.0;
        }
    }
    place
}

/// Returns the position of a node of a grid. The first two coordinates go right and down, the third shifts obliquely;
/// later ones shift whole pictures of three dimensions, alternately right and down. `sides` and `coordinates` begin
/// with the fastest.
pub(super) fn grid_place(sides: &[u32], coordinates: impl Iterator<Item = u32>) -> (f64, f64) {
    let (mut place, mut extent) = ((0.0, 0.0), (0.0_f64, 0.0_f64));
    for (axis, (side, at)) in sides.iter().zip(coordinates).enumerate() {
        let (at, last) = (f64::from(at), f64::from(side - 1));
        match axis {
            0 => (place.0, extent.0) = (at, last),
            1 => (place.1, extent.1) = (at, last),
            2 => {
                let lift = at / f64::from(*side);
                place = (place.0 + lift, place.1 - lift);
                extent = (extent.0 + 1.0, extent.1 + 1.0);
            }
            _ if axis % 2 == 1 => {
                place.0 += at * (extent.0 + 2.0);
                extent.0 += last * (extent.0 + 2.0);
            }
            _ => {
                place.1 += at * (extent.1 + 2.0);
                extent.1 += last * (extent.1 + 2.0);
            }
        }
    }
    place
}
