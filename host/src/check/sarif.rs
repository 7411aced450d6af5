//! Findings as SARIF 2.1.0, which editors and CI services show at the lines of the source.

use serde_json::{Value, json};

use super::finding::{Finding, Side};

/// The log of one run with `findings`, each with its level.
pub(super) fn log<'a>(findings: impl Iterator<Item = (&'static str, &'a Finding)>) -> Value {
    let findings: Vec<(&str, &Finding)> = findings.collect();
    let mut rules: Vec<&str> = findings.iter().map(|(_, finding)| finding.kind).collect();
    rules.sort_unstable();
    rules.dedup();
    let rules: Vec<Value> = rules.iter().map(|kind| json!({ "id": id(kind), "name": kind })).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "host check", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": findings.into_iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

fn result((level, finding): (&str, &Finding)) -> Value {
    json!({
        "ruleId": id(finding.kind),
        "level": level,
        "message": { "text": finding.message },
        "locations": finding.here.iter().map(location).collect::<Vec<_>>(),
        "relatedLocations": finding.there.iter().map(location).collect::<Vec<_>>(),
    })
}

fn location(side: &Side) -> Value {
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": side.file },
            "region": { "startLine": side.line, "startColumn": side.column },
        },
    });
    if let Some(does) = &side.does {
        location["message"] = json!({ "text": does });
    }
    location
}

/// A kind in the form of a rule's name.
fn id(kind: &str) -> String {
    kind.replace(' ', "-")
}
