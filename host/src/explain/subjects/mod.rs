//! What can be explained: the rungs of every algorithm, and how each is run.

use std::fmt;
use std::sync::LazyLock;

use cuda_std::Rung;
use gridstride::Size;
use gridstride::error::AlgorithmError;
use gridstride::numbers::OperatorName;
use launch::Device;
use serde::Serialize;
use units::alternatives;
use workbench::WorkbenchError;
use workbench::algorithm::{Algorithm, Fact, Options, Other, ProblemOption, Purpose, Shape};
use workbench::catalogue::ALGORITHMS;

use crate::error::UsageError;

mod probe;

/// Elements of a vector whose length is not given: so many that a last block with less work hardly shows in the figures, and so
/// few that it takes a second or two.
const LENGTH: usize = 1 << 18;

/// A rung of an algorithm, or another of its kernels.
pub struct Subject {
    /// The algorithm's name.
    pub algorithm: &'static str,
    /// The rung's name.
    pub rung: &'static str,
    /// What it does differently from the one before, in a line.
    pub idea: &'static str,
    /// Its kernels, by the names of their functions: what else is launched serves them, and is not shown.
    pub families: &'static [&'static str],
    /// Whether it is shown with its algorithm; otherwise only when it is asked for itself.
    pub is_rung: bool,
    /// Runs it as the algorithm's command does.
    pub run: Box<Run>,
}

/// Runs a subject on a device, and says what was computed.
type Run = dyn Fn(&Device, &Wanted) -> anyhow::Result<Problem> + Send + Sync;

impl Subject {
    /// A rung of an algorithm's ladder.
    fn rung(algorithm: &'static dyn Algorithm, rung: &'static Rung) -> Self {
        Self {
            algorithm: algorithm.name(),
            rung: rung.name,
            idea: rung.idea,
            families: rung.families,
            is_rung: true,
            run: Box::new(move |device, wanted| {
                let shape = wanted.shape(algorithm, algorithm.default_shape(Some(rung), Purpose::Explain))?;
                let problem = algorithm.problem(shape, &wanted.options(algorithm)?).map_err(usage)?;
                problem.check(device, rung)?;
                problem.inputs(device)?.prepare(rung)?.run(device.queue())?;
                Ok(Problem::of(&*problem))
            }),
        }
    }

    /// Another kernel of an algorithm.
    fn other(algorithm: &'static dyn Algorithm, other: &'static Other) -> Self {
        Self {
            algorithm: algorithm.name(),
            rung: other.name,
            idea: other.idea,
            families: other.families,
            is_rung: false,
            run: Box::new(move |device, wanted| {
                let shape = wanted.shape(algorithm, other.shape)?;
                let options = wanted.options(algorithm)?;
                let problem = algorithm.problem(shape, &options).map_err(usage)?;
                (other.run)(device, shape, &options)?;
                Ok(Problem::of(&*problem))
            }),
        }
    }

    /// Whether it follows from the one before it: the probes are no ladder.
    pub fn is_step(&self) -> bool {
        self.algorithm != probe::ALGORITHM
    }

    /// `transpose/padded`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.algorithm, self.rung)
    }
}

/// Everything that can be explained, algorithm by algorithm, the plainest rung first.
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

/// What was asked for beside the kernel.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The length of a vector.
    pub n: Option<usize>,
    /// The size of a matrix or board.
    pub size: Option<Size>,
    /// The element type.
    pub element: Option<String>,
    /// The operator.
    pub operator: Option<OperatorName>,
    /// The element of their buffers with which vectors begin.
    pub from: Option<usize>,
}

/// What was computed.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Problem {
    /// The length of a vector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
    /// The width of a matrix or board.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<usize>,
    /// Its height.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<usize>,
    /// The element type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// The operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<&'static str>,
    /// Whatever else is worth knowing, such as a stride.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What figures are given for each of.
    pub elements: u64,
}

impl Problem {
    /// What an algorithm computes.
    fn of(problem: &dyn workbench::algorithm::Problem) -> Self {
        let mut of = Self { elements: problem.elements(), detail: problem.detail(), ..Self::default() };
        for (name, fact) in problem.facts() {
            match (name, fact) {
                ("n", Fact::Count(n)) => of.n = Some(n as usize),
                ("width", Fact::Count(width)) => of.width = Some(width as usize),
                ("height", Fact::Count(height)) => of.height = Some(height as usize),
                ("type", Fact::Name(name)) => of.element = Some(name.to_owned()),
                ("operator", Fact::Name(name)) => of.operator = Some(name),
                _ => {}
            }
        }
        of
    }

    /// `n` elements of a type.
    fn vector(n: usize, element: impl fmt::Display) -> Self {
        Self { n: Some(n), element: Some(element.to_string()), elements: n as u64, ..Self::default() }
    }

    fn with_detail(self, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.operator.map(|operator| operator.to_string()));
        parts.extend(self.n.map(|n| format!("n = {n}")));
        parts.extend(self.width.zip(self.height).map(|(width, height)| format!("{width}x{height}")));
        parts.extend(self.element.clone());
        parts.extend(self.detail.clone());
        f.write_str(&parts.join(", "))
    }
}

impl Wanted {
    /// The length, where that is what the algorithm takes.
    fn length(&self, algorithm: &str, default: usize) -> Result<usize, UsageError> {
        match self.size {
            None => Ok(self.n.unwrap_or(default)),
            Some(_) => Err(UsageError(format!("{algorithm} takes a vector: give its length with --n, not --size"))),
        }
    }

    /// The size of an algorithm's problem.
    fn shape(&self, algorithm: &dyn Algorithm, default: Shape) -> Result<Shape, UsageError> {
        match default {
            Shape::Vector(default) => self.length(algorithm.name(), default).map(Shape::Vector),
            Shape::Plane(default) if self.n.is_none() => Ok(Shape::Plane(self.size.unwrap_or(default))),
            Shape::Plane(_) => {
                let name = algorithm.name();
                Err(UsageError(format!("{name} takes a width and a height: give its --size, such as 512x512, not --n")))
            }
        }
    }

    /// What is asked of an algorithm beside.
    fn options(&self, algorithm: &dyn Algorithm) -> Result<Options, UsageError> {
        let takes = |option: ProblemOption| algorithm.options().iter().any(|taken| taken.name == option.name);
        let mut options = Options::defaults(algorithm.options());
        if let Some(element) = &self.element {
            if !takes(ProblemOption::NUMBER) {
                let text = format!("{} has no choice of element types: leave --type out", algorithm.name());
                return Err(UsageError(text));
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
                return Err(UsageError(format!(
                    "{} has no choice of where it begins: leave --from out",
                    algorithm.name()
                )));
            }
            options.set(ProblemOption::FROM.name, from.to_string());
        }
        Ok(options)
    }

    /// What belongs to the element type, one of `types`; the first where none is asked for.
    fn element<T: Copy>(&self, algorithm: &str, types: &[(&str, T)]) -> Result<T, UsageError> {
        let asked = self.element.as_deref();
        let found = types.iter().find(|(name, _)| asked.is_none_or(|asked| asked == *name));
        found.map(|(_, value)| *value).ok_or_else(|| {
            let names: Vec<&str> = types.iter().map(|(name, _)| *name).collect();
            let no_such = format!("{algorithm} has no element type '{}'", asked.unwrap_or_default());
            UsageError(match names[..] {
                [only] => format!("{no_such}: its is {only}"),
                _ => format!("{no_such}: use {}", alternatives(&names)),
            })
        })
    }

    /// Refuses an operator where there is no choice of them.
    fn no_operator(&self, algorithm: &str) -> Result<(), UsageError> {
        match self.operator {
            None => Ok(()),
            Some(_) => Err(UsageError(format!("{algorithm} has no choice of operators: leave --op out"))),
        }
    }
}

/// What to do about a lack of memory.
const SMALLER: &str = "ask for less with --n or --size";

/// What was asked cannot be: else what the algorithm could not do.
fn usage(error: WorkbenchError) -> anyhow::Error {
    match error {
        WorkbenchError::Options(text) => UsageError(text).into(),
        error => error.into(),
    }
}

/// What was asked for: rungs, and the one kernel of them to show if it was a kernel's name.
pub struct Chosen {
    /// What was asked for, by its full name.
    pub title: String,
    /// The rungs to run.
    pub subjects: Vec<&'static Subject>,
    /// The kernel to show, by its function's name; all of a rung's if `None`.
    pub family: Option<&'static str>,
}

/// What `name` means: an algorithm, a rung (`padded` or `transpose/padded`), or a kernel's function.
///
/// # Errors
/// What there is, or which of several rungs of that name there are.
pub fn find(name: &str) -> Result<Chosen, UsageError> {
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
            return Err(UsageError(format!("several algorithms have a rung '{name}': use {}", alternatives(&names))));
        }
        [] => {}
    }
    // Those that are about it, rather than others that may launch it too.
    let mut of_family: Vec<_> = all().filter(|subject| subject.families.first() == Some(&name)).collect();
    if of_family.is_empty() {
        of_family = all().filter(|subject| subject.families.contains(&name)).collect();
    }
    let family = of_family.first().and_then(|subject| subject.families.iter().copied().find(|family| *family == name));
    if family.is_some() {
        return chosen(name, of_family, family);
    }
    Err(UsageError(unknown(name)))
}

/// That there is nothing of that name, and what there is.
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
        "there is no algorithm, rung or kernel '{name}': use {}, or a kernel's name as `host list` shows it",
        list.join("; ")
    )
}

/// Whether `error` says that a rung is not built for what was asked.
pub fn is_not_offered(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(WorkbenchError::Algorithm(AlgorithmError::NotBuilt { .. })))
}

#[cfg(test)]
mod tests;
