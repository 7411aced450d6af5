//! An NVIDIA GPU as a device, through `cust`.

mod discovery;
mod gpu;
mod memory;
mod modules;
mod sys;

pub(crate) use discovery::gpus;
pub(crate) use gpu::GpuDevice;
pub(crate) use memory::DeviceMemory;
