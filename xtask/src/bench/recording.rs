//! What `host bench --json` writes, read.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// A run.
#[derive(Clone, PartialEq, Debug)]
pub struct Recording {
    json: Value,
    rows: Vec<Row>,
}

/// One point: a rung or a peer at a size.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// "saxpy".
    pub algorithm: String,
    /// The rung's or the peer's name.
    pub name: String,
    /// Whether it is a peer.
    pub is_peer: bool,
    /// Whether it is the rung that is called where nobody asks for another.
    pub is_last: bool,
    /// The element type.
    pub number: String,
    /// "inclusive" or "exclusive".
    pub variant: Option<String>,
    /// Of a matrix or board.
    pub shape: Option<String>,
    /// Elements or cells.
    pub size: u64,
    /// The median, in microseconds.
    pub median_us: f64,
    /// GB/s.
    pub gbps: f64,
    /// As the host sees it, in microseconds.
    pub host_us: Option<f64>,
    /// A call in a series, in microseconds.
    pub series_us: Option<f64>,
}

impl Row {
    fn parse(json: &Value) -> Result<Row> {
        let text = |key: &str| json[key].as_str().map(str::to_owned);
        let number = |key: &str| json[key].as_f64().with_context(|| format!("a row has no {key}: {json}"));
        let (rung, peer) = (text("rung"), text("peer"));
        ensure!(rung.is_some() != peer.is_some(), "a row is not of a rung or of a peer: {json}");
        Ok(Row {
            algorithm: text("algorithm").with_context(|| format!("a row has no algorithm: {json}"))?,
            is_peer: peer.is_some(),
            name: rung.or(peer).unwrap_or_default(),
            is_last: json["last"] == true,
            number: text("type").with_context(|| format!("a row has no type: {json}"))?,
            variant: text("variant"),
            shape: text("shape"),
            size: json["size"].as_u64().with_context(|| format!("a row has no size: {json}"))?,
            median_us: number("median_us")?,
            gbps: number("gbps")?,
            host_us: json["host_us"].as_f64(),
            series_us: json["series_us"].as_f64(),
        })
    }

    /// The size as it is written: `2^28`, `16384x16384`.
    pub fn size_text(&self) -> String {
        match &self.shape {
            Some(shape) => shape.replace('x', " × "),
            None if self.size.is_power_of_two() => format!("2^{}", self.size.ilog2()),
            None => self.size.to_string(),
        }
    }
}

impl Recording {
    /// The run in a file.
    ///
    /// # Errors
    /// If the file cannot be read, or is not of that form.
    pub fn read(path: &Path) -> Result<Recording> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("{} is not what host bench --json writes", path.display()))
    }

    /// The run in a text.
    ///
    /// # Errors
    /// If it is not of that form.
    pub fn parse(text: &str) -> Result<Recording> {
        let json: Value = serde_json::from_str(text)?;
        let rows = json["rows"].as_array().context("it has no rows")?.iter().map(Row::parse).collect::<Result<_>>()?;
        for key in ["device", "date"] {
            ensure!(json[key].is_string(), "it has no {key}");
        }
        Ok(Recording { json, rows })
    }

    /// Whether it can be recorded.
    ///
    /// # Errors
    /// If it is of the simulator, or empty, or its date is none.
    pub fn check(&self) -> Result<()> {
        ensure!(
            self.json["simulated"] == false,
            "the run is of the simulator, whose times say nothing of a GPU: run host bench on a machine with one"
        );
        ensure!(!self.rows.is_empty() && self.copy_gbps() > 0.0, "the run has no measurements");
        let date = self.date().as_bytes();
        let is_date = date.len() == 10
            && date
                .iter()
                .enumerate()
                .all(|(at, byte)| if matches!(at, 4 | 7) { *byte == b'-' } else { byte.is_ascii_digit() });
        ensure!(is_date, "its date, {}, is not of the form 2026-11-21", self.date());
        Ok(())
    }

    /// A string of the object, if it is there.
    pub fn text_at(&self, pointer: &str) -> Option<&str> {
        self.json.pointer(pointer)?.as_str()
    }

    /// A number of the object, if it is there.
    pub fn number_at(&self, pointer: &str) -> Option<f64> {
        self.json.pointer(pointer)?.as_f64()
    }

    /// The device's name.
    pub fn device(&self) -> &str {
        self.text_at("/device").unwrap_or_default()
    }

    /// The day.
    pub fn date(&self) -> &str {
        self.text_at("/date").unwrap_or_default()
    }

    /// The device's own copy, in GB/s.
    pub fn copy_gbps(&self) -> f64 {
        self.number_at("/copy_gbps").unwrap_or_default()
    }

    /// All points.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Whether it says of which revision it is.
    pub fn has_revision(&self) -> bool {
        self.json["revision"].is_string()
    }

    /// Says of which revision it is.
    pub fn set_revision(&mut self, revision: &str) {
        self.json["revision"] = Value::from(revision);
    }

    /// The name to keep it under: `nvidia-h200-2026-11-21.json`.
    pub fn file_name(&self) -> String {
        let name: String = self
            .device()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
            .collect();
        let parts: Vec<&str> = name.split('-').filter(|part| !part.is_empty()).collect();
        format!("{}-{}.json", parts.join("-"), self.date())
    }

    /// What is kept.
    ///
    /// # Errors
    /// Never, for what was JSON.
    pub fn text(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(&self.json)? + "\n")
    }
}
