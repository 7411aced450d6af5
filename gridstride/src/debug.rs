//! The `Debug` implementation of the error types.

/// Implements `Debug` with the text of `Display`, because `main` and `unwrap` print an error with `Debug`.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_as_displayed {
    ($error:ty) => {
        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
}
