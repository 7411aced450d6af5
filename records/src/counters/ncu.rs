//! Parses the output of `ncu --csv --page raw --print-units base`.

use anyhow::{Context, Result, bail, ensure};
use csv::StringRecord;

use super::counts::{Counts, Launch, Metric};

/// The beginning of the line of headings. The output of the profiled program precedes this line.
const HEADINGS: &str = "\"ID\",";

/// The heading of the column with the GPU's name.
const DEVICE: &str = "device__attribute_display_name";

/// The profile of one run of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    /// The GPU's name, if the table has a column for it.
    pub device: Option<String>,
    /// The profiled launches, in the order of the table.
    pub launches: Vec<(Launch, Counts)>,
}

impl Profile {
    /// Parses ncu's standard output.
    ///
    /// # Errors
    /// If the output has no table, if the table lacks a column, or if a value is not a number.
    pub fn parse(text: &str) -> Result<Profile> {
        let start =
            if text.starts_with(HEADINGS) { Some(0) } else { text.find(&format!("\n{HEADINGS}")).map(|at| at + 1) };
        let start = start.context("no table of ncu: no line begins with \"ID\"")?;
        // ncu may print remarks below the table.
        let table: Vec<&str> = text[start..].lines().take_while(|line| line.starts_with('"')).collect();
        let table = table.join("\n");
        let mut reader = csv::Reader::from_reader(table.as_bytes());
        let headings = reader.headers().context("cannot read the headings of the table")?.clone();
        let mut profile = Profile { device: None, launches: Vec::new() };
        for (i, record) in reader.records().enumerate() {
            let row = NcuRow { headings: &headings, record: record.context("a row is not CSV")? };
            // The first row has the units.
            if row.cell("ID")?.is_empty() {
                ensure!(i == 0, "a row has no ID");
                continue;
            }
            if profile.device.is_none() {
                profile.device = row.cell(DEVICE).ok().map(str::to_owned).filter(|name| !name.is_empty());
            }
            profile.launches.push((row.launch()?, row.counts()?));
        }
        ensure!(!profile.launches.is_empty(), "ncu profiled no launch");
        Ok(profile)
    }
}

struct NcuRow<'a> {
    headings: &'a StringRecord,
    record: StringRecord,
}

impl NcuRow<'_> {
    fn cell(&self, heading: &str) -> Result<&str> {
        let column = self.headings.iter().position(|name| name == heading);
        column.and_then(|column| self.record.get(column)).with_context(|| format!("no column {heading}"))
    }

    fn launch(&self) -> Result<Launch> {
        let kernel = self.cell("Kernel Name")?.to_owned();
        Ok(Launch { kernel, grid: extent(self.cell("Grid Size")?)?, block: extent(self.cell("Block Size")?)? })
    }

    fn counts(&self) -> Result<Counts> {
        Counts::try_of(|metric: Metric| {
            metric.of_ncu().iter().try_fold(0, |sum, name| {
                let value = number(self.cell(name)?).with_context(|| format!("in column {name}"))?;
                Ok(sum + value)
            })
        })
    }
}

/// Parses three numbers in parentheses.
fn extent(text: &str) -> Result<[u64; 3]> {
    let inner = text.trim().strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let inner = inner.with_context(|| format!("`{text}` is not a grid or block"))?;
    let numbers: Vec<u64> = inner.split(", ").map(number).collect::<Result<_>>()?;
    numbers.try_into().ok().with_context(|| format!("`{text}` does not have three numbers"))
}

/// Parses a count: digits with commas between the thousands, and zeros after a point.
fn number(text: &str) -> Result<u64> {
    let digits = text.trim().replace(',', "");
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    if !fraction.bytes().all(|digit| digit == b'0') {
        bail!("`{text}` is not a whole number");
    }
    whole.parse().with_context(|| format!("`{text}` is not a number"))
}
