//! Calls. A call is a kernel with its arguments. On the host, `#[kernel]` turns a function into one that returns a
//! call.

extern crate std;

use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use std::sync::Arc;

use simt::{ArgumentId, KernelInfo, Region, Threads};

use super::part::{self, PartOutOfRange};
use crate::Global;
use crate::array_vec::ArrayVec;
use crate::param::{MAX_PARAMS, Params};

/// The device that owns the memory of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceId {
    number: u32,
    kind: OwnerKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnerKind {
    Gpu,
    Simulated,
    /// No device: the view is a part that exceeds its view.
    Part,
}

impl DeviceId {
    pub(crate) const NONE: Self = Self { number: u32::MAX, kind: OwnerKind::Gpu };

    /// Returns the identity of a simulated device. The host can access its memory.
    pub const fn simulated(number: u32) -> Self {
        Self { number, kind: OwnerKind::Simulated }
    }

    /// Returns the identity of a GPU. The host cannot access its memory.
    pub const fn gpu(number: u32) -> Self {
        Self { number, kind: OwnerKind::Gpu }
    }

    /// Returns true for a simulated device.
    pub const fn is_simulated(self) -> bool {
        matches!(self.kind, OwnerKind::Simulated)
    }

    /// Returns the identity of a part that exceeds its view.
    pub(super) const fn part(number: u32) -> Self {
        Self { number, kind: OwnerKind::Part }
    }

    /// Returns the part, if this identity is that of a part that exceeds its view. Such a view cannot be used.
    pub fn part_out_of_range(self) -> Option<PartOutOfRange> {
        if matches!(self.kind, OwnerKind::Part) { part::find(self.number) } else { None }
    }

    /// Returns the number of elements that host code can access in a view of `len` elements: 0 for a GPU.
    #[inline(always)]
    pub(crate) const fn bound(self, len: usize) -> usize {
        if self.is_simulated() { len } else { 0 }
    }
}

/// Implemented by a type that represents a kernel. `#[kernel]` declares a type with the kernel's name in addition to
/// the function. For a generic kernel, the type has the same generic parameters and implements `Kernel` for the
/// arguments of each instance.
///
/// `encode` and `run` are compiled once, in the crate that declares the kernel. Callers find them by the type.
///
/// # Safety
/// The PTX entry named by `INFO` must belong to the function with the type's name and must take its arguments. A launch
/// passes to the entry the parameters that `encode` appends. `encode` and `run` must take the same arguments. Only
/// `#[kernel]` should implement this trait.
#[diagnostic::on_unimplemented(
    message = "there is no kernel `{Self}`",
    note = "a generic kernel can be called with the arguments that its `#[kernel(instances(…))]` lists"
)]
pub unsafe trait Kernel {
    /// The kernel's name, source line and launch bounds.
    const INFO: &'static KernelInfo;

    /// Appends the arguments to `params`.
    ///
    /// # Safety
    /// `arguments` must be arguments of this kernel.
    #[doc(hidden)]
    unsafe fn encode(arguments: &Arguments<'_>, params: &mut Params);

    /// Runs simulated threads of the kernel.
    ///
    /// # Safety
    /// `arguments` must be arguments of this kernel.
    #[doc(hidden)]
    unsafe fn run(arguments: &Arguments<'_>, threads: Threads<'_>);
}

/// The memory regions to which the views in a call's parameters refer.
#[derive(Clone, Debug)]
pub struct Regions {
    /// The regions, at most one per parameter.
    regions: ArrayVec<Region, MAX_PARAMS>,
}

impl Regions {
    #[inline]
    pub(crate) const fn new() -> Self {
        Self { regions: ArrayVec::new() }
    }

    #[inline]
    pub(crate) fn push(&mut self, name: &'static str, start: usize, bytes: usize, element: usize, is_writable: bool) {
        self.regions.push(Region { name, start, bytes, element, is_writable });
    }

    /// Returns the regions with their parameters' names.
    pub fn as_slice(&self) -> &[Region] {
        self.regions.as_slice()
    }
}

/// Returns the number of kernels in all of `lists`.
pub const fn total_len(lists: &[&[&'static KernelInfo]]) -> usize {
    let mut len = 0;
    let mut list = 0;
    while list < lists.len() {
        len += lists[list].len();
        list += 1;
    }
    len
}

/// Joins `lists` into one array of `LEN` kernels.
pub const fn concatenate<const LEN: usize>(lists: &[&[&'static KernelInfo]]) -> [&'static KernelInfo; LEN] {
    let mut all = [lists[0][0]; LEN];
    let (mut len, mut list) = (0, 0);
    while list < lists.len() {
        let mut kernel = 0;
        while kernel < lists[list].len() {
            all[len] = lists[list][kernel];
            len += 1;
            kernel += 1;
        }
        list += 1;
    }
    all
}

/// A kernel's arguments, with their types erased. Their views borrow memory for `'a`.
#[doc(hidden)]
#[derive(Clone)]
pub struct Arguments<'a> {
    storage: MaybeUninit<Storage>,
    /// The arguments, if they do not fit into `storage`.
    large: Option<Arc<[MaybeUninit<u128>]>>,
    borrows: PhantomData<&'a ()>,
}

/// Storage for arguments of up to the size of sixteen views.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Storage([u8; 16 * size_of::<Global<'_, u8>>()]);

/// Returns true if arguments of type `A` fit into `Storage`.
const fn is_small<A>() -> bool {
    size_of::<A>() <= size_of::<Storage>()
}

impl<'a> Arguments<'a> {
    #[inline]
    fn new<A: Copy + Send + Sync + 'a>(arguments: A) -> Self {
        const { assert!(align_of::<A>() <= align_of::<Storage>(), "align a kernel's parameter to at most 16 bytes") };
        let mut storage = MaybeUninit::<Storage>::uninit();
        let large = if const { is_small::<A>() } {
            // SAFETY: the storage is large enough and aligned for `A`.
            unsafe { storage.as_mut_ptr().cast::<A>().write(arguments) };
            None
        } else {
            let mut large = Arc::new_uninit_slice(size_of::<A>().div_ceil(size_of::<u128>()));
            if let Some(room) = Arc::get_mut(&mut large) {
                // SAFETY: the allocation is large enough and aligned for `A`.
                unsafe { room.as_mut_ptr().cast::<A>().write(arguments) };
            }
            Some(large)
        };
        Self { storage, large, borrows: PhantomData }
    }

    /// Returns the arguments as the type `A`.
    ///
    /// # Safety
    /// The arguments must have been stored as `A`, except for lifetimes, which must be `'a`.
    #[inline(always)]
    pub unsafe fn read<A: Copy + 'a>(&self) -> A {
        let arguments: *const A = match &self.large {
            Some(large) if const { !is_small::<A>() } => large.as_ptr().cast(),
            _ => self.storage.as_ptr().cast(),
        };
        // SAFETY: the caller guarantees that an `A` was stored.
        unsafe { arguments.read() }
    }
}

/// A kernel with its arguments, which any device can launch. The memory behind the arguments' views is borrowed for
/// `'a`.
///
/// `#[kernel]` turns a function into one that returns such a call, so the compiler checks the arguments.
#[derive(Clone)]
#[must_use = "a call does nothing until a device launches it, and a kernel cannot launch another kernel: put what both \
              kernels do in a function"]
pub struct Call<'a> {
    info: &'static KernelInfo,
    encode: unsafe fn(&Arguments<'_>, &mut Params),
    run: unsafe fn(&Arguments<'_>, Threads<'_>),
    /// The kernel's arguments. Their type is `Send` and `Sync`.
    arguments: Arguments<'a>,
}

/// An instance of a generic kernel, found by its generic arguments.
#[doc(hidden)]
#[derive(Debug)]
pub struct Instance {
    info: &'static KernelInfo,
    encode: unsafe fn(&Arguments<'_>, &mut Params),
    run: unsafe fn(&Arguments<'_>, Threads<'_>),
}

impl Instance {
    /// Returns the instance of kernel `K`.
    pub const fn of<K: Kernel>() -> Self {
        Self { info: K::INFO, encode: K::encode, run: K::run }
    }

    /// Returns the element of `built` that has all of these generic arguments.
    ///
    /// This function is not generic, so the program contains it once.
    pub fn find(built: &'static [Self], arguments: &[ArgumentId]) -> Option<&'static Self> {
        built.iter().find(|instance| instance.info.has_arguments(arguments))
    }
}

/// The instances that another crate has made of a crate's exported kernels.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ExportedInstances(&'static [Instance]);

impl ExportedInstances {
    /// No instances.
    pub const NONE: Self = Self(&[]);

    /// Returns these instances.
    ///
    /// # Safety
    /// Each kernel must be made by the macro of an exported kernel of the same name, and all these macros must be of
    /// one crate.
    pub const unsafe fn new(instances: &'static [Instance]) -> Self {
        Self(instances)
    }

    /// Returns the instance with all of these generic arguments: one of `built`, or an instance of the exported kernel
    /// `family`.
    pub fn find(self, built: &'static [Instance], family: &str, arguments: &[ArgumentId]) -> Option<&'static Instance> {
        let is_found = |instance: &&Instance| instance.info.family == family && instance.info.has_arguments(arguments);
        Instance::find(built, arguments).or_else(|| self.0.iter().find(is_found))
    }
}

impl<'a> Call<'a> {
    /// Creates a call of an instance.
    ///
    /// # Safety
    /// The conditions of [`new`](Self::new) must hold.
    #[doc(hidden)]
    #[inline]
    pub unsafe fn of<A: Copy + Send + Sync + 'a>(instance: &Instance, arguments: A) -> Self {
        let &Instance { info, encode, run, .. } = instance;
        Self { info, encode, run, arguments: Arguments::new(arguments) }
    }

    /// Creates a call of the kernel `K`.
    ///
    /// # Safety
    /// `K`'s functions must take their arguments as `A`, except for lifetimes. They must access only memory behind the
    /// arguments' views.
    #[doc(hidden)]
    #[inline]
    pub unsafe fn new<K: Kernel, A: Copy + Send + Sync + 'a>(arguments: A) -> Self {
        Self { info: K::INFO, encode: K::encode, run: K::run, arguments: Arguments::new(arguments) }
    }

    /// Returns the kernel.
    pub fn info(&self) -> &'static KernelInfo {
        self.info
    }

    /// Returns the parameters of the PTX entry, with the devices and memory regions of the views among them.
    pub fn params(&self) -> Params {
        let mut params = Params::new();
        self.encode(&mut params);
        params
    }

    /// Appends the parameters to `params`; see [`params`](Self::params).
    #[inline]
    pub fn encode(&self, params: &mut Params) {
        // SAFETY: `new` received arguments of this kernel.
        unsafe { (self.encode)(&self.arguments, params) }
    }

    /// Runs simulated threads of the kernel.
    #[doc(hidden)]
    #[inline]
    pub fn run(&self, threads: Threads<'_>) {
        // SAFETY: `new` received arguments of this kernel, and their views are still borrowed.
        unsafe { (self.run)(&self.arguments, threads) }
    }

    /// Returns the same call without the borrow of its views.
    ///
    /// # Safety
    /// While the call runs, the memory behind its arguments' views must exist and must be borrowed in the same way as
    /// by the arguments.
    pub unsafe fn unbound(self) -> Call<'static> {
        let Self { info, encode, run, arguments: Arguments { storage, large, .. } } = self;
        Call { info, encode, run, arguments: Arguments { storage, large, borrows: PhantomData } }
    }
}

impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("kernel", &self.info.name).field("params", &self.params()).finish()
    }
}
