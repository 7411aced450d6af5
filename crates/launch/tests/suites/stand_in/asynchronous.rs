//! The stand-in driver's functions for streams and their operations, events, and page-locked memory.

use super::streams::{Operation, Source, run};
use super::{
    CONTEXT, CURRENT, FIRST_BLOCKING, INVALID_VALUE, MAPPED, OUT_OF_MEMORY, State, answer, bytes_at, log, number,
    state, wait,
};

const PAGE: usize = 4096;
/// The number of bytes that can be page-locked.
const LOCKABLE: usize = 1 << 28;

/// Returns the page-locked memory that contains the host address `address`.
fn page_locked_at(state: &State, address: usize) -> Option<&(&'static mut [u8], u32)> {
    state
        .page_locked
        .iter()
        .find(|(start, (bytes, _))| (**start..**start + bytes.len()).contains(&address))
        .map(|(_, v)| v)
}

functions! {
    cuMemHostAlloc(start: *mut *mut u8, bytes: usize, flags: u32) {
        let mut state = state()?;
        log(&format!("page-lock {bytes}, flags {flags}"));
        if bytes == 0 {
            return Err(INVALID_VALUE);
        }
        if bytes > LOCKABLE {
            return Err(OUT_OF_MEMORY);
        }
        let layout = std::alloc::Layout::from_size_align(bytes, PAGE).unwrap();
        *start = std::alloc::alloc(layout);
        start.read().write_bytes(0x5A, bytes);
        state.page_locked.insert(*start as usize, (std::slice::from_raw_parts_mut(*start, bytes), flags));
        Ok(())
    }
    cuMemHostGetDevicePointer_v2(address: *mut u64, start: *mut u8, flags: u32) {
        assert_eq!(flags, 0);
        let state = state()?;
        let &(_, 2) = state.page_locked.get(&(start as usize)).ok_or(INVALID_VALUE)? else { return Err(INVALID_VALUE) };
        *address = start as u64 + MAPPED;
        Ok(())
    }
    cuMemFreeHost(start: *mut u8) {
        let mut state = state()?;
        let (bytes, _) = state.page_locked.remove(&(start as usize)).ok_or(INVALID_VALUE)?;
        assert!(!state.streams.are_to_use(start as usize, bytes.len()), "page-locked memory is freed while in use");
        // The bytes stay allocated, so that a late access finds this pattern.
        bytes.fill(0xDD);
        Ok(())
    }
    cuMemcpyHtoDAsync_v2(to: u64, from: *const u8, bytes: usize, stream: usize) {
        assert!(bytes > 0);
        let mut state = state()?;
        let from = match page_locked_at(&state, from as usize) {
            Some(_) => Source::Pinned { start: from as usize, bytes },
            None => Source::Staged(std::slice::from_raw_parts(from, bytes).to_vec()),
        };
        state.streams.push(stream, Operation::Upload { to, from })
    }
    cuMemcpyDtoHAsync_v2(to: *mut u8, from: u64, bytes: usize, stream: usize) {
        assert!(bytes > 0);
        let mut state = state()?;
        state.streams.push(stream, Operation::Download { to: to as usize, from, bytes })?;
        match page_locked_at(&state, to as usize) {
            Some(_) => Ok(()),
            None => run(&mut state, stream, None),
        }
    }
    cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: usize) {
        let mut state = state()?;
        if let Some(captured) = state.graphs.captures.get_mut(&stream) {
            captured.push(Operation::Move { to, from, bytes });
            return Ok(());
        }
        if stream < FIRST_BLOCKING {
            return state.streams.push(stream, Operation::Move { to, from, bytes });
        }
        wait(&mut state)?;
        assert_eq!([state.owner(from), state.owner(to)], [Some(CURRENT.get()); 2], "a copy uses other memory");
        let source = bytes_at(&mut state, from, bytes)?.to_vec();
        bytes_at(&mut state, to, bytes)?.copy_from_slice(&source);
        Ok(())
    }
    cuMemsetD8Async(address: u64, value: u8, bytes: usize, stream: usize) {
        let mut state = state()?;
        if let Some(captured) = state.graphs.captures.get_mut(&stream) {
            captured.push(Operation::Fill { address, value, bytes });
            return Ok(());
        }
        if stream < FIRST_BLOCKING {
            return state.streams.push(stream, Operation::Fill { address, value, bytes });
        }
        wait(&mut state)?;
        bytes_at(&mut state, address, bytes)?.fill(value);
        Ok(())
    }
    cuStreamCreateWithPriority(stream: *mut usize, flags: u32, _priority: i32) {
        assert_eq!(flags, 0);
        *stream = state()?.streams.create(true);
        Ok(())
    }
    cuStreamCreate(stream: *mut usize, flags: u32) {
        let mut state = state()?;
        if flags == 0 {
            *stream = state.streams.create(true);
            return Ok(());
        }
        let open = state.streams.all().iter().filter(|&&stream| stream < CONTEXT).count();
        if open >= number("STAND_IN_STREAMS", 1000) as usize {
            return Err(OUT_OF_MEMORY);
        }
        *stream = state.streams.create(false);
        log(&format!("{}: created, flags {flags}", *stream));
        Ok(())
    }
    cuStreamDestroy_v2(stream: usize) {
        let mut state = state()?;
        if stream < FIRST_BLOCKING {
            log(&format!("{stream}: destroyed"));
        }
        state.streams.destroy(stream)
    }
    cuStreamSynchronize(stream: usize) {
        let mut state = state()?;
        match (stream, number("STAND_IN_WAIT", 0)) {
            (0, _) => run(&mut state, CURRENT.get(), None),
            (FIRST_BLOCKING.., _) => run(&mut state, stream, None),
            (_, 0) => run(&mut state, stream, None),
            (_, code) => Err(code),
        }
    }
    cuCtxSynchronize() {
        let mut state = state()?;
        match number("STAND_IN_WAIT_FOR_ALL", 0) {
            0 => {
                let mut streams = state.streams.all();
                streams.retain(|&stream| state.streams.context(stream) == Some(CURRENT.get()));
                streams.into_iter().try_for_each(|stream| run(&mut state, stream, None))
            }
            code => Err(code),
        }
    }
    cuStreamAddCallback(stream: usize, function: super::streams::Callback, data: usize, flags: u32) {
        assert_eq!(flags, 0);
        state()?.streams.push(stream, Operation::Call { function, data })
    }
    cuStreamWaitEvent(stream: usize, event: usize, flags: u32) {
        assert_eq!(flags, 0);
        let mut state = state()?;
        // The event may belong to another context.
        state.streams.recorded_in(event)?;
        assert_eq!(state.streams.context(stream), Some(CURRENT.get()));
        state.streams.push(stream, Operation::Wait(event))
    }
    cuEventCreate(event: *mut usize, flags: u32) {
        assert!(matches!(flags, 0 | 2), "unknown flags of an event");
        *event = state()?.streams.create_event();
        Ok(())
    }
    cuEventRecord(event: usize, stream: usize) { state()?.streams.record(event, stream) }
    cuEventSynchronize(event: usize) {
        let mut state = state()?;
        let stream = state.streams.recorded_in(event)?;
        // The stream may already be destroyed if its work is complete.
        if state.streams.all().contains(&stream) { run(&mut state, stream, None) } else { Ok(()) }
    }
    cuEventElapsedTime(milliseconds: *mut f32, start: usize, end: usize) {
        *milliseconds = state()?.streams.elapsed(start, end)?;
        Ok(())
    }
    cuEventDestroy_v2(event: usize) { state()?.streams.destroy_event(event) }
}
