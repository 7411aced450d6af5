//! Explains what a GPU's memory system does for a kernel, line by line, in figures and sentences.
//!
//! An [`Explainer`] runs a closure on a simulated device that has as many multiprocessors as a [`Gpu`]. The simulator's
//! profiler counts requests, sectors, wavefronts and branches at each site of the kernels' sources. From these counts,
//! the explainer computes the [figures](KernelFigures) of each kernel: the bytes that each line moves, a sentence that
//! explains these bytes, the minimum time that the GPU's memory needs, and the occupancy. An [`Explanation`] shows the
//! rungs of a ladder side by side. It can be written as [text](Explanation::text), as one [HTML
//! page](Explanation::html) or, with serde, as JSON.
//!
//! The explainer needs no GPU. It counts the accesses of the kernel as it is written in Rust; the compiler for a GPU
//! may merge or drop accesses.
//!
//! Three parts stand on this for any program:
//!
//! - [`Commands`] are the commands `explain`, `check` and `bench` of a program, for its own kernels. The program
//!   describes its launches once, as [`Case`]s.
//! - [`profile()`] returns the figures of what a closure launches, with assertions for tests.
//! - [`check`] runs cases under hostile orders of their threads, and reports their faults.
//!
//! # User-defined kernels
//!
//! ```
//! use cuda_std::{Global, GlobalMut, kernel, thread};
//! use explain::{Explainer, Explanation, Gpu, Problem, RungFigures, RungNames, Sources};
//! use launch::LaunchConfig;
//!
//! /// `y[i] = x[stride·i]` for every `i`; one thread per element.
//! #[kernel]
//! pub fn gather(stride: usize, x: Global<f32>, y: GlobalMut<f32>) {
//!     let i = thread::index_1d() as usize;
//!     if i < y.len() {
//!         y.store(i, x.load(stride * i));
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
//! let gpu = Gpu::find("h200")?;
//! let sources = Sources::read(folder.as_ref())?; // the folder of the kernels' sources, for the text of each line
//! let explainer = Explainer::new(gpu).with_sources(&sources);
//! let mut explanation = Explanation::new("gather", gpu);
//! for (name, stride) in [("adjacent", 1), ("strided", 8)] {
//!     let ((), kernels) = explainer.profile(|device| {
//!         let (x, mut y) = (device.zeroed::<f32>(8 * 1024)?, device.zeroed::<f32>(1024)?);
//!         device.launch(LaunchConfig::new(4, 256), gather(stride, x.view(), y.view_mut()))
//!     })?;
//!     let names = RungNames::new("gather", name, "Lanes read elements that lie `stride` apart.");
//!     explanation.push(RungFigures::new(names, Problem::vector(1024, "f32"), kernels, gpu), true);
//! }
//! let [adjacent, strided] = &explanation.rungs[..] else { unreachable!() };
//! assert_eq!(adjacent.summary.load_efficiency, Some(1.0));
//! assert_eq!(strided.summary.load_efficiency, Some(0.125)); // 4 of the 32 bytes of each sector
//! let load = &strided.kernels[0].sites[0]; // the site that loses most time
//! assert!(load.meaning.contains("each request touches 32 sectors where 4 would do"));
//! println!("{}", explanation.text(100));
//! std::fs::write(std::env::temp_dir().join("gather.html"), explanation.html())?;
//! # std::fs::remove_file(std::env::temp_dir().join("gather.html"))?;
//! # Ok(())
//! # }
//! ```
//!
//! An explainer [with PTX](Explainer::with_ptx) runs `ptxas` on it and also shows registers, spills, local memory and
//! occupancy. One [with resources](Explainer::with_resources) computes the occupancy from given registers and static
//! shared memory.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

mod assembled;
mod bulk;
pub mod check;
mod commands;
mod compare;
mod explainer;
mod explanation;
mod figures;
mod gpus;
mod html;
mod meaning;
mod occupancy;
mod picture;
mod problem;
mod profile;
mod roofline;
mod sites;
mod sources;
mod summary;
mod tensor;
mod text;
mod times;

pub use bulk::{BulkSite, BulkTotals, BulkTraffic, Pipeline};
pub use commands::{Case, CaseResult, Commands, Run};
pub use compare::{Baseline, BaselineError, Change, Comparison, KernelComparison, Line, LineChange, RungComparison};
pub use explainer::Explainer;
pub use explanation::{Explanation, RungFigures, RungNames};
pub use figures::{KernelFigures, Launches, Totals, TrafficByKind};
pub use gpus::{Gpu, SpeedSource, UnknownGpu};
pub use occupancy::{Limit, LocalMemory, Multiprocessor, Occupancy, Resources};
pub use picture::Picture;
pub use problem::Problem;
pub use profile::{Profile, profile};
pub use roofline::{Limit as RooflineLimit, Roofline};
pub use sites::{AccessSite, BranchSite, Kind, Memory, SECTOR, SourceSite, Traffic};
pub use sources::Sources;
pub use summary::Summary;
pub use tensor::{ProductSite, ProductTotals, TensorLimit, TensorRoofline};
pub use times::Times;
