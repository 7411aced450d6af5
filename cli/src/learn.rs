//! `host learn`: writes a course of exercises, and checks the exercises of one.

use std::path::{Path, PathBuf};

use clap::Args;
use learn::{LearnError, project};

use crate::error::UsageError;
use crate::new::{CratesOptions, NewFolder};
use crate::report;

/// Learn to write kernels: write a course of exercises to a folder, and check them there, without a GPU
#[derive(Args, Debug)]
pub struct LearnOptions {
    /// The folder to write the course to; in the folder of a course, the exercise to check: its name or number
    /// [default: the first that is not done]
    #[arg(value_name = "DIR or EXERCISE")]
    target: Option<String>,

    #[command(flatten)]
    session: learn::SessionOptions,

    #[command(flatten)]
    crates: CratesOptions,
}

impl LearnOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// [`UsageError`] if the command line is wrong; another error if the course cannot be written or checked, or an
    /// exercise is not passed.
    pub fn run(self) -> anyhow::Result<()> {
        let here = Path::new(".");
        match self.target {
            Some(target) if !project::is_project(here) && !self.session.needs_project() => {
                let folder = PathBuf::from(target);
                let crates = self.crates.source()?;
                NewFolder::at(&folder)?.fill(&project::files(|place| crates.of(place)))?;
                report::print(&next_steps(&folder))
            }
            None if !project::is_project(here) => Err(UsageError(format!(
                "this is the folder of no course: write one by `{program} learn DIR`, and run `{program} learn` there",
                program = units::program()
            ))
            .into()),
            target => self.session.run(here, target.as_deref()).map_err(|error| match error {
                LearnError::Usage(text) => UsageError(text).into(),
                LearnError::Failed(text) => anyhow::Error::msg(text),
                LearnError::NotPassed => anyhow::Error::msg("not all is passed: see above"),
            }),
        }
    }
}

/// Returns the next steps in the course.
fn next_steps(folder: &Path) -> String {
    let enter = if folder == Path::new(".") { String::new() } else { format!("    cd {}\n", folder.display()) };
    format!(
        "wrote {} exercises to {}; next:\n\n{enter}    cargo run                # checks the first exercise, and again \
         after each edit; needs no GPU\n    cargo run -- --help      # hints, the list of exercises, …\n\nThe first \
         build takes some minutes. The exercises are in exercises/, the first in {}.\n",
        learn::SOURCES.len(),
        folder.display(),
        learn::SOURCES.first().map_or_else(String::new, learn::Source::kernel_path)
    )
}
