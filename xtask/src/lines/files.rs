//! The files of the repository, as they are now and as they were.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, bail, ensure};

/// Endings of the files that are counted, and of the manifests that say where a crate is.
const COUNTED: [&str; 5] = [".rs", ".md", ".ptx", ".tsv", "Cargo.toml"];

/// The counted files of the working tree: those that git knows, and new ones that it does not ignore.
///
/// # Errors
/// If git does not run there, or a file cannot be read.
pub(super) fn of_working_tree(root: &Path) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for path in names(root, &["ls-files", "-z", "--cached", "--others", "--exclude-standard"])? {
        match fs::read(root.join(&path)) {
            Ok(text) => drop(files.insert(path, String::from_utf8_lossy(&text).into_owned())),
            // Removed, and not yet committed.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
        }
    }
    Ok(files)
}

/// The counted files of a commit.
///
/// # Errors
/// If git does not know the commit.
pub(super) fn of_commit(root: &Path, commit: &str) -> Result<BTreeMap<String, String>> {
    // A name that begins with `-` is no option.
    let resolved =
        git(root, &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{commit}^{{commit}}")])
            .with_context(|| format!("git knows no commit `{commit}`"))?;
    let commit = String::from_utf8_lossy(&resolved).trim().to_owned();
    let names = names(root, &["ls-tree", "-r", "-z", "--name-only", "--full-tree", &commit])?;
    let mut child = Command::new("git")
        .args(["cat-file", "--batch"])
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run git")?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else { bail!("git has no input and output") };
    let mut output = BufReader::new(stdout);
    let asked = names.clone();
    let asking = thread::spawn(move || asked.iter().try_for_each(|name| writeln!(stdin, "{commit}:{name}")));
    let mut files = BTreeMap::new();
    for name in names {
        let mut head = String::new();
        output.read_line(&mut head).context("cannot read what git says")?;
        let size = head.trim().rsplit(' ').next().and_then(|size| size.parse::<usize>().ok());
        let size = size.with_context(|| format!("git cannot read {name}: {head}"))?;
        // With the end of line that follows.
        let mut text = vec![0; size + 1];
        output.read_exact(&mut text).with_context(|| format!("cannot read {name}"))?;
        text.truncate(size);
        files.insert(name, String::from_utf8_lossy(&text).into_owned());
    }
    let asked = asking.join().map_err(|_| anyhow::anyhow!("the names were not given to git"))?;
    asked.context("cannot ask git for files")?;
    ensure!(child.wait().context("cannot wait for git")?.success(), "git cat-file failed");
    Ok(files)
}

/// The paths that a git command lists, of counted files.
fn names(root: &Path, arguments: &[&str]) -> Result<Vec<String>> {
    let output = git(root, arguments)?;
    let names = output.split(|byte| *byte == 0).map(|name| String::from_utf8_lossy(name).into_owned());
    Ok(names.filter(|name| COUNTED.iter().any(|ending| name.ends_with(ending))).collect())
}

/// What git writes.
fn git(root: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new("git").args(arguments).current_dir(root).output().context("cannot run git")?;
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
        let git = |arguments: &[&str]| drop(git(root, arguments).unwrap());
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
        fs::write(root.join("a.rs"), "two\n").unwrap();
        fs::remove_file(root.join("two words.rs")).unwrap();
        fs::write(root.join("new.rs"), "new\n").unwrap();
        let of = |files: BTreeMap<String, String>| {
            files.into_iter().map(|(name, text)| format!("{name}: {text}")).collect::<String>()
        };
        assert_eq!(of(of_commit(root, "before").unwrap()), "a.rs: one\ntwo words.rs: ");
        assert_eq!(of(of_working_tree(root).unwrap()), "a.rs: two\nnew.rs: new\n");
        assert!(of_commit(root, "no-such").unwrap_err().to_string().contains("git knows no commit `no-such`"));
        assert!(of_commit(root, "--help").is_err());
    }
}
