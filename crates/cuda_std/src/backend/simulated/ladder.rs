//! Ladders: the rungs of an algorithm, as `ladder!` declares them.

extern crate std;

use core::any::TypeId;
use core::fmt;
use core::hash::Hash;
use core::str::FromStr;
use std::borrow::ToOwned;
use std::string::String;

use simt::{ArgumentId, KernelInfo};

/// A rung of a ladder: one way to compute an algorithm's result, by one or several kernels.
///
/// Two values are equal if they are the same rung of the same ladder.
#[derive(Debug)]
pub struct Rung {
    /// The [`Ladder`] of the rung.
    pub ladder: TypeId,
    /// The index in the ladder. The plainest rung has index 0.
    pub index: usize,
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// The rung's name in commands.
    pub name: &'static str,
    /// A sentence on what the rung changes compared with the previous one.
    pub idea: &'static str,
    /// The names of the kernel functions that the rung launches.
    pub families: &'static [&'static str],
    /// The kernels that the rung launches, with their entries.
    pub kernels: &'static [RungKernel],
}

/// A kernel that a rung launches.
#[derive(Debug)]
pub struct RungKernel {
    /// All entries of the kernel.
    pub entries: &'static [&'static KernelInfo],
    /// The trailing generic arguments of the kernel that the rung fixes, such as 4 for `unrolled_4`.
    pub arguments: &'static [ArgumentId],
}

impl RungKernel {
    /// Returns the entries that the rung may launch.
    pub fn entries(&self) -> impl Iterator<Item = &'static KernelInfo> + '_ {
        self.entries.iter().copied().filter(|entry| entry.arguments_end_with(self.arguments))
    }
}

impl Rung {
    /// Returns the entry whose generic arguments begin with `arguments`: an element type, or an element type and an
    /// operator. It belongs to the first of the rung's kernels that has such an entry.
    pub fn entry(&self, arguments: &[ArgumentId]) -> Option<&'static KernelInfo> {
        self.entries().find(|entry| entry.arguments_begin_with(arguments))
    }

    /// Returns the entries of the rung's kernels: the types and operators for which the rung is built. Kernels of a
    /// rung may be built for different types, or for the same ones.
    pub fn entries(&self) -> impl Iterator<Item = &'static KernelInfo> + '_ {
        self.kernels.iter().flat_map(RungKernel::entries)
    }

    /// Returns the number of input elements that a thread processes at once, if the rung's first kernel declares it.
    pub fn items_per_thread(&self) -> Option<usize> {
        self.kernels.first()?.entries().find_map(|entry| entry.items_per_thread)
    }

    /// Returns the largest number of elements that the rung supports, if its kernels declare a limit.
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

/// Implemented by the enum of an algorithm's rungs, which [`ladder!`](crate::ladder!) declares. The plainest rung is
/// first.
pub trait Ladder:
    Copy + Eq + Hash + fmt::Debug + fmt::Display + FromStr<Err = UnknownRung> + Send + Sync + 'static
{
    /// The algorithm's name.
    const ALGORITHM: &'static str;

    /// All rungs of the ladder, the plainest first.
    const ALL: &'static [Self];

    /// The descriptions of the rungs, in the order of [`ALL`](Self::ALL).
    const RUNGS: &'static [Rung];

    /// Returns the description of the rung.
    fn rung(self) -> &'static Rung;

    /// Returns the rung's name in commands.
    fn name(self) -> &'static str {
        self.rung().name
    }

    /// Returns a sentence on what the rung changes compared with the previous one.
    fn idea(self) -> &'static str {
        self.rung().idea
    }

    /// Returns the names of the kernel functions that the rung launches.
    fn families(self) -> &'static [&'static str] {
        self.rung().families
    }

    /// The last rung of the ladder.
    const LAST: Self = Self::ALL[Self::ALL.len() - 1];

    /// Returns the rung that the description `rung` belongs to.
    ///
    /// # Errors
    /// Returns [`UnknownRung`] if `rung` describes a rung of another ladder.
    fn of(rung: &Rung) -> Result<Self, UnknownRung> {
        let own = Self::ALL.get(rung.index).filter(|_| rung.ladder == TypeId::of::<Self>());
        own.copied().ok_or_else(|| UnknownRung::new::<Self>(rung.name))
    }

    /// Returns the default rung for generic arguments that begin with `arguments`. It is the last rung that is built
    /// for them, or the ladder's last rung if no rung is built for them.
    fn default_rung(arguments: &[ArgumentId]) -> Self {
        let is_built = |rung: &&Self| rung.rung().entry(arguments).is_some();
        Self::ALL.iter().rfind(is_built).copied().unwrap_or(Self::LAST)
    }
}

/// The error for a name that is not a rung of the algorithm.
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownRung {
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// The name that is not a rung.
    pub name: String,
    /// The names that can be used instead, including `all` if the command accepts it.
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

/// Returns the rung of the ladder `L` with this name.
#[doc(hidden)]
pub fn find_rung<L: Ladder>(name: &str) -> Result<L, UnknownRung> {
    L::ALL.iter().copied().find(|rung| rung.name() == name).ok_or_else(|| UnknownRung::new::<L>(name))
}
