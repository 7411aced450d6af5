//! Rewrites the shared memory that a body declares: statics, and the arrays of a kernel.
//!
//! # Design
//!
//! The macro cannot declare an array whose size is known only within a generic function. It emits an `asm!` with a
//! comment instead, from which `cuda_builder` makes the declaration. The array's symbol contains its size and a number
//! for the instance of the function: the compiler knows both when it generates the instance's code, and each copy of
//! inlined code names the same array. The simulator, too, has one array per source position and instance.
//!
//! A kernel is not generic in the PTX. Its arrays are items, which stand beside the entry.

use std::collections::HashSet;

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Error, Expr, ExprClosure, ExprMacro, ExprPath, GenericArgument, Item, ItemStatic, ItemUse, Local, Macro,
    Pat, PathArguments, StaticMutability, Stmt, Type, UseTree, parse_quote,
};

use super::local;
use crate::address_space::{AddressSpace, take};

/// Turns the statics of the body into shared memory.
pub fn rewrite(body: &mut Block) -> syn::Result<()> {
    let mut statics = Statics::default();
    statics.visit_block_mut(body);
    statics.error.map_or(Ok(()), Err)
}

/// Marks each `shared_array!` of a kernel's body, except for those that use items of the body.
pub fn mark_arrays(body: &mut Block) {
    let mut items = Items::default();
    items.visit_block(body);
    KernelArrays(items.names).visit_block_mut(body);
}

/// Names each part of dynamic shared memory after its variable, for the simulator.
#[derive(Default)]
pub struct DynamicParts {
    /// The variables that hold dynamic shared memory or a part of it.
    variables: HashSet<Ident>,
}

impl VisitMut for DynamicParts {
    fn visit_local_mut(&mut self, variable: &mut Local) {
        if let Some(init) = &mut variable.init {
            self.name(&variable.pat, &mut init.expr);
        }
        visit_mut::visit_local_mut(self, variable);
    }

    // A name is forgotten at the end of its block. A closure has separate names.

    fn visit_block_mut(&mut self, block: &mut Block) {
        let before = self.variables.clone();
        visit_mut::visit_block_mut(self, block);
        self.variables = before;
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut ExprClosure) {
        let before = std::mem::take(&mut self.variables);
        visit_mut::visit_expr_closure_mut(self, closure);
        self.variables = before;
    }
}

impl DynamicParts {
    /// Names the parts in `value` after the variables in `pattern`.
    fn name(&mut self, pattern: &Pat, value: &mut Expr) {
        match (pattern, value) {
            (Pat::Type(typed), value) => self.name(&typed.pat, value),
            // If the lengths differ, the pattern has a `..` that stands for any number of parts.
            (Pat::Tuple(pattern), Expr::Tuple(value)) if pattern.elems.len() == value.elems.len() => {
                pattern.elems.iter().zip(&mut value.elems).for_each(|(pattern, value)| self.name(pattern, value));
            }
            (Pat::Ident(variable), value) => {
                let is_part = self.is_part(value);
                if is_part || self.is_dynamic(value) {
                    self.variables.insert(variable.ident.clone());
                } else {
                    self.variables.remove(&variable.ident);
                }
                if is_part {
                    let name = variable.ident.unraw().to_string();
                    *value = parse_quote!(#value.named(#name));
                }
            }
            _ => {}
        }
    }

    /// Returns true if `value` is `dynamic_shared().part(…)`, or calls `part` on a variable that holds dynamic shared
    /// memory. A cast may follow. Also returns true for tiles there: `SharedTile::at(dynamic_shared(), …)`.
    fn is_part(&self, value: &Expr) -> bool {
        let call = match value {
            Expr::MethodCall(call) => call,
            Expr::Call(call) => {
                return is_tile(&call.func) && call.args.first().is_some_and(|array| self.is_array(array));
            }
            _ => return false,
        };
        match call.method.to_string().as_str() {
            "part" => self.is_dynamic(&call.receiver) || self.is_part(&call.receiver),
            "cast" => self.is_part(&call.receiver),
            _ => false,
        }
    }

    /// Returns true if `value` is dynamic shared memory or a part of it.
    fn is_array(&self, value: &Expr) -> bool {
        self.is_dynamic(value) || self.is_part(value)
    }

    /// Returns true if `value` is `dynamic_shared()`, with or without a cast, or a variable that holds it.
    fn is_dynamic(&self, value: &Expr) -> bool {
        match value {
            Expr::Path(variable) => variable.path.get_ident().is_some_and(|variable| self.variables.contains(variable)),
            Expr::MethodCall(call) if call.method == "cast" => self.is_dynamic(&call.receiver),
            Expr::Call(call) => match &*call.func {
                Expr::Path(function) => {
                    function.path.segments.last().is_some_and(|last| last.ident == "dynamic_shared")
                }
                _ => false,
            },
            _ => false,
        }
    }
}

/// Returns true for the path `SharedTile::at` or `SharedTile::array_at`.
fn is_tile(function: &Expr) -> bool {
    let Expr::Path(function) = function else { return false };
    let mut names = function.path.segments.iter().rev().map(|segment| &segment.ident);
    names.next().is_some_and(|name| name == "at" || name == "array_at")
        && names.next().is_some_and(|of| of == "SharedTile")
}

/// The names of the items that a body declares or imports.
#[derive(Default)]
struct Items {
    names: HashSet<Ident>,
}

impl<'ast> Visit<'ast> for Items {
    fn visit_item(&mut self, item: &'ast Item) {
        let name = match item {
            Item::Const(item) => Some(&item.ident),
            Item::Type(item) => Some(&item.ident),
            Item::Struct(item) => Some(&item.ident),
            Item::Enum(item) => Some(&item.ident),
            Item::Fn(item) => Some(&item.sig.ident),
            _ => None,
        };
        self.names.extend(name.cloned());
        visit::visit_item(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.add_imports(&item.tree);
    }
}

impl Items {
    fn add_imports(&mut self, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => self.add_imports(&path.tree),
            UseTree::Name(name) => drop(self.names.insert(name.ident.clone())),
            UseTree::Rename(rename) => drop(self.names.insert(rename.rename.clone())),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_imports(tree)),
            _ => {}
        }
    }
}

/// Puts the word `mod` into each `shared_array!` that does not use the kernel's generic parameters, which this set has.
/// An item beside the kernel's PTX entry can then declare the array.
struct KernelArrays(HashSet<Ident>);

impl VisitMut for KernelArrays {
    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        let is_array = mac.path.segments.last().is_some_and(|last| last.ident == "shared_array");
        if is_array && !mentions(&mac.tokens, &self.0) {
            let array = mac.tokens.clone().into_iter().filter(|token| token.to_string() != "mod");
            mac.tokens = quote!(mod #(#array)*);
        }
    }

    // A function in the body may be generic.
    fn visit_item_mut(&mut self, _item: &mut Item) {}
}

fn mentions(tokens: &TokenStream, names: &HashSet<Ident>) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => names.contains(&ident),
        TokenTree::Group(group) => mentions(&group.stream(), names),
        _ => false,
    })
}

/// Replaces each `#[address_space(shared)] static mut X: T` of a block by a pointer to shared memory, and each `X` by a
/// dereference of this pointer.
#[derive(Default)]
struct Statics {
    error: Option<Error>,
}

impl VisitMut for Statics {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut pointers: Vec<(Ident, Ident)> = Vec::new();
        let mut declarations: Vec<Stmt> = Vec::new();
        block.stmts.retain_mut(|statement| {
            let Stmt::Item(Item::Static(item)) = statement else { return true };
            let name = item.attrs.iter().find_map(|attribute| attribute.path().get_ident().cloned().filter(is_it));
            match take(&mut item.attrs) {
                Ok(None) => true,
                Ok(Some(AddressSpace::Shared)) => match declaration(item) {
                    Ok((pointer, declaration)) => {
                        if pointers.is_empty() {
                            declarations.extend(name.map(|name| use_of(&name)));
                        }
                        pointers.push((item.ident.clone(), pointer));
                        declarations.push(declaration);
                        false
                    }
                    Err(error) => self.refuse(error),
                },
                Ok(Some(_)) => self.refuse(Error::new(
                    item.ident.span(),
                    "a kernel can declare only shared memory: move this static out of the kernel",
                )),
                Err(error) => self.refuse(error),
            }
        });
        if !pointers.is_empty() {
            block.stmts.splice(0..0, declarations);
            Uses(&pointers).visit_block_mut(block);
        }
        visit_mut::visit_block_mut(self, block);
    }
}

impl Statics {
    fn refuse(&mut self, error: Error) -> bool {
        self.error.get_or_insert(error);
        true
    }
}

fn is_it(name: &Ident) -> bool {
    name == "address_space"
}

/// Returns a statement that uses the attribute's name, so that the compiler does not report its import as unused. If
/// the name is imported, both glob imports in the statement lead to the same item. Otherwise `cuda_std::prelude`
/// provides it.
fn use_of(attribute: &Ident) -> Stmt {
    parse_quote! {
        const _: () = {
            #[allow(dead_code, unused_imports)]
            mod uses {
                use super::*;
                use ::cuda_std::prelude::*;
                #[#attribute(shared)]
                static USED: [u8; 1] = [0];
            }
        };
    }
}

/// Returns the name of the pointer that replaces a static in shared memory, and the declaration of the pointer.
fn declaration(item: &ItemStatic) -> syn::Result<(Ident, Stmt)> {
    let ItemStatic { mutability, ident, ty, .. } = item;
    if !matches!(mutability, StaticMutability::Mut(_)) {
        return Err(Error::new(
            ident.span(),
            "a static in shared memory must be written before it is read: declare it as `static mut`",
        ));
    }
    let pointer = local(&format!("shared_{}", ident.unraw()));
    let (element, len) = elements(ty);
    let label = ident.unraw().to_string();
    let statement = parse_quote! {
        #[allow(non_snake_case)]
        let #pointer: *mut #ty = ::cuda_std::shared_array![static #label #element; #len].cast();
    };
    Ok((pointer, statement))
}

/// Returns the element type and the length of the shared array that holds a value of type `ty`. If `ty` is an array,
/// the shared array has its elements, so that the simulator reports the index of an element. A `MaybeUninit<T>` is
/// stored as a `T`, because shared memory is never initialised.
pub fn elements(ty: &Type) -> (Type, TokenStream) {
    match initialised(ty) {
        Type::Array(array) => {
            let len = &array.len;
            (*array.elem, quote!(#len))
        }
        value => (value, quote!(1)),
    }
}

/// Returns `ty` with `T` in place of each `MaybeUninit<T>`, also within arrays and tuples.
fn initialised(ty: &Type) -> Type {
    struct Initialised;
    impl VisitMut for Initialised {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            match ty {
                Type::Array(array) => self.visit_type_mut(&mut array.elem),
                Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(|part| self.visit_type_mut(part)),
                Type::Paren(inner) => self.visit_type_mut(&mut inner.elem),
                Type::Group(inner) => self.visit_type_mut(&mut inner.elem),
                ty => {
                    if let Some(inner) = inside(ty).cloned() {
                        *ty = inner;
                        self.visit_type_mut(ty);
                    }
                }
            }
        }
    }
    let mut ty = ty.clone();
    Initialised.visit_type_mut(&mut ty);
    ty
}

/// Returns `T` if `ty` is a `MaybeUninit<T>`, and otherwise `None`.
fn inside(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "MaybeUninit")?;
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
            GenericArgument::Type(inner) => Some(inner),
            _ => None,
        },
        _ => None,
    }
}

/// Replaces the name of each static by a dereference of the pointer that is paired with it.
struct Uses<'a>(&'a [(Ident, Ident)]);

impl Uses<'_> {
    /// Returns the dereference that replaces `name`, or `None` if `name` is not the name of a static. The dereference
    /// has the source position of `name`, which reports show.
    fn pointee(&self, name: &Ident) -> Option<TokenStream> {
        let (_, pointer) = self.0.iter().find(|(known, _)| known == name)?;
        Some(quote_spanned!(name.span()=> (*#pointer)))
    }

    fn in_tokens(&self, tokens: TokenStream) -> TokenStream {
        let one = |token: TokenTree| match token {
            TokenTree::Ident(ident) => self.pointee(&ident).unwrap_or_else(|| quote!(#ident)),
            TokenTree::Group(group) => {
                let mut replaced = Group::new(group.delimiter(), self.in_tokens(group.stream()));
                replaced.set_span(group.span());
                quote!(#replaced)
            }
            other => quote!(#other),
        };
        tokens.into_iter().map(one).collect()
    }
}

impl VisitMut for Uses<'_> {
    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        if let Expr::Path(ExprPath { qself: None, path, .. }) = expression
            && let Some(pointee) = path.get_ident().and_then(|name| self.pointee(name))
        {
            *expression = parse_quote!(#pointee);
            return;
        }
        visit_mut::visit_expr_mut(self, expression);
    }

    fn visit_expr_macro_mut(&mut self, call: &mut ExprMacro) {
        call.mac.tokens = self.in_tokens(call.mac.tokens.clone());
    }

    fn visit_stmt_mut(&mut self, statement: &mut Stmt) {
        if let Stmt::Macro(call) = statement {
            call.mac.tokens = self.in_tokens(call.mac.tokens.clone());
            return;
        }
        visit_mut::visit_stmt_mut(self, statement);
    }

    // A nested function cannot use the pointer, so the compiler rejects a use of the static there.
    fn visit_item_mut(&mut self, _item: &mut Item) {}
}
