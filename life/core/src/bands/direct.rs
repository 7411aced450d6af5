//! Rows that go from a device of one rank to a device of another one on the same host directly, by CUDA's IPC.
//!
//! The sender packs rows into memory that it has given; the receiver copies from there, in the order of its own device.
//! Events of both order this: before an exchange's copies, each end's device waits until the other's has come to the
//! same exchange. A message of one byte says that the other end has recorded its event. There are two buffers and two
//! events per end, for even and odd exchanges: a rank that sees exchange *k* arrive knows that all copies of *k* − 1
//! are done, and may overwrite its buffer.

use std::hash::{DefaultHasher, Hash, Hasher};

use launch::{Buffer, Device, IpcBuffer, IpcEvent, IpcHandle, OpenedBuffer, OpenedEvent};

use super::Workers;
use super::messages::{Way, exchange_bytes};
use crate::error::LifeError;
use multi::ranks::Communicator;

/// The environment's variable that leaves this out where it is "off".
const SWITCH: &str = "GRIDSTRIDE_IPC";

/// Bytes of a handle.
const HANDLE: usize = size_of::<IpcHandle>();

/// Which ranks' devices read each other's memory.
pub(super) struct Peers(Vec<Vec<bool>>);

impl Peers {
    /// No rank's devices do.
    pub(super) fn none(ranks: &dyn Communicator) -> Self {
        Self(vec![vec![false; ranks.size()]; ranks.size()])
    }

    /// Finds out by trying: each device opens memory and an event of every other rank's.
    pub(super) fn new(ranks: &dyn Communicator, workers: Workers<'_>) -> Result<Self, LifeError> {
        let devices = if let Workers::Kernels(group, _) = workers { group.members() } else { &[] };
        if ranks.size() == 1 {
            return Ok(Self::none(ranks));
        }
        let mut own = host().to_le_bytes().to_vec();
        let mut given = Vec::new();
        for device in devices {
            // For a device that cannot share memory or events no handles are sent, and so nobody opens any.
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
                    devices
                        .iter()
                        .all(|device| device.open_ipc_buffer::<u32>(&memory).is_ok() && device.open_event(&event).is_ok())
                })
        };
        // A process cannot open what it has given itself.
        let others = all.iter().enumerate().map(|(rank, bytes)| rank != ranks.rank() && opens(bytes));
        let opened: Vec<u8> = others.map(u8::from).collect();
        let opened = ranks.all_gather(&opened)?;
        // SAFETY: all ranks had closed what they opened before they sent whether they could open it.
        given.into_iter().for_each(|(buffer, _)| unsafe { buffer.free() });
        let both = |a: usize, b: usize| opened[a][b] == 1 && opened[b][a] == 1;
        Ok(Self((0..all.len()).map(|a| (0..all.len()).map(|b| a != b && both(a, b)).collect()).collect()))
    }

    /// Whether the devices of these two ranks read each other's memory.
    pub(super) fn are(&self, one: usize, other: usize) -> bool {
        self.0[one][other]
    }
}

/// A number for this host and its present boot, to tell it from other hosts.
fn host() -> u64 {
    let mut hasher = DefaultHasher::new();
    for file in ["/proc/sys/kernel/random/boot_id", "/etc/hostname"] {
        std::fs::read(file).ok().hash(&mut hasher);
    }
    hasher.finish()
}

/// The `i`-th of the handles in `bytes`.
fn handle(bytes: &[u8], i: usize) -> IpcHandle {
    let mut handle = [0; HANDLE];
    handle.copy_from_slice(&bytes[i * HANDLE..][..HANDLE]);
    IpcHandle(handle)
}

/// One end of such a link.
pub(super) struct Direct {
    own: [IpcEvent; 2],
    theirs: [OpenedEvent; 2],
    rows: Rows,
}

enum Rows {
    Leave([IpcBuffer<u32>; 2]),
    Arrive([OpenedBuffer<u32>; 2]),
}

/// An end that has not yet heard of the other.
pub(super) struct Begun {
    device: Device,
    own: [IpcEvent; 2],
    /// Where it is this end that they leave.
    leave: Option<[IpcBuffer<u32>; 2]>,
    /// What the other end is told.
    handles: Vec<u8>,
}

impl Begun {
    /// On `device`; where rows leave, of so many words.
    pub(super) fn new(device: &Device, words: Option<usize>) -> Result<Self, LifeError> {
        let [(even, of_even), (odd, of_odd)] = [device.ipc_event()?, device.ipc_event()?];
        let mut handles = [of_even.0, of_odd.0].concat();
        let leave = match words {
            None => None,
            Some(words) => {
                let [(even, of_even), (odd, of_odd)] = [device.ipc_buffer(words)?, device.ipc_buffer(words)?];
                handles.extend([of_even.0, of_odd.0].concat());
                Some([even, odd])
            }
        };
        Ok(Self { device: device.clone(), own: [even, odd], leave, handles })
    }

    /// Tells the other ends, each of the rank beside it, and hears of them. All ranks do so for the same links in the
    /// same order.
    pub(super) fn meet(ends: Vec<(usize, Self)>, ranks: &dyn Communicator) -> Result<Vec<Direct>, LifeError> {
        // Each hears what it does not tell: the handles of memory go one way.
        let mut heard: Vec<Vec<u8>> =
            ends.iter().map(|(_, end)| vec![0; HANDLE * if end.leave.is_some() { 2 } else { 4 }]).collect();
        let ways = ends.iter().zip(&mut heard);
        let ways = ways.flat_map(|((rank, end), heard)| [Way::To(*rank, &end.handles), Way::From(*rank, heard)]);
        exchange_bytes(ranks, ways.collect())?;
        let direct = ends.into_iter().zip(heard).map(|((_, end), heard)| {
            let Self { device, own, leave, .. } = end;
            let event = |i| device.open_event(&handle(&heard, i));
            let theirs = [event(0)?, event(1)?];
            let memory = |i| device.open_ipc_buffer(&handle(&heard, i));
            let rows = match leave {
                Some(given) => Rows::Leave(given),
                None => Rows::Arrive([memory(2)?, memory(3)?]),
            };
            Ok(Direct { own, theirs, rows })
        });
        direct.collect()
    }
}

impl Direct {
    /// Where rows of exchange `number` leave, if they leave here.
    pub(super) fn leaves(&mut self, number: u64) -> Option<&mut Buffer<u32>> {
        match &mut self.rows {
            Rows::Leave(given) => Some(&mut given[(number % 2) as usize]),
            Rows::Arrive(_) => None,
        }
    }

    /// Notes that the device has come to exchange `number`.
    pub(super) fn come(&mut self, number: u64) -> Result<(), LifeError> {
        Ok(self.own[(number % 2) as usize].record()?)
    }

    /// Lets the device wait until the other end's has come to exchange `number`, as a message has told, and copies the
    /// rows if they arrive here.
    pub(super) fn follow(&self, number: u64, words: Option<&mut Buffer<u32>>) -> Result<(), LifeError> {
        let which = (number % 2) as usize;
        self.theirs[which].wait()?;
        if let (Rows::Arrive(opened), Some(words)) = (&self.rows, words) {
            let len = words.len();
            words.copy_range_from_ipc(0, &opened[which], 0..len)?;
        }
        Ok(())
    }
}
