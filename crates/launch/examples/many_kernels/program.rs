//! Many kernels that share large functions: their PTX, and what they compute.

use std::fmt::Write as _;

/// The number of variables of a function or kernel.
const VARIABLES: u64 = 8;
/// The number of times that a function executes its operations.
const ROUNDS: usize = 2;
/// The number of operations that a kernel does not share with others.
const OWN: usize = 100;
/// The number of functions that each kernel calls.
const CALLS: usize = 8;

/// The size of the functions that all kernels share.
#[derive(Clone, Copy)]
pub struct Program {
    pub functions: usize,
    /// The number of operations of each function.
    pub lines: usize,
}

/// An operation on the variables `from`, with the result in the variable `to`.
struct Step {
    operation: u64,
    to: usize,
    from: [usize; 2],
    number: u64,
}

impl Step {
    fn ptx(&self) -> String {
        let Self { operation, to, from: [a, b], number } = self;
        match operation {
            0 => format!("\tmad.lo.u64 %v{to}, %v{a}, %v{b}, {number};\n"),
            1 => format!("\txor.b64 %v{to}, %v{a}, %v{b};\n"),
            2 => format!("\tmul.hi.u64 %v{to}, %v{a}, %v{b};\n"),
            3 => format!("\tadd.s64 %v{to}, %v{a}, %v{b};\n"),
            _ => format!("\tshl.b64 %v{to}, %v{a}, {};\n", number % 64),
        }
    }

    fn execute(&self, v: &mut [u64; VARIABLES as usize]) {
        let Self { operation, to, from: [a, b], number } = *self;
        v[to] = match operation {
            0 => v[a].wrapping_mul(v[b]).wrapping_add(number),
            1 => v[a] ^ v[b],
            2 => ((u128::from(v[a]) * u128::from(v[b])) >> 64) as u64,
            3 => v[a].wrapping_add(v[b]),
            _ => v[a] << (number % 64),
        };
    }
}

/// Returns `count` pseudo-random operations.
fn steps(mut seed: u64, count: usize) -> impl Iterator<Item = Step> {
    let mut random = move |end: u64| {
        seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (seed ^ seed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB) % end
    };
    (0..count).map(move |_| Step {
        operation: random(5),
        to: random(VARIABLES) as usize,
        from: [random(VARIABLES) as usize, random(VARIABLES) as usize],
        number: random(1 << 31),
    })
}

impl Program {
    /// Returns the PTX of kernels with these names. With `has_static`, all kernels use a static, so that they stay in
    /// one module.
    pub fn ptx(&self, names: &[&str], has_static: bool) -> String {
        let mut ptx = ".version 7.0\n.target sm_70\n.address_size 64\n".to_owned();
        if has_static {
            ptx += ".visible .global .align 8 .b64 common;\n";
        }
        for f in 0..self.functions {
            let _ = write!(
                ptx,
                ".func (.param .b64 result) function_{f}(.param .b64 first, .param .b64 second)\n{{\n\
                 \t.reg .b64 %v<8>;\n\t.reg .b32 %round;\n\t.reg .pred %again;\n\tmov.u32 %round, 0;\n\
                 \tld.param.u64 %v0, [first];\n\tld.param.u64 %v1, [second];\n"
            );
            (2..VARIABLES).for_each(|i| ptx += &format!("\tadd.s64 %v{i}, %v0, {};\n", 77 * i));
            ptx += "ROUND:\n";
            ptx.extend(steps(f as u64, self.lines).map(|step| step.ptx()));
            if f > 0 {
                ptx += &call(2, (f - 1) / 2);
            }
            let _ = write!(
                ptx,
                "\tadd.u32 %round, %round, 1;\n\tsetp.lt.u32 %again, %round, {ROUNDS};\n\t@%again bra ROUND;\n\
                 \txor.b64 %v2, %v2, %v5;\n\tst.param.b64 [result], %v2;\n\tret;\n}}\n"
            );
        }
        for (kernel, name) in names.iter().enumerate() {
            let _ = write!(
                ptx,
                ".visible .entry {name}(.param .u64 pointer, .param .u64 length)\n{{\n\t.reg .b64 %v<8>, %address;\n\
                 \tld.param.u64 %address, [pointer];\n\tcvta.to.global.u64 %address, %address;\n\
                 \tld.global.u64 %v0, [%address];\n"
            );
            (1..VARIABLES).for_each(|i| ptx += &format!("\tadd.s64 %v{i}, %v0, {};\n", 77 * i));
            ptx.extend(steps(1000 + kernel as u64, OWN).map(|step| step.ptx()));
            self.called().for_each(|f| ptx += &call(f % VARIABLES as usize, f));
            ptx += "\tst.global.u64 [%address], %v3;\n";
            if has_static {
                ptx += "\tst.global.u64 [common], %v3;\n";
            }
            ptx += "\tret;\n}\n";
        }
        ptx
    }

    /// Returns what the kernel makes of `x`.
    pub fn result(&self, kernel: usize, x: u64) -> u64 {
        let mut v = std::array::from_fn(|i| x.wrapping_add(77 * i as u64));
        steps(1000 + kernel as u64, OWN).for_each(|step| step.execute(&mut v));
        self.called().for_each(|f| v[f % VARIABLES as usize] = self.function(f, v[3], v[4]));
        v[3]
    }

    fn function(&self, f: usize, first: u64, second: u64) -> u64 {
        let mut v = std::array::from_fn(|i| if i == 1 { second } else { first.wrapping_add(77 * i as u64) });
        for _ in 0..ROUNDS {
            steps(f as u64, self.lines).for_each(|step| step.execute(&mut v));
            if f > 0 {
                v[2] = self.function((f - 1) / 2, v[3], v[4]);
            }
        }
        v[2] ^ v[5]
    }

    /// Returns the functions that each kernel calls. These call the others.
    fn called(&self) -> std::ops::Range<usize> {
        self.functions.saturating_sub(CALLS)..self.functions
    }
}

/// Returns a call of the function `f` whose result is the variable `to`.
fn call(to: usize, f: usize) -> String {
    format!(
        "\t{{\n\t.param .b64 a;\n\t.param .b64 b;\n\t.param .b64 c;\n\tst.param.b64 [a], %v3;\n\
         \tst.param.b64 [b], %v4;\n\tcall.uni (c), function_{f}, (a, b);\n\tld.param.b64 %v{to}, [c];\n\t}}\n"
    )
}
