//! A call of a kernel: what `#[kernel]` makes of a function on the host.

extern crate std;

use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use std::sync::Arc;

use simt::{ArgumentId, KernelInfo, Region, Threads};

use crate::Global;
use crate::array_vec::ArrayVec;
use crate::param::{MAX_PARAMS, Params};

/// The device that a view's memory belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceId {
    number: u32,
    simulated: bool,
}

impl DeviceId {
    pub(crate) const NONE: Self = Self { number: u32::MAX, simulated: false };

    /// A simulated device, whose memory the host can reach.
    pub const fn simulated(number: u32) -> Self {
        Self { number, simulated: true }
    }

    /// A GPU, whose memory the host cannot reach.
    pub const fn gpu(number: u32) -> Self {
        Self { number, simulated: false }
    }

    /// Whether it is a simulated device.
    pub const fn is_simulated(self) -> bool {
        self.simulated
    }

    /// How many of a view's `len` elements the code that runs here can reach: none of a GPU's.
    #[inline(always)]
    pub(crate) const fn bound(self, len: usize) -> usize {
        if self.simulated { len } else { 0 }
    }
}

/// A kernel, known by its type: `#[kernel]` declares a type of the kernel's name beside the function. That of a generic
/// kernel has the same parameters, and is a kernel for the arguments that it is built for.
///
/// The functions are compiled once, where the kernel is declared: who calls the kernel finds them by its type.
///
/// # Safety
/// The PTX entry that `INFO` names must be that of the function of the type's name, with its arguments: a launch passes
/// the function's parameters to the entry, as `encode` encodes them. `encode` and `run` must take the same arguments.
/// `#[kernel]` is the one that implements it.
#[diagnostic::on_unimplemented(
    message = "there is no kernel `{Self}`",
    note = "a generic kernel can be called with the arguments that its `#[kernel(instances(…))]` lists"
)]
pub unsafe trait Kernel {
    /// Its name, source line and launch bounds.
    const INFO: &'static KernelInfo;

    /// Appends the arguments to `params`.
    ///
    /// # Safety
    /// `arguments` must be of this kernel.
    #[doc(hidden)]
    unsafe fn encode(arguments: &Arguments<'_>, params: &mut Params);

    /// Runs simulated threads of the kernel.
    ///
    /// # Safety
    /// `arguments` must be of this kernel.
    #[doc(hidden)]
    unsafe fn run(arguments: &Arguments<'_>, threads: Threads<'_>);
}

/// What memory a call's parameters show.
#[derive(Clone, Debug)]
pub struct Regions {
    /// Each parameter shows one piece of memory at most.
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

    /// Each, under its parameter's name.
    pub fn as_slice(&self) -> &[Region] {
        self.regions.as_slice()
    }
}

/// The kernels in all of `lists`.
pub const fn total_len(lists: &[&[&'static KernelInfo]]) -> usize {
    let mut len = 0;
    let mut list = 0;
    while list < lists.len() {
        len += lists[list].len();
        list += 1;
    }
    len
}

/// All of `lists` in one, which has `LEN` kernels.
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

/// A kernel's arguments, of whichever types, whose views borrow memory for `'a`.
#[doc(hidden)]
#[derive(Clone)]
pub struct Arguments<'a> {
    storage: MaybeUninit<Storage>,
    /// Where they are if there is no room in the storage.
    large: Option<Arc<[MaybeUninit<u128>]>>,
    borrows: PhantomData<&'a ()>,
}

/// Room for sixteen views.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Storage([u8; 16 * size_of::<Global<'_, u8>>()]);

/// Whether arguments of the type `A` are kept in the storage.
const fn is_small<A>() -> bool {
    size_of::<A>() <= size_of::<Storage>()
}

impl<'a> Arguments<'a> {
    #[inline]
    fn new<A: Copy + Send + Sync + 'a>(arguments: A) -> Self {
        const { assert!(align_of::<A>() <= align_of::<Storage>(), "a kernel's parameter is aligned to at most 16 bytes") };
        let mut storage = MaybeUninit::<Storage>::uninit();
        let large = if const { is_small::<A>() } {
            // SAFETY: there is room for the arguments.
            unsafe { storage.as_mut_ptr().cast::<A>().write(arguments) };
            None
        } else {
            let mut large = Arc::new_uninit_slice(size_of::<A>().div_ceil(size_of::<u128>()));
            if let Some(room) = Arc::get_mut(&mut large) {
                // SAFETY: as above.
                unsafe { room.as_mut_ptr().cast::<A>().write(arguments) };
            }
            Some(large)
        };
        Self { storage, large, borrows: PhantomData }
    }

    /// The arguments.
    ///
    /// # Safety
    /// They must have been stored as `A`, but for lifetimes, which must be `'a`.
    #[inline(always)]
    pub unsafe fn read<A: Copy + 'a>(&self) -> A {
        let arguments: *const A = match &self.large {
            Some(large) if const { !is_small::<A>() } => large.as_ptr().cast(),
            _ => self.storage.as_ptr().cast(),
        };
        // SAFETY: the caller's word.
        unsafe { arguments.read() }
    }
}

/// A kernel with its arguments, ready to be launched on any device. The memory that they view stays borrowed for `'a`.
///
/// `#[kernel]` turns a function into one that returns such a call, so that the compiler checks the arguments.
#[derive(Clone)]
#[must_use = "a call does nothing until a device launches it"]
pub struct Call<'a> {
    info: &'static KernelInfo,
    encode: unsafe fn(&Arguments<'_>, &mut Params),
    run: unsafe fn(&Arguments<'_>, Threads<'_>),
    /// Of a type that is `Send` and `Sync`, as all else.
    arguments: Arguments<'a>,
}

/// An instance of a generic kernel, to be found by its generic arguments.
#[doc(hidden)]
#[derive(Debug)]
pub struct Instance {
    info: &'static KernelInfo,
    encode: unsafe fn(&Arguments<'_>, &mut Params),
    run: unsafe fn(&Arguments<'_>, Threads<'_>),
}

impl Instance {
    /// The kernel `K`.
    pub const fn of<K: Kernel>() -> Self {
        Self { info: K::INFO, encode: K::encode, run: K::run }
    }

    /// Returns the one of `built` that has these generic arguments, all of the kernel's.
    ///
    /// Not generic: each call of a kernel would have a copy.
    pub fn find(built: &'static [Self], arguments: &[ArgumentId]) -> Option<&'static Self> {
        built.iter().find(|instance| instance.info.has_arguments(arguments))
    }
}

impl<'a> Call<'a> {
    /// A call of an instance.
    ///
    /// # Safety
    /// As for [`new`](Self::new).
    #[doc(hidden)]
    #[inline]
    pub unsafe fn of<A: Copy + Send + Sync + 'a>(instance: &Instance, arguments: A) -> Self {
        let &Instance { info, encode, run, .. } = instance;
        Self { info, encode, run, arguments: Arguments::new(arguments) }
    }

    /// A call of the kernel `K`.
    ///
    /// # Safety
    /// `K`'s functions must take their arguments as `A`, but for lifetimes, and access no memory but what these view.
    #[doc(hidden)]
    #[inline]
    pub unsafe fn new<K: Kernel, A: Copy + Send + Sync + 'a>(arguments: A) -> Self {
        Self { info: K::INFO, encode: K::encode, run: K::run, arguments: Arguments::new(arguments) }
    }

    /// Which kernel.
    pub fn info(&self) -> &'static KernelInfo {
        self.info
    }

    /// What a PTX entry is passed, and the devices and the memory that it views.
    pub fn params(&self) -> Params {
        let mut params = Params::new();
        self.encode(&mut params);
        params
    }

    /// Appends to `params` what [`params`](Self::params) gives, without moving it.
    #[inline]
    pub fn encode(&self, params: &mut Params) {
        // SAFETY: `new` was given this kernel's arguments.
        unsafe { (self.encode)(&self.arguments, params) }
    }

    /// Runs simulated threads of the kernel.
    #[doc(hidden)]
    #[inline]
    pub fn run(&self, threads: Threads<'_>) {
        // SAFETY: `new` was given this kernel's arguments, whose views live.
        unsafe { (self.run)(&self.arguments, threads) }
    }

    /// The same call, whose views nobody keeps borrowed any more.
    ///
    /// # Safety
    /// It must not be run unless the memory that the arguments view is there, and borrowed as they borrowed it.
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
