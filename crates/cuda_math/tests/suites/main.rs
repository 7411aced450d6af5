//! All tests of the float functions, in one program, so that the linker runs once.

mod f64_mathematics;
mod mathematics;
mod norm;
