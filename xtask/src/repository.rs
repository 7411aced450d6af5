//! Reads the files of the repository from the working tree or from a commit.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Seek, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// Returns the paths and texts of the working tree's files with one of these `endings`. These are the files that git
/// tracks, and new files that git does not ignore.
///
/// # Errors
/// If git fails or a file cannot be read.
pub fn of_working_tree(root: &Path, endings: &[&str]) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for path in names(root, &["ls-files", "-z", "--cached", "--others", "--exclude-standard"], endings)? {
        match fs::read(root.join(&path)) {
            Ok(text) => drop(files.insert(path, String::from_utf8_lossy(&text).into_owned())),
            // The file was removed, but the removal is not committed.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
        }
    }
    Ok(files)
}

/// Returns the paths and texts of a commit's files with one of these `endings`.
///
/// # Errors
/// If git does not know the commit.
pub fn of_commit(root: &Path, commit: &str, endings: &[&str]) -> Result<BTreeMap<String, String>> {
    // A name that starts with `-` must not be read as an option.
    let name = format!("{commit}^{{commit}}");
    let resolved = git(root, &["rev-parse", "--verify", "--quiet", "--end-of-options", &name], Stdio::null());
    let resolved = resolved.with_context(|| format!("git knows no commit `{commit}`"))?;
    let commit = String::from_utf8_lossy(&resolved).trim().to_owned();
    let names = names(root, &["ls-tree", "-r", "-z", "--name-only", "--full-tree", &commit], endings)?;
    let mut requests = tempfile::tempfile().context("cannot create a temporary file")?;
    names.iter().try_for_each(|name| writeln!(requests, "{commit}:{name}"))?;
    requests.rewind()?;
    let output = git(root, &["cat-file", "--batch"], requests.into())?;
    let mut rest = &output[..];
    let mut text = |name: String| {
        let (text, after) = answer(rest).with_context(|| format!("git cannot read {name}"))?;
        rest = after;
        Ok((name, String::from_utf8_lossy(text).into_owned()))
    };
    names.into_iter().map(&mut text).collect()
}

/// Returns the newest commit of at least `hours` before the last one, or `None` if git knows no such commit.
///
/// # Errors
/// If git fails, as without a commit.
pub fn commit_before(root: &Path, hours: u32) -> Result<Option<String>> {
    let text = |arguments: &[&str]| -> Result<String> {
        Ok(String::from_utf8_lossy(&git(root, arguments, Stdio::null())?).trim().to_owned())
    };
    let last: i64 = text(&["log", "-1", "--format=%ct"])?.parse().context("git printed no date")?;
    let latest = format!("--min-age={}", last - 3600 * i64::from(hours));
    let commit = text(&["rev-list", "-1", &latest, "HEAD"])?;
    Ok(Some(commit).filter(|commit| !commit.is_empty()))
}

/// Splits the first answer off the output of `git cat-file --batch`: a line that ends in the size, the text, and a line
/// feed. Returns the text and the rest of the output.
fn answer(output: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = output.iter().position(|byte| *byte == b'\n')?;
    let size = std::str::from_utf8(&output[..end]).ok()?.rsplit(' ').next()?.parse().ok()?;
    let (text, rest) = output[end + 1..].split_at_checked(size)?;
    Some((text, rest.get(1..)?))
}

/// Returns the paths with one of these `endings` that a git command lists.
fn names(root: &Path, arguments: &[&str], endings: &[&str]) -> Result<Vec<String>> {
    let output = git(root, arguments, Stdio::null())?;
    let names = output.split(|byte| *byte == 0).map(|name| String::from_utf8_lossy(name).into_owned());
    Ok(names.filter(|name| endings.iter().any(|ending| name.ends_with(ending))).collect())
}

/// Runs git and returns its output.
fn git(root: &Path, arguments: &[&str], input: Stdio) -> Result<Vec<u8>> {
    let mut command = Command::new("git");
    let output = command.args(arguments).current_dir(root).stdin(input).output().context("cannot run git")?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git {} failed: {}", arguments.join(" "), error.trim());
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_read_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let git = |arguments: &[&str]| drop(git(root, arguments, Stdio::null()).unwrap());
        let commit = || {
            git(&["add", "."]);
            let author = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
            git(&[&author[..], &["commit", "--quiet", "--no-verify", "--message", "A."]].concat());
        };
        git(&["init", "--quiet", "--initial-branch", "main"]);
        fs::write(root.join("a.rs"), "one\n").unwrap();
        fs::write(root.join("two words.rs"), "").unwrap();
        fs::write(root.join("a.bin"), "").unwrap();
        commit();
        git(&["tag", "before"]);
        let before = |hours| commit_before(root, hours).unwrap();
        let first = String::from_utf8(super::git(root, &["rev-parse", "HEAD"], Stdio::null()).unwrap()).unwrap();
        assert_eq!((before(0).as_deref(), before(1)), (Some(first.trim()), None));
        fs::write(root.join("a.rs"), "two\n").unwrap();
        fs::remove_file(root.join("two words.rs")).unwrap();
        fs::write(root.join("new.rs"), "new\n").unwrap();
        let of = |files: BTreeMap<String, String>| {
            files.into_iter().map(|(name, text)| format!("{name}: {text}")).collect::<String>()
        };
        assert_eq!(of(of_commit(root, "before", &[".rs"]).unwrap()), "a.rs: one\ntwo words.rs: ");
        assert_eq!(of(of_working_tree(root, &[".rs"]).unwrap()), "a.rs: two\nnew.rs: new\n");
        assert!(
            of_commit(root, "no-such", &[".rs"]).unwrap_err().to_string().contains("git knows no commit `no-such`")
        );
        assert!(of_commit(root, "--help", &[".rs"]).is_err());
    }
}
