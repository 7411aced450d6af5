//! Ladders: the rungs of an algorithm, as `ladder!` declares them.

extern crate std;

use core::any::TypeId;
use core::fmt;
use core::hash::Hash;
use core::str::FromStr;
use std::borrow::ToOwned;
use std::string::String;

use simt::{ArgumentId, KernelInfo};

/// A rung of a ladder: a way to compute what the algorithm computes, by one kernel or several.
///
/// Two are equal if they are the same rung of the same ladder.
#[derive(Debug)]
pub struct Rung {
    /// The [`Ladder`] that it is a rung of.
    pub ladder: TypeId,
    /// Its index in the ladder, from the plainest on.
    pub index: usize,
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// Its name, as people type it.
    pub name: &'static str,
    /// What it does differently from the rung before, in a sentence.
    pub idea: &'static str,
    /// The kernels that it launches, by the names of their functions.
    pub families: &'static [&'static str],
    /// The same, each with its entries.
    pub kernels: &'static [RungKernel],
}

/// A kernel as a rung launches it.
#[derive(Debug)]
pub struct RungKernel {
    /// All entries of the kernel.
    pub entries: &'static [&'static KernelInfo],
    /// The last generic arguments that this rung gives it: 4 for `unrolled_4`.
    pub arguments: &'static [ArgumentId],
}

impl RungKernel {
    /// Returns the entries that the rung may launch.
    pub fn entries(&self) -> impl Iterator<Item = &'static KernelInfo> + '_ {
        self.entries.iter().copied().filter(|entry| entry.arguments_end_with(self.arguments))
    }
}

impl Rung {
    /// Returns the entry of its first kernel whose generic arguments begin with `arguments`: the element type, or the
    /// element type and the operator.
    pub fn entry(&self, arguments: &[ArgumentId]) -> Option<&'static KernelInfo> {
        self.kernels.first()?.entries().find(|entry| entry.arguments_begin_with(arguments))
    }

    /// Returns the entries of its first kernel: the types and operators that the rung is built for.
    pub fn entries(&self) -> impl Iterator<Item = &'static KernelInfo> + '_ {
        self.kernels.first().into_iter().flat_map(RungKernel::entries)
    }

    /// Returns the number of input elements that a thread takes at a time, if its first kernel declares it.
    pub fn items_per_thread(&self) -> Option<usize> {
        self.kernels.first()?.entries().find_map(|entry| entry.items_per_thread)
    }

    /// Returns the largest number of elements that it takes, if its kernels declare one.
    pub fn max_elements(&self) -> Option<usize> {
        self.kernels.iter().flat_map(RungKernel::entries).filter_map(|entry| entry.max_elements).min()
    }
}

impl PartialEq for Rung {
    fn eq(&self, other: &Self) -> bool {
        (self.ladder, self.index) == (other.ladder, other.index)
    }
}

impl Eq for Rung {}

/// The rungs of an algorithm, the plainest first: an enum that [`ladder!`](crate::ladder!) declares.
pub trait Ladder:
    Copy + Eq + Hash + fmt::Debug + fmt::Display + FromStr<Err = UnknownRung> + Send + Sync + 'static
{
    /// The algorithm's name.
    const ALGORITHM: &'static str;

    /// All rungs.
    const ALL: &'static [Self];

    /// What is known of each, in the same order.
    const RUNGS: &'static [Rung];

    /// What is known of it.
    fn rung(self) -> &'static Rung;

    /// Its name, as people type it.
    fn name(self) -> &'static str {
        self.rung().name
    }

    /// What it does differently from the rung before, in a sentence.
    fn idea(self) -> &'static str {
        self.rung().idea
    }

    /// The kernels that it launches, by the names of their functions.
    fn families(self) -> &'static [&'static str] {
        self.rung().families
    }

    /// The last rung of all.
    const LAST: Self = Self::ALL[Self::ALL.len() - 1];

    /// Returns the rung of this description.
    ///
    /// # Errors
    /// [`UnknownRung`] if it describes a rung of another ladder.
    fn of(rung: &Rung) -> Result<Self, UnknownRung> {
        let own = Self::ALL.get(rung.index).filter(|_| rung.ladder == TypeId::of::<Self>());
        own.copied().ok_or_else(|| UnknownRung::new::<Self>(rung.name))
    }

    /// Returns the rung that runs by default for generic arguments that begin with `arguments`: the last one that is
    /// built for them. Returns the last of all if none is.
    fn default_rung(arguments: &[ArgumentId]) -> Self {
        let is_built = |rung: &&Self| rung.rung().entry(arguments).is_some();
        Self::ALL.iter().rfind(is_built).copied().unwrap_or(Self::LAST)
    }
}

/// A text that names no rung of the algorithm.
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownRung {
    /// The algorithm.
    pub algorithm: &'static str,
    /// What was asked for.
    pub name: String,
    /// What there is, and `all` where that is meant too.
    pub known: std::vec::Vec<&'static str>,
}

impl UnknownRung {
    fn new<L: Ladder>(name: &str) -> Self {
        let known = L::RUNGS.iter().map(|rung| rung.name).collect();
        Self { algorithm: L::ALGORITHM, name: name.to_owned(), known }
    }
}

impl fmt::Debug for UnknownRung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for UnknownRung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { algorithm, name, known } = self;
        write!(f, "there is no {algorithm} rung '{name}': use ")?;
        for (i, known) in known.iter().enumerate() {
            let separator = match i {
                0 => "",
                _ if i + 1 == self.known.len() => " or ",
                _ => ", ",
            };
            write!(f, "{separator}{known}")?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownRung {}

/// The rung of that name.
#[doc(hidden)]
pub fn find_rung<L: Ladder>(name: &str) -> Result<L, UnknownRung> {
    L::ALL.iter().copied().find(|rung| rung.name() == name).ok_or_else(|| UnknownRung::new::<L>(name))
}
