//! The element types that can be selected, by what decides.

use core::marker::PhantomData;
use core::ops::{Bound, RangeBounds};
use core::ptr::NonNull;

use cuda_std::warp::Shuffle;
use cuda_std::{Call, Element, Global, GlobalMut, bf16, f16};

use super::predicate::{ByFlag, Format, InRange, RunStart};

/// The arguments of a selection: what it reads, what decides, and what it writes.
pub struct Selection<'call, T, C> {
    /// The elements.
    pub x: Global<'call, T>,
    /// One byte per element for [`ByFlag`], otherwise empty.
    pub flags: Global<'call, u8>,
    /// What decides whether an element is selected.
    pub criterion: C,
    /// The selected elements.
    pub y: GlobalMut<'call, T>,
    /// The rejected elements, or an empty view if they are not needed.
    pub rejected: GlobalMut<'call, T>,
    /// The number of selected elements: one `u64`.
    pub count: GlobalMut<'call, u64>,
}

impl<'call, T: Element, C> Selection<'call, T, C> {
    /// Returns the arguments of a selection that drops the rejected elements and reads no flags.
    pub fn new(x: Global<'call, T>, criterion: C, y: GlobalMut<'call, T>, count: GlobalMut<'call, u64>) -> Self {
        let (flags, rejected) = (NonNull::dangling().as_ptr(), NonNull::dangling().as_ptr());
        // SAFETY: the views have no elements, and their addresses are aligned.
        let (flags, rejected) = unsafe {
            (Global::from_raw_parts(flags, 0, x.device()), GlobalMut::from_raw_parts(rejected, 0, x.device()))
        };
        Self { x, flags, criterion, y, rejected, count }
    }

    /// Returns these arguments with one flag per element, for [`ByFlag`].
    #[must_use]
    pub fn flags(self, flags: Global<'call, u8>) -> Self {
        Self { flags, ..self }
    }

    /// Returns these arguments for a partition, which moves the rejected elements to `rejected`.
    #[must_use]
    pub fn rejected(self, rejected: GlobalMut<'call, T>) -> Self {
        Self { rejected, ..self }
    }
}

/// An element type of which elements can be selected by `C`: kernels are built for the pair.
///
/// Numbers can be selected by an [`Interval`] and by [`Runs`], and elements of 1, 2, 4, 8 and 16 bytes by [`ByFlag`].
/// For a predicate of your own, [`instances!`](crate::instances!) builds the kernels and implements this trait.
#[diagnostic::on_unimplemented(
    message = "no kernel selects elements of type `{Self}` by `{C}`",
    label = "no such kernel is built",
    note = "for a predicate of your own, add `gpu::instances!(Type by Predicate: select);` to the crate of your kernels"
)]
pub trait SelectElement<C>: Element {
    /// True if another crate has made the instance, of the rung `look_back`.
    #[doc(hidden)]
    const IS_OWN: bool = false;

    /// Returns a call of [`select_mark()`](super::select_mark()), or `None` if it is not built.
    #[doc(hidden)]
    fn mark<'call>(
        _x: Global<'call, Self>,
        _flags: Global<'call, u8>,
        _criterion: C,
        _marks: GlobalMut<'call, u64>,
    ) -> Option<Call<'call>> {
        None
    }

    /// Returns a call of [`select_scatter()`](super::select_scatter()), or `None` if it is not built.
    #[doc(hidden)]
    fn scatter<'call>(
        _x: Global<'call, Self>,
        _ranks: Global<'call, u64>,
        _y: GlobalMut<'call, Self>,
        _rejected: GlobalMut<'call, Self>,
        _count: GlobalMut<'call, u64>,
    ) -> Option<Call<'call>> {
        None
    }

    /// Returns a call of [`select_look_back()`](super::select_look_back()), or `None` if it is not built.
    #[doc(hidden)]
    fn look_back<'call>(
        selection: Selection<'call, Self, C>,
        rows: u32,
        states: GlobalMut<'call, u64>,
    ) -> Option<Call<'call>>;

    /// Returns a call of [`select_pipelined()`](super::select_pipelined()), or `None` if it is not built.
    #[doc(hidden)]
    fn pipelined<'call>(_selection: Selection<'call, Self, C>, _states: GlobalMut<'call, u64>) -> Option<Call<'call>> {
        None
    }
}

/// An element type of which runs of equal elements can be encoded: a number type.
pub trait RunElement: Element {
    /// Returns a call of [`select_run_lengths()`](super::select_run_lengths()), or `None` if it is not built.
    #[doc(hidden)]
    fn run_lengths<'call>(
        x: Global<'call, Self>,
        rows: u32,
        y: GlobalMut<'call, Self>,
        lengths: GlobalMut<'call, u32>,
        count: GlobalMut<'call, u64>,
        states: GlobalMut<'call, u64>,
    ) -> Option<Call<'call>>;
}

/// A number type, with its format.
pub trait NumberFormat: Element {
    /// The format of the type's bits.
    const FORMAT: Format;
}

/// Selects the numbers of type `T` in an interval, or those outside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval<T> {
    predicate: InRange,
    numbers: PhantomData<fn() -> T>,
}

impl<T: NumberFormat> Interval<T> {
    /// Returns the interval of the numbers in `range`, such as `..0.5` or `3..=7`. A float that is not a number is in
    /// no interval, not even in `..`. −0 and +0 are equal.
    pub fn new(range: impl RangeBounds<T>) -> Self {
        let bits = |bound: Bound<&T>| match bound {
            Bound::Included(&number) | Bound::Excluded(&number) => {
                let words = number.to_words();
                Some(u64::from(words[1]) << 32 | u64::from(words[0]))
            }
            Bound::Unbounded => None,
        };
        let bounds = [range.start_bound(), range.end_bound()];
        let is_excluded = bounds.map(|bound| matches!(bound, Bound::Excluded(_)));
        let [low, high] = bounds.map(bits);
        Self { predicate: InRange::new(T::FORMAT, low, high, is_excluded), numbers: PhantomData }
    }

    /// Returns the criterion that selects the numbers outside this interval, and those that are not numbers.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { predicate: self.predicate.negated(), ..self }
    }

    /// Returns the predicate of the kernels.
    pub fn predicate(self) -> InRange {
        self.predicate
    }
}

/// Selects the first number of each run of equal numbers ([`RunStart`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Runs;

/// Calls the macro `$with` with each number type, the unsigned integer of its size, and its format.
macro_rules! for_numbers {
    ($with:ident) => {
        $with! {
            u8 u8 Format::unsigned(8);
            i8 u8 Format::signed(8);
            u16 u16 Format::unsigned(16);
            i16 u16 Format::signed(16);
            f16 u16 Format::float(16, 0x7c00);
            bf16 u16 Format::float(16, 0x7f80);
            u32 u32 Format::unsigned(32);
            i32 u32 Format::signed(32);
            f32 u32 Format::float(32, 0x7f80_0000);
            u64 u64 Format::unsigned(64);
            i64 u64 Format::signed(64);
            f64 u64 Format::float(64, 0x7ff0_0000_0000_0000);
        }
    };
}

macro_rules! formats {
    ($($type:ident $word:ident $format:expr;)*) => {$(
        impl NumberFormat for $type {
            const FORMAT: Format = $format;
        }
    )*};
}

for_numbers! { formats }

/// Returns `view` with elements of type `W`, or `None` if these have another size.
macro_rules! as_words {
    ($name:ident $view:ident) => {
        fn $name<T: Element, W: Element>(view: $view<'_, T>) -> Option<$view<'_, W>> {
            if size_of::<T>() != size_of::<W>() || !view.is_empty() && !view.as_ptr().cast::<W>().is_aligned() {
                return None;
            }
            // SAFETY: the elements have the same size, the address is aligned for both, and any bits are a `W`.
            Some(unsafe { $view::from_raw_parts(view.as_ptr().cast(), view.len(), view.device()) })
        }
    };
}

as_words! { words Global }
as_words! { words_mut GlobalMut }

/// The kernels of this crate, by the width of the elements.
#[cfg(feature = "select")]
mod built_in {
    use super::*;
    use crate::select::predicate::{Predicate, Quad};
    use crate::select::tuning::max_rows;
    use crate::select::{select_look_back, select_mark, select_pipelined, select_run_lengths, select_scatter};

    type Marking<'call, T, P> = (Global<'call, T>, Global<'call, u8>, P, GlobalMut<'call, u64>);

    fn mark<'call, T: Element, P: Predicate<u32>>(
        (x, flags, predicate, marks): Marking<'call, T, P>,
    ) -> Option<Call<'call>> {
        select_mark::if_built::<u32, P>(words(x)?, flags, predicate, marks)
    }

    fn look_back_of<'call, T: Element, W: Element, P: Predicate<W>, const R: usize>(
        selection: Selection<'call, T, P>,
        rows: u32,
        states: GlobalMut<'call, u64>,
    ) -> Option<Call<'call>> {
        let Selection { x, flags, criterion, y, rejected, count } = selection;
        let (x, y, rejected) = (words(x)?, words_mut(y)?, words_mut(rejected)?);
        select_look_back::if_built::<W, P, R>(x, flags, criterion, rows, y, rejected, count, states)
    }

    fn look_back<'call, T: Element, P>(
        selection: Selection<'call, T, P>,
        rows: u32,
        states: GlobalMut<'call, u64>,
    ) -> Option<Call<'call>>
    where
        P: Predicate<u8> + Predicate<u16> + Predicate<u32> + Predicate<u64>,
    {
        match size_of::<T>() {
            1 => look_back_of::<T, u8, P, 16>(selection, rows, states),
            2 => look_back_of::<T, u16, P, 16>(selection, rows, states),
            4 => look_back_of::<T, u32, P, 16>(selection, rows, states),
            8 => look_back_of::<T, u64, P, 8>(selection, rows, states),
            _ => None,
        }
    }

    fn pipelined_of<'call, T: Element, W: Element, P: Predicate<W>, const V: usize>(
        selection: Selection<'call, T, P>,
        states: GlobalMut<'call, u64>,
    ) -> Option<Call<'call>> {
        let Selection { x, flags, criterion, y, rejected, count } = selection;
        let (x, y, rejected) = (words(x)?, words_mut(y)?, words_mut(rejected)?);
        select_pipelined::if_built::<W, P, V>(x, flags, criterion, y, rejected, count, states)
    }

    fn pipelined<'call, T: Element, P: Predicate<u32> + Predicate<u64>>(
        selection: Selection<'call, T, P>,
        states: GlobalMut<'call, u64>,
    ) -> Option<Call<'call>> {
        match size_of::<T>() {
            4 => pipelined_of::<T, u32, P, 4>(selection, states),
            8 => pipelined_of::<T, u64, P, 2>(selection, states),
            _ => None,
        }
    }

    /// The method of [`SelectElement`] that does not depend on the criterion.
    macro_rules! scatter {
        () => {
            fn scatter<'call>(
                x: Global<'call, Self>,
                ranks: Global<'call, u64>,
                y: GlobalMut<'call, Self>,
                rejected: GlobalMut<'call, Self>,
                count: GlobalMut<'call, u64>,
            ) -> Option<Call<'call>> {
                select_scatter::if_built::<u32>(words(x)?, ranks, words_mut(y)?, words_mut(rejected)?, count)
            }
        };
    }

    impl<T: Element> SelectElement<ByFlag> for T {
        fn mark<'call>(
            x: Global<'call, Self>,
            flags: Global<'call, u8>,
            criterion: ByFlag,
            marks: GlobalMut<'call, u64>,
        ) -> Option<Call<'call>> {
            mark((x, flags, criterion, marks))
        }

        scatter! {}

        fn look_back<'call>(
            selection: Selection<'call, Self, ByFlag>,
            rows: u32,
            states: GlobalMut<'call, u64>,
        ) -> Option<Call<'call>> {
            match size_of::<T>() {
                16 => look_back_of::<T, Quad, ByFlag, 4>(selection, rows, states),
                _ => look_back(selection, rows, states),
            }
        }

        fn pipelined<'call>(
            selection: Selection<'call, Self, ByFlag>,
            states: GlobalMut<'call, u64>,
        ) -> Option<Call<'call>> {
            pipelined(selection, states)
        }
    }

    macro_rules! numbers {
        ($($type:ident by $criterion:ty: $given:ident => $predicate:expr;)*) => {$(
            impl SelectElement<$criterion> for $type {
                fn mark<'call>(
                    x: Global<'call, Self>,
                    flags: Global<'call, u8>,
                    $given: $criterion,
                    marks: GlobalMut<'call, u64>,
                ) -> Option<Call<'call>> {
                    mark((x, flags, $predicate, marks))
                }

                scatter! {}

                fn look_back<'call>(
                    selection: Selection<'call, Self, $criterion>,
                    rows: u32,
                    states: GlobalMut<'call, u64>,
                ) -> Option<Call<'call>> {
                    let Selection { x, flags, criterion: $given, y, rejected, count } = selection;
                    look_back(Selection { x, flags, criterion: $predicate, y, rejected, count }, rows, states)
                }

                fn pipelined<'call>(
                    selection: Selection<'call, Self, $criterion>,
                    states: GlobalMut<'call, u64>,
                ) -> Option<Call<'call>> {
                    let Selection { x, flags, criterion: $given, y, rejected, count } = selection;
                    pipelined(Selection { x, flags, criterion: $predicate, y, rejected, count }, states)
                }
            }
        )*};
        ($($type:ident $word:ident $format:expr;)*) => {
            $(
                impl RunElement for $type {
                    fn run_lengths<'call>(
                        x: Global<'call, Self>,
                        rows: u32,
                        y: GlobalMut<'call, Self>,
                        lengths: GlobalMut<'call, u32>,
                        count: GlobalMut<'call, u64>,
                        states: GlobalMut<'call, u64>,
                    ) -> Option<Call<'call>> {
                        let (x, y, runs) = (x.cast(), y.cast(), RunStart::new(<$type>::FORMAT));
                        select_run_lengths::if_built::<$word, RunStart, { max_rows(size_of::<$word>()) }>(
                            x, runs, rows, y, lengths, count, states,
                        )
                    }
                }
            )*
            numbers! { $($type by Interval<$type>: interval => interval.predicate();)* }
            numbers! { $($type by Runs: _runs => RunStart::new(<$type>::FORMAT);)* }
        };
    }

    for_numbers! { numbers }
}
