//! Checks that a user's imports of `cuda_std`'s macros count as used, and that kernels need no imports for them.

#![deny(unused_imports)]

use cuda_std::{DeviceId, GlobalMut};

mod imported {
    use cuda_std::{GlobalMut, address_space, kernel, print, println, thread};

    /// Declares shared memory by an imported attribute, as Rust-CUDA's kernels do.
    #[kernel]
    pub fn by_attribute(y: GlobalMut<u32>) {
        #[address_space(shared)]
        static mut TILE: [u32; 2] = [0; 2];
        let i = thread::index_1d();
        // SAFETY: the kernel is never run.
        unsafe { TILE[i] = 1 };
        y.store(i, 1);
    }

    /// Prints by imported macros.
    #[kernel]
    pub fn by_name(y: GlobalMut<u32>) {
        let i = thread::index_1d();
        print!("{} ", i);
        println!("of {}", y.len());
    }

    /// Has a variable with the name of a macro.
    #[kernel]
    pub fn beside_a_variable(y: GlobalMut<u32>) {
        let print = y.len();
        print!("{}", print);
    }
}

mod known {
    use cuda_std::prelude::*;

    /// Prints by macros that the prelude imports.
    #[kernel]
    pub fn by_prelude(y: GlobalMut<u32>) {
        println!("of {}", y.len());
        assert!(y.len() < 1000);
    }
}

mod beside_core {
    use core::sync::atomic::*;

    use cuda_std::prelude::*;

    /// Orders accesses by a function of `core` that has the name of one of `cuda_std`.
    #[kernel]
    pub fn by_core(y: GlobalMut<u32>) {
        y.store(0, 1);
        fence(Ordering::SeqCst);
        fence_block();
    }
}

mod unknown {
    use cuda_std::{GlobalMut, kernel};

    /// Prints by macros that are not imported, in a module that also knows std's macros.
    #[kernel]
    pub fn by_itself(y: GlobalMut<u32>) {
        println!("of {}", y.len());
    }

    /// Declares shared memory by an attribute that is not imported.
    #[kernel]
    pub fn by_its_own_attribute(y: GlobalMut<u32>) {
        #[address_space(shared)]
        static mut TILE: [u32; 2] = [0; 2];
        // SAFETY: the kernel is never run.
        unsafe { TILE[0] = 1 };
        y.store(0, 1);
    }
}

#[test]
fn imports_of_macros_count_as_used() {
    // SAFETY: the view has no elements.
    let y = || unsafe { GlobalMut::<u32>::from_raw_parts(std::ptr::dangling_mut(), 0, DeviceId::simulated(1)) };
    let _ = (imported::by_name(y()), imported::beside_a_variable(y()), known::by_prelude(y()), unknown::by_itself(y()));
    let _ = (imported::by_attribute(y()), unknown::by_its_own_attribute(y()), beside_core::by_core(y()));
}
