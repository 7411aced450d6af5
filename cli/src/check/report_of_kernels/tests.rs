//! Tests the reports of made-up runs, and of small kernels.

use simt::Schedule;
use workbench::case::CaseError;

use super::*;

fn family(name: &'static str) -> Family {
    Family::all().into_iter().find(|family| family.name == name).unwrap()
}

fn a_case_of(kernel: &'static str) -> Case {
    workbench::cases::catalogue().into_iter().find(|case| case.kernels()[0] == kernel).unwrap()
}

#[test]
fn a_mistake_is_told_once_with_the_orders_that_show_it() {
    let cases = [a_case_of("scale_grid")];
    let run = |schedule, wrong: Option<&str>| CaseRun {
        case: 0,
        schedule,
        launches: Vec::new(),
        error: wrong.map(|text| CaseError::Wrong(text.to_owned())),
        older: Vec::new(),
        warnings: Vec::new(),
    };
    let wrong = Some("y[2] is 3 instead of 4");
    let runs = [
        run(Schedule::Natural, None),
        run(Schedule::Random(1), wrong),
        run(Schedule::LastFirst, wrong),
        run(Schedule::OneAhead(2), Some("y[0] is 1 instead of 0")),
    ];
    let rows = rows(&[family("scale_one_block")], &cases, &runs);
    // The rows are the selected kernel and the faulty one.
    assert_eq!(
        rows.iter().map(|row| (row.kernel, row.faults.len())).collect::<Vec<_>>(),
        [("scale_one_block", 0), ("scale_grid", 2)]
    );
    assert_eq!(rows[1].faults[0].schedules, ["random:1", "last-first"]);
    let report = Report::new(&Settings::new(true, &[Schedule::Natural]), rows);
    let text = report.text();
    for part in ["strict", "scale_grid: wrong result", "y[2] is 3 instead of 4", "2 faults", "2 kernels: 1 at fault"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(report.verdict().unwrap_err().to_string(), "1 of 2 kernels is at fault");
}

#[test]
fn a_check_that_comes_to_no_end_is_no_fault_of_a_kernel() {
    use launch::Error as E;
    let cases = [a_case_of("scale_grid")];
    let fault = |kind| {
        E::from(simt::Fault { kernel: "scale_grid_f32", block: None, thread: None, location: None, kind, older: None })
            .into()
    };
    let unfinished: [CaseError; 6] = [
        fault(simt::FaultKind::HostMemory("no stack for another thread".to_owned())),
        fault(simt::FaultKind::StackOverflow { bytes: 1024 }),
        fault(simt::FaultKind::SimulatorLimit("a large launch".to_owned())),
        E::OutOfMemory { requested_bytes: 9, free_bytes: 8, device: "the simulator".to_owned() }.into(),
        E::OutOfHostMemory { requested_bytes: 9 }.into(),
        CaseError::Impossible("no memory for 9 elements".to_owned()),
    ];
    let report_of = |errors: Vec<CaseError>| {
        let run = |error| CaseRun {
            case: 0,
            schedule: Schedule::Natural,
            launches: Vec::new(),
            error: Some(error),
            older: Vec::new(),
            warnings: Vec::new(),
        };
        let rows = rows(&[family("scale_grid")], &cases, &errors.into_iter().map(run).collect::<Vec<_>>());
        Report::new(&Settings::new(false, &[Schedule::Natural]), rows)
    };
    for error in unfinished {
        let why = error.to_string();
        let report = report_of(vec![error]);
        assert_eq!((report.at_fault(), report.unfinished()), (0, 1), "{why}");
        let verdict = report.verdict().unwrap_err().to_string();
        assert_eq!(verdict, format!("the check of 1 of 1 kernels could not be finished: {why}"));
        let text = report.text();
        for part in ["not finished", "scale_grid: check not finished: ", "1 kernels: 0 at fault, 1 not checked to"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(report.findings().all(|(level, _)| level == "warning"), "{why}");
    }
    let both = report_of(vec![CaseError::Impossible("x".to_owned()), CaseError::Wrong("y".to_owned())]);
    let verdict = both.verdict().unwrap_err().to_string();
    assert!(verdict.starts_with("1 of 1 kernels is at fault; the check of 1 of 1 kernels could not"), "{verdict}");
}

/// A kernel that needs its first barrier, but not its second.
#[cuda_std::kernel]
fn neighbour(y: cuda_std::GlobalMut<u32>) {
    let i = cuda_std::thread::thread_idx_x() as usize;
    y.store(i, i as u32);
    cuda_std::thread::sync_threads();
    let found = y.load(i ^ 32);
    cuda_std::thread::sync_threads();
    assert!(found == i as u32 ^ 32);
}

#[test]
fn a_hint_is_told_everywhere_and_is_no_fault() {
    let redundant_line = line!() - 6;
    let case = Case::new("own", "neighbour", &["neighbour"], "64 threads", |stage| {
        let mut y = stage.device.alloc(64)?;
        Ok(stage.device.launch(launch::LaunchConfig::new(1, 64), neighbour(y.view_mut()))?)
    });
    let settings = Settings { schedules: vec![Schedule::Natural, Schedule::LastFirst], ..Settings::default() };
    let hints = redundant(&[case], &settings).unwrap();
    let report = Report { redundant: Some(hints), ..Report::new(&settings, Vec::new()) };
    assert!(report.verdict().is_ok());

    let text = report.text();
    for part in [
        "whose deletion no order reports: 1",
        "neighbour: redundant synchronisation",
        "no tried order needs this",
        "sizes",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = serde_json::to_value(&report).unwrap();
    let here = &json["redundant"][0]["here"];
    assert_eq!((&json["redundant"].as_array().unwrap().len(), &here["line"]), (&1, &redundant_line.into()), "{json}");
    let log = crate::check::sarif("host check", report.findings());
    let result = &log["runs"][0]["results"][0];
    assert_eq!((&result["level"], &result["ruleId"]), (&"note".into(), &"redundant-synchronisation".into()));
}

fn meet() {
    cuda_std::thread::sync_threads();
}

/// A kernel whose warps reach the barrier by different calls.
#[cuda_std::kernel]
fn warps_apart(y: cuda_std::GlobalMut<u32>) {
    let i = cuda_std::thread::thread_idx_x() as usize;
    if i < 32 {
        y.store(i, 7);
        meet();
    } else {
        meet();
    }
}

#[test]
fn a_warning_is_told_once_and_is_no_fault() {
    let other_call = line!() - 6;
    let case = Case::new("own", "apart", &["warps_apart"], "64 threads", |stage| {
        let mut y = stage.device.alloc(64)?;
        Ok(stage.device.launch(launch::LaunchConfig::new(1, 64), warps_apart(y.view_mut()))?)
    });
    let warnings_of = |checks| {
        let runs = run_cases(&[&case], &Settings { checks, ..Settings::default() }, &());
        assert!(runs.iter().all(|run| run.error.is_none()));
        warnings(&runs)
    };
    assert_eq!(warnings_of(simt::Checks::default()), []);
    let warnings = warnings_of(simt::Checks::STRICT);
    let mut lines: Vec<u32> = warnings.iter().map(|warning| warning.there.as_ref().unwrap().line).collect();
    lines.sort_unstable();
    assert_eq!(lines, [other_call - 2, other_call]);
    let report = Report { warnings, ..Report::new(&Settings::new(true, &[]), Vec::new()) };
    assert!(report.verdict().is_ok());
    let text = report.text();
    for part in ["warps_apart: warps by different call paths", "warning: warps of block", "nothing found"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let log = crate::check::sarif("host check", report.findings());
    let result = &log["runs"][0]["results"][0];
    assert_eq!((&result["level"], &result["ruleId"]), (&"warning".into(), &"warps-by-two-ways".into()));
}
