//! Computes the sizes of shared arrays from the sources: `shared_array![T; 64 * N]`.

use std::collections::BTreeMap;

use syn::parse::ParseStream;
use syn::{BinOp, Expr, Ident, Lit, Macro, Path, Token, Type, TypeArray};

use crate::syntax;

/// The sizes of element types in bytes, each with the names of these types in the names of entries.
const ELEMENTS: &[(u64, &[&str])] = &[
    (1, &["u8", "i8"]),
    (2, &["u16", "i16"]),
    (4, &["u32", "i32", "f32"]),
    (8, &["u64", "i64", "f64", "usize", "isize", "affine"]),
];

/// The element type and the length of a shared array, or `None` if the macro call has another form.
pub(super) struct Array(Option<(Type, Expr)>);

impl Array {
    /// Parses a call of `shared_array!`.
    pub fn of(call: &Macro) -> Array {
        let declaration = |input: ParseStream<'_>| {
            let element = input.parse()?;
            input.parse::<Token![;]>()?;
            Ok((element, input.parse()?))
        };
        Array(call.parse_body_with(declaration).ok())
    }
}

/// The constants of the sources, by name. Each value of a constant has the index of its file.
#[derive(Default)]
pub(super) struct Constants(BTreeMap<String, Vec<(usize, Expr)>>);

impl Constants {
    pub fn add(&mut self, name: &Ident, file: usize, value: &Expr) {
        self.0.entry(name.to_string()).or_default().push((file, value.clone()));
    }

    /// Returns the size in bytes of an array in `file` for generic `arguments`. Returns `None` if the size is not an
    /// expression of names and arithmetic.
    pub fn bytes(&self, file: usize, array: &Array, arguments: &[(String, String)]) -> Option<u64> {
        let (element, len) = array.0.as_ref()?;
        let scope = Scope { constants: self, file, arguments, depth: 0 };
        scope.size(element)?.checked_mul(scope.value(len)?)
    }

    fn named(&self, name: &str, file: usize) -> Option<&(usize, Expr)> {
        let all = self.0.get(name)?;
        let near: Vec<_> = all.iter().filter(|(of, _)| *of == file).collect();
        match (&near[..], &all[..]) {
            ([one], _) => Some(one),
            ([], [one]) => Some(one),
            _ => None,
        }
    }
}

/// The context in which an expression is evaluated.
struct Scope<'a> {
    constants: &'a Constants,
    file: usize,
    arguments: &'a [(String, String)],
    /// The number of constants that were replaced by their values to reach the expression.
    depth: usize,
}

/// The maximum of [`Scope::depth`]. It ends the evaluation of constants that refer to each other.
const MAX_DEPTH: usize = 8;

impl Scope<'_> {
    fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.iter().find(|(parameter, _)| parameter == name).map(|(_, argument)| argument.as_str())
    }

    /// Returns the size of a type in bytes.
    fn size(&self, element: &Type) -> Option<u64> {
        match element {
            Type::Path(path) => {
                let name = syntax::last_name(&path.path);
                let name = self.argument(&name).unwrap_or(&name).to_lowercase();
                ELEMENTS.iter().find(|(_, names)| names.contains(&name.as_str())).map(|(size, _)| *size)
            }
            Type::Array(TypeArray { elem, len, .. }) => self.size(elem)?.checked_mul(self.value(len)?),
            _ => None,
        }
    }

    /// Evaluates an expression of integers, names and the four basic operations.
    fn value(&self, expression: &Expr) -> Option<u64> {
        match expression {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(number) => number.base10_parse().ok(),
                _ => None,
            },
            // An associated constant has a different value for each type.
            Expr::Path(path) if is_of_type(&path.path) => None,
            Expr::Path(path) => self.named(&syntax::last_name(&path.path)),
            Expr::Paren(inside) => self.value(&inside.expr),
            // A cast to another integer type does not change a length.
            Expr::Cast(cast) => self.value(&cast.expr),
            Expr::Binary(binary) => {
                let (left, right) = (self.value(&binary.left)?, self.value(&binary.right)?);
                match binary.op {
                    BinOp::Add(_) => left.checked_add(right),
                    BinOp::Sub(_) => left.checked_sub(right),
                    BinOp::Mul(_) => left.checked_mul(right),
                    BinOp::Div(_) => left.checked_div(right),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn named(&self, name: &str) -> Option<u64> {
        if let Some(argument) = self.argument(name) {
            return syn::parse_str::<syn::LitInt>(argument).ok()?.base10_parse().ok();
        }
        let (file, value) = self.constants.named(name, self.file)?;
        // A constant cannot use generic arguments.
        let scope = Scope { file: *file, arguments: &[], depth: self.depth + 1, ..*self };
        (self.depth < MAX_DEPTH).then(|| scope.value(value)).flatten()
    }
}

/// Returns true if a path contains a type or a generic parameter. Their names start with a capital letter.
fn is_of_type(path: &Path) -> bool {
    let before = path.segments.iter().rev().nth(1).map(|segment| segment.ident.to_string());
    before.is_some_and(|name| name.starts_with(char::is_uppercase))
}
