//! Makes the table of all rungs.

use gridstride::numbers::NumberType;
use launch::{Device, Simulator};
use serde::Serialize;
use workbench::algorithm::{Algorithm, Options, ProblemOption, Purpose};
use workbench::catalogue;
use workbench::subjects::{self, Subject};

use super::AlgorithmEntry;

/// The maximum number of columns of the table.
const TABLE_COLUMNS: usize = 100;

/// The maximum number of columns for the element types.
const TYPES_COLUMNS: usize = 19;

/// A rung of an algorithm, or a kernel of a probe.
#[derive(Serialize, Debug)]
pub(super) struct RungEntry {
    rung: &'static str,
    idea: &'static str,
    types: Vec<&'static str>,
    kernels: &'static [&'static str],
}

/// Returns the ladder of the algorithm called `name`, the plainest rung first, or the kernels of the probes.
pub(super) fn of(name: &str) -> Vec<RungEntry> {
    let device = Device::simulated(Simulator::new());
    let algorithm = catalogue::find(name);
    let entry = |subject: &'static Subject| {
        let types = match algorithm {
            Some(algorithm) => types_of_rung(algorithm, subject.rung, &device),
            None => types_of_kernels(subject.families),
        };
        RungEntry { rung: subject.rung, idea: subject.idea, types, kernels: subject.families }
    };
    subjects::all().filter(|subject| subject.algorithm == name && subject.is_rung).map(entry).collect()
}

/// Returns the element types that a rung is built for.
fn types_of_rung(algorithm: &'static dyn Algorithm, rung: &str, device: &Device) -> Vec<&'static str> {
    let Some(rung) = algorithm.rungs().iter().find(|there| there.name == rung) else { return Vec::new() };
    let shape = algorithm.default_shape(Some(rung), Purpose::Explain);
    let is_built = |number: &NumberType| {
        let mut options = Options::defaults(algorithm.options());
        options.set(ProblemOption::NUMBER.name, number.name());
        algorithm.problem(shape, &options).is_ok_and(|problem| problem.check(device, rung).is_ok())
    };
    algorithm.types().into_iter().filter(is_built).map(|number| number.name()).collect()
}

/// Returns the element types of the kernels `families`: the first arguments of their instances.
fn types_of_kernels(families: &[&str]) -> Vec<&'static str> {
    let mut types = Vec::new();
    for kernel in catalogue::kernels().filter(|kernel| families.contains(&kernel.family)) {
        let arguments = kernel.name.strip_prefix(kernel.family).and_then(|rest| rest.strip_prefix('_'));
        if let Some(first) = arguments.and_then(|rest| rest.split('_').next())
            && !types.contains(&first)
        {
            types.push(first);
        }
    }
    types
}

/// Returns a table with one or more lines for each rung. The table is at most `columns` and at most 100 columns wide.
pub(super) fn table(algorithms: &[AlgorithmEntry], columns: usize) -> String {
    let columns = columns.min(TABLE_COLUMNS);
    let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let algorithm_width = widest(&mut algorithms.iter().map(|algorithm| algorithm.name.len())).max("algorithm".len());
    let rungs = || algorithms.iter().flat_map(|algorithm| &algorithm.rungs);
    let rung_width = widest(&mut rungs().map(|rung| rung.rung.len())).max("rung".len());
    let idea_width = columns.saturating_sub(algorithm_width + rung_width + TYPES_COLUMNS + 6).max(20);
    let mut text = String::new();
    let mut line = |cells: [&str; 4]| {
        let [algorithm, rung, idea, types] = cells;
        let line = format!("{algorithm:algorithm_width$}  {rung:rung_width$}  {idea:idea_width$}  {types}");
        text += line.trim_end();
        text.push('\n');
    };
    line(["algorithm", "rung", "idea", "types"]);
    line([&"─".repeat(algorithm_width), &"─".repeat(rung_width), &"─".repeat(idea_width), &"─".repeat(TYPES_COLUMNS)]);
    for algorithm in algorithms {
        for (number, rung) in algorithm.rungs.iter().enumerate() {
            let name = if number == 0 { algorithm.name } else { "" };
            let ideas = units::wrapped(rung.idea, 0, idea_width);
            let types = if rung.types.is_empty() { "–".to_owned() } else { rung.types.join(" ") };
            let types = units::wrapped(&types, 0, TYPES_COLUMNS);
            let (mut ideas, mut types) = (ideas.lines(), types.lines());
            line([name, rung.rung, ideas.next().unwrap_or_default(), types.next().unwrap_or_default()]);
            loop {
                let next = (ideas.next(), types.next());
                if next == (None, None) {
                    break;
                }
                line(["", "", next.0.unwrap_or_default(), next.1.unwrap_or_default()]);
            }
        }
    }
    text + "\nhost list ALGORITHM shows the kernels of an algorithm, and what they are built for.\n"
}
