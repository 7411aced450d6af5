//! The stand-in driver's streams. Operations of a stream are executed only when a caller waits for the stream, so that
//! a missing wait is detected. A copy of pageable memory returns before its last part is executed. That part is in the
//! default stream, whose number is that of its context.

use std::collections::{HashMap, HashSet, VecDeque};

use super::{CONTEXT, CURRENT, FIRST_BLOCKING, INVALID_HANDLE, INVALID_VALUE, NOT_READY, State, bytes_at, log};

/// The time in milliseconds that a kernel takes on the device.
const KERNEL_TIME: f32 = 1.5;
/// The time in milliseconds that a copy takes on the device.
const COPY_TIME: f32 = 1.0;

#[derive(Default)]
pub struct Streams {
    queues: HashMap<usize, VecDeque<Operation>>,
    /// The context of each stream and event.
    contexts: HashMap<usize, usize>,
    /// For each event, the stream in which it was recorded last and its time.
    events: HashMap<usize, (usize, Option<f32>)>,
    /// Events that the caller has destroyed while streams still wait for them.
    destroyed: HashSet<usize>,
    /// Streams that the caller has destroyed while they still have work.
    destroyed_streams: HashSet<usize>,
    clock: f32,
    next: usize,
    next_blocking: usize,
}

/// An operation of a stream. Fills, and copies within the device's own stream, become operations only if a graph
/// contains them. Otherwise they are executed at once.
#[derive(Clone)]
pub enum Operation {
    Launch { kernel: String, slots: Vec<u64> },
    Upload { to: u64, from: Source },
    Download { to: usize, from: u64, bytes: usize },
    Fill { address: u64, value: u8, bytes: usize },
    Move { to: u64, from: u64, bytes: usize },
    Record(usize),
    Wait(usize),
    Call { function: Callback, data: usize },
}

/// A function of the caller with the stream, the result of its work, and its own data.
pub type Callback = unsafe extern "C" fn(usize, i32, usize);

/// The source of an upload. The stream reads page-locked memory when it executes the upload; other memory is read when
/// the upload is enqueued.
#[derive(Clone)]
pub enum Source {
    Pinned { start: usize, bytes: usize },
    Staged(Vec<u8>),
}

impl Streams {
    /// Creates a stream and returns its number. Streams for which no synchronous call waits have the numbers 1, 2, …;
    /// the other streams have numbers from `FIRST_BLOCKING` on.
    pub fn create(&mut self, is_blocking: bool) -> usize {
        let number = if is_blocking { &mut self.next_blocking } else { &mut self.next };
        *number += 1;
        let stream = if is_blocking { FIRST_BLOCKING + *number } else { *number };
        self.queues.insert(stream, VecDeque::new());
        self.contexts.insert(stream, CURRENT.get());
        stream
    }

    /// Destroys a stream. Its work must be done, or another stream must wait for all of it.
    pub fn destroy(&mut self, stream: usize) -> Result<(), i32> {
        let queue = self.queues.get(&stream).ok_or(INVALID_HANDLE)?;
        match queue.back() {
            None => drop(self.queues.remove(&stream)),
            Some(&Operation::Record(last)) => {
                let waits = |work: &Operation| matches!(work, Operation::Wait(event) if *event == last);
                assert!(self.queues.values().flatten().any(waits), "nothing waits for the end of stream {stream}");
                self.destroyed_streams.insert(stream);
            }
            Some(_) => panic!("stream {stream} is destroyed before it is done"),
        }
        Ok(())
    }

    /// Calls the enqueued functions of all streams with the result `code`.
    fn call_all(&mut self, code: i32) {
        for (&stream, queue) in &mut self.queues {
            for work in queue.drain(..) {
                if let Operation::Call { function, data } = work {
                    // SAFETY: the caller of `cuStreamAddCallback` guarantees the function and its data.
                    unsafe { function(stream, code, data) };
                }
            }
        }
    }

    pub fn push(&mut self, stream: usize, work: Operation) -> Result<(), i32> {
        self.queues.get_mut(&stream).ok_or(INVALID_HANDLE)?.push_back(work);
        Ok(())
    }

    /// Enqueues a copy of `data` to the device in the default stream.
    pub fn push_staged(&mut self, to: u64, data: &[u8]) {
        self.queues
            .entry(CURRENT.get())
            .or_default()
            .push_back(Operation::Upload { to, from: Source::Staged(data.to_vec()) });
    }

    pub fn create_event(&mut self) -> usize {
        self.next += 1;
        self.events.insert(self.next, (0, None));
        self.contexts.insert(self.next, CURRENT.get());
        self.next
    }

    pub fn destroy_event(&mut self, event: usize) -> Result<(), i32> {
        let exists = self.events.contains_key(&event) && self.destroyed.insert(event);
        if exists { Ok(()) } else { Err(INVALID_HANDLE) }
    }

    /// Returns the context of a stream or an event.
    pub fn context(&self, of: usize) -> Option<usize> {
        self.contexts.get(&of).copied()
    }

    pub fn record(&mut self, event: usize, stream: usize) -> Result<(), i32> {
        let contexts = [self.context(event), self.context(stream)];
        assert_eq!(
            contexts,
            [Some(CURRENT.get()); 2],
            "an event is recorded outside its context or outside the current context"
        );
        *self.events.get_mut(&event).ok_or(INVALID_HANDLE)? = (stream, None);
        self.push(stream, Operation::Record(event))
    }

    pub fn recorded_in(&self, event: usize) -> Result<usize, i32> {
        self.events.get(&event).map(|&(stream, _)| stream).ok_or(INVALID_HANDLE)
    }

    pub fn elapsed(&self, start: usize, end: usize) -> Result<f32, i32> {
        let time = |event| self.events.get(&event).ok_or(INVALID_HANDLE)?.1.ok_or(NOT_READY);
        Ok(time(end)? - time(start)?)
    }

    pub fn all(&self) -> Vec<usize> {
        self.queues.keys().copied().collect()
    }

    /// Returns the numbers of streams and events that exist.
    pub fn counts(&self) -> (usize, usize) {
        let is_default = |&&stream: &&usize| (CONTEXT..FIRST_BLOCKING).contains(&stream);
        let exists = |stream: &&usize| !is_default(stream) && !self.destroyed_streams.contains(*stream);
        (self.queues.keys().filter(exists).count(), self.events.len() - self.destroyed.len())
    }

    /// Returns true if an enqueued operation will still access the `len` bytes of host memory that start at `start`.
    pub fn are_to_use(&self, start: usize, len: usize) -> bool {
        let range = start..start + len;
        self.queues.values().flatten().any(|work| match work {
            Operation::Upload { from: Source::Pinned { start, .. }, .. } => range.contains(start),
            Operation::Download { to, .. } => range.contains(to),
            _ => false,
        })
    }

    /// Returns true if an enqueued operation will still copy the `len` bytes of device memory that start at `start`.
    pub fn are_to_copy(&self, start: u64, len: u64) -> bool {
        let range = start..start + len;
        self.queues.values().flatten().any(|work| match work {
            Operation::Move { to, from, .. } => range.contains(to) || range.contains(from),
            _ => false,
        })
    }
}

/// Executes all operations of `stream`, or only those up to the event `until`.
pub fn run(state: &mut State, stream: usize, until: Option<usize>) -> Result<(), i32> {
    // These operations wait for earlier operations of the default stream. An empty queue waits for none.
    if stream > FIRST_BLOCKING && state.streams.queues.get(&stream).is_some_and(|queue| !queue.is_empty()) {
        let default = state.streams.context(stream).ok_or(INVALID_HANDLE)?;
        run(state, default, None)?;
    }
    let is_default = (CONTEXT..FIRST_BLOCKING).contains(&stream);
    loop {
        if state.lost != 0 {
            return Err(state.lost);
        }
        let Some(queue) = state.streams.queues.get_mut(&stream) else {
            return if is_default { Ok(()) } else { Err(INVALID_HANDLE) };
        };
        let Some(work) = queue.pop_front() else { return Ok(()) };
        match work {
            Operation::Launch { kernel, slots } => {
                log(&format!("{stream}: {kernel}"));
                state.streams.clock += KERNEL_TIME;
                kernel_of(state, &kernel, &slots)?;
            }
            Operation::Upload { to, from } => {
                state.streams.clock += COPY_TIME;
                let data = match from {
                    // SAFETY: `launch` guarantees that the memory lives until the copy is complete.
                    Source::Pinned { start, bytes } => unsafe {
                        std::slice::from_raw_parts(start as *const u8, bytes).to_vec()
                    },
                    Source::Staged(data) => data,
                };
                if !is_default {
                    log(&format!("{stream}: upload {}", data.len()));
                }
                bytes_at(state, to, data.len())?.copy_from_slice(&data);
            }
            Operation::Download { to, from, bytes } => {
                log(&format!("{stream}: download {bytes}"));
                state.streams.clock += COPY_TIME;
                let source = bytes_at(state, from, bytes)?;
                // SAFETY: `launch` guarantees that the memory lives until the copy is complete.
                unsafe { std::ptr::copy_nonoverlapping(source.as_ptr(), to as *mut u8, bytes) };
            }
            Operation::Fill { address, value, bytes } => {
                log(&format!("{stream}: fill {bytes}"));
                bytes_at(state, address, bytes)?.fill(value);
            }
            Operation::Move { to, from, bytes } => {
                log(&format!("{stream}: copy {bytes}"));
                let source = bytes_at(state, from, bytes)?.to_vec();
                bytes_at(state, to, bytes)?.copy_from_slice(&source);
            }
            Operation::Record(event) => {
                log(&format!("{stream}: event"));
                let clock = state.streams.clock;
                if let Some((_, time)) = state.streams.events.get_mut(&event) {
                    *time = Some(clock);
                }
                if until == Some(event) {
                    return Ok(());
                }
            }
            // SAFETY: the caller of `cuStreamAddCallback` guarantees the function and its data.
            Operation::Call { function, data } => unsafe { function(stream, 0, data) },
            Operation::Wait(event) => {
                if let Some(&(other, None)) = state.streams.events.get(&event) {
                    run(state, other, Some(event))?;
                }
                log(&format!("{stream}: waited"));
            }
        }
    }
}

/// Executes one of the kernels that the stand-in driver knows by name.
fn kernel_of(state: &mut State, kernel: &str, slots: &[u64]) -> Result<(), i32> {
    match kernel {
        // saxpy(a: f32, x: Global<f32>, y: GlobalMut<f32>)
        "saxpy" => {
            let floats = |bytes: &[u8]| -> Vec<f32> {
                bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
            };
            let a = f32::from_bits(slots[0] as u32);
            let x = floats(bytes_at(state, slots[1], slots[2] as usize * 4)?);
            let y = bytes_at(state, slots[3], slots[4] as usize * 4)?;
            for (x, y) in x.iter().zip(y.chunks_exact_mut(4)) {
                let sum = a * x + f32::from_le_bytes(y[..].try_into().unwrap());
                y.copy_from_slice(&sum.to_le_bytes());
            }
            Ok(())
        }
        "fail" => {
            state.lost = super::ILLEGAL_ADDRESS;
            state.streams.call_all(state.lost);
            Err(state.lost)
        }
        _ => Err(INVALID_VALUE),
    }
}
