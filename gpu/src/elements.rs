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

/// Implements [`ByKeyElement`](crate::by_key::ByKeyElement) by the kernels `$narrow` for keys of 4 bytes and `$wide`
/// for keys of 8 bytes, which are built for `$word` in place of the type.
#[doc(hidden)]
#[macro_export]
macro_rules! __by_key_element {
    ($T:ty as $word:ty, $O:ty, $narrow:ident, $wide:ident, { $($textbook:tt)* }) => {
        impl $crate::by_key::ByKeyElement<$O> for $T {
            $($textbook)*

            #[inline]
            fn look_back<'call, K: $crate::by_key::RunKey>(
                arguments: $crate::by_key::ByKey<'call, K, Self>,
                rows: u32,
                states: ::cuda_std::GlobalMut<'call, u64>,
            ) -> ::core::option::Option<::cuda_std::Call<'call>> {
                let $crate::by_key::ByKey { keys, values, work, y_keys, y, count } = arguments;
                let (keys, y_keys) = (keys.cast::<K::Word>(), y_keys.cast::<K::Word>());
                let (values, y) = (values.cast::<$word>(), y.cast::<$word>());
                let runs = $crate::select::RunStart::new(K::FORMAT);
                const ROWS: [usize; 2] = [
                    $crate::by_key::tuning::max_rows(4 + ::core::mem::size_of::<$word>()),
                    $crate::by_key::tuning::max_rows(8 + ::core::mem::size_of::<$word>()),
                ];
                if let Some((keys, y_keys)) = $crate::by_key::as_key::<K::Word, u32>(keys, y_keys) {
                    return $narrow::if_built::<u32, $crate::select::RunStart, $word, $O, { ROWS[0] }>(
                        keys, values, runs, work, rows, y_keys, y, count, states,
                    );
                }
                let (keys, y_keys) = $crate::by_key::as_key::<K::Word, u64>(keys, y_keys)?;
                $wide::if_built::<u64, $crate::select::RunStart, $word, $O, { ROWS[1] }>(
                    keys, values, runs, work, rows, y_keys, y, count, states,
                )
            }
        }
    };
}

/// Implements [`SelectElement`](crate::select::SelectElement) for a predicate of another crate, by the kernel in scope.
#[doc(hidden)]
#[macro_export]
macro_rules! __select_element {
    ($T:ty, $P:ty) => {
        impl $crate::select::SelectElement<$P> for $T {
            const IS_OWN: bool = true;

            #[inline]
            fn look_back<'call>(
                selection: $crate::select::Selection<'call, Self, $P>,
                rows: u32,
                states: ::cuda_std::GlobalMut<'call, u64>,
            ) -> ::core::option::Option<::cuda_std::Call<'call>> {
                let $crate::select::Selection { x, flags, criterion, y, rejected, count } = selection;
                select_look_back::if_built::<
                    $T,
                    $P,
                    { $crate::select::tuning::max_rows(::core::mem::size_of::<$T>()) },
                >(x, flags, criterion, rows, y, rejected, count, states)
            }
        }
    };
}

/// Implements [`MergeSortElement`](crate::merge_sort::MergeSortElement) by the kernels in scope, with the other items
/// `$items`.
#[doc(hidden)]
#[macro_export]
macro_rules! __merge_sort_element {
    ($T:ty, $C:ty, { $($items:item)* }) => {
        impl $crate::merge_sort::MergeSortElement<$C> for $T {
            $($items)*

            #[inline]
            fn block<'call>(
                x: ::cuda_std::Global<'call, Self>,
                compare: $C,
                y: ::cuda_std::GlobalMut<'call, Self>,
            ) -> ::core::option::Option<::cuda_std::Call<'call>> {
                merge_sort_block::if_built::<
                    $T,
                    $C,
                    { $crate::merge_sort::tuning::items(::core::mem::size_of::<$T>()) },
                >(x, compare, y)
            }

            #[inline]
            fn merge_path<'call>(
                x: ::cuda_std::Global<'call, Self>,
                other: ::cuda_std::Global<'call, Self>,
                run_tiles: usize,
                compare: $C,
                y: ::cuda_std::GlobalMut<'call, Self>,
            ) -> ::core::option::Option<::cuda_std::Call<'call>> {
                merge_sort_merge_path::if_built::<
                    $T,
                    $C,
                    { $crate::merge_sort::tuning::items(::core::mem::size_of::<$T>()) },
                >(x, other, run_tiles, compare, y)
            }
        }
    };
}

/// Implements [`SegmentElement`](crate::segments::SegmentElement) by the kernel `$kernel`, which is built for `$word`
/// in place of the type, and for `$by` in place of the operator if it is given.
#[doc(hidden)]
#[macro_export]
macro_rules! __segment_element {
    ($T:ty as $word:ty, $O:ty, $chunks:expr, $order:expr, $kernel:ident) => {
        $crate::__segment_element! { $T as $word, $O, $chunks, $order, $kernel, $O }
    };
    ($T:ty as $word:ty, $O:ty, $chunks:expr, $order:expr, $kernel:ident, $by:ty) => {
        impl $crate::segments::SegmentElement<$O> for $T {
            type Output = $T;
            type Value = $word;
            const CHUNKS: usize = $chunks;

            #[inline]
            fn look_back<'call>(
                segments: $crate::segments::Segments<'call, Self, Self>,
                chunks: u32,
                states: ::cuda_std::GlobalMut<'call, u64>,
            ) -> ::core::option::Option<::cuda_std::Call<'call>> {
                let $crate::segments::Segments { x, offsets, layout, firsts, work, y } = segments;
                $kernel::if_built::<
                    $word,
                    $by,
                    { $crate::collective::vectors::vector_len(::core::mem::size_of::<$word>()) },
                    { $chunks },
                >(x.cast(), offsets, layout, $order, work, chunks, firsts, y.cast(), states)
            }
        }
    };
}
