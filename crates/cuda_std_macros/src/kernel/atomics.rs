//! Rejects parameters that are references to atomic types, because host buffers contain numbers.

use syn::spanned::Spanned;
use syn::{Error, Type};

use crate::names::NUMBERS;

/// Returns the error for the parameter `name: ty` if it is a reference to an atomic type of `cuda_std` or core.
pub fn refused(name: &syn::Ident, ty: &Type) -> Option<Error> {
    let element = match ty {
        Type::Reference(reference) => &*reference.elem,
        Type::Ptr(pointer) => &*pointer.elem,
        _ => return None,
    };
    let element = match element {
        Type::Slice(slice) => &*slice.elem,
        Type::Array(array) => &*array.elem,
        element => element,
    };
    let Type::Path(path) = element else { return None };
    let atomic = path.path.segments.last()?.ident.to_string();
    let scopes = [("BlockAtomic", "block_atomic"), ("SystemAtomic", "system_atomic"), ("Atomic", "atomic")];
    let (number, method) =
        scopes.into_iter().find_map(|(start, method)| Some((atomic.strip_prefix(start)?, method)))?;
    let number = number.to_lowercase();
    NUMBERS.contains(&&*number).then(|| {
        let message = format!(
            "a kernel cannot take a reference to `{atomic}`, because host buffers contain numbers: take `{name}: \
             GlobalMut<{number}>`; `{name}.{method}(i)` has `{atomic}`'s methods"
        );
        Error::new(ty.span(), message)
    })
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use crate::kernel::expand;

    #[test]
    fn references_to_atomics_are_refused_with_what_to_take() {
        for (parameter, expected) in [
            (quote!(x: &[AtomicU32]), "take `x: GlobalMut<u32>`; `x.atomic(i)` has `AtomicU32`'s methods"),
            (quote!(y: &cuda_std::atomic::BlockAtomicF32), "take `y: GlobalMut<f32>`; `y.block_atomic(i)`"),
            (quote!(z: *mut SystemAtomicI64), "take `z: GlobalMut<i64>`; `z.system_atomic(i)`"),
        ] {
            let error = expand(quote!(), quote!(fn k(#parameter) {})).unwrap_err().to_string();
            assert!(error.contains(expected), "`{expected}` is not in {error}");
        }
        assert!(
            expand(
                quote!(),
                quote!(
                    fn k(x: &[AtomicHabit]) {}
                )
            )
            .is_ok()
        );
    }
}
