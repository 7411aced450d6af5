//! Has the simulator told which calls and loops a thread is in, so that lanes that come to a barrier by different ones
//! are told apart: calls in branches, and loops with calls in them, if what is called may have a barrier in it.
//!
//! The text stays what it is otherwise. A call becomes an argument of the function that leaves it, so that what is
//! temporary in it lives as long as before.
//!
//! # Design
//!
//! The macro puts a `Step` around each loop that contains calls and around each call in a branch. Steps record source
//! lines, not return addresses, because the optimiser duplicates and merges those.

use proc_macro2::Span;
use quote::quote;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    BinOp, Block, Expr, ExprBinary, ExprCall, ExprClosure, ExprForLoop, ExprIf, ExprLoop, ExprMatch, ExprMethodCall,
    ExprWhile, Ident, Item, Local, Pat, Path, parse_quote, parse_quote_spanned,
};

use crate::constants::{guard, leave_constants};

/// Modules whose functions have no barrier in them, but for those whose names begin as [`BARRIER`].
const PLAIN_MODULES: [&str; 14] =
    ["core", "std", "alloc", "ptr", "slice", "mem", "thread", "warp", "atomic", "f32", "f64", "u32", "u64", "usize"];
const BARRIER: &str = "sync";
/// Functions and methods without a barrier in them: what they are called by views, numbers and iterators.
const PLAIN: [&str; 74] = [
    "abs",
    "add",
    "all",
    "any",
    "cast",
    "ceil",
    "clamp",
    "clone",
    "cmp",
    "combine",
    "compare_exchange",
    "copied",
    "cos",
    "default",
    "div",
    "div_ceil",
    "enumerate",
    "eq",
    "exp",
    "exp2",
    "fence",
    "fence_block",
    "fence_system",
    "floor",
    "fma",
    "fract",
    "from",
    "ge",
    "get",
    "get_mut",
    "gt",
    "identity",
    "into",
    "into_iter",
    "iter",
    "iter_mut",
    "le",
    "len",
    "load",
    "log",
    "log2",
    "lt",
    "map",
    "max",
    "min",
    "mul",
    "mul_add",
    "ne",
    "next",
    "offset",
    "part",
    "pow",
    "powf",
    "powi",
    "prefetch",
    "read",
    "recip",
    "rev",
    "round",
    "set",
    "sin",
    "size_of",
    "splat",
    "sqrt",
    "step_by",
    "store",
    "sub",
    "sum",
    "swap",
    "take",
    "trap",
    "trunc",
    "write",
    "zip",
];
/// What the names of others begin with.
const PLAIN_BEGINNINGS: [&str; 16] = [
    "as_",
    "atomic_",
    "checked_",
    "count_",
    "fetch_",
    "from_",
    "is_",
    "leading_",
    "load_",
    "overflowing_",
    "rem_",
    "saturating_",
    "store_",
    "to_",
    "trailing_",
    "wrapping_",
];

/// Has `body` tell of its calls and loops.
pub fn tell(body: &mut Block) {
    CallPaths { is_in_branch: false }.visit_block_mut(body);
}

struct CallPaths {
    /// Not all threads that are in the function, or in the iteration, come here.
    is_in_branch: bool,
}

impl CallPaths {
    fn in_branch(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.is_in_branch, true);
        visit(self);
        self.is_in_branch = before;
    }

    /// A loop's body, whose branches are its own.
    fn repeat(&mut self, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.is_in_branch, false);
        visit(self);
        self.is_in_branch = before;
    }
}

impl VisitMut for CallPaths {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let is_told = match expr {
            Expr::Call(_) | Expr::MethodCall(_) => self.is_in_branch && may_wait(expr),
            Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) => has_waits(expr),
            _ => false,
        };
        visit_mut::visit_expr_mut(self, expr);
        if is_told {
            match expr {
                Expr::ForLoop(ExprForLoop { attrs, body, .. })
                | Expr::While(ExprWhile { attrs, body, .. })
                | Expr::Loop(ExprLoop { attrs, body, .. }) => {
                    if attrs.is_empty() {
                        let step = Ident::new("__step", Span::mixed_site());
                        let again = parse_quote!(::cuda_std::__private::Step::again(&#step););
                        body.stmts.insert(0, again);
                        // The line of the step is the loop's.
                        let place = expr.span();
                        *expr = parse_quote_spanned!(place=> {
                            let #step = ::cuda_std::__private::StepGuard::new();
                            ::cuda_std::__private::Step::enter(&#step);
                            #expr
                        });
                    }
                }
                _ => {
                    let place = expr.span();
                    // The guard's drop is code for every call within, which may panic.
                    let step = if may_end(expr) { quote!(StepGuard) } else { quote!(Step) };
                    *expr = parse_quote_spanned!(place=> ::cuda_std::__private::Step::leave(
                        ::cuda_std::__private::Step::enter(&::cuda_std::__private::#step::new()),
                        #expr,
                    ));
                }
            }
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
        self.in_branch(|paths| paths.visit_expr_mut(&mut closure.body));
    }

    // What is called is no call itself.

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

/// Whether `expr` is a call that may have a barrier in it. A barrier itself has a line of its own.
fn may_wait(expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => match &*call.func {
            Expr::Path(function) => !is_plain_function(&function.path),
            _ => true,
        },
        Expr::MethodCall(call) => !is_plain(&call.method.unraw().to_string()),
        _ => false,
    }
}

fn is_plain(name: &str) -> bool {
    PLAIN.contains(&name) || PLAIN_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

fn is_plain_function(path: &Path) -> bool {
    let mut names = path.segments.iter().rev().map(|part| part.ident.unraw().to_string());
    let name = names.next().unwrap_or_default();
    let is_of_plain_module = names.any(|module| PLAIN_MODULES.contains(&&*module));
    // A type's or a variant's name makes a value.
    is_of_plain_module || name.starts_with(char::is_uppercase) || is_plain(&name) || is_barrier(&name)
}

fn is_barrier(name: &str) -> bool {
    name.starts_with(BARRIER)
}

/// Whether what is in a call may leave it by anything but a panic.
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

/// Whether the body of a loop has a barrier in it, or a call that may have one.
fn has_waits(repeat: &Expr) -> bool {
    struct Waits(bool);

    impl Visit<'_> for Waits {
        fn visit_expr_call(&mut self, call: &ExprCall) {
            if let Expr::Path(function) = &*call.func {
                let last = function.path.segments.last();
                self.0 |= last.is_some_and(|last| is_barrier(&last.ident.to_string()));
                self.0 |= !is_plain_function(&function.path);
            }
            visit::visit_expr_call(self, call);
        }

        fn visit_expr_method_call(&mut self, call: &ExprMethodCall) {
            self.0 |= !is_plain(&call.method.unraw().to_string());
            visit::visit_expr_method_call(self, call);
        }

        fn visit_item(&mut self, _item: &Item) {}
    }

    let mut waits = Waits(false);
    match repeat {
        Expr::ForLoop(ExprForLoop { body, .. })
        | Expr::While(ExprWhile { body, .. })
        | Expr::Loop(ExprLoop { body, .. }) => waits.visit_block(body),
        _ => {}
    }
    waits.0
}
