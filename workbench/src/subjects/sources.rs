//! The embedded sources of the kernels, whose lines are shown beside the figures.

use std::sync::LazyLock;

use explain::Sources;

/// The path of each source file, relative to the workspace's root, and its text.
const FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/kernel_sources.rs"));

/// Returns the sources of all kernels.
pub fn sources() -> &'static Sources {
    static SOURCES: LazyLock<Sources> = LazyLock::new(|| Sources::embedded(FILES));
    &SOURCES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;

    #[test]
    fn every_kernel_is_where_its_information_says() {
        for kernel in catalogue::kernels() {
            let line = |at| sources().line(kernel.file, at);
            let there = (kernel.line..kernel.line + 16).filter_map(line).collect::<Vec<_>>();
            let is_there = there.iter().any(|text| text.contains(&format!("fn {}", kernel.family)));
            assert!(is_there, "{}:{}: {there:?}", kernel.file, kernel.line);
        }
    }

    #[test]
    fn every_function_ends_with_its_brace() {
        for kernel in catalogue::kernels() {
            let function = sources().function(kernel.file, kernel.line).unwrap();
            let heads = function.iter().filter(|line| line.contains("fn ")).count();
            assert!(heads >= 1 && function.len() > 3 && function.len() < 240, "{}: {function:?}", kernel.family);
        }
        assert_eq!(sources().path("/home/anyone/gpu/src/scan/naive.rs"), Some("gpu/src/scan/naive.rs"));
    }
}
