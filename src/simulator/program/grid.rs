//! The ranks as a grid, which defines neighbours without knowledge of the network.

use super::Fault;
use crate::machine::near_square;

/// A virtual grid of ranks in row-major order. On a mesh with ranks in row-major order, its neighbours are joined by a
/// link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The number of columns.
    pub columns: u32,
    ranks: u32,
}

impl Grid {
    /// Creates a grid of `ranks` ranks that is as square as possible.
    ///
    /// # Panics
    /// If `ranks` is zero.
    #[must_use]
    pub fn of(ranks: u32) -> Self {
        let (_, columns) = near_square(ranks);
        Self { columns, ranks }
    }

    /// Creates a grid of `ranks` ranks in `rows` rows. The grid is as square as possible if the number of rows is not
    /// given or has a [fault](Self::fault); the fault is reported elsewhere, because an estimate may need the grid
    /// before.
    #[must_use]
    pub fn shaped(ranks: u32, rows: Option<u32>) -> Self {
        let rows = rows.filter(|rows| *rows > 0 && ranks.is_multiple_of(*rows));
        rows.map_or_else(|| Self::of(ranks), |rows| Self { columns: ranks / rows, ranks })
    }

    /// Returns the reason why `ranks` ranks cannot be arranged in `rows` rows, if any.
    #[must_use]
    pub fn fault(ranks: u32, rows: Option<u32>) -> Option<Fault> {
        let rows = rows.filter(|rows| *rows == 0 || !ranks.is_multiple_of(*rows))?;
        let message = format!("{ranks} ranks cannot be arranged in {rows} rows");
        Some(Fault::new("rows", message, "give a divisor of the number of ranks, or leave it out"))
    }

    /// Returns the (row, column) of a rank. A rank that the grid does not have would be in a row beyond the last one.
    #[must_use]
    pub const fn coordinates(self, rank: u32) -> (u32, u32) {
        (rank / self.columns, rank % self.columns)
    }

    /// Returns the number of ranks.
    #[must_use]
    pub const fn ranks(self) -> u32 {
        self.ranks
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn rows(self) -> u32 {
        self.ranks / self.columns
    }

    /// Returns the ranks in the column of `rank`, one for each row, and the ranks in its row, one for each column.
    #[must_use]
    pub fn lines(self, rank: u32) -> (Vec<u32>, Vec<u32>) {
        let (row, column) = self.coordinates(rank);
        let down = (0..self.rows()).map(|row| row * self.columns + column).collect();
        let along = (0..self.columns).map(|column| row * self.columns + column).collect();
        (down, along)
    }

    /// Returns the parent of `rank` in the tree that spreads from `root` along its row and from there along the
    /// columns; `None` for the root itself.
    #[must_use]
    pub fn parent(self, root: u32, rank: u32) -> Option<u32> {
        let ((root_row, root_column), (row, column)) = (self.coordinates(root), self.coordinates(rank));
        match (row.cmp(&root_row), column.cmp(&root_column)) {
            (std::cmp::Ordering::Greater, _) => Some(rank - self.columns),
            (std::cmp::Ordering::Less, _) => Some(rank + self.columns),
            (_, std::cmp::Ordering::Greater) => Some(rank - 1),
            (_, std::cmp::Ordering::Less) => Some(rank + 1),
            _ => None,
        }
    }

    /// Returns the children of `rank` along the row of the root: the trunk of that tree.
    pub fn trunk(self, root: u32, rank: u32) -> impl Iterator<Item = u32> {
        let ((root_row, root_column), (row, column)) = (self.coordinates(root), self.coordinates(rank));
        let right = (row == root_row && column >= root_column && column + 1 < self.columns).then(|| rank + 1);
        let left = (row == root_row && column <= root_column && column > 0).then(|| rank.wrapping_sub(1));
        right.into_iter().chain(left)
    }

    /// Returns the children of `rank` along its column: the branches of that tree.
    pub fn branches(self, root: u32, rank: u32) -> impl Iterator<Item = u32> {
        let ((root_row, _), (row, _)) = (self.coordinates(root), self.coordinates(rank));
        let below = (row >= root_row && rank + self.columns < self.ranks).then(|| rank + self.columns);
        let above = (row <= root_row && row > 0).then(|| rank.wrapping_sub(self.columns));
        below.into_iter().chain(above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_but_the_root_is_the_child_of_its_parent() {
        for ranks in [1, 2, 3, 7, 12, 32, 100, 128] {
            let grid = Grid::of(ranks);
            for root in 0..ranks {
                for rank in 0..ranks {
                    let Some(parent) = grid.parent(root, rank) else {
                        assert_eq!(rank, root);
                        continue;
                    };
                    let mut children = grid.trunk(root, parent).chain(grid.branches(root, parent));
                    assert!(children.any(|child| child == rank), "{rank} under {parent} for root {root} of {ranks}");
                }
                let children = (0..ranks).flat_map(|rank| grid.trunk(root, rank).chain(grid.branches(root, rank)));
                assert_eq!(children.count(), ranks as usize - 1);
            }
        }
    }
}
