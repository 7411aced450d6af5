//! The tensor cores of the simulated device.

pub mod arithmetic;
