//! Tests sessions with a check that compiles nothing.

use std::cell::RefCell;
use std::sync::mpsc;

use super::*;
use crate::outcome::Score;
use crate::project;

/// Passes a kernel file without `todo!` or `wrong`, and fails any other.
#[derive(Debug, Default)]
struct Fake(RefCell<Vec<&'static str>>);

impl Check for Fake {
    fn check(&self, folder: &Path, source: &Source) -> io::Result<Checked> {
        self.0.borrow_mut().push(source.name);
        let kernel = fs::read_to_string(source.kernel_in(folder))?;
        if kernel.contains("does not compile") {
            return Ok(Checked::NotCompiled("error[E0425]".to_owned()));
        }
        let is_passed = !kernel.contains("todo!") && !kernel.contains("wrong");
        let score = Score { moved_bytes: 1, useful_bytes: 1, bank_conflicts: 0, barriers: 0.0 };
        let text = "add_one: data race".to_owned();
        Ok(Checked::Outcome(Box::new(Outcome { is_passed, text, score: Some(score), pictures: None })))
    }
}

fn project() -> (tempfile::TempDir, Session<Fake>) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in project::files(|_| String::new()) {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let session = Session::open(folder.path(), Fake::default(), false).unwrap();
    (folder, session)
}

fn edit(folder: &Path, source: &Source, text: &str) {
    fs::write(source.kernel_in(folder), text).unwrap();
}

#[test]
fn a_solution_is_shown_after_a_try() {
    let (folder, mut session) = project();
    let source = session.current().unwrap();
    assert_eq!(source.name, "index");
    // The check of an untouched file is no try.
    assert!(!session.check(source).unwrap().is_passed);
    let Err(LearnError::Usage(text)) = session.solution(source) else { panic!() };
    assert!(text.contains("after a try") && text.contains("exercises/01_index/index.rs"), "{text}");
    edit(folder.path(), source, "wrong");
    assert!(session.check(source).unwrap().text.contains("add_one: data race"));
    assert!(session.solution(source).unwrap().contains("thread::block_idx_x() * thread::block_dim_x()"));
    edit(folder.path(), source, "does not compile");
    let report = session.check(source).unwrap();
    assert!(report.text.contains("E0425") && report.outcome.is_none(), "{}", report.text);
    edit(folder.path(), source, "right");
    let report = session.check(source).unwrap();
    assert!(report.is_passed && report.text.contains("index passed"), "{}", report.text);
    assert_ne!(session.current().unwrap().name, "index");
    // The progress is read again by the next session.
    let session = Session::open(folder.path(), Fake::default(), false).unwrap();
    assert_eq!(session.progress().of("index").tries, 2);
    assert!(show::list(session.progress()).contains("One thread per element"));
}

#[test]
fn hints_come_one_after_the_other() {
    let (_folder, mut session) = project();
    let source = session.current().unwrap();
    let first = session.hint(source).unwrap();
    assert!(first.contains("hint 1 of 2") && !first.contains("hint 2"), "{first}");
    let both = session.hint(source).unwrap();
    assert!(both.starts_with(&first) && both.contains("hint 2 of 2"), "{both}");
    assert_eq!(session.hint(source).unwrap(), both);
}

#[test]
fn a_reset_keeps_the_edited_file() {
    let (folder, mut session) = project();
    let source = session.current().unwrap();
    edit(folder.path(), source, "mine");
    session.check(source).unwrap();
    let text = session.reset(source).unwrap();
    assert!(text.contains("index.rs.old"), "{text}");
    let path = source.kernel_in(folder.path());
    assert_eq!(fs::read_to_string(&path).unwrap(), source.kernel);
    assert_eq!(fs::read_to_string(path.with_extension("rs.old")).unwrap(), "mine");
    assert_eq!(session.current().unwrap().name, "index", "it is to be done again");
    // A deleted exercise is written again.
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    let Err(LearnError::Failed(text)) = session.check(source).map(drop) else { panic!() };
    assert!(!text.is_empty());
    assert!(!session.reset(source).unwrap().contains(".old"));
    assert_eq!(fs::read_to_string(&path).unwrap(), source.kernel);
}

#[test]
fn the_loop_goes_on_after_an_edit_until_all_is_done() {
    let (folder, mut session) = project();
    let (keys, typed) = mpsc::channel();
    for key in ["h", "l", "s", "?"] {
        keys.send(key.to_owned()).unwrap();
    }
    let path = folder.path().to_owned();
    let editor = thread::spawn(move || {
        thread::sleep(3 * INTERVAL);
        for source in SOURCES {
            edit(&path, source, "right");
        }
    });
    let mut out = Vec::new();
    session.watch(session.current().unwrap(), &typed, &mut out).unwrap();
    editor.join().unwrap();
    let out = String::from_utf8(out).unwrap();
    for part in ["01 index", "data race", "hint 1 of 2", "Indices and grids", "after a try", KEYS, "index passed"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(out.ends_with(&format!("all {} exercises are done\n", SOURCES.len())), "{out}");
    assert_eq!(session.checker.0.borrow()[..3], ["index", "index", SOURCES[1].name]);
    assert!(session.current().is_none());
}

#[test]
fn the_learner_can_quit() {
    let (_folder, mut session) = project();
    let (keys, typed) = mpsc::channel();
    keys.send("q".to_owned()).unwrap();
    session.watch(session.current().unwrap(), &typed, &mut Vec::new()).unwrap();
    assert_eq!(session.checker.0.borrow().len(), 1);
}
