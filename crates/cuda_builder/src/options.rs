//! The options that determine a module's text, in addition to its sources and its compiler.

use std::ffi::OsString;

use crate::arch::Arch;

/// The options that determine a module's text, in addition to its sources and its compiler.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub arch: Arch,
    pub features: Vec<String>,
    pub default_features: bool,
    pub release: bool,
    pub line_info: bool,
    pub fma: bool,
    pub ftz: bool,
    pub fast_div: bool,
    pub fast_sqrt: bool,
    pub cargo_args: Vec<String>,
    pub rustc_args: Vec<OsString>,
    pub locked: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            arch: Arch::default(),
            features: Vec::new(),
            default_features: true,
            release: true,
            line_info: false,
            fma: true,
            ftz: false,
            fast_div: false,
            fast_sqrt: false,
            cargo_args: Vec::new(),
            rustc_args: Vec::new(),
            locked: false,
        }
    }
}

impl Options {
    /// Returns the arguments for the last compilation, which generates the code of all crates. The other compilations
    /// do not get these arguments, because `core` would then be compiled once for each combination of arguments.
    pub(crate) fn code_generation(&self) -> Vec<OsString> {
        let choices = [
            (self.fma, "-Cllvm-args=-nvptx-fma-level=2"),
            // This allows an error of 2 ulp over the whole range, as nvcc's `-prec-div=false` does.
            (self.fast_div, "-Cllvm-args=-nvptx-prec-divf32=1"),
            (self.fast_sqrt, "-Cllvm-args=-nvptx-prec-sqrtf32=0"),
        ];
        let chosen = choices.into_iter().filter(|(on, _)| *on).map(|(_, argument)| argument.into());
        chosen.chain(self.rustc_args.iter().cloned()).collect()
    }

    /// Returns the arguments of `cargo` that decide which dependencies the kernel crate has.
    pub(crate) fn resolution(&self) -> Vec<&str> {
        const FLAGS: [&str; 5] = ["--all-features", "--no-default-features", "--locked", "--offline", "--frozen"];
        let mut arguments = Vec::new();
        if !self.default_features {
            arguments.push("--no-default-features");
        }
        if self.locked {
            arguments.push("--locked");
        }
        arguments.extend(self.features.iter().flat_map(|feature| ["--features", feature]));
        let mut given = self.cargo_args.iter().map(String::as_str);
        while let Some(argument) = given.next() {
            match argument {
                "--features" | "-F" => arguments.extend([Some("--features"), given.next()].into_iter().flatten()),
                _ if FLAGS.contains(&argument) || argument.starts_with("--features=") => arguments.push(argument),
                _ => {}
            }
        }
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_reach_the_resolution_of_dependencies() {
        let cargo_args = ["-F", "b", "--features=c", "--offline", "--verbose"].map(str::to_owned).into();
        let options =
            Options { features: vec!["a".to_owned()], default_features: false, cargo_args, ..Options::default() };
        let expected = ["--no-default-features", "--features", "a", "--features", "b", "--features=c", "--offline"];
        assert_eq!(options.resolution(), expected);
    }
}
