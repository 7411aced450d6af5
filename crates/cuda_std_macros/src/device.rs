//! `#[device]`: marks functions as device code, so that they report their accesses to the simulator.

use proc_macro2::TokenStream;
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Block, Error, ImplItemFn, Item, ItemMod, Signature, TraitItemFn, parse_quote, parse2};

use crate::{accesses, entry_step, passes};

/// Expands the attribute. For the GPU, the item goes through the same passes as a kernel for the GPU.
pub fn expand(attributes: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if let Some(token) = attributes.into_iter().next() {
        return Err(Error::new(token.span(), "`#[device]` takes no arguments: write `#[device]` alone"));
    }
    let item = in_functions(item, |_, signature, block| passes::for_both(signature, block))?;
    let device = in_functions(item.clone(), |_, signature, block| passes::for_gpu(signature, block))?;
    let host = in_functions(item, |attributes, signature, block| {
        let mut own = block.clone();
        passes::for_simulator(signature, &mut own)?;
        accesses::observe_entry(signature, &mut own);
        entry_step::tell(attributes, signature, block, own);
        Ok(())
    })?;
    Ok(quote!(::cuda_std::__private::kernel! { device { #device } host { #host } }))
}

/// Returns the item with `change` applied to each function in it.
fn in_functions(
    item: TokenStream,
    change: impl FnMut(&mut Vec<Attribute>, &Signature, &mut Block) -> syn::Result<()>,
) -> syn::Result<TokenStream> {
    let mut functions = Functions { change, result: Ok(()) };
    let item = match parse2::<Item>(item.clone()) {
        Ok(Item::Mod(ItemMod { content: None, semi, .. })) => {
            let message = "`#[device]` cannot mark a module in another file: mark the functions or the `impl` blocks \
                           in that file";
            return Err(Error::new_spanned(semi, message));
        }
        Ok(mut item @ (Item::Fn(_) | Item::Impl(_) | Item::Mod(_) | Item::Trait(_))) => {
            functions.visit_item_mut(&mut item);
            quote!(#item)
        }
        Ok(other) => {
            let message =
                "`#[device]` marks functions, `impl` blocks, traits and modules with their content: move it to one";
            return Err(Error::new_spanned(other, message));
        }
        Err(_) => {
            // A method cannot be parsed as an item, because it may have `self`.
            let mut function: ImplItemFn = parse2(item)?;
            functions.visit_impl_item_fn_mut(&mut function);
            quote!(#function)
        }
    };
    functions.result.map(|()| item)
}

/// Applies `change` to the functions of an item, except for kernels.
struct Functions<F> {
    change: F,
    /// The first error that `change` returned.
    result: syn::Result<()>,
}

impl<F: FnMut(&mut Vec<Attribute>, &Signature, &mut Block) -> syn::Result<()>> Functions<F> {
    fn change(&mut self, attributes: &mut Vec<Attribute>, signature: &Signature, block: &mut Block) {
        let is_kernel = attributes.iter().any(|attribute| is_named(attribute, "kernel"));
        unmark(attributes);
        // Code that the compiler evaluates cannot report accesses.
        if !is_kernel && signature.constness.is_none() {
            // A call that returns `()` becomes an argument; see `call_path`.
            attributes.push(parse_quote!(#[allow(clippy::unit_arg)]));
            // A loop over indices is what keeps a thread's arrays in registers.
            attributes.push(parse_quote!(#[allow(clippy::manual_memcpy, clippy::needless_range_loop)]));
            let changed = (self.change)(attributes, signature, block);
            if self.result.is_ok() {
                self.result = changed;
            }
        }
    }
}

impl<F: FnMut(&mut Vec<Attribute>, &Signature, &mut Block) -> syn::Result<()>> VisitMut for Functions<F> {
    fn visit_item_fn_mut(&mut self, function: &mut syn::ItemFn) {
        self.change(&mut function.attrs, &function.sig, &mut function.block);
    }

    fn visit_impl_item_fn_mut(&mut self, function: &mut ImplItemFn) {
        self.change(&mut function.attrs, &function.sig, &mut function.block);
    }

    fn visit_trait_item_fn_mut(&mut self, function: &mut TraitItemFn) {
        if let Some(block) = &mut function.default {
            self.change(&mut function.attrs, &function.sig, block);
        }
    }

    fn visit_item_impl_mut(&mut self, block: &mut syn::ItemImpl) {
        unmark(&mut block.attrs);
        visit_mut::visit_item_impl_mut(self, block);
    }

    fn visit_item_mod_mut(&mut self, module: &mut ItemMod) {
        unmark(&mut module.attrs);
        visit_mut::visit_item_mod_mut(self, module);
    }
}

/// Removes `#[device]` from the attributes of an item inside of another item under `#[device]`.
fn unmark(attributes: &mut Vec<Attribute>) {
    attributes.retain(|attribute| !is_named(attribute, "device"));
}

fn is_named(attribute: &Attribute, name: &str) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == name)
}
