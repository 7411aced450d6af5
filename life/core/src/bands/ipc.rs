//! Copies rows directly between devices of two ranks on one host, through CUDA's IPC.
//!
//! The sender packs rows into a device buffer that both processes can access. The receiver's device copies the rows
//! from this buffer in stream order. Events order the copies: before it copies, each device waits until the other
//! device has begun the same exchange. When a rank has recorded its event, it sends the other rank a message of one
//! byte.
//!
//! Each end of a link has two buffers and two events, for even and odd exchanges. When a rank receives the message of
//! exchange *k*, all copies of exchange *k* − 1 are done. The rank may then overwrite the buffer of exchange *k* − 1.

use std::hash::{DefaultHasher, Hash, Hasher};

use launch::{Buffer, Device, IpcBuffer, IpcEvent, IpcHandle, OpenedBuffer, OpenedEvent};

use super::Workers;
use crate::error::LifeError;
use multi::ranks::Communicator;

/// The environment variable that disables direct copies if its value is "off".
const SWITCH: &str = "GRIDSTRIDE_IPC";

/// The size of an IPC handle in bytes.
const HANDLE: usize = size_of::<IpcHandle>();

/// A matrix with one entry per pair of ranks. The entry is true if the two ranks' devices can read each other's memory.
pub(super) struct PeerAccess(Vec<Vec<bool>>);

impl PeerAccess {
    /// Returns the matrix whose entries are all false.
    pub(super) fn none(ranks: &dyn Communicator) -> Self {
        Self(vec![vec![false; ranks.size()]; ranks.size()])
    }

    /// Tests which ranks can read each other's memory. Each rank tries to open a buffer and an event of every other
    /// rank's devices.
    pub(super) fn new(ranks: &dyn Communicator, workers: Workers<'_>) -> Result<Self, LifeError> {
        let devices = if let Workers::Kernels(group, _) = workers { group.members() } else { &[] };
        if ranks.size() == 1 {
            return Ok(Self::none(ranks));
        }
        let mut own = host().to_le_bytes().to_vec();
        let mut given = Vec::new();
        for device in devices {
            // A device that cannot share memory or events sends no handles, and the other ranks open none.
            if let (Ok((buffer, memory)), Ok((event, of_event))) = (device.ipc_buffer::<u32>(1), device.ipc_event()) {
                own.extend([memory.0, of_event.0].concat());
                given.push((buffer, event));
            }
        }
        let is_on = std::env::var(SWITCH).map_or(true, |value| value != "off");
        let all = ranks.all_gather(&own)?;
        let opens = |bytes: &[u8]| {
            let (host, handles) = bytes.split_at(8);
            let mut handles = handles.chunks_exact(2 * HANDLE).map(|both| [handle(both, 0), handle(both, 1)]);
            is_on
                && host == &own[..8]
                && handles.len() > 0
                && handles.all(|[memory, event]| {
                    devices.iter().all(|device| {
                        device.open_ipc_buffer::<u32>(&memory).is_ok() && device.open_event(&event).is_ok()
                    })
                })
        };
        // CUDA does not let a process open its own shared memory.
        let others = all.iter().enumerate().map(|(rank, bytes)| rank != ranks.rank() && opens(bytes));
        let opened: Vec<u8> = others.map(u8::from).collect();
        let opened = ranks.all_gather(&opened)?;
        // SAFETY: `all_gather` returned, so every rank has sent its results. A rank closes what it opened before it
        // sends them.
        given.into_iter().for_each(|(buffer, _)| unsafe { buffer.free() });
        let both = |a: usize, b: usize| opened[a][b] == 1 && opened[b][a] == 1;
        Ok(Self((0..all.len()).map(|a| (0..all.len()).map(|b| a != b && both(a, b)).collect()).collect()))
    }

    /// Returns true if the devices of ranks `one` and `other` can read each other's memory.
    pub(super) fn are(&self, one: usize, other: usize) -> bool {
        self.0[one][other]
    }
}

/// Returns a number that identifies this host since its last boot.
fn host() -> u64 {
    let mut hasher = DefaultHasher::new();
    for file in ["/proc/sys/kernel/random/boot_id", "/etc/hostname"] {
        std::fs::read(file).ok().hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns the `i`-th handle in `bytes`.
fn handle(bytes: &[u8], i: usize) -> IpcHandle {
    let mut handle = [0; HANDLE];
    handle.copy_from_slice(&bytes[i * HANDLE..][..HANDLE]);
    IpcHandle(handle)
}

/// One end of a link between two devices through CUDA's IPC.
pub(super) struct IpcLink {
    own: [IpcEvent; 2],
    theirs: [OpenedEvent; 2],
    /// The two buffers from which the other end reads rows, if this end sends rows.
    own_rows: Option<[IpcBuffer<u32>; 2]>,
    /// The two buffers of the other end, if this end receives rows.
    their_rows: Option<[OpenedBuffer<u32>; 2]>,
}

/// One end of an [`IpcLink`] that has not received the other end's handles yet.
pub(super) struct PendingLink {
    device: Device,
    own: [IpcEvent; 2],
    own_rows: Option<[IpcBuffer<u32>; 2]>,
    /// The handles to send to the other end.
    handles: Vec<u8>,
}

impl PendingLink {
    /// Makes one end of a link on `device`. Pass `Some(words)` if this end sends rows, with the number of words of each
    /// buffer.
    pub(super) fn new(device: &Device, words: Option<usize>) -> Result<Self, LifeError> {
        let [(even, of_even), (odd, of_odd)] = [device.ipc_event()?, device.ipc_event()?];
        let mut handles = [of_even.0, of_odd.0].concat();
        let own_rows = match words {
            None => None,
            Some(words) => {
                let [(even, of_even), (odd, of_odd)] = [device.ipc_buffer(words)?, device.ipc_buffer(words)?];
                handles.extend([of_even.0, of_odd.0].concat());
                Some([even, odd])
            }
        };
        Ok(Self { device: device.clone(), own: [even, odd], own_rows, handles })
    }

    /// Exchanges handles with the other end of each link. `ends` contains the ends on this rank, each with the rank of
    /// the other end. All ranks must pass their links in the same order.
    pub(super) fn connect(ends: Vec<(usize, Self)>, ranks: &dyn Communicator) -> Result<Vec<IpcLink>, LifeError> {
        // An end that sends rows sends four handles and receives two. An end that receives rows sends two handles and
        // receives four.
        let received = |end: &Self| vec![0; HANDLE * if end.own_rows.is_some() { 2 } else { 4 }];
        let mut handles: Vec<Vec<u8>> = ends.iter().map(|(_, end)| received(end)).collect();
        let sends: Vec<_> = ends.iter().map(|(rank, end)| (*rank, &end.handles[..])).collect();
        let mut receives: Vec<_> =
            ends.iter().zip(&mut handles).map(|((rank, _), all)| (*rank, &mut all[..])).collect();
        ranks.exchange(&sends, &mut receives)?;
        let links = ends.into_iter().zip(handles).map(|((_, end), handles)| {
            let Self { device, own, own_rows, .. } = end;
            let event = |i| device.open_event(&handle(&handles, i));
            let memory = |i| device.open_ipc_buffer(&handle(&handles, i));
            let theirs = [event(0)?, event(1)?];
            let their_rows = if own_rows.is_none() { Some([memory(2)?, memory(3)?]) } else { None };
            Ok(IpcLink { own, theirs, own_rows, their_rows })
        });
        links.collect()
    }
}

impl IpcLink {
    /// Returns the buffer for the rows that this end sends in exchange `number`. Returns `None` if this end receives
    /// rows.
    pub(super) fn leaving(&mut self, number: u64) -> Option<&mut Buffer<u32>> {
        self.own_rows.as_mut().map(|rows| &mut *rows[(number % 2) as usize])
    }

    /// Records the event that tells the other end's device that this device has reached exchange `number`.
    pub(super) fn record(&mut self, number: u64) -> Result<(), LifeError> {
        Ok(self.own[(number % 2) as usize].record()?)
    }

    /// Makes the device wait until the other end's device has reached exchange `number`. Then copies the rows to
    /// `words` if this end receives rows. The caller must have received the other end's message of this exchange.
    pub(super) fn receive(&self, number: u64, words: Option<&mut Buffer<u32>>) -> Result<(), LifeError> {
        let which = (number % 2) as usize;
        self.theirs[which].wait()?;
        if let (Some(rows), Some(words)) = (&self.their_rows, words) {
            let len = words.len();
            words.copy_range_from_ipc(0, &rows[which], 0..len)?;
        }
        Ok(())
    }
}
