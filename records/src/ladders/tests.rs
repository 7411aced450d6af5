//! Tests the pages of the ladders, and their generated parts.

use std::collections::BTreeSet;
use std::fs;

use workbench::subjects;
use xtask::workspace::Workspace;

use super::{BEGIN, Mark, Written, all, filled, pages};

/// The most bytes that all pictures may have.
const MAX_BYTES: usize = 1 << 20;

#[test]
fn pages_and_pictures_are_those_of_the_sources() {
    let root = Workspace::open().unwrap().root().to_owned();
    let mut bytes = 0;
    for Written { path, text } in all(&root).unwrap() {
        let kept = fs::read_to_string(root.join(&path)).unwrap_or_default().replace("\r\n", "\n");
        assert!(kept == text, "{} is old: write it by `cargo xtask ladders`", path.display());
        bytes += if path.extension().is_some_and(|extension| extension == "svg") { text.len() } else { 0 };
    }
    assert!((1..MAX_BYTES).contains(&bytes), "{bytes}");
}

#[test]
fn every_rung_has_a_part() {
    let root = Workspace::open().unwrap().root().to_owned();
    let mut marked = BTreeSet::new();
    for page in pages(&root).unwrap() {
        let text = fs::read_to_string(&page).unwrap();
        for mark in text.split(BEGIN).skip(1).map(|rest| rest.split(" -->").next().unwrap()) {
            assert!(marked.insert(Mark::parse(mark).unwrap().subject.to_owned()), "{mark} is marked twice");
        }
    }
    let rungs: BTreeSet<String> =
        subjects::all().filter(|rung| rung.is_rung && rung.is_step()).map(subjects::Subject::name).collect();
    assert_eq!(marked, rungs, "a page in docs/ladders lacks a part, or has one of a rung that is gone");
}

#[test]
fn a_part_is_replaced_and_wrong_marks_are_errors() {
    let page = "a\n<!-- ladder:b/c n=4 kernel=d -->old<!-- /ladder -->\ne\n";
    let part = |mark: Mark<'_>| Ok(format!("{} {:?} {:?}", mark.subject, mark.n, mark.kernel));
    let once = filled(page, part).unwrap();
    assert_eq!(once, "a\n<!-- ladder:b/c n=4 kernel=d -->\nb/c Some(4) Some(\"d\")\n<!-- /ladder -->\ne\n");
    assert_eq!(filled(&once, part).unwrap(), once);
    for (page, message) in [
        ("<!-- ladder:b/c -->", "lacks its <!-- /ladder -->"),
        ("<!-- ladder:b/c m=4 --><!-- /ladder -->", "none of n="),
        ("<!-- ladder:b/c n=x --><!-- /ladder -->", "n=x"),
    ] {
        let error = format!("{:#}", filled(page, part).unwrap_err());
        assert!(error.contains(message), "{error}");
    }
}
