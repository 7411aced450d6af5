//! Kernel parameters, and how the host passes them to the device.
//!
//! # Design
//!
//! `#[kernel]` passes a view as a pointer and a length, which are two parameters of the entry. If a view were passed as
//! one struct, it would be in memory, and its pointer would lose the address space, which makes accesses generic. Other
//! values are passed whole, and a struct is read by `ld.param`.

use crate::array_vec::ArrayVec;
use crate::backend::{self, Owner, Regions};
use crate::device_copy::copy_to_words;
use crate::{DeviceCopy, Global, GlobalMut};

/// A type that a kernel may take: a [`DeviceCopy`] value, a view, or, as in Rust-CUDA's kernels, a slice, a reference
/// or a raw pointer.
///
/// In the PTX a parameter is one or two values: `Head` and, for a view, `Tail`.
///
/// Other types do not compile; the error is at the parameter:
///
/// ```compile_fail,E0277
/// use cuda_std::kernel;
///
/// #[derive(Clone, Copy)]
/// struct Size(u32); // without `DeviceCopy`
///
/// #[kernel]
/// fn k(size: Size) {
///     let _ = size.0;
/// }
/// # fn main() {}
/// ```
///
/// # Safety
/// `Head` and `Tail` must be [`DeviceCopy`] or pointers; `Tail` may be `()`. The type's [`Argument`] must encode the
/// same number of parameters.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot take a `{Self}`",
    label = "not a kernel parameter",
    note = "a kernel takes views (`Global<T>`, `GlobalMut<T>`), `&[T]`, `&T`, raw pointers, and `DeviceCopy` values: \
            numbers, and types of your own with `#[derive(Clone, Copy, cuda_std::DeviceCopy)]`"
)]
pub unsafe trait KernelParam: Sized {
    /// The type of the first PTX parameter: the value, or a view's pointer.
    type Head: Copy;
    /// The type of the second PTX parameter: a view's length, or `()` for all other values.
    type Tail: Copy;

    /// Assembles the kernel's parameter from the values of the one or two PTX parameters.
    ///
    /// # Safety
    /// The host must have encoded the parts for this parameter.
    unsafe fn from_parts(head: Self::Head, tail: Self::Tail) -> Self;
}

/// A value that the host passes to a kernel.
///
/// # Safety
/// `encode` must append one parameter for `Head`, and one for `Tail` if `Tail` is not `()`. It must record the device
/// of each pointer and the memory to which the value refers. `For` must differ from the type only in lifetimes.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot be passed a `{Self}`",
    label = "not a kernel parameter",
    note = "if you define the type, add `#[derive(Clone, Copy, cuda_std::DeviceCopy)]` to it"
)]
pub unsafe trait Argument: Copy {
    /// The implementing type with the lifetime `'a`. The function that makes a call can then use one lifetime for all
    /// its parameters, whatever their types are.
    type For<'a>: Argument;

    /// Appends the value's parts to a call's parameters. `name` is the parameter's name in the kernel.
    fn encode(self, name: &'static str, params: &mut Params);
}

// SAFETY: `Head` is the value itself.
unsafe impl<T: DeviceCopy> KernelParam for T {
    type Head = T;
    type Tail = ();

    #[inline(always)]
    unsafe fn from_parts(head: T, _tail: ()) -> Self {
        head
    }
}

// SAFETY: `encode` appends one parameter, or none for a value without bytes, for which the PTX has no parameter either.
unsafe impl<T: DeviceCopy> Argument for T {
    type For<'a> = T;

    #[inline]
    fn encode(self, _name: &'static str, params: &mut Params) {
        if size_of::<T>() > 0 {
            params.push_value(self);
        }
    }
}

macro_rules! views {
    ($($view:ident $pointer:ty, $is_writable:literal;)*) => {$(
        // SAFETY: `Head` is the pointer and `Tail` the length.
        unsafe impl<T: DeviceCopy> KernelParam for $view<'_, T> {
            type Head = $pointer;
            type Tail = usize;

            #[inline(always)]
            unsafe fn from_parts(head: $pointer, tail: usize) -> Self {
                // SAFETY: the host passed a view of memory that outlives the kernel.
                unsafe { Self::from_raw_parts(head, tail, backend::kernel_owner()) }
            }
        }

        // SAFETY: `encode` appends two parameters and records the pointer's device.
        unsafe impl<T: DeviceCopy> Argument for $view<'_, T> {
            type For<'a> = $view<'a, T>;

            #[inline]
            fn encode(self, name: &'static str, params: &mut Params) {
                self.encode_region(name, params);
                params.push(self.len() as u64);
            }
        }

        impl<T: DeviceCopy> $view<'_, T> {
            /// Appends only the pointer, for a kernel that takes a raw pointer `name` and may access anything through
            /// it.
            #[doc(hidden)]
            pub fn encode_pointer(self, name: &'static str, params: &mut Params) {
                self.encode_region(name, params);
            }

            /// Appends only the pointer, for a kernel that takes a reference `name` to the view's single element.
            #[doc(hidden)]
            pub fn encode_reference(self, name: &'static str, params: &mut Params) {
                self.encode_region(name, params);
                if self.len() != 1 {
                    params.note_missing(name);
                }
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

// SAFETY: `Head` is the pointer and `Tail` the length of the view that the host passes.
unsafe impl<T: DeviceCopy> KernelParam for &[T] {
    type Head = *const T;
    type Tail = usize;

    #[inline(always)]
    unsafe fn from_parts(head: *const T, tail: usize) -> Self {
        // SAFETY: the host passed a read-only view of memory that outlives the kernel.
        unsafe { core::slice::from_raw_parts(head, tail) }
    }
}

// SAFETY: `Head` is the pointer and `Tail` the length of the view that the host passes.
unsafe impl<T: DeviceCopy> KernelParam for &mut [T] {
    type Head = *mut T;
    type Tail = usize;

    #[inline(always)]
    unsafe fn from_parts(head: *mut T, tail: usize) -> Self {
        // SAFETY: the host passed a view of memory that outlives the kernel. The kernel is `unsafe`: its caller
        // guarantees that its threads' accesses are ordered.
        unsafe { core::slice::from_raw_parts_mut(head, tail) }
    }
}

macro_rules! pointers {
    ($($pointer:ty;)*) => {$(
        // SAFETY: `Head` is the pointer of the view that the host passes.
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

/// The largest number of parameters of a kernel.
pub const MAX_PARAMS: usize = 64;

/// The largest size in bytes of all parameters of a kernel together, which is the driver's limit.
pub const MAX_PARAM_BYTES: usize = 4096;

/// The largest number of 8-byte words for a call's parameters; each parameter starts a new word.
const MAX_WORDS: usize = MAX_PARAM_BYTES / 8 + 2 * MAX_PARAMS;

/// Fails to compile if parameters with these sizes and alignments, in this order, exceed the limit of a launch.
#[doc(hidden)]
pub const fn check_param_bytes(params: &[(usize, usize)]) {
    let (mut bytes, mut index) = (0_usize, 0);
    while index < params.len() {
        bytes = bytes.next_multiple_of(params[index].1) + params[index].0;
        index += 1;
    }
    assert!(bytes <= MAX_PARAM_BYTES, "the parameters of a kernel may have at most 4096 bytes in total");
}

/// The parameters of a call in the order of the PTX entry, and the devices and memory regions that the call's views
/// refer to.
#[derive(Clone, Debug)]
pub struct Params {
    words: ArrayVec<u64, MAX_WORDS>,
    /// The word at which each PTX parameter starts.
    starts: ArrayVec<u16, { 2 * MAX_PARAMS }>,
    devices: ArrayVec<Owner, MAX_PARAMS>,
    regions: Regions,
    missing: Option<&'static str>,
}

impl Params {
    /// Returns an empty list of parameters.
    #[allow(clippy::new_without_default, reason = "only a macro makes one")]
    #[inline]
    pub const fn new() -> Self {
        Self {
            words: ArrayVec::new(),
            starts: ArrayVec::new(),
            devices: ArrayVec::new(),
            regions: Regions::new(),
            missing: None,
        }
    }

    /// Appends one PTX parameter of at most 8 bytes, little-endian. `#[kernel]` rejects kernels with too many
    /// parameters.
    #[inline]
    pub fn push(&mut self, slot: u64) {
        self.starts.push(self.words.as_slice().len() as u16);
        self.words.push(slot);
    }

    /// Appends one PTX parameter of any size.
    #[inline]
    pub fn push_value<T: DeviceCopy>(&mut self, value: T) {
        let first = self.words.as_slice().len();
        self.starts.push(first as u16);
        for _ in 0..size_of::<T>().div_ceil(8) {
            self.words.push(0);
        }
        copy_to_words(value, &mut self.words.as_mut_slice()[first..]);
    }

    /// Records that the view passed for the reference `name` does not have exactly one element.
    #[doc(hidden)]
    pub fn note_missing(&mut self, name: &'static str) {
        self.missing = Some(name);
    }

    /// Returns the name of a reference parameter whose view does not have exactly one element.
    #[inline]
    pub fn missing(&self) -> Option<&'static str> {
        self.missing
    }

    /// Appends a pointer to memory of `device`.
    #[inline]
    pub fn push_pointer(&mut self, pointer: usize, device: Owner) {
        self.push(pointer as u64);
        self.push_device(device);
    }

    /// Records that a parameter views memory of `device`.
    #[inline]
    pub fn push_device(&mut self, device: Owner) {
        self.devices.push(device);
    }

    /// Records that parameter `name` views the `bytes` bytes at `start`, in elements of `element` bytes.
    #[inline]
    pub fn push_region(&mut self, name: &'static str, start: usize, bytes: usize, element: usize, is_writable: bool) {
        self.regions.push(name, start, bytes, element, is_writable);
    }

    /// Returns the bytes of all parameters, little-endian. Each parameter starts at a word.
    #[inline]
    pub fn slots(&self) -> &[u64] {
        self.words.as_slice()
    }

    /// Returns the first word of each PTX parameter, in the order of the parameters.
    #[inline]
    pub fn starts(&self) -> impl ExactSizeIterator<Item = &u64> {
        self.starts.as_slice().iter().map(|&start| &self.words.as_slice()[usize::from(start)])
    }

    /// Returns the device of each view.
    #[inline]
    pub fn devices(&self) -> &[Owner] {
        self.devices.as_slice()
    }

    /// Returns the memory region of each view; on a GPU, the result is empty.
    #[inline]
    pub fn regions(&self) -> &Regions {
        &self.regions
    }
}
