//! The tests of `launch` in one program, which is linked once. Tests that need their own process, such as those with
//! the stand-in driver, run this program again for a single test.

mod blocks;
mod blocks_in_turn;
mod branches;
mod buffers;
mod cured;
mod declared_races;
mod devices;
mod endless_loops;
mod fences_of_others;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod gpu_back_end;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod gpu_clusters;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod gpu_compiling;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod gpu_graphs;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod gpu_groups;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod gpu_queues;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod gpu_streams;
mod gpus;
mod graphs;
mod groups;
mod heap;
mod host_names;
mod in_place;
mod interop;
mod launches;
mod load_buffering;
mod many_kernels;
mod modules;
mod names;
mod ordering;
mod phases;
mod pipelines;
mod queues;
mod rare;
mod read_only_loads;
mod readme;
mod redundant;
mod remedies;
mod remedies_of_bytes;
mod shared;
mod shuffle_sources;
mod split;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod stand_in;
mod statics;
mod streams;
mod thorough;
mod types;
mod waiting_by_updates;
mod weak_memory;
mod weak_memory_in_part;
mod written;
