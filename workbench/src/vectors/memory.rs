//! Vectors with elements of any type, in host and device memory.

use std::any::Any;

use bytemuck::{cast_slice, cast_slice_mut};
use cuda_std::{Global, GlobalMut, bf16, f16};
use launch::{Buffer, Device, Element, Error, Held, Resources};

use super::wrong_type;
use crate::error::WorkbenchError;
use crate::inputs::{self, HostMemoryError, REMEDY, RandomVector};
use gridstride::numbers::NumberType;

/// A vector in host memory with elements of any type.
pub(crate) struct HostVector {
    /// The memory of the elements, aligned for every element type.
    words: Vec<u64>,
    len: usize,
}

impl HostVector {
    pub(crate) fn new(number: NumberType, len: usize) -> Result<Self, HostMemoryError> {
        let words = inputs::host_memory(len.saturating_mul(number.bytes()).div_ceil(8), REMEDY);
        Ok(Self { words: words.map_err(|error| HostMemoryError { elements: len, ..error })?, len })
    }

    pub(crate) fn elements<T: Element>(&self) -> &[T] {
        &cast_slice(&self.words)[..self.len]
    }

    pub(crate) fn elements_mut<T: Element>(&mut self) -> &mut [T] {
        &mut cast_slice_mut(&mut self.words)[..self.len]
    }

    /// Sets each element to `element(index)`.
    pub(crate) fn fill<T: Element>(&mut self, element: impl Fn(usize) -> T + Sync) {
        inputs::fill_with(self.elements_mut(), element);
    }

    /// Fills this vector with the elements of the random vector that has number `vector` and seed `seed`.
    pub(crate) fn fill_random(&mut self, number: NumberType, seed: u64, vector: u64) -> Result<(), WorkbenchError> {
        typed!(number, [f32 f64 i32 u32 i64 u64 u8 u16 f16 bf16 i8], T => {
            RandomVector::<T>::new(seed, vector).fill(self.elements_mut());
            Ok(())
        })
    }
}

/// A [`Buffer`] with elements of any type.
trait AnyBuffer: Any + Resources {
    fn upload(&mut self, from: usize, host: &HostVector) -> Result<(), Error>;
    fn download(&self, from: usize, host: &mut HostVector) -> Result<(), Error>;
    fn fill_zero(&mut self) -> Result<(), Error>;
    fn copied(&self) -> Result<Box<dyn AnyBuffer>, Error>;
    fn share<'s>(&'s self, held: &mut Held<'s>);
}

impl<T: Element> AnyBuffer for Buffer<T> {
    fn upload(&mut self, from: usize, host: &HostVector) -> Result<(), Error> {
        self.upload_range(from, host.elements())
    }

    fn download(&self, from: usize, host: &mut HostVector) -> Result<(), Error> {
        self.download_range(from, host.elements_mut())
    }

    fn fill_zero(&mut self) -> Result<(), Error> {
        self.fill_zero()
    }

    fn copied(&self) -> Result<Box<dyn AnyBuffer>, Error> {
        let mut copy = self.device().alloc(self.len())?;
        copy.copy_from(self)?;
        Ok(Box::new(copy))
    }

    fn share<'s>(&'s self, held: &mut Held<'s>) {
        held.shared(self);
    }
}

/// The element type and length of a vector, and the index of its first element in its buffer.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) number: NumberType,
    pub(crate) from: usize,
    pub(crate) len: usize,
}

/// A vector in device memory with elements of any type.
pub(crate) struct DeviceVector {
    buffer: Box<dyn AnyBuffer>,
    pub(super) layout: Layout,
}

impl DeviceVector {
    pub(super) fn new(device: &Device, layout: Layout) -> Result<Self, WorkbenchError> {
        fn alloc<T: Element>(device: &Device, len: usize) -> Result<Box<dyn AnyBuffer>, WorkbenchError> {
            Ok(Box::new(device.alloc::<T>(len)?))
        }
        let len = layout.len.saturating_add(layout.from);
        let buffer = typed!(layout.number, [f32 f64 i32 u32 i64 u64 u8 u16 f16 bf16 i8], T => alloc::<T>(device, len))?;
        Ok(Self { buffer, layout })
    }

    /// Returns the buffer, or an error if its elements are not of type `T`.
    pub(crate) fn buffer<T: Element>(&self) -> Result<&Buffer<T>, WorkbenchError> {
        let buffer: &dyn Any = &*self.buffer;
        buffer.downcast_ref().ok_or_else(|| wrong_type(self.layout.number))
    }

    /// Like [`buffer`](Self::buffer), but returns a mutable reference.
    pub(crate) fn buffer_mut<T: Element>(&mut self) -> Result<&mut Buffer<T>, WorkbenchError> {
        let buffer: &mut dyn Any = &mut *self.buffer;
        buffer.downcast_mut().ok_or_else(|| wrong_type(self.layout.number))
    }

    pub(crate) fn view<T: Element>(&self) -> Result<Global<'_, T>, WorkbenchError> {
        Ok(self.buffer()?.view().part(self.layout.from, self.layout.len))
    }

    pub(crate) fn view_mut<T: Element>(&mut self) -> Result<GlobalMut<'_, T>, WorkbenchError> {
        let Layout { from, len, .. } = self.layout;
        Ok(self.buffer_mut()?.view_mut().part(from, len))
    }

    pub(crate) fn upload(&mut self, host: &HostVector) -> Result<(), Error> {
        self.buffer.upload(self.layout.from, host)
    }

    pub(crate) fn download(&self, host: &mut HostVector) -> Result<(), Error> {
        self.buffer.download(self.layout.from, host)
    }

    pub(crate) fn fill_zero(&mut self) -> Result<(), Error> {
        self.buffer.fill_zero()
    }

    pub(super) fn copied(&self) -> Result<Self, Error> {
        Ok(Self { buffer: self.buffer.copied()?, layout: self.layout })
    }

    pub(super) fn hold_shared<'s>(&'s self, held: &mut Held<'s>) {
        self.buffer.share(held);
    }

    pub(super) fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.buffer.hold(held);
    }
}
