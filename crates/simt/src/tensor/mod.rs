//! The tensor cores of the simulated device.

pub mod arithmetic;
mod exact;
mod formats;
mod lanes;
mod rounding;

pub use formats::Format;
