//! The stand-in driver's functions for contexts and for several GPUs.

use super::streams::Operation;
use super::{CONTEXT, CURRENT, INVALID_CONTEXT, INVALID_VALUE, answer, bytes_at, log, number, state};

const ALREADY_ENABLED: i32 = 704;
const UNSUPPORTED: i32 = 217;

functions! {
    cuCtxSetCurrent(context: usize) { CURRENT.set(context); Ok(()) }
    cuCtxGetCurrent(context: *mut usize) { *context = CURRENT.get(); Ok(()) }
    cuCtxGetDevice(device: *mut i32) { *device = (CURRENT.get() - CONTEXT) as i32; Ok(()) }
    cuDeviceCanAccessPeer(answer: *mut i32, device: i32, peer: i32) {
        assert_ne!(device, peer);
        *answer = number("STAND_IN_PEERS", 1);
        Ok(())
    }
    cuCtxEnablePeerAccess(peer: usize, flags: u32) {
        assert_eq!(flags, 0);
        let mut state = state()?;
        let pair = (CURRENT.get(), peer);
        if !state.exists(peer) || pair.0 == peer {
            return Err(INVALID_CONTEXT);
        }
        if number("STAND_IN_PEERS", 1) == 0 {
            return Err(UNSUPPORTED);
        }
        if state.peers.contains(&pair) {
            return Err(ALREADY_ENABLED);
        }
        log(&format!("{} accesses {}", pair.0 - CONTEXT, peer - CONTEXT));
        state.peers.push(pair);
        Ok(())
    }
    cuMemcpyPeerAsync(
        to: u64, to_context: usize, from: u64, from_context: usize, bytes: usize, stream: usize
    ) {
        let mut state = state()?;
        assert_eq!((state.owner(to), state.owner(from)), (Some(to_context), Some(from_context)));
        let context = state.streams.context(stream);
        assert_eq!(context, Some(CURRENT.get()), "the stream's context is not current");
        assert!(context == Some(to_context) || context == Some(from_context));
        bytes_at(&mut state, to, bytes)?;
        bytes_at(&mut state, from, bytes)?;
        if bytes == 0 {
            return Err(INVALID_VALUE);
        }
        state.streams.push(stream, Operation::Move { to, from, bytes })
    }
}
