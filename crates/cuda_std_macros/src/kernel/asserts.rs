//! Replaces `assert!`, `println!` and similar macros in a kernel's body by those of `cuda_std`, which print on a GPU.
//!
//! # Design
//!
//! PTX is built with `panic = immediate-abort`: a panic is a `trap` without a message. `#[kernel]` therefore replaces
//! `assert!`, `assert_eq!`, `panic!` and similar macros by those of `cuda_std`. On a GPU these print block, thread,
//! file, line and message by `vprintf` before the trap, in a function that is not inlined. In the simulator a panic has
//! its message and line without this pass.
//!
//! The crate `gpu` turns the messages off with the feature `silent-asserts`, so that its kernels do not call the
//! printing function.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Item, Macro, parse2};

use crate::constants::leave_constants;

const NAMES: [&str; 8] =
    ["assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq", "debug_assert_ne", "panic", "unreachable"];

const PRINTS: [&str; 2] = ["print", "println"];

/// Makes the assertions of `body` print a message on a GPU. The simulator keeps core's macros.
pub fn rewrite(body: &mut Block) {
    Rewrite { names: &NAMES, found: Vec::new() }.visit_block_mut(body);
}

/// Replaces `print!` and `println!` in `body` by `cuda_std`'s macros, even where std's macros of these names are in
/// scope.
pub fn rewrite_prints(body: &mut Block) {
    Rewrite { names: &PRINTS, found: Vec::new() }.visit_block_mut(body);
}

/// Returns items to put next to the function. They use an explicit import such as `use cuda_std::println`, which the
/// compiler would otherwise report as unused, because rewritten calls have full paths. `cuda_std` has a function with
/// the name of each macro. The items refer to this function, which either the explicit import or a glob import among
/// the items provides.
pub fn uses(body: &Block) -> TokenStream {
    let mut rewrite = Rewrite { names: &[], found: Vec::new() };
    rewrite.visit_block_mut(&mut body.clone());
    let used = rewrite.found;
    if used.is_empty() {
        return TokenStream::new();
    }
    quote! {
        #(#[allow(unused_imports)] use ::cuda_std::__private::named_as_macros::#used::*;)*
        const _: () = { #(let _ = #used;)* };
    }
}

struct Rewrite {
    names: &'static [&'static str],
    /// The names of the macros that the body calls without a path.
    found: Vec<Ident>,
}

impl VisitMut for Rewrite {
    fn visit_macro_mut(&mut self, call: &mut Macro) {
        let segments: Vec<String> = call.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let is_cores = match &segments[..] {
            [name] => self.names.contains(&name.as_str()),
            [krate, name] => (krate == "core" || krate == "std") && self.names.contains(&name.as_str()),
            _ => false,
        };
        if let [name] = &segments[..]
            && (NAMES.contains(&name.as_str()) || PRINTS.contains(&name.as_str()))
            && !self.found.iter().any(|found| found == name)
        {
            self.found.extend(call.path.get_ident().cloned());
        }
        if is_cores && let Some(last) = call.path.segments.last() {
            let name = &last.ident;
            // The path keeps the source position of the call, because the message names this position.
            if let Ok(path) = parse2(quote_spanned!(call.path.span()=> ::cuda_std::#name)) {
                call.path = path;
            }
        }
        visit_mut::visit_macro_mut(self, call);
    }

    leave_constants!();

    fn visit_item_mut(&mut self, _item: &mut Item) {}
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;
    use syn::parse_quote;

    use super::*;

    #[test]
    fn assertions_are_cuda_stds_but_for_what_is_constant() {
        let mut body: Block = parse_quote!({
            assert!(a < b);
            let c = || core::assert_eq!(a, b);
            const { assert!(N > 0) };
            other::assert!(a);
            println!("{}", a);
            if a {
                panic!("no")
            }
        });
        rewrite(&mut body);
        let text = body.to_token_stream().to_string();
        for part in [
            ":: cuda_std :: assert ! (a < b)",
            ":: cuda_std :: assert_eq ! (a , b)",
            "const { assert ! (N > 0) }",
            "other :: assert ! (a)",
            "println ! (\"{}\" , a)",
            ":: cuda_std :: panic ! (\"no\")",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }
}
