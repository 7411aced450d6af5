//! What a user imports by name counts as used, and nothing has to be imported.

#![deny(unused_imports)]

use cuda_std::{DeviceId, GlobalMut};

mod imported {
    use cuda_std::{GlobalMut, kernel, print, println, thread};

    /// Prints by macros that are imported.
    #[kernel]
    pub fn by_name(y: GlobalMut<u32>) {
        let i = thread::index_1d();
        print!("{} ", i);
        println!("of {}", y.len());
    }

    /// Has a variable of a macro's name.
    #[kernel]
    pub fn beside_a_variable(y: GlobalMut<u32>) {
        let print = y.len();
        print!("{}", print);
    }
}

mod known {
    use cuda_std::prelude::*;

    /// Prints by macros that are known without an import.
    #[kernel]
    pub fn by_prelude(y: GlobalMut<u32>) {
        println!("of {}", y.len());
        assert!(y.len() < 1000);
    }
}

mod unknown {
    use cuda_std::{GlobalMut, kernel};

    /// Prints by macros that nobody imported, where std's are known.
    #[kernel]
    pub fn by_itself(y: GlobalMut<u32>) {
        println!("of {}", y.len());
    }
}

#[test]
fn imports_of_macros_count_as_used() {
    // SAFETY: a view of nothing.
    let y = || unsafe { GlobalMut::<u32>::from_raw_parts(std::ptr::dangling_mut(), 0, DeviceId::simulated(1)) };
    let _ = (imported::by_name(y()), imported::beside_a_variable(y()), known::by_prelude(y()), unknown::by_itself(y()));
}
