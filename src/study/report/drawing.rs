//! Drawings of graphs.

use super::lettering::Lettered;
use parsim_sim::units::escaped;
use std::fmt;

/// The distance in the picture, in pixels, of vertices one unit apart. It is larger if vertices are close together.
const UNIT: f64 = 64.0;
/// The smallest distance between two vertices in the picture, in pixels.
const CLOSEST: f64 = 34.0;
/// The width, in pixels, from which on vertices are closer together.
const WIDE: f64 = 1600.0;
/// The largest ratio of width and height of what is drawn.
const FLATTEST: f64 = 4.0;
const LARGEST: f64 = 6000.0;
const MARGIN: f64 = 56.0;
const TITLE: f64 = 34.0;
const STYLE: &str = "
  .title { font: 600 17px sans-serif; fill: #1f2933 }
  .link { fill: none; stroke: #7b8794; stroke-width: 1.6 }
  .node { fill: #2b6cb0; stroke: #ffffff; stroke-width: 1.5 }
  .switch { fill: #f6ad55; stroke: #ffffff; stroke-width: 1.5 }
  .number { font-family: sans-serif; fill: #ffffff; text-anchor: middle }
";

type Coordinates = (f64, f64);

/// Vertices at given positions, and links between them, displayed as SVG.
///
/// A link that would run through other vertices is bent around them.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    title: String,
    places: Vec<Coordinates>,
    nodes: usize,
    links: Vec<(u32, u32)>,
    radius: f64,
    size: Coordinates,
}

impl Drawing {
    /// Creates a drawing of `links` between vertices at `places` (x to the right, y down, any scale). The first `nodes`
    /// vertices are nodes, the others switches.
    #[must_use]
    pub fn new(title: &str, places: &[Coordinates], nodes: u32, links: Vec<(u32, u32)>) -> Self {
        let closest = closest(places);
        let extent = |axis: fn(&Coordinates) -> f64| {
            let values = || places.iter().map(axis);
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
        };
        let ((left, right), (top, bottom)) = (extent(|place| place.0), extent(|place| place.1));
        let wide = (right - left).max(bottom - top).max(1.0);
        let scale = UNIT.min(WIDE / wide).max(CLOSEST / closest).min(LARGEST / wide);
        // Rows of many vertices are drawn apart, so that links between them can be told apart.
        let height = bottom - top;
        let down = if height > 0.0 { ((right - left) / (FLATTEST * height)).max(1.0) * scale } else { scale };
        let place = |place: &Coordinates| {
            ((place.0 - left).mul_add(scale, MARGIN), (place.1 - top).mul_add(down, MARGIN + TITLE))
        };
        Self {
            title: title.to_owned(),
            places: places.iter().map(place).collect(),
            nodes: nodes as usize,
            links,
            radius: (0.36 * closest * scale).min(15.0),
            size: (
                (right - left).mul_add(scale, 2.0 * MARGIN).max(360.0).max(title_width(title)),
                height.mul_add(down, 2.0 * MARGIN + TITLE),
            ),
        }
    }

    /// Returns the distance of a link from the straight line, to its left in the direction of the link.
    pub(super) fn bend(&self, from: usize, to: usize) -> f64 {
        let (start, end) = (self.places[from], self.places[to]);
        let length = distance(start, end);
        // A link that only brushes a neighbour of its ends, as between two rows, stays straight.
        let is_between = |place: Coordinates| (0.2..=0.8).contains(&share_along(place, start, end));
        let blocked = |(index, place): (usize, &Coordinates)| {
            let is_near = distance_to_segment(*place, start, end) < 0.7 * self.radius;
            index != from && index != to && is_near && is_between(*place)
        };
        if self.places.iter().enumerate().any(blocked) { 0.045f64.mul_add(length, 1.7 * self.radius) } else { 0.0 }
    }

    /// Returns the same drawing with another title.
    #[must_use]
    pub(super) fn with_title(self, title: String) -> Self {
        let width = title_width(&title);
        Self { title, ..self }.with_width(width)
    }

    /// Returns the same drawing with vertices no larger than `radius`.
    pub(super) fn with_radius(mut self, radius: f64) -> Self {
        self.radius = self.radius.min(radius);
        self
    }

    /// Returns the same drawing on paper of at least this width.
    pub(super) fn with_width(mut self, width: f64) -> Self {
        self.size.0 = self.size.0.max(width);
        self
    }

    /// Returns the position of each vertex.
    pub(super) fn places(&self) -> &[Coordinates] {
        &self.places
    }

    /// Returns the number of vertices that are nodes.
    pub(super) const fn nodes(&self) -> usize {
        self.nodes
    }

    /// Returns the radius of a vertex.
    pub(super) const fn radius(&self) -> f64 {
        self.radius
    }

    /// Returns the width and the height.
    pub(super) const fn size(&self) -> Coordinates {
        self.size
    }

    /// Returns the path of a link in SVG syntax. A straight link is moved by `aside` to its right in the direction of
    /// the link.
    pub(super) fn path(&self, from: u32, to: u32, aside: f64) -> String {
        let (from, to) = (from as usize, to as usize);
        let ((x1, y1), (x2, y2)) = (self.places[from], self.places[to]);
        let length = distance((x1, y1), (x2, y2));
        let (along_x, along_y) = ((x2 - x1) / length, (y2 - y1) / length);
        let bend = self.bend(from, to);
        if bend == 0.0 {
            let (x, y) = (-along_y * aside, along_x * aside);
            return format!("M{:.1} {:.1}L{:.1} {:.1}", x1 + x, y1 + y, x2 + x, y2 + y);
        }
        let out = bend / 0.75;
        let (side_x, side_y) = (along_y * out, -along_x * out);
        let reach = 0.18 * length;
        let (ax, ay) = (along_x.mul_add(reach, x1 + side_x), along_y.mul_add(reach, y1 + side_y));
        let (bx, by) = (along_x.mul_add(-reach, x2 + side_x), along_y.mul_add(-reach, y2 + side_y));
        format!("M{x1:.1} {y1:.1}C{ax:.1} {ay:.1} {bx:.1} {by:.1} {x2:.1} {y2:.1}")
    }

    /// Writes everything before the first link, with `room` below the picture.
    pub(super) fn write_opening(&self, f: &mut fmt::Formatter<'_>, style: &str, room: f64) -> fmt::Result {
        let (width, height) = (self.size.0, self.size.1 + room);
        writeln!(
            f,
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}">"#
        )?;
        writeln!(f, "<style>{style}</style>")?;
        writeln!(f, r##"<rect width="100%" height="100%" fill="#ffffff"/>"##)?;
        let title = escaped(&self.title).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        writeln!(f, r#"<text class="title" x="20" y="30">{title}</text>"#)
    }

    pub(super) fn write_vertices(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.places.iter().enumerate().try_for_each(|(vertex, place)| self.write_vertex(f, vertex, *place))
    }

    fn write_vertex(&self, f: &mut fmt::Formatter<'_>, vertex: usize, (x, y): Coordinates) -> fmt::Result {
        let radius = self.radius;
        if vertex < self.nodes {
            writeln!(f, r#"<circle class="node" cx="{x:.1}" cy="{y:.1}" r="{radius:.1}"/>"#)?;
        } else {
            let (left, top, side) = (x - radius, y - radius, 2.0 * radius);
            writeln!(
                f,
                r#"<rect class="switch" x="{left:.1}" y="{top:.1}" width="{side:.1}" height="{side:.1}" rx="3"/>"#
            )?;
        }
        let digits = vertex.max(1).ilog10() + 1;
        let font = radius * if digits < 3 { 1.0 } else { 0.75 };
        writeln!(f, r#"<text class="number" x="{x:.1}" y="{y:.1}" dy="0.35em" font-size="{font:.1}">{vertex}</text>"#)
    }
}

impl Lettered for Drawing {
    fn titled(self, title: String) -> Self {
        self.with_title(title)
    }

    /// Returns the drawing, which has no legend.
    fn without_legend(self) -> Self {
        self
    }
}

impl fmt::Display for Drawing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_opening(f, STYLE, 0.0)?;
        for (from, to) in &self.links {
            writeln!(f, r#"<path class="link" d="{}"/>"#, self.path(*from, *to, 0.0))?;
        }
        self.write_vertices(f)?;
        writeln!(f, "</svg>")
    }
}

/// Returns the width of a title in pixels, in a wide typeface.
fn title_width(title: &str) -> f64 {
    title.chars().map(|_| 10.5).sum::<f64>() + 40.0
}

/// Returns the distance of the two closest points, or one if there are fewer than two.
fn closest(places: &[Coordinates]) -> f64 {
    let mut sorted = places.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut closest = f64::INFINITY;
    for (index, place) in sorted.iter().enumerate() {
        for other in &sorted[index + 1..] {
            if other.0 - place.0 >= closest {
                break;
            }
            closest = closest.min(distance(*place, *other));
        }
    }
    if closest.is_finite() && closest > 0.0 { closest } else { 1.0 }
}

fn distance(a: Coordinates, b: Coordinates) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

fn distance_to_segment(point: Coordinates, start: Coordinates, end: Coordinates) -> f64 {
    let along = (end.0 - start.0, end.1 - start.1);
    let share = share_along(point, start, end).clamp(0.0, 1.0);
    distance(point, (along.0.mul_add(share, start.0), along.1.mul_add(share, start.1)))
}

/// Returns how far along a segment the point of its line that is closest to `point` lies: 0 at the start, 1 at the end.
fn share_along(point: Coordinates, start: Coordinates, end: Coordinates) -> f64 {
    let (along, length) = ((end.0 - start.0, end.1 - start.1), distance(start, end));
    ((point.0 - start.0) * along.0 + (point.1 - start.1) * along.1) / (length * length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_past_other_vertices_is_bent() {
        let ring = Drawing::new("a < b", &[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)], 2, vec![(0, 1), (1, 2), (0, 2)]);
        let svg = ring.to_string();
        assert_eq!(svg.matches("<path").count(), 3);
        assert_eq!(svg.matches('C').count(), 1);
        assert_eq!((svg.matches("<circle").count(), svg.matches("class=\"switch\"").count()), (2, 1));
        assert!(svg.contains("a &lt; b"));
    }

    /// Rows far wider than high are drawn apart, and their links are straight, though they brush neighbours of their ends.
    #[test]
    fn links_between_rows_are_straight() {
        let row = |y: f64| (0_u32..40).map(move |x| (f64::from(x), y));
        let places: Vec<_> = row(0.0).chain(row(1.0)).collect();
        let links: Vec<_> = (40..80).map(|below| (0, below)).collect();
        let rows = Drawing::new("rows", &places, 40, links);
        let (width, height) = rows.size();
        assert!(width < 1800.0 && height > width / 5.0, "{width} {height}");
        assert_eq!(rows.to_string().matches('C').count(), 0);
    }

    #[test]
    fn a_title_is_not_cut_off() {
        let width = |title: &str| Drawing::new(title, &[(0.0, 0.0), (1.0, 0.0)], 2, vec![(0, 1)]).size().0;
        assert!(width("GaussJordan on Parsytec SuperCluster (128 T800), 16 ranks, 4 × 4 mesh") > 700.0);
        assert!((width("ring") - 360.0).abs() < 1e-9);
    }

    #[test]
    fn one_vertex_can_be_drawn() {
        assert!(Drawing::new("one", &[(0.0, 0.0)], 1, vec![]).to_string().contains("<circle"));
    }
}
