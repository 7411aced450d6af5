//! Expands `assert!` and similar macros. For the simulator the expansion is core's macro. For a GPU it is a condition
//! and a message that C's `vprintf` prints.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, Lit, LitStr, Token};

use crate::println::pieces;

/// The maximum number of values that a message can print.
const MAX_VALUES: usize = 8;

pub fn expand(name: &str, input: TokenStream) -> TokenStream {
    let core = Ident::new(name, Span::call_site());
    let host = quote!(::core::#core!(#input));
    // Core's macro reports a syntax error.
    let Ok(arguments) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(input) else { return host };
    let arguments: Vec<Expr> = arguments.into_iter().collect();
    let device = device(name.trim_start_matches("debug_"), &arguments);
    let Some(device) = device else { return host };
    let device =
        if name.starts_with("debug_") { quote!(if ::core::cfg!(debug_assertions) { #device }) } else { device };
    quote!(::cuda_std::__private::assertion! { host { #host } device { #device } })
}

fn device(name: &str, arguments: &[Expr]) -> Option<TokenStream> {
    match (name, arguments) {
        ("assert", [condition, message @ ..]) => {
            let (mut parts, values) = user_message(message);
            if message.is_empty() {
                parts = quote!(Text(::core::concat!("assertion failed: ", ::core::stringify!(#condition))),);
            }
            let fail = fail(&quote!(#parts), &values);
            Some(quote!(if !(#condition) { #fail }))
        }
        ("assert_eq" | "assert_ne", [left, right, message @ ..]) => {
            let (operator, text) =
                if name == "assert_eq" { (quote!(==), "left == right") } else { (quote!(!=), "left != right") };
            let (parts, mut values) = user_message(message);
            let before = format!("assertion `{text}` failed");
            let colon = (!message.is_empty()).then(|| quote!(Text(": "),));
            let any = quote!(::core::option::Option::Some(b'?'));
            let parts = quote! {
                Text(#before), #colon #parts Text(", left: "), Argument("", #any), Text(", right: "),
                Argument("", #any),
            };
            values.extend([quote!(*left), quote!(*right)]);
            let fail = fail(&parts, &values);
            Some(quote! {
                match (&(#left), &(#right)) {
                    (left, right) => if !(*left #operator *right) { #fail },
                }
            })
        }
        ("panic" | "unreachable", message) => {
            let (parts, values) = user_message(message);
            let parts = match (name, message) {
                ("panic", []) => quote!(Text("explicit panic"),),
                ("panic", _) => parts,
                (_, []) => quote!(Text("internal error: entered unreachable code"),),
                _ => quote!(Text("internal error: entered unreachable code: "), #parts),
            };
            Some(fail(&parts, &values))
        }
        _ => None,
    }
}

/// Returns the parts of a message and the values of its placeholders. For a message that a GPU cannot print, returns
/// the message's source text and no values.
fn user_message(message: &[Expr]) -> (TokenStream, Vec<TokenStream>) {
    let Some((format, arguments)) = message.split_first() else { return (TokenStream::new(), Vec::new()) };
    let Expr::Lit(ExprLit { lit: Lit::Str(format), .. }) = format else {
        return (quote!(Text(::core::stringify!(#(#message),*)),), Vec::new());
    };
    match pieces(format, arguments) {
        Ok((pieces, values)) if values.len() <= MAX_VALUES - 2 => (quote!(#(#pieces,)*), values),
        _ => {
            let text = LitStr::new(&format.value(), format.span());
            (quote!(Text(#text),), Vec::new())
        }
    }
}

/// Returns code that prints `parts` with `values` and ends the kernel.
fn fail(parts: &TokenStream, values: &[TokenStream]) -> TokenStream {
    let names: Vec<_> = (0..values.len()).map(|i| format_ident!("value_{i}", span = Span::mixed_site())).collect();
    quote! {{
        #[allow(unused_imports)]
        use ::cuda_std::__private::{NotShown, Shown};
        match (#(&(#values),)*) {
            (#(#names,)*) => ::cuda_std::__private::fail! { { #parts } { #(Shown(#names).shown()),* } },
        }
    }}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulator_has_cores_own() {
        for (name, input) in
            [("assert", quote!(a < b)), ("debug_assert_eq", quote!(a, b, "of {}", c)), ("panic", quote!("no {c:>4}"))]
        {
            let text = expand(name, input.clone()).to_string();
            let core = format!("host {{ :: core :: {name} ! ({input}) }}");
            assert!(text.contains(&core), "{core} is not in {text}");
        }
    }

    #[test]
    fn messages_have_the_condition_the_values_and_the_users_text() {
        let parts = |name, input| expand(name, input).to_string();
        let text = parts("assert", quote!(a < b));
        assert!(text.contains("stringify ! (a < b)") && text.contains("if ! (a < b)"), "unexpected: {text}");
        let text = parts("assert", quote!(a < b, "at {i}: {}", 1 + 1));
        assert!(text.contains("Text (\"at \")") && text.contains("(& (i) , & (1 + 1) ,)"), "unexpected: {text}");
        let text = parts("assert_eq", quote!(a, b));
        assert!(text.contains("& (* left) , & (* right)") && text.contains("left == right"), "unexpected: {text}");
        let text = parts("panic", quote!("no {c:>4}"));
        assert!(text.contains("Text (\"no {c:>4}\")"), "an unsupported format should stay as in the source: {text}");
    }
}
