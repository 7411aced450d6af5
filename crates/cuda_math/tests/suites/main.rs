//! The tests of the functions in one program, which is linked once.

mod f64_mathematics;
mod mathematics;
mod norm;
