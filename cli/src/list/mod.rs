//! `host list`: shows a table of all rungs, or the kernels of one algorithm, each with a sentence from its
//! documentation.

use std::io::{self, IsTerminal};

use clap::Args;
use launch::KernelInfo;
use serde::Serialize;
use units::alternatives;

use crate::error::UsageError;
use crate::{next, report};
use workbench::catalogue::{self, SUMMARIES};
use workbench::documentation;

mod rungs;

use rungs::RungEntry;

/// The maximum number of columns to which lines are wrapped.
const MAX_COLUMNS: usize = 160;
/// The minimum number of columns to which lines are wrapped.
const MIN_COLUMNS: usize = 60;

/// Show every rung of every algorithm: its idea and its element types; or the kernels of one algorithm
#[derive(Args, Debug)]
pub struct ListOptions {
    /// Show the kernels of this algorithm, with the types and operators that they are built for
    #[arg(value_name = "ALGORITHM")]
    algorithm: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl ListOptions {
    /// Runs the command.
    ///
    /// # Errors
    /// [`UsageError`] if there is no such algorithm; another error if the result cannot be printed.
    pub fn run(self) -> anyhow::Result<()> {
        let mut catalogue = Catalogue::new(catalogue::kernels(), SUMMARIES);
        for algorithm in &mut catalogue.algorithms {
            algorithm.rungs = rungs::of(algorithm.name);
        }
        if let Some(name) = &self.algorithm {
            catalogue.keep(name)?;
        }
        match (self.json, &self.algorithm) {
            (true, _) => report::print_json(&catalogue),
            (false, name) => {
                let text = match name {
                    Some(_) => catalogue.text(columns()),
                    None => rungs::table(&catalogue.algorithms, columns()),
                };
                let next = next::line(&next::after_list(name.as_deref()));
                report::print(&format!("{text}\n{next}\n"))
            }
        }
    }
}

/// Returns the number of columns for the output: the terminal's width within the limits, or the maximum if there is no
/// terminal.
pub(crate) fn columns() -> usize {
    let of_terminal = || crossterm::terminal::size().ok().filter(|_| io::stdout().is_terminal());
    let (columns, _) = of_terminal().unwrap_or((u16::MAX, 0));
    usize::from(columns).clamp(MIN_COLUMNS, MAX_COLUMNS)
}

/// The algorithms, in the order of their kernels.
#[derive(Serialize, Debug)]
struct Catalogue {
    algorithms: Vec<AlgorithmEntry>,
}

#[derive(Serialize, Debug)]
struct AlgorithmEntry {
    name: &'static str,
    summary: String,
    /// The rungs of the algorithm, the plainest first.
    rungs: Vec<RungEntry>,
    kernels: Vec<KernelEntry>,
}

/// A kernel with its instances.
#[derive(Serialize, Debug)]
struct KernelEntry {
    name: &'static str,
    module: &'static str,
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_threads: Option<u32>,
    instances: Vec<Instance>,
}

/// An instance of a kernel: its entry in the PTX, and for a generic kernel the arguments, in the order of its
/// parameters.
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
        let mut algorithms: Vec<AlgorithmEntry> = Vec::new();
        for kernel in kernels {
            let name = algorithm_of(kernel);
            let at = algorithms.iter().position(|algorithm| algorithm.name == name).unwrap_or(algorithms.len());
            if at == algorithms.len() {
                let summary = summaries.iter().find(|(path, _)| path.rsplit("::").next() == Some(name));
                let summary = documentation::plain(summary.map_or("", |(_, summary)| summary));
                algorithms.push(AlgorithmEntry { name, summary, rungs: Vec::new(), kernels: Vec::new() });
            }
            algorithms[at].add(kernel);
        }
        Catalogue { algorithms }
    }

    /// Keeps only the algorithm called `name`.
    fn keep(&mut self, name: &str) -> Result<(), UsageError> {
        match self.algorithms.iter().position(|algorithm| algorithm.name == name) {
            Some(index) => self.algorithms = vec![self.algorithms.swap_remove(index)],
            None => {
                let names: Vec<&str> = self.algorithms.iter().map(|algorithm| algorithm.name).collect();
                let names = alternatives(&names);
                return Err(UsageError(format!("there is no algorithm '{name}': use {names}")));
            }
        }
        Ok(())
    }
}

/// Returns the algorithm of a kernel, which is the second part of its module's path: `reduce` for
/// `gpu::reduce::shuffle`.
fn algorithm_of(kernel: &KernelInfo) -> &'static str {
    kernel.module.split("::").nth(1).unwrap_or(kernel.module)
}

impl AlgorithmEntry {
    fn add(&mut self, kernel: &'static KernelInfo) {
        // A kernel whose only instance has its name is listed without arguments.
        let named = if kernel.name == kernel.family { &[] } else { kernel.arguments };
        let arguments = named.iter().map(|argument| argument.name).collect();
        let instance = Instance { name: kernel.name, arguments };
        match self.kernels.iter_mut().find(|rung| rung.name == kernel.family && rung.module == kernel.module) {
            Some(rung) => rung.instances.push(instance),
            None => self.kernels.push(KernelEntry {
                name: kernel.family,
                module: kernel.module,
                summary: documentation::plain(kernel.summary),
                max_threads: kernel.max_threads,
                instances: vec![instance],
            }),
        }
    }
}

impl KernelEntry {
    /// Returns the number of instances of a generic kernel, and the combinations of arguments that are built: `5: f32
    /// f64 × sum max; affine × compose`.
    fn choices(&self) -> Option<String> {
        self.instances.iter().find(|instance| !instance.arguments.is_empty())?;
        let products = products(&self.instances);
        let choices =
            |product: &Product| product.iter().map(|choices| choices.join(" ")).collect::<Vec<_>>().join(" × ");
        let products: Vec<String> = products.iter().map(choices).collect();
        Some(format!("{}: {}", self.instances.len(), products.join("; ")))
    }
}

/// A list of arguments for each generic parameter. Every combination of these arguments is built.
type Product = Vec<Vec<&'static str>>;

/// Returns `instances` in a shorter form: as products of lists of arguments. Two products that differ in only one
/// parameter are merged, until no two such products are left.
fn products(instances: &[Instance]) -> Vec<Product> {
    let single = |instance: &Instance| instance.arguments.iter().map(|argument| vec![*argument]).collect();
    let mut products: Vec<Product> = instances.iter().map(single).collect();
    while let Some((one, other, place)) = mergeable(&products) {
        let more = products.remove(other).swap_remove(place);
        products[one][place].extend(more);
    }
    products
}

/// Returns the indices of the first two products that differ in only one parameter, and the index of that parameter.
fn mergeable(products: &[Product]) -> Option<(usize, usize, usize)> {
    let pairs = (0..products.len()).flat_map(|one| (one + 1..products.len()).map(move |other| (one, other)));
    pairs.filter(|&(one, other)| products[one].len() == products[other].len()).find_map(|(one, other)| {
        let mut different = (0..products[one].len()).filter(|&place| products[one][place] != products[other][place]);
        let place = different.next()?;
        different.next().is_none().then_some((one, other, place))
    })
}

impl Catalogue {
    /// Returns the algorithms and their kernels as text, in lines of at most `columns` columns.
    fn text(&self, columns: usize) -> String {
        let mut text = String::new();
        let mut add = |line: &str, indent| {
            text += &units::wrapped(line, indent, columns);
            text.push('\n');
        };
        let names =
            self.algorithms.iter().flat_map(|algorithm| &algorithm.kernels).map(|rung| rung.name.chars().count());
        let indent = names.max().unwrap_or(0) + 4;
        for (number, algorithm) in self.algorithms.iter().enumerate() {
            if number > 0 {
                add("", 0);
            }
            add(&format!("{}: {}", algorithm.name, algorithm.summary), 0);
            for rung in &algorithm.kernels {
                let line = format!(
                    "  {:<width$}{}",
                    rung.name,
                    documentation::first_sentence(&rung.summary),
                    width = indent - 2
                );
                add(&line, indent);
                if let Some(choices) = rung.choices() {
                    add(&format!("{:indent$}{choices}", ""), indent);
                }
            }
        }
        text
    }
}

#[cfg(test)]
mod tests;
