//! The problem that the explained kernels compute.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The description of a problem that an explanation shows beside the figures.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Problem {
    /// The length of the vectors, if the problem has vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
    /// The width of the matrix or board, if the problem has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<usize>,
    /// The height of the matrix or board, if the problem has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<usize>,
    /// The name of the element type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// The name of the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<Cow<'static, str>>,
    /// A further detail of the problem, such as a stride.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The number of elements. Figures per element are totals divided by this number.
    pub elements: u64,
}

impl Problem {
    /// Returns the problem of a vector with `n` elements of type `element`.
    pub fn vector(n: usize, element: impl fmt::Display) -> Self {
        Self { n: Some(n), element: Some(element.to_string()), elements: n as u64, ..Self::default() }
    }

    /// Sets the further detail of the problem.
    pub fn with_detail(self, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.operator.as_deref().map(str::to_owned));
        parts.extend(self.n.map(|n| format!("n = {n}")));
        parts.extend(self.width.zip(self.height).map(|(width, height)| format!("{width}x{height}")));
        parts.extend(self.element.clone());
        parts.extend(self.detail.clone());
        f.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_written_in_a_line() {
        let vector = Problem { operator: Some("sum".into()), ..Problem::vector(1024, "f32") };
        assert_eq!(vector.with_detail("inclusive").to_string(), "sum, n = 1024, f32, inclusive");
        let sides = Problem { width: Some(64), height: Some(32), ..Problem::default() };
        assert_eq!(Problem { element: Some("u8".to_owned()), ..sides }.to_string(), "64x32, u8");
    }
}
