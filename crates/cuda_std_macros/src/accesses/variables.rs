//! What is known of variables without their types: those of which nothing is ever to be told are left as they are written.

use syn::visit_mut::{self, VisitMut};
use syn::{Expr, FnArg, Ident, Local, Pat, PatIdent, Signature, Type};

use super::place::without_parentheses;

/// The variables that are in scope.
#[derive(Clone, Default)]
pub struct Variables {
    /// Closures, whose bodies are the function's own.
    closures: Vec<Ident>,
    /// Numbers.
    numbers: Vec<Ident>,
    /// Arrays of the thread's own, and how many dimensions they have at least.
    arrays: Vec<(Ident, usize)>,
}

impl Variables {
    /// The parameters of a function.
    pub fn of(signature: &Signature) -> Self {
        let mut variables = Self::default();
        for input in &signature.inputs {
            if let FnArg::Typed(typed) = input
                && let Pat::Ident(name) = &*typed.pat
            {
                variables.declare(&name.ident, Some(&typed.ty), None);
            }
        }
        variables
    }

    /// Notes what a `let` declares.
    pub fn bind(&mut self, local: &mut Local) {
        let init = local.init.as_ref().map(|init| &*init.expr);
        match &local.pat {
            Pat::Ident(name) => self.declare(&name.ident.clone(), None, init),
            Pat::Type(typed) if matches!(&*typed.pat, Pat::Ident(_)) => {
                if let Pat::Ident(name) = &*typed.pat {
                    self.declare(&name.ident.clone(), Some(&typed.ty), init);
                }
            }
            _ => self.shadow(&mut local.pat),
        }
    }

    fn declare(&mut self, name: &Ident, ty: Option<&Type>, init: Option<&Expr>) {
        self.forget(name);
        let dimensions = ty.map_or(0, dimensions_of_type).max(init.map_or(0, dimensions));
        if dimensions > 0 {
            self.arrays.push((name.clone(), dimensions));
        } else if ty.is_some_and(super::calls::is_number) {
            self.numbers.push(name.clone());
        } else if matches!(init, Some(Expr::Closure(_))) {
            self.closures.push(name.clone());
        }
    }

    /// Forgets what `pattern` declares anew.
    pub fn shadow(&mut self, pattern: &mut Pat) {
        struct Names<'a>(&'a mut Variables);
        impl VisitMut for Names<'_> {
            fn visit_pat_ident_mut(&mut self, pattern: &mut PatIdent) {
                self.0.forget(&pattern.ident.clone());
                visit_mut::visit_pat_ident_mut(self, pattern);
            }
        }
        Names(self).visit_pat_mut(pattern);
    }

    fn forget(&mut self, name: &Ident) {
        self.closures.retain(|closure| closure != name);
        self.numbers.retain(|number| number != name);
        self.arrays.retain(|(array, _)| array != name);
    }

    pub fn is_closure(&self, name: &str) -> bool {
        self.closures.iter().any(|closure| *closure == name)
    }

    pub fn is_number(&self, name: &Ident) -> bool {
        self.numbers.contains(name)
    }

    /// Whether the place is in an array of the thread's own.
    pub fn is_own(&self, place: &Expr) -> bool {
        let (mut place, mut indices) = (place, 0);
        loop {
            match without_parentheses(place) {
                Expr::Field(field) => place = &field.base,
                Expr::Index(index) => {
                    place = &index.expr;
                    indices += 1;
                }
                Expr::Path(path) => {
                    let has =
                        |(array, dimensions): &(Ident, usize)| path.path.is_ident(array) && indices <= *dimensions;
                    return self.arrays.iter().any(has);
                }
                _ => return false,
            }
        }
    }
}

/// How many dimensions an array has that is written out.
fn dimensions(value: &Expr) -> usize {
    match without_parentheses(value) {
        Expr::Repeat(array) => 1 + dimensions(&array.expr),
        Expr::Array(array) => 1 + array.elems.iter().map(dimensions).min().unwrap_or(0),
        _ => 0,
    }
}

fn dimensions_of_type(ty: &Type) -> usize {
    match ty {
        Type::Array(array) => 1 + dimensions_of_type(&array.elem),
        _ => 0,
    }
}
