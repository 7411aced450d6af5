//! Checks the README and the pages in `docs/`: their links, the tests that they cite for claims, and their Rust code,
//! which must also be in compiled sources.

use std::fs;
use std::path::{Path, PathBuf};

use xtask::book::{self, SUMMARY};
use xtask::pages::{anchors, is_external, links};
use xtask::workspace::Workspace;

fn root() -> PathBuf {
    Workspace::open().unwrap().root().to_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).replace("\r\n", "\n")
}

/// Returns the files below `folder` with this `ending`, except build results.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" {
                found.extend(files(&path, ending));
            }
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns the project's pages: those in its root and in `docs/`.
fn pages() -> Vec<PathBuf> {
    let root = root();
    let in_root = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> =
        in_root.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    pages.extend(files(&root.join("docs"), ".md"));
    assert!(pages.len() > 10, "{pages:?}");
    pages
}

#[test]
fn links_lead_to_files_and_headings() {
    for page in pages() {
        let text = read(&page);
        for link in links(&text).filter(|link| !is_external(link)) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {link}", page.display());
            if !anchor.is_empty() && file.ends_with(".md") | file.is_empty() {
                let anchors = anchors(&read(&target));
                assert!(anchors.iter().any(|known| known == anchor), "{}: {link}: {anchors:?}", page.display());
            }
        }
    }
}

#[test]
fn the_book_has_every_page() {
    let root = root();
    let summary = read(&root.join(SUMMARY));
    let listed: Vec<PathBuf> = book::pages(&summary).iter().map(|page| root.join(page)).collect();
    for page in files(&root.join("docs"), ".md").iter().filter(|page| !page.ends_with(SUMMARY)) {
        assert_eq!(listed.iter().filter(|one| *one == page).count(), 1, "{}: add it to {SUMMARY}", page.display());
    }
}

#[test]
fn the_tests_that_hold_the_claims_exist() {
    let root = root();
    let claims = read(&root.join("docs/claims.md"));
    let rows: Vec<&str> = claims.lines().filter(|line| line.starts_with("| ") && line.contains(".rs")).collect();
    assert!(rows.len() > 20, "{}", rows.len());
    for row in rows {
        let (_, held_by) = row.trim_end_matches('|').rsplit_once(" | ").unwrap();
        for test in held_by.split(", ").map(|test| test.trim().trim_matches('`')) {
            match test.split_once("::") {
                Some((file, name)) => {
                    let text = read(&root.join(file));
                    // A macro call may make a test of each name in its lines.
                    let is_there = [format!("fn {name}("), format!("    {name} "), format!("    {name}:")];
                    assert!(is_there.iter().any(|text_of| text.contains(text_of)), "{test}");
                }
                None => assert!(read(&root.join(test)).contains("```compile_fail"), "{test}"),
            }
        }
    }
}

/// Checks that the front page of the library and the page of `Device` list the methods that the algorithms add to a
/// device.
#[test]
fn the_methods_of_a_device_are_listed() {
    let root = root();
    let lists = ["gridstride/src/lib.rs", "crates/launch/src/device.rs"].map(|file| read(&root.join(file)));
    let mut count = 0;
    for file in files(&root.join("gridstride/src"), "mod.rs") {
        let text = read(&file);
        let Some((before, body)) = text.split_once(": Borrow<Device> {") else { continue };
        let (_, name) = before.rsplit_once("pub trait ").unwrap();
        let (body, _) = body.split_once("\n}").unwrap();
        for item in body.split("\n    fn ").skip(1).map(|rest| rest.split(['(', '<']).next().unwrap()).chain([name]) {
            assert!(lists.iter().all(|list| list.contains(&format!("`{item}`"))), "{name}: `{item}` is not listed");
            count += 1;
        }
    }
    assert!(count > 30, "{count}");
}

/// Returns a line of code without the marks of documentation, or `None` if the documentation hides the line.
fn shown(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let Some(text) = text.strip_prefix("//!").or_else(|| text.strip_prefix("///")) else { return Some(line) };
    let text = text.strip_prefix(' ').unwrap_or(text);
    let is_hidden = text == "#" || text.starts_with("# ");
    // An item in an example may have its own documentation.
    (!is_hidden).then(|| text.strip_prefix("/// ").unwrap_or(text))
}

fn code(text: &str) -> String {
    text.lines().filter_map(shown).flat_map(|line| [line.trim_start(), "\n"]).collect()
}

/// Checks that own-kernel.md shows the profile that a new project has.
#[test]
fn the_profile_of_a_new_project_is_shown() {
    let config = read(&root().join("examples/own-kernel/.cargo/config.toml")).replace("sample", "mine");
    let settings: String = config.lines().filter(|line| !line.starts_with('#')).flat_map(|line| [line, "\n"]).collect();
    assert!(read(&root().join("docs/own-kernel.md")).contains(&format!("```toml\n{settings}```")), "{settings}");
}

/// Checks that the Rust code of a page is in a source file, or in documentation that is compiled and run.
#[test]
fn rust_in_the_documents_is_compiled_elsewhere() {
    let root = root();
    let folders = ["crates", "gpu", "gridstride", "multi", "life", "workbench", "explain", "learn", "examples"];
    let sources: String =
        folders.iter().flat_map(|folder| files(&root.join(folder), ".rs")).map(|file| code(&read(&file))).collect();
    let mut count = 0;
    for page in pages() {
        for block in read(&page).split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
            assert!(sources.contains(&code(block)), "{}:\n{block}", page.display());
            count += 1;
        }
    }
    assert!(count >= 5, "{count}");
}
