//! `host new`: creates a project with a kernel, a program and a test.

mod template;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use crate::error::UsageError;
use crate::files::{DraftFolder, remove_abandoned};
use crate::report;
use template::Crates;

/// Create a project for kernels of your own: a kernel, a program, and a test that needs no GPU
#[derive(Args, Debug)]
pub struct NewOptions {
    /// The folder to create; an existing one must be empty
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// The package's name [default: the name of the folder]
    #[arg(long)]
    name: Option<String>,

    #[command(flatten)]
    crates: CratesOptions,
}

/// The options for the crates on which a new project depends.
#[derive(Args, Debug)]
pub struct CratesOptions {
    /// Depend on the crates of a git repository
    #[arg(long, value_name = "URL", conflicts_with = "path")]
    git: Option<String>,

    /// Depend on the crates of a checkout of Gridstride [default: the one that this program was built from, or else the
    /// crates of this version in the registry]
    #[arg(long, value_name = "CHECKOUT")]
    path: Option<PathBuf>,
}

impl CratesOptions {
    /// Returns the source of the crates.
    ///
    /// # Errors
    /// [`UsageError`] if the URL or the checkout cannot be used.
    pub(crate) fn source(self) -> Result<Crates, UsageError> {
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).parent().filter(|folder| is_checkout(folder));
        Ok(match (self.git, self.path.as_deref().or(own)) {
            (Some(url), _) => Crates::Git(printable("--git", url)?),
            (None, Some(path)) => Crates::Path(checkout(path)?),
            (None, None) => Crates::Registry,
        })
    }
}

impl NewOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// [`UsageError`] if the folder, the name or the checkout cannot be used; another error if the files cannot be
    /// written.
    pub fn run(self) -> anyhow::Result<()> {
        let folder = NewFolder::at(&self.folder)?;
        let name = match self.name {
            Some(name) => name,
            None => folder.path.file_name().and_then(OsStr::to_str).unwrap_or_default().to_owned(),
        };
        if let Some(refusal) = template::refusal(&name) {
            return Err(UsageError(format!("no package can be called '{name}': {refusal}; use --name NAME")).into());
        }
        folder.fill(&template::files(&name, &self.crates.source()?))?;
        report::print(&next_steps(&self.folder))
    }
}

/// The folder of a new project.
#[derive(Debug)]
pub(crate) struct NewFolder {
    path: PathBuf,
    /// True if the folder exists and is empty, and false if it does not exist.
    is_there: bool,
}

impl NewFolder {
    /// Returns the folder at `path`.
    ///
    /// # Errors
    /// [`UsageError`] if something else is there, or the folder is not empty.
    pub(crate) fn at(path: &Path) -> anyhow::Result<Self> {
        let path = std::path::absolute(path).with_context(|| format!("cannot find {path:?}"))?;
        let is_there = check_empty(&path)?;
        Ok(Self { path, is_there })
    }

    /// Writes the files of a project, all or none.
    ///
    /// # Errors
    /// If the files cannot be written.
    pub(crate) fn fill(&self, files: &[(impl AsRef<str>, String)]) -> anyhow::Result<()> {
        write(&self.path, self.is_there, files).with_context(|| format!("cannot make '{}'", self.path.display()))
    }
}

/// Returns true if the folder exists and is empty, and false if it does not exist.
///
/// A killed process may have left temporary files in the folder. They are removed.
fn check_empty(folder: &Path) -> anyhow::Result<bool> {
    remove_abandoned(folder);
    let refuse = |what| {
        let text = format!("'{}' {what}: name a folder that does not exist yet, or an empty one", folder.display());
        Err(UsageError(text).into())
    };
    match fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            Some(_) => refuse("is not empty"),
            None => Ok(true),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => match folder.is_symlink() {
            true => refuse("is a link to a folder that does not exist"),
            false => Ok(false),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => refuse("is a file"),
        Err(error) => Err(error).with_context(|| format!("cannot read '{}'", folder.display())),
    }
}

/// Returns true if the folder is a checkout of Gridstride.
fn is_checkout(folder: &Path) -> bool {
    folder.join("crates/cuda_std/Cargo.toml").exists()
}

/// Returns the absolute path of the checkout at `path`. On Windows, unlike a canonical path, it does not begin with
/// `\\?\`.
fn checkout(path: &Path) -> Result<String, UsageError> {
    if !is_checkout(path) {
        return Err(UsageError(format!(
            "'{}' is no checkout of Gridstride: name one by --path CHECKOUT, or a repository by --git URL",
            path.display()
        )));
    }
    let path = std::path::absolute(path).map_err(UsageError::of)?;
    let text = path.to_str().map(str::to_owned);
    let text = text.ok_or_else(|| UsageError(format!("cargo needs paths in Unicode: rename '{}'", path.display())))?;
    printable("--path", text)
}

/// Returns `text` if it has no control characters. Cargo reads none in a URL or a path of a manifest.
fn printable(flag: &str, text: String) -> Result<String, UsageError> {
    match text.chars().find(|c| c.is_control()) {
        Some(control) => Err(UsageError(format!(
            "{flag} {text:?}: the control character {control:?} is not allowed: give it without line ends and tabs"
        ))),
        None => Ok(text),
    }
}

/// Writes all files or none: they are written to a temporary folder and then moved.
fn write(folder: &Path, is_there: bool, files: &[(impl AsRef<str>, String)]) -> anyhow::Result<()> {
    let parent = folder.parent().context("it is the root")?;
    fs::create_dir_all(parent)?;
    let beside = if is_there { folder } else { parent };
    remove_abandoned(beside);
    let scratch = DraftFolder::new(beside)?;
    let made = scratch.path().join("project");
    for (path, text) in files {
        let path = made.join(path.as_ref());
        fs::create_dir_all(path.parent().unwrap_or(&made))?;
        fs::write(path, text)?;
    }
    if !is_there {
        return Ok(fs::rename(&made, folder)?);
    }
    // An existing folder is not replaced: a shell may have it as its working directory.
    let mut moved: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(&made)? {
        let entry = entry?;
        let target = folder.join(entry.file_name());
        if let Err(error) = fs::rename(entry.path(), &target) {
            for target in moved {
                let _ = fs::rename(&target, made.join(target.file_name().unwrap_or_default()));
            }
            return Err(error.into());
        }
        moved.push(target);
    }
    Ok(())
}

/// Returns the next steps with the project.
fn next_steps(folder: &Path) -> String {
    let enter = if folder == Path::new(".") { String::new() } else { format!("    cd {}\n", folder.display()) };
    format!(
        "made a project in {}; next:\n\n{enter}    cargo test               # the kernel in the simulator, against a \
         reference; needs no GPU\n    cargo run                # the program, on a GPU where there is one\n    cargo \
         run -- explain     # what a GPU's memory does for the kernel, line by line; also: check, bench\n\n\
         The kernel is in kernels/src/lib.rs, the program and its tests are in src/main.rs. ci.sh is what CI runs.\n",
        folder.display()
    )
}
