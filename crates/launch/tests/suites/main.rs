//! The tests of launching in one program, which is linked once. What needs a process of its own, as a GPU of the stand-in driver
//! does, runs the program again for the one test.

mod branches;
mod buffers;
mod devices;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod gpu_back_end;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod gpu_compiling;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod gpu_graphs;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod gpu_groups;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod gpu_streams;
mod gpus;
mod graphs;
mod groups;
mod launches;
mod modules;
mod names;
mod ordering;
mod rare;
mod readme;
mod redundant;
mod shared;
mod split;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod stand_in;
mod statics;
mod streams;
mod thorough;
mod types;
mod written;
