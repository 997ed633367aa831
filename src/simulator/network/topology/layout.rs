//! Positions of vertices in a drawing.

use std::f64::consts::TAU;

/// Points on a circle about the origin, clockwise from the top.
pub(super) fn circle(count: u32, radius: f64) -> impl Iterator<Item = (f64, f64)> {
    (0..count).map(move |index| {
        let angle = TAU * f64::from(index) / f64::from(count);
        (radius * angle.sin(), -radius * angle.cos())
    })
}

/// The radius at which `count` points on a circle stand one unit apart along it.
pub(super) fn roomy_radius(count: u32) -> f64 {
    f64::from(count.max(1)) / TAU
}

/// The corner of a hypercube: three bits make a cube drawn aslant, the next three a cube of cubes.
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
