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

/// Block 0 announces a value, and block 1 takes it if it sees the announcement. On a GPU it may take an old value.
#[kernel]
fn message(words: GlobalMut<u32>) {
    let (value, flag, taken) = (0, 1, 2);
    if thread::index_in_block() == 0 {
        if thread::block_idx_x() == 0 {
            words.store_relaxed(value, 42);
            words.store_relaxed(flag, 1);
        } else if words.load_relaxed(flag) == 1 {
            words.store(taken, words.load_relaxed(value));
        }
    }
}

/// Stores more values to a word than the checker keeps, and reads the word in each block.
#[kernel]
fn many_values(y: GlobalMut<u32>) {
    if thread::index_in_block() == 0 {
        for i in 0..20 {
            y.store_relaxed(0, i);
        }
        y.load_relaxed(0);
    }
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
fn a_case_is_compared_with_another_and_with_a_file() {
    let text = answer(&["explain", "right", "--baseline", "wrong", "--n", "64"]);
    // The baseline's result is compared, too.
    assert!(matches!(text, Err(Refusal::Failure(text)) if text.contains("wrong, n = 64: the result is wrong")));
    let file = std::env::temp_dir().join(format!("explained-{}.json", std::process::id()));
    let path = file.to_str().unwrap();
    fs::write(&file, answer(&["explain", "right", "--json"]).unwrap().text).unwrap();
    let text = answer(&["explain", "right", "--baseline", path]).unwrap().text;
    for part in ["nothing differs: all counts and lines are equal", "next: cargo run -- check right\n"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = answer(&["explain", "right", "--baseline", path, "--json"]).unwrap().text;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let total = &json["comparison"]["rungs"][0]["totals"][0];
    assert_eq!((&total["what"], &total["before"], &total["after"]), (&"launches".into(), &1.into(), &1.into()));
    let other = answer(&["explain", "race", "--baseline", path]).unwrap_err();
    assert!(matches!(other, Refusal::Usage(text) if text.contains("the profile of right, not of race")));
    let other = answer(&["explain", "right", "--baseline", path, "--n", "64"]).unwrap_err();
    assert!(matches!(other, Refusal::Usage(text) if text.contains("n = 4096 (4096 elements)")));
    fs::write(&file, "no JSON").unwrap();
    let broken = answer(&["explain", "right", "--baseline", path]).unwrap_err();
    fs::remove_file(&file).unwrap();
    let missing = answer(&["explain", "right", "--baseline", path]).unwrap_err();
    for (error, part) in [(broken, "it is not the JSON of an explanation"), (missing, "cannot read the baseline")] {
        assert!(matches!(&error, Refusal::Failure(text) if text.contains(part)), "{part}: {error:?}");
    }
}

#[test]
fn several_cases_stand_side_by_side() {
    let text = answer(&["explain", "right", "race"]).unwrap().text;
    assert!(text.contains("must move   moves") && text.contains("\n right "), "{text}");
    // The result of a case is compared here, too.
    assert_eq!(
        refusal(&["explain"]),
        "wrong, n = 4096: the result is wrong: y[0] is 1 instead of 2; 4096 of 4096 elements are wrong"
    );
}

#[test]
fn a_wrong_result_is_explained() {
    let text = adding("low", 0).report(&Settings::default(), None).text();
    assert!(text.contains("y[0] is 1, which is the expected value of y[1], instead of 0; 65 of 65 elements"), "{text}");

    let unwritten = Case::new("unwritten", |run| run.expect("y", &run.device().alloc(1)?, || vec![1_u32]));
    let text = unwritten.check_sizes(&[1]).report(&Settings::default(), None).text();
    assert!(text.contains(", as memory that nothing has written, instead of 1"), "{text}");

    let mistaken = Case::new("mistaken", |run| {
        let mistakes = [("sevens", vec![7, 7]), ("this is x itself", vec![3, 4])];
        run.expect_or_explain("y", &run.device().upload(&[3_u32, 4])?, || vec![4, 5], &mistakes)
    });
    let text = mistaken.check_sizes(&[1]).report(&Settings::default(), None).text();
    let part = "y[0] is 3 instead of 4; 2 of 2 elements are wrong: this is x itself (no thread stores to `y`)\n";
    assert!(text.contains(part), "{text}");
}

#[test]
fn faults_wrong_results_and_forgotten_kernels_are_reported() {
    let Answer { text, failure } = answer(&["check"]).unwrap();
    assert_eq!(failure.as_deref(), Some("2 of 2 kernels are at fault"), "{text}");
    for part in [
        "check in 8 orders",
        "add_one: wrong result",
        "wrong, n = 65; found in all 8 orders of the threads",
        "block (0, 0, 0), thread (0, 0, 0) store of y[0]",
        " | y.store(i, x.load(i) + 1);",
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
fn a_thorough_check_counts_orders_and_choices() {
    let commands = || {
        let message = Case::new("message", |run| {
            let mut words = run.device().zeroed(3)?;
            run.device().launch(LaunchConfig::new(2, 32), message(words.view_mut()))?;
            let taken = words.download()?[2];
            if taken == 0 || taken == 42 { Ok(()) } else { Err(format!("taken: {taken}").into()) }
        });
        Commands::new(&[]).case(adding("right", 1)).case(message.check_sizes(&[1]))
    };
    let answer = |arguments: &[&str]| {
        let arguments = ["program", "check"].iter().chain(arguments).map(OsString::from).collect();
        commands().answer(arguments).unwrap()
    };
    let Answer { text, failure } = answer(&["message", "right", "--thorough=60", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((failure, &json["thorough"]["cases"]), (None, &3.into()), "{json}");
    assert_eq!(json["thorough"]["all_choices"], 3, "{json}");
    let of = |kernel: &str| {
        let row = json["kernels"].as_array().unwrap().iter().find(|row| row["kernel"] == kernel).unwrap();
        row["thorough"].clone()
    };
    // The threads of this kernel do not communicate: eight orders of two cases are all.
    let alone = serde_json::json!({
        "orders": 16, "exhausted": true, "choices": 0, "all_choices": true, "unfinished": 0
    });
    assert_eq!(of("add_one"), alone);
    let tried = of("message");
    assert_eq!((&tried["exhausted"], &tried["all_choices"]), (&true.into(), &true.into()), "{tried}");
    assert!(tried["choices"].as_u64().is_some_and(|choices| choices > 3), "{tried}");

    let text = answer(&["message", "--thorough"]).text;
    for part in [" orders  ", " choices  ", "all ", "up to 10 s per kernel"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = answer(&["message"]).text;
    assert!(!text.contains("choices") && !text.contains("thorough"), "{text}");
    assert!(refusal(&["check", "--thorough=soon"]).contains("a number of seconds, such as 10"));
}

#[test]
fn weak_memory_that_is_explored_in_part_is_noted() {
    let many = Case::new("many", |run| {
        let mut y = run.device().zeroed(1)?;
        Ok(run.device().launch(LaunchConfig::new(2, 32), many_values(y.view_mut()))?)
    });
    let commands = Commands::new(&[]).case(many.check_sizes(&[1])).case(adding("right", 1));
    let answer = |arguments: &[&str]| {
        commands.answer(["program", "check"].iter().chain(arguments).map(OsString::from).collect())
    };
    let Answer { text, failure } = answer(&[]).unwrap();
    assert_eq!(failure, None, "{text}");
    assert!(
        text.contains("\nnote: kernel `many_values`, at ") && text.contains("more than 16 atomic writes"),
        "{text}"
    );
    assert!(text.contains("2 kernels: nothing found"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&answer(&["--json"]).unwrap().text).unwrap();
    let notes = json["notes"].as_array().unwrap();
    assert_eq!((notes.len(), &notes[0]["kind"]), (1, &"weak memory in part".into()), "{json}");
    let json: serde_json::Value = serde_json::from_str(&answer(&["right", "--json"]).unwrap().text).unwrap();
    assert!(json.get("notes").is_none(), "{json}");
    let log: serde_json::Value = serde_json::from_str(&answer(&["--sarif"]).unwrap().text).unwrap();
    let result = &log["runs"][0]["results"][0];
    assert_eq!((&result["level"], &result["ruleId"]), (&"note".into(), &"weak-memory-in-part".into()), "{log}");
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
