//! Findings as SARIF 2.1.0, which editors and CI services display at the source lines.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::finding::{Finding, Side};

/// Returns the log of one run of the program `tool` with `findings`, each with its level: "error", "warning" or "note".
pub fn sarif<'a>(tool: &str, findings: impl Iterator<Item = (&'static str, &'a Finding)>) -> Value {
    let findings: Vec<(&str, &Finding)> = findings.collect();
    let rules: BTreeMap<&str, &str> = findings.iter().map(|(_, finding)| (finding.kind, finding.name)).collect();
    let rules: Vec<Value> = rules.iter().map(|(kind, name)| json!({ "id": id(kind), "name": name })).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": tool, "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": findings.into_iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

/// Returns the log `before` with the rules and results of the log `more` that `before` lacks. Results are the same if
/// they have the same rule and positions. Returns `None` if `before` is not a log.
pub(super) fn with(before: Option<Value>, more: &Value) -> Option<Value> {
    let Some(mut log) = before else { return Some(more.clone()) };
    for (list, key) in
        [("/runs/0/tool/driver/rules", &["id"][..]), ("/runs/0/results", &["ruleId", "locations", "relatedLocations"])]
    {
        let is_like = |a: &Value, b: &Value| key.iter().all(|key| a[key] == b[key]);
        let all = log.pointer_mut(list)?.as_array_mut()?;
        for one in more.pointer(list)?.as_array()? {
            if !all.iter().any(|other| is_like(other, one)) {
                all.push(one.clone());
            }
        }
    }
    Some(log)
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

/// Returns the id of the SARIF rule for a kind of finding.
fn id(kind: &str) -> String {
    kind.replace(' ', "-")
}
