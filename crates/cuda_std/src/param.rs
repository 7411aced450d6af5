//! How a kernel's parameters cross from the host to the device.
//!
//! # Design
//!
//! `#[kernel]` passes a view as a pointer and a length, two parameters of the entry. A view passed as one struct would
//! arrive in memory, and the pointer in it would lose its address space: its accesses would be generic. Other values
//! arrive whole; a struct is read by `ld.param`.

use crate::array_vec::ArrayVec;
use crate::backend::{self, Owner, Regions};
use crate::device_copy::copy_to_words;
use crate::{DeviceCopy, Global, GlobalMut};

/// A type that a kernel may take: a value that is [`DeviceCopy`], a view, or, as Rust-CUDA's kernels have them, a
/// slice, a reference or a raw pointer.
///
/// In the PTX a parameter is one or two values: `Head` and, for a view, `Tail`. A view in one piece would be passed in
/// memory and lose the address space of the pointer in it, so that its accesses would become generic ones.
///
/// What else a kernel is given does not compile, at the parameter's place:
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
/// `Head` and `Tail` must be [`DeviceCopy`] or pointers; `Tail` may be `()`. The type's [`Argument`] must encode as
/// many parameters.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot take a `{Self}`",
    label = "is no kernel's parameter",
    note = "a kernel takes views (`Global<T>`, `GlobalMut<T>`), `&[T]`, `&T`, raw pointers, and what is `DeviceCopy`: numbers, and \
            types of one's own with `#[derive(Clone, Copy, cuda_std::DeviceCopy)]`"
)]
pub unsafe trait KernelParam: Sized {
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
/// `encode` must append one parameter for `Head` and one for a `Tail` that is not `()`, and note the device of each
/// pointer and the memory that it shows. `For` must differ from the type in lifetimes alone.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot be passed a `{Self}`",
    label = "is no kernel's parameter",
    note = "a type of one's own is by `#[derive(Clone, Copy, cuda_std::DeviceCopy)]`"
)]
pub unsafe trait Argument: Copy {
    /// The same type for memory that is borrowed for `'a`. So the function that makes a call has one lifetime for all
    /// its parameters, whatever their types are called.
    type For<'a>: Argument;

    /// Appends the value's parts to a call's parameters, where the kernel knows it as `name`.
    fn encode(self, name: &'static str, params: &mut Params);
}

// SAFETY: the value itself.
unsafe impl<T: DeviceCopy> KernelParam for T {
    type Head = T;
    type Tail = ();

    #[inline(always)]
    unsafe fn from_parts(head: T, _tail: ()) -> Self {
        head
    }
}

// SAFETY: one parameter, or none for a value of no bytes, which is none in PTX either.
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
        // SAFETY: a pointer and a length.
        unsafe impl<T: DeviceCopy> KernelParam for $view<'_, T> {
            type Head = $pointer;
            type Tail = usize;

            #[inline(always)]
            unsafe fn from_parts(head: $pointer, tail: usize) -> Self {
                // SAFETY: the host passed a view of memory that outlives the kernel.
                unsafe { Self::from_raw_parts(head, tail, backend::kernel_owner()) }
            }
        }

        // SAFETY: two parameters, and the pointer's device.
        unsafe impl<T: DeviceCopy> Argument for $view<'_, T> {
            type For<'a> = $view<'a, T>;

            #[inline]
            fn encode(self, name: &'static str, params: &mut Params) {
                self.encode_region(name, params);
                params.push(self.len() as u64);
            }
        }

        impl<T: DeviceCopy> $view<'_, T> {
            /// Appends the pointer alone, for a kernel that takes a raw one as `name`, through which it accesses what
            /// it will.
            #[doc(hidden)]
            pub fn encode_pointer(self, name: &'static str, params: &mut Params) {
                self.encode_region(name, params);
            }

            /// Appends the pointer alone, for a kernel that takes a reference to the view's one element as `name`.
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

// SAFETY: a pointer and a length, as the view that the host passes for it.
unsafe impl<T: DeviceCopy> KernelParam for &[T] {
    type Head = *const T;
    type Tail = usize;

    #[inline(always)]
    unsafe fn from_parts(head: *const T, tail: usize) -> Self {
        // SAFETY: the host passed a read-only view of memory that outlives the kernel.
        unsafe { core::slice::from_raw_parts(head, tail) }
    }
}

// SAFETY: as above.
unsafe impl<T: DeviceCopy> KernelParam for &mut [T] {
    type Head = *mut T;
    type Tail = usize;

    #[inline(always)]
    unsafe fn from_parts(head: *mut T, tail: usize) -> Self {
        // SAFETY: the host passed a view of memory that outlives the kernel, and an `unsafe` kernel's caller answers
        // for what its threads do with the elements.
        unsafe { core::slice::from_raw_parts_mut(head, tail) }
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

/// The most parameters that a kernel may have.
pub const MAX_PARAMS: usize = 64;

/// The most bytes that all of them may have together, as the driver passes them.
pub const MAX_PARAM_BYTES: usize = 4096;

/// Words of 8 bytes that they take here: each begins one.
const MAX_WORDS: usize = MAX_PARAM_BYTES / 8 + 2 * MAX_PARAMS;

/// Fails to compile where parameters of these sizes and alignments, in their order, are more than a launch can pass.
#[doc(hidden)]
pub const fn check_param_bytes(params: &[(usize, usize)]) {
    let (mut bytes, mut index) = (0_usize, 0);
    while index < params.len() {
        bytes = bytes.next_multiple_of(params[index].1) + params[index].0;
        index += 1;
    }
    assert!(bytes <= MAX_PARAM_BYTES, "a kernel's parameters have at most 4096 bytes together");
}

/// A call's parameters, in the order of the PTX entry's, and the devices and the memory that they view.
#[derive(Clone, Debug)]
pub struct Params {
    words: ArrayVec<u64, MAX_WORDS>,
    /// Where in the words each parameter begins: a view is two.
    starts: ArrayVec<u16, { 2 * MAX_PARAMS }>,
    devices: ArrayVec<Owner, MAX_PARAMS>,
    regions: Regions,
    missing: Option<&'static str>,
}

impl Params {
    /// No parameters.
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

    /// Appends one PTX parameter of at most 8 bytes, little-endian. `#[kernel]` refuses a kernel with too many.
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

    /// Notes that there is no element to refer to for the parameter `name`, which is a reference.
    #[doc(hidden)]
    pub fn note_missing(&mut self, name: &'static str) {
        self.missing = Some(name);
    }

    /// A parameter that is a reference, and was passed a view that does not have exactly one element.
    #[inline]
    pub fn missing(&self) -> Option<&'static str> {
        self.missing
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

    /// All parameters one after the other, each from the beginning of a word on, little-endian.
    #[inline]
    pub fn slots(&self) -> &[u64] {
        self.words.as_slice()
    }

    /// The first word of each PTX parameter, in their order.
    #[inline]
    pub fn starts(&self) -> impl ExactSizeIterator<Item = &u64> {
        self.starts.as_slice().iter().map(|&start| &self.words.as_slice()[usize::from(start)])
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
