//! The stand-in driver's memory, which begins at a multiple of 256 bytes like that of a GPU.

use std::ops::{Deref, DerefMut};

#[derive(Clone, Copy)]
#[repr(align(256))]
struct Chunk(#[expect(dead_code, reason = "the bytes are accessed as a slice")] [u8; 256]);

pub struct Aligned {
    chunks: Vec<Chunk>,
    bytes: usize,
}

impl Aligned {
    /// Returns `bytes` bytes, all of them `byte`.
    pub fn new(byte: u8, bytes: usize) -> Self {
        Self { chunks: vec![Chunk([byte; 256]); bytes.div_ceil(256)], bytes }
    }
}

impl Deref for Aligned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the chunks have at least this many bytes.
        unsafe { std::slice::from_raw_parts(self.chunks.as_ptr().cast(), self.bytes) }
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: the chunks have at least this many bytes.
        unsafe { std::slice::from_raw_parts_mut(self.chunks.as_mut_ptr().cast(), self.bytes) }
    }
}
