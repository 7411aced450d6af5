//! Reports of simulated launches, in the file that the environment variable `GRIDSTRIDE_REPORT` names.

#[cfg(feature = "sarif")]
pub(crate) use reports::collect as report;

/// Prints, once per process, that no report is written because the feature `sarif` is off.
#[cfg(not(feature = "sarif"))]
pub(crate) fn report(_reported: simt::Reported<'_>) {
    const FILE: &str = "GRIDSTRIDE_REPORT";
    static SAID: std::sync::Once = std::sync::Once::new();
    if std::env::var_os(FILE).is_some_and(|path| !path.is_empty()) {
        SAID.call_once(|| eprintln!("{FILE}: no report is written: add the feature `sarif` to dependency `launch`"));
    }
}
