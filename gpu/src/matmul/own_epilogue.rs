//! The epilogues for which kernels are built.

use cuda_std::__private::ExportedInstances;

use super::{Epilogue, Linear, Operand, Output};

/// An epilogue of products of elements of type `T` with results of type `C`, for which kernels are built.
///
/// For an epilogue of your own, [`instances!`](crate::instances!) builds the kernels and implements this trait.
#[diagnostic::on_unimplemented(
    message = "no kernel multiplies `{T}` to `{C}` with the epilogue `{Self}`",
    label = "no such kernel is built",
    note = "for an epilogue of your own, add `gpu::instances!({T} to {C} by Epilogue: matmul);` to the crate of your \
            kernels"
)]
pub trait MatmulEpilogue<T: Operand, C: Output<T::Sum>>: Epilogue<T::Sum, C> {
    /// The kernels that another crate has made.
    #[doc(hidden)]
    const INSTANCES: ExportedInstances = ExportedInstances::NONE;
}

impl<T: Operand<Sum: PartialEq>, C: Output<T::Sum>> MatmulEpilogue<T, C> for Linear<T::Sum> {}
