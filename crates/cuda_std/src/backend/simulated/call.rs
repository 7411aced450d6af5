//! A typed call of a kernel: what `#[kernel]` makes of a function on the host.

use crate::few::Few;
use crate::param::{MAX_PARAMS, Params};
use simt::{KernelInfo, Region};

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

    /// How many of a view's `len` elements the code that runs here can reach: none of a GPU's.
    #[inline(always)]
    pub(crate) const fn bound(self, len: usize) -> usize {
        if self.simulated { len } else { 0 }
    }
}

/// A kernel, known by its type: `#[kernel]` declares a type of the kernel's name beside the function. That of a generic
/// kernel has the same parameters, and is a kernel for the arguments that it is built for.
///
/// # Safety
/// The PTX entry that `INFO` names must be that of the function of the type's name, with its arguments: a launch passes
/// the function's parameters to the entry. `#[kernel]` is the one that implements it.
#[diagnostic::on_unimplemented(
    message = "there is no kernel `{Self}`",
    note = "a generic kernel can be called with the arguments that its `#[kernel(instances(…))]` lists"
)]
pub unsafe trait Kernel {
    /// Its name, source line and launch bounds.
    const INFO: &'static KernelInfo;
}

/// What memory a call's parameters show.
#[derive(Clone, Debug)]
pub struct Regions {
    /// A kernel has half as many parameters as slots at most, and each shows one piece of memory.
    regions: Few<Region, { MAX_PARAMS / 2 }>,
    /// A bit for each that the kernel is passed as a raw pointer.
    pointers: u32,
}

impl Regions {
    #[inline]
    pub(crate) const fn new() -> Self {
        Self { regions: Few::new(), pointers: 0 }
    }

    #[inline]
    pub(crate) fn push(&mut self, name: &'static str, start: usize, bytes: usize, element: usize, is_writable: bool) {
        self.regions.push(Region { name, start, bytes, element, is_writable });
    }

    /// Notes that the kernel is passed the last one as a raw pointer.
    #[inline]
    pub(crate) fn note_pointer(&mut self) {
        self.pointers |= 1 << (self.regions.as_slice().len() - 1);
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

/// A kernel with its arguments, ready to be launched on any device.
///
/// `#[kernel]` turns a function into one that returns such a call, so that the compiler checks the arguments.
#[derive(Clone, Debug)]
#[must_use = "a call does nothing until a device launches it"]
pub struct Call<F> {
    info: &'static KernelInfo,
    params: Params,
    body: F,
}

impl<F: Fn() + Sync> Call<F> {
    /// A call of `info`'s kernel. `body` runs one simulated thread of it.
    ///
    /// # Safety
    /// `params` must be what the PTX entry `info.name` takes, and the views in it must live as long as `body`, which accesses
    /// no memory but theirs, nor does dropping it.
    #[inline]
    pub unsafe fn from_parts(info: &'static KernelInfo, params: Params, body: F) -> Self {
        Self { info, params, body }
    }

    /// Which kernel.
    pub fn info(&self) -> &'static KernelInfo {
        self.info
    }

    /// One 8-byte slot a PTX parameter, little-endian.
    pub fn params(&self) -> &[u64] {
        self.params.slots()
    }

    /// The device of each view passed.
    pub fn devices(&self) -> &[DeviceId] {
        self.params.devices()
    }

    /// The memory that each view passed shows, under the parameter's name.
    pub fn regions(&self) -> &[Region] {
        self.params.regions().regions.as_slice()
    }

    /// Those of [`regions`](Self::regions) that the kernel takes as raw pointers: the simulator does not see what it does
    /// with them.
    pub fn regions_behind_pointers(&self) -> impl Iterator<Item = &Region> {
        let pointers = self.params.regions().pointers;
        self.regions().iter().enumerate().filter(move |(i, _)| pointers >> i & 1 != 0).map(|(_, region)| region)
    }

    /// Runs one simulated thread of the kernel.
    pub fn body(&self) -> &F {
        &self.body
    }
}
