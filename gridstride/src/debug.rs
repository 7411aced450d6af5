//! `Debug` of the error types.

/// `Debug` of an error is its message, since `main` and `unwrap` show that one.
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
