//! `book`: builds the pages as a book with mdBook, and checks its links.
//!
//! mdBook reads one folder and rewrites the links between its pages. The pages also link to files outside of `docs/`.
//! The task therefore copies all pages of `docs/SUMMARY.md` and the files that they link to into `target/book/src`, at
//! the same relative paths, so that each link works in the book as it does in the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::pages::{is_external, links};
use crate::workspace::Workspace;

/// The path of the book's table of contents, in the workspace.
pub const SUMMARY: &str = "docs/SUMMARY.md";

/// The path of mdBook's settings, in the workspace.
const SETTINGS: &str = "docs/book.toml";

/// The path of mdBook below the folder of build results, where `ci/install-tools.sh` installs it.
const MDBOOK: &str = "tools/mdbook/bin/mdbook";

/// Builds the book in `target/book/html`.
///
/// # Errors
/// If mdBook is not installed or fails, or if a link of the book leads nowhere.
pub fn run(workspace: &Workspace) -> Result<()> {
    let (root, folder) = (workspace.root(), workspace.target_dir().join("book"));
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let summary = read(&root.join(SUMMARY))?;
    let mut files = BTreeSet::new();
    for page in pages(&summary) {
        files.extend(linked_files(&page, &read(&root.join(&page))?));
        files.insert(page);
    }
    let source = folder.join("src");
    for file in files {
        copy(&root.join(&file), &source.join(&file))?;
    }
    write(&source.join("SUMMARY.md"), &from_root(&summary))?;
    // In the book, the table of contents is a page that mdBook makes.
    let readme = source.join("README.md");
    write(&readme, &read(&readme)?.replace(&format!("]({SUMMARY})"), "](toc.html)"))?;
    copy(&root.join(SETTINGS), &folder.join("book.toml"))?;
    let mdbook = workspace.target_dir().join(MDBOOK);
    let status = Command::new(&mdbook).arg("build").arg(&folder).status();
    let status =
        status.with_context(|| format!("cannot run {}: install it by ci/install-tools.sh", mdbook.display()))?;
    ensure!(status.success(), "mdbook fails: {status}");
    let html = folder.join("html");
    let broken = broken_links(&html)?;
    ensure!(broken.is_empty(), "links of the book lead nowhere:\n  {}", broken.join("\n  "));
    println!("the book is {}", html.join("index.html").display());
    Ok(())
}

/// Returns the paths of the pages that a table of contents lists, from the root of the workspace.
pub fn pages(summary: &str) -> Vec<PathBuf> {
    links(summary).map(|link| resolved(Path::new(SUMMARY), link)).collect()
}

/// Returns the table of contents with links from the root of the workspace instead of `docs/`.
fn from_root(summary: &str) -> String {
    summary.replace("](", "](docs/").replace("](docs/../", "](")
}

/// Returns the files other than pages to which a page links.
fn linked_files(page: &Path, text: &str) -> Vec<PathBuf> {
    let files = links(text).filter(|link| !is_external(link)).filter_map(|link| link.split('#').next());
    let is_file = |file: &&str| !file.is_empty() && !file.ends_with(".md");
    files.filter(is_file).map(|file| resolved(page, file)).collect()
}

/// Returns the path of `link`, which is relative to the folder of `page`.
fn resolved(page: &Path, link: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for component in page.parent().unwrap_or(Path::new("")).join(link).components() {
        match component {
            Component::ParentDir => drop(path.pop()),
            component => path.push(component),
        }
    }
    path
}

/// Returns a text for each link in the HTML files below `folder` that leads to no file or to no element.
fn broken_links(folder: &Path) -> Result<Vec<String>> {
    let mut pages = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let path = entry.with_context(|| format!("cannot list {}", folder.display()))?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                pages.insert(path.clone(), read(&path)?);
            }
        }
    }
    let mut broken = Vec::new();
    for (page, text) in &pages {
        // The page of missing addresses is written for the root of a site.
        if page.ends_with("404.html") {
            continue;
        }
        for link in values(text, "href").chain(values(text, "src")).filter(|link| !is_external(link)) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { resolved(page, file) };
            let has_anchor = || pages.get(&target).is_none_or(|text| values(text, "id").any(|id| id == anchor));
            if !target.is_file() || !anchor.is_empty() && !has_anchor() {
                broken.push(format!("{}: {link}", page.strip_prefix(folder).unwrap_or(page).display()));
            }
        }
    }
    Ok(broken)
}

/// Returns the values of an attribute in an HTML page.
fn values<'a>(html: &'a str, attribute: &str) -> impl Iterator<Item = &'a str> {
    let start = format!(" {attribute}=\"");
    let rests: Vec<&str> = html.split(start.as_str()).skip(1).collect();
    rests.into_iter().filter_map(|rest| rest.split('"').next())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contents_are_read_from_docs_and_written_from_the_root() {
        let summary = "# Contents\n- [Start](start.md)\n  - [One](ladders/one.md)\n- [Map](../MAP.md)\n";
        assert_eq!(pages(summary), ["docs/start.md", "docs/ladders/one.md", "MAP.md"].map(PathBuf::from));
        let expected = "# Contents\n- [Start](docs/start.md)\n  - [One](docs/ladders/one.md)\n- [Map](MAP.md)\n";
        assert_eq!(from_root(summary), expected);
        let text = "[a](../a.rs#L3) ![b](b/c.svg) [d](e.md) [f](https://g.h/i.rs) [j](#k)";
        assert_eq!(linked_files(Path::new("docs/x.md"), text), ["a.rs", "docs/b/c.svg"].map(PathBuf::from));
    }

    #[test]
    fn links_to_missing_files_and_elements_are_found() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        let page = "<a href=\"b.html#here\"><a href=\"b.html#gone\"><img src=\"../c.svg\"><a href=\"https://d.e\">";
        fs::write(folder.path().join("a/a.html"), page).unwrap();
        fs::write(folder.path().join("a/b.html"), "<h1 id=\"here\">").unwrap();
        assert_eq!(broken_links(folder.path()).unwrap(), ["a/a.html: b.html#gone", "a/a.html: ../c.svg"]);
    }
}
