//! How errors are shown.

/// `Debug` of an error is its message, since `main` and `unwrap` show that one.
macro_rules! debug_as_displayed {
    ($error:ty) => {
        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use crate::algorithm::Size;
    use crate::case::CaseError;
    use crate::life::board::Board;
    use crate::life::pattern::ParseError;

    #[test]
    fn unwrap_shows_the_message() {
        let errors: [Box<dyn Error>; 5] = [
            Box::new(Board::new(0, 1).unwrap_err()),
            Box::new(Board::random(1, 1, 2.0, 0).unwrap_err()),
            Box::new("1".parse::<Size>().unwrap_err()),
            Box::new(ParseError { line: 1, column: 2, message: "a pattern has no `?`".to_owned() }),
            Box::new(CaseError::Wrong("x[0]".to_owned())),
        ];
        for error in errors {
            assert_eq!(format!("{error:?}"), error.to_string());
        }
    }
}
