//! Atomic numbers as types, such as `AtomicU32`.

use core::cell::UnsafeCell;

use super::{AtomicRef, Ordering, Place, Scope};

macro_rules! delegated {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {$(
        /// Does the same as [`AtomicRef`]'s method of this name.
        #[inline(always)]
        #[track_caller]
        pub fn $name(&self, $($argument: $type),*) $(-> $result)? {
            self.reference().$name($($argument),*)
        }
    )*};
}

macro_rules! atomic {
    ($name:ident $value:ident $scope:ident $who:literal $($kind:ident)*) => {
        #[doc = concat!("An `", stringify!($value), "` whose operations are atomic for the threads of ", $who, ".")]
        ///
        /// The number may be in global or in shared memory: a GPU determines the memory space from the address, and the
        /// simulator checks accesses in both. See [`AtomicRef`] for the methods.
        #[repr(transparent)]
        pub struct $name(UnsafeCell<$value>);

        // SAFETY: every access through a shared reference is atomic.
        unsafe impl Sync for $name {}

        impl $name {
            /// Creates an atomic number with the value `value`.
            pub const fn new(value: $value) -> Self {
                Self(UnsafeCell::new(value))
            }

            /// Returns a reference to the number at `pointer` as an atomic number.
            ///
            /// # Safety
            /// `pointer` must be aligned to the number's size and valid during `'a`. All other accesses to the number
            /// must be ordered before or after those made through the reference.
            #[inline(always)]
            pub const unsafe fn from_ptr<'a>(pointer: *mut $value) -> &'a Self {
                // SAFETY: the caller guarantees a valid pointer; both types have the same layout.
                unsafe { &*pointer.cast::<Self>() }
            }

            /// Returns the address of the number.
            #[inline(always)]
            pub const fn as_ptr(&self) -> *mut $value {
                self.0.get()
            }

            /// Consumes the atomic number and returns its value.
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
