//! What a graph holds: the memory that its work uses.

use std::ffi::c_void;
use std::marker::PhantomData;

use cuda_std::{DeviceCopy, DeviceId};

use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::Error;
use crate::mapped::MappedBuffer;
use crate::memory::MemoryId;

/// Memory that somebody holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldMemory {
    pub(crate) id: MemoryId,
    pub(crate) start: usize,
    pub(crate) bytes: usize,
    pub(crate) is_exclusive: bool,
}

/// What a [`Graph`](crate::Graph) is given to hold, by value or by reference: buffers, and tuples, arrays and
/// structures of them. Those behind a `&` its kernels may read, all others they may write, too.
///
/// For a structure, [`hold`](Self::hold) names all its buffers that kernels use. One that is left out is missed when
/// the graph is recorded, as an error:
///
/// ```
/// use launch::{Buffer, Held, Resources};
///
/// struct Workspace {
///     partials: Buffer<f32>,
///     ticket: Buffer<u32>,
/// }
///
/// impl Resources for Workspace {
///     fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
///         self.partials.hold(held);
///         self.ticket.hold(held);
///     }
/// }
/// ```
pub trait Resources {
    /// Calls [`Held::shared`] or [`Held::exclusive`] for each buffer, or this for each part.
    fn hold<'s>(&'s mut self, held: &mut Held<'s>);
}

/// The buffers that [`Resources`] name: they are borrowed as long as `'s` lasts, while the graph's work is done.
#[derive(Debug)]
pub struct Held<'s> {
    device: DeviceId,
    memory: Vec<HeldMemory>,
    borrows: PhantomData<&'s mut ()>,
}

impl<'s> Held<'s> {
    /// For buffers of `device`; `memory` is emptied first.
    pub(crate) fn new(device: DeviceId, mut memory: Vec<HeldMemory>) -> Self {
        memory.clear();
        Self { device, memory, borrows: PhantomData }
    }

    pub(crate) fn memory(&self) -> &[HeldMemory] {
        &self.memory
    }

    pub(crate) fn into_memory(self) -> Vec<HeldMemory> {
        self.memory
    }

    /// A [`Buffer`] or [`MappedBuffer`] that kernels may read.
    pub fn shared<B: Holdable>(&mut self, buffer: &'s B) {
        self.add(buffer, false);
    }

    /// A [`Buffer`] or [`MappedBuffer`] that kernels may read and write.
    pub fn exclusive<B: Holdable>(&mut self, buffer: &'s mut B) {
        self.add(buffer, true);
    }

    fn add(&mut self, buffer: &impl Holdable, is_exclusive: bool) {
        let sealed::Memory { id, device, start, bytes } = buffer.memory();
        if device == self.device {
            self.memory.push(HeldMemory { id, start, bytes, is_exclusive });
        }
    }
}

impl Device {
    /// Where those buffers of `resources` are that this device has, in their order: for another library's work on them.
    #[doc(hidden)]
    pub fn memory_of<R: Resources + ?Sized>(&self, resources: &mut R) -> Vec<usize> {
        let mut held = Held::new(self.id(), Vec::new());
        resources.hold(&mut held);
        held.memory().iter().map(|memory| memory.start).collect()
    }

    /// The stream of this device's work as the driver has it, whose context is current then; null in the simulator.
    #[doc(hidden)]
    pub fn raw_stream(&self) -> Result<*mut c_void, Error> {
        self.backend().raw_stream()
    }
}

/// Memory that kernels use: [`Buffer`] and [`MappedBuffer`].
pub trait Holdable: sealed::Sealed {}

impl<T: DeviceCopy> Holdable for Buffer<T> {}

impl<T: DeviceCopy> Holdable for MappedBuffer<T> {}

mod sealed {
    use super::{Buffer, DeviceCopy, DeviceId, MappedBuffer, MemoryId};

    /// Where it is, as kernels see it.
    pub struct Memory {
        pub(crate) id: MemoryId,
        pub(crate) device: DeviceId,
        pub(crate) start: usize,
        pub(crate) bytes: usize,
    }

    /// Nobody else's type is memory: what `memory` gives is believed.
    pub trait Sealed {
        fn memory(&self) -> Memory;
    }

    impl<T: DeviceCopy> Sealed for Buffer<T> {
        fn memory(&self) -> Memory {
            let (id, device) = (self.memory_id(), self.device().id());
            Memory { id, device, start: self.view().as_ptr().addr(), bytes: self.len() * size_of::<T>() }
        }
    }

    impl<T: DeviceCopy> Sealed for MappedBuffer<T> {
        fn memory(&self) -> Memory {
            let (id, device) = (self.memory_id(), self.device().id());
            Memory { id, device, start: self.view().as_ptr().addr(), bytes: self.len() * size_of::<T>() }
        }
    }
}

macro_rules! buffers {
    ($($buffer:ident)*) => {$(
        impl<T: DeviceCopy> Resources for $buffer<T> {
            fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
                held.exclusive(self);
            }
        }

        impl<T: DeviceCopy> Resources for &$buffer<T> {
            fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
                held.shared(*self);
            }
        }
    )*};
}

buffers! { Buffer MappedBuffer }

impl<R: Resources + ?Sized> Resources for &mut R {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        (**self).hold(held);
    }
}

impl<R: Resources> Resources for [R] {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.iter_mut().for_each(|part| part.hold(held));
    }
}

impl<R: Resources, const N: usize> Resources for [R; N] {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.as_mut_slice().hold(held);
    }
}

impl<R: Resources> Resources for Vec<R> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.as_mut_slice().hold(held);
    }
}

impl<R: Resources> Resources for Option<R> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.as_mut_slice().hold(held);
    }
}

macro_rules! tuples {
    ($(($($part:ident $number:tt)*))*) => {$(
        impl<$($part: Resources),*> Resources for ($($part,)*) {
            #[allow(unused_variables, reason = "the empty one holds nothing")]
            fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
                $(self.$number.hold(held);)*
            }
        }
    )*};
}

tuples! {
    ()
    (A 0)
    (A 0 B 1)
    (A 0 B 1 C 2)
    (A 0 B 1 C 2 D 3)
    (A 0 B 1 C 2 D 3 E 4)
    (A 0 B 1 C 2 D 3 E 4 F 5)
}
