//! Runs kernels on a simulated device with a profiler.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex};

use launch::{Device, PtxModule};
use simt::{Dim3, Profiles, Simulator};

use crate::assembled::AssembledKernels;
use crate::figures::KernelFigures;
use crate::gpus::Gpu;
use crate::occupancy::Resources;
use crate::sources::Sources;

/// Runs kernels on a simulated device with as many multiprocessors as a [`Gpu`], and returns the kernels' figures.
pub struct Explainer<'a> {
    gpu: &'static Gpu,
    device: Device,
    profiles: Profiles,
    sources: Option<&'a Sources>,
    resources: Box<ResourcesOf<'a>>,
    assembled: AssembledKernels,
}

/// A function that returns the resources of a kernel. Its arguments are the kernel's name in the PTX and an
/// architecture, such as 90 for sm_90.
type ResourcesOf<'a> = dyn Fn(&str, u32) -> Option<Resources> + 'a;

impl Explainer<'_> {
    /// Returns an explainer for `gpu` that has neither sources nor resources. It discards the lines that kernels print.
    pub fn new(gpu: &'static Gpu) -> Self {
        let profiles = Profiles::default();
        let device = Device::simulated(simulator(gpu, &profiles));
        let assembled = AssembledKernels::default();
        Self { gpu, device, profiles, sources: None, resources: Box::new(|_, _| None), assembled }
    }
}

impl<'a> Explainer<'a> {
    /// Sets the sources whose lines are shown beside the figures.
    pub fn with_sources(self, sources: &'a Sources) -> Self {
        Self { sources: Some(sources), ..self }
    }

    /// Chooses the warp whose steps the kernels' figures have: that of `thread`, which is the index of a block and the
    /// index of a thread in it. Otherwise they have the steps of the first warp.
    pub fn with_steps_of(self, thread: (Dim3, Dim3)) -> Self {
        let simulator = simulator(self.gpu, &self.profiles).with_steps_of(thread);
        Self { device: Device::simulated(simulator), ..self }
    }

    /// Sets the function that returns the registers and static shared memory of a kernel. Its arguments are the
    /// kernel's name in the PTX and the architecture, such as 90 for sm_90.
    pub fn with_resources(self, resources: impl Fn(&str, u32) -> Option<Resources> + 'a) -> Self {
        Self { resources: Box::new(resources), ..self }
    }

    /// Runs `ptxas` on the PTX in `modules`, and takes from it the registers, spills, and static shared and local
    /// memory of the kernels.
    ///
    /// # Errors
    /// A text that says why they are not known: there is no `ptxas`, or it does not know the GPU, or there is no PTX.
    pub fn with_ptx(self, modules: &[PtxModule]) -> Result<Self, String> {
        let assembled = AssembledKernels::new(modules, self.gpu.arch)?;
        Ok(Self { assembled, ..self })
    }

    /// Returns the GPU for which kernels are explained.
    pub fn gpu(&self) -> &'static Gpu {
        self.gpu
    }

    /// Calls `run` with the simulated device. Without [sources](Self::with_sources), reads the files of the kernels, if
    /// they are there. Returns the result of `run` and the figures of the launched kernels, in
    /// the order of their first launches.
    ///
    /// # Errors
    /// The error that `run` returns.
    pub fn profile<T, E>(&self, run: impl FnOnce(&Device) -> Result<T, E>) -> Result<(T, Vec<KernelFigures>), E> {
        self.profiles.take();
        let result = run(&self.device)?;
        let profiles = self.profiles.take();
        let mut kernels = match self.sources {
            Some(sources) => KernelFigures::all(&profiles, sources),
            None => KernelFigures::all(&profiles, &Sources::of_profiles(&profiles)),
        };
        for kernel in &mut kernels {
            let assembled = self.assembled.of(kernel.entry);
            let resources = assembled.map(|(resources, _)| resources);
            let resources = resources.or_else(|| (self.resources)(kernel.entry, self.gpu.arch));
            kernel.finish(self.gpu, resources, assembled.map(|(_, local)| local));
        }
        Ok((result, kernels))
    }
}

/// Returns a simulator with the multiprocessors of `gpu`, which collects profiles and discards what kernels print.
fn simulator(gpu: &Gpu, profiles: &Profiles) -> Simulator {
    Simulator::new()
        .with_profiles(profiles.clone())
        .with_multiprocessors(gpu.multiprocessors)
        .with_output(Arc::new(Mutex::new(io::sink())))
}

impl fmt::Debug for Explainer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Explainer").field("gpu", self.gpu).finish_non_exhaustive()
    }
}
