//! The element types and operators for which reductions and scans are built.

/// Implements the given trait for each element type with each operator. The macro also defines `LISTED`, the list of
/// these pairs. A test compares this list with the built kernels.
macro_rules! built_for_operators {
    ($trait:ident) => {
        $crate::operators::built_for_operators! { $trait
            Sum: f32 f64 i32 u32 i64 u64;
            Product: f32 f64 i32 u32 i64 u64;
            Min: f32 f64 i32 u32 i64 u64;
            Max: f32 f64 i32 u32 i64 u64;
            Compose: Affine;
        }
    };
    ($trait:ident $($operator:ident: $($type:ident)*;)*) => {
        use gpu::operator::{Affine, Compose, Max, Min, Product, Sum};

        $($(impl $trait<$operator> for $type {})*)*

        #[cfg(test)]
        const LISTED: &[(&str, &str)] = &[$($((stringify!($type), stringify!($operator))),*),*];
    };
}

pub(crate) use built_for_operators;
