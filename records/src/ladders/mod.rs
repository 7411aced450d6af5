//! `ladders`: writes the figures and the pictures of memory in `docs/ladders/`.
//!
//! A page has a part for each rung, between the marks `<!-- ladder:ALGORITHM/RUNG OPTIONS -->` and `<!-- /ladder -->`.
//! The task fills it with the rung's rate in the newest recording, its traffic in the simulator, and a picture of the
//! first accesses of a warp, which is a file in `docs/pictures/`. The options are `n=LENGTH` or `size=WIDTHxHEIGHT`,
//! the problem in the simulator; `kernel=NAME` for a rung of several kernels; and `skip=STEPS`, the steps before the
//! picture.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use xtask::workspace::Workspace;

mod recorded;
mod simulated;
#[cfg(test)]
mod tests;

use recorded::Rates;

/// The folder of the pages, in the workspace.
const PAGES: &str = "docs/ladders";

/// The folder of the pictures, in the workspace.
const PICTURES: &str = "docs/pictures";

/// The start of the mark before a generated part.
const BEGIN: &str = "<!-- ladder:";

/// The mark behind a generated part.
const END: &str = "<!-- /ladder -->";

/// A file that the task writes.
struct Written {
    /// The path from the root of the workspace.
    path: PathBuf,
    text: String,
}

/// Writes the generated parts of the pages, and the pictures.
///
/// # Errors
/// If a mark is wrong, a rung cannot be run, or a file cannot be read or written.
pub fn run(workspace: &Workspace) -> Result<()> {
    let root = workspace.root();
    for Written { path, text } in all(root)? {
        let path = root.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Returns all files that the task writes: first the pages, then the pictures.
fn all(root: &Path) -> Result<Vec<Written>> {
    let rates = Rates::read(root)?;
    let (mut written, mut pictures) = (Vec::new(), Vec::new());
    for page in pages(root)? {
        let text = fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()))?;
        let text = filled(&text, |mark| {
            let rung = simulated::run(mark)?;
            let name = format!("{}.svg", mark.subject.replace('/', "-"));
            let part = part(mark, &rung, &rates, &name);
            pictures.push(Written { path: Path::new(PICTURES).join(name), text: rung.svg });
            Ok(part)
        })
        .with_context(|| page.display().to_string())?;
        written.push(Written { path: page.strip_prefix(root).unwrap_or(&page).to_owned(), text });
    }
    written.extend(pictures);
    Ok(written)
}

/// Returns the paths of the pages, in the order of their names.
fn pages(root: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(root.join(PAGES)).with_context(|| format!("cannot list {PAGES}"))?;
    let mut pages = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    pages.sort();
    Ok(pages)
}

/// The mark of a generated part.
#[derive(Clone, Copy, Default)]
struct Mark<'a> {
    /// The rung, such as `reduce/shuffle`.
    subject: &'a str,
    n: Option<usize>,
    size: Option<&'a str>,
    /// The kernel that is drawn; without it, the first kernel that is launched.
    kernel: Option<&'a str>,
    /// The number of steps of the warp that are left out at the beginning of the picture.
    skip: usize,
}

impl<'a> Mark<'a> {
    /// Parses the text of a mark, such as `reduce/shuffle n=1024`.
    fn parse(text: &'a str) -> Result<Self> {
        let mut words = text.split_whitespace();
        let mut mark = Self { subject: words.next().unwrap_or_default(), ..Self::default() };
        for word in words {
            let number = |value: &str| value.parse().with_context(|| format!("{BEGIN}{text}: {word}"));
            match word.split_once('=') {
                Some(("n", value)) => mark.n = Some(number(value)?),
                Some(("skip", value)) => mark.skip = number(value)?,
                Some(("size", value)) => mark.size = Some(value),
                Some(("kernel", value)) => mark.kernel = Some(value),
                _ => bail!("{BEGIN}{text}: `{word}` is none of n=, size=, kernel= and skip="),
            }
        }
        Ok(mark)
    }
}

/// Replaces each generated part of a page by that which `part` returns for its mark.
fn filled(page: &str, mut part: impl FnMut(Mark<'_>) -> Result<String>) -> Result<String> {
    let mut pieces = page.split(BEGIN);
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let Some((mark, rest)) = piece.split_once(" -->") else { bail!("the mark {BEGIN}{piece} has no end") };
        ensure!(rest.contains(END), "the mark {BEGIN}{mark} --> lacks its {END}");
        let (_, after) = rest.split_once(END).unwrap_or_default();
        text += &format!("{BEGIN}{mark} -->\n{}\n{END}{after}", part(Mark::parse(mark)?)?);
    }
    Ok(text)
}

/// Returns the generated part of a rung.
fn part(mark: Mark<'_>, rung: &simulated::Simulated, rates: &Rates, picture: &str) -> String {
    let mut text = format!("*{}*\n\n", rung.idea);
    if let Some(measured) = rates.of(mark.subject) {
        text += &format!("- Measured: {measured}.\n");
    }
    text + &format!("- {}.\n\n![{}](../pictures/{picture})", rung.traffic, rung.title)
}
