//! What can be explained: the rungs of every algorithm, and how each is run.

use std::fmt;
use std::sync::LazyLock;

use launch::Device;
use serde::Serialize;

use crate::error::UsageError;
use crate::inputs::{self, Inputs};
use crate::numbers::{Number, NumberType, OperatorName};
use crate::options::Size;
use crate::rungs::{AlgorithmError, Rung, alternatives};

mod life;
mod probe;
mod reduce;
mod saxpy;
mod scale;
mod scan;
mod transpose;

/// Elements of a vector whose length is not given: enough that what happens at its end is lost in the figures, few enough
/// for a second or two.
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
    /// A rung of a ladder.
    fn rung<R: Rung>(
        rung: R,
        families: &'static [&'static str],
        run: impl Fn(R, &Device, &Wanted) -> anyhow::Result<Problem> + Send + Sync + 'static,
    ) -> Self {
        Self {
            algorithm: R::ALGORITHM,
            rung: rung.name(),
            idea: rung.idea(),
            families,
            is_rung: true,
            run: Box::new(move |device, wanted| run(rung, device, wanted)),
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
        let algorithms = [
            life::subjects(),
            saxpy::subjects(),
            scale::subjects(),
            reduce::subjects(),
            scan::subjects(),
            transpose::subjects(),
            probe::subjects(),
        ];
        algorithms.into_iter().flatten().collect()
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
    pub operator: Option<OperatorName>,
    /// Whatever else is worth knowing, such as a stride.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What figures are given for each of.
    pub elements: u64,
}

impl Problem {
    /// `n` elements of a type.
    fn vector(n: usize, element: impl fmt::Display) -> Self {
        Self { n: Some(n), element: Some(element.to_string()), elements: n as u64, ..Self::default() }
    }

    /// A matrix of a type.
    fn matrix(size: Size, element: impl fmt::Display) -> Self {
        let Size { width, height } = size;
        let (width, height) = (Some(width), Some(height));
        let elements = (size.width as u64).saturating_mul(size.height as u64);
        Self { width, height, element: Some(element.to_string()), elements, ..Self::default() }
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

    /// The size, where that is what the algorithm takes.
    fn size(&self, algorithm: &str, what: &str, default: Size) -> Result<Size, UsageError> {
        match self.n {
            None => Ok(self.size.unwrap_or(default)),
            Some(_) => {
                Err(UsageError(format!("{algorithm} takes a {what}: give its --size, such as 512x512, not --n")))
            }
        }
    }

    /// The element type, one of `types`; the first if none was asked for.
    fn element(&self, algorithm: &str, types: &[&'static str]) -> Result<&'static str, UsageError> {
        let Some(element) = &self.element else { return Ok(types.first().copied().unwrap_or_default()) };
        types.iter().copied().find(|name| name == element).ok_or_else(|| match types {
            [only] => UsageError(format!("{algorithm} has no element type '{element}': its is {only}")),
            _ => UsageError(format!("{algorithm} has no element type '{element}': use {}", alternatives(types))),
        })
    }

    /// The element type, where it is any number.
    fn number(&self) -> Result<NumberType, UsageError> {
        self.element.as_deref().map_or(Ok(NumberType::F32), |element| element.parse().map_err(UsageError))
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

/// Random vectors of `n` elements.
fn vectors<T: Number, const COUNT: usize>(n: usize) -> anyhow::Result<[Vec<T>; COUNT]> {
    let mut vectors = [const { Vec::new() }; COUNT];
    for (number, vector) in vectors.iter_mut().enumerate() {
        *vector = inputs::host_memory(n, SMALLER)?;
        Inputs::<T>::new(0, number as u64).fill(vector);
    }
    Ok(vectors)
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
            return Err(UsageError(format!("several algorithms have a kernel '{name}': use {}", alternatives(&names))));
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
        "there is no kernel or algorithm '{name}': use {}, or a kernel's name as `host list` shows it",
        list.join("; ")
    )
}

/// Whether `error` says that a kernel is not built for what was asked.
pub fn is_not_offered(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(AlgorithmError::NotOffered { .. }))
}

#[cfg(test)]
mod tests;
