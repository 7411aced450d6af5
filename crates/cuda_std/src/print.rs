//! `print!`, `println!` and the messages of assertions, from a kernel.
//!
//! On a GPU the message is formatted by the driver's `vprintf`: [`println!`](crate::println) translates Rust's format
//! string to C's at compile time, from the argument's types. Every argument travels as 8 bytes, a string as the address
//! of a copy that ends with a zero.

/// The longest C format string, in bytes.
pub const MAX_FORMAT: usize = 512;

/// A part of a format string.
#[derive(Clone, Copy)]
pub enum Piece {
    /// Text to print as it stands.
    Text(&'static str),
    /// The next argument: C's flags, width and precision, and whether it is printed in hexadecimal (`x` or `X`) or as
    /// Rust's `{:?}` does it (`?`).
    Argument(&'static str, Option<u8>),
}

/// A format string, as a type.
pub trait Pieces {
    /// Its parts.
    const PIECES: &'static [Piece];
}

/// How an argument is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `%lld`
    Signed,
    /// `%llu`, or `%llx`
    Unsigned,
    /// `%g`, or `%f` with a precision
    Float,
    /// `%s`, in quotes where it is debugged
    Text,
    /// `%s`
    Word,
}

/// What can be printed from a kernel on a GPU: a number, a `bool` or a string.
pub trait PrintArgument: Copy {
    /// How it is printed.
    const KIND: Kind;

    /// What must stay until it is printed.
    type Kept;

    /// What must stay until it is printed.
    fn keep(self) -> Self::Kept;

    /// Its 8 bytes.
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

/// Bytes of a string that are printed on a GPU.
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

/// Stands for a value that cannot be printed on a GPU.
#[derive(Clone, Copy, Debug)]
pub struct Unprintable;

/// A value in an assertion's message, which may be of any type.
#[derive(Debug)]
pub struct Shown<'a, T: ?Sized>(pub &'a T);

impl<T: PrintArgument> Shown<'_, T> {
    /// The value, which can be printed.
    #[inline(always)]
    pub fn shown(&self) -> T {
        *self.0
    }
}

/// For values without [`Shown::shown`].
pub trait NotShown {
    /// What is printed in place of the value.
    #[inline(always)]
    fn shown(&self) -> Unprintable {
        Unprintable
    }
}

impl<T: ?Sized> NotShown for Shown<'_, T> {}

/// The arguments of one message.
pub trait PrintArguments {
    /// How each is printed.
    const KINDS: &'static [Kind];

    /// Calls `f` with the 8 bytes of each.
    fn with_words(self, f: impl FnOnce(&[u64]));
}

/// The 8 bytes of what is kept of a `T`.
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
        assert!(self.len < MAX_FORMAT - 1, "the format string is too long for a kernel's println!");
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

/// The C format string for `pieces` with arguments of `kinds`, ending with a zero.
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
    assert!(argument == kinds.len(), "as many arguments as placeholders");
    text.bytes
}

/// C's placeholder for an argument.
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
        // Rust puts what is no number at the left of its width.
        text.push(b'-');
    }
    text.push_str(flags);
    match (kind, hexadecimal) {
        (Kind::Float | Kind::Text | Kind::Word, Some(_)) => panic!("only an integer can be printed in hexadecimal"),
        (Kind::Signed, Some(_)) => panic!("cast a signed number to an unsigned one to print it in hexadecimal"),
        (Kind::Signed | Kind::Unsigned, _) if has_precision(flags) => panic!("an integer has no precision"),
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
    /// The text, ending with a zero.
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
            // SAFETY: each word is the address of a text that ends with a zero, and lives as long as this closure runs.
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
