//! The sources of the exercises, which the library embeds.

/// The files of an exercise.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The number of the exercise in the course.
    pub number: u32,
    /// The name of the exercise, of its kernel file and of its module.
    pub name: &'static str,
    /// The kernel file, with a hole.
    pub kernel: &'static str,
    /// The file `check.rs`, which checks the kernels.
    pub check: &'static str,
    /// The file `answers.md`: title, hints, solution and wrong fillings.
    pub answers: &'static str,
}

/// The exercises, in the order of the course.
pub const SOURCES: &[Source] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));
