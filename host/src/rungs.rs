//! The rungs of an algorithm's ladder by name, and what can be wrong with a call of one.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// One of the kernels of an algorithm, known by its name: an enum that `rungs!` declares.
pub trait Rung: Copy + Eq + fmt::Display + FromStr<Err = UnknownKernel> + Send + Sync + 'static {
    /// The algorithm's name.
    const ALGORITHM: &'static str;

    /// All rungs, the plainest first.
    const ALL: &'static [Self];

    /// Its name on the command line.
    fn name(self) -> &'static str;

    /// What it does differently from the rung before, in one line.
    fn idea(self) -> &'static str;
}

/// Declares the rungs of an algorithm: `rungs! { pub enum SaxpyKernel: "saxpy" { /// Idea. Monolithic = "monolithic" } }`.
macro_rules! rungs {
    (
        $(#[$attribute:meta])*
        pub enum $rung:ident: $algorithm:literal {
            $($(#[doc = $idea:literal])+ $variant:ident = $name:literal),+ $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $rung {
            $($(#[doc = $idea])+ $variant,)+
        }

        impl $crate::rungs::Rung for $rung {
            const ALGORITHM: &'static str = $algorithm;
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            fn idea(self) -> &'static str {
                match self { $(Self::$variant => concat!($($idea),+).trim_ascii(),)+ }
            }
        }

        impl std::fmt::Display for $rung {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad($crate::rungs::Rung::name(*self))
            }
        }

        impl std::str::FromStr for $rung {
            type Err = $crate::rungs::UnknownKernel;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::rungs::find(text)
            }
        }
    };
}

pub(crate) use rungs;

/// A text that names no kernel of the algorithm.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("there is no {algorithm} kernel '{name}': use {}", alternatives(known))]
pub struct UnknownKernel {
    /// The algorithm.
    pub algorithm: &'static str,
    /// What was asked for.
    pub name: String,
    /// What there is.
    pub known: Vec<&'static str>,
}

/// The rung of that name.
pub(crate) fn find<R: Rung>(name: &str) -> Result<R, UnknownKernel> {
    R::ALL.iter().copied().find(|rung| rung.name() == name).ok_or_else(|| UnknownKernel {
        algorithm: R::ALGORITHM,
        name: name.to_owned(),
        known: R::ALL.iter().map(|rung| rung.name()).collect(),
    })
}

/// `a, b or c`.
pub(crate) fn alternatives(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Which kernels a command runs: one, or `all`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kernels<R> {
    /// All of them.
    All,
    /// That one.
    One(R),
}

impl<R: Rung> Kernels<R> {
    /// Reads a kernel's name, or `all`; for clap.
    ///
    /// # Errors
    /// What names there are.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(rung) => Ok(Self::One(rung)),
            Err(_) if text == "all" => Ok(Self::All),
            Err(UnknownKernel { algorithm, name, mut known }) => {
                known.push("all");
                Err(UnknownKernel { algorithm, name, known }.to_string())
            }
        }
    }

    /// The kernels, the plainest first.
    pub fn list(self) -> Vec<R> {
        match self {
            Self::All => R::ALL.to_vec(),
            Self::One(rung) => vec![rung],
        }
    }
}

/// Why an algorithm did not run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AlgorithmError {
    /// The device has failed, has too little memory, or was given buffers that do not fit.
    #[error(transparent)]
    Launch(#[from] launch::Error),
    /// The kernel is not built for what was asked.
    #[error("{algorithm}'s kernel {kernel} does not offer {asked}: it offers {offered}")]
    NotOffered {
        /// The algorithm.
        algorithm: &'static str,
        /// The kernel's name.
        kernel: &'static str,
        /// What was asked, such as "min of f64".
        asked: String,
        /// What it offers, such as "sum of f32 and i32".
        offered: String,
    },
    /// A buffer does not hold a matrix of the size given.
    #[error("a matrix of {width} x {height} has {} elements, and {what} has {len}", width.saturating_mul(*height))]
    SizeMismatch {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
        /// Which buffer.
        what: &'static str,
        /// Its elements.
        len: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    rungs! {
        /// For the test.
        pub enum Steps: "walk" {
            /// One foot before the other.
            Slow = "slow",
            /// Both feet
            /// at once.
            Hop = "hop",
        }
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for &step in Steps::ALL {
            assert_eq!(step.to_string().parse(), Ok(step));
        }
        assert_eq!(Steps::Hop.idea(), "Both feet at once.");
        let message = "run".parse::<Steps>().unwrap_err().to_string();
        assert_eq!(message, "there is no walk kernel 'run': use slow or hop");
    }

    #[test]
    fn all_names_every_rung() {
        assert_eq!(Kernels::<Steps>::parse("all").unwrap().list(), [Steps::Slow, Steps::Hop]);
        assert_eq!(Kernels::<Steps>::parse("hop").unwrap().list(), [Steps::Hop]);
        let message = Kernels::<Steps>::parse("run").unwrap_err();
        assert_eq!(message, "there is no walk kernel 'run': use slow, hop or all");
    }
}
