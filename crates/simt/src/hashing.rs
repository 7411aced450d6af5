//! A hash of addresses and block numbers by one multiplication.

use std::hash::{BuildHasherDefault, Hasher};

pub(crate) type Hashing = BuildHasherDefault<Multiplication>;

/// Multiplies by an odd factor and folds the upper half, which depends on all bits, into the lower one.
#[derive(Default)]
pub(crate) struct Multiplication(u64);

impl Hasher for Multiplication {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn write_u64(&mut self, value: u64) {
        let product = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 32);
    }
}
