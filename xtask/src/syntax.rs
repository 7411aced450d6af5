//! Extends `syn`: visits Rust code in the tokens of macros, and returns a file as a list of tokens.

use std::ops::Range;

use anyhow::Result;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::{Block, Expr, Path, Token};

/// Returns the last name of a path, such as `sync_threads` for `cuda_std::thread::sync_threads`.
pub fn last_name(path: &Path) -> String {
    path.segments.last().map_or_else(String::new, |segment| segment.ident.to_string())
}

/// Visits the Rust code in a macro's tokens, which may be a list of expressions, statements, or brackets around these.
/// A variable `$x` of a macro is visited as the name `x`.
pub fn visit_tokens(visitor: &mut impl for<'a> Visit<'a>, tokens: TokenStream) {
    let tokens = without_dollars(tokens);
    if let Ok(list) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens.clone()) {
        list.iter().for_each(|expression| visitor.visit_expr(expression));
    } else if let Ok(statements) = Block::parse_within.parse2(tokens.clone()) {
        statements.iter().for_each(|statement| visitor.visit_stmt(statement));
    } else {
        for tree in tokens {
            if let TokenTree::Group(group) = tree {
                visit_tokens(visitor, group.stream());
            }
        }
    }
}

fn without_dollars(tokens: TokenStream) -> TokenStream {
    let kept = |tree| match tree {
        TokenTree::Punct(punct) if punct.as_char() == '$' => None,
        TokenTree::Group(group) => {
            let mut inside = Group::new(group.delimiter(), without_dollars(group.stream()));
            inside.set_span(group.span());
            Some(TokenTree::Group(inside))
        }
        tree => Some(tree),
    };
    tokens.into_iter().filter_map(kept).collect()
}

/// A name, a literal, a bracket or a punctuation character.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    /// The text of the token.
    pub text: String,
    /// The line of the token, from 1.
    pub line: usize,
    /// The byte range of the token in the file.
    pub bytes: Range<usize>,
}

/// Returns the tokens of a Rust text without comments and documentation.
///
/// # Errors
/// If the text is not valid Rust.
pub fn code(text: &str) -> Result<Vec<Token>> {
    let tokens = flat(text.parse().map_err(|error| anyhow::anyhow!("{error}"))?);
    let (mut code, mut rest) = (Vec::new(), &tokens[..]);
    while let Some((token, after)) = rest.split_first() {
        let documentation = documentation(rest);
        rest = documentation.map_or(after, |length| &rest[length..]);
        if documentation.is_none() {
            code.push(token.clone());
        }
    }
    Ok(code)
}

/// Returns the number of tokens of the documentation comment at the start of `tokens`, or `None` if there is none.
fn documentation(tokens: &[Token]) -> Option<usize> {
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.text == text);
    let start = if is(1, "!") { 2 } else { 1 };
    let is_doc = is(0, "#") && is(start, "[") && is(start + 1, "doc") && is(start + 2, "=") && is(start + 4, "]");
    is_doc.then_some(start + 5)
}

/// Returns the tokens of a file in order, without comments. Documentation appears as an attribute with a literal.
pub fn flat(tokens: TokenStream) -> Vec<Token> {
    let mut all = Vec::new();
    flatten(tokens, &mut all);
    all
}

fn flatten(tokens: TokenStream, all: &mut Vec<Token>) {
    for tree in tokens {
        let token = |text: &str, span: proc_macro2::Span| Token {
            text: text.to_owned(),
            line: span.start().line,
            bytes: span.byte_range(),
        };
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                all.push(token(open, group.span_open()));
                flatten(group.stream(), all);
                all.push(token(close, group.span_close()));
            }
            tree => all.push(token(&tree.to_string(), tree.span())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the tokens of a text, separated by spaces.
    fn texts(text: &str) -> String {
        let tokens = flat(text.parse().unwrap());
        for token in &tokens {
            assert!(token.text.is_empty() || text[token.bytes.clone()] == token.text, "{token:?}");
        }
        tokens.into_iter().map(|token| token.text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_are_no_tokens_and_literals_are_one() {
        assert_eq!(texts("a // b\nc /* d /* e */ f */ g"), "a c g");
        assert_eq!(texts("f(\"x // y\", 'z')"), "f ( \"x // y\" , 'z' )");
        assert_eq!(texts(r##"r#"unsafe { "a"#; x"##), r##"r#"unsafe { "a"# ; x"##);
        assert_eq!(texts("std::a cuda_std::b"), "std : : a cuda_std : : b");
    }

    #[test]
    fn a_token_has_its_line() {
        let lines: Vec<_> = flat("a\n{ b\n}".parse().unwrap()).into_iter().map(|token| token.line).collect();
        assert_eq!(lines, [1, 2, 2, 3]);
    }

    #[derive(Default)]
    struct Calls(Vec<String>);

    impl<'ast> Visit<'ast> for Calls {
        fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
            if let Expr::Path(path) = &*call.func {
                self.0.push(last_name(&path.path));
            }
        }
    }

    #[test]
    fn what_is_rust_in_a_macro_is_visited() {
        for (tokens, calls) in [
            ("a::b(1), \"{}\", c()", "b c"),
            ("let x = a(); b::<u8>();", "a b"),
            ("I in N => { a(I); if b() { c() } }", "a b c"),
            ("($x:expr) => { a($x) }; ($($y:ident)*) => { $(b($y);)* };", "a b"),
            ("T; 4", ""),
        ] {
            let mut found = Calls::default();
            visit_tokens(&mut found, tokens.parse().unwrap());
            assert_eq!(found.0.join(" "), calls, "{tokens}");
        }
    }
}
