//! Tests the commands on small kernels.

use cuda_std::{Global, GlobalMut, kernel, thread};
use launch::{LaunchConfig, PtxImage};

use super::*;

/// Adds 1 to each element.
#[kernel]
fn add_one(x: Global<u32>, y: GlobalMut<u32>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, x.load(i) + 1);
    }
}

/// All threads store to one element.
#[kernel]
fn racing(y: GlobalMut<u32>) {
    y.store(0, thread::index_1d() as u32);
}

/// Makes the case of `add_one`; `added` is what the case expects it to add.
fn adding(name: &'static str, added: u32) -> Case {
    Case::new(name, move |run| {
        let input: Vec<u32> = (0..run.n() as u32).collect();
        let x = run.device().upload(&input)?;
        let mut y = run.device().alloc(run.n())?;
        run.measure(8 * run.n(), || run.device().launch(LaunchConfig::new(4, 64), add_one(x.view(), y.view_mut())))?;
        run.expect("y", &y, || input.iter().map(|x| x + added).collect())
    })
    .check_sizes(&[0, 65])
    .explain_size(4096)
    .bench_size(128)
}

static PTX: &[PtxModule] = &[PtxModule {
    path: "explain",
    images: &[PtxImage::new(70, ".version 7.0\n.target sm_70\n.visible .entry add_one(\n)\n.entry forgotten(\n)\n")],
}];

fn commands() -> Commands {
    let racing = Case::new("race", |run| {
        let mut y = run.device().alloc(1)?;
        Ok(run.device().launch(LaunchConfig::new(1, 64), racing(y.view_mut()))?)
    });
    Commands::new(PTX).case(adding("right", 1)).case(adding("wrong", 2)).case(racing.check_sizes(&[1]))
}

fn answer(arguments: &[&str]) -> Result<Answer, Refusal> {
    commands().answer(["program"].iter().chain(arguments).map(OsString::from).collect())
}

#[track_caller]
fn refusal(arguments: &[&str]) -> String {
    match answer(arguments).unwrap_err() {
        Refusal::CommandLine(error) => error.to_string(),
        Refusal::Usage(text) | Refusal::Failure(text) => text,
    }
}

#[test]
fn a_case_is_explained_as_text_json_and_page() {
    let page = std::env::temp_dir().join(format!("explained-{}.html", std::process::id()));
    let Answer { text, failure } = answer(&["explain", "right", "--html", page.to_str().unwrap()]).unwrap();
    assert_eq!(failure, None);
    for part in [
        "right on H200",
        "n = 4096",
        "right: Adds 1 to each element.",
        "floor: 32 KiB must move",
        "y.store(i, x.load(i) + 1);",
        "registers, spills, local memory and occupancy are not known: ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let html = fs::read_to_string(&page).unwrap();
    fs::remove_file(page).unwrap();
    assert!(html.contains("<h2 id=\"-right\">right</h2>") && html.contains("are not known"), "{html}");

    let json = answer(&["explain", "right", "--json", "--n", "2^10", "--gpu", "a100"]).unwrap().text;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["rungs"][0]["summary"]["floor_bytes"], 8 << 10);
    assert_eq!(json["gpu"]["compute_capability"], "8.0");
}

#[test]
fn several_cases_stand_side_by_side() {
    let text = answer(&["explain", "right", "race"]).unwrap().text;
    assert!(text.contains("must move   moves") && text.contains("\n right "), "{text}");
    // The result of a case is compared here, too.
    assert_eq!(refusal(&["explain"]), "wrong, n = 4096: the result is wrong: y[0] is 1 instead of 2");
}

#[test]
fn faults_wrong_results_and_forgotten_kernels_are_reported() {
    let Answer { text, failure } = answer(&["check"]).unwrap();
    assert_eq!(failure.as_deref(), Some("2 of 2 kernels are at fault"), "{text}");
    for part in [
        "check in 8 orders",
        "add_one: wrong result",
        "wrong, n = 65; found in 8 of 8 orders",
        "racing: data race",
        "y.store(0, thread::index_1d() as u32);",
        "not checked, because no case launches them: forgotten\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }

    let Answer { text, failure } = answer(&["check", "right", "--schedule", "natural", "--json"]).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((failure, &json["kernels"][0]["kernel"]), (None, &"add_one".into()));
    assert_eq!((&json["kernels"][0]["cases"], json.get("unchecked")), (&2.into(), None));

    let log: serde_json::Value = serde_json::from_str(&answer(&["check", "race", "--sarif"]).unwrap().text).unwrap();
    assert_eq!(log["runs"][0]["results"][0]["ruleId"], "data-race");
}

#[test]
fn a_test_asserts_that_a_case_passes() {
    adding("right", 1).assert_passes();
    let panic = std::panic::catch_unwind(|| adding("wrong", 2).assert_passes()).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(text.contains("add_one: wrong result") && text.contains("wrong, n = 65"), "{text}");
}

#[test]
fn bench_refuses_the_simulator() {
    let text = refusal(&["bench", "--device", "sim"]);
    for part in ["the device is the simulator", "--device gpu", "explain"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Checks the protocol of a timed run; the times themselves say nothing here.
#[test]
fn a_timed_run_repeats_the_launch_and_compares_no_result() {
    let device = Device::open(DeviceChoice::Sim, &[]).unwrap();
    let (times, bytes) = adding("wrong", 2).run_timed(&device, 128).unwrap();
    assert_eq!(bytes, 1024);
    assert!(times.runs >= 11 && times.low <= times.median && times.median <= times.high, "{times:?}");
    let error = Case::new("idle", |_| Ok(())).run_timed(&device, 1).unwrap_err().to_string();
    assert_eq!(error, "the case `idle` times nothing: let it call `Run::measure`");
    let rows = [BenchRow { case: "wrong", n: 128, bytes, gbps: 2.5, times }];
    let text = BenchRow::table(&rows);
    assert!(text.contains("GB/s") && text.contains("1 KiB") && text.contains("2.5"), "{text}");
}

#[test]
fn a_wrong_command_line_is_answered_with_a_remedy() {
    assert_eq!(refusal(&["check", "wright"]), "no case is called 'wright': use right, wrong or race");
    assert!(refusal(&["explain", "--gpu", "h300"]).contains("h200"));
    assert!(refusal(&["explain", "--n", "many"]).contains("2^20"));
    assert!(refusal(&["check", "--schedule", "lucky"]).contains("last-first"));
    assert!(refusal(&["check", "--json", "--sarif"]).contains("cannot be used with"));
    assert!(refusal(&["check", "--help"]).contains("--strict"));
    assert_eq!(commands().finish(["program", "check", "wright"].map(OsString::from).into()), 2);
}

#[test]
fn registers_and_spills_come_from_an_assembler() {
    if ptxas::programs("ptxas", &[]).is_empty() {
        return;
    }
    static PTX: &[PtxModule] = &[PtxModule {
        path: "explain",
        images: &[PtxImage::new(
            75,
            ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry add_one()\n{\n ret;\n}\n",
        )],
    }];
    let commands = Commands::new(PTX).case(adding("right", 1));
    let text = commands.answer(["program", "explain"].map(OsString::from).into()).unwrap().text;
    assert!(text.contains(" registers per thread") && text.contains("no spilled registers"), "{text}");
}
