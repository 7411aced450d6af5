//! What is done for each of the rows that a thread keeps in registers.

/// `each_row!(I in N => body)`: the body once for each `I` from 0 to `N` − 1, a constant in each copy. `N` is a constant of at
/// most 18. It is no loop, because one that the compiler does not unroll would keep the rows in local memory.
#[cfg(target_arch = "nvptx64")]
macro_rules! each_row {
    ($i:ident in $n:expr => $body:block) => {{
        const { assert!($n <= 18, "each_row! has 18 bodies") };
        each_row!(@ $i $n, $body 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17);
    }};
    (@ $i:ident $n:expr, $body:block $($row:literal)*) => {$(
        #[allow(
            unconditional_panic,
            clippy::out_of_bounds_indexing,
            reason = "a body beyond the last row is not reached"
        )]
        {
            const $i: usize = $row;
            if $i < $n $body
        }
    )*};
}

/// The same as a loop: simulated threads have no registers to gain, and each copy of the body would be compiled.
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! each_row {
    ($i:ident in $n:expr => $body:block) => {{
        const { assert!($n <= 18, "each_row! has 18 bodies") };
        #[allow(non_snake_case, clippy::needless_range_loop, reason = "a constant on a GPU, where an iterator may take local memory")]
        for $i in 0..$n $body
    }};
}

pub(crate) use each_row;
