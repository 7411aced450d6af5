//! Code for one target only: inline PTX, which the simulator cannot run, and `compiler_fence`, which LLVM's PTX back
//! end cannot compile.

use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Block, Expr, ExprCall, Item, Macro, Stmt, parse_quote_spanned};

use crate::names::last_name;

/// Replaces each `asm!` that is compiled for every target by a compile error, because the host has other instructions.
pub fn refuse_ptx(body: &mut Block) {
    Assembly.visit_block_mut(body);
}

struct Assembly;

impl VisitMut for Assembly {
    fn visit_stmt_mut(&mut self, statement: &mut Stmt) {
        let attributes = match statement {
            Stmt::Local(local) => &local.attrs,
            Stmt::Macro(call) => &call.attrs,
            Stmt::Expr(value, _) => attributes(value),
            Stmt::Item(_) => &[][..],
        };
        if !is_conditional(attributes) {
            visit_mut::visit_stmt_mut(self, statement);
        }
    }

    fn visit_expr_mut(&mut self, value: &mut Expr) {
        if !is_conditional(attributes(value)) {
            visit_mut::visit_expr_mut(self, value);
        }
    }

    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        if !is_conditional(&arm.attrs) {
            visit_mut::visit_arm_mut(self, arm);
        }
    }

    fn visit_macro_mut(&mut self, call: &mut Macro) {
        // Without instructions, `asm!` is for every target.
        let is_empty = call.tokens.clone().into_iter().next().is_some_and(|first| first.to_string() == r#""""#);
        if !is_empty && last_name(&call.path).is_some_and(|name| name == "asm") {
            *call = parse_quote_spanned!(call.path.span()=> ::core::compile_error!(
                "the simulator cannot run PTX: put `#[cfg(target_arch = \"nvptx64\")]` on the block with the `asm!`, \
                 and beside it a block under `#[cfg(not(target_arch = \"nvptx64\"))]` that does the same in Rust"
            ));
        }
    }

    fn visit_item_mut(&mut self, _item: &mut Item) {}
}

fn is_conditional(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("cfg"))
}

/// Returns the attributes of the kinds of expression that can have a `cfg`.
fn attributes(value: &Expr) -> &[Attribute] {
    match value {
        Expr::Block(value) => &value.attrs,
        Expr::Unsafe(value) => &value.attrs,
        Expr::Macro(value) => &value.attrs,
        Expr::If(value) => &value.attrs,
        Expr::Match(value) => &value.attrs,
        Expr::Call(value) => &value.attrs,
        Expr::MethodCall(value) => &value.attrs,
        Expr::Assign(value) => &value.attrs,
        _ => &[],
    }
}

/// Replaces `compiler_fence` by a function of `cuda_std` with the same effect.
pub fn replace_fences(body: &mut Block) {
    Fences.visit_block_mut(body);
}

struct Fences;

impl VisitMut for Fences {
    fn visit_expr_call_mut(&mut self, call: &mut ExprCall) {
        visit_mut::visit_expr_call_mut(self, call);
        if let Expr::Path(path) = &*call.func
            && call.args.len() == 1
            && last_name(&path.path).is_some_and(|name| name == "compiler_fence")
        {
            let span = path.span();
            // The name counts as used.
            let replacement = quote_spanned!(span=> ({ let _ = #path; ::cuda_std::__private::compiler_fence }));
            *call.func = Expr::Verbatim(replacement);
        }
    }
}

#[cfg(test)]
mod tests {
    use quote::{ToTokens, quote};

    use super::*;

    #[test]
    fn assembly_needs_a_condition() {
        let mut body: Block = syn::parse_quote!({
            #[cfg(gpu)]
            unsafe {
                asm!("mov.u32 {}, 1;", out(reg32) x)
            }
            unsafe { core::arch::asm!("mov.u32 {}, 2;", out(reg32) x) }
            unsafe { asm!("", options(nomem)) }
        });
        refuse_ptx(&mut body);
        let text = body.to_token_stream().to_string();
        assert!(text.contains("{}, 1;") && !text.contains("{}, 2;"), "{text}");
        assert_eq!(text.matches("compile_error").count(), 1, "{text}");
    }

    #[test]
    fn compiler_fences_are_replaced() {
        let mut body: Block = syn::parse_quote!({
            core::sync::atomic::compiler_fence(Ordering::SeqCst);
            fence(Ordering::SeqCst);
        });
        replace_fences(&mut body);
        let expected = quote!({
            ({
                let _ = core::sync::atomic::compiler_fence;
                ::cuda_std::__private::compiler_fence
            })(Ordering::SeqCst);
            fence(Ordering::SeqCst);
        });
        assert_eq!(body.to_token_stream().to_string(), expected.to_string());
    }
}
