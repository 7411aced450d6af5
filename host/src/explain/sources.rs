//! The kernels' sources, embedded: the line that a figure belongs to.

/// Each file with its text, under its path from the workspace's root.
const FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/kernel_sources.rs"));

/// The path from the workspace's root of a kernel's source, whatever folder the compiler was given it from; `None` if it
/// is no source of a kernel.
pub fn path(file: &str) -> Option<&'static str> {
    let file = file.replace('\\', "/");
    let is_it = |path: &str| file.strip_suffix(path).is_some_and(|before| before.is_empty() || before.ends_with('/'));
    FILES.iter().map(|(path, _)| *path).find(|path| is_it(path))
}

/// Line `line`, counted from 1, of a source, without the space around it.
pub fn line(file: &str, line: u32) -> Option<&'static str> {
    let path = path(file)?;
    let (_, text) = FILES.iter().find(|(name, _)| *name == path)?;
    text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?).map(str::trim)
}

/// The lines of a function, from the line `first` of its attributes, counted from 1, to its closing brace.
pub fn function(file: &str, first: u32) -> Option<Vec<&'static str>> {
    let path = path(file)?;
    let (_, text) = FILES.iter().find(|(name, _)| *name == path)?;
    let lines = text.lines().skip(usize::try_from(first).ok()?.checked_sub(1)?);
    let mut function = Vec::new();
    for line in lines {
        function.push(line);
        if line == "}" {
            return Some(function);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use workbench::catalogue;

    #[test]
    fn every_kernel_is_where_its_information_says() {
        for kernel in catalogue::kernels() {
            let there = (kernel.line..kernel.line + 16).filter_map(|at| line(kernel.file, at)).collect::<Vec<_>>();
            let is_there = there.iter().any(|text| text.contains(&format!("fn {}", kernel.family)));
            assert!(is_there, "{}:{}: {there:?}", kernel.file, kernel.line);
        }
    }

    #[test]
    fn a_function_ends_with_its_brace() {
        for kernel in catalogue::kernels() {
            let function = function(kernel.file, kernel.line).unwrap();
            let heads = function.iter().filter(|line| line.contains("fn ")).count();
            assert!(heads >= 1 && function.len() > 3 && function.len() < 200, "{}: {function:?}", kernel.family);
        }
        assert_eq!(function("gpu/src/scan/naive.rs", u32::MAX), None);
    }

    #[test]
    fn a_path_is_found_from_any_folder() {
        assert_eq!(path("gpu/src/scan/naive.rs"), Some("gpu/src/scan/naive.rs"));
        assert_eq!(path("/home/somebody/gpu/src/scan/naive.rs"), Some("gpu/src/scan/naive.rs"));
        assert_eq!(path(r"C:\kernels\gpu\src\scan\naive.rs"), Some("gpu/src/scan/naive.rs"));
        assert_eq!(path("mygpu/src/scan/naive.rs"), None);
        assert_eq!(line("gpu/src/scan/naive.rs", 0), None);
        assert_eq!(line("gpu/src/scan/naive.rs", u32::MAX), None);
    }
}
