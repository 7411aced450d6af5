//! Parses the two text files beside the CSV files of a profile: the list of cases, and the machine.

use anyhow::{Result, bail, ensure};

/// The name of the file with the list of cases.
pub const FILE: &str = "cases.txt";

/// The name of the file with the date and the machine of the profile.
pub const ORIGIN: &str = "run.txt";

/// A case: launches on a GPU, which also run in the simulator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The name of the case, and of its CSV file.
    pub name: String,
    /// The subject and options of `host explain`, separated by spaces.
    pub explain: String,
}

/// Parses a list of cases. A line is `name | subject and options of host explain | host's command | ncu's options`.
/// Empty lines and lines that begin with `#` are skipped.
///
/// # Errors
/// If a line does not have four columns, or two cases have the same name.
pub fn parse(text: &str) -> Result<Vec<Case>> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let [name, explain, _command, _launches] = columns[..] else {
            bail!("{FILE}: `{line}` has {} columns: write case | host explain | host | ncu", columns.len());
        };
        ensure!(columns.iter().all(|column| !column.is_empty()), "{FILE}: a column of `{line}` is empty");
        ensure!(cases.iter().all(|case| case.name != name), "{FILE}: there are two cases {name}: rename one");
        cases.push(Case { name: name.to_owned(), explain: explain.to_owned() });
    }
    Ok(cases)
}

/// The date and the machine of a profile. A field is `None` if it is not known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// The date, as in 2026-11-21.
    pub date: Option<String>,
    /// The GPU's name.
    pub device: Option<String>,
    /// The driver's version.
    pub driver: Option<String>,
    /// The version of ncu.
    pub ncu: Option<String>,
}

impl Origin {
    /// Parses lines of `date`, `device`, `driver` or `ncu`, a colon and a value, which may be missing.
    ///
    /// # Errors
    /// If a line begins with another word.
    pub fn parse(text: &str) -> Result<Origin> {
        let mut origin = Origin::default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let (key, value) = line.split_once(':').unwrap_or((line, ""));
            let place = match key.trim() {
                "date" => &mut origin.date,
                "device" => &mut origin.device,
                "driver" => &mut origin.driver,
                "ncu" => &mut origin.ncu,
                _ => bail!("{ORIGIN}: `{line}` begins with none of date, device, driver, ncu"),
            };
            *place = Some(value.trim().to_owned()).filter(|value| !value.is_empty());
        }
        Ok(origin)
    }
}
