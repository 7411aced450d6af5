//! The reference of transpose, computed on the CPU: element (row, column) becomes element (column, row).

use crate::algorithm::Size;

/// Returns the transpose of `x`, which has `size.height` rows of `size.width` elements.
///
/// # Panics
/// Panics if the length of `x` is not the number of elements of the matrix.
pub fn transpose<T: Copy>(size: Size, x: &[T]) -> Vec<T> {
    let Size { width, height } = size;
    assert_eq!(width.checked_mul(height), Some(x.len()), "x must be a matrix of {size}");
    let mut y = Vec::with_capacity(x.len());
    for column in 0..width {
        for row in 0..height {
            y.push(x[row * width + column]);
        }
    }
    y
}

/// Returns the index in `x` of element `index` of its transpose.
///
/// # Panics
/// Panics if `size.height` is 0.
pub fn source(size: Size, index: usize) -> usize {
    index % size.height * size.width + index / size.height
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let size = Size { width: 3, height: 2 };
        assert_eq!(transpose(size, &['a', 'b', 'c', 'd', 'e', 'f']), ['a', 'd', 'b', 'e', 'c', 'f']);
        for empty in [Size { width: 0, height: 4 }, Size { width: 4, height: 0 }] {
            assert!(transpose::<u8>(empty, &[]).is_empty());
        }
    }

    #[test]
    fn each_element_is_traced_to_its_source() {
        let size = Size { width: 7, height: 5 };
        let x: Vec<usize> = (0..35).collect();
        let traced: Vec<usize> = (0..35).map(|index| source(size, index)).collect();
        assert_eq!(transpose(size, &x), traced);
    }
}
