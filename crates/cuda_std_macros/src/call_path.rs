//! Records the call path of a thread: the calls and loops through which it reaches a barrier. The simulator reports
//! lanes that reach the same barrier by different call paths.
//!
//! # Design
//!
//! The macro puts a `Step` around each loop that may contain a barrier. In a branch, it also puts a `Step` around each
//! call that may lead to a barrier. A step records a source line. It does not record a return address, because the
//! optimiser duplicates and merges return addresses. The wrapped call becomes an argument of the function that ends the
//! step, so the call's temporary values live as long as in the source.
//!
//! A user-defined type may have a method that contains a barrier but has the name of a harmless method of std or
//! `cuda_std`, such as `load`. For such a name the receiver's type decides: `observed::probe` selects an empty step for
//! views, numbers and similar types. If a loop contains only such calls, its step begins at the first call whose
//! receiver has another type.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    BinOp, Block, Expr, ExprBinary, ExprCall, ExprClosure, ExprForLoop, ExprIf, ExprLoop, ExprMatch, ExprWhile, Ident,
    Item, Local, Pat, Path, parse_quote, parse_quote_spanned,
};

use crate::accesses::{address, computes, is_float_s, is_free, is_known_method, is_number_method, makes_variant};
use crate::constants::{guard, leave_constants};

/// Modules whose functions contain no barrier, except for functions whose names begin with [`BARRIER`].
const PLAIN_MODULES: [&str; 14] =
    ["core", "std", "alloc", "ptr", "slice", "mem", "thread", "warp", "atomic", "f32", "f64", "u32", "u64", "usize"];
const BARRIER: &str = "sync";
/// Methods of numbers and iterators that contain no barrier, besides those that the module `accesses` lists.
const PLAIN: [&str; 16] = [
    "abs",
    "clamp",
    "enumerate",
    "iter",
    "iter_mut",
    "map",
    "next",
    "pow",
    "prefetch",
    "recip",
    "rev",
    "round",
    "sqrt",
    "step_by",
    "sum",
    "zip",
];
const PLAIN_BEGINNINGS: [&str; 8] =
    ["checked_", "count_", "is_", "overflowing_", "rem_", "saturating_", "to_", "wrapping_"];

/// Puts steps around the loops and calls in `body`.
pub fn tell(body: &mut Block) {
    let mut paths = CallPaths::default();
    paths.visit_block_mut(body);
    if paths.has_probe {
        let import: Block = parse_quote!({
            #[allow(unused_imports)]
            use ::cuda_std::__private::observed::OtherProbe as _;
        });
        body.stmts.splice(0..0, import.stmts);
    }
}

/// The condition under which a call may lead to a barrier.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Waits {
    /// The call leads to no barrier.
    Never,
    /// The call may lead to a barrier if its receiver has a user-defined type.
    ByType,
    /// The call may lead to a barrier.
    Perhaps,
}

#[derive(Default)]
struct CallPaths {
    /// True in code that some threads of the function, or of the loop iteration, may skip.
    is_in_branch: bool,
    /// The steps of enclosing loops, outermost first, that begin only if a receiver has a user-defined type.
    loops: Vec<Ident>,
    /// The number of loops visited so far.
    count: usize,
    /// True if some step depends on the type of a receiver.
    has_probe: bool,
}

impl CallPaths {
    fn in_branch(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.is_in_branch, true);
        visit(self);
        self.is_in_branch = before;
    }

    /// Visits the body of a loop. The body does not count as code in a branch, even if the loop is in a branch.
    fn repeat(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.is_in_branch, false);
        visit(self);
        self.is_in_branch = before;
    }
}

impl CallPaths {
    fn visit_loop(&mut self, expr: &mut Expr) {
        let waits = loop_waits(expr);
        self.count += 1;
        let step = Ident::new(&format!("__step_{}", self.count), Span::mixed_site());
        if waits == Waits::ByType {
            self.loops.push(step.clone());
        }
        visit_mut::visit_expr_mut(self, expr);
        if waits == Waits::ByType {
            self.loops.pop();
        }
        if waits == Waits::Never {
            return;
        }
        if let Expr::ForLoop(ExprForLoop { body, .. })
        | Expr::While(ExprWhile { body, .. })
        | Expr::Loop(ExprLoop { body, .. }) = expr
        {
            body.stmts.insert(0, parse_quote!(::cuda_std::__private::LoopStep::again(&#step);));
        }
        let enter = (waits == Waits::Perhaps).then(|| quote!(::cuda_std::__private::LoopStep::enter(&#step);));
        // The step has the line of the loop.
        *expr = parse_quote_spanned!(expr.span()=> {
            let #step = ::cuda_std::__private::LoopStep::new();
            #enter
            #expr
        });
    }

    fn visit_call(&mut self, expr: &mut Expr) {
        let waits = waits(expr);
        let probe = match waits {
            Waits::ByType if self.is_in_branch || !self.loops.is_empty() => root(expr).map(address),
            _ => None,
        };
        visit_mut::visit_expr_mut(self, expr);
        let place = expr.span();
        // A `StepGuard` needs code at every call within `expr` that may panic, so it is used only where `expr` may be
        // left early.
        let ends = may_end(expr);
        if let Some(address) = probe {
            self.has_probe = true;
            let loops = &self.loops;
            let method = match (self.is_in_branch, ends) {
                (false, _) => "no_step",
                (true, false) => "step",
                (true, true) => "guard",
            };
            let method = Ident::new(method, place);
            let step = quote_spanned!(place=>
                ::cuda_std::__private::observed::probe(|| #address).in_loops(&[#(&#loops),*]).#method().enter());
            self.leave(expr, step);
        } else if self.is_in_branch && waits == Waits::Perhaps {
            let step = if ends { quote!(StepGuard) } else { quote!(Step) };
            self.leave(expr, quote_spanned!(place=> ::cuda_std::__private::#step::new().enter()));
        }
    }

    /// Makes the call `expr` an argument of the function that ends `step`. The other passes do not visit `step`.
    fn leave(&self, expr: &mut Expr, step: TokenStream) {
        let mut call: ExprCall = parse_quote_spanned!(expr.span()=> ::cuda_std::__private::observed::leave((), #expr));
        call.args[0] = Expr::Verbatim(step);
        *expr = Expr::Call(call);
    }
}

impl VisitMut for CallPaths {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::ForLoop(ExprForLoop { attrs, .. })
            | Expr::While(ExprWhile { attrs, .. })
            | Expr::Loop(ExprLoop { attrs, .. })
                if attrs.is_empty() =>
            {
                self.visit_loop(expr);
            }
            Expr::Call(_) | Expr::MethodCall(_) => self.visit_call(expr),
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_expr_if_mut(&mut self, branch: &mut ExprIf) {
        self.visit_expr_mut(&mut branch.cond);
        self.in_branch(|paths| {
            paths.visit_block_mut(&mut branch.then_branch);
            if let Some((_, otherwise)) = &mut branch.else_branch {
                paths.visit_expr_mut(otherwise);
            }
        });
    }

    fn visit_expr_match_mut(&mut self, matched: &mut ExprMatch) {
        self.visit_expr_mut(&mut matched.expr);
        self.in_branch(|paths| matched.arms.iter_mut().for_each(|arm| paths.visit_arm_mut(arm)));
    }

    fn visit_expr_binary_mut(&mut self, binary: &mut ExprBinary) {
        self.visit_expr_mut(&mut binary.left);
        if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) {
            self.in_branch(|paths| paths.visit_expr_mut(&mut binary.right));
        } else {
            self.visit_expr_mut(&mut binary.right);
        }
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        if let Some(init) = &mut local.init {
            self.visit_expr_mut(&mut init.expr);
            if let Some((_, diverge)) = &mut init.diverge {
                self.in_branch(|paths| paths.visit_expr_mut(diverge));
            }
        }
    }

    fn visit_expr_for_loop_mut(&mut self, repeat: &mut ExprForLoop) {
        self.visit_expr_mut(&mut repeat.expr);
        self.repeat(|paths| paths.visit_block_mut(&mut repeat.body));
    }

    fn visit_expr_while_mut(&mut self, repeat: &mut ExprWhile) {
        self.visit_expr_mut(&mut repeat.cond);
        self.repeat(|paths| paths.visit_block_mut(&mut repeat.body));
    }

    fn visit_expr_loop_mut(&mut self, repeat: &mut ExprLoop) {
        self.repeat(|paths| paths.visit_block_mut(&mut repeat.body));
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut ExprClosure) {
        // A closure that moves its variables would move the variables of the steps.
        let loops = std::mem::take(&mut self.loops);
        self.in_branch(|paths| paths.visit_expr_mut(&mut closure.body));
        self.loops = loops;
    }

    // The called expression `call.func` is not itself a call, unless it is more than a path.

    fn visit_expr_call_mut(&mut self, call: &mut ExprCall) {
        if !matches!(*call.func, Expr::Path(_)) {
            self.visit_expr_mut(&mut call.func);
        }
        call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
    }

    leave_constants!();

    fn visit_pat_mut(&mut self, pattern: &mut Pat) {
        if let Some(condition) = guard(pattern) {
            self.visit_expr_mut(condition);
        }
    }

    fn visit_item_mut(&mut self, _item: &mut Item) {}
}

/// Returns the condition under which the called function may lead to a barrier. For a call of a barrier itself this is
/// `Never`, because the barrier reports its own line.
fn waits(expr: &Expr) -> Waits {
    match expr {
        Expr::Call(call) => match &*call.func {
            Expr::Path(function) if is_plain_function(&function.path) => Waits::Never,
            _ => Waits::Perhaps,
        },
        Expr::MethodCall(call) => {
            let name = call.method.unraw().to_string();
            // The pass for accesses may evaluate such a method twice, so the method can contain no barrier.
            if is_float_s(call, &name) || is_free(&name) {
                return Waits::Never;
            }
            if !is_plain(&name) {
                return Waits::Perhaps;
            }
            match base(&call.receiver) {
                Expr::Call(made) if makes_variant(made) && !is_own(made) => Waits::Perhaps,
                made @ Expr::Call(_) => waits(made),
                base if !computes(base) => Waits::ByType,
                // The receiver is usually a number.
                Expr::Lit(_) | Expr::Binary(_) | Expr::Cast(_) | Expr::Range(_) => Waits::Never,
                _ => Waits::Perhaps,
            }
        }
        _ => Waits::Never,
    }
}

/// Returns true for a call that an earlier pass has inserted.
fn is_own(call: &ExprCall) -> bool {
    matches!(&*call.func, Expr::Path(path) if path.path.segments.iter().any(|part| part.ident == "__private"))
}

/// Returns the value on which a chain of methods is called.
fn base(receiver: &Expr) -> &Expr {
    match receiver {
        Expr::MethodCall(call) => base(&call.receiver),
        Expr::Paren(inner) => base(&inner.expr),
        Expr::Try(tried) => base(&tried.expr),
        receiver => receiver,
    }
}

/// Returns the value on which the chain of methods `call` is called, or `None` if `call` is not a method call.
fn root(call: &Expr) -> Option<&Expr> {
    match call {
        Expr::MethodCall(call) => Some(base(&call.receiver)),
        _ => None,
    }
}

fn is_plain(name: &str) -> bool {
    is_known_method(name)
        || is_number_method(name)
        || PLAIN.contains(&name)
        || PLAIN_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

fn is_plain_function(path: &Path) -> bool {
    let mut names = path.segments.iter().rev().map(|part| part.ident.unraw().to_string());
    let name = names.next().unwrap_or_default();
    let is_of_plain_module = names.any(|module| PLAIN_MODULES.contains(&&*module));
    // A call of the name of a type or variant constructs a value.
    is_of_plain_module || name.starts_with(char::is_uppercase) || name == "size_of" || is_barrier(&name)
}

fn is_barrier(name: &str) -> bool {
    name.starts_with(BARRIER)
}

/// Returns true if control may leave `call` by `break`, `continue`, `return`, `?` or a macro in it.
fn may_end(call: &Expr) -> bool {
    struct Ends(bool);

    impl Visit<'_> for Ends {
        fn visit_expr(&mut self, expr: &Expr) {
            self.0 |=
                matches!(expr, Expr::Break(_) | Expr::Continue(_) | Expr::Return(_) | Expr::Try(_) | Expr::Macro(_));
            visit::visit_expr(self, expr);
        }
    }

    let mut ends = Ends(false);
    ends.visit_expr(call);
    ends.0
}

/// Returns the condition under which the body of a loop may lead to a barrier.
fn loop_waits(repeat: &Expr) -> Waits {
    struct Most(Waits);

    impl Visit<'_> for Most {
        fn visit_expr(&mut self, expr: &Expr) {
            let is_barrier = matches!(expr, Expr::Call(call) if matches!(&*call.func, Expr::Path(function)
                if function.path.segments.last().is_some_and(|last| is_barrier(&last.ident.to_string()))));
            self.0 = self.0.max(if is_barrier { Waits::Perhaps } else { waits(expr) });
            visit::visit_expr(self, expr);
        }

        fn visit_item(&mut self, _item: &Item) {}
    }

    let mut most = Most(Waits::Never);
    if let Expr::ForLoop(ExprForLoop { body, .. })
    | Expr::While(ExprWhile { body, .. })
    | Expr::Loop(ExprLoop { body, .. }) = repeat
    {
        most.visit_block(body);
    }
    most.0
}
