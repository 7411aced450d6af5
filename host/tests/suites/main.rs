//! Runs the tests of the program's commands in one program, so that it is linked only once.

mod common;

mod bench;
mod check;
mod cli;
mod documents;
mod explain;
mod learn;
mod life_bands;
mod life_census;
mod life_ends;
mod life_files;
mod life_long;
mod life_options;
mod life_reference;
mod list;
mod new;
mod outputs;
mod probe;
mod reduce;
mod saxpy;
mod scale;
mod scan;
mod several;
mod stream;
mod terminal;
mod transpose;
