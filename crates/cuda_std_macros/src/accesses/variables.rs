//! Facts about variables that are known without the compiler's types. Accesses to some variables need no report and
//! stay unchanged.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprUnary, FnArg, Ident, Local, Pat, PatIdent, ReceiverKind, Signature, Type, UnOp};

use crate::names;

use super::syntax::{moves, without_parentheses};

/// The variables in scope, in one list per kind of known fact.
#[derive(Clone, Default)]
pub struct Variables {
    /// Closures, whose bodies are rewritten with the body of the function.
    closures: Vec<Ident>,
    /// Numbers, and other variables that contain no pointers except in views.
    numbers: Vec<Ident>,
    /// References to single values.
    references: Vec<Ident>,
    /// Variables whose declared type is a pointer, a slice or an array. The `bool` is true if the elements are
    /// numbers.
    pointers: Vec<(Ident, bool)>,
    /// Variables whose types are written in the source or follow from their declarations.
    typed: Vec<Ident>,
    /// All variables that are initialised in their declarations.
    given: Vec<Ident>,
    /// The local arrays of a thread. The number is the minimum number of the array's dimensions.
    arrays: Vec<(Ident, usize)>,
}

impl Variables {
    /// Returns the facts about the parameters of a function.
    pub fn of(signature: &Signature) -> Self {
        let mut variables = Self::default();
        for input in &signature.inputs {
            if let FnArg::Receiver(receiver) = input {
                variables.typed.push(Ident::from(receiver.self_token));
            }
            match input {
                FnArg::Receiver(receiver) if matches!(receiver.kind, ReceiverKind::Reference(..)) => {
                    variables.references.push(Ident::from(receiver.self_token));
                }
                FnArg::Receiver(_) => {}
                FnArg::Typed(typed) => variables.declare_typed(&Pat::Type(typed.clone())),
            }
        }
        variables
    }

    /// Records a parameter of a function or closure if its type is written in the source.
    pub fn declare_typed(&mut self, parameter: &Pat) {
        if let Pat::Type(typed) = parameter
            && let Pat::Ident(name) = &*typed.pat
        {
            self.declare(&name.ident, Some(&typed.ty), None, false);
            self.given.push(name.ident.clone());
        }
    }

    /// Records the variables that a `let` declares. `is_number` is true if the syntax of the value shows that it
    /// contains no pointers.
    pub fn bind(&mut self, local: &mut Local, is_number: bool) {
        let init = local.init.as_ref().map(|init| &*init.expr);
        match &local.pat {
            Pat::Ident(name) => self.declare(&name.ident.clone(), None, init, is_number),
            Pat::Type(typed) if matches!(&*typed.pat, Pat::Ident(_)) => {
                if let Pat::Ident(name) = &*typed.pat {
                    self.declare(&name.ident.clone(), Some(&typed.ty), init, false);
                }
            }
            _ => self.shadow(&mut local.pat),
        }
    }

    /// Records that `pattern` is a number if it is a single variable.
    pub fn count(&mut self, pattern: &Pat) {
        if let Pat::Ident(name) = pattern {
            self.numbers.push(name.ident.clone());
        }
    }

    fn declare(&mut self, name: &Ident, ty: Option<&Type>, init: Option<&Expr>, is_number: bool) {
        let is_typed = ty.is_some_and(is_written) || init.is_some_and(|init| self.is_typed_s(init));
        self.forget(name);
        if is_typed {
            self.typed.push(name.clone());
        }
        let dimensions = ty.map_or(0, dimensions_of_type).max(init.map_or(0, dimensions));
        if dimensions > 0 {
            self.arrays.push((name.clone(), dimensions));
        }
        if let Some(element) = ty.and_then(element) {
            self.pointers.push((name.clone(), names::is_number(element)));
        }
        if is_number || ty.is_some_and(names::is_number) {
            self.numbers.push(name.clone());
        } else if matches!(init, Some(Expr::Closure(_))) {
            self.closures.push(name.clone());
        } else if ty.map_or_else(|| init.is_some_and(refers), is_reference) {
            self.references.push(name.clone());
        }
        if init.is_some() {
            self.given.push(name.clone());
        }
    }

    /// Removes the facts about variables that `pattern` shadows.
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
        self.references.retain(|reference| reference != name);
        self.given.retain(|given| given != name);
        self.typed.retain(|typed| typed != name);
        self.arrays.retain(|(array, _)| array != name);
        self.pointers.retain(|(pointer, _)| pointer != name);
    }

    pub fn is_closure(&self, name: &str) -> bool {
        self.closures.iter().any(|closure| *closure == name)
    }

    pub fn is_typed(&self, name: &Ident) -> bool {
        self.typed.contains(name)
    }

    /// Returns true if the type of `value` follows from its form and the types of variables.
    fn is_typed_s(&self, value: &Expr) -> bool {
        match without_parentheses(value) {
            Expr::Path(path) => path.path.get_ident().is_some_and(|name| self.is_typed(name)),
            Expr::Reference(reference) => self.is_typed_s(&reference.expr),
            Expr::Index(index) => self.is_typed_s(&index.expr),
            Expr::Field(field) => self.is_typed_s(&field.base),
            _ => false,
        }
    }

    pub fn is_number(&self, name: &Ident) -> bool {
        self.numbers.contains(name)
    }

    /// Returns true if `value` is a variable that contains no pointers, or a part of such a variable.
    pub fn is_of_number(&self, value: &Expr) -> bool {
        match without_parentheses(value) {
            Expr::Index(index) => self.is_of_number(&index.expr),
            Expr::Field(field) => self.is_of_number(&field.base),
            Expr::Path(path) => path.path.get_ident().is_some_and(|name| self.is_number(name)),
            _ => false,
        }
    }

    /// Returns true if the declared type of the variable is a pointer, a slice or an array.
    pub fn is_pointer(&self, name: &Ident) -> bool {
        self.pointers.iter().any(|(pointer, _)| pointer == name)
    }

    /// Returns true if the place is an element of a variable, and the variable's declared type shows that its elements
    /// are numbers.
    pub fn is_element_number(&self, place: &Expr) -> bool {
        let shows_numbers = |value: &Expr| {
            matches!(without_parentheses(value), Expr::Path(path) if path.path.get_ident().is_some_and(|name| {
                self.pointers.iter().any(|(pointer, shows)| *shows && pointer == name)
            }))
        };
        match without_parentheses(place) {
            Expr::Index(index) => !matches!(*index.index, Expr::Range(_)) && shows_numbers(&index.expr),
            Expr::Unary(ExprUnary { op: UnOp::Deref(_), expr, .. }) => match without_parentheses(expr) {
                Expr::MethodCall(call) if moves(&call.method) => shows_numbers(&call.receiver),
                value => shows_numbers(value),
            },
            _ => false,
        }
    }

    /// Returns true if `value` is a variable that contains no pointers, or a part of such a variable. Returns false for
    /// slices and arrays.
    pub fn is_one_number(&self, value: &Expr) -> bool {
        let (mut inner, mut indices) = (value, 0);
        while let Expr::Index(index) = without_parentheses(inner) {
            if matches!(*index.index, Expr::Range(_)) {
                return false;
            }
            (inner, indices) = (&index.expr, indices + 1);
        }
        let is_array = |(array, dimensions): &(Ident, usize)| {
            indices < *dimensions && matches!(without_parentheses(inner), Expr::Path(path) if path.path.is_ident(array))
        };
        self.is_of_number(value) && !self.arrays.iter().any(is_array)
    }

    pub fn is_reference(&self, name: &Ident) -> bool {
        self.references.contains(name)
    }

    /// Returns the variables in `tokens` that may be pointers.
    pub fn mentioned(&self, tokens: &TokenStream) -> Vec<Ident> {
        let mut all = Vec::new();
        let mut is_field = false;
        for token in tokens.clone() {
            let is_dot = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.');
            match token {
                TokenTree::Ident(name) if !is_field && self.given.contains(&name) && !self.is_number(&name) => {
                    all.push(name);
                }
                TokenTree::Group(group) => all.extend(self.mentioned(&group.stream())),
                _ => {}
            }
            is_field = is_dot;
        }
        all
    }

    /// Returns true if the place is in a local array of the thread, which needs no reports.
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

/// Returns the number of dimensions of an array literal.
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

/// Returns the element type of a pointer, a slice or an array, or `None` for other types.
fn element(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Ptr(pointer) => Some(&pointer.elem),
        Type::Array(array) => Some(&array.elem),
        Type::Reference(reference) => match &*reference.elem {
            Type::Slice(slice) => Some(&slice.elem),
            Type::Array(array) => Some(&array.elem),
            _ => None,
        },
        _ => None,
    }
}

/// Returns true if the type is neither `_` nor a reference to `_`.
fn is_written(ty: &Type) -> bool {
    match ty {
        Type::Infer(_) => false,
        Type::Reference(reference) => is_written(&reference.elem),
        _ => true,
    }
}

/// Returns true for the type of a reference to a single value.
fn is_reference(ty: &Type) -> bool {
    matches!(ty, Type::Reference(reference) if !matches!(&*reference.elem, Type::Slice(_)))
}

/// Returns true if the value borrows a variable.
fn refers(value: &Expr) -> bool {
    matches!(without_parentheses(value), Expr::Reference(reference)
        if matches!(without_parentheses(&reference.expr), Expr::Path(_) | Expr::Struct(_) | Expr::Tuple(_)))
}
