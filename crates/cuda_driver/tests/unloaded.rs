//! Tests the driver's functions in a process that never calls `load`. No other test may be in this file.
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
        // SAFETY: no driver is loaded in this process, and without one the function ignores its arguments.
        assert_eq!(unsafe { function() }, 3, "{name}");
    }
    let mut addresses: Vec<usize> = FUNCTIONS.iter().map(|(_, function)| *function as usize).collect();
    addresses.sort_unstable();
    addresses.dedup();
    assert_eq!(addresses.len(), FUNCTIONS.len(), "two functions share a trampoline");
}
