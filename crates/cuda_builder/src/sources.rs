//! The Rust files of a crate, and the code in them that compiles for the host but not to PTX.
//!
//! `cargo check` compiles kernels for the host, where such code is valid. The compiler of PTX reports some of it
//! without a file or a line. The search knows neither types nor conditions: it ignores everything under `#[cfg(…)]`,
//! and generic kernels, whose entries have other names.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// A Rust file that was read and parsed.
pub(crate) struct SourceFile {
    /// The path, relative to the current folder if the file is below it.
    pub path: PathBuf,
    pub syntax: syn::File,
}

impl SourceFile {
    /// Reads the Rust files in `folder` and its subfolders, in the order of their paths. Files that cannot be read or
    /// parsed are skipped: the compiler reports them.
    pub(crate) fn read_all(folder: &Path) -> Vec<SourceFile> {
        let mut files = Vec::new();
        collect(folder, &mut files);
        files.sort();
        let here = std::env::current_dir().unwrap_or_default();
        let parsed = |file: PathBuf| {
            let syntax = std::fs::read_to_string(&file).ok().and_then(|text| syn::parse_file(&text).ok())?;
            Some(SourceFile { path: file.strip_prefix(&here).unwrap_or(&file).to_owned(), syntax })
        };
        files.into_iter().filter_map(parsed).collect()
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// A place in a source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Site {
    path: PathBuf,
    line: usize,
    column: usize,
}

impl Site {
    pub(crate) fn new(path: &Path, span: proc_macro2::Span) -> Site {
        let start = span.start();
        Site { path: path.to_owned(), line: start.line, column: start.column + 1 }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path.display(), self.line, self.column)
    }
}

/// Returns true if the code in `files` contains the identifier `name`, outside the arguments of macros.
pub(crate) fn mentions(files: &[SourceFile], name: &str) -> bool {
    struct Mentions<'n>(&'n str, bool);
    impl<'ast> Visit<'ast> for Mentions<'_> {
        fn visit_ident(&mut self, ident: &'ast syn::Ident) {
            self.1 |= ident == self.0;
        }
    }
    let mut search = Mentions(name, false);
    files.iter().for_each(|file| search.visit_file(&file.syntax));
    search.1
}

/// The kernels of a crate that are not generic, so that their entries have the kernels' names, and the places that do
/// not compile to PTX.
#[derive(Default)]
pub(crate) struct Kernels {
    found: Vec<(String, Site)>,
    problems: Vec<String>,
}

impl Kernels {
    /// Searches the files of one crate.
    pub(crate) fn search(files: &[SourceFile]) -> Kernels {
        let mut kernels = Kernels::default();
        for file in files {
            let mut search = Search { path: &file.path, kernel: None, kernels: Kernels::default(), calls: Vec::new() };
            search.visit_file(&file.syntax);
            let Search { kernels: Kernels { found, problems }, calls, .. } = search;
            kernels.problems.extend(problems);
            let is_kernel = |name: &String| found.iter().any(|(kernel, _)| kernel == name);
            kernels.problems.extend(calls.iter().filter(|call| is_kernel(&call.callee)).map(ToString::to_string));
            kernels.found.extend(found);
        }
        kernels
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.found.iter().map(|(name, _)| name.as_str())
    }

    /// Returns a message for each place in these crates that does not compile to PTX. The kernels of all these crates
    /// are in one module.
    pub(crate) fn problems(crates: &[Kernels]) -> Vec<String> {
        let mut first = BTreeMap::<&str, &Site>::new();
        let mut problems: Vec<String> = crates.iter().flat_map(|kernels| kernels.problems.iter().cloned()).collect();
        for (name, site) in crates.iter().flat_map(|kernels| &kernels.found) {
            match first.get(name.as_str()) {
                Some(other) => problems.push(format!(
                    "{site}: the kernel `{name}` has the same name as the kernel at {other}: the kernels of a crate \
                    and of the libraries that it uses are in one PTX module, so give one of them another name"
                )),
                None => drop(first.insert(name, site)),
            }
        }
        problems
    }
}

/// A call of a function that may be a kernel, in the kernel `caller`.
struct KernelCall {
    site: Site,
    caller: String,
    callee: String,
}

impl fmt::Display for KernelCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KernelCall { site, caller, callee } = self;
        write!(
            f,
            "{site}: the kernel `{caller}` calls the kernel `{callee}`, which a GPU cannot do: move the code of \
            `{callee}` to a function with #[device], and call that in both"
        )
    }
}

struct Search<'a> {
    path: &'a Path,
    /// The name of the kernel that contains the visited code, if any.
    kernel: Option<String>,
    kernels: Kernels,
    calls: Vec<KernelCall>,
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_conditional(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let outside = self.kernel.take();
        if item.attrs.iter().any(|attribute| last_name(attribute).is_some_and(|name| name == "kernel")) {
            let (name, site) = (item.sig.ident.to_string(), Site::new(self.path, item.sig.ident.span()));
            if !name.is_ascii() {
                self.kernels.problems.push(format!(
                    "{site}: the kernel `{name}` has a name with other characters than ASCII's, which PTX does not \
                    allow: rename it"
                ));
            }
            if item.sig.generics.type_params().next().is_none() && item.sig.generics.const_params().next().is_none() {
                self.kernels.found.push((name.clone(), site));
            }
            self.kernel = Some(name);
        }
        visit::visit_item_fn(self, item);
        self.kernel = outside;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_conditional(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if !is_conditional(&local.attrs) {
            visit::visit_local(self, local);
        }
    }

    fn visit_expr_block(&mut self, block: &'ast syn::ExprBlock) {
        if !is_conditional(&block.attrs) {
            visit::visit_expr_block(self, block);
        }
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if is_conditional(&call.attrs) {
            return;
        }
        if let syn::Expr::Path(path) = &*call.func
            && let Some(last) = path.path.segments.last()
        {
            let (callee, site) = (last.ident.to_string(), Site::new(self.path, last.ident.span()));
            if callee == "compiler_fence" {
                self.kernels.problems.push(format!("{site}: {NO_COMPILER_FENCE}"));
            } else if let Some(caller) = &self.kernel
                && path.path.segments.len() == 1
            {
                self.calls.push(KernelCall { site, caller: caller.clone(), callee });
            }
        }
        visit::visit_expr_call(self, call);
    }
}

/// The reason why a call of `compiler_fence` does not compile, and the code to write instead.
pub(crate) const NO_COMPILER_FENCE: &str = "`compiler_fence` does not compile for a GPU (LLVM has no code for it): in \
a kernel write `cuda_std::fence_block()`, and in code for both \
`#[cfg(not(target_arch = \"nvptx64\"))]` before it. If a dependency calls it, try a newer version of that";

/// Returns the last name in the path of an attribute: `kernel` for `#[cuda_std::kernel(max_threads = 32)]`.
pub(crate) fn last_name(attribute: &syn::Attribute) -> Option<String> {
    attribute.path().segments.last().map(|segment| segment.ident.to_string())
}

fn is_conditional(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| ["cfg", "test"].iter().any(|name| attribute.path().is_ident(name)))
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(text: &str) -> Kernels {
        let syntax = syn::parse_file(text).unwrap();
        Kernels::search(&[SourceFile { path: "k.rs".into(), syntax }])
    }

    fn problems(texts: &[&str]) -> Vec<String> {
        Kernels::problems(&texts.iter().map(|text| search(text)).collect::<Vec<_>>())
    }

    #[test]
    fn one_name_of_two_kernels_is_found_in_a_crate_and_in_its_libraries() {
        let two =
            "mod a {\n    #[kernel]\n    pub fn twice() {}\n}\nmod b {\n    #[kernel]\n    pub fn twice() {}\n}\n";
        let found = problems(&[two]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with("k.rs:7:12: the kernel `twice`") && found[0].contains("at k.rs:3:12"),
            "{found:?}"
        );
        assert_eq!(problems(&["#[kernel] fn k() {}", "#[cuda_std::kernel(max_threads = 32)] fn k() {}"]).len(), 1);
        for other in [
            "fn k() {}",
            "#[cfg(feature = \"other\")] #[kernel] fn k() {}",
            "#[cfg(test)] mod tests { #[kernel] fn k() {} }",
            "#[kernel(instances(T = [f32]))] fn k<T>() {}",
        ] {
            assert_eq!(problems(&["#[kernel] fn k() {}", other]), [""; 0], "{other}");
        }
    }

    #[test]
    fn what_a_gpu_cannot_do_is_found_with_its_line() {
        let found = problems(&["#[kernel]\nfn one() {}\n#[kernel]\nfn two() {\n    one();\n}\nfn host() { one(); }\n"]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("k.rs:5:5: the kernel `two` calls the kernel `one`"), "{found:?}");
        let found = problems(&["#[kernel]\nfn größe() {}\n"]);
        assert!(found[0].starts_with("k.rs:2:4: the kernel `größe` has a name with other characters"), "{found:?}");
        let fence = "fn f() {\n    core::sync::atomic::compiler_fence(Ordering::SeqCst);\n}\n";
        assert!(problems(&[fence])[0].starts_with("k.rs:2:25: `compiler_fence` does not compile"));
        let host = "#[cfg(not(target_arch = \"nvptx64\"))]";
        for text in [
            format!("{host} {fence}"),
            format!("struct S; impl S {{ {host} {fence} }}"),
            format!("fn f() {{ {host} compiler_fence(order); }}"),
            format!("fn f() {{ {host} let x = compiler_fence(order); {host} {{ compiler_fence(order); }} }}"),
        ] {
            assert_eq!(problems(&[&text]), [""; 0], "{text}");
        }
    }
}
