//! Finds calls of float functions that reach std on the host but another function on a GPU.
//!
//! `cuda_std`'s attributes replace such calls in the functions that they mark. The attributes cannot resolve
//! `F::exp(x)`, where `F` is an alias of a float type. In any other function, `x.exp()` is std's method wherever std
//! exists, whatever traits are in scope. This module ignores functions that round exactly (`sqrt`, `floor`), because
//! their results are the same on the host and a GPU. It does not know types. It therefore assumes that a method call in
//! a generic function is a call of a trait's method.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;

use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};

use crate::sources::{Site, SourceFile, last_name};

/// The methods of `f32` and `f64` that std has and core lacks, and whose results are not exactly specified.
const INEXACT: &[&str] = &[
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp2",
    "exp_m1", "gamma", "hypot", "ln", "ln_1p", "ln_gamma", "log", "log10", "log2", "powf", "powi", "sin", "sin_cos",
    "sinh", "tan", "tanh",
];

/// A call whose result differs between the host and a GPU.
pub(crate) struct Call {
    site: Site,
    method: String,
    /// The function to mark with an attribute; `None` if the call is through an alias, for which an attribute does not
    /// help.
    function: Option<String>,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Call { site, method, function } = self;
        write!(f, "{site}: `{method}` is std's function on the host but another one on a GPU: ")?;
        if let Some(function) = function {
            write!(f, "mark `{function}` with #[device], or ")?;
        }
        write!(f, "write GpuFloat::{method}(…)")
    }
}

/// Returns the calls in these files of a crate.
pub(crate) fn calls(files: &[SourceFile]) -> Vec<Call> {
    let mut aliases = Aliases::default();
    files.iter().for_each(|file| aliases.visit_file(&file.syntax));
    let mut calls = Vec::new();
    for SourceFile { path, syntax } in files {
        let mut search = Search { path, aliases: &aliases.0, around: Around::Nothing, calls: Vec::new() };
        search.visit_file(syntax);
        calls.append(&mut search.calls);
    }
    calls
}

/// The names that are declared as aliases of a float type.
#[derive(Default)]
struct Aliases(HashSet<syn::Ident>);

impl<'ast> Visit<'ast> for Aliases {
    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        if is_float(&item.ty) {
            self.0.insert(item.ident.clone());
        }
    }
}

fn is_float(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Path(path) if path.qself.is_none()
        && path.path.segments.last().is_some_and(|last| last.ident == "f32" || last.ident == "f64"))
}

/// The kind of code around a call.
#[derive(Clone)]
enum Around {
    /// Code that is not searched.
    Nothing,
    /// A function with this name, in which calls are not replaced.
    Function(String),
    /// Device code, in which all calls are replaced, except those through an alias.
    DeviceCode,
}

struct Search<'a> {
    path: &'a Path,
    aliases: &'a HashSet<syn::Ident>,
    around: Around,
    calls: Vec<Call>,
}

impl Search<'_> {
    /// Searches a function by `visit`. Skips tests, and ignores calls in generic functions.
    fn enter(&mut self, attributes: &[syn::Attribute], signature: &syn::Signature, visit: impl FnOnce(&mut Self)) {
        if is_test(attributes) {
            return;
        }
        let is_generic = signature.generics.type_params().next().is_some();
        let around = if is_generic {
            Around::Nothing
        } else if is_device_code(attributes) || matches!(self.around, Around::DeviceCode) {
            Around::DeviceCode
        } else {
            Around::Function(signature.ident.to_string())
        };
        let outside = std::mem::replace(&mut self.around, around);
        visit(self);
        self.around = outside;
    }

    /// Searches the item with these attributes by `visit`.
    fn within(&mut self, attributes: &[syn::Attribute], visit: impl FnOnce(&mut Self)) {
        let outside = self.around.clone();
        if is_device_code(attributes) {
            self.around = Around::DeviceCode;
        }
        visit(self);
        self.around = outside;
    }

    fn note(&mut self, method: &syn::Ident, is_by_alias: bool) {
        let function = match &self.around {
            Around::Nothing => return,
            Around::DeviceCode if !is_by_alias => return,
            Around::DeviceCode => None,
            // An attribute would not help if the call is through an alias.
            Around::Function(name) => (!is_by_alias).then(|| name.clone()),
        };
        let name = method.to_string();
        if INEXACT.contains(&name.as_str()) {
            self.calls.push(Call { site: Site::new(self.path, method.span()), method: name, function });
        }
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            self.within(&item.attrs, |search| visit::visit_item_mod(search, item));
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if item.generics.type_params().next().is_none() {
            self.within(&item.attrs, |search| visit::visit_item_impl(search, item));
        }
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        // Most calls in an unmarked trait's methods have a receiver of an implementing type, not a float.
        if is_device_code(&item.attrs) {
            self.within(&item.attrs, |search| visit::visit_item_trait(search, item));
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.enter(&item.attrs, &item.sig, |search| visit::visit_trait_item_fn(search, item));
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.enter(&item.attrs, &item.sig, |search| visit::visit_item_fn(search, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.enter(&item.attrs, &item.sig, |search| visit::visit_impl_item_fn(search, item));
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.note(&call.method, false);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let segments: Vec<_> = path.path.segments.iter().map(|segment| &segment.ident).collect();
        match (&path.qself, &segments[..]) {
            (Some(of), [method]) if is_float(&of.ty) => self.note(method, false),
            (None, [.., owner, method]) if *owner == "f32" || *owner == "f64" => self.note(method, false),
            (None, [.., owner, method]) if self.aliases.contains(owner) => self.note(method, true),
            _ => {}
        }
        visit::visit_expr_path(self, path);
    }

    /// Searches the arguments of `println!` and similar macros.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let arguments = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated.parse2(call.tokens.clone());
        for argument in arguments.iter().flatten() {
            // The parsed arguments do not live as long as the file, so they need a separate search.
            let mut within =
                Search { path: self.path, aliases: self.aliases, around: self.around.clone(), calls: vec![] };
            within.visit_expr(argument);
            self.calls.append(&mut within.calls);
        }
    }
}

/// Returns true if an item with these attributes is device code, in which calls are replaced.
fn is_device_code(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().filter_map(last_name).any(|name| name == "kernel" || name == "device")
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
        calls(&SourceFile::read_all(folder.path())).iter().map(Call::to_string).collect()
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
    fn each_way_to_write_a_call_is_seen() {
        for call in ["<f32>::exp(x)", "core::primitive::f32::exp(x)", "std::println!(\"{}\", x.exp())"] {
            assert_eq!(found(&format!("fn helper(x: f32) {{ {call}; }}")).len(), 1, "{call}");
            assert_eq!(found(&format!("#[device] fn helper(x: f32) {{ {call}; }}")), [""; 0], "{call}");
        }
        for attribute in ["", "#[kernel]"] {
            let found = found(&format!("type F = f32;\n{attribute} fn helper(x: F) {{ F::exp(x); }}"));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains("write GpuFloat::exp(…)") && !found[0].contains("mark"), "{found:?}");
        }
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
