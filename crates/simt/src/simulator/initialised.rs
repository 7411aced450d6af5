//! Notes which bytes of global memory the host has initialised.

use super::Simulator;

impl Simulator {
    /// Marks `bytes` bytes at the address `start` as initialised, because the host or unobserved code writes them. The
    /// simulator notes writes by kernels itself. `Allocation::note_written` does the same for an allocation.
    pub fn note_written(&self, start: usize, bytes: usize) {
        for written in self.memory.overlapping(start, bytes) {
            written.set(start, bytes);
        }
    }

    /// Notes that the host has copied a whole allocation of `bytes` bytes at the address `from` to an allocation at
    /// `to`. Bytes that are uninitialised in the source become uninitialised in the target.
    pub fn note_copied(&self, to: usize, from: usize, bytes: usize) {
        let sources = self.memory.overlapping(from, bytes);
        for written in self.memory.overlapping(to, bytes) {
            match &*sources {
                [source] => written.copy(source),
                // Memory that is not tracked counts as initialised.
                _ => written.set(to, bytes),
            }
        }
    }

    /// Returns true if all of the `bytes` bytes at the address `start` are initialised. Memory that the simulator does
    /// not track counts as initialised. The simulator tracks memory only if it checks launches.
    pub fn is_written(&self, start: usize, bytes: usize) -> bool {
        self.memory.overlapping(start, bytes).iter().all(|written| written.is_all_set(start, bytes))
    }
}
