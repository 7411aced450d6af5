//! [`Layout`]: the size of a matrix, and the places of its elements.

use gpu::matmul::Strides;

use super::MatrixError;

/// The size of a matrix and the places of its elements, or those of a batch of matrices.
///
/// The elements of a row are adjacent ("row-major"), or, after [`t`](Self::t), those of a column. The leading dimension
/// is the number of elements from one row (or column) to the next one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    rows: usize,
    columns: usize,
    is_transposed: bool,
    leading: usize,
    count: usize,
    batch: usize,
}

impl Layout {
    /// Returns the layout of `rows` rows of `columns` adjacent elements, without gaps.
    pub const fn row_major(rows: usize, columns: usize) -> Self {
        Self { rows, columns, is_transposed: false, leading: columns, count: 1, batch: 0 }
    }

    /// Returns the layout of the transpose in the same memory.
    #[must_use]
    pub const fn t(self) -> Self {
        Self { rows: self.columns, columns: self.rows, is_transposed: !self.is_transposed, ..self }
    }

    /// Returns the layout with `elements` elements from one row to the next one, or from one column to the next one if
    /// the elements of a column are adjacent.
    #[must_use]
    pub const fn leading_dimension(self, elements: usize) -> Self {
        Self { leading: elements, ..self }
    }

    /// Returns the layout of `count` such matrices, `stride` elements apart. The stride of an input may be 0: all
    /// products then use the same matrix.
    #[must_use]
    pub const fn batch(self, count: usize, stride: usize) -> Self {
        Self { count, batch: stride, ..self }
    }

    /// Returns the number of rows of a matrix.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns of a matrix.
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the number of matrices.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Returns true if the elements of a column are adjacent.
    pub const fn is_transposed(&self) -> bool {
        self.is_transposed
    }

    /// Returns the layout as a parameter of the kernels.
    pub const fn strides(&self) -> Strides {
        let leading = self.leading as u64;
        let (row, column) = if self.is_transposed { (1, leading) } else { (leading, 1) };
        Strides { row, column, batch: self.batch as u64 }
    }

    /// Returns true if each row (or column) begins at a multiple of 16 bytes from the start of the view.
    pub(super) fn has_aligned_lines(&self, element_bytes: usize) -> bool {
        let is_aligned = |elements: usize| elements.wrapping_mul(element_bytes).is_multiple_of(16);
        is_aligned(self.leading) && is_aligned(self.batch)
    }

    /// Returns the number of rows (or columns), and the number of adjacent elements of each.
    const fn lines(&self) -> (usize, usize) {
        if self.is_transposed { (self.columns, self.rows) } else { (self.rows, self.columns) }
    }

    /// Returns the number of elements from the first to the last one of all matrices, or `None` beyond `usize`.
    fn span(&self) -> Option<usize> {
        let (lines, len) = self.lines();
        if lines == 0 || len == 0 || self.count == 0 {
            return Some(0);
        }
        let matrix = (lines - 1).checked_mul(self.leading)?.checked_add(len)?;
        (self.count - 1).checked_mul(self.batch)?.checked_add(matrix)
    }

    /// Checks that a view of `elements` elements contains all matrices.
    pub(super) fn check_input(&self, elements: usize) -> Result<(), MatrixError> {
        let Self { rows, columns, leading, .. } = *self;
        if u32::try_from(rows).is_err() || u32::try_from(columns).is_err() {
            let text =
                format!("a matrix of {rows} x {columns} is too large: use at most {} rows and columns", u32::MAX);
            return Err(MatrixError(text));
        }
        let (lines, len) = self.lines();
        if lines > 1 && leading < len {
            let line = if self.is_transposed { "column" } else { "row" };
            let text =
                format!("the leading dimension is {leading}, but a {line} has {len} elements: use at least {len}");
            return Err(MatrixError(text));
        }
        match self.span() {
            Some(needed) if needed <= elements => Ok(()),
            needed => {
                let needed = needed.map_or("more than 2^64".to_owned(), |needed| needed.to_string());
                Err(MatrixError(format!("{self} needs {needed} elements, but the view has {elements}")))
            }
        }
    }

    /// Checks that a view of `elements` elements contains all matrices, and that no two elements are at the same place.
    pub(super) fn check_output(&self, elements: usize) -> Result<(), MatrixError> {
        self.check_input(elements)?;
        let (lines, len) = self.lines();
        // The matrices lie one after the other, or interleaved within each row.
        let is_after = Self { count: 1, ..*self }.span().is_some_and(|span| self.batch >= span);
        let interleaved = self.batch.saturating_mul(self.count - self.count.min(1)).saturating_add(len);
        let is_interleaved = self.batch >= len && (lines <= 1 || interleaved <= self.leading);
        if self.count > 1 && self.span() > Some(0) && !is_after && !is_interleaved {
            let text = format!("the matrices of the output overlap: use a batch stride of at least {}", {
                lines.saturating_mul(self.leading)
            });
            return Err(MatrixError(text));
        }
        Ok(())
    }
}

impl std::fmt::Display for Layout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { rows, columns, leading, count, batch, .. } = *self;
        let (_, len) = self.lines();
        match count {
            1 => write!(f, "a matrix of {rows} x {columns}")?,
            _ => write!(f, "a batch of {count} matrices of {rows} x {columns}, {batch} elements apart,")?,
        }
        if leading != len { write!(f, " with a leading dimension of {leading}") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_fits_exactly_the_elements_that_it_needs() {
        let layout = Layout::row_major(3, 4);
        for (layout, needed) in [
            (layout, 12),
            (layout.t(), 12),
            (layout.leading_dimension(7), 18),
            (layout.leading_dimension(7).t(), 18),
            (layout.batch(3, 12), 36),
            (layout.batch(3, 0), 12),
            (layout.leading_dimension(8).batch(2, 4), 24),
            (layout.batch(0, 12), 0),
            (Layout::row_major(0, 4), 0),
            (Layout::row_major(4, 0), 0),
        ] {
            assert!(layout.check_input(needed).is_ok(), "{layout}");
            if needed > 0 {
                let error = layout.check_input(needed - 1).unwrap_err().to_string();
                assert!(error.contains(&needed.to_string()), "{error}");
            }
        }
    }

    #[test]
    fn outputs_do_not_overlap() {
        let layout = Layout::row_major(3, 4);
        for (layout, is_right) in [
            (layout.batch(3, 12), true),
            (layout.batch(3, 11), false),
            (layout.batch(3, 0), false),
            (layout.batch(1, 0), true),
            (layout.leading_dimension(12).batch(3, 4), true),
            (layout.leading_dimension(11).batch(3, 4), false),
            (layout.leading_dimension(12).batch(3, 3), false),
        ] {
            assert_eq!(layout.check_output(100).is_ok(), is_right, "{layout}");
        }
        let error = layout.leading_dimension(3).check_output(100).unwrap_err().to_string();
        assert!(error.contains("at least 4"), "{error}");
        assert!(Layout::row_major(1 << 40, 1 << 40).check_input(100).is_err());
    }
}
