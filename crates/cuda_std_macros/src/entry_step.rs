//! Makes a device function record the call through which a thread entered it. The simulator can then distinguish
//! threads that reach a barrier in the function through different calls.

use quote::quote;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, ExprCall, ExprMethodCall, Item, Lifetime, Macro, ReturnType, Signature, Type, parse_quote,
};

/// Replaces `body` by `rewritten`. If `body` calls anything, the new body also records the caller's line, and
/// `#[track_caller]` is added to `attributes`.
///
/// The rewritten body becomes a closure. Without it, `#[track_caller]` would give the caller's line to all accesses in
/// the body.
pub fn tell(attributes: &mut Vec<Attribute>, signature: &Signature, body: &mut Block, rewritten: Block) {
    let may_wait = has_calls(body);
    *body = rewritten;
    if !may_wait || signature.abi.is_some() || signature.asyncness.is_some() || signature.variadic.is_some() {
        return;
    }
    if attributes.iter().any(|attribute| attribute.path().is_ident("track_caller")) {
        // With `#[track_caller]` in the source, the body's accesses have the caller's line even without this pass.
        let statements = &body.stmts;
        *body = parse_quote!({
            let __step = ::cuda_std::__private::StepGuard::of_function();
            ::cuda_std::__private::Step::enter(&__step);
            #(#statements)*
        });
        return;
    }
    let result = match &signature.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, ty) if can_be_closure_s(ty) => quote!(#ty),
        ReturnType::Type(..) => return,
    };
    attributes.push(parse_quote!(#[track_caller]));
    attributes.push(parse_quote!(#[allow(clippy::redundant_closure_call)]));
    *body = parse_quote!({
        ::cuda_std::__private::Step::leave(
            ::cuda_std::__private::Step::enter(&::cuda_std::__private::Step::of_function()),
            (|| -> #result #body)(),
        )
    });
}

/// Returns true if a closure can have the return type `ty` of the function. A closure cannot return `impl Trait`,
/// `!` or a type that may borrow from a parameter.
fn can_be_closure_s(ty: &Type) -> bool {
    struct Finds(bool);

    impl Visit<'_> for Finds {
        fn visit_type(&mut self, ty: &Type) {
            self.0 |= matches!(ty, Type::Reference(_) | Type::ImplTrait(_) | Type::Never(_));
            visit::visit_type(self, ty);
        }

        fn visit_lifetime(&mut self, _lifetime: &Lifetime) {
            self.0 = true;
        }
    }

    let mut finds = Finds(false);
    finds.visit_type(ty);
    !finds.0
}

/// Returns true if `body` contains a call of a function, a method or a macro.
fn has_calls(body: &Block) -> bool {
    struct Calls(bool);

    impl Visit<'_> for Calls {
        fn visit_expr_call(&mut self, _call: &ExprCall) {
            self.0 = true;
        }

        fn visit_expr_method_call(&mut self, _call: &ExprMethodCall) {
            self.0 = true;
        }

        fn visit_macro(&mut self, _mac: &Macro) {
            self.0 = true;
        }

        fn visit_item(&mut self, _item: &Item) {}
    }

    let mut calls = Calls(false);
    calls.visit_block(body);
    calls.0
}
