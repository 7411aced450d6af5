//! `host list`: every algorithm and every rung in a sentence, from the documentation of the kernels.

use std::collections::BTreeSet;
use std::fmt;

use clap::Args;
use launch::KernelInfo;
use serde::Serialize;

use crate::modules::{self, SUMMARIES};
use crate::report;

mod text;

/// Show every algorithm and its kernels, a line each
#[derive(Args, Debug)]
pub struct ListOptions {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl ListOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// When the result cannot be printed.
    pub fn run(self) -> anyhow::Result<()> {
        let catalogue = Catalogue::new(modules::kernels(), SUMMARIES);
        if self.json { report::print_json(&catalogue) } else { report::print(&catalogue.to_string()) }
    }
}

/// The algorithms, in the order of their kernels.
#[derive(Serialize, Debug)]
struct Catalogue {
    algorithms: Vec<Algorithm>,
}

#[derive(Serialize, Debug)]
struct Algorithm {
    name: &'static str,
    summary: String,
    kernels: Vec<Rung>,
}

/// A kernel with the instances that are built of it.
#[derive(Serialize, Debug)]
struct Rung {
    name: &'static str,
    module: &'static str,
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_threads: Option<u32>,
    instances: Vec<Instance>,
}

/// An entry; the arguments are a generic kernel's, in the order of its parameters.
#[derive(Serialize, Debug)]
struct Instance {
    name: &'static str,
    arguments: Vec<&'static str>,
}

impl Catalogue {
    fn new(
        kernels: impl IntoIterator<Item = &'static KernelInfo>,
        summaries: &[(&'static str, &'static str)],
    ) -> Catalogue {
        let mut algorithms: Vec<Algorithm> = Vec::new();
        for kernel in kernels {
            let name = algorithm_of(kernel);
            let at = algorithms.iter().position(|algorithm| algorithm.name == name).unwrap_or(algorithms.len());
            if at == algorithms.len() {
                let summary = summaries.iter().find(|(path, _)| path.rsplit("::").next() == Some(name));
                let summary = text::plain(summary.map_or("", |(_, summary)| summary));
                algorithms.push(Algorithm { name, summary, kernels: Vec::new() });
            }
            algorithms[at].add(kernel);
        }
        Catalogue { algorithms }
    }
}

/// The second part of the module's path: `reduce` of `gpu::reduce::shuffle`.
fn algorithm_of(kernel: &KernelInfo) -> &'static str {
    kernel.module.split("::").nth(1).unwrap_or(kernel.module)
}

impl Algorithm {
    fn add(&mut self, kernel: &'static KernelInfo) {
        let arguments = kernel.name.strip_prefix(kernel.family).and_then(|rest| rest.strip_prefix('_'));
        let arguments = arguments.map(|rest| rest.split('_').collect()).unwrap_or_default();
        let instance = Instance { name: kernel.name, arguments };
        match self.kernels.iter_mut().find(|rung| rung.name == kernel.family && rung.module == kernel.module) {
            Some(rung) => rung.instances.push(instance),
            None => self.kernels.push(Rung {
                name: kernel.family,
                module: kernel.module,
                summary: text::plain(kernel.summary),
                max_threads: kernel.max_threads,
                instances: vec![instance],
            }),
        }
    }
}

impl Rung {
    /// For a generic kernel how many instances there are and of what, as few products as say it: `5: f32 f64 × sum max;
    /// affine × compose`.
    fn choices(&self) -> Option<String> {
        self.instances.iter().find(|instance| !instance.arguments.is_empty())?;
        let groups: Vec<String> = families(&self.instances).iter().map(|group| product(group)).collect();
        Some(format!("{}: {}", self.instances.len(), groups.join("; ")))
    }
}

/// The instances in groups, of which no two have an argument in common in the same place.
fn families(instances: &[Instance]) -> Vec<Vec<&Instance>> {
    let mut groups: Vec<Vec<&Instance>> = Vec::new();
    for instance in instances {
        let related = |group: &Vec<&Instance>| {
            group.iter().any(|other| other.arguments.iter().zip(&instance.arguments).any(|(one, other)| one == other))
        };
        let (mut joined, apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(related);
        groups = apart;
        joined.push(vec![instance]);
        groups.push(joined.concat());
    }
    groups
}

/// `f32 f64 × sum max` if these are all the combinations, otherwise each of them.
fn product(group: &[&Instance]) -> String {
    let places = group.iter().map(|instance| instance.arguments.len()).max().unwrap_or(0);
    let choices: Vec<Vec<&str>> = (0..places)
        .map(|place| {
            let mut seen = BTreeSet::new();
            let arguments = group.iter().filter_map(|instance| instance.arguments.get(place).copied());
            arguments.filter(|argument| seen.insert(*argument)).collect()
        })
        .collect();
    let combinations: usize = choices.iter().map(Vec::len).product();
    if combinations == group.len() {
        return choices.iter().map(|choices| choices.join(" ")).collect::<Vec<_>>().join(" × ");
    }
    group.iter().map(|instance| instance.arguments.join(" ")).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names =
            self.algorithms.iter().flat_map(|algorithm| &algorithm.kernels).map(|rung| rung.name.chars().count());
        let indent = names.max().unwrap_or(0) + 4;
        for (number, algorithm) in self.algorithms.iter().enumerate() {
            let gap = if number == 0 { "" } else { "\n" };
            writeln!(f, "{gap}{}", text::wrapped(&format!("{}: {}", algorithm.name, algorithm.summary), 0))?;
            for rung in &algorithm.kernels {
                let line =
                    format!("  {:<width$}{}", rung.name, text::first_sentence(&rung.summary), width = indent - 2);
                writeln!(f, "{}", text::wrapped(&line, indent))?;
                if let Some(choices) = rung.choices() {
                    let line = format!("{:indent$}{choices}", "");
                    writeln!(f, "{}", text::wrapped(&line, indent))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
