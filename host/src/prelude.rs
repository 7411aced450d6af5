//! What a program needs to call the algorithms: `use host::prelude::*;`.

pub use gpu::operator::{Affine, Compose, Max, Min, Operator, Product, Sum};
pub use launch::{Buffer, Device, DeviceChoice};

pub use crate::primitives::{Primitives, Vector, VectorMut};
pub use crate::rungs::AlgorithmError;
