//! The sources of the kernels, whose lines are shown beside the figures.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use simt::Profile;

/// The paths and texts of source files.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<(Cow<'static, str>, Cow<'static, str>)>,
}

impl Sources {
    /// Returns sources that are embedded in the program. Each pair consists of the path under which a file is shown and
    /// its text.
    pub fn embedded(files: &[(&'static str, &'static str)]) -> Self {
        Self { files: files.iter().map(|&(path, text)| (path.into(), text.into())).collect() }
    }

    /// Reads the Rust files in `folder` and the folders below it. The paths of the files are shown relative to
    /// `folder`.
    ///
    /// # Errors
    /// An error if a folder or a file cannot be read.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut sources = Self::default();
        sources.read_below(folder, "")?;
        Ok(sources)
    }

    /// Reads the files in which `profiles` have kernels, accesses, bulk copies, products and branches. A file that
    /// cannot be read is left out. Relative names are looked up in the working folder and in the folders around it.
    pub fn of_profiles(profiles: &[Profile]) -> Self {
        let mut files = BTreeSet::new();
        for profile in profiles {
            files.insert(profile.kernel.file);
            files.extend(profile.accesses.iter().map(|access| &*access.location.file));
            files.extend(profile.bulk_copies.iter().map(|copies| &*copies.location.file));
            files.extend(profile.products.iter().map(|product| &*product.location.file));
            files.extend(profile.branches.iter().map(|branch| &*branch.location.file));
        }
        let read = |file: &str| Some((file.replace('\\', "/").into(), reports::source_text(file)?.into()));
        Self { files: files.into_iter().filter_map(read).collect() }
    }

    fn read_below(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                self.read_below(&entry.path(), &format!("{name}/"))?;
            } else if name.ends_with(".rs") {
                self.files.push((name.into(), fs::read_to_string(entry.path())?.into()));
            }
        }
        Ok(())
    }

    fn find(&self, file: &str) -> Option<(&str, &str)> {
        let file = file.replace('\\', "/");
        let is_below =
            |path: &str| file.strip_suffix(path).is_some_and(|before| before.is_empty() || before.ends_with('/'));
        let is_it = |path: &str| is_below(path) || is_in_package(&file, path);
        self.files.iter().find(|(path, _)| is_it(path)).map(|(path, text)| (&**path, &**text))
    }

    /// Returns the path under which a file is shown, or `None` if the sources have no such file. `file` is the path
    /// that the compiler recorded. It may be relative to any folder.
    pub fn path(&self, file: &str) -> Option<&str> {
        self.find(file).map(|(path, _)| path)
    }

    /// Returns line `line` of a file, counted from 1, without leading and trailing white space.
    pub fn line(&self, file: &str, line: u32) -> Option<&str> {
        let (_, text) = self.find(file)?;
        text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?).map(str::trim)
    }

    /// Returns the lines of a function from line `first`, counted from 1, to its closing brace. The attributes before
    /// the function count as its first lines. The brace must be indented as line `first` is.
    pub fn function(&self, file: &str, first: u32) -> Option<Vec<&str>> {
        let (_, text) = self.find(file)?;
        let mut lines = text.lines().skip(usize::try_from(first).ok()?.checked_sub(1)?).peekable();
        let indent = lines.peek().map_or(0, |line| line.len() - line.trim_start().len());
        let mut function = Vec::new();
        for line in lines {
            function.push(line);
            if line.trim_start() == "}" && line.len() == indent + 1 {
                return Some(function);
            }
        }
        None
    }
}

/// Returns true if `file` is `path` in an unpacked package: `gpu/src/a.rs` may stand in
/// `…/gridstride-gpu-0.2.0/src/a.rs`.
fn is_in_package(file: &str, path: &str) -> bool {
    let Some((package, below)) = path.split_once('/') else { return false };
    let folder = file.strip_suffix(below).and_then(|before| before.strip_suffix('/')?.rsplit('/').next());
    folder.and_then(|folder| folder.rsplit_once('-')).is_some_and(|(name, _)| {
        name.strip_suffix(package).is_some_and(|before| before.is_empty() || before.ends_with('-'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAIVE: &str = "//! A.\n\n#[kernel]\nfn naive() {\n    if true {\n    }\n}\n";

    fn sources() -> Sources {
        Sources::embedded(&[
            ("gpu/src/scan/naive.rs", NAIVE),
            ("gpu/src/module.rs", "mod a {\n    fn inner() {\n        f()\n    }\n}\n"),
        ])
    }

    #[test]
    fn a_path_is_found_from_any_folder() {
        let sources = sources();
        let path = |file: &str| sources.path(file).map(str::to_owned);
        let shown = Some("gpu/src/scan/naive.rs".to_owned());
        assert_eq!(path("gpu/src/scan/naive.rs"), shown);
        assert_eq!(path("/home/anyone/gpu/src/scan/naive.rs"), shown);
        assert_eq!(path("/registry/gridstride-gpu-0.2.0/src/scan/naive.rs"), shown);
        assert_eq!(path("/registry/mygpu-0.2.0/src/scan/naive.rs"), None);
        assert_eq!(path(r"C:\kernels\gpu\src\scan\naive.rs"), shown);
        assert_eq!(path("mygpu/src/scan/naive.rs"), None);
        assert_eq!(sources.line("gpu/src/scan/naive.rs", 0), None);
        assert_eq!(sources.line("gpu/src/scan/naive.rs", 5), Some("if true {"));
        assert_eq!(sources.line("gpu/src/scan/naive.rs", u32::MAX), None);
    }

    #[test]
    fn a_function_ends_with_its_brace() {
        let sources = sources();
        let lines = |file: &str, first| sources.function(file, first).map(|lines| lines.len());
        assert_eq!(lines("gpu/src/scan/naive.rs", 3), Some(5));
        assert_eq!(lines("gpu/src/module.rs", 2), Some(3));
        assert_eq!(lines("gpu/src/scan/naive.rs", u32::MAX), None);
        assert_eq!(lines("gpu/src/scan/naive.rs", 0), None);
    }

    #[test]
    fn a_folder_is_read_with_those_below_it() {
        let sources = Sources::read(concat!(env!("CARGO_MANIFEST_DIR"), "/src").as_ref()).unwrap();
        assert_eq!(sources.path("explain/src/html/mod.rs"), Some("html/mod.rs"));
        assert!(sources.line("src/sources.rs", 1).unwrap().starts_with("//! The sources"));
        assert!(Sources::read(Path::new("no/such/folder")).is_err());
    }
}
