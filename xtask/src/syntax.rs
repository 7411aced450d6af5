//! What `syn` leaves to its users: Rust inside of the arguments and bodies of macros, and a file as a list of tokens.

use std::ops::Range;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::{Block, Expr, Path, Token};

/// The last name of a path: `sync_threads` of `cuda_std::thread::sync_threads`.
pub fn last_name(path: &Path) -> String {
    path.segments.last().map_or_else(String::new, |segment| segment.ident.to_string())
}

/// Visits what stands in a macro's tokens and is Rust by itself: expressions between commas, statements, or what is one
/// of these inside of some brackets. A macro's variable, `$x`, is taken for a name.
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

/// A name, a literal, a bracket or a character of punctuation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    /// As it is written.
    pub text: String,
    /// Its line, from 1.
    pub line: usize,
    /// Its bytes in the file.
    pub bytes: Range<usize>,
}

/// The tokens of a file in their order. Comments are none, and documentation is an attribute with a literal.
pub fn flat(tokens: TokenStream) -> Vec<Token> {
    let mut all = Vec::new();
    flatten(tokens, &mut all);
    all
}

fn flatten(tokens: TokenStream, all: &mut Vec<Token>) {
    for tree in tokens {
        let mut add = |text: &str, span: proc_macro2::Span| {
            all.push(Token { text: text.to_owned(), line: span.start().line, bytes: span.byte_range() });
        };
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                add(open, group.span_open());
                flatten(group.stream(), all);
                all.push(Token {
                    text: close.to_owned(),
                    line: group.span_close().start().line,
                    bytes: group.span_close().byte_range(),
                });
            }
            tree => add(&tree.to_string(), tree.span()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens of a text, with a space between them.
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
