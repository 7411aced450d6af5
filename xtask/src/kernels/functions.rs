//! The functions, macros and constants that some sources declare.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{
    Block, Expr, ExprCall, ExprMethodCall, ImplItemFn, Item, ItemConst, ItemFn, ItemMacro, Macro, Signature,
    TraitItemFn,
};

use super::arrays::{Array, Constants};
use super::attribute::Attribute;
use crate::syntax;

/// What is declared in some files.
#[derive(Default)]
pub(super) struct Functions {
    pub functions: Vec<Function>,
    pub constants: Constants,
}

/// A function or a macro, `name!`.
pub(super) struct Function {
    pub name: String,
    /// Its file's place among those that were read.
    pub file: usize,
    /// Its attribute, if it is a kernel.
    pub kernel: Option<Attribute>,
    pub body: Body,
}

/// What stands in a body, but not in functions that are declared there.
#[derive(Default)]
pub(super) struct Body {
    /// The functions, methods and macros (`name!`) that it calls, each with the line of the name.
    pub calls: Vec<(String, usize)>,
    pub arrays: Vec<Array>,
    pub prints: bool,
}

impl Functions {
    /// Reads source texts, each with the path that it is from.
    ///
    /// # Errors
    /// If a text is no Rust, or a kernel's attribute is none that `#[kernel]` takes.
    pub fn read(files: &[(PathBuf, String)]) -> Result<Functions> {
        let mut declared = Functions::default();
        for (file, (path, text)) in files.iter().enumerate() {
            let read = |syntax: syn::File| {
                let mut reader = Reader { file, declared: &mut declared, error: None };
                reader.visit_file(&syntax);
                reader.error.map_or(Ok(()), Err)
            };
            let done = syn::parse_file(text).map_err(anyhow::Error::from).and_then(read);
            done.with_context(|| format!("cannot understand {}", path.display()))?;
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
            Ok(kernel) => self.push(signature.ident.to_string(), kernel, body),
            Err(error) => self.error = Some(error),
        }
    }

    fn push(&mut self, name: String, kernel: Option<Attribute>, body: Body) {
        self.declared.functions.push(Function { name, file: self.file, kernel, body });
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
            self.push(format!("{name}!"), None, body);
        }
        visit::visit_item_macro(self, item);
    }

    /// What a macro declares, too, may be called.
    fn visit_macro(&mut self, call: &'ast Macro) {
        syntax::visit_tokens(self, call.tokens.clone());
    }

    fn visit_item_const(&mut self, item: &'ast ItemConst) {
        self.declared.constants.add(&item.ident, self.file, &item.expr);
        visit::visit_item_const(self, item);
    }
}

impl Body {
    /// How often each name is called.
    pub fn called(&self) -> BTreeMap<&str, usize> {
        let mut called = BTreeMap::new();
        for (name, _) in &self.calls {
            *called.entry(name.as_str()).or_default() += 1;
        }
        called
    }

    fn call(&mut self, name: &Ident, mark: &str) {
        self.calls.push((format!("{name}{mark}"), name.span().start().line));
    }
}

impl<'ast> Visit<'ast> for Body {
    /// A function in it counts where it is called.
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
        match last.ident.to_string().as_str() {
            "shared_array" => self.arrays.push(Array::of(call)),
            name => {
                self.prints |= name == "println";
                syntax::visit_tokens(self, call.tokens.clone());
            }
        }
    }
}
