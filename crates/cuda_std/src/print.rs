//! `print!`, `println!` and the messages of assertions, from a kernel.
//!
//! On a GPU the driver's `vprintf` formats the message. [`println!`](crate::println) translates Rust's format string to
//! a C format string at compile time, according to the types of the arguments. Every argument is passed as 8 bytes. A
//! string is passed as the address of a zero-terminated copy.

/// The longest C format string, in bytes.
pub const MAX_FORMAT: usize = 512;

/// A part of a format string.
#[derive(Clone, Copy)]
pub enum Piece {
    /// Literal text.
    Text(&'static str),
    /// The placeholder of the next argument. The fields are C's flags, width and precision, and the conversion if one
    /// is given: `x` or `X` for hexadecimal, or `?` for Rust's `{:?}`.
    Argument(&'static str, Option<u8>),
}

/// A format string as a type.
pub trait Pieces {
    /// The parts of the format string.
    const PIECES: &'static [Piece];
}

/// The kind of an argument, which determines C's placeholder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `%lld`
    Signed,
    /// `%llu`, or `%llx`
    Unsigned,
    /// `%g`, or `%f` with a precision
    Float,
    /// `%s`, in quotes for `{:?}`
    Text,
    /// `%s`
    Word,
}

/// A value that a kernel on a GPU can print: a number, a `bool` or a string.
pub trait PrintArgument: Copy {
    /// The kind of the argument.
    const KIND: Kind;

    /// The data behind the argument's 8 bytes, which must live until the message is printed.
    type Kept;

    /// Returns the data that must live until the message is printed.
    fn keep(self) -> Self::Kept;

    /// Returns the argument's 8 bytes, which may point into `kept`.
    fn word(kept: &Self::Kept) -> u64;
}

macro_rules! print_arguments {
    ($($type:ident $kind:ident $value:ident => $word:expr;)*) => {$(
        impl PrintArgument for $type {
            const KIND: Kind = Kind::$kind;
            type Kept = u64;
            #[inline(always)]
            fn keep(self) -> u64 { let $value = self; $word }
            #[inline(always)]
            fn word(kept: &u64) -> u64 { *kept }
        }
    )*};
}

print_arguments! {
    u8 Unsigned v => v as u64;
    u16 Unsigned v => v as u64;
    u32 Unsigned v => v as u64;
    u64 Unsigned v => v;
    usize Unsigned v => v as u64;
    i8 Signed v => v as i64 as u64;
    i16 Signed v => v as i64 as u64;
    i32 Signed v => v as i64 as u64;
    i64 Signed v => v as u64;
    isize Signed v => v as u64;
    f32 Float v => (v as f64).to_bits();
    f64 Float v => v.to_bits();
    bool Word v => (if v { c"true" } else { c"false" }).as_ptr() as u64;
    Unprintable Word _v => c"(a value)".as_ptr() as u64;
}

/// The largest number of bytes of a string that a GPU prints.
const MAX_TEXT: usize = 127;

impl PrintArgument for &str {
    const KIND: Kind = Kind::Text;
    type Kept = [u8; MAX_TEXT + 1];

    #[inline(always)]
    fn keep(self) -> Self::Kept {
        let mut kept = [0; MAX_TEXT + 1];
        for (to, from) in kept[..MAX_TEXT].iter_mut().zip(self.as_bytes()) {
            *to = *from;
        }
        kept
    }

    #[inline(always)]
    fn word(kept: &Self::Kept) -> u64 {
        kept.as_ptr() as u64
    }
}

/// The replacement, in a message, for a value that a GPU cannot print.
#[derive(Clone, Copy, Debug)]
pub struct Unprintable;

/// A value of any type in an assertion's message.
#[derive(Debug)]
pub struct Shown<'a, T: ?Sized>(pub &'a T);

impl<T: PrintArgument> Shown<'_, T> {
    /// Returns the value itself, because a kernel can print it.
    #[inline(always)]
    pub fn shown(&self) -> T {
        *self.0
    }
}

/// The fallback of [`Shown::shown`] for a value that a kernel cannot print.
pub trait NotShown {
    /// Returns the replacement for the value.
    #[inline(always)]
    fn shown(&self) -> Unprintable {
        Unprintable
    }
}

impl<T: ?Sized> NotShown for Shown<'_, T> {}

/// The arguments of a message.
pub trait PrintArguments {
    /// The kind of each argument.
    const KINDS: &'static [Kind];

    /// Calls `f` with the 8 bytes of each argument.
    fn with_words(self, f: impl FnOnce(&[u64]));
}

/// Returns the 8 bytes of an argument whose data was kept.
#[inline(always)]
fn word<T: PrintArgument>((kept, _): &(T::Kept, core::marker::PhantomData<T>)) -> u64 {
    T::word(kept)
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => {$(
        impl<$($name: PrintArgument),*> PrintArguments for ($($name,)*) {
            const KINDS: &'static [Kind] = &[$($name::KIND),*];
            #[inline(always)]
            #[allow(non_snake_case, reason = "a type's name serves for its value")]
            fn with_words(self, f: impl FnOnce(&[u64])) {
                let ($($name,)*) = self;
                $(let $name = ($name.keep(), core::marker::PhantomData::<$name>);)*
                f(&[$(word(&$name)),*]);
            }
        }
    )*};
}

tuples! {
    () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H)
    (A B C D E F G H I) (A B C D E F G H I J) (A B C D E F G H I J K) (A B C D E F G H I J K L)
    (A B C D E F G H I J K L M) (A B C D E F G H I J K L M N)
}

/// A C string under construction.
struct Text {
    bytes: [u8; MAX_FORMAT],
    len: usize,
}

impl Text {
    const fn push(&mut self, byte: u8) {
        assert!(self.len < MAX_FORMAT - 1, "the C format string is longer than 511 bytes: split the message");
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    const fn push_str(&mut self, text: &str) {
        let mut i = 0;
        while i < text.len() {
            self.push(text.as_bytes()[i]);
            i += 1;
        }
    }
}

/// Returns the zero-terminated C format string for `pieces` with arguments of `kinds`.
const fn c_format(pieces: &[Piece], kinds: &[Kind]) -> [u8; MAX_FORMAT] {
    let mut text = Text { bytes: [0; MAX_FORMAT], len: 0 };
    let (mut piece, mut argument) = (0, 0);
    while piece < pieces.len() {
        match pieces[piece] {
            Piece::Text(literal) => {
                let mut i = 0;
                while i < literal.len() {
                    if literal.as_bytes()[i] == b'%' {
                        text.push(b'%');
                    }
                    text.push(literal.as_bytes()[i]);
                    i += 1;
                }
            }
            Piece::Argument(flags, conversion) => {
                push_argument(&mut text, flags, kinds[argument], conversion);
                argument += 1;
            }
        }
        piece += 1;
    }
    assert!(argument == kinds.len(), "the number of arguments differs from the number of placeholders");
    text.bytes
}

/// Appends C's placeholder for an argument.
const fn push_argument(text: &mut Text, flags: &str, kind: Kind, conversion: Option<u8>) {
    let hexadecimal = match conversion {
        Some(b'?') | None => None,
        letter => letter,
    };
    let is_quoted = matches!((kind, conversion), (Kind::Text, Some(b'?')));
    if is_quoted {
        text.push(b'"');
    }
    text.push(b'%');
    if matches!(kind, Kind::Text | Kind::Word) && !flags.is_empty() {
        // Rust left-aligns NaN and infinity within their width.
        text.push(b'-');
    }
    text.push_str(flags);
    match (kind, hexadecimal) {
        (Kind::Float | Kind::Text | Kind::Word, Some(_)) => panic!("only an integer can be printed in hexadecimal"),
        (Kind::Signed, Some(_)) => {
            panic!("only an unsigned integer can be printed in hexadecimal: cast the signed one")
        }
        (Kind::Signed | Kind::Unsigned, _) if has_precision(flags) => panic!("only a float can have a precision"),
        (Kind::Float, None) => text.push(if has_precision(flags) { b'f' } else { b'g' }),
        (_, Some(letter)) => {
            text.push_str("ll");
            text.push(letter);
        }
        (Kind::Signed, None) => text.push_str("lld"),
        (Kind::Unsigned, None) => text.push_str("llu"),
        (Kind::Text | Kind::Word, None) => text.push(b's'),
    }
    if is_quoted {
        text.push(b'"');
    }
}

/// The C format string of a message with the pieces `P` and arguments `A`.
pub struct Format<P, A>(core::marker::PhantomData<(P, A)>);

impl<P: Pieces, A: PrintArguments> Format<P, A> {
    /// The zero-terminated C format string.
    pub const TEXT: &'static [u8; MAX_FORMAT] = &c_format(P::PIECES, A::KINDS);
}

const fn has_precision(flags: &str) -> bool {
    let mut i = 0;
    while i < flags.len() {
        if flags.as_bytes()[i] == b'.' {
            return true;
        }
        i += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    fn format(pieces: &[Piece], kinds: &[Kind]) -> [u8; MAX_FORMAT] {
        c_format(pieces, kinds)
    }

    #[test]
    fn format_strings_become_c_s() {
        let pieces = [
            Piece::Text("100% of "),
            Piece::Argument("5", None),
            Piece::Text(": "),
            Piece::Argument("08", Some(b'x')),
            Piece::Argument("", None),
            Piece::Argument(".3", None),
            Piece::Argument("", Some(b'?')),
            Piece::Argument("6", Some(b'?')),
            Piece::Argument("", None),
            Piece::Argument("", Some(b'?')),
            Piece::Text("\n"),
        ];
        use Kind::{Float, Signed, Text, Unsigned, Word};
        let text = format(&pieces, &[Signed, Unsigned, Float, Float, Text, Word, Text, Signed]);
        let expected = b"100%% of %5lld: %08llx%g%.3f\"%s\"%-6s%s%lld\n\0";
        assert_eq!(&text[..expected.len()], expected);
    }

    #[test]
    fn arguments_travel_as_eight_bytes() {
        (1_u8, -1_i32, 0.5_f32).with_words(|words| assert_eq!(words, [1, u64::MAX, 0.5_f64.to_bits()]));
        let long = "x".repeat(300);
        (true, "text", &*long).with_words(|words| {
            // SAFETY: each word is the address of a zero-terminated text that lives as long as this closure runs.
            let texts = [0, 1, 2].map(|i| unsafe { core::ffi::CStr::from_ptr(words[i] as *const _) }.to_bytes());
            assert_eq!(texts[..2], [&b"true"[..], b"text"]);
            assert_eq!(texts[2], &long.as_bytes()[..MAX_TEXT]);
        });
    }

    #[test]
    fn an_assertion_shows_what_can_be_printed() {
        let values: (i32, &str, Unprintable) = (Shown(&7).shown(), Shown(&"a").shown(), Shown(&[1, 2]).shown());
        assert_eq!((values.0, values.1), (7, "a"));
    }
}
