//! Compiles a kernel crate to PTX with an unmodified `rustc`: no CUDA toolkit, no `rustc-dev`, no linker.
//!
//! A project's build script is one call, [`CudaBuilder::embed`]. A build task uses the builder directly:
//!
//! ```no_run
//! use cuda_builder::{Arch, CudaBuilder};
//!
//! let output = CudaBuilder::new("gpu").arch(Arch::Sm70).copy_to("resources/kernels.ptx").build()?;
//! println!("{} bytes of PTX, by {}", output.ptx.len(), output.compiler);
//! # Ok::<(), cuda_builder::BuildError>(())
//! ```
//!
//! The builder needs a `rustc` with the standard library's sources, because `core` is compiled for the GPU along with
//! the kernels. [`Toolchain`] describes where the builder searches for one. If there is none, the error says what to
//! install.
//!
//! A build is reproducible: the same sources and the same compiler give the same text in any folder (see
//! [`postprocess`]). A PTX file can therefore be checked in and verified later.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

mod arch;
mod build_script;
mod builder;
mod command;
mod dep_info;
mod embed;
mod error;
mod files;
mod invocation;
mod llvm_ir;
mod machine_code;
mod options;
mod package;
pub mod postprocess;
mod sources;
mod std_floats;
mod toolchain;

pub use arch::{Arch, ArchError, NvvmArch};
pub use build_script::TARGET_DIR_VARIABLE;
pub use builder::{BuildOutput, CudaBuilder};
pub use error::{BuildError, CargoFailure};
pub use postprocess::{Fallback, Header, PtxError};
pub use toolchain::{CARGO_VARIABLE, RUSTC_VARIABLE, Rejected, Search, Toolchain};

/// The target triple of kernels.
pub const TARGET: &str = "nvptx64-nvidia-cuda";
