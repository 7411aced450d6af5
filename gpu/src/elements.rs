//! Implementations of the traits of elements by the kernels in scope: those of this crate, or those that
//! [`instances!`](crate::instances!) has made in another.

/// Implements [`ReduceElement`](crate::reduce::ReduceElement) by the kernels in scope. For an instance of another
/// crate, `$own` is `own`; otherwise `$step` is the call of a rung that needs several launches.
#[doc(hidden)]
#[macro_export]
macro_rules! __reduce_element {
    ($T:ty, $O:ty, own) => {
        $crate::__reduce_element! { @ $T, $O, true, {
            _rung, segment, x, y => reduce_shuffle::if_built::<$T, $O>(segment, x, y)
        } }
    };
    ($T:ty, $O:ty, $step:tt) => {
        $crate::__reduce_element! { @ $T, $O, false, $step }
    };
    (@ $T:ty, $O:ty, $is_own:literal, { $rung:ident, $segment:ident, $x:ident, $y:ident => $step:expr }) => {
        impl $crate::reduce::ReduceElement<$O> for $T {}

        impl $crate::reduce::ReduceInput<$O> for $T {
            type Output = $T;
            type Partial = $T;
            const IS_OWN: bool = $is_own;
            const IS_COMMUTATIVE: bool = <$O as $crate::operator::Operator<$T>>::COMMUTATIVE;

            #[inline]
            fn step<'call>(
                $rung: &::cuda_std::Rung,
                $segment: u32,
                $x: Global<'call, Self>,
                $y: GlobalMut<'call, Self>,
            ) -> ::core::option::Option<Call<'call>> {
                $step
            }

            #[inline]
            fn last_step<'call>(
                rung: &::cuda_std::Rung,
                segment: u32,
                x: Global<'call, Self>,
                y: GlobalMut<'call, Self>,
            ) -> ::core::option::Option<Call<'call>> {
                <Self as $crate::reduce::ReduceInput<$O>>::step(rung, segment, x, y)
            }

            $crate::__reduce_element! { @ $T, $O,
                grid_stride reduce_grid_stride or reduce_unaligned,
                one_tile reduce_one_tile or reduce_unaligned,
                unaligned reduce_unaligned
            }
        }
    };
    // A kernel after `or` takes the place of one that is not built for the pair: `reduce_unaligned` takes any view and
    // any grid.
    (@ $T:ty, $O:ty, $($method:ident $kernel:ident $(or $other:ident)?),+) => {$(
        #[inline]
        fn $method<'call>(
            x: Global<'call, Self>,
            partials: GlobalMut<'call, u64>,
            y: GlobalMut<'call, Self>,
        ) -> ::core::option::Option<Call<'call>> {
            let call = $kernel::if_built::<$T, $O, { vector_len(::core::mem::size_of::<$T>()) }>(x, partials, y);
            $(
                let call = call.or_else(|| {
                    $other::if_built::<$T, $O, { vector_len(::core::mem::size_of::<$T>()) }>(x, partials, y)
                });
            )?
            call
        }
    )+};
}

/// Implements [`ScanElement`](crate::scan::ScanElement) by the kernels in scope. `$look_back` is the kernel of the rung
/// `look_back`, and `$words` its last argument.
#[doc(hidden)]
#[macro_export]
macro_rules! __scan_element {
    ($T:ty, $O:ty, $is_own:literal) => {
        $crate::__scan_element! { $T, $O, $is_own, scan_look_back, }
    };
    ($T:ty, $O:ty, $is_own:literal, $look_back:ident, $($words:literal)?) => {
        impl $crate::scan::ScanElement<$O> for $T {
            const IS_OWN: bool = $is_own;

            #[inline]
            fn look_back<'call>(
                x: Global<'call, Self>,
                y: GlobalMut<'call, Self>,
                exclusive: u32,
                chunks: u32,
                states: GlobalMut<'call, u64>,
            ) -> ::core::option::Option<Call<'call>> {
                $look_back::if_built::<$T, $O, { vector_len(::core::mem::size_of::<$T>()) } $(, $words)?>(
                    x, y, exclusive, chunks, states,
                )
            }

            #[inline]
            fn pipelined<'call>(
                (head_x, head_y): (Global<'call, Self>, GlobalMut<'call, Self>),
                x: Global<'call, Self>,
                y: GlobalMut<'call, Self>,
                exclusive: u32,
                states: GlobalMut<'call, u64>,
            ) -> ::core::option::Option<Call<'call>> {
                scan_pipelined::if_built::<$T, $O, { vector_len(::core::mem::size_of::<$T>()) }>(
                    head_x, head_y, x, y, exclusive, states,
                )
            }
        }
    };
}
