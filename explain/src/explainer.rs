//! Runs kernels on a simulated device with a profiler.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex};

use launch::Device;
use simt::{Profiles, Simulator};

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
}

/// A function that returns the resources of a kernel. Its arguments are the kernel's name in the PTX and an
/// architecture, such as 90 for sm_90.
type ResourcesOf<'a> = dyn Fn(&str, u32) -> Option<Resources> + 'a;

impl Explainer<'_> {
    /// Returns an explainer for `gpu` that has neither sources nor resources. It discards the lines that kernels print.
    pub fn new(gpu: &'static Gpu) -> Self {
        let profiles = Profiles::default();
        let simulator = Simulator::new()
            .with_profiles(profiles.clone())
            .with_multiprocessors(gpu.multiprocessors)
            .with_output(Arc::new(Mutex::new(io::sink())));
        let device = Device::simulated(simulator);
        Self { gpu, device, profiles, sources: None, resources: Box::new(|_, _| None) }
    }
}

impl<'a> Explainer<'a> {
    /// Sets the sources whose lines are shown beside the figures.
    pub fn with_sources(self, sources: &'a Sources) -> Self {
        Self { sources: Some(sources), ..self }
    }

    /// Sets the function that returns the registers and static shared memory of a kernel. Its arguments are the
    /// kernel's name in the PTX and the architecture, such as 90 for sm_90.
    pub fn with_resources(self, resources: impl Fn(&str, u32) -> Option<Resources> + 'a) -> Self {
        Self { resources: Box::new(resources), ..self }
    }

    /// Returns the GPU for which kernels are explained.
    pub fn gpu(&self) -> &'static Gpu {
        self.gpu
    }

    /// Calls `run` with the simulated device. Returns the result of `run` and the figures of the launched kernels, in
    /// the order of their first launches.
    ///
    /// # Errors
    /// The error that `run` returns.
    pub fn profile<T, E>(&self, run: impl FnOnce(&Device) -> Result<T, E>) -> Result<(T, Vec<KernelFigures>), E> {
        self.profiles.take();
        let result = run(&self.device)?;
        let none = Sources::default();
        let mut kernels = KernelFigures::all(&self.profiles.take(), self.sources.unwrap_or(&none));
        for kernel in &mut kernels {
            kernel.finish(self.gpu, (self.resources)(kernel.entry, self.gpu.arch));
        }
        Ok((result, kernels))
    }
}

impl fmt::Debug for Explainer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Explainer").field("gpu", self.gpu).finish_non_exhaustive()
    }
}
