//! Calls of float functions that would be std's on the host and another function on a GPU.
//!
//! `cuda_std`'s attributes replace such calls in the functions that they stand on. In any other, `x.exp()` is std's method
//! wherever there is std, whatever traits are in scope. What rounds exactly (`sqrt`, `floor`) is the same in both and not
//! looked for. The types are not known here: what a generic function calls on its parameters is taken for its traits'.

use std::fmt;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// Methods of `f32` and `f64` that std has, core has not, and whose result is not determined.
const INEXACT: &[&str] = &[
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp2",
    "exp_m1", "gamma", "hypot", "ln", "ln_1p", "ln_gamma", "log", "log10", "log2", "powf", "powi", "sin", "sin_cos",
    "sinh", "tan", "tanh",
];

/// A call whose result differs between the host and a GPU.
pub(crate) struct Call {
    path: PathBuf,
    line: usize,
    column: usize,
    method: String,
    function: String,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Call { path, line, column, method, function } = self;
        write!(
            f,
            "{}:{line}:{column}: `{method}` is std's here on the host, and another function on a GPU: mark `{function}` with \
             #[device], or write GpuFloat::{method}(…)",
            path.display()
        )
    }
}

/// The calls in the Rust files at and under `folder`. What cannot be read or is no Rust is for the compiler to report.
pub(crate) fn calls(folder: &Path) -> Vec<Call> {
    let mut files = Vec::new();
    collect(folder, &mut files);
    files.sort();
    let here = std::env::current_dir().unwrap_or_default();
    let mut calls = Vec::new();
    for file in files {
        let Some(syntax) = std::fs::read_to_string(&file).ok().and_then(|text| syn::parse_file(&text).ok()) else {
            continue;
        };
        let path = file.strip_prefix(&here).unwrap_or(&file).to_owned();
        let mut search = Search { path, function: None, calls: Vec::new() };
        search.visit_file(&syntax);
        calls.append(&mut search.calls);
    }
    calls
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

struct Search {
    path: PathBuf,
    /// The function around, if its calls are the host's.
    function: Option<String>,
    calls: Vec<Call>,
}

impl Search {
    /// Looks into a function by `visit`, unless its calls are replaced or of types that are not known.
    fn enter(&mut self, attributes: &[syn::Attribute], signature: &syn::Signature, visit: impl FnOnce(&mut Self)) {
        if is_device_code(attributes) || is_test(attributes) {
            return;
        }
        let is_generic = signature.generics.type_params().next().is_some();
        let function = (!is_generic).then(|| signature.ident.to_string());
        let around = std::mem::replace(&mut self.function, function);
        visit(self);
        self.function = around;
    }

    fn note(&mut self, method: &syn::Ident) {
        let name = method.to_string();
        if let Some(function) = &self.function
            && INEXACT.contains(&name.as_str())
        {
            let start = method.span().start();
            let (path, function) = (self.path.clone(), function.clone());
            self.calls.push(Call { path, line: start.line, column: start.column + 1, method: name, function });
        }
    }
}

impl<'ast> Visit<'ast> for Search {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if !is_device_code(&item.attrs) && item.generics.type_params().next().is_none() {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.enter(&item.attrs, &item.sig, |search| visit::visit_item_fn(search, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.enter(&item.attrs, &item.sig, |search| visit::visit_impl_item_fn(search, item));
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.note(&call.method);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let segments: Vec<_> = path.path.segments.iter().map(|segment| &segment.ident).collect();
        if let [.., owner, method] = segments[..]
            && (owner == "f32" || owner == "f64")
        {
            self.note(method);
        }
        visit::visit_expr_path(self, path);
    }
}

/// Whether calls are replaced in what has these attributes.
fn is_device_code(attributes: &[syn::Attribute]) -> bool {
    let last = |attribute: &syn::Attribute| attribute.path().segments.last().map(|segment| segment.ident.to_string());
    attributes.iter().filter_map(last).any(|name| name == "kernel" || name == "device")
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("deep")).unwrap();
        std::fs::write(folder.path().join("deep/k.rs"), text).unwrap();
        calls(folder.path()).iter().map(Call::to_string).collect()
    }

    #[test]
    fn a_call_outside_of_device_code_is_named_with_its_line() {
        let found = found("fn helper(x: f32) -> f32 {\n    (x * 2.0).exp() + f32::sin(x)\n}\n");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].contains("k.rs:2:15: `exp`") && found[0].contains("mark `helper` with #[device]"),
            "{found:?}"
        );
        assert!(found[1].contains("k.rs:2:28: `sin`"), "{found:?}");
        assert_eq!(self::found("impl V { fn len(&self) -> f32 { self.x.hypot(self.y) } }").len(), 1);
    }

    #[test]
    fn what_is_the_same_on_both_devices_is_not() {
        for text in [
            "#[kernel] fn k(x: f32) { x.exp(); }",
            "#[cuda_std::kernel(max_threads = 32)] fn k(x: f32) { x.exp(); }",
            "#[device] fn h(x: f32) { x.exp(); }",
            "#[device] impl V { fn h(&self) { self.x.exp(); } }",
            "fn h<T: GpuFloat>(x: T) -> T { x.exp() }",
            "impl<T: GpuFloat> V<T> { fn h(&self) { self.x.exp(); } }",
            "fn h(x: f32) -> f32 { GpuFloat::exp(x) + x.sqrt() + x.floor().mul_add(x, x).abs() }",
            "#[cfg(test)] mod tests { fn reference(x: f32) -> f32 { x.exp() } }",
            "#[test] fn t() { 1_f32.exp(); }",
            "no Rust }",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
