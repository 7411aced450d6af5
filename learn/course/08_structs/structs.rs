//! Structs: an array of structures, or a structure of arrays.
//!
//! A particle has 8 numbers: its position, its velocity, its mass and its charge. All particles lie in one buffer, and
//! the function `at` says where: it returns the place of number `field` of particle `i`. The host and the kernel both
//! use it, so any layout is right if each number has a place of its own in the `8·n` places of the buffer.
//!
//! The obvious layout is an array of structures: the 8 numbers of a particle are neighbours.
//!
//! ```text
//! place      0     1     2     3     4     5     6     7   |  8     9    10    11   …
//! number     x0    y0    z0    u0    v0    w0    m0    q0  |  x1    y1    z1    u1   …
//! ```
//!
//! The kernel needs only two of the numbers, the height `z` and its velocity `w`. Thread `i` takes particle `i`, so in
//! one step the 32 threads of a warp access the same field of 32 neighbouring particles. In this layout each of them
//! lies in another sector of 32 bytes, and memory moves whole sectors: 7 of 8 bytes are moved in vain.
//!
//! Change `at`, so that a warp accesses neighbouring places. `n` is the number of particles.
//!
//! Budget: at most 1.1 × the bytes that must move.

use cuda_std::prelude::*;

/// The number of fields per particle.
pub const FIELDS: usize = 8;
/// The height.
pub const Z: usize = 2;
/// The velocity along the height.
pub const W: usize = 5;

/// Returns the place of number `field` of particle `i`, of `n` particles.
pub fn at(i: usize, field: usize, n: usize) -> usize {
    // Your code begins here.
    i * FIELDS + field
    // Your code ends here.
}

/// Lets the particles fall or rise for the time `dt`: `z += dt·w`. One thread per particle; the grid may have more
/// threads than particles.
#[kernel]
pub fn step(dt: f32, particles: GlobalMut<f32>) {
    let (i, n) = (thread::index_1d(), particles.len() / FIELDS);
    if i < n {
        let (z, w) = (particles.load(at(i, Z, n)), particles.load(at(i, W, n)));
        particles.store(at(i, Z, n), z + dt * w);
    }
}
