//! Expands `print!` and `println!`. The simulator gets Rust's format string. A GPU gets the parts of the format string
//! for C's `vprintf`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, ExprLit, Ident, Lit, LitStr, Token};

/// Expands a call of `print!` or `println!`. `end` is printed after the message.
pub fn expand(input: TokenStream, end: &str) -> syn::Result<TokenStream> {
    let arguments = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(input)?;
    let mut arguments = arguments.into_iter();
    let format = match arguments.next() {
        None => LitStr::new("", proc_macro2::Span::call_site()),
        Some(Expr::Lit(ExprLit { lit: Lit::Str(format), .. })) => format,
        Some(other) => {
            let message = "expected a format string, such as `\"{}\"`, before the values";
            return Err(Error::new_spanned(other, message));
        }
    };
    let arguments: Vec<Expr> = arguments.collect();
    let line = LitStr::new(&format!("{}{end}", format.value()), format.span());
    let (pieces, values) = pieces(&line, &arguments)?;
    if values.len() > 8 {
        return Err(Error::new(format.span(), "a kernel can print at most eight values at once: use several calls"));
    }
    Ok(quote! {
        ::cuda_std::__private::println! {
            host { #line, #(#arguments),* }
            device { #(#pieces),* } { #(#values),* }
        }
    })
}

/// Returns the parts of a format string and the values of its placeholders.
pub fn pieces(format: &LitStr, arguments: &[Expr]) -> syn::Result<(Vec<TokenStream>, Vec<TokenStream>)> {
    let text = format.value();
    let refuse = |message: String| Error::new(format.span(), message);
    let (mut pieces, mut values, mut literal) = (Vec::new(), Vec::new(), String::new());
    let (named, arguments): (Vec<_>, Vec<_>) = arguments.iter().partition(|argument| name_of(argument).is_some());
    let mut unused: Vec<_> = named.iter().collect();
    let mut positional = arguments.iter();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '{' | '}' if rest.peek() == Some(&c) => {
                rest.next();
                literal.push(c);
            }
            '{' => {
                let inside: String = rest.by_ref().take_while(|&c| c != '}').collect();
                let (name, spec) = inside.split_once(':').unwrap_or((&inside, ""));
                values.push(match name.trim() {
                    "" => {
                        let value = positional.next().ok_or_else(|| {
                            refuse("the format string has more placeholders than values: add values".into())
                        })?;
                        quote!(#value)
                    }
                    name => {
                        let name: Ident = syn::parse_str(name)
                            .map_err(|_| refuse(format!("expected `{{}}` or `{{name}}`, not `{{{name}}}`")))?;
                        unused.retain(|argument| name_of(argument) != Some(&name));
                        match named.iter().find(|argument| name_of(argument) == Some(&name)) {
                            Some(Expr::Assign(argument)) => argument.right.to_token_stream(),
                            _ => quote!(#name),
                        }
                    }
                });
                if !literal.is_empty() {
                    pieces.push(quote!(Text(#literal)));
                    literal.clear();
                }
                pieces.push(placeholder(spec).map_err(refuse)?);
            }
            c => literal.push(c),
        }
    }
    if positional.next().is_some() || !unused.is_empty() {
        return Err(refuse("the format string has fewer placeholders than values: add placeholders".into()));
    }
    if !literal.is_empty() {
        pieces.push(quote!(Text(#literal)));
    }
    Ok((pieces, values))
}

/// Returns the name of an argument of the form `name = value`.
fn name_of(argument: &Expr) -> Option<&Ident> {
    match argument {
        Expr::Assign(assignment) => match &*assignment.left {
            Expr::Path(path) => path.path.get_ident(),
            _ => None,
        },
        _ => None,
    }
}

/// Parses the format options of a placeholder: `0`, a width, `.` and a precision. Only these options are supported,
/// because C writes them like Rust.
fn placeholder(spec: &str) -> Result<TokenStream, String> {
    let spec = spec.trim_end();
    let (flags, hexadecimal) = match spec.as_bytes().last() {
        Some(&letter @ (b'x' | b'X' | b'?')) => {
            (&spec[..spec.len() - 1], quote!(::core::option::Option::Some(#letter)))
        }
        _ => (spec, quote!(::core::option::Option::None)),
    };
    let (width, precision) = flags.split_once('.').unwrap_or((flags, "0"));
    let number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    if number(width) && number(precision) && !precision.is_empty() {
        Ok(quote!(Argument(#flags, #hexadecimal)))
    } else {
        Err(format!("a kernel cannot print with `{{:{spec}}}`: use a width, a precision, `x` or `?`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand_text(input: TokenStream) -> String {
        expand(input, "\n").unwrap_or_else(|error| error.into_compile_error()).to_string()
    }

    #[test]
    fn placeholders_become_arguments() {
        let text = expand_text(quote!("a {} b {c:08x} {{}}", 1 + 1));
        for part in ["Text (\"a \")", "Argument (\"08\"", "Some (120u8)", "Text (\" {}\\n\")", "{ 1 + 1 , c }"] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }

    #[test]
    fn arguments_may_have_names() {
        let text = expand_text(quote!("{} {a} {b} {a}", x, a = y + 1));
        assert!(text.contains("{ x , y + 1 , b , y + 1 }"), "unexpected: {text}");
    }

    #[test]
    fn what_cannot_be_printed_on_a_gpu_is_refused() {
        for bad in
            [quote!("{:#?}", 1), quote!("{}"), quote!("x", 1), quote!("{}", 1, a = 2), quote!("{:>4}", 1), quote!(1)]
        {
            assert!(expand_text(bad.clone()).contains("compile_error"), "accepted: {bad}");
        }
    }
}
