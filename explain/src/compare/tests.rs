//! Tests comparisons on two kernels, one of which has bank conflicts.

use cuda_std::{GlobalMut, kernel, shared_array, thread};
use launch::LaunchConfig;
use serde_json::Value;

use super::*;
use crate::explainer::Explainer;
use crate::explanation::{RungFigures, RungNames};
use crate::gpus::Gpu;
use crate::problem::Problem;

/// Each thread accesses a bank that all threads of its warp access.
#[kernel]
fn conflicting(y: GlobalMut<u32>) {
    let tile = shared_array![u32; 1024];
    let i = thread::thread_idx_x() as usize;
    tile.store(32 * i, 7);
    thread::sync_threads();
    y.store(i, tile.load(32 * i));
}

/// Each thread accesses a bank of its own.
#[kernel]
fn padded(y: GlobalMut<u32>) {
    let tile = shared_array![u32; 1056];
    let i = thread::thread_idx_x() as usize;
    // The padding spreads the words over the banks.
    tile.store(33 * i, 7);
    thread::sync_threads();
    thread::sync_threads();
    y.store(i, tile.load(33 * i));
}

fn explained(names: &[&'static str], n: usize, gpu: &str) -> Explanation {
    let gpu = Gpu::find(gpu).unwrap();
    let mut explanation = Explanation::new(names.join(", "), gpu);
    for &name in names {
        let run = |device: &launch::Device| {
            let mut y = device.zeroed::<u32>(n)?;
            let config = LaunchConfig::new(1, 32);
            match name {
                "conflicting" => device.launch(config, conflicting(y.view_mut())),
                _ => device.launch(config, padded(y.view_mut())),
            }
        };
        let ((), kernels) = Explainer::new(gpu).profile(run).unwrap_or_else(|error: launch::Error| panic!("{error}"));
        let names = RungNames::new("", name, "");
        explanation.push(RungFigures::new(names, Problem::vector(n, "u32"), kernels, gpu), false);
    }
    explanation
}

/// Returns the JSON of an explanation after `edit`, as the file of an earlier version.
fn edited(explanation: &Explanation, edit: impl FnOnce(&mut Value)) -> Result<Baseline, String> {
    let mut json = serde_json::to_value(explanation).unwrap();
    edit(&mut json);
    let snapshot = Snapshot::parse(json.to_string().as_bytes())?;
    Ok(Baseline { name: "before.json".into(), is_file: true, snapshot })
}

#[track_caller]
fn compared(mut explanation: Explanation, baseline: &Baseline) -> Comparison {
    explanation.compare(baseline).unwrap();
    explanation.comparison.unwrap()
}

#[test]
fn two_kernels_are_compared_by_their_lines() {
    let baseline = Baseline::of(&explained(&["conflicting"], 32, "h200")).unwrap();
    let comparison = compared(explained(&["padded"], 32, "h200"), &baseline);
    let rung = &comparison.rungs[0];
    let total = |what: &str| rung.totals.iter().find(|change| change.what == what).map(|c| (c.before, c.after));
    assert_eq!(total("bank conflicts"), Some((62, 0)));
    assert_eq!(total("wavefronts"), Some((64, 2)));
    assert_eq!(total("barriers"), Some((1, 2)));
    assert_eq!(total("atomic updates"), None);
    assert!(rung.sentence().contains("no bank conflicts instead of 32-way ones"), "{}", rung.sentence());
    let lines = &rung.kernels[0].lines;
    let text = |line: &Option<Line>| line.as_ref().map_or(String::new(), |line| line.source.clone());
    let texts: Vec<(String, String)> = lines.iter().map(|line| (text(&line.before), text(&line.after))).collect();
    for pair in [
        ("let tile = shared_array![u32; 1024];", "let tile = shared_array![u32; 1056];"),
        ("tile.store(32 * i, 7);", "tile.store(33 * i, 7);"),
        ("", "thread::sync_threads();"),
        ("y.store(i, tile.load(32 * i));", "y.store(i, tile.load(33 * i));"),
    ] {
        assert!(texts.contains(&(pair.0.into(), pair.1.into())), "{pair:?} is not in {texts:?}");
    }
    // The lines that are equal do not appear, nor does the comment.
    assert!(!texts.iter().any(|(before, after)| before.contains("let i") || after.contains("let i")), "{texts:?}");
    assert!(!texts.iter().any(|(_, after)| after.starts_with("//")), "{texts:?}");
    let printed = comparison.text(120);
    let row = printed.lines().find(|line| line.trim_start().starts_with("wavefronts ")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["wavefronts", "64", "2", "32×", "fewer"]);
    for part in
        ["padded compared with conflicting: ", "  conflicting → padded\n", "wavefronts 32 → 1, bank conflicts 31 → 0"]
    {
        assert!(printed.contains(part), "`{part}` is not in: {printed}");
    }
}

#[test]
fn lines_that_an_edit_moved_are_matched_by_their_text() {
    let explanation = || explained(&["padded"], 32, "h200");
    let moved = edited(&explanation(), |json| {
        let kernel = &mut json["rungs"][0]["kernels"][0];
        let later = |line: &mut Value| *line = (line.as_u64().unwrap() + 40).into();
        later(&mut kernel["line"]);
        kernel["sites"].as_array_mut().unwrap().iter_mut().for_each(|site| later(&mut site["line"]));
        kernel["listing"].as_array_mut().unwrap().insert(3, "    // A comment that is no longer there.".into());
        kernel["sites"].as_array_mut().unwrap().iter_mut().for_each(|site| later_by_one(&mut site["line"]));
    });
    let comparison = compared(explanation(), &moved.unwrap());
    assert_eq!(comparison.rungs[0].sentence(), "nothing differs: all counts and lines are equal");
    // A line that only the earlier version has, before lines that do the same: nothing.
    let longer = edited(&explanation(), |json| {
        let kernel = &mut json["rungs"][0]["kernels"][0];
        kernel["listing"].as_array_mut().unwrap().insert(0, "#[rustfmt::skip]".into());
        kernel["sites"].as_array_mut().unwrap().iter_mut().for_each(|site| later_by_one(&mut site["line"]));
    });
    let comparison = compared(explanation(), &longer.unwrap());
    let [line] = &comparison.rungs[0].kernels[0].lines[..] else { panic!("{comparison:?}") };
    assert_eq!(line.before.as_ref().map(|line| &*line.source), Some("#[rustfmt::skip]"));
    assert_eq!((&line.after, line.counts.len()), (&None, 0));
    let fewer = edited(&explanation(), |json| {
        json["rungs"][0]["kernels"][0]["sites"][0]["sectors"] = 9000.into();
    });
    let comparison = compared(explanation(), &fewer.unwrap());
    let [line] = &comparison.rungs[0].kernels[0].lines[..] else { panic!("{comparison:?}") };
    assert_eq!((line.counts[0].what, line.counts[0].before, line.counts[0].after), ("sectors", 9000, 4));
    assert_eq!(comparison.rungs[0].sentence(), "all totals are equal, but lines differ");
}

fn later_by_one(line: &mut Value) {
    *line = (line.as_u64().unwrap() + 1).into();
}

#[test]
fn a_kernel_that_only_one_side_launches_is_said() {
    let two = edited(&explained(&["padded"], 32, "h200"), |json| {
        let mut other = json["rungs"][0]["kernels"][0].clone();
        (other["family"], other["entry"]) = ("old".into(), "old".into());
        json["rungs"][0]["kernels"].as_array_mut().unwrap().push(other);
    });
    let comparison = compared(explained(&["padded"], 32, "h200"), &two.unwrap());
    let kernels = &comparison.rungs[0].kernels;
    assert_eq!((kernels.len(), kernels[0].lines.len()), (2, 0));
    assert_eq!(kernels[1].title(), "old, which is no longer launched");
    assert!(kernels[1].lines.iter().all(|line| line.after.is_none()) && !kernels[1].lines.is_empty());
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let error = |explanation: &mut Explanation, baseline: &Baseline| explanation.compare(baseline).unwrap_err();
    let conflicting = || explained(&["conflicting"], 32, "h200");
    let kernel = Baseline::of(&conflicting()).unwrap();
    let file = edited(&conflicting(), |_| {}).unwrap();
    for (explanation, baseline, parts) in [
        (explained(&["padded"], 32, "h200"), &file, &["'before.json'", "of conflicting, not of padded"][..]),
        (explained(&["conflicting"], 64, "h200"), &file, &["n = 32, u32 (32 elements)", "n = 64"]),
        (explained(&["padded"], 64, "h200"), &kernel, &["set the same size"]),
        (explained(&["padded"], 32, "a100"), &kernel, &["its GPU is H200 SXM5, not A100", "--gpu"]),
        (explained(&["padded", "conflicting"], 32, "h200"), &kernel, &["not a name of several rungs", "'padded'"]),
    ] {
        let mut explanation = explanation;
        let error = error(&mut explanation, baseline);
        assert!(matches!(error, BaselineError::Mismatch(_)) && explanation.comparison.is_none());
        for part in parts {
            assert!(error.to_string().contains(part), "`{part}` is not in: {error}");
        }
    }
    let several = Baseline::of(&explained(&["padded", "conflicting"], 32, "h200")).unwrap();
    let text = error(&mut conflicting(), &several).to_string();
    assert!(text.contains("not one that has several rungs") && text.contains("'padded' or 'conflicting'"), "{text}");
    let parse = |edit: fn(&mut Value)| edited(&conflicting(), edit).unwrap_err();
    assert!(parse(|json| json["format"] = 7.into()).contains("JSON format 7 of another version"));
    assert!(parse(|json| json["format"] = Value::Null).contains("it has no `format`"));
    assert!(parse(|json| json["rungs"] = 3.into()).contains("it is not the JSON of an explanation"));
    let missing = Baseline::read(Path::new("no/such/file.json")).unwrap_err();
    assert!(matches!(missing, BaselineError::Unreadable(_)) && missing.to_string().contains("'no/such/file.json'"));
    assert!(Baseline::path("a/b.JSON").is_some() && Baseline::path("transpose/tile").is_none());
}
