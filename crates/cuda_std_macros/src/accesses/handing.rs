//! Decides from an expression's syntax whether its value may contain pointers, and how the generated code inspects the
//! value.

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::{Block, Expr, ExprMethodCall, Path, Stmt, Type, UnOp};

use crate::names::{NUMBERS, is_type_s, last_name};

use super::syntax::{computes, is_place, is_simple, makes_variant, without_parentheses};
use super::{Accesses, expression};

/// The way in which the generated code inspects a function argument for pointers.
pub enum Handing {
    /// The argument contains no pointers.
    Not,
    /// The argument can be evaluated twice without effects, so it is inspected before the call.
    Simple(Expr),
    /// The argument is a reference to this value, which can be evaluated twice without effects.
    Reference(Expr),
    /// The argument must not be evaluated twice, so it is inspected when it is passed on.
    Computed,
    /// The argument is a reference to a value that must not be evaluated twice.
    ReferenceToComputed,
}

/// Modules whose functions return numbers.
const NUMBER_MODULES: [&str; 5] = ["thread", "warp", "bits", "grid", "atomic"];

/// Methods that return numbers.
const NUMBER_METHODS: [&str; 14] = [
    "len",
    "is_empty",
    "is_null",
    "addr",
    "count_ones",
    "leading_zeros",
    "trailing_zeros",
    "is_multiple_of",
    "div_ceil",
    "next_multiple_of",
    "to_bits",
    "sum",
    "count",
    "abs_diff",
];

/// Methods that return iterators.
const ITERATING: [&str; 11] = [
    "iter",
    "iter_mut",
    "into_iter",
    "chunks",
    "chunks_mut",
    "chunks_exact",
    "chunks_exact_mut",
    "rchunks",
    "windows",
    "map",
    "rev",
];

impl Accesses {
    /// Returns the [`Handing`] of `value` as a function argument.
    pub fn handing(&self, value: &Expr) -> Handing {
        let value = without_parentheses(value);
        if self.may_point(value) {
            return Handing::Simple(value.clone());
        }
        if let Expr::Reference(reference) = value {
            let referred = without_parentheses(&reference.expr);
            return match referred {
                Expr::Path(_) | Expr::Field(_) if !is_place(referred) && self.may_point(referred) => {
                    Handing::Reference(referred.clone())
                }
                // The argument is a reference to a part of a slice, which must not be evaluated twice.
                _ if is_place(referred) && !self.known.is_own(referred) => Handing::Computed,
                _ if self.computes_pointer(referred) => Handing::ReferenceToComputed,
                _ => Handing::Not,
            };
        }
        if self.computes_pointer(value) { Handing::Computed } else { Handing::Not }
    }

    /// Returns two lists: the [`Handing`] of each argument, and the [`Handing`] of the target of each reference inside
    /// a tuple, array or structure that is an argument.
    pub fn handings<'e>(&self, arguments: impl IntoIterator<Item = &'e Expr, IntoIter: Clone>) -> [Vec<Handing>; 2] {
        let arguments = arguments.into_iter();
        let mut behind = Vec::new();
        for argument in arguments.clone() {
            self.find_behind(argument, false, &mut behind);
        }
        [arguments.map(|argument| self.handing(argument)).collect(), behind]
    }

    fn find_behind(&self, value: &Expr, is_inner: bool, behind: &mut Vec<Handing>) {
        let mut find = |inner: &Expr| self.find_behind(inner, true, behind);
        match without_parentheses(value) {
            // The value is a reference to a part of a slice.
            part @ Expr::Reference(_) if is_inner && self.may_point(part) => behind.push(Handing::Simple(part.clone())),
            Expr::Reference(reference) => match without_parentheses(&reference.expr) {
                inner @ (Expr::Path(_) | Expr::Field(_)) if !is_place(inner) => {
                    if is_inner && self.may_point(inner) {
                        behind.push(Handing::Reference(inner.clone()));
                    }
                }
                inner => find(inner),
            },
            Expr::Tuple(tuple) => tuple.elems.iter().for_each(find),
            Expr::Array(array) => array.elems.iter().for_each(find),
            Expr::Struct(literal) => literal.fields.iter().for_each(|field| find(&field.expr)),
            Expr::Call(call) if makes_variant(call) => call.args.iter().for_each(find),
            _ => {}
        }
    }

    /// Returns true if `value` may contain a pointer or a slice and must not be evaluated twice.
    fn computes_pointer(&self, value: &Expr) -> bool {
        let points = |value: &Expr| !matches!(self.handing(value), Handing::Not);
        match without_parentheses(value) {
            Expr::Call(call) if makes_variant(call) => call.args.iter().any(points),
            Expr::Call(call) => match without_parentheses(&call.func) {
                Expr::Path(path) => !gives_numbers(&path.path),
                _ => true,
            },
            Expr::MethodCall(call) => {
                let name = call.method.unraw().to_string();
                if name == "part" {
                    return self.computes_pointer(&call.receiver) || self.may_point(&call.receiver);
                }
                !is_view_s(&name) && !NUMBER_METHODS.contains(&&*name) && !is_float_s(call, &name)
            }
            Expr::Struct(literal) => literal.rest.is_some() || literal.fields.iter().any(|field| points(&field.expr)),
            Expr::Tuple(tuple) => tuple.elems.iter().any(points),
            Expr::Array(array) => array.elems.iter().any(points),
            Expr::Repeat(array) => points(&array.expr),
            Expr::Index(_) => !self.known.is_of_number(value),
            Expr::Unary(unary) => matches!(unary.op, UnOp::Deref(_)),
            Expr::Field(field) => points(&field.base),
            Expr::Cast(cast) => matches!(&*cast.ty, Type::Ptr(_)),
            Expr::If(branch) => {
                let otherwise = branch.else_branch.as_ref();
                points_last(&branch.then_branch, points) || otherwise.is_some_and(|(_, value)| points(value))
            }
            Expr::Block(block) => points_last(&block.block, points),
            Expr::Unsafe(block) => points_last(&block.block, points),
            Expr::Match(_) | Expr::Try(_) | Expr::Loop(_) => true,
            _ => false,
        }
    }

    /// Returns true if `value` may contain a pointer or a slice and can be evaluated twice without effects.
    pub fn may_point(&self, value: &Expr) -> bool {
        match without_parentheses(value) {
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) => !is_type_s(&name.unraw().to_string()) && !self.known.is_number(name),
                None => false,
            },
            Expr::Field(field) => self.may_point(&field.base),
            Expr::Cast(cast) => matches!(&*cast.ty, Type::Ptr(_)) && is_simple(&cast.expr),
            Expr::MethodCall(call) => {
                is_simple(value)
                    && !NUMBER_METHODS.iter().any(|name| call.method == name)
                    && self.may_point(&call.receiver)
            }
            Expr::Reference(reference) => {
                is_place(&reference.expr) && !computes(&reference.expr) && !self.known.is_own(&reference.expr)
            }
            _ => false,
        }
    }

    /// Returns true if the form of `value` shows that it contains no pointer.
    pub fn is_number_s(&self, value: &Expr) -> bool {
        let is_other = matches!(
            without_parentheses(value),
            Expr::Closure(_) | Expr::Macro(_) | Expr::Verbatim(_) | Expr::Reference(_) | Expr::Path(_)
        );
        !is_other && matches!(self.handing(value), Handing::Not)
    }
}

/// Applies `looked_at` to an argument that must be inspected when it is passed on. If `argument` is a reference such as
/// `&x`, applies it to `x` instead.
pub fn wrap(handing: &Handing, argument: &mut Expr, looked_at: impl FnOnce(&Expr) -> TokenStream) {
    let value = match (handing, argument) {
        (Handing::Computed, argument) => argument,
        (Handing::ReferenceToComputed, Expr::Reference(reference)) => &mut *reference.expr,
        (Handing::ReferenceToComputed, argument) => argument,
        _ => return,
    };
    *value = expression(looked_at(value));
}

/// Returns true if `points` returns true for the block's value, or if the block is more than one expression.
fn points_last(block: &Block, points: impl Fn(&Expr) -> bool) -> bool {
    match &*block.stmts {
        [Stmt::Expr(value, None)] => points(value),
        _ => true,
    }
}

/// Returns true if a function with this path returns numbers or a view.
pub fn gives_numbers(path: &Path) -> bool {
    let is_of_number = path
        .segments
        .iter()
        .rev()
        .skip(1)
        .any(|part| NUMBERS.iter().chain(&NUMBER_MODULES).any(|known| part.ident == known));
    is_of_number
        || last_name(path)
            .is_some_and(|name| matches!(&*name, "size_of" | "align_of" | "size_of_val" | "dynamic_shared"))
}

/// Returns true for a method that returns a number.
pub fn is_number_method(name: &str) -> bool {
    NUMBER_METHODS.contains(&name)
}

/// Returns true for a method of views that loads, stores or updates elements. The views report these accesses
/// themselves.
pub fn is_view_s(name: &str) -> bool {
    let name = name.strip_suffix("_unchecked").unwrap_or(name);
    let name = name.strip_prefix("racy_").unwrap_or(name);
    let kind = |start: &str, kinds: &[&str]| {
        name.strip_prefix(start).is_some_and(|rest| rest.is_empty() || kinds.contains(&rest))
    };
    kind("load", &["_acquire", "_readonly", "_relaxed", "_streaming", "_vec", "_volatile"])
        || kind("store", &["_relaxed", "_release", "_streaming", "_vec", "_volatile"])
        || kind(
            "atomic",
            &["_add", "_sub", "_min", "_max", "_and", "_or", "_xor", "_inc", "_dec", "_exchange", "_compare_exchange"],
        )
}

/// Returns true for a call that the pass `floats` has rewritten.
pub fn is_float_s(call: &ExprMethodCall, name: &str) -> bool {
    // A method `log` of another type may receive anything.
    name != "log"
        && matches!(&*call.receiver, Expr::Call(receiver) if matches!(&*receiver.func, Expr::Path(path)
            if path.path.segments.iter().any(|part| part.ident == "__private")
                && last_name(&path.path).is_some_and(|name| name.starts_with("Float"))))
}

/// Returns true if the method names in `value` show that it is an iterator, or was computed from one.
pub fn is_iterating(value: &Expr) -> bool {
    match without_parentheses(value) {
        Expr::MethodCall(call) => ITERATING.iter().any(|name| call.method == name) || is_iterating(&call.receiver),
        Expr::Range(_) => true,
        _ => false,
    }
}
