//! The instructions of bulk copies with a tensor map.

use core::arch::asm;

use super::super::trap;
use super::MapHandle;
use crate::bulk::{BulkNumber, Reduction, ReductionKind};

/// The instruction of `D` dimensions with a tensor map: `$first`, the number of dimensions, `$second`, the
/// coordinates in braces, and `$last`. The map and the coordinates have the operands `map`, `x`, `y`, and so on.
macro_rules! with_box {
    ($map:ident, $at:ident, $first:literal $second:literal $last:literal $(, $operand:ident $class:ident $value:expr)*) => {
        with_box!(@ $map, $at, $first $second $last [$(, $operand $class $value)*]
            1 "{{{x}}}" [x 0],
            2 "{{{x}, {y}}}" [x 0 y 1],
            3 "{{{x}, {y}, {z}}}" [x 0 y 1 z 2],
            4 "{{{x}, {y}, {z}, {u}}}" [x 0 y 1 z 2 u 3],
            5 "{{{x}, {y}, {z}, {u}, {v}}}" [x 0 y 1 z 2 u 3 v 4])
    };
    (@ $map:ident, $at:ident, $first:literal $second:literal $last:literal $operands:tt
        $($dimensions:literal $coordinates:literal $names:tt),*) => {
        match D {
            $($dimensions => with_box!(@ @ $map, $at, $first $second $last $operands
                $dimensions $coordinates $names),)*
            _ => trap(),
        }
    };
    (@ @ $map:ident, $at:ident, $first:literal $second:literal $last:literal
        [$(, $operand:ident $class:ident $value:expr)*]
        $dimensions:literal $coordinates:literal [$($name:ident $index:literal)*]) => {
        asm!(concat!($first, $dimensions, $second, $coordinates, $last), map = in(reg64) $map.0,
            $($name = in(reg32) $at[$index],)* $($operand = in($class) $value,)*
            options(nostack, preserves_flags))
    };
}

/// Returns the coordinates, with zeros for the dimensions that the map does not have.
#[inline(always)]
fn all<const D: usize>(at: [i32; D]) -> [i32; 5] {
    let mut all = [0; 5];
    all[..D].copy_from_slice(&at);
    all
}

/// # Safety
/// `map` must be a map of `D` dimensions. `to` must be valid for a box, and aligned as the map requires.
#[inline(always)]
pub unsafe fn map_load<const D: usize>(
    map: MapHandle,
    at: [i32; D],
    to: u32,
    _len: usize,
    barrier: u32,
    ranks: Option<u16>,
) {
    let at = all(at);
    // SAFETY: the caller guarantees the map and the address.
    unsafe {
        match ranks {
            None => with_box!(map, at, "cp.async.bulk.tensor."
                "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [{to}], [{map}, " "], [{barrier}];",
                to reg32 to, barrier reg32 barrier),
            Some(ranks) => with_box!(map, at, "cp.async.bulk.tensor."
                "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [{to}], [{map}, "
                "], [{barrier}], {ranks};", to reg32 to, barrier reg32 barrier, ranks reg16 ranks),
        }
    }
}

/// # Safety
/// The conditions of [`map_load`] must hold for `from`.
#[inline(always)]
pub unsafe fn map_store<const D: usize>(map: MapHandle, at: [i32; D], from: u32, _len: usize) {
    let at = all(at);
    // SAFETY: the caller guarantees the map and the address.
    unsafe {
        with_box!(map, at, "cp.async.bulk.tensor." "d.global.shared::cta.tile.bulk_group [{map}, " "], [{from}];",
            from reg32 from);
    }
}

/// # Safety
/// The conditions of [`map_load`] must hold for `from`.
#[inline(always)]
pub unsafe fn map_reduce<T: BulkNumber, R: Reduction<T>, const D: usize>(
    map: MapHandle,
    at: [i32; D],
    from: u32,
    _len: usize,
) {
    let at = all(at);
    macro_rules! reduce {
        ($($kind:ident $second:literal;)*) => {
            match R::KIND {
                $(ReductionKind::$kind => with_box!(map, at, "cp.reduce.async.bulk.tensor." $second "], [{from}];",
                    from reg32 from),)*
            }
        };
    }
    // SAFETY: the caller guarantees the map and the address.
    unsafe {
        reduce! {
            Add "d.global.shared::cta.add.tile.bulk_group [{map}, ";
            Min "d.global.shared::cta.min.tile.bulk_group [{map}, ";
            Max "d.global.shared::cta.max.tile.bulk_group [{map}, ";
            And "d.global.shared::cta.and.tile.bulk_group [{map}, ";
            Or "d.global.shared::cta.or.tile.bulk_group [{map}, ";
            Xor "d.global.shared::cta.xor.tile.bulk_group [{map}, ";
        }
    }
}

/// # Safety
/// `map` must be a map of `D` dimensions.
#[inline(always)]
pub unsafe fn map_prefetch<const D: usize>(map: MapHandle, at: [i32; D]) {
    let at = all(at);
    // SAFETY: the caller guarantees the map.
    unsafe { with_box!(map, at, "cp.async.bulk.prefetch.tensor." "d.L2.global.tile [{map}, " "];") }
}
