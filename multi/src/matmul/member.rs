//! The part of a product that one device computes.

use gridstride::matmul::{Layout, Matmul, MatmulElement, MatmulOptions, Matrix, MatrixMut, Output};
use launch::{Buffer, Device, Queue, TensorElement};

use super::{Division, part};
use crate::error::MultiError;

/// The products of a member's rows of *A* by the panels of *B*.
pub(super) struct Member<T: MatmulElement, C: Output<T::Sum> + TensorElement> {
    rows: usize,
    /// The layouts of *A* and *B*.
    layouts: [Layout; 2],
    /// For each number of columns of a panel, the product by such a panel.
    products: Vec<(usize, Matmul<T, C>)>,
}

impl<T: MatmulElement, C: Output<T::Sum> + TensorElement> Member<T, C> {
    /// Returns the products of member `member` of the team, on `device`.
    pub(super) fn new(
        device: &Device,
        member: usize,
        options: &MatmulOptions,
        division: &Division,
    ) -> Result<Self, MultiError> {
        let (rows, layouts) = (division.rows[member], [options.a, options.b]);
        let [a, b] = layouts;
        let mut products: Vec<(usize, Matmul<T, C>)> = Vec::new();
        for &columns in &division.columns {
            if rows > 0 && columns > 0 && !products.iter().any(|(known, _)| *known == columns) {
                let (a, b) = (part(a, rows, division.k), part(b, division.k, columns));
                let options = MatmulOptions { a, b, part_of: Some(layouts), ..*options };
                products.push((columns, Matmul::with_options(device, &options)?));
            }
        }
        Ok(Self { rows, layouts, products })
    }

    /// Replaces each product by the result of `change`.
    pub(super) fn map(self, change: impl Fn(Matmul<T, C>) -> Matmul<T, C>) -> Self {
        let products = self.products.into_iter().map(|(columns, product)| (columns, change(product))).collect();
        Self { products, ..self }
    }

    /// Returns the number of bytes of the workspace.
    pub(super) fn temporary_bytes(&self) -> u64 {
        self.products.iter().map(|(_, product)| product.temporary_bytes()).sum()
    }

    /// Enqueues the product by the panel number `panel`. The operands are the member's rows of *A* and a buffer that
    /// begins with the panel.
    pub(super) fn multiply(
        &mut self,
        queue: Queue<'_>,
        division: &Division,
        panel: usize,
        [a, b]: [&Buffer<T>; 2],
        c: &mut Buffer<C>,
        bias: Option<&Buffer<C>>,
    ) -> Result<(), MultiError> {
        let (columns, &Division { n, k, .. }) = (division.columns[panel], division);
        let start = division.columns[..panel].iter().sum();
        let Some((_, product)) = self.products.iter_mut().find(|(known, _)| *known == columns) else { return Ok(()) };
        let a = Matrix::new(a.view(), part(self.layouts[0], self.rows, k))?;
        let b = Matrix::new(b.view().part(0, division.panel_len(panel)), part(self.layouts[1], k, columns))?;
        let c = c.view_mut();
        let of_c = Layout::row_major(self.rows, columns).leading_dimension(n);
        let c = MatrixMut::new(c.part(start, c.len() - start), of_c)?;
        let bias = bias.map(|bias| bias.view().part(start, columns));
        Ok(product.run_views(queue, a, b, c, bias)?)
    }
}
