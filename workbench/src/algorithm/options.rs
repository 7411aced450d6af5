//! The options of an algorithm's command.

use std::str::FromStr;

use crate::error::WorkbenchError;
use gridstride::numbers::{NumberType, OperatorName};
use units::alternatives;

/// An option of an algorithm's command, with or without a value.
#[derive(Clone, Copy, Debug)]
pub struct ProblemOption {
    /// The name of the option, without dashes.
    pub name: &'static str,
    /// The name of the option's value in the help; empty for a flag, which has no value.
    pub value: &'static str,
    /// The help text of the option, in a line.
    pub help: &'static str,
    /// The value of the option if the user does not set it.
    pub default: &'static str,
    /// Checks a value. The error says which values are allowed.
    pub check: fn(&str) -> Result<(), String>,
}

impl ProblemOption {
    /// The option for the element type.
    pub const NUMBER: Self =
        Self { name: "type", value: "TYPE", help: "Element type", default: "f32", check: |_| Ok(()) };

    /// The option for the operator.
    pub const OPERATOR: Self = Self {
        name: "op",
        value: "NAME",
        help: "Operator: sum, product, min, max, or minimum and maximum, which propagate NaN; integers wrap",
        default: "sum",
        check: |text| text.parse::<OperatorName>().map(drop),
    };

    /// The option for the index in each buffer at which the vector begins. Most values other than 0 give views that are
    /// not aligned.
    pub const FROM: Self = Self {
        name: "from",
        value: "ELEMENT",
        help: "Index in the buffers at which the vectors begin",
        default: "0",
        check: |text| match text.parse::<usize>() {
            Ok(0..=Self::MAX_FROM) => Ok(()),
            _ => Err(format!("it must be a whole number from 0 to {}, such as 1", Self::MAX_FROM)),
        },
    };

    /// The largest value of [`FROM`](Self::FROM).
    const MAX_FROM: usize = 1024;

    /// Returns an option that is a flag without a value.
    pub const fn flag(name: &'static str, help: &'static str) -> Self {
        Self { name, value: "", help, default: "", check: |_| Ok(()) }
    }
}

/// The values of options, by name, and the seed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    values: Vec<(&'static str, String)>,
    /// The seed of the random input.
    pub seed: u64,
}

impl Options {
    /// Returns the default values of `options`, with seed 0.
    pub fn defaults(options: &[ProblemOption]) -> Self {
        let values = options.iter().filter(|option| !option.value.is_empty());
        Self { values: values.map(|option| (option.name, option.default.to_owned())).collect(), seed: 0 }
    }

    /// Returns these options with the seed `seed`.
    pub fn seeded(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the option `name` to `value`. For a flag, `value` may be any text.
    pub fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.values.retain(|(known, _)| *known != name);
        self.values.push((name, value.into()));
    }

    /// Returns the value of the option `name`, if it is set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// Returns true if the flag `name` is set.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns the value of the option `name`, or `default` if it is not set.
    ///
    /// # Errors
    /// [`WorkbenchError::Options`] if the option's text cannot be parsed as a `T`.
    pub fn value<T: FromStr<Err: ToString>>(&self, name: &str, default: T) -> Result<T, WorkbenchError> {
        self.get(name).map_or(Ok(default), |text| {
            text.parse().map_err(|error: T::Err| WorkbenchError::Options(error.to_string()))
        })
    }

    /// Returns the element type that the options select, or the first of `types` if the options select no type.
    ///
    /// # Errors
    /// [`WorkbenchError::Options`] if the selected type is not one of `types`.
    pub fn element_type(&self, algorithm: &str, types: &[NumberType]) -> Result<NumberType, WorkbenchError> {
        match self.get("type") {
            None => Ok(types.first().copied().unwrap_or(NumberType::F32)),
            Some(text) => parse_type(algorithm, types, text).map_err(WorkbenchError::Options),
        }
    }
}

/// Returns the element type in `types` that has the name `text`.
///
/// # Errors
/// A message that lists `types`, if none of them has that name.
pub fn parse_type(algorithm: &str, types: &[NumberType], text: &str) -> Result<NumberType, String> {
    types.iter().copied().find(|number| number.name() == text).ok_or_else(|| {
        let names: Vec<&str> = types.iter().map(|number| number.name()).collect();
        format!("{algorithm} has no element type '{text}': use {}", alternatives(&names))
    })
}
