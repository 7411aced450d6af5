//! What was profiled, and on what: the two text files that stand beside the CSV files.

use anyhow::{Result, bail, ensure};

/// The list of cases.
pub const FILE: &str = "cases.txt";

/// The file that says when and on what they were profiled.
pub const ORIGIN: &str = "run.txt";

/// One case: launches of a GPU and the same in the simulator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// Its name, which is that of its CSV file.
    pub name: String,
    /// Subject and options of `host explain`, divided by spaces.
    pub explain: String,
}

/// The cases of a list: lines of `name | subject and options of host explain | host's command | ncu's options`. Empty
/// lines and those that begin with `#` say nothing.
///
/// # Errors
/// If a line has other columns, or two cases are of the same name.
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

/// When and on what the cases were profiled, as far as it is known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// The day, as in 2026-11-21.
    pub date: Option<String>,
    /// The GPU's name.
    pub device: Option<String>,
    /// The driver's version.
    pub driver: Option<String>,
    /// The version of ncu.
    pub ncu: Option<String>,
}

impl Origin {
    /// Reads lines of `date`, `device`, `driver` or `ncu`, a colon and a value, which may be missing.
    ///
    /// # Errors
    /// If a line says something else.
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
