//! Tests with the output of ncu on an H200 and of `host explain` in the simulator, both shortened.

use explain::Gpu;
use workbench::subjects::{self, Wanted};
use xtask::pattern::matches as means;

use super::cases::{self, Case, Origin};
use super::compare::{self, LaunchComparison};
use super::counts::{Counts, Launch, Metric, grouped};
use super::document::{self, Totals};
use super::findings;
use super::ncu::Profile;
use super::reasons::{REASONS, Reason};
use super::simulated::{self, Explained, Simulated};

macro_rules! fixture {
    ($name:literal) => {
        (
            include_str!(concat!("../../tests/fixtures/counters/", $name, ".csv")),
            include_str!(concat!("../../tests/fixtures/counters/", $name, ".json")),
        )
    };
}

const SAXPY: (&str, &str) = fixture!("saxpy-vectorised");
const REDUCE: (&str, &str) = fixture!("reduce-interleaved");
const SCAN: (&str, &str) = fixture!("scan-naive");

/// The reason for the differences in the fixture of saxpy, which was recorded with an earlier kernel.
const SAXPY_REASON: Reason = Reason {
    cases: "saxpy-vectorised",
    kernels: &["saxpy_vectorised_*"],
    metrics: &[Metric::GlobalLoadRequests, Metric::GlobalStoreRequests],
    explains: |row, metric| (1..=2).contains(&row.ncu.get(metric).saturating_sub(row.simulator.get(metric))),
    depends_on_timing: false,
    text: "In one warp some lanes have a vector more.",
};

/// Returns [`SAXPY_REASON`] and the reasons for all cases.
fn reasons() -> Vec<Reason> {
    let general = REASONS.iter().filter(|reason| reason.cases == "*").copied();
    [SAXPY_REASON].into_iter().chain(general).collect()
}

fn case(name: &str) -> Case {
    Case { name: name.into(), explain: format!("{} --n 1000000", name.replacen('-', "/", 1)) }
}

fn simulated(json: &str) -> Vec<Simulated> {
    simulated::launches(&serde_json::from_str(json).unwrap())
}

fn rows(name: &str, (csv, json): (&str, &str)) -> Vec<LaunchComparison> {
    compare::rows(&case(name), &simulated(json), &Profile::parse(csv).unwrap().launches).unwrap()
}

fn launch(kernel: &str, grid: u64) -> Launch {
    Launch { kernel: kernel.into(), grid: [grid, 1, 1], block: [256, 1, 1] }
}

/// Returns counts that are all `value`.
fn all(value: u64) -> Counts {
    Counts::of(|_| value)
}

#[test]
fn ncu_is_read_past_what_the_program_prints() {
    let profile = Profile::parse(SAXPY.0).unwrap();
    assert_eq!(profile.device.as_deref(), Some("NVIDIA H200"));
    let [(launch, counts), (second, _)] = &profile.launches[..] else { panic!("{profile:?}") };
    assert_eq!(launch, second);
    assert_eq!(launch.to_string(), "saxpy_vectorised_f32_4 489 × 256");
    assert_eq!(counts.get(Metric::GlobalLoadRequests), 15_628);
    assert_eq!(counts.get(Metric::GlobalLoadSectors), 250_000);
    assert_eq!(counts.get(Metric::GlobalStoreRequests), 7_814);
    assert_eq!(counts.get(Metric::SharedLoadConflicts), 0);
}

/// Returns a table of one launch, in which every metric of ncu is `value`.
fn table(value: &str) -> String {
    let names: Vec<&str> = Metric::ALL.iter().flat_map(|metric| metric.of_ncu()).copied().collect();
    let heading: String = names.iter().map(|name| format!(",\"{name}\"")).collect();
    let values = format!(",\"{value}\"").repeat(names.len());
    format!(
        "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\"{heading}\n\"\",\"\",\"\",\"\"{}\n\
         \"0\",\"k\",\"(32, 8, 1)\",\"(1,024, 25, 1)\"{values}\n==PROF== a remark\n",
        ",\"\"".repeat(names.len())
    )
}

#[test]
fn atomics_are_those_with_and_without_a_result() {
    let profile = Profile::parse(&table("1,234.000")).unwrap();
    let [(launch, counts)] = &profile.launches[..] else { panic!("{profile:?}") };
    assert_eq!((launch.grid, launch.block), ([1024, 25, 1], [32, 8, 1]));
    assert_eq!(launch.shape(), "(1,024, 25) × (32, 8)");
    assert_eq!(counts.get(Metric::GlobalStoreSectors), 1234);
    assert_eq!(counts.get(Metric::GlobalAtomicRequests), 2468);
    assert_eq!(counts.get(Metric::GlobalAtomicSectors), 2468);
}

#[test]
fn what_is_no_profile_is_an_error() {
    let error = |text: &str| format!("{:#}", Profile::parse(text).unwrap_err());
    assert!(error("==ERROR== no permission\n").contains("no table"), "{}", error(""));
    assert!(error(&table("n/a")).contains("`n/a` is not a number"), "{}", error(&table("n/a")));
    assert!(error(&table("0.5")).contains("`0.5` is not a whole number"));
    let lacking = table("1").replace("mem_shared_op_st", "mem_shared_op_other");
    assert!(error(&lacking).contains("no column l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"));
    let empty: String = table("1").lines().take(2).map(|line| format!("{line}\n")).collect();
    assert!(error(&empty).contains("profiled no launch"));
}

#[test]
fn the_simulator_is_read() {
    let launches = simulated(REDUCE.1);
    assert_eq!(launches.len(), 3);
    assert_eq!(launches[0].launch.to_string(), "reduce_interleaved_f32_sum 3,907 × 256");
    assert_eq!(launches[0].times, 1);
    assert_eq!(launches[0].counts.get(Metric::SharedStoreWavefronts), 78_140);
    let lacking = serde_json::from_str::<Explained>(&REDUCE.1.replace("bank_conflicts", "others"));
    let error = lacking.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("missing field `bank_conflicts`"), "{error}");
}

/// Tests that the JSON of an explanation is parsed into its counts.
#[test]
fn what_the_simulator_writes_is_read() {
    let wanted = Wanted { n: Some(1000), ..Wanted::default() };
    let gpu = Gpu::find(Gpu::DEFAULT).unwrap();
    let explanation = subjects::explain(&subjects::find("saxpy/vectorised").unwrap(), &wanted, gpu, |_| {}).unwrap();
    let kernel = &explanation.rungs[0].kernels[0];
    let read = simulated(&serde_json::to_string(&explanation).unwrap());
    assert_eq!(read.len(), 1);
    assert_eq!(read[0].launch.kernel, kernel.entry);
    assert_eq!(read[0].launch.grid, kernel.launches[0].grid.map(u64::from));
    assert_eq!(read[0].times, kernel.launch_count());
    assert_eq!(read[0].counts.get(Metric::GlobalLoadSectors), kernel.totals.global.load.sectors);
    assert_eq!(read[0].counts.get(Metric::GlobalLoadSectors), 250);
}

#[test]
fn the_first_launches_of_a_kernel_and_configuration_are_taken() {
    let profiled = [
        (launch("warm_up", 9), all(100)),
        (launch("k", 2), all(1)),
        (launch("k", 1), all(10)),
        (launch("k", 2), all(2)),
        (launch("k", 2), all(4)),
    ];
    let one = |grid, times| Simulated { launch: launch("k", grid), times, counts: all(3) };
    let rows = compare::rows(&case("c"), &[one(2, 2), one(1, 1)], &profiled).unwrap();
    assert_eq!(rows.iter().map(|row| row.ncu).collect::<Vec<_>>(), [all(3), all(10)]);
    assert_eq!(rows[0].differences(), []);
    assert_eq!(rows[1].differences(), Metric::ALL);
    let error = compare::rows(&case("c"), &[one(2, 4)], &profiled).unwrap_err().to_string();
    assert!(error.contains("makes 4 launches of k 2 × 256, but ncu profiled 3 of them"), "{error}");
    assert!(error.ends_with("all launches that ncu profiled: k 1 × 256, k 2 × 256, warm_up 9 × 256"), "{error}");
    assert!(compare::rows(&case("c"), &[], &profiled).is_err());
}

#[test]
fn twenty_launches_are_added_up() {
    let rows = rows("scan-naive", SCAN);
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].times, 20);
    assert_eq!(rows[0].ncu.get(Metric::GlobalLoadSectors), 4_962_676);
    assert_eq!(rows[0].differences(), []);
}

#[test]
fn every_difference_has_a_reason_and_every_reason_a_difference() {
    let [saxpy, reduce] = [rows("saxpy-vectorised", SAXPY), rows("reduce-interleaved", REDUCE)];
    let both = [saxpy.clone(), reduce.clone()].concat();
    let reasons = reasons();
    assert_eq!(findings(&both, &reasons), Vec::<String>::new());
    // Each difference without a reason is a finding: two of saxpy, and two of the largest launch of reduce.
    let found = findings(&both, &[]);
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(
        found[0].contains("load requests of saxpy_vectorised_f32_4 489 × 256: 15626 in the simulator, 15628 by ncu"),
        "{found:?}"
    );
    // A reason without a difference is a finding, unless the difference depends on timing or its case was not profiled.
    let equal = saxpy.into_iter().chain(reduce).map(|row| LaunchComparison { ncu: row.simulator, ..row });
    let found = findings(&equal.collect::<Vec<_>>(), &reasons);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("saxpy-vectorised needs the reason \"In one warp"), "{found:?}");
    assert_eq!(findings(&rows("scan-naive", SCAN), &reasons), Vec::<String>::new());
}

#[test]
fn a_reason_is_one_for_its_kind_of_difference_alone() {
    let [(stray, conflicts), (_, wavefronts)] =
        [Metric::SharedLoadConflicts, Metric::SharedLoadWavefronts].map(|metric| (&REASONS[0], metric));
    let mut row = rows("reduce-interleaved", REDUCE).remove(0);
    assert!(stray.applies(&row, conflicts) && stray.applies(&row, wavefronts));
    assert!(!stray.applies(&row, Metric::SharedStoreConflicts));
    // The reason must not explain more additional wavefronts than conflicts, nor many conflicts, nor fewer wavefronts.
    let with = |metric: Metric, value: u64, counts: Counts| {
        Counts::of(|one| if one == metric { value } else { counts.get(one) })
    };
    let before = row.ncu;
    row.ncu = with(wavefronts, before.get(wavefronts) + 1, before);
    assert!(stray.applies(&row, conflicts) && !stray.applies(&row, wavefronts));
    row.ncu = with(conflicts, 30_000, with(wavefronts, 76_884, before));
    assert!(!stray.applies(&row, conflicts) && !stray.applies(&row, wavefronts));
    row.ncu = with(wavefronts, 46_000, before);
    assert!(!stray.applies(&row, wavefronts));
}

#[test]
fn the_table_shows_one_number_where_both_agree() {
    let rows = [rows("saxpy-vectorised", SAXPY), rows("reduce-interleaved", REDUCE), rows("scan-naive", SCAN)].concat();
    let reasons = reasons();
    let table = document::table(&rows, &reasons);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 2 + 5);
    let columns = lines[0].matches('|').count();
    assert!(lines.iter().all(|line| line.matches('|').count() == columns), "{table}");
    let saxpy = "| `saxpy/vectorised --n 1000000` | `saxpy_vectorised_f32_4` | 489 × 256 | **15,626 / 15,628** | 250,000 | \
        **7,813 / 7,814** | 125,000 | 0 | 0 | 0 | 0 | 0 | 0 | In one warp";
    assert!(lines[2].starts_with(saxpy), "{table}");
    // The table names the case only in the first of its rows. A row without a difference has no reason.
    assert!(lines[4].starts_with("|  | `reduce_interleaved_f32_sum` | 16 × 256 |") && lines[4].ends_with("| 0 |  |"));
    assert!(lines[6].contains("| 3,907 × 256, 20 launches |"), "{table}");
    // A reason for two metrics is written once.
    assert_eq!(lines[3].matches("Conflicts outside").count(), 1, "{table}");
    let totals = "24 launches of 3 kernels: 23 of 27 counts that are not zero are equal, all of them for 1 kernels";
    assert_eq!(Totals::of(&rows).to_string(), totals);
}

#[test]
fn the_document_says_on_what_it_was_counted() {
    let origin = Origin::parse("date: 2026-11-21\ndevice: NVIDIA H200\ndriver: 580.1\nncu: 2025.3.1.0\n").unwrap();
    let text = document::text(&origin, &rows("scan-naive", SCAN), &[]);
    assert!(text.contains("(`ncu`) 2025.3.1.0 on one NVIDIA H200 with driver 580.1, 2026-11-21."), "{text}");
    assert!(document::text(&Origin::default(), &[], &[]).contains("(`ncu`).\n"));
}

#[test]
fn where_it_was_counted_is_read_as_far_as_it_is_known() {
    let origin = Origin::parse("date: 2026-11-21\nncu:\n").unwrap();
    assert_eq!(origin, Origin { date: Some("2026-11-21".into()), ..Origin::default() });
    assert!(Origin::parse("clock: 1980\n").unwrap_err().to_string().contains("`clock: 1980`"));
}

#[test]
fn the_list_of_cases_is_sound() {
    let text = include_str!("../../../bench/counters/cases.txt");
    let cases = cases::parse(text).unwrap();
    assert!(cases.len() >= 35);
    assert!(cases.contains(&case("saxpy-vectorised")));
    // Every reason applies to at least one of the cases.
    for reason in REASONS {
        assert!(cases.iter().any(|case| means(reason.cases, &case.name)), "{}", reason.cases);
    }
}

#[test]
fn a_line_that_is_no_case_is_an_error() {
    let error = |text: &str| cases::parse(text).unwrap_err().to_string();
    assert!(error("a | b | c").contains("has 3 columns"));
    assert!(error("a | | c | d").contains("a column of `a | | c | d` is empty"));
    assert!(error("a | b | c | d\na | e | f | g").contains("two cases a"));
    assert_eq!(cases::parse("# no case\n\n").unwrap(), []);
}

#[test]
fn numbers_are_grouped_by_thousands() {
    let grouped: Vec<String> = [0, 999, 1000, 1_234_567].map(grouped).to_vec();
    assert_eq!(grouped, ["0", "999", "1,000", "1,234,567"]);
}
