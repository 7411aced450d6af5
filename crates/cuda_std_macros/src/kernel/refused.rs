//! Rejects parameters that no kernel can take, each with what to take instead.

use syn::spanned::Spanned;
use syn::{Error, Ident, Type};

use super::atomics;
use crate::names::last_name;

/// Returns the error for the parameter `name: ty`, or `None` if a kernel may be able to take it.
pub fn refused(name: &Ident, ty: &Type) -> Option<Error> {
    let target = match ty {
        Type::Reference(reference) => &*reference.elem,
        Type::Ptr(pointer) => &*pointer.elem,
        ty => ty,
    };
    let message = match target {
        Type::ImplTrait(bounds) => {
            let bounds = &bounds.bounds;
            format!(
                "a kernel cannot take `impl {0}`, because each of its types is an entry of its own: make the kernel \
                 generic and list the types, `#[kernel(instances(T = [u32, u64]))] fn k<T: {0}>({name}: T)`",
                quote::quote!(#bounds)
            )
        }
        Type::TraitObject(_) => format!(
            "a kernel cannot take a trait object, because its functions are the host's: make the kernel generic and \
             list the types that it is built for, `#[kernel(instances(F = [Mine]))] fn k<F: Trait>({name}: F)`"
        ),
        Type::FnPtr(_) => format!(
            "a kernel cannot take a function, because a GPU cannot call the host's: make the kernel generic over a \
             type with the function, `#[kernel(instances(F = [Mine]))] fn k<F: Trait>({name}: F)`"
        ),
        Type::Path(path) if last_name(&path.path)? == "str" => {
            format!("a kernel cannot take a string: take its bytes, `{name}: &[u8]` or `{name}: Global<u8>`")
        }
        Type::Path(path) if matches!(&*last_name(&path.path)?, "String" | "Vec" | "Box") => {
            format!("a kernel cannot take memory of the host: upload it and take a view, `{name}: Global<T>`")
        }
        _ => return atomics::refused(name, ty),
    };
    Some(Error::new(ty.span(), message))
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use crate::kernel::expand;

    #[test]
    fn parameters_are_refused_with_what_to_take() {
        for (parameter, expected) in [
            (quote!(x: impl Into<u64>), "fn k<T: Into < u64 >>(x: T)"),
            (quote!(f: &dyn Fn(u32) -> u32), "a kernel cannot take a trait object"),
            (quote!(f: fn(u32) -> u32), "a kernel cannot take a function"),
            (quote!(name: &str), "`name: &[u8]` or `name: Global<u8>`"),
            (quote!(values: Vec<u32>), "take a view, `values: Global<T>`"),
        ] {
            let error = expand(quote!(), quote!(fn k(#parameter) {})).unwrap_err().to_string();
            assert!(error.contains(expected), "`{expected}` is not in {error}");
        }
    }
}
