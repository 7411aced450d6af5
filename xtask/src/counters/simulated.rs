//! What `host explain --json` prints.

use anyhow::{Context, Result};
use serde_json::Value;

use super::counts::{Counts, Launch};

/// Launches of one kernel on one grid of one shape of blocks, together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Simulated {
    /// The kernel and its configuration.
    pub launch: Launch,
    /// How many there are.
    pub times: usize,
    /// What all of them did.
    pub counts: Counts,
}

/// The launches of all rungs of an explanation.
///
/// # Errors
/// If a field is missing.
pub fn launches(explained: &Value) -> Result<Vec<Simulated>> {
    let mut all = Vec::new();
    for rung in list(explained, "rungs")? {
        for kernel in list(rung, "kernels")? {
            let entry = kernel["entry"].as_str().context("host explain's JSON names no entry of a kernel")?;
            for launch in list(kernel, "launches")? {
                let number = |pointer: &str| {
                    let value = launch.pointer(pointer).and_then(Value::as_u64);
                    value.with_context(|| format!("a launch of {entry} in host explain's JSON has no {pointer}"))
                };
                let extent = |name: &str| -> Result<[u64; 3]> {
                    let at = |axis: usize| number(&format!("/{name}/{axis}"));
                    Ok([at(0)?, at(1)?, at(2)?])
                };
                all.push(Simulated {
                    launch: Launch { kernel: entry.to_owned(), grid: extent("grid")?, block: extent("block")? },
                    times: usize::try_from(number("/launches")?)?,
                    counts: Counts::from_each(|metric| number(metric.of_simulator()))?,
                });
            }
        }
    }
    Ok(all)
}

fn list<'a>(value: &'a Value, name: &str) -> Result<&'a Vec<Value>> {
    value[name].as_array().with_context(|| format!("host explain's JSON has no list `{name}`"))
}
