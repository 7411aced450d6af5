//! A typed call of a kernel: what `#[kernel]` makes of a function on the host.

use crate::param::Params;
use simt::KernelInfo;

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
    /// `params` must be what the PTX entry `info.name` takes, and the views in it must live as long as `body`.
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

    /// Runs one simulated thread of the kernel.
    pub fn body(&self) -> &F {
        &self.body
    }
}
