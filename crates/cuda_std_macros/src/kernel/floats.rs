//! Replaces float methods in device code by those of `cuda_std::GpuFloat`, on every device and without an import.
//!
//! On the host, std's float methods hide trait methods of the same names, and their results differ from a GPU's in some
//! bits. In a call with such a name, the macro therefore wraps the value before the dot in a `FloatReceiver`. A
//! `FloatReceiver` that wraps a float has the methods of `GpuFloat`. Any other `FloatReceiver` dereferences to the
//! wrapped value. The path `f32::exp` becomes `<f32 as GpuFloat>::exp`.

use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Expr, ExprMethodCall, ExprPath, Ident, Item, Macro, Pat, PathSegment, Token, Type, parse_quote_spanned,
};

use crate::constants::{guard, leave_constants};

/// The names in `cuda_std`'s table of float functions, grouped by the number of arguments besides the float itself.
const NAMES: [&[&str]; 4] = [
    &[
        "sqrt",
        "saturate",
        "floor",
        "ceil",
        "round",
        "round_ties_even",
        "rint",
        "nearbyint",
        "lrint",
        "llrint",
        "lround",
        "llround",
        "trunc",
        "fract",
        "modf",
        "frexp",
        "logb",
        "ilogb",
        "rsqrt",
        "cbrt",
        "rcbrt",
        "exp",
        "exp2",
        "exp10",
        "exp_m1",
        "ln",
        "ln_1p",
        "log2",
        "log10",
        "sin",
        "cos",
        "sin_cos",
        "tan",
        "sinpi",
        "cospi",
        "sincospi",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "erf",
        "erfc",
        "erfcx",
        "erfinv",
        "erfcinv",
        "normcdf",
        "normcdfinv",
        "gamma",
        "tgamma",
        "lgamma",
        "ln_gamma",
        "j0",
        "j1",
        "y0",
        "y1",
        "cyl_bessel_i0",
        "cyl_bessel_i1",
    ],
    &[
        "minimum_number",
        "maximum_number",
        "minimum",
        "maximum",
        "min",
        "max",
        "fdim",
        "fmod",
        "remainder",
        "remquo",
        "div_euclid",
        "rem_euclid",
        "ldexp",
        "scalbn",
        "nextafter",
        "hypot",
        "rhypot",
        "log",
        "powf",
        "powi",
        "atan2",
        "jn",
        "yn",
    ],
    &["mul_add", "norm3d", "rnorm3d"],
    &["norm4d", "rnorm4d"],
];

/// Macros whose arguments are expressions, in which float methods are rewritten, too.
pub const MACROS: [&str; 13] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "format_args",
    "panic",
    "print",
    "println",
    "unreachable",
    "vec",
];

/// Rewrites the calls of float methods in device code.
pub fn rewrite(body: &mut Block) {
    Rewrite.visit_block_mut(body);
}

struct Rewrite;

impl VisitMut for Rewrite {
    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        visit_mut::visit_expr_mut(self, expression);
        match expression {
            Expr::MethodCall(call) => receive(call),
            Expr::Path(path) => {
                if let Some(function) = of_trait(path) {
                    *expression = function;
                }
            }
            _ => {}
        }
    }

    fn visit_macro_mut(&mut self, call: &mut Macro) {
        let is_known = call.path.segments.last().is_some_and(|last| MACROS.iter().any(|name| last.ident == name));
        if is_known
            && let Ok(mut arguments) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(call.tokens.clone())
        {
            arguments.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
            call.tokens = quote!(#arguments);
        }
    }

    leave_constants!();

    fn visit_pat_mut(&mut self, pattern: &mut Pat) {
        if let Some(condition) = guard(pattern) {
            self.visit_expr_mut(condition);
        }
    }

    fn visit_item_mut(&mut self, item: &mut Item) {
        if let Item::Fn(function) = item
            && function.sig.constness.is_none()
        {
            self.visit_block_mut(&mut function.block);
        }
    }
}

/// Wraps the value before the dot in a float receiver if the method has the name and the number of arguments of a float
/// function.
fn receive(call: &mut ExprMethodCall) {
    let has_name = NAMES.get(call.args.len()).is_some_and(|names| names.iter().any(|name| call.method == name));
    if !has_name || call.turbofish.is_some() {
        return;
    }
    let receiver = bare(&call.receiver);
    // A variable is borrowed, because it may be a `&mut f32` that is used again; other values are moved.
    let held = if is_variable(receiver) { quote!(FloatVariable(&#receiver)) } else { quote!(FloatReceiver(#receiver)) };
    *call.receiver = parse_quote_spanned!(call.method.span()=> ::cuda_std::__private::#held);
}

/// Returns `value` without the parentheses around it.
fn bare(value: &Expr) -> &Expr {
    match value {
        Expr::Paren(inner) => bare(&inner.expr),
        Expr::Group(inner) => bare(&inner.expr),
        _ => value,
    }
}

/// Returns true for a variable or a field of one.
fn is_variable(value: &Expr) -> bool {
    match bare(value) {
        Expr::Path(_) => true,
        Expr::Field(field) => is_variable(&field.base),
        _ => false,
    }
}

/// Returns the trait's function for a path such as `f32::exp`, `core::primitive::f32::exp` or `<f32>::exp`.
fn of_trait(path: &ExprPath) -> Option<Expr> {
    let function = &path.path.segments.last()?.ident;
    let ty = match &path.qself {
        // Paths such as `<f32 as Trait>::exp` stay.
        Some(of) if of.as_token.is_none() && path.path.segments.len() == 1 => float_type(&of.ty)?,
        Some(_) => return None,
        None => float(path.path.segments.iter().rev().skip(1))?,
    };
    let is_known = NAMES.iter().any(|names| names.iter().any(|name| function == name));
    is_known.then(|| parse_quote_spanned!(function.span()=> <#ty as ::cuda_std::GpuFloat>::#function))
}

fn float_type(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) if path.qself.is_none() => float(path.path.segments.iter().rev()),
        Type::Paren(inner) => float_type(&inner.elem),
        Type::Group(inner) => float_type(&inner.elem),
        _ => None,
    }
}

/// Returns `f32` or `f64` if the path is this name alone or ends in `primitive::f32` or `primitive::f64`. After any
/// other segment the name belongs to a user-defined module. `from_end` is the path in reverse order.
fn float<'p>(mut from_end: impl Iterator<Item = &'p PathSegment>) -> Option<&'p Ident> {
    let ty = &from_end.next()?.ident;
    let is_primitive = from_end.next().is_none_or(|module| module.ident == "primitive");
    (is_primitive && (ty == "f32" || ty == "f64")).then_some(ty)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_names_are_those_of_the_table() {
        let table = include_str!("../../../cuda_math/src/table.rs");
        let (_, own) = table.split_once("own {").unwrap();
        let rows = own.lines().map(str::trim).filter(|line| !line.starts_with("//"));
        let in_table: BTreeSet<(&str, usize)> = rows
            .filter_map(|row| {
                let (name, rest) = row.split_once('(')?;
                let (arguments, _) = rest.split_once(") ->")?;
                Some((name, arguments.matches(':').count()))
            })
            .collect();
        let here: BTreeSet<(&str, usize)> =
            NAMES.iter().enumerate().flat_map(|(count, names)| names.iter().map(move |name| (*name, count))).collect();
        assert!(in_table.len() > 80);
        assert_eq!(here, in_table);
    }

    #[test]
    fn calls_and_paths_are_rewritten_where_they_are_of_floats() {
        let mut block: Block = syn::parse_quote!({
            let y = x.exp() + (a[i] * 2.0).powf(k.x);
            let z = values.iter().copied().max();
            let w = values.map(f32::sqrt).fold(0.0, f64::max);
            let v = <f32>::exp(x) + core::primitive::f32::ln(x) + <std::primitive::f64>::sin(x) as f32;
            let u = own::f32::exp(x) + <f32 as Own>::exp(x) + <Own>::exp(x);
            let n = const { 3.0_f32.max(N) };
            println!("{}", y.ln());
            own!(y.ln());
        });
        rewrite(&mut block);
        let text = quote!(#block).to_string();
        for expected in [
            ":: cuda_std :: __private :: FloatVariable (& x) . exp ()",
            ":: cuda_std :: __private :: FloatReceiver (a [i] * 2.0) . powf (k . x)",
            "values . iter () . copied () . max ()",
            "values . map (< f32 as :: cuda_std :: GpuFloat > :: sqrt) . fold (0.0 , \
             < f64 as :: cuda_std :: GpuFloat > :: max)",
            "< f32 as :: cuda_std :: GpuFloat > :: exp (x) + < f32 as :: cuda_std :: GpuFloat > :: ln (x)",
            "+ < f64 as :: cuda_std :: GpuFloat > :: sin (x)",
            "own :: f32 :: exp (x) + < f32 as Own > :: exp (x) + < Own > :: exp (x)",
            "const { 3.0_f32 . max (N) }",
            "println ! (\"{}\" , :: cuda_std :: __private :: FloatVariable (& y) . ln ())",
            "own ! (y . ln ())",
        ] {
            assert!(text.contains(expected), "{expected} is not in {text}");
        }
    }
}
