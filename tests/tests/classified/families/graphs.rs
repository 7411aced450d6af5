//! Graph algorithms: shortest paths, components, colourings, searches and ranks. Many of them are right with relaxed
//! accesses in any order, and wrong or undefined with plain ones.

use cuda_std::{GlobalMut, grid as whole_grid, kernel, thread};

use super::Verdict::{Sound, Wrong};
use super::{By, grid, race};

families! {
    "graphs.rs";
    "path compression" {
        paths_halved_in_place: race("y"), of grid(2, 4), [0; 1], CHAIN, |y| y == HALVED;
        paths_halved_by_relaxed_accesses: Sound,
            of grid(2, 4), [0; 1], CHAIN, |y| y.iter().zip(0_u32..).all(|(&parent, i)| parent <= i);
        paths_halved_into_another_array: Sound, of grid(2, 4), CHAIN, [0; 8], |y| y == HALVED;
    }
    "colouring" {
        colours_in_place: race("y"), of grid(2, 4), [0; 1], [0; 8], |y| is_coloured(y);
        colours_of_independent_sets: Sound, of grid(1, 8), [0; 1], [0; 8], |y| is_coloured(y);
        members_without_an_order: Wrong(By::Some), of grid(4, 1), [0; 1], [0; 4], |y| is_independent(y);
        members_by_priority: Sound, of grid(4, 1), [0; 1], [0; 4], |y| is_independent(y);
    }
    "shortest paths" {
        all_pairs_in_one_loop: race("y"), of grid(1, (4, 4)), [0; 1], RING, |y| y == DISTANCES;
        all_pairs_with_barriers: Sound, of grid(1, (4, 4)), [0; 1], RING, |y| y == DISTANCES;
        relaxed_by_load_and_store: Wrong(By::Some), of grid(4, 1), [9, 3, 5, 7], [99; 1], |y| y == [3];
        relaxed_by_a_minimum: Sound, of grid(4, 1), [9, 3, 5, 7], [99; 1], |y| y == [3];
    }
    "minimum spanning trees" {
        hooked_in_place: race("y"), of grid(2, 4), PARTNERS, CHAIN_OF_ITSELF, |y| y == HOOKED;
        hooked_into_another_array: Sound, of grid(2, 4), PARTNERS, [0; 8], |y| y == HOOKED;
        lightest_by_two_updates: Wrong(By::Some), of grid(4, 1), [9, 3, 5, 7], [99, 99], |y| y == [3, 1];
        lightest_by_one_update: Sound, of grid(4, 1), [9, 3, 5, 7], [9999; 1], |y| y == [301];
    }
    "breadth-first search" {
        visited_by_load_and_store: Wrong(By::Some), of grid(4, 1), [0; 2], [0; 4], |y| y == [1, 0, 0, 0];
        visited_by_an_exchange: Sound, of grid(4, 1), [0; 2], [0; 4], |y| y == [1, 0, 0, 0];
        levels_by_plain_stores: race("y"), of grid(2, 4), [0; 1], [0; 2], |y| y == [1, 1];
        levels_by_declared_races: Sound, of grid(2, 4), [0; 1], [0; 2], |y| y == [1, 1];
    }
    "components" {
        labels_by_plain_accesses: race("y"), of grid(4, 1).cooperative(), [0; 1], [3, 2, 1, 0], |y| y == [0; 4];
        labels_by_minima: Sound, of grid(4, 1).cooperative(), [0; 1], [3, 2, 1, 0], |y| y == [0; 4];
    }
    "ranks" {
        ranks_pushed_by_plain_additions: race("y"), of grid(2, 1), [6, 8], [0; 1], |y| y == [14];
        ranks_pushed_by_updates: Sound, of grid(2, 1), [6, 8], [0; 1], |y| y == [14];
        ranks_pulled: Sound, of grid(2, 4), [1, 2, 3, 4, 5, 6, 7, 8], [0; 8], |y| y == [10, 4, 6, 8, 10, 12, 14, 8];
    }
}

/// A chain of parents: the parent of each vertex is the previous one.
const CHAIN: [u32; 8] = [0, 0, 1, 2, 3, 4, 5, 6];
/// The grandparents in `CHAIN`.
const HALVED: [u32; 8] = [0, 0, 0, 1, 2, 3, 4, 5];

/// Vertices that are their own parents.
const CHAIN_OF_ITSELF: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
/// The vertex at the other end of the lightest edge of each vertex.
const PARTNERS: [u32; 8] = [1, 0, 1, 2, 5, 4, 5, 6];
/// The parents after each vertex is hooked to the parent of its partner. The smaller one of a pair stays a root.
const HOOKED: [u32; 8] = [0, 0, 1, 2, 4, 4, 5, 6];

/// The lengths of the edges of a ring of four vertices, from each to each. 99 means that there is no edge.
const RING: [u32; 16] = [0, 1, 99, 99, 99, 0, 1, 99, 99, 99, 0, 1, 1, 99, 99, 0];
/// The distances in `RING`.
const DISTANCES: [u32; 16] = [0, 1, 2, 3, 3, 0, 1, 2, 2, 3, 0, 1, 1, 2, 3, 0];

/// Returns true if neighbours on a path of eight vertices have different colours, which are not 0.
fn is_coloured(y: &[u32]) -> bool {
    y.iter().all(|&colour| colour > 0) && y.windows(2).all(|pair| pair[0] != pair[1])
}

/// Returns true if no two neighbours on a path of four vertices are members, and each other vertex has a member beside
/// it.
fn is_independent(y: &[u32]) -> bool {
    let is_member = |i: usize| y.get(i) == Some(&1);
    (0..y.len()).all(|i| is_member(i) != (is_member(i + 1) || i > 0 && is_member(i - 1)))
}

// Faulty: a thread stores its parent while another one may load it.
#[kernel]
fn paths_halved_in_place(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    let grandparent = y.load(y.load(i) as usize); // fault
    y.store(i, grandparent); // fault
}

// Sound: with relaxed accesses each load returns an ancestor, and any ancestor is a right parent.
#[kernel]
fn paths_halved_by_relaxed_accesses(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    let grandparent = y.load_relaxed(y.load_relaxed(i) as usize);
    y.store_relaxed(i, grandparent);
}

// Sound: the launch does not write the array that it loads.
#[kernel]
fn paths_halved_into_another_array(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    y.store(i, x.load(x.load(i) as usize));
}

// Faulty: a vertex loads its neighbour's colour while that vertex stores it.
#[kernel]
fn colours_in_place(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    let left = if i == 0 { 0 } else { y.load(i - 1) }; // fault
    y.store(i, if left == 1 { 2 } else { 1 }); // fault
}

// Sound: no two vertices of a round are neighbours, and a barrier separates the rounds.
#[kernel]
fn colours_of_independent_sets(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::thread_idx_x() as usize;
    for round in 0..2 {
        if i % 2 == round {
            let used = |j: usize| if j < 8 { y.load(j) } else { 0 };
            let beside = [used(i.wrapping_sub(1)), used(i + 1)];
            y.store(i, (1..4).find(|colour| !beside.contains(colour)).unwrap_or(4));
        }
        thread::sync_threads();
    }
}

// Faulty: two neighbours may both see that the other one is no member, and both become members.
#[kernel]
fn members_without_an_order(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::block_idx_x() as usize;
    let is_free = |j: usize| j > 3 || y.load_relaxed(j) != 1;
    if is_free(i.wrapping_sub(1)) && is_free(i + 1) {
        y.store_relaxed(i, 1);
    }
}

// Sound: a vertex waits for the decision of its neighbour with higher priority, and neighbours have an order.
#[kernel]
fn members_by_priority(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::block_idx_x() as usize;
    let mut before = if i == 0 { 3 } else { 0 };
    while before == 0 {
        before = y.load_acquire(i - 1);
    }
    y.store_release(i, if before == 1 { 3 } else { 1 });
}

// Faulty: without barriers between the rounds, a thread may load a distance of another round.
#[kernel]
fn all_pairs_in_one_loop(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (to, from) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    for middle in 0..4 {
        let through = y.load(4 * from + middle) + y.load(4 * middle + to); // fault
        if through < y.load(4 * from + to) {
            y.store(4 * from + to, through); // fault
        }
    }
}

// Sound: row and column `middle` do not change in round `middle`, and barriers separate the rounds.
#[kernel]
fn all_pairs_with_barriers(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (to, from) = (thread::thread_idx_x() as usize, thread::thread_idx_y() as usize);
    for middle in 0..4 {
        let through = y.load(4 * from + middle) + y.load(4 * middle + to);
        if through < y.load(4 * from + to) {
            y.store(4 * from + to, through);
        }
        thread::sync_threads();
    }
}

// Faulty: a larger distance may overwrite a smaller one that another block has stored in between.
#[kernel]
fn relaxed_by_load_and_store(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let distance = x.load(thread::block_idx_x() as usize);
    if distance < y.load_relaxed(0) {
        y.store_relaxed(0, distance);
    }
}

// Sound: the minimum is one update.
#[kernel]
fn relaxed_by_a_minimum(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let distance = x.load(thread::block_idx_x() as usize);
    if distance < y.load_relaxed(0) {
        y.atomic_min(0, distance);
    }
}

// Faulty: a vertex loads the parent of its partner while the partner stores it.
#[kernel]
fn hooked_in_place(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    let partner = x.load(i) as usize;
    let parent = y.load(partner); // fault
    if x.load(partner) as usize != i || partner < i {
        y.store(i, parent); // fault
    }
}

// Sound: the launch reads only the partners, and each thread stores its own parent.
#[kernel]
fn hooked_into_another_array(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    let partner = x.load(i) as usize;
    let is_root = x.load(partner) as usize == i && i < partner;
    y.store(i, if is_root { i } else { partner } as u32);
}

// Faulty: the weight and the number of the edge are two words, and another block may update one between the two.
#[kernel]
fn lightest_by_two_updates(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let edge = thread::block_idx_x();
    let weight = x.load(edge as usize);
    if y.atomic_min(0, weight) > weight {
        y.store_relaxed(1, edge);
    }
}

// Sound: weight and number are in one word.
#[kernel]
fn lightest_by_one_update(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let edge = thread::block_idx_x();
    y.atomic_min(0, 100 * x.load(edge as usize) + edge);
}

// Faulty: two blocks may both find the vertex unvisited, and put it into the queue twice.
#[kernel]
fn visited_by_load_and_store(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (visited, count) = (0, 1);
    if x.load_relaxed(visited) == 0 {
        x.store_relaxed(visited, 1);
        y.store(x.atomic_add(count, 1) as usize, 1);
    }
}

// Sound: one exchange returns 0, and only its block puts the vertex into the queue.
#[kernel]
fn visited_by_an_exchange(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let (visited, count) = (0, 1);
    if x.atomic_exchange(visited, 1) == 0 {
        y.store(x.atomic_add(count, 1) as usize, 1);
    }
}

// Faulty: plain stores of one value to one word conflict as stores of different values do.
#[kernel]
fn levels_by_plain_stores(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    y.store(thread::index_1d() % 2, 1); // fault
}

// Sound: the stores are relaxed, and all of them store the same value.
#[kernel]
fn levels_by_declared_races(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d() % 2;
    if y.racy_load(i) == 0 {
        y.racy_store(i, 1);
    }
}

// Faulty: in each round, a block loads a neighbour's label that its block may be storing.
#[kernel]
fn labels_by_plain_accesses(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::block_idx_x() as usize;
    for _ in 0..4 {
        let neighbour = y.load((i + 1) % 4); // fault
        if neighbour < y.load(i) {
            y.store(i, neighbour); // fault
        }
        whole_grid::sync();
    }
}

// Sound: a minimum of an older label is never too small, and the barriers bring each label around.
#[kernel]
fn labels_by_minima(_x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::block_idx_x() as usize;
    for _ in 0..4 {
        let neighbour = y.load_relaxed((i + 1) % 4);
        y.atomic_min(i, neighbour);
        whole_grid::sync();
    }
}

// Faulty: two blocks load and store one sum.
#[kernel]
fn ranks_pushed_by_plain_additions(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let rank = x.load(thread::block_idx_x() as usize);
    let before = y.load(0); // fault
    y.store(0, before + rank); // fault
}

// Sound: each addition is one update.
#[kernel]
fn ranks_pushed_by_updates(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    y.atomic_add(0, x.load(thread::block_idx_x() as usize));
}

// Sound: each thread loads the ranks of its neighbours and stores its own sum in another array.
#[kernel]
fn ranks_pulled(x: GlobalMut<u32>, y: GlobalMut<u32>) {
    let i = thread::index_1d();
    y.store(i, x.load((i + 7) % 8) + x.load((i + 1) % 8));
}
