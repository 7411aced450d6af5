//! What a check has found, one line per kernel, and each mistake in full.

use std::time::{Duration, Instant};

use anyhow::anyhow;
use serde::Serialize;
use simt::{Schedule, report::Finding};

use super::progress::Bar;
use super::selection::{Family, Selection};
use super::thorough::{self, Tried};
use crate::report::{self, Seconds};
use workbench::case::Case;
use workbench::check::{self, CaseRun, Settings, mutations, run_cases};

/// What is printed.
#[derive(Serialize, Debug)]
pub(super) struct Report {
    schedules: Vec<String>,
    strict: bool,
    seconds: f64,
    kernels: Vec<KernelChecks>,
    /// How many more orders were tried, if that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    thorough: Option<Tried>,
    /// What kernels seem not to need, if that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    redundant: Option<Vec<Finding>>,
    /// What GPUs allow and CUDA's documentation does not: no faults.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Finding>,
}

/// What is asked besides the runs in the orders that the settings name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Further {
    /// Which synchronisations the cases that are right can do without.
    pub(super) redundant: bool,
    /// More orders of those cases, for so long per kernel.
    pub(super) thorough: Option<Duration>,
}

/// A kernel: what of it was run.
#[derive(Serialize, Debug)]
struct KernelChecks {
    kernel: &'static str,
    algorithm: &'static str,
    cases: usize,
    launches: usize,
    threads: u64,
    /// Of all launches together, on one core.
    seconds: f64,
    faults: Vec<Found>,
}

/// A mistake.
#[derive(Serialize, Debug)]
struct Found {
    /// The case that has it.
    case: String,
    /// The schedules under which it was found.
    schedules: Vec<String>,
    #[serde(flatten)]
    finding: Finding,
}

impl Report {
    /// Runs what is selected, and does what is asked `further`.
    ///
    /// # Errors
    /// When a case fails that was right before.
    pub(super) fn new(
        selection: Selection,
        cases: Vec<Case>,
        settings: &Settings,
        further: Further,
    ) -> anyhow::Result<Self> {
        let begun = Instant::now();
        let families = selection.kernels().to_vec();
        let cases = selection.cases(cases);
        let mut runs = run_cases(&cases.iter().collect::<Vec<_>>(), settings, &Bar::new("runs", "threads"));
        let is_right = |runs: &[CaseRun], case: usize| !runs.iter().any(|run| run.case == case && run.error.is_some());
        let thorough = further.thorough.map(|time| {
            let right: Vec<_> = cases.iter().enumerate().filter(|&(case, _)| is_right(&runs, case)).collect();
            let (found, tried) = thorough::search(&right, settings.checks, time);
            runs.extend(found);
            tried
        });
        let (kernels, warnings) = (rows(&families, &cases, &runs), warnings(&runs));
        let right = cases.into_iter().enumerate().filter(|&(case, _)| is_right(&runs, case)).map(|(_, case)| case);
        let redundant = further.redundant.then(|| redundant(&right.collect::<Vec<_>>(), settings)).transpose()?;
        Ok(Self {
            schedules: settings.schedules.iter().map(Schedule::to_string).collect(),
            strict: !settings.checks.shuffles_order_memory,
            seconds: begun.elapsed().as_secs_f64(),
            kernels,
            thorough,
            redundant,
            warnings,
        })
    }

    fn at_fault(&self) -> usize {
        self.kernels.iter().filter(|row| !row.faults.is_empty()).count()
    }

    /// All that is at fault, that is warned of, and that the kernels seem not to need, each with its level in SARIF.
    pub(super) fn findings(&self) -> impl Iterator<Item = (&'static str, &Finding)> {
        let faults = self.kernels.iter().flat_map(|row| &row.faults).map(|found| ("error", &found.finding));
        let warnings = self.warnings.iter().map(|warning| ("warning", warning));
        faults.chain(warnings).chain(self.redundant.iter().flatten().map(|hint| ("note", hint)))
    }

    /// Fails if a kernel is at fault.
    pub(super) fn verdict(&self) -> anyhow::Result<()> {
        match self.at_fault() {
            0 => Ok(()),
            1 => Err(anyhow!("1 of {} kernels is at fault", self.kernels.len())),
            many => Err(anyhow!("{many} of {} kernels are at fault", self.kernels.len())),
        }
    }

    pub(super) fn text(&self) -> String {
        let row = |row: &KernelChecks| {
            [
                row.kernel.to_owned(),
                row.cases.to_string(),
                row.launches.to_string(),
                report::grouped(row.threads),
                Seconds(row.seconds).to_string(),
                match row.faults.len() {
                    0 => "ok".to_owned(),
                    1 => "1 fault".to_owned(),
                    many => format!("{many} faults"),
                },
            ]
        };
        let heading = ["kernel", "cases", "launches", "threads", "time", "result"];
        let rows: Vec<_> = self.kernels.iter().map(row).collect();
        let orders = match self.schedules.len() {
            1 => "order of the threads",
            _ => "orders of the threads",
        };
        let mut text = format!("check in {} {orders}: {}\n", self.schedules.len(), self.schedules.join(", "));
        if self.strict {
            text += "strict: shuffles and votes order no memory accesses\n";
        }
        text += &self.thorough.as_ref().map_or_else(String::new, Tried::text);
        text += &format!("{}\n", report::table(heading, &rows));
        for row in &self.kernels {
            for Found { case, schedules, finding } in &row.faults {
                text += &format!("\n{}: {}\n", row.kernel, finding.kind);
                let is_of_these = schedules.iter().all(|schedule| self.schedules.contains(schedule));
                let found = match &schedules[..] {
                    [schedule] if !is_of_these => format!("in a further order; again by --schedule {schedule}"),
                    _ => {
                        format!("in {} of {} orders: {}", schedules.len(), self.schedules.len(), schedules.join(", "))
                    }
                };
                text += &format!("  {case}; found {found}\n");
                text += &finding.text("  ");
            }
        }
        for finding in &self.warnings {
            text += &format!("\n{}: {}\n{}", finding.kernel.unwrap_or_default(), finding.kind, finding.text("  "));
        }
        if let Some(redundant) = &self.redundant {
            text += &match redundant.len() {
                0 => "\nhints: every synchronisation is missed when it is left out\n".to_owned(),
                many => format!("\nhints: {many} that no order misses\n"),
            };
            for finding in redundant {
                text += &format!("\n{}: {}\n{}", finding.kernel.unwrap_or_default(), finding.kind, finding.text("  "));
            }
        }
        let summary = match self.at_fault() {
            0 => "nothing found".to_owned(),
            faulty => format!("{faulty} at fault"),
        };
        text + &format!("\n{} kernels: {summary}, in {}\n", self.kernels.len(), Seconds(self.seconds))
    }
}

fn redundant(cases: &[Case], settings: &Settings) -> anyhow::Result<Vec<Finding>> {
    let all = mutations::mutate(cases, settings, &Bar::new("deletions", "deletions"))?;
    Ok(all.iter().filter_map(mutations::Mutation::hint).collect())
}

/// What the runs warn of, each once.
fn warnings(runs: &[CaseRun]) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    for warning in runs.iter().flat_map(|run| &run.warnings).map(Finding::of_note) {
        if !all.iter().any(|other| other.kernel == warning.kernel && other.is_like(&warning)) {
            all.push(warning);
        }
    }
    all
}

fn rows(families: &[Family], cases: &[Case], runs: &[CaseRun]) -> Vec<KernelChecks> {
    let mut rows: Vec<KernelChecks> = Family::all()
        .into_iter()
        .map(|Family { name, algorithm }| KernelChecks {
            kernel: name,
            algorithm,
            cases: cases.iter().filter(|case| case.kernels().contains(&name)).count(),
            launches: 0,
            threads: 0,
            seconds: 0.0,
            faults: Vec::new(),
        })
        .collect();
    for run in runs {
        let case = &cases[run.case];
        for launch in &run.launches {
            if let Some(row) = rows.iter_mut().find(|row| row.kernel == launch.kernel.family) {
                row.launches += 1;
                row.threads += launch.stats.threads;
                row.seconds += launch.duration.as_secs_f64();
            }
        }
        if let Some(error) = &run.error {
            let finding = check::of_error(error);
            // A wrong result is laid to the kernel that the case is about.
            let culprit = check::family(&finding).or(case.kernels().first().copied());
            if let Some(row) = rows.iter_mut().find(|row| Some(row.kernel) == culprit) {
                row.add(case, run.schedule, finding);
            }
        }
    }
    let is_asked_for = |row: &KernelChecks| families.iter().any(|family| family.name == row.kernel);
    rows.retain(|row| is_asked_for(row) || !row.faults.is_empty());
    rows
}

impl KernelChecks {
    fn add(&mut self, case: &Case, schedule: Schedule, finding: Finding) {
        let schedule = schedule.to_string();
        match self.faults.iter_mut().find(|found| found.finding.is_like(&finding)) {
            Some(found) if found.schedules.contains(&schedule) => {}
            Some(found) => found.schedules.push(schedule),
            None => self.faults.push(Found { case: case.to_string(), schedules: vec![schedule], finding }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workbench::case::CaseError;

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
        // The kernel asked for, and the one at fault.
        assert_eq!(
            rows.iter().map(|row| (row.kernel, row.faults.len())).collect::<Vec<_>>(),
            [("scale_one_block", 0), ("scale_grid", 2)]
        );
        assert_eq!(rows[1].faults[0].schedules, ["random:1", "last-first"]);
        let report = Report {
            schedules: vec!["natural".to_owned()],
            strict: true,
            seconds: 0.5,
            kernels: rows,
            thorough: None,
            redundant: None,
            warnings: Vec::new(),
        };
        let text = report.text();
        for part in
            ["strict", "scale_grid: wrong result", "y[2] is 3 instead of 4", "2 faults", "2 kernels: 1 at fault"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(report.verdict().unwrap_err().to_string(), "1 of 2 kernels is at fault");
    }

    /// Its first barrier is needed, and its second is not.
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
        let report = Report {
            schedules: Vec::new(),
            strict: false,
            seconds: 0.5,
            kernels: Vec::new(),
            thorough: None,
            redundant: Some(hints),
            warnings: Vec::new(),
        };
        assert!(report.verdict().is_ok());

        let text = report.text();
        for part in ["hints: 1 that", "neighbour: redundant synchronisation", "no order tried notices", "sizes"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let json = serde_json::to_value(&report).unwrap();
        let here = &json["redundant"][0]["here"];
        assert_eq!(
            (&json["redundant"].as_array().unwrap().len(), &here["line"]),
            (&1, &redundant_line.into()),
            "{json}"
        );
        let log = super::super::sarif("host check", report.findings());
        let result = &log["runs"][0]["results"][0];
        assert_eq!((&result["level"], &result["ruleId"]), (&"note".into(), &"redundant-synchronisation".into()));
    }

    fn meet() {
        cuda_std::thread::sync_threads();
    }

    /// Each warp comes to the barrier by a call of its own.
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
        let report = Report {
            schedules: Vec::new(),
            strict: true,
            seconds: 0.5,
            kernels: Vec::new(),
            thorough: None,
            redundant: None,
            warnings,
        };
        assert!(report.verdict().is_ok());
        let text = report.text();
        for part in ["warps_apart: warps by two ways", "warning: warps of block", "nothing found"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let log = super::super::sarif("host check", report.findings());
        let result = &log["runs"][0]["results"][0];
        assert_eq!((&result["level"], &result["ruleId"]), (&"warning".into(), &"warps-by-two-ways".into()));
    }
}
