//! The subjects of `host explain`: the rungs and other kernels of every algorithm, and the probes.

use std::sync::LazyLock;

use cuda_std::Rung;
use explain::{Explainer, Explanation, Gpu, KernelFigures, Problem, RungFigures, RungNames};
use gridstride::Size;
use gridstride::error::AlgorithmError;
use gridstride::numbers::OperatorName;
use launch::Device;
use thiserror::Error;
use units::alternatives;

use crate::algorithm::{Algorithm, Fact, Options, Other, ProblemOption, Purpose, Shape};
use crate::catalogue::ALGORITHMS;
use crate::error::{WorkbenchError, invalid};

mod probe;
pub mod resources;
mod sources;

pub use sources::sources;

/// The default length of a vector. This length is large enough that a last block with less work hardly changes the
/// figures, and small enough that a run takes a second or two.
const LENGTH: usize = 1 << 18;

/// A subject of `host explain`: a rung or another kernel of an algorithm, or a probe.
pub struct Subject {
    /// The name of the algorithm, or `probe`.
    pub algorithm: &'static str,
    /// The name of the rung or kernel.
    pub rung: &'static str,
    /// The idea of the rung in a line: its difference from the previous rung.
    pub idea: &'static str,
    /// The names of the kernel functions that are shown. The subject may also launch other kernels.
    pub families: &'static [&'static str],
    /// True if the algorithm's name also selects the subject, false if only the subject's own name selects it.
    pub is_rung: bool,
    /// Runs the subject in the same way as the algorithm's command.
    pub run: Box<RunOnDevice>,
}

/// A function that runs a subject on a device and returns the problem that the subject computed.
type RunOnDevice = dyn Fn(&Device, &Wanted) -> Result<Problem, WorkbenchError> + Send + Sync;

impl Subject {
    /// Returns the subject for a rung of `algorithm`.
    fn rung(algorithm: &'static dyn Algorithm, rung: &'static Rung) -> Self {
        Self {
            algorithm: algorithm.name(),
            rung: rung.name,
            idea: rung.idea,
            families: rung.families,
            is_rung: true,
            run: Box::new(move |device, wanted| {
                let shape = wanted.shape(algorithm, algorithm.default_shape(Some(rung), Purpose::Explain))?;
                let problem = algorithm.problem(shape, &wanted.options(algorithm, Some(rung))?)?;
                problem.check(device, rung)?;
                problem.inputs(device)?.prepare(rung)?.run(device.queue())?;
                Ok(named(&*problem))
            }),
        }
    }

    /// Returns the subject for a kernel of `algorithm` that is not a rung.
    fn other(algorithm: &'static dyn Algorithm, other: &'static Other) -> Self {
        Self {
            algorithm: algorithm.name(),
            rung: other.name,
            idea: other.idea,
            families: other.families,
            is_rung: false,
            run: Box::new(move |device, wanted| {
                let shape = wanted.shape(algorithm, other.shape)?;
                let mut options = wanted.options(algorithm, None)?;
                other.options.iter().for_each(|&(name, value)| options.set(name, value));
                let problem = algorithm.problem(shape, &options)?;
                (other.run)(device, shape, &options)?;
                Ok(named(&*problem))
            }),
        }
    }

    /// Returns true if the subject belongs to a ladder, and false if it is a probe.
    pub fn is_step(&self) -> bool {
        self.algorithm != probe::ALGORITHM
    }

    /// Returns the full name of the subject, such as `transpose/padded`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.algorithm, self.rung)
    }
}

/// Returns all subjects, grouped by algorithm, with the simplest rung of each first.
pub fn all() -> impl Iterator<Item = &'static Subject> {
    static ALL: LazyLock<Vec<Subject>> = LazyLock::new(|| {
        let of_algorithm = |&algorithm: &&'static dyn Algorithm| {
            let rungs = algorithm.rungs().iter().map(move |rung| Subject::rung(algorithm, rung));
            rungs.chain(algorithm.others().iter().map(move |other| Subject::other(algorithm, other)))
        };
        ALGORITHMS.iter().flat_map(of_algorithm).chain(probe::subjects()).collect()
    });
    ALL.iter()
}

/// The options with which subjects are run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Wanted {
    /// The length of the vectors, if it is set.
    pub n: Option<usize>,
    /// The size of the matrix or board, if it is set.
    pub size: Option<Size>,
    /// The name of the element type, if it is set.
    pub element: Option<String>,
    /// The operator, if it is set.
    pub operator: Option<OperatorName>,
    /// The index in each buffer at which the vector begins, if it is set.
    pub from: Option<usize>,
}

/// Converts a problem to the description that the explanation shows beside the figures.
fn named(problem: &dyn crate::algorithm::Problem) -> Problem {
    let mut named = Problem { elements: problem.elements(), detail: problem.detail(), ..Problem::default() };
    for (name, fact) in problem.facts() {
        match (name, fact) {
            ("n", Fact::Count(n)) => named.n = Some(n as usize),
            ("width", Fact::Count(width)) => named.width = Some(width as usize),
            ("height", Fact::Count(height)) => named.height = Some(height as usize),
            ("type", Fact::Name(name)) => named.element = Some(name.to_owned()),
            ("operator", Fact::Name(name)) => named.operator = Some(name.into()),
            _ => {}
        }
    }
    named
}

impl Wanted {
    /// Returns true if no option is set.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the selected length of a vector, or `default`.
    fn length(&self, algorithm: &str, default: usize) -> Result<usize, WorkbenchError> {
        match self.size {
            None => Ok(self.n.unwrap_or(default)),
            Some(_) => {
                invalid!("{algorithm} takes a vector: set its length with --n, not --size")
            }
        }
    }

    /// Returns the selected shape of an algorithm's problem, or `default`.
    fn shape(&self, algorithm: &dyn Algorithm, default: Shape) -> Result<Shape, WorkbenchError> {
        match default {
            Shape::Vector(default) => self.length(algorithm.name(), default).map(Shape::Vector),
            Shape::Plane(default) if self.n.is_none() => Ok(Shape::Plane(self.size.unwrap_or(default))),
            Shape::Plane(_) => {
                let name = algorithm.name();
                invalid!("{name} takes a width and a height: set --size, such as 512x512, not --n")
            }
        }
    }

    /// Returns the algorithm's options for `rung`, with the selected values of `--type`, `--op` and `--from`.
    fn options(&self, algorithm: &dyn Algorithm, rung: Option<&Rung>) -> Result<Options, WorkbenchError> {
        let takes = |option: ProblemOption| algorithm.options().iter().any(|taken| taken.name == option.name);
        let mut options = algorithm.default_options(rung);
        if let Some(element) = &self.element {
            if !takes(ProblemOption::NUMBER) {
                return invalid!("{} has no element types to choose from: leave out --type", algorithm.name());
            }
            options.set(ProblemOption::NUMBER.name, element);
        }
        match self.operator {
            Some(operator) if takes(ProblemOption::OPERATOR) => {
                options.set(ProblemOption::OPERATOR.name, operator.name());
            }
            _ => self.no_operator(algorithm.name())?,
        }
        if let Some(from) = self.from {
            if !takes(ProblemOption::FROM) {
                return invalid!("{} cannot begin at another element: leave out --from", algorithm.name());
            }
            options.set(ProblemOption::FROM.name, from.to_string());
        }
        Ok(options)
    }

    /// Returns the value that `types` has for the selected element type, or the first value if no type is selected.
    fn element<T: Copy>(&self, algorithm: &str, types: &[(&str, T)]) -> Result<T, WorkbenchError> {
        let wanted = self.element.as_deref();
        let found = types.iter().find(|(name, _)| wanted.is_none_or(|wanted| wanted == *name));
        found.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = types.iter().map(|(name, _)| *name).collect();
            let no_such = format!("{algorithm} has no element type '{}'", wanted.unwrap_or_default());
            WorkbenchError::Options(match names[..] {
                [only] => format!("{no_such}: use {only}"),
                _ => format!("{no_such}: use {}", alternatives(&names)),
            })
        })
    }

    /// Checks that no operator is selected.
    fn no_operator(&self, algorithm: &str) -> Result<(), WorkbenchError> {
        match self.operator {
            None => Ok(()),
            Some(_) => {
                invalid!("{algorithm} has no operators to choose from: leave out --op")
            }
        }
    }
}

/// The advice in messages about too little memory.
const SMALLER: &str = "choose a smaller --n or --size";

/// The subjects that a name selects, and the kernel to show if a kernel has that name.
pub struct Chosen {
    /// The full name of the selection.
    pub title: String,
    /// The subjects that the name selects.
    pub subjects: Vec<&'static Subject>,
    /// The function name of the only kernel to show; `None` to show all kernels of a subject.
    pub family: Option<&'static str>,
}

/// Finds the subjects that `name` selects: an algorithm, a rung (`copy_tile` or
/// `transpose/copy_tile`), or a kernel function.
///
/// # Errors
/// [`ExplainError::Usage`] if nothing has that name, or if several algorithms have a rung of that name.
pub fn find(name: &str) -> Result<Chosen, ExplainError> {
    let chosen = |title: &str, subjects, family| Ok(Chosen { title: title.to_owned(), subjects, family });
    let of_algorithm: Vec<_> = all().filter(|subject| subject.algorithm == name && subject.is_rung).collect();
    if !of_algorithm.is_empty() {
        return chosen(name, of_algorithm, None);
    }
    if let Some(subject) = all().find(|subject| subject.name() == name) {
        return chosen(name, vec![subject], None);
    }
    let of_rung: Vec<_> = all().filter(|subject| subject.rung == name).collect();
    match of_rung[..] {
        [subject] => return chosen(&subject.name(), vec![subject], None),
        [_, _, ..] => {
            let names: Vec<String> = of_rung.iter().map(|subject| subject.name()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            return Err(ExplainError::Usage(format!(
                "several algorithms have a rung '{name}': use {}",
                alternatives(&names)
            )));
        }
        [] => {}
    }
    // Subjects whose first kernel has this name are preferred to others that may also launch it.
    let mut of_family: Vec<_> = all().filter(|subject| subject.families.first() == Some(&name)).collect();
    if of_family.is_empty() {
        of_family = all().filter(|subject| subject.families.contains(&name)).collect();
    }
    let family = of_family.first().and_then(|subject| subject.families.iter().copied().find(|family| *family == name));
    if family.is_some() {
        return chosen(name, of_family, family);
    }
    Err(ExplainError::Usage(unknown(name)))
}

/// Returns the message for the unknown name `name`, which lists all valid names.
fn unknown(name: &str) -> String {
    let mut algorithms: Vec<(&str, Vec<&str>)> = Vec::new();
    for subject in all().filter(|subject| subject.is_rung) {
        match algorithms.iter_mut().find(|(algorithm, _)| *algorithm == subject.algorithm) {
            Some((_, rungs)) => rungs.push(subject.rung),
            None => algorithms.push((subject.algorithm, vec![subject.rung])),
        }
    }
    let list: Vec<String> =
        algorithms.iter().map(|(algorithm, rungs)| format!("{algorithm} ({})", rungs.join(", "))).collect();
    format!(
        "there is no algorithm, rung or kernel '{name}': use {}, or a kernel's name as `{} list` shows it",
        list.join("; "),
        units::program()
    )
}

/// The error of an explanation that could not be made.
#[derive(Debug, Error)]
pub enum ExplainError {
    /// The options or the name are invalid. The text says which are valid.
    #[error("{0}")]
    Usage(String),
    /// A rung or another subject failed while it ran.
    #[error("{rung} failed")]
    Failed {
        /// The full name of the rung.
        rung: String,
        /// The error of the rung.
        source: Box<WorkbenchError>,
    },
}

/// Runs the chosen subjects and explains them for `gpu`. Calls `before` with each subject before running it.
///
/// # Errors
/// An error if no chosen subject supports the options, or if a kernel fails.
pub fn explain(
    chosen: &Chosen,
    wanted: &Wanted,
    gpu: &'static Gpu,
    mut before: impl FnMut(&'static Subject),
) -> Result<Explanation, ExplainError> {
    let explainer = Explainer::new(gpu).with_sources(sources()).with_resources(resources::of);
    let mut explanation = Explanation::new(chosen.title.clone(), gpu);
    for &subject in &chosen.subjects {
        before(subject);
        let (problem, mut kernels) = match explainer.profile(|device| (subject.run)(device, wanted)) {
            Ok(profiled) => profiled,
            Err(error) if is_not_built(&error) => {
                explanation.left_out.push(error.to_string());
                continue;
            }
            Err(WorkbenchError::Options(text)) => return Err(ExplainError::Usage(text)),
            Err(error) => return Err(ExplainError::Failed { rung: subject.name(), source: Box::new(error) }),
        };
        kernels.retain(|kernel: &KernelFigures| match chosen.family {
            Some(family) => kernel.family == family,
            None => subject.families.contains(&kernel.family),
        });
        let names = RungNames::new(subject.algorithm, subject.rung, subject.idea);
        explanation.push(RungFigures::new(names, problem, kernels, gpu), subject.is_step());
    }
    if explanation.rungs.is_empty() {
        return Err(ExplainError::Usage(explanation.left_out.join("; ")));
    }
    Ok(explanation)
}

/// Returns true if `error` says that a rung is not built for the options.
fn is_not_built(error: &WorkbenchError) -> bool {
    matches!(error, WorkbenchError::Algorithm(AlgorithmError::NotBuilt { .. }))
}

#[cfg(test)]
mod tests;
