//! Atomic numbers as types.

use core::cell::UnsafeCell;

use super::{AtomicRef, Ordering, Place, Scope};

macro_rules! delegated {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        /// As [`AtomicRef`] has it under this name.
        #[inline(always)]
        #[track_caller]
        pub fn $name(&self, $($argument: $type),*) $(-> $result)? {
            self.reference().$name($($argument),*)
        }
    )*};
}

macro_rules! atomic {
    ($name:ident $value:ident $scope:ident $who:literal $($kind:ident)*) => {
        #[doc = concat!("An `", stringify!($value), "` on which threads operate atomically, as one step for the threads of ", $who, ".")]
        ///
        /// It may stand in global or in shared memory: a GPU finds out by the address, and the simulator checks it in
        /// either. [`AtomicRef`] says what each method does.
        #[repr(transparent)]
        pub struct $name(UnsafeCell<$value>);

        // SAFETY: every access through a shared reference is atomic.
        unsafe impl Sync for $name {}

        impl $name {
            /// The number `value`.
            pub const fn new(value: $value) -> Self {
                Self(UnsafeCell::new(value))
            }

            /// The number at `pointer`.
            ///
            /// # Safety
            /// `pointer` must be a multiple of the number's size and valid for it as long as `'a` lasts. Accesses in
            /// any other way must be ordered before or after all those that are made through the reference.
            #[inline(always)]
            pub const unsafe fn from_ptr<'a>(pointer: *mut $value) -> &'a Self {
                // SAFETY: the caller's; the layout is the same.
                unsafe { &*pointer.cast::<Self>() }
            }

            /// Where the number is.
            #[inline(always)]
            pub const fn as_ptr(&self) -> *mut $value {
                self.0.get()
            }

            /// The number, of which nobody else knows any more.
            pub const fn into_inner(self) -> $value {
                self.0.into_inner()
            }

            #[inline(always)]
            fn reference(&self) -> AtomicRef<'_, $value> {
                AtomicRef::new(Place::Generic(self.0.get()), Scope::$scope)
            }

            delegated! {
                load(order: Ordering) -> $value;
                store(value: $value, order: Ordering);
                swap(value: $value, order: Ordering) -> $value;
                compare_exchange(current: $value, new: $value, success: Ordering, failure: Ordering) -> Result<$value, $value>;
                fetch_add(value: $value, order: Ordering) -> $value;
                fetch_sub(value: $value, order: Ordering) -> $value;
                fetch_min(value: $value, order: Ordering) -> $value;
                fetch_max(value: $value, order: Ordering) -> $value;
            }

            delegated! {
                fetch_and(value: $value, order: Ordering) -> $value;
                fetch_or(value: $value, order: Ordering) -> $value;
                fetch_xor(value: $value, order: Ordering) -> $value;
            }

            $(atomic! { @ $kind $value })*
        }
    };
    (@ counter $value:ident) => {
        delegated! {
            fetch_inc(limit: $value, order: Ordering) -> $value;
            fetch_dec(limit: $value, order: Ordering) -> $value;
        }
    };
}

macro_rules! atomics {
    ($($device:ident $block:ident $system:ident $value:ident $($kind:ident)*;)*) => {$(
        atomic! { $device $value Device "the device" $($kind)* }
        atomic! { $block $value Block "their block" $($kind)* }
        atomic! { $system $value System "all devices and of the host" $($kind)* }
    )*};
}

atomics! {
    AtomicU32 BlockAtomicU32 SystemAtomicU32 u32 counter;
    AtomicI32 BlockAtomicI32 SystemAtomicI32 i32;
    AtomicU64 BlockAtomicU64 SystemAtomicU64 u64;
    AtomicI64 BlockAtomicI64 SystemAtomicI64 i64;
    AtomicF32 BlockAtomicF32 SystemAtomicF32 f32;
    AtomicF64 BlockAtomicF64 SystemAtomicF64 f64;
}
