//! The stand-in driver's graphs. Operations of a capturing stream are recorded, and later enqueued in another stream.

use std::collections::HashMap;

use super::streams::Operation;
use super::{FIRST_BLOCKING, INVALID_HANDLE, INVALID_VALUE, answer, log, state};

#[derive(Default)]
pub struct Graphs {
    /// The operations recorded by each capturing stream.
    pub captures: HashMap<usize, Vec<Operation>>,
    /// The graphs, and the executable graphs made from them.
    graphs: HashMap<usize, Vec<Operation>>,
    executables: HashMap<usize, Vec<Operation>>,
    next: usize,
}

impl Graphs {
    /// Returns the number of graphs and executable graphs that exist.
    pub fn count(&self) -> usize {
        self.graphs.len() + self.executables.len()
    }

    fn key(&mut self) -> usize {
        self.next += 1;
        0x6_0000 + self.next
    }
}

functions! {
    cuStreamBeginCapture_v2(stream: usize, mode: i32) {
        assert_eq!(mode, 2, "the capture mode is not relaxed");
        let mut state = state()?;
        assert!(stream < FIRST_BLOCKING && state.streams.all().contains(&stream));
        if state.graphs.captures.insert(stream, Vec::new()).is_some() {
            return Err(INVALID_VALUE);
        }
        Ok(())
    }
    cuStreamEndCapture(stream: usize, graph: *mut usize) {
        let mut state = state()?;
        let work = state.graphs.captures.remove(&stream).ok_or(INVALID_VALUE)?;
        *graph = state.graphs.key();
        let key = *graph;
        state.graphs.graphs.insert(key, work);
        Ok(())
    }
    cuGraphInstantiateWithFlags(executable: *mut usize, graph: usize, flags: u64) {
        assert_eq!(flags, 0);
        let mut state = state()?;
        let work = state.graphs.graphs.get(&graph).ok_or(INVALID_HANDLE)?.clone();
        *executable = state.graphs.key();
        let key = *executable;
        state.graphs.executables.insert(key, work);
        Ok(())
    }
    cuGraphLaunch(executable: usize, stream: usize) {
        let mut state = state()?;
        let work = state.graphs.executables.get(&executable).ok_or(INVALID_HANDLE)?.clone();
        log(&format!("graph of {}", work.len()));
        work.into_iter().try_for_each(|work| state.streams.push(stream, work))
    }
    cuGraphDestroy(graph: usize) { state()?.graphs.graphs.remove(&graph).map(drop).ok_or(INVALID_HANDLE) }
    cuGraphExecDestroy(executable: usize) {
        state()?.graphs.executables.remove(&executable).map(drop).ok_or(INVALID_HANDLE)
    }
}
