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
