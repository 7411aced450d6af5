//! The ends of kernels that use an instruction of tensor cores which the architecture lacks.

macro_rules! ends {
    ($($name:ident $arch:literal $capability:literal)*) => {$(
        /// Prints that the GPU lacks the instruction, and ends the kernel with an error.
        #[allow(dead_code, reason = "a newer architecture has the instructions")]
        #[cold]
        #[inline(never)]
        pub fn $name() -> ! {
            fallback!("tensor" $arch missing);
            crate::__fail! {
                {
                    Text(concat!("this instruction of tensor cores needs a GPU of compute capability ", $capability,
                        " and PTX for sm_", $arch)),
                }
                {}
            }
        }
    )*};
}

ends! {
    need_75 75 "7.5"
    need_80 80 "8.0"
    need_89 89 "8.9"
    need_90 90 "9.0"
    need_90a "90a" "9.0"
}

/// Ends the kernel because the instruction needs the architecture `$arch`.
macro_rules! missing {
    (75) => {
        super::missing::need_75()
    };
    (80) => {
        super::missing::need_80()
    };
    (89) => {
        super::missing::need_89()
    };
    (90) => {
        super::missing::need_90()
    };
}
pub(crate) use missing;
