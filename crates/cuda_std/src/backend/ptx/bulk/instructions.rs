//! The instructions of bulk copies without a tensor map, and of the barriers and fences that they need.

use core::arch::asm;

use super::super::memory::to_global;
use super::super::trap;
use super::MapHandle;
use crate::bulk::{BulkNumber, NumberType, Reduction, ReductionKind};

macro_rules! instructions {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) $text:literal $($class:ident $operand:expr),*;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name($($argument: $type),*) {
            // SAFETY: the instruction only affects barriers and the order of accesses; `barrier` is the address of
            // a `Barrier`, which has 8 bytes of shared memory.
            unsafe { asm!($text, $(in($class) $operand,)* options(nostack, preserves_flags)) }
        }
    )*};
}

instructions! {
    barrier_expect(barrier: u32, bytes: u32)
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [{}], {};" reg32 barrier, reg32 bytes;
    barrier_arrive_at(barrier: u32, rank: u32)
        "{{ .reg .b32 %peer; mapa.shared::cluster.u32 %peer, {}, {}; mbarrier.arrive.shared::cluster.b64 _, [%peer]; }}"
        reg32 barrier, reg32 rank;
    fence_barrier_init() "fence.mbarrier_init.release.cluster;";
    fence_proxy_async() "fence.proxy.async;";
    fence_proxy_async_shared() "fence.proxy.async.shared::cta;";
    bulk_commit() "cp.async.bulk.commit_group;";
    map_prefetch_map(map: MapHandle) "prefetch.tensormap [{}];" reg64 map.0;
}

#[inline(always)]
pub fn bulk_wait<const PENDING: usize>() {
    // SAFETY: the instruction only waits.
    unsafe { asm!("cp.async.bulk.wait_group {};", const PENDING, options(nostack, preserves_flags)) }
}

#[inline(always)]
pub fn bulk_wait_read<const PENDING: usize>() {
    // SAFETY: the instruction only waits.
    unsafe { asm!("cp.async.bulk.wait_group.read {};", const PENDING, options(nostack, preserves_flags)) }
}

#[inline(always)]
pub fn barrier_arrive_and_expect(barrier: u32, bytes: u32) -> u64 {
    let state;
    // SAFETY: `barrier` is the address of a `Barrier`, which has 8 bytes of shared memory.
    unsafe {
        asm!("mbarrier.arrive.expect_tx.shared::cta.b64 {}, [{}], {};", out(reg64) state, in(reg32) barrier,
            in(reg32) bytes, options(nostack, preserves_flags));
    }
    state
}

macro_rules! waits {
    ($($name:ident($argument:ident: $type:ty) $variant:literal $class:ident $operand:expr;)*) => {$(
        #[inline(always)]
        pub fn $name(barrier: u32, $argument: $type) -> bool {
            let is_over: u32;
            // SAFETY: `barrier` is the address of a `Barrier`, which has 8 bytes of shared memory.
            unsafe {
                asm!(concat!("{{ .reg .pred %over; mbarrier.try_wait", $variant, ".shared::cta.b64 %over, [{}], {}; ",
                    "selp.u32 {}, 1, 0, %over; }}"), in(reg32) barrier, in($class) $operand, out(reg32) is_over,
                    options(nostack, preserves_flags));
            }
            is_over != 0
        }
    )*};
}

waits! {
    barrier_try_wait(state: u64) "" reg64 state;
    barrier_try_wait_parity(parity: bool) ".parity" reg32 parity as u32;
}

/// Chooses one lane of the warp, all of whose lanes call this function.
#[inline(always)]
pub fn elect_one() -> bool {
    let is_chosen: u32;
    // SAFETY: the instruction accesses no memory.
    unsafe {
        asm!("{{ .reg .pred %chosen; elect.sync _|%chosen, 0xffffffff; selp.u32 {}, 1, 0, %chosen; }}",
            out(reg32) is_chosen, options(nostack, preserves_flags));
    }
    is_chosen != 0
}

/// # Safety
/// `from` must be valid for `bytes` bytes, and so must be `to` in shared memory. Addresses and size must be
/// multiples of 16.
#[inline(always)]
pub unsafe fn bulk_load(from: *const u8, to: u32, bytes: u32, barrier: u32, ranks: Option<u16>) {
    // SAFETY: the caller guarantees valid addresses. A GPU ignores ranks that the cluster does not have.
    unsafe {
        match ranks {
            None => asm!(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{}], [{}], {}, [{}];",
                in(reg32) to, in(reg64) to_global(from), in(reg32) bytes, in(reg32) barrier,
                options(nostack, preserves_flags)),
            Some(ranks) => asm!(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster \
                [{}], [{}], {}, [{}], {};",
                in(reg32) to, in(reg64) to_global(from), in(reg32) bytes, in(reg32) barrier, in(reg16) ranks,
                options(nostack, preserves_flags)),
        }
    }
}

/// # Safety
/// Both sides must be valid for `bytes` bytes, in this block and in the block of the rank `rank`, which the cluster
/// has. Addresses and size must be multiples of 16.
#[inline(always)]
pub unsafe fn bulk_send(from: u32, to: u32, bytes: u32, barrier: u32, rank: u32) {
    // SAFETY: the caller guarantees valid addresses.
    unsafe {
        asm!("{{ .reg .b32 %to, %barrier; mapa.shared::cluster.u32 %to, {to}, {rank}; ",
            "mapa.shared::cluster.u32 %barrier, {barrier}, {rank}; ",
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%to], [{from}], {bytes}, ",
            "[%barrier]; }}", to = in(reg32) to, rank = in(reg32) rank, barrier = in(reg32) barrier,
            from = in(reg32) from, bytes = in(reg32) bytes, options(nostack, preserves_flags));
    }
}

/// # Safety
/// Both sides must be valid for `bytes` bytes. Addresses and size must be multiples of 16.
#[inline(always)]
pub unsafe fn bulk_store(from: u32, to: *mut u8, bytes: u32) {
    // SAFETY: the caller guarantees valid addresses.
    unsafe {
        asm!("cp.async.bulk.global.shared::cta.bulk_group [{}], [{}], {};", in(reg64) to_global(to.cast_const()),
            in(reg32) from, in(reg32) bytes, options(nostack, preserves_flags));
    }
}

/// # Safety
/// `from` must be valid for `bytes` bytes. Address and size must be multiples of 16.
#[inline(always)]
pub unsafe fn bulk_prefetch(from: *const u8, bytes: u32) {
    // SAFETY: the caller guarantees a valid address.
    unsafe {
        asm!("cp.async.bulk.prefetch.L2.global [{}], {};", in(reg64) to_global(from), in(reg32) bytes,
            options(nostack, preserves_flags));
    }
}

/// # Safety
/// The conditions of [`bulk_store`] must hold.
#[inline(always)]
pub unsafe fn bulk_reduce<T: BulkNumber, R: Reduction<T>>(from: u32, to: *mut T, bytes: u32) {
    let to = to_global(to.cast_const());
    macro_rules! reduce {
        ($($kind:ident $($type:pat_param)|+ => $suffix:literal;)*) => {
            match (R::KIND, T::TYPE) {
                $((ReductionKind::$kind, $($type)|+) => asm!(
                    concat!("cp.reduce.async.bulk.global.shared::cta.bulk_group.", $suffix, " [{}], [{}], {};"),
                    in(reg64) to, in(reg32) from, in(reg32) bytes, options(nostack, preserves_flags)),)*
                _ => trap(),
            }
        };
    }
    use NumberType::*;
    // SAFETY: the caller guarantees valid addresses.
    unsafe {
        reduce! {
            Add U32 => "add.u32";
            Add I32 => "add.s32";
            Add U64 | I64 => "add.u64";
            Add F16 => "add.noftz.f16";
            Add Bf16 => "add.noftz.bf16";
            Add F32 => "add.f32";
            Add F64 => "add.f64";
            Min U32 => "min.u32";
            Min I32 => "min.s32";
            Min U64 => "min.u64";
            Min I64 => "min.s64";
            Min F16 => "min.f16";
            Min Bf16 => "min.bf16";
            Max U32 => "max.u32";
            Max I32 => "max.s32";
            Max U64 => "max.u64";
            Max I64 => "max.s64";
            Max F16 => "max.f16";
            Max Bf16 => "max.bf16";
            And U32 | I32 => "and.b32";
            And U64 | I64 => "and.b64";
            Or U32 | I32 => "or.b32";
            Or U64 | I64 => "or.b64";
            Xor U32 | I32 => "xor.b32";
            Xor U64 | I64 => "xor.b64";
        }
    }
}
