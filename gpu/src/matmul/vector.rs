//! Vector: products of a vector and a matrix, that is, with one row or one column of *C*.
//!
//! Each element of the matrix is used once, so the kernel is limited by memory. It reads the matrix as lines along *k*:
//! the columns of *B* if *C* has one row, and the rows of *A* if *C* has one column. A thread loads 16 bytes of each of
//! [`LINES`] lines and multiplies them by the same 16 bytes of the vector, which the L1 cache has after the first
//! block. It begins [`STEPS`] such loads of each line before it uses the first one: 32 KiB per block.
//!
//! The threads of a block along x share the lines. They add their sums by shuffles and then through shared memory, in
//! an order that depends only on the size of the block. A long *k* has blocks of 256 threads along *k*, so that even
//! few lines occupy every multiprocessor. A short *k* has more lines per block, so that no thread is without loads.

use cuda_std::warp::{self, Shuffle};
use cuda_std::{Global, GlobalMut, bf16, f16, kernel, opaque, shared_array, thread};

use super::staging::per_vector;
use super::tuning::{
    VECTOR_LINES as LINES, VECTOR_MIN_ALONG as MIN_ALONG, VECTOR_STEPS as STEPS, VECTOR_THREADS as THREADS,
};
use super::{Epilogue, Linear, Operand, Output, Problem, Sum};

/// Computes C, which has one row or one column. A has contiguous rows and B contiguous columns, which begin at
/// multiples of 16 bytes. Launch blocks of 256 threads with the sides of `tuning::vector_block`, one per `VECTOR_LINES`
/// elements of C for each thread along y: blocks along x for the elements of C, and along z for the products.
#[kernel(
    max_threads = 256,
    min_blocks = 3,
    instances(T = [f16], C = [f16], E = [Linear<f32>]),
    instances(T = [bf16], C = [bf16], E = [Linear<f32>]),
    instances(T = [f32], C = [f32], E = [Linear<f32>]),
    exported = "matmul"
)]
pub fn matmul_vector<T: Operand, C: Output<T::Sum>, E: Epilogue<T::Sum, C>>(
    problem: Problem,
    a: Global<T>,
    b: Global<T>,
    c: GlobalMut<C>,
    bias: Global<C>,
    epilogue: E,
) {
    let v = per_vector(size_of::<T>());
    let (m, n, k) = (problem.m as usize, problem.n as usize, problem.k as usize);
    let (along, across) = (thread::block_dim_x() as usize, thread::block_dim_y() as usize);
    assert!(along.is_power_of_two() && along >= MIN_ALONG && along * across == THREADS && thread::block_dim_z() == 1);
    assert!((m == 1 || n == 1) && problem.a.column == 1 && problem.b.row == 1);
    let batch = thread::block_idx_z() as usize;
    let is_row = m == 1;
    let [first_a, first_b] = [problem.a.index(batch, 0, 0), problem.b.index(batch, 0, 0)];
    // The matrix has `lines` lines, `stride` elements apart.
    let (vector, vector_start, matrix, matrix_start, lines, stride) = if is_row {
        (a, first_a, b, first_b, n, problem.b.column as usize)
    } else {
        (b, first_b, a, first_a, m, problem.a.row as usize)
    };
    let (x, y) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    let first_line = thread::block_idx_x() as usize * across * LINES;
    // The starts of the thread's lines, in vectors.
    let mut starts = [0; LINES];
    let mut last_start = 0;
    let mut addresses = vector.as_ptr() as usize | matrix.as_ptr() as usize | vector_start * size_of::<T>();
    for line in 0..LINES {
        // A thread beyond the last line reads that line again.
        let number = (first_line + y * LINES + line).min(lines - 1);
        let start = matrix_start + number * stride;
        last_start = start.max(last_start);
        addresses |= start * size_of::<T>();
        starts[line] = start / v;
    }
    // These checks take fewer instructions than those of the whole matrices, which delay the first loads.
    assert!(addresses.is_multiple_of(16) && k <= matrix.len() && last_start <= matrix.len() - k);
    let vector = vector.part(vector_start, k);
    let (vector_words, matrix_words) = (words(vector), words(matrix));

    let (vectors, step_width) = (problem.k / v as u32, along as u32);
    let mut sums = [T::Sum::ZERO; LINES];
    let mut at = x as u32;
    while at < vectors {
        let mut left = [[0; 4]; STEPS];
        let mut right = [[[0; 4]; LINES]; STEPS];
        for step in 0..STEPS {
            let position = at + step as u32 * step_width;
            // Loads under conditions would wait for each other. Beyond the end, zeros replace the last vector.
            let is_inside = step == 0 || position < vectors;
            let position = (if step == 0 { position } else { position.min(vectors - 1) }) as usize;
            // SAFETY: the vector is one of the first `vectors`, and the checks above show that the vector and the lines
            // have `k` elements.
            unsafe {
                left[step] = vector_words.load_unchecked(position);
                for line in 0..LINES {
                    right[step][line] = matrix_words.load_streaming_unchecked(starts[line] + position);
                }
            }
            if !is_inside {
                left[step] = [0; 4];
                right[step] = [[0; 4]; LINES];
            }
        }
        for step in 0..STEPS {
            let left = widened::<T>(left[step]);
            for line in 0..LINES {
                sums[line] = multiply::<T>(left, right[step][line], sums[line]);
            }
        }
        at = opaque(at + STEPS as u32 * step_width);
    }
    let mut at = vectors as usize * v + x;
    while at < k {
        // SAFETY: the checks above show that the vector and the lines have `k` elements.
        unsafe {
            let left = vector.load_unchecked(at).widen();
            for line in 0..LINES {
                sums[line] = left.multiply_add(matrix.load_unchecked(starts[line] * v + at).widen(), sums[line]);
            }
        }
        at = opaque(at + along);
    }

    // Both numbers are powers of two.
    let lanes = along.min(warp::SIZE as usize);
    let (lanes_log, parts_of_line) = (lanes.trailing_zeros(), along >> lanes.trailing_zeros());
    let mut distance = lanes as u32 / 2;
    while distance > 0 {
        for line in 0..LINES {
            sums[line] = sums[line].add(warp::shuffle_xor(warp::FULL_MASK, sums[line], distance));
        }
        // The loop is not unrolled, because the shuffles are a large part of the PTX.
        distance = opaque(distance / 2);
    }
    let parts = shared_array![T::Sum; THREADS / MIN_ALONG * LINES];
    let thread = y * along + x;
    if x & (lanes - 1) == 0 {
        for line in 0..LINES {
            parts.store((thread >> lanes_log) * LINES + line, sums[line]);
        }
    }
    thread::sync_threads();
    let line = first_line + thread;
    if thread >= across * LINES || line >= lines {
        return;
    }
    // The sum of a line has one part per warp, or one part if a warp has several lines.
    let first = thread / LINES * parts_of_line * LINES + thread % LINES;
    let mut sum = parts.load(first);
    let mut part = 1;
    while part < parts_of_line {
        sum = sum.add(parts.load(first + part * LINES));
        part = opaque(part + 1);
    }
    let [row, column] = if is_row { [0, line] } else { [line, 0] };
    let at = problem.c.index(batch, row, column);
    c.store(at, epilogue.finish(sum, [row, column], || c.load(at), || bias.load(column)));
}

/// Returns the vectors of 16 bytes of a view.
#[inline(always)]
pub fn words<T: Operand>(view: Global<T>) -> Global<[u32; 4]> {
    // SAFETY: this is the same memory, less the elements after the last whole vector.
    unsafe { Global::from_raw_parts(view.as_ptr().cast(), view.len() / per_vector(size_of::<T>()), view.device()) }
}

/// Returns element `i` of a vector of 16 bytes, converted to the type of the sums.
#[inline(always)]
fn element<T: Operand>(words: [u32; 4], i: usize) -> T::Sum {
    let words = match size_of::<T>() {
        2 => [words[i / 2] >> (i % 2 * 16), 0, 0, 0],
        4 => [words[i], 0, 0, 0],
        _ => [words[2 * i], words[2 * i + 1], 0, 0],
    };
    T::from_words(words).widen()
}

/// Returns the elements of a vector of 16 bytes, converted to the type of the sums, and zeros.
#[inline(always)]
pub fn widened<T: Operand>(words: [u32; 4]) -> [T::Sum; 8] {
    const { assert!(size_of::<T>() >= 2, "a vector has at most 8 elements") };
    let mut elements = [T::Sum::ZERO; 8];
    for i in 0..per_vector(size_of::<T>()) {
        elements[i] = element::<T>(words, i);
    }
    elements
}

/// Returns the sum of `sum` and the products of the elements of two vectors.
#[inline(always)]
pub fn multiply<T: Operand>(left: [T::Sum; 8], right: [u32; 4], mut sum: T::Sum) -> T::Sum {
    for i in 0..per_vector(size_of::<T>()) {
        sum = left[i].multiply_add(element::<T>(right, i), sum);
    }
    sum
}
