//! Reads the functions and macros that the sources declare, with their calls.

use std::path::PathBuf;

use anyhow::{Context, Result};
use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprCall, ExprMethodCall, ImplItemFn, Item, ItemFn, ItemMacro, Macro, Signature, TraitItemFn};

#[cfg(test)]
use super::arrays::{Array, Constants};
use super::attribute::Attribute;
use crate::syntax;

/// The functions and constants that some files declare.
#[derive(Default)]
pub(super) struct Functions {
    pub functions: Vec<Function>,
    #[cfg(test)]
    pub constants: Constants,
}

/// A function or a macro. The name of a macro ends in `!`.
pub(super) struct Function {
    pub name: String,
    /// The index of the function's file.
    pub file: usize,
    /// The `#[kernel]` attribute, if the function is a kernel.
    pub kernel: Option<Attribute>,
    /// True if the function has `#[track_caller]`. The simulator then reports the line of the function's caller.
    pub tracks_caller: bool,
    pub body: Body,
}

/// The calls and shared arrays in a body, except those in functions that the body declares.
#[derive(Default)]
pub(super) struct Body {
    /// The names of the called functions, methods and macros (`name!`), each with its line.
    pub calls: Vec<(String, usize)>,
    #[cfg(test)]
    pub arrays: Vec<Array>,
}

impl Functions {
    /// Parses source texts. `files` has the path and the text of each source.
    ///
    /// # Errors
    /// If a text is not valid Rust, or a kernel's attribute is not valid.
    pub fn read(files: &[(PathBuf, String)]) -> Result<Functions> {
        let mut declared = Functions::default();
        for (file, (path, text)) in files.iter().enumerate() {
            let read = |syntax: syn::File| {
                let mut reader = Reader { file, declared: &mut declared, error: None };
                reader.visit_file(&syntax);
                reader.error.map_or(Ok(()), Err)
            };
            let done = syn::parse_file(text).map_err(anyhow::Error::from).and_then(read);
            done.with_context(|| format!("cannot parse {}", path.display()))?;
        }
        Ok(declared)
    }
}

struct Reader<'a> {
    file: usize,
    declared: &'a mut Functions,
    error: Option<anyhow::Error>,
}

impl Reader<'_> {
    fn add(&mut self, attributes: &[syn::Attribute], signature: &Signature, block: &Block) {
        let mut body = Body::default();
        body.visit_block(block);
        match Attribute::of(attributes, signature) {
            Ok(kernel) => {
                let tracks_caller = attributes.iter().any(|attribute| attribute.path().is_ident("track_caller"));
                let name = signature.ident.to_string();
                self.declared.functions.push(Function { name, file: self.file, kernel, tracks_caller, body });
            }
            Err(error) => self.error = Some(error),
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.add(&item.attrs, &item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.add(&item.attrs, &item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(block) = &item.default {
            self.add(&item.attrs, &item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_macro(&mut self, item: &'ast ItemMacro) {
        if let Some(name) = &item.ident {
            let mut body = Body::default();
            syntax::visit_tokens(&mut body, item.mac.tokens.clone());
            let (name, file) = (format!("{name}!"), self.file);
            self.declared.functions.push(Function { name, file, kernel: None, tracks_caller: false, body });
        }
        visit::visit_item_macro(self, item);
    }

    /// Also reads the functions that a macro call declares.
    fn visit_macro(&mut self, call: &'ast Macro) {
        syntax::visit_tokens(self, call.tokens.clone());
    }

    #[cfg(test)]
    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.declared.constants.add(&item.ident, self.file, &item.expr);
        visit::visit_item_const(self, item);
    }
}

impl Body {
    fn call(&mut self, name: &Ident, mark: &str) {
        self.calls.push((format!("{name}{mark}"), name.span().start().line));
    }
}

impl<'ast> Visit<'ast> for Body {
    /// Skips functions that the body declares. Their calls count where these nested functions are called.
    fn visit_item(&mut self, _: &'ast Item) {}

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Expr::Path(path) = &*call.func
            && let Some(last) = path.path.segments.last()
        {
            self.call(&last.ident, "");
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.call(&call.method, "");
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        let Some(last) = call.path.segments.last() else { return };
        self.call(&last.ident, "!");
        #[cfg(test)]
        if last.ident == "shared_array" {
            self.arrays.push(Array::of(call));
        }
        syntax::visit_tokens(self, call.tokens.clone());
    }
}
