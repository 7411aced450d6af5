//! Bulk copies and tensor maps in the simulator.

extern crate std;

use std::format;

use simt::bulk::{self, Combine, MAX_DIMENSIONS, Outside, Tiling};
use simt::{BulkFault, FaultKind, thread};

use super::Owner;
use super::barriers::check_initialised;
use crate::barrier::word;
use crate::bulk::{BulkNumber, Reduction};
use crate::param::Params;

/// A tensor map on the host: the parameter of a launch, and the memory that it describes. In the simulator, the
/// parameter is a [`Tiling`].
#[derive(Clone, Copy, Debug)]
pub struct MapHandle {
    words: [u64; 16],
    owner: Owner,
    start: usize,
    bytes: usize,
}

impl MapHandle {
    /// Creates a handle for the memory of `owner` that begins at `start` and has `bytes` bytes.
    pub fn new(words: [u64; 16], owner: Owner, (start, bytes): (usize, usize)) -> Self {
        Self { words, owner, start, bytes }
    }
}

/// The type of the parameter in the PTX.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct MapParameter([u64; 16]);

/// Returns the handle of a parameter. The simulator never calls this function: it passes the handle itself.
pub fn map_of_parameter<T>(parameter: MapParameter) -> MapHandle {
    MapHandle::new(parameter.0, Owner::NONE, (0, 0))
}

/// Appends a tensor map to the parameters of a call.
pub fn encode_map(map: MapHandle, name: &'static str, element: usize, is_writable: bool, params: &mut Params) {
    params.push_value(map.words);
    params.push_device(map.owner);
    params.push_region(name, map.start, map.bytes, element, is_writable);
}

#[cold]
#[track_caller]
pub fn unequal_lengths(shared: usize, outside: usize) -> ! {
    thread::fault(FaultKind::Panic(format!(
        "a bulk copy between {shared} elements of shared memory and {outside} elements: take parts of equal length"
    )))
}

/// Does nothing: [`simt::bulk`] checks addresses and sizes.
#[inline(always)]
pub const fn check_bulk(_shared: u32, _outside: usize, _bytes: u32) {}

fn linear<T>(pointer: *const T, bytes: u32) -> Outside {
    Outside::Linear { address: pointer as usize, bytes: bytes as usize }
}

/// # Safety
/// `from` must be valid for `bytes` bytes.
#[track_caller]
pub unsafe fn bulk_load(from: *const u8, to: u32, bytes: u32, barrier: u32, ranks: Option<u16>) {
    check_initialised(barrier, bulk::peek(barrier));
    bulk::load(linear(from, bytes), to, barrier, ranks, word::completed);
}

/// # Safety
/// No condition, because the simulator checks the addresses.
#[track_caller]
pub unsafe fn bulk_send(from: u32, to: u32, bytes: u32, barrier: u32, rank: u32) {
    bulk::send(from, bytes as usize, to, barrier, rank, word::completed);
}

/// # Safety
/// `to` must be valid for `bytes` bytes.
#[track_caller]
pub unsafe fn bulk_store(from: u32, to: *mut u8, bytes: u32) {
    bulk::store(from, linear(to, bytes), None);
}

/// Returns the function that combines elements of type `T` by `R`.
fn combine<T: BulkNumber, R: Reduction<T>>() -> Combine {
    fn bits<T: BulkNumber>(value: T) -> u64 {
        let mut word = [0; 8];
        word[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        u64::from_le_bytes(word)
    }
    fn value<T: BulkNumber>(word: u64) -> T {
        bytemuck::pod_read_unaligned(&word.to_le_bytes()[..size_of::<T>()])
    }
    Combine { element: size_of::<T>(), f: |memory, copied| bits(R::combine(value::<T>(memory), value(copied))) }
}

/// # Safety
/// `to` must be valid for `bytes` bytes.
#[track_caller]
pub unsafe fn bulk_reduce<T: BulkNumber, R: Reduction<T>>(from: u32, to: *mut T, bytes: u32) {
    bulk::store(from, linear(to, bytes), Some(combine::<T, R>()));
}

/// Does nothing: the simulator has no cache.
///
/// # Safety
/// There is no condition in the simulator.
#[inline(always)]
pub unsafe fn bulk_prefetch(_from: *const u8, _bytes: u32) {}

pub use simt::bulk::commit as bulk_commit;

#[track_caller]
pub fn bulk_wait<const PENDING: usize>() {
    bulk::wait(PENDING, false);
}

#[track_caller]
pub fn bulk_wait_read<const PENDING: usize>() {
    bulk::wait(PENDING, true);
}

/// Returns the coordinates of all dimensions that a map can have.
fn all<const D: usize>(at: [i32; D]) -> [i32; MAX_DIMENSIONS] {
    let mut all = [0; MAX_DIMENSIONS];
    all[..D].copy_from_slice(&at);
    all
}

/// Returns the box of `map` at `at`. Reports a fault if its tile does not have `len` elements.
#[track_caller]
fn tile<const D: usize>(map: MapHandle, at: [i32; D], len: usize) -> Outside {
    let tiling: Tiling = bytemuck::cast(map.words);
    let elements = tiling.tile_bytes() / usize::from(tiling.element.max(1));
    if elements != len {
        thread::fault(FaultKind::BulkCopy(BulkFault::Tile { elements, len }));
    }
    Outside::Tile(tiling, all(at))
}

/// Reports a fault if the box of `map` has not the columns and rows `tile`, or another swizzle than that of `swizzle`
/// bytes.
#[track_caller]
pub fn check_map_tile(map: MapHandle, tile: [usize; 2], swizzle: u32) {
    let tiling: Tiling = bytemuck::cast(map.words);
    let [columns, rows, outer @ ..] = tiling.tile.map(usize::from);
    if [columns, rows] != tile || outer != [1; 3] || u32::from(tiling.swizzle) != swizzle {
        thread::fault(FaultKind::Panic(format!(
            "the map has boxes of {columns} x {rows} elements and a swizzle of {} bytes, but the tile has panels of \
             {} x {} elements and a swizzle of {swizzle} bytes: make the map with .tile([{}, {}]) and the tile's swizzle",
            tiling.swizzle, tile[0], tile[1], tile[0], tile[1]
        )));
    }
}

/// # Safety
/// No condition, because the simulator checks the addresses and the host has checked the map.
#[track_caller]
pub unsafe fn map_load<const D: usize>(
    map: MapHandle,
    at: [i32; D],
    to: u32,
    len: usize,
    barrier: u32,
    ranks: Option<u16>,
) {
    check_initialised(barrier, bulk::peek(barrier));
    bulk::load(tile(map, at, len), to, barrier, ranks, word::completed);
}

/// # Safety
/// No condition, because the simulator checks the addresses and the host has checked the map.
#[track_caller]
pub unsafe fn map_store<const D: usize>(map: MapHandle, at: [i32; D], from: u32, len: usize) {
    bulk::store(from, tile(map, at, len), None);
}

/// # Safety
/// No condition, because the simulator checks the addresses and the host has checked the map.
#[track_caller]
pub unsafe fn map_reduce<T: BulkNumber, R: Reduction<T>, const D: usize>(
    map: MapHandle,
    at: [i32; D],
    from: u32,
    len: usize,
) {
    bulk::store(from, tile(map, at, len), Some(combine::<T, R>()));
}

/// Only checks the coordinates: the simulator has no cache.
///
/// # Safety
/// No condition, because the host has checked the map.
#[track_caller]
pub unsafe fn map_prefetch<const D: usize>(map: MapHandle, at: [i32; D]) {
    bulk::prefetch(&bytemuck::cast(map.words), all(at));
}

/// Does nothing: the simulator has no cache.
#[inline(always)]
pub fn map_prefetch_map(_map: MapHandle) {}
