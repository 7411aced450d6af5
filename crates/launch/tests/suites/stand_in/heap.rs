//! The stand-in driver's function for the heap of kernels.

use super::{INVALID_VALUE, answer, log, state};

/// `CU_LIMIT_MALLOC_HEAP_SIZE`.
const HEAP: i32 = 2;

functions! {
    cuCtxSetLimit(limit: i32, value: usize) {
        let state = state()?;
        assert_eq!(limit, HEAP);
        // The driver refuses a new size after the first launch of a kernel that allocates: here, of any kernel.
        if !state.functions.is_empty() {
            return Err(INVALID_VALUE);
        }
        log(&format!("the heap has {value} bytes"));
        Ok(())
    }
}
