//! `println!` from a kernel.
//!
//! On a GPU the message is formatted by the driver's `vprintf`: [`println!`](crate::println) translates Rust's format
//! string to C's at compile time, from the argument's types. Every argument travels as 8 bytes.

/// The longest C format string, in bytes.
pub const MAX_FORMAT: usize = 512;

/// A part of a format string.
#[derive(Clone, Copy)]
pub enum Piece {
    /// Text to print as it stands.
    Text(&'static str),
    /// The next argument: C's flags, width and precision, and whether it is printed in hexadecimal (`x` or `X`).
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
}

/// What can be printed from a kernel on a GPU: a number.
pub trait PrintArgument: Copy {
    /// How it is printed.
    const KIND: Kind;

    /// Its 8 bytes.
    fn word(self) -> u64;
}

macro_rules! print_arguments {
    ($($type:ident $kind:ident $value:ident => $word:expr;)*) => {$(
        impl PrintArgument for $type {
            const KIND: Kind = Kind::$kind;
            #[inline(always)]
            fn word(self) -> u64 { let $value = self; $word }
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
}

/// The arguments of one message.
pub trait PrintArguments {
    /// How each is printed.
    const KINDS: &'static [Kind];

    /// Calls `f` with the 8 bytes of each.
    fn with_words(self, f: impl FnOnce(&[u64]));
}

macro_rules! tuples {
    ($(($($name:ident)*))*) => {$(
        impl<$($name: PrintArgument),*> PrintArguments for ($($name,)*) {
            const KINDS: &'static [Kind] = &[$($name::KIND),*];
            #[inline(always)]
            fn with_words(self, f: impl FnOnce(&[u64])) {
                #[allow(non_snake_case, reason = "a type's name serves for its value")]
                let ($($name,)*) = self;
                f(&[$($name.word()),*]);
            }
        }
    )*};
}

tuples! { () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) }

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
            Piece::Argument(flags, hexadecimal) => {
                text.push(b'%');
                text.push_str(flags);
                match (kinds[argument], hexadecimal) {
                    (Kind::Float, Some(_)) => panic!("a float cannot be printed in hexadecimal"),
                    (Kind::Signed, Some(_)) => {
                        panic!("cast a signed number to an unsigned one to print it in hexadecimal")
                    }
                    (Kind::Signed | Kind::Unsigned, _) if has_precision(flags) => panic!("an integer has no precision"),
                    (Kind::Float, None) => text.push(if has_precision(flags) { b'f' } else { b'g' }),
                    (_, Some(letter)) => {
                        text.push_str("ll");
                        text.push(letter);
                    }
                    (Kind::Signed, None) => text.push_str("lld"),
                    (Kind::Unsigned, None) => text.push_str("llu"),
                }
                argument += 1;
            }
        }
        piece += 1;
    }
    assert!(argument == kinds.len(), "as many arguments as placeholders");
    text.bytes
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
            Piece::Text("\n"),
        ];
        let text = format(&pieces, &[Kind::Signed, Kind::Unsigned, Kind::Float, Kind::Float]);
        let expected = b"100%% of %5lld: %08llx%g%.3f\n\0";
        assert_eq!(&text[..expected.len()], expected);
    }

    #[test]
    fn arguments_travel_as_eight_bytes() {
        (1_u8, -1_i32, 0.5_f32).with_words(|words| assert_eq!(words, [1, u64::MAX, 0.5_f64.to_bits()]));
    }
}
