//! The types, operators and lengths for which a rung (one kernel of an algorithm) is built, and the error messages that
//! list these types, operators and lengths.
//!
//! The code identifies a type or operator by its [`ArgumentId`]. Only messages contain names.

use std::any::type_name;

use cuda_std::{ArgumentId, KernelInfo, Ladder, Rung};

use crate::error::AlgorithmError;
use crate::numbers::{NumberType, OperatorName};
use units::{alternatives, conjunction};

/// Returns the generic arguments of a kernel instance for the element type `T`.
pub const fn of_type<T: 'static>() -> [ArgumentId; 1] {
    [ArgumentId::of::<T>()]
}

/// Returns the generic arguments of a kernel instance for the element type `T` and the operator `O`.
pub const fn of_operator<T: 'static, O: 'static>() -> [ArgumentId; 2] {
    [ArgumentId::of::<T>(), ArgumentId::of::<O>()]
}

/// Checks that the rung has a kernel instance for `arguments` and accepts `elements` elements. `arguments` is the
/// element type, or the element type and the operator.
///
/// # Errors
/// Returns [`AlgorithmError::NotBuilt`] if the rung has no such instance or does not accept that many elements.
pub fn check<L: Ladder>(rung: L, arguments: &[ArgumentId], elements: usize) -> Result<(), AlgorithmError> {
    check_rung(rung.rung(), L::RUNGS, arguments, elements)
}

/// Does the same as [`check`] for a rung in the slice `ladder`.
///
/// # Errors
/// Returns [`AlgorithmError::NotBuilt`] if the rung has no such instance or does not accept that many elements.
pub fn check_rung(
    rung: &Rung,
    ladder: &[Rung],
    arguments: &[ArgumentId],
    elements: usize,
) -> Result<(), AlgorithmError> {
    if rung.entry(arguments).is_none() {
        return Err(not_built_in(rung, ladder, arguments));
    }
    match rung.max_elements() {
        Some(max) if elements > max => {
            let offered = format!("at most {max}, of {}", offered_types(rung));
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

/// Returns the error for a rung without an instance for `arguments`. `arguments` is the element type, or the element
/// type and the operator.
pub fn not_built<L: Ladder>(rung: L, arguments: &[ArgumentId]) -> AlgorithmError {
    not_built_in(rung.rung(), L::RUNGS, arguments)
}

fn not_built_in(rung: &Rung, ladder: &[Rung], arguments: &[ArgumentId]) -> AlgorithmError {
    let names: Vec<&str> = arguments.iter().map(|&id| name_in(ladder, id)).collect();
    let requested = match names[..] {
        [number, operator, ..] => format!("{operator} of {number}"),
        _ => names.concat(),
    };
    refused(rung, requested, offered(rung))
}

/// Returns the error for a rung without an instance for the element type `T` and the operator `O` of another crate,
/// which are built for the rungs `built`. The operator of a histogram is `()`.
pub(crate) fn not_built_of_own<T, O, L: Ladder>(rung: L, built: &[L]) -> AlgorithmError {
    let [element, operator] = [type_name::<T>(), type_name::<O>()].map(|name| name.rsplit("::").next().unwrap_or(name));
    let requested = if operator == "()" { element.to_owned() } else { format!("{operator} of {element}") };
    let built: Vec<&str> = built.iter().map(|rung| rung.name()).collect();
    let offered = format!("{}; use the rung {} for your own", offered(rung.rung()), alternatives(&built));
    refused(rung.rung(), requested, offered)
}

/// Returns the name under which a kernel of the ladder declares the generic argument `id`.
fn name_in(ladder: &[Rung], id: ArgumentId) -> &'static str {
    let declared = ladder.iter().flat_map(Rung::entries).flat_map(|entry| entry.arguments);
    declared.into_iter().find(|argument| argument.id == id).map_or("another type", |argument| argument.name)
}

/// Returns the error [`AlgorithmError::NotBuilt`], which says that `rung` is built for `offered` and not for
/// `requested`.
pub fn refused(rung: &Rung, requested: String, offered: String) -> AlgorithmError {
    AlgorithmError::NotBuilt { algorithm: rung.algorithm, rung: rung.name, requested, offered }
}

/// Returns the types, operators and lengths of a rung as text, such as "f32 and f64, of up to 1024 elements".
pub fn offered(rung: &Rung) -> String {
    let types = offered_types(rung);
    rung.max_elements().map_or(types.clone(), |max| format!("{types}, of up to {max} elements"))
}

/// The type and operator of a kernel instance: an element type with a name on the command line, and the operator if the
/// kernel takes one.
type Offer = (NumberType, Option<OperatorName>);

/// Returns the type and operator of a kernel instance, or `None` if one of them has no name on the command line.
fn offer(entry: &KernelInfo) -> Option<Offer> {
    let number = NumberType::of(entry.arguments.first()?.id)?;
    match entry.arguments.get(1).map(|argument| argument.id) {
        Some(operator @ ArgumentId::Type(_)) => Some((number, Some(OperatorName::of(operator)?))),
        _ => Some((number, None)),
    }
}

fn offered_types(rung: &Rung) -> String {
    let offers: Vec<Offer> = rung.entries().filter_map(offer).collect();
    let operators = std::iter::once(None).chain(OperatorName::ALL.iter().copied().map(Some));
    // The text lists operators together if the rung is built for the same types with each of them.
    let mut groups: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for operator in operators {
        let is_offered = |number: &&NumberType| offers.contains(&(**number, operator));
        let types: Vec<&str> = NumberType::ALL.iter().filter(is_offered).map(|number| number.name()).collect();
        let name = operator.map_or("", OperatorName::name);
        match groups.last_mut() {
            _ if types.is_empty() => {}
            Some((operators, others)) if *others == types => operators.push(name),
            _ => groups.push((vec![name], types)),
        }
    }
    let text = |(operators, types): &(Vec<&str>, Vec<&str>)| match operators[..] {
        [""] => conjunction(types),
        _ => format!("{} of {}", conjunction(operators), conjunction(types)),
    };
    groups.iter().map(text).collect::<Vec<_>>().join("; ")
}

/// Returns the element types for which at least one of `rungs` is built.
pub fn types(rungs: &[Rung]) -> Vec<NumberType> {
    let is_built = |number: &&NumberType| rungs.iter().any(|rung| rung.entry(&[number.id()]).is_some());
    NumberType::ALL.iter().filter(is_built).copied().collect()
}
