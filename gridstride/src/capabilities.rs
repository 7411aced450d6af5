//! What a rung is built for: the types, operators and lengths that it offers, and how a user is told.

use std::any::type_name;

use cuda_std::{Ladder, Rung};

use crate::error::AlgorithmError;
use crate::numbers::{NumberType, OperatorName};
use units::{alternatives, conjunction};

/// The last part of a type's name, by which the entries of a kernel are told apart.
pub fn short_name<T>() -> &'static str {
    type_name::<T>().rsplit("::").next().unwrap_or_default()
}

/// Fails unless the rung of the ladder is built for generic arguments that begin with `arguments` (the type, or the type and the operator)
/// and takes so many elements.
///
/// # Errors
/// [`AlgorithmError::NotBuilt`].
pub fn check<L: Ladder>(rung: L, arguments: &[&str], elements: usize) -> Result<(), AlgorithmError> {
    let (rung, ladder) = (rung.rung(), L::RUNGS);
    if rung.entry(arguments).is_none() {
        return Err(not_built(rung, arguments));
    }
    match rung.max_elements() {
        Some(most) if elements > most => {
            let offered = format!("at most {most}, of {}", offered_types(rung));
            let others = ladder.iter().filter(|other| other.entry(arguments).is_some());
            let others: Vec<&str> =
                others.filter(|other| other.max_elements().is_none()).map(|other| other.name).collect();
            let offered = match others[..] {
                [] => offered,
                _ => format!("{offered}; rung {} takes any number", alternatives(&others)),
            };
            Err(refused(rung, format!("{elements} elements"), offered))
        }
        _ => Ok(()),
    }
}

/// That the rung is not built for these generic arguments: the type, or the type and the operator.
pub fn not_built(rung: &Rung, arguments: &[&str]) -> AlgorithmError {
    let asked = match arguments {
        [number, operator, ..] => format!("{operator} of {number}"),
        arguments => arguments.concat(),
    };
    refused(rung, asked.to_lowercase(), offered(rung))
}

/// That the rung does not offer what was asked.
pub fn refused(rung: &Rung, asked: String, offered: String) -> AlgorithmError {
    AlgorithmError::NotBuilt { algorithm: rung.algorithm, kernel: rung.name, asked, offered }
}

/// What a rung offers: "sum of f32 and i32", "f32 and f64, of up to 1024 elements".
pub fn offered(rung: &Rung) -> String {
    let types = offered_types(rung);
    rung.max_elements().map_or(types.clone(), |most| format!("{types}, of up to {most} elements"))
}

fn offered_types(rung: &Rung) -> String {
    // Operators that are offered on the same types are named together.
    let mut groups: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for operator in operators(rung) {
        let mut types: Vec<&str> = rung
            .offered()
            .filter(|arguments| {
                arguments.get(1).copied().filter(|&name| is_operator(name)).unwrap_or_default() == operator
            })
            .map(|arguments| arguments.first().copied().unwrap_or_default())
            .collect();
        types.sort_by_key(|name| order_of(NumberType::ALL.iter().map(|number| number.name()), name));
        types.dedup();
        match groups.last_mut() {
            Some((operators, others)) if *others == types => operators.push(operator),
            _ => groups.push((vec![operator], types)),
        }
    }
    let text = |(operators, types): &(Vec<&str>, Vec<&str>)| match operators[..] {
        [""] => conjunction(types),
        _ => format!("{} of {}", conjunction(operators), conjunction(types)),
    };
    groups.iter().map(text).collect::<Vec<_>>().join("; ")
}

/// The operators of a rung's entries, each once; of kernels without one, the empty name.
fn operators(rung: &Rung) -> Vec<&'static str> {
    let second =
        |arguments: &[&'static str]| arguments.get(1).copied().filter(|&name| is_operator(name)).unwrap_or_default();
    let mut operators: Vec<&str> = rung.offered().filter(|arguments| is_of_number(arguments)).map(second).collect();
    operators.sort_by_key(|name| order_of(OperatorName::ALL.iter().map(|operator| operator.name()), name));
    operators.dedup();
    operators
}

/// Whether the first generic argument is a number's type: others have no name that people could type.
fn is_of_number(arguments: &[&str]) -> bool {
    arguments.first().is_some_and(|name| name.parse::<NumberType>().is_ok())
}

/// Whether a generic argument is the name of a type, and not a number.
fn is_operator(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
}

/// The place of `name` among the names known; after them all, if it is none.
fn order_of<'a>(known: impl Iterator<Item = &'a str>, name: &str) -> usize {
    let mut count = 0;
    for known in known {
        if known == name {
            return count;
        }
        count += 1;
    }
    count
}

/// The element types that some rung is built for.
pub fn types(rungs: &[Rung]) -> Vec<NumberType> {
    let is_built = |number: &&NumberType| rungs.iter().any(|rung| rung.entry(&[number.name()]).is_some());
    NumberType::ALL.iter().filter(is_built).copied().collect()
}
