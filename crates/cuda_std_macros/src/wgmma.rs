//! The instructions `wgmma.mma_async`, one per type and number of columns, for `cuda_std`'s back end for PTX.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

/// The types of an instruction.
struct Types {
    /// The Rust types of the sums and of the elements of A and B.
    rust: [&'static str; 3],
    /// The types as the instruction names them.
    ptx: [&'static str; 3],
    /// The number of columns of A.
    k: usize,
}

/// The 8-bit floats.
const FP8: [&str; 2] = ["e4m3", "e5m2"];
/// The 8-bit integers, with their names in PTX.
const INTEGERS: [(&str, &str); 2] = [("i8", "s8"), ("u8", "u8")];

/// Returns every combination of types.
fn types() -> Vec<Types> {
    let of = |rust: [&'static str; 3], ptx: [&'static str; 3], k| Types { rust, ptx, k };
    let mut all = vec![
        of(["f32", "f16", "f16"], ["f32", "f16", "f16"], 16),
        of(["f16", "f16", "f16"], ["f16", "f16", "f16"], 16),
        of(["f32", "bf16", "bf16"], ["f32", "bf16", "bf16"], 16),
        of(["f32", "tf32", "tf32"], ["f32", "tf32", "tf32"], 8),
    ];
    for sum in ["f32", "f16"] {
        all.extend(FP8.iter().flat_map(|a| FP8.map(|b| of([sum, a, b], [sum, a, b], 32))));
    }
    all.extend(INTEGERS.iter().flat_map(|a| INTEGERS.map(|b| of(["i32", a.0, b.0], ["s32", a.1, b.1], 32))));
    all
}

impl Types {
    /// Returns true if the instruction exists for `n` columns, which are a multiple of 8.
    fn has(&self, n: usize) -> bool {
        self.ptx[0] != "s32" || n < 32 || n.is_multiple_of(16)
    }

    /// Returns the number of registers of the sums of `n` columns.
    fn registers(&self, n: usize) -> usize {
        if self.ptx[0] == "f16" { n / 4 } else { n / 2 }
    }

    /// Returns the `impl` with the instructions for `n` columns.
    fn implementation(&self, n: usize) -> TokenStream {
        let [sum, a, b] = self.rust.map(|name| format_ident!("{name}"));
        let columns = Literal::usize_unsuffixed(n);
        let from_shared = self.instruction(n, false);
        let from_registers = self.instruction(n, true);
        quote! {
            impl WgmmaInstruction<#a, #b, #columns> for #sum {
                #[inline(always)]
                unsafe fn multiply<const TA: bool, const TB: bool>(
                    sums: Self::Registers, a: u64, b: u64,
                ) -> Self::Registers {
                    let mut d = sums;
                    #from_shared
                    d
                }

                #[inline(always)]
                unsafe fn multiply_registers<const TB: bool>(
                    sums: Self::Registers, a: [u32; 4], b: u64,
                ) -> Self::Registers {
                    let mut d = sums;
                    #from_registers
                    d
                }
            }
        }
    }

    /// Returns the `asm!` of the instruction for `n` columns. A is in registers if `in_registers` is true.
    fn instruction(&self, n: usize, in_registers: bool) -> TokenStream {
        let registers = self.registers(n);
        let list = |range: std::ops::Range<usize>| {
            let names: Vec<String> = range.map(|i| format!("{{{i}}}")).collect();
            format!("{{{{{}}}}}", names.join(", "))
        };
        let inputs = if in_registers { 4 } else { 1 };
        let (a, b) = (registers, registers + inputs);
        let left = if in_registers { list(a..b) } else { format!("{{{a}}}") };
        let may_transpose = matches!(self.ptx[1], "f16" | "bf16");
        // Scale D by 1, and A and B by 1; integers have no factors of A and B.
        let (mut suffix, mut last) = (", 1".to_owned(), quote!());
        if self.ptx[0] != "s32" {
            suffix += ", 1, 1";
        }
        if may_transpose {
            let (of_a, of_b) = (b + 1, b + if in_registers { 1 } else { 2 });
            if !in_registers {
                suffix += &format!(", {{{of_a}}}");
                last.extend(quote! { const TA as u32, });
            }
            suffix += &format!(", {{{of_b}}}");
            last.extend(quote! { const TB as u32, });
        }
        let [sum, of_a, of_b] = self.ptx;
        let text = format!(
            "wgmma.mma_async.sync.aligned.m64n{n}k{}.{sum}.{of_a}.{of_b} {}, {left}, {{{b}}}{suffix};",
            self.k,
            list(0..registers)
        );
        let operands = (0..registers).map(|i| {
            let i = Literal::usize_unsuffixed(i);
            quote! { inout(reg32) d[#i], }
        });
        let left = if in_registers {
            quote! { in(reg32) a[0], in(reg32) a[1], in(reg32) a[2], in(reg32) a[3], }
        } else {
            quote! { in(reg64) a, }
        };
        quote! {
            // SAFETY: the caller guarantees valid descriptors. The statement is not `nomem`, because the instruction
            // reads shared memory.
            unsafe {
                ::core::arch::asm!(#text, #(#operands)* #left in(reg64) b, #last options(nostack, preserves_flags));
            }
        }
    }
}

/// Returns the implementations of `WgmmaInstruction` for all types and numbers of columns.
pub fn expand() -> TokenStream {
    let of_types = |types: &Types| {
        let columns = (8..=256).step_by(8).filter(|&n| types.has(n));
        columns.map(|n| types.implementation(n)).collect::<TokenStream>()
    };
    types().iter().map(of_types).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_has_its_registers_in_order() {
        let [half, _, bf16, ..] = &types()[..] else { panic!("too few types") };
        let text = bf16.instruction(8, false).to_string();
        assert!(text.contains(
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{{0}, {1}, {2}, {3}}}, {4}, {5}, 1, 1, 1, {6}, {7};"
        ), "{text}");
        let text = half.instruction(8, true).to_string();
        assert!(text.contains("{{{4}, {5}, {6}, {7}}}, {8}, 1, 1, 1, {9};"), "{text}");
    }

    #[test]
    fn integers_lack_some_numbers_of_columns() {
        let all = types();
        let integers = all.last().unwrap();
        assert!(integers.has(24) && !integers.has(40) && integers.has(48) && all[0].has(40));
        assert_eq!((all.len(), integers.registers(256), all[1].registers(256)), (16, 128, 64));
    }
}
