//! How a kernel's parameters cross from the host to the device.

use crate::backend::{self, Owner, Regions};
use crate::few::Few;
use crate::{Element, Global, GlobalMut};

/// A type that a kernel may take: a number, a view, or, as Rust-CUDA's kernels have them, a slice or a raw pointer.
///
/// In the PTX a parameter is one or two plain values: `Head` and, for a view, `Tail`. A struct would be passed in memory
/// and lose the address space of the pointers in it, so that a view's accesses would become generic ones.
///
/// # Safety
/// `Head` and `Tail` must be numbers or pointers of at most 8 bytes; `Tail` may be `()`. The type's [`Argument`] must
/// encode as many slots.
pub unsafe trait KernelParam: Copy {
    /// The first PTX parameter: the value itself, or a view's pointer.
    type Head: Copy;
    /// The second: a view's length, or `()` for none.
    type Tail: Copy;

    /// The parameter from its parts, in the kernel.
    ///
    /// # Safety
    /// The parts must be what the host encoded for this parameter.
    unsafe fn from_parts(head: Self::Head, tail: Self::Tail) -> Self;
}

/// A value that the host passes to a kernel.
///
/// # Safety
/// `encode` must append one slot for `Head` and one for a `Tail` that is not `()`, and note the device of each pointer and
/// the memory that it shows. `For` must differ from the type in lifetimes alone.
pub unsafe trait Argument: Copy {
    /// The same type for memory that is borrowed for `'a`. So the function that makes a call has one lifetime for all its
    /// parameters, whatever their types are called.
    type For<'a>: Argument;

    /// Appends the value's parts to a call's parameters, where the kernel knows it as `name`.
    fn encode(self, name: &'static str, params: &mut Params);
}

macro_rules! scalars {
    ($($type:ident)*) => {$(
        // SAFETY: a number of at most 8 bytes.
        unsafe impl KernelParam for $type {
            type Head = $type;
            type Tail = ();

            #[inline(always)]
            unsafe fn from_parts(head: $type, _tail: ()) -> Self {
                head
            }
        }

        // SAFETY: one slot.
        unsafe impl Argument for $type {
            type For<'a> = $type;

            #[inline]
            fn encode(self, _name: &'static str, params: &mut Params) {
                let mut slot = [0; 8];
                slot[..size_of::<$type>()].copy_from_slice(&self.to_le_bytes());
                params.push(u64::from_le_bytes(slot));
            }
        }
    )*};
}

scalars! { u8 i8 u16 i16 u32 i32 u64 i64 usize isize f32 f64 }

macro_rules! views {
    ($($view:ident $pointer:ty, $is_writable:literal;)*) => {$(
        // SAFETY: a pointer and a length.
        unsafe impl<T: Element> KernelParam for $view<'_, T> {
            type Head = $pointer;
            type Tail = usize;

            #[inline(always)]
            unsafe fn from_parts(head: $pointer, tail: usize) -> Self {
                // SAFETY: the host passed a view of memory that outlives the kernel.
                unsafe { Self::from_raw_parts(head, tail, backend::kernel_owner()) }
            }
        }

        // SAFETY: two slots, and the pointer's device.
        unsafe impl<T: Element> Argument for $view<'_, T> {
            type For<'a> = $view<'a, T>;

            #[inline]
            fn encode(self, name: &'static str, params: &mut Params) {
                self.encode_region(name, params);
                params.push(self.len() as u64);
            }
        }

        impl<T: Element> $view<'_, T> {
            /// Appends the pointer alone, for a kernel that takes a raw one as `name`, through which it accesses what it will.
            #[doc(hidden)]
            pub fn encode_pointer(self, name: &'static str, params: &mut Params) {
                self.encode_region(name, params);
                params.regions.note_pointer();
            }

            #[inline]
            fn encode_region(self, name: &'static str, params: &mut Params) {
                let (start, element) = (self.as_ptr() as usize, size_of::<T>());
                params.push_pointer(start, self.device());
                params.push_region(name, start, self.len() * element, element, $is_writable);
            }
        }
    )*};
}

views! {
    Global *const T, false;
    GlobalMut *mut T, true;
}

// SAFETY: a pointer and a length, as the view that the host passes for it.
unsafe impl<T: Element> KernelParam for &[T] {
    type Head = *const T;
    type Tail = usize;

    #[inline(always)]
    unsafe fn from_parts(head: *const T, tail: usize) -> Self {
        // SAFETY: the host passed a read-only view of memory that outlives the kernel.
        unsafe { core::slice::from_raw_parts(head, tail) }
    }
}

macro_rules! pointers {
    ($($pointer:ty;)*) => {$(
        // SAFETY: a pointer; `#[kernel]` encodes the pointer of the view that the host passes for it.
        unsafe impl<T> KernelParam for $pointer {
            type Head = $pointer;
            type Tail = ();

            #[inline(always)]
            unsafe fn from_parts(head: $pointer, _tail: ()) -> Self {
                head
            }
        }
    )*};
}

pointers! {
    *const T;
    *mut T;
}

/// The most slots that a call's parameters may take: a view takes two, a number one.
pub const MAX_PARAMS: usize = 32;

/// A call's parameters, in the order of the PTX entry's, and the devices and the memory that they view.
#[derive(Clone, Debug)]
pub struct Params {
    slots: Few<u64, MAX_PARAMS>,
    /// A kernel has half as many parameters as slots at most, and each views one piece of memory.
    devices: Few<Owner, { MAX_PARAMS / 2 }>,
    regions: Regions,
}

impl Params {
    /// No parameters.
    #[allow(clippy::new_without_default, reason = "only a macro makes one")]
    #[inline]
    pub const fn new() -> Self {
        Self { slots: Few::new(), devices: Few::new(), regions: Regions::new() }
    }

    /// Appends one PTX parameter of at most 8 bytes, little-endian. `#[kernel]` refuses a kernel with too many.
    #[inline]
    pub fn push(&mut self, slot: u64) {
        self.slots.push(slot);
    }

    /// Appends a pointer into memory of `device`.
    #[inline]
    pub fn push_pointer(&mut self, pointer: usize, device: Owner) {
        self.push(pointer as u64);
        self.push_device(device);
    }

    /// Notes that a parameter views memory of `device`.
    #[inline]
    pub fn push_device(&mut self, device: Owner) {
        self.devices.push(device);
    }

    /// Notes that the parameter `name` shows the `bytes` bytes at `start`, in elements of `element` bytes.
    #[inline]
    pub fn push_region(&mut self, name: &'static str, start: usize, bytes: usize, element: usize, is_writable: bool) {
        self.regions.push(name, start, bytes, element, is_writable);
    }

    /// One 8-byte slot a PTX parameter, little-endian.
    #[inline]
    pub fn slots(&self) -> &[u64] {
        self.slots.as_slice()
    }

    /// The device of each view passed.
    #[inline]
    pub fn devices(&self) -> &[Owner] {
        self.devices.as_slice()
    }

    /// The memory that each view shows; on a GPU, nothing.
    #[inline]
    pub fn regions(&self) -> &Regions {
        &self.regions
    }
}
