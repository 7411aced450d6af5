//! Rejects kernels at places where the items of the expansion cannot stand.

use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{Attribute, Error, ImplItemFn, TraitItemFn};

/// Returns an error if the kernel `name` is in an `impl` or a trait.
///
/// A macro does not know what is around the item, so this reads the source file, but only for an indented kernel in a
/// file with an `impl` or a trait.
pub fn check_place(name: &Ident) -> syn::Result<()> {
    if !proc_macro::is_available() || proc_macro::Span::call_site().column() == 1 {
        return Ok(());
    }
    let file = proc_macro::Span::call_site().local_file();
    match file.and_then(|file| std::fs::read_to_string(file).ok()) {
        Some(source) if is_in_impl(name, &source) => Err(Error::new(
            name.span(),
            "a kernel cannot be in an `impl` or a trait, because it becomes items of a module: move it out, and call \
             the type's methods from it",
        )),
        _ => Ok(()),
    }
}

/// Returns true if `source` contains the kernel `name` in an `impl` or a trait. No other kernel can be meant, because a
/// crate has only one kernel of each name.
fn is_in_impl(name: &Ident, source: &str) -> bool {
    struct Finds<'n>(&'n Ident, bool);
    impl Finds<'_> {
        fn look(&mut self, name: &Ident, attributes: &[Attribute]) {
            let is_kernel =
                |attribute: &Attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "kernel");
            self.1 |= name == self.0 && attributes.iter().any(is_kernel);
        }
    }
    impl<'ast> Visit<'ast> for Finds<'_> {
        fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
            self.look(&function.sig.ident, &function.attrs);
            visit::visit_impl_item_fn(self, function);
        }

        fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
            self.look(&function.sig.ident, &function.attrs);
            visit::visit_trait_item_fn(self, function);
        }
    }
    if !source.contains("impl") && !source.contains("trait") {
        return false;
    }
    let mut finds = Finds(name, false);
    if let Ok(file) = syn::parse_file(source) {
        finds.visit_file(&file);
    }
    finds.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_in_an_impl_is_found() {
        let k = Ident::new("k", proc_macro2::Span::call_site());
        assert!(is_in_impl(&k, "impl A { #[kernel(max_threads = 64)] fn k() {} }"));
        assert!(is_in_impl(&k, "mod m { trait A { #[cuda_std::kernel] fn k() {} } }"));
        assert!(!is_in_impl(&k, "impl A { fn k() {} }\nmod m { #[kernel] fn k() {} }"));
        assert!(!is_in_impl(&k, "#[kernel] fn k() {}"));
    }
}
