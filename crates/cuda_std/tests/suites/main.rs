//! All tests of the functions that kernels call, in one program, which is linked only once.

mod call_paths;
mod common;
mod comparisons;
mod cuda_names;
mod float_calls;
#[cfg(all(feature = "glam-0-30", feature = "half"))]
mod foreign_types;
mod given;
mod handed_over;
mod handed_within;
mod imports;
mod kernels;
mod messages;
mod norm;
mod operators;
mod patterns;
mod places;
mod pointers;
mod pointers_mean_what_they_did;
mod raw_rust;
mod references;
mod shapes;
mod shared_memory;
mod unseen;
