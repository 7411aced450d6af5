//! Moves of matrices between shared memory and registers in the simulator.
//!
//! # Design
//!
//! The lane that passes the position of a row loads or stores the row. The checks therefore see accesses of 16 bytes by
//! that lane, and a profile counts the rows of a matrix as one wavefront where they are in different banks.

use simt::warp::{self, LaneRegisters, WarpRegisters};
use simt::{shared, thread};

/// The rows of the matrices. Lane 8·*j* + *r* has row *r* of matrix *j*.
type Rows = [[u16; 8]; 32];

/// Returns the rows and columns of the two elements that `lane` has of matrix `matrix`.
fn places<const TRANS: bool>(lane: usize, matrix: usize) -> [(usize, usize); 2] {
    let (across, along) = (lane / 4, lane % 4 * 2);
    [along, along + 1].map(|along| if TRANS { (8 * matrix + along, across) } else { (8 * matrix + across, along) })
}

fn distribute<const X: usize, const TRANS: bool>(lanes: &mut WarpRegisters) {
    let rows: Rows = lanes.map(|registers| bytemuck::cast([registers[0], registers[1], registers[2], registers[3]]));
    for (lane, registers) in lanes.iter_mut().enumerate() {
        for (matrix, register) in registers[..X].iter_mut().enumerate() {
            let [low, high] = places::<TRANS>(lane, matrix).map(|(row, column)| u32::from(rows[row][column]));
            *register = low | high << 16;
        }
    }
}

fn collect<const X: usize, const TRANS: bool>(lanes: &mut WarpRegisters) {
    let mut rows: Rows = [[0; 8]; 32];
    for (lane, registers) in lanes.iter().enumerate() {
        for (matrix, &register) in registers[..X].iter().enumerate() {
            let [low, high] = places::<TRANS>(lane, matrix);
            rows[low.0][low.1] = register as u16;
            rows[high.0][high.1] = (register >> 16) as u16;
        }
    }
    for (registers, row) in lanes.iter_mut().zip(rows) {
        registers[..4].copy_from_slice(&bytemuck::cast::<_, [u32; 4]>(row));
    }
}

/// Returns the name of an instruction for reports.
macro_rules! name {
    ($instruction:literal) => {
        match (X, TRANS) {
            (1, false) => concat!($instruction, ".x1"),
            (1, true) => concat!($instruction, ".x1.trans"),
            (2, false) => concat!($instruction, ".x2"),
            (2, true) => concat!($instruction, ".x2.trans"),
            (_, false) => concat!($instruction, ".x4"),
            (_, true) => concat!($instruction, ".x4.trans"),
        }
    };
}

#[track_caller]
pub fn ldmatrix<const X: usize, const TRANS: bool>(address: u32) -> [u32; X] {
    let mut registers: LaneRegisters = [0; 32];
    if (thread::lane_id() as usize) < 8 * X {
        let row: u128 = shared::load(address);
        registers[..4].copy_from_slice(&bytemuck::cast::<_, [u32; 4]>(row));
    }
    warp::collective(name!("ldmatrix"), &mut registers, distribute::<X, TRANS>);
    core::array::from_fn(|matrix| registers[matrix])
}

#[track_caller]
pub fn stmatrix<const X: usize, const TRANS: bool>(address: u32, matrices: [u32; X]) {
    let mut registers: LaneRegisters = [0; 32];
    registers[..X].copy_from_slice(&matrices);
    warp::collective(name!("stmatrix"), &mut registers, collect::<X, TRANS>);
    if (thread::lane_id() as usize) < 8 * X {
        let row: [u32; 4] = core::array::from_fn(|word| registers[word]);
        shared::store(address, bytemuck::cast::<_, u128>(row));
    }
}
