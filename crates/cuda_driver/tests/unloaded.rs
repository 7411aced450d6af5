//! What the functions answer in a process that never calls `load`. No other test may stand in this file.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

macro_rules! declare {
    ($($name:ident)*) => {
        unsafe extern "C" {
            $(fn $name() -> i32;)*
        }
        const FUNCTIONS: &[(&str, unsafe extern "C" fn() -> i32)] = &[$((stringify!($name), $name)),*];
    };
}
cuda_driver::with_symbols!(declare);

#[test]
fn every_function_answers_that_the_driver_is_not_initialized() {
    assert_eq!(FUNCTIONS.len(), cuda_driver::SYMBOLS.len());
    for (name, function) in FUNCTIONS {
        // SAFETY: without a driver the function ignores its arguments, and this process does not load one.
        assert_eq!(unsafe { function() }, 3, "{name}");
    }
    let mut addresses: Vec<usize> = FUNCTIONS.iter().map(|(_, function)| *function as usize).collect();
    addresses.sort_unstable();
    addresses.dedup();
    assert_eq!(addresses.len(), FUNCTIONS.len(), "every function has a trampoline of its own");
}
