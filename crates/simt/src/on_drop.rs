//! A value that calls a function when it is dropped.

/// A guard that calls its function when it is dropped, also during a panic.
pub(crate) struct OnDrop<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for OnDrop<F> {
    #[inline]
    fn drop(&mut self) {
        (self.0)();
    }
}
