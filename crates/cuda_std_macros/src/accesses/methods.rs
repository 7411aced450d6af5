//! Methods of pointers and slices, and the functions of `core::ptr`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Expr, ExprCall, ExprMethodCall};

use super::place::{Bindings, Prepared, address, at, note_move, way};
use super::syntax::{is_place, is_simple, left_call, moves};
use super::{Access, Accesses, expression, observed, then};

/// The memory that a method or function accesses.
#[derive(Clone, Copy)]
enum Accessed {
    /// The target of the pointer.
    Pointee(Access),
    /// The target of the pointer, which may be unaligned.
    Unaligned(Access),
    /// Several elements. The pointer points to the first of them, and the call's last argument is the number of
    /// elements.
    Many(Access),
    /// Several elements of each of two arrays. The pointer points to the first element of one array, and the last
    /// argument but one points to the first element of the other array. The last argument is the number of elements.
    Copied(Access),
    /// The targets of both pointers.
    Both(Access),
    /// The element whose index is the first argument.
    Element(Access),
    /// The element whose index is the first argument, if it exists.
    ElementIfAny(Access),
    /// The two elements whose indices are the arguments.
    Elements(Access),
    /// All elements of the slice.
    All(Access),
    /// All elements of the slice, and all elements of the argument, which are copied to the slice.
    AllFrom,
}

use Access::{Borrow, Read, Update, Write};

/// Returns the memory that the method `name` with this number of arguments accesses, or `None` for other methods.
fn of_method(name: &str, arguments: usize) -> Option<Accessed> {
    Some(match (name, arguments) {
        ("swap", 2) => Accessed::Elements(Update),
        ("get_unchecked", 1) => Accessed::Element(Read),
        ("get_unchecked_mut", 1) => Accessed::Element(Borrow),
        ("get", 1) => Accessed::ElementIfAny(Read),
        ("get_mut", 1) => Accessed::ElementIfAny(Borrow),
        ("fill", 1) => Accessed::All(Write),
        ("copy_from_slice" | "clone_from_slice", 1) => Accessed::AllFrom,
        ("contains" | "starts_with" | "ends_with" | "binary_search", 1) | ("to_vec" | "is_sorted", 0) => {
            Accessed::All(Read)
        }
        ("reverse" | "sort" | "sort_unstable", 0) | ("rotate_left" | "rotate_right", 1) => Accessed::All(Update),
        _ => return of_pointer(name, arguments),
    })
}

/// Returns the memory that the method `name` of a pointer accesses, or `None` for other methods.
fn of_pointer(name: &str, arguments: usize) -> Option<Accessed> {
    Some(match (name, arguments) {
        ("read" | "read_volatile", 0) => Accessed::Pointee(Read),
        ("read_unaligned", 0) => Accessed::Unaligned(Read),
        ("write" | "write_volatile", 1) => Accessed::Pointee(Write),
        ("write_unaligned", 1) => Accessed::Unaligned(Write),
        ("replace", 1) => Accessed::Pointee(Update),
        ("swap", 1) => Accessed::Both(Update),
        ("write_bytes", 2) => Accessed::Many(Write),
        ("copy_from" | "copy_from_nonoverlapping", 2) => Accessed::Copied(Write),
        ("copy_to" | "copy_to_nonoverlapping", 2) => Accessed::Copied(Read),
        _ => return None,
    })
}

/// Returns the memory that a function of `core::ptr` accesses, or `None` for other functions. The first argument is the
/// pointer.
fn of_function(path: &syn::Path, arguments: usize) -> Option<Accessed> {
    let mut parts = path.segments.iter().rev();
    let (name, module) = (parts.next()?, parts.next()?);
    if module.ident != "ptr" || arguments == 0 {
        return None;
    }
    match &*name.ident.unraw().to_string() {
        "copy" => of_pointer("copy_to", arguments - 1),
        "copy_nonoverlapping" => of_pointer("copy_to_nonoverlapping", arguments - 1),
        name => of_pointer(name, arguments - 1),
    }
}

impl Accesses {
    pub fn call_method(&mut self, call: &mut ExprMethodCall) -> Option<Expr> {
        let name = call.method.unraw().to_string();
        if let Some(accessed) = of_method(&name, call.args.len()) {
            return self.call_accessing(call, accessed);
        }
        if matches!(&*name, "iter" | "iter_mut") && call.args.is_empty() && !self.known.is_own(&call.receiver) {
            return self.call_iterating(call);
        }
        if moves(&call.method) && call.args.len() == 1 && is_simple(&call.receiver) && !is_literal(&call.receiver) {
            call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
            self.has_told = true;
            return Some(note_move(call));
        }
        if !self.observes(&call.receiver) {
            return self.call_unknown(call);
        }
        // The method borrows the receiver in place.
        let span = call.span();
        let around = self.method_of_slice(call, &name);
        let mut bindings = Bindings::for_place();
        let is_known = self.prepare(&mut call.receiver, Access::Read, &mut bindings) == Prepared::Known;
        let by = if addresses(&name) { quote!(.addressed()) } else { TokenStream::new() };
        let told = is_known.then(|| self.tell_by(&call.receiver, Access::Read, &by));
        call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
        let call = around.around(Expr::MethodCall(call.clone()));
        told.map(|told| expression(bindings.around(then(&told, quote!(#call), span))))
    }

    /// Makes a receiver, or a function's first argument, safe to evaluate twice. Returns the statements that report the
    /// accesses needed to compute it, or `None` if it cannot be made safe.
    fn settle(&mut self, value: &mut Expr, may_move: bool, bindings: &mut Bindings) -> Option<TokenStream> {
        if is_place(value) {
            let prepared = self.prepare(value, Access::Read, bindings);
            return (prepared == Prepared::Known).then(|| {
                let way = way(value);
                quote!(let _ = #way;)
            });
        }
        if !is_simple(value) {
            self.visit_expr_mut(value);
            if !may_move {
                return None;
            }
            bindings.bind(self.variable(value.span()), value);
        }
        Some(TokenStream::new())
    }

    /// Makes an argument safe to evaluate twice.
    fn settle_argument(&mut self, argument: &mut Expr, bindings: &mut Bindings) {
        if !is_simple(argument) {
            self.visit_expr_mut(argument);
            bindings.bind(self.variable(argument.span()), argument);
        }
    }

    fn call_accessing(&mut self, call: &mut ExprMethodCall, accessed: Accessed) -> Option<Expr> {
        let span = call.method.span();
        let name = call.method.unraw().to_string();
        let mut bindings = Bindings::for_place();
        // A slice's method may borrow from its receiver.
        let may_move = of_pointer(&name, call.args.len()).is_some();
        if !may_move && !is_place(&call.receiver) && !is_simple(&call.receiver) {
            return self.call_unknown(call);
        }
        let receiver = self.handing(&call.receiver);
        let reached = self.settle(&mut call.receiver, may_move, &mut bindings);
        if reached.is_none() {
            call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
            return None;
        }
        call.args.iter_mut().for_each(|argument| self.settle_argument(argument, &mut bindings));
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let used = self.used(&call.receiver, &arguments, accessed, span);
        let told = quote!(#reached #used);
        let called = self.call_perhaps_other(&receiver, &name, &told, quote!(#call), span);
        Some(expression(bindings.around(quote!(#called))))
    }

    fn call_iterating(&mut self, call: &mut ExprMethodCall) -> Option<Expr> {
        // The iterator may borrow from a temporary value.
        if !is_place(&call.receiver) && !is_simple(&call.receiver) {
            return self.call_unknown(call);
        }
        let mut bindings = Bindings::for_place();
        let reached = self.settle(&mut call.receiver, false, &mut bindings)?;
        self.has_told = true;
        let (at, span) = (at(&call.receiver), call.span());
        // An array behind a pointer is iterated like a slice.
        let elements = if is_place(&call.receiver) { quote!(.elements()) } else { TokenStream::new() };
        let iterated = quote_spanned!(call.method.span()=> #at #elements.iterated(#call));
        Some(expression(bindings.around(match reached.is_empty() {
            true => iterated,
            false => then(&reached, iterated, span),
        })))
    }

    pub fn call(&mut self, call: &mut ExprCall) -> Option<Expr> {
        if left_call(call).is_some() {
            call.args.iter_mut().skip(1).for_each(|called| self.visit_expr_mut(called));
            return None;
        }
        let accessed = match &*call.func {
            Expr::Path(path) => of_function(&path.path, call.args.len()),
            _ => None,
        };
        let Some(accessed) = accessed else { return self.call_function(call) };
        let span = call.span();
        let mut bindings = Bindings::for_value();
        for argument in &mut call.args {
            self.settle_argument(argument, &mut bindings);
        }
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let (pointer, arguments) = arguments.split_first()?;
        let told = self.used(pointer, arguments, accessed, span);
        Some(expression(bindings.around(then(&told, quote!(#call), span))))
    }

    /// Returns the statements that report the accesses of a call with these arguments.
    fn used(&mut self, value: &Expr, arguments: &[&Expr], accessed: Accessed, span: proc_macro2::Span) -> TokenStream {
        self.has_told = true;
        // A place is not the result of a call that offsets a pointer.
        let of = |value: &Expr| match is_place(value) {
            true => {
                let (observed, address) = (observed(), address(value));
                quote_spanned!(span=> #observed::At(#address))
            }
            false => {
                let at = at(value);
                quote_spanned!(span=> #at)
            }
        };
        let at = of(value);
        let first = arguments.first();
        match accessed {
            Accessed::Pointee(access) => quote_spanned!(span=> #at.used(#access);),
            Accessed::Unaligned(access) => quote_spanned!(span=> #at.used_unaligned(#access);),
            Accessed::Many(access) => {
                let count = arguments.last();
                quote_spanned!(span=> #at.used_many(&(#count), #access);)
            }
            Accessed::Copied(access) => {
                let count = arguments.last();
                quote_spanned!(span=> #at.copied(&(#first), &(#count), #access);)
            }
            Accessed::Both(access) => {
                let other = first.map(|other| of(other));
                quote_spanned!(span=> #at.used(#access); #other.used(#access);)
            }
            Accessed::Element(access) => quote_spanned!(span=> #at.used_element(&(#first), #access);),
            Accessed::ElementIfAny(access) => quote_spanned!(span=> #at.used_element_if_any(&(#first), #access);),
            Accessed::Elements(access) => {
                let second = arguments.last();
                quote_spanned!(span=> #at.used_element(&(#first), #access); #at.used_element(&(#second), #access);)
            }
            Accessed::All(access) => quote_spanned!(span=> #at.used_all(#access);),
            Accessed::AllFrom => {
                let from = first.map(|from| of(from));
                quote_spanned!(span=> #from.used_all(#Read); #at.used_all(#Write);)
            }
        }
    }
}

/// Returns true for a method of arrays and of `MaybeUninit` that only computes an address or a length.
fn addresses(name: &str) -> bool {
    matches!(
        name,
        "as_ptr"
            | "as_mut_ptr"
            | "as_ptr_range"
            | "as_mut_ptr_range"
            | "as_slice"
            | "as_mut_slice"
            | "len"
            | "is_empty"
    )
}

fn is_literal(value: &Expr) -> bool {
    match value {
        Expr::Lit(_) => true,
        Expr::Paren(inner) => is_literal(&inner.expr),
        Expr::Unary(unary) => is_literal(&unary.expr),
        _ => false,
    }
}
