//! The two text files beside the CSV files: the profiled cases, and the machine.

use anyhow::{Result, bail, ensure};

/// The list of cases.
pub const FILE: &str = "cases.txt";

/// The file with the date and the machine of the profile.
pub const ORIGIN: &str = "run.txt";

/// One case: launches on a GPU, and the same launches in the simulator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// Its name, which is also the name of its CSV file.
    pub name: String,
    /// The subject and options of `host explain`, separated by spaces.
    pub explain: String,
}

/// Parses a list of cases. A line is `name | subject and options of host explain | host's command | ncu's options`.
/// Empty lines and lines that begin with `#` are skipped.
///
/// # Errors
/// If a line has another number of columns, or two cases have one name.
pub fn parse(text: &str) -> Result<Vec<Case>> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let [name, explain, _command, _launches] = columns[..] else {
            bail!("{FILE}: `{line}` has {} columns, not case | host explain | host | ncu", columns.len());
        };
        ensure!(columns.iter().all(|column| !column.is_empty()), "{FILE}: a column of `{line}` is empty");
        ensure!(cases.iter().all(|case| case.name != name), "{FILE}: there are two cases {name}");
        cases.push(Case { name: name.to_owned(), explain: explain.to_owned() });
    }
    Ok(cases)
}

/// The date and the machine of a profile, as far as they are known.
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
    /// If a line begins with something else.
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
