//! The tests of launching in the simulator in one program, which is linked once. Beside it stand those that need a process of
//! their own.

mod buffers;
mod graphs;
mod groups;
mod launches;
mod names;
mod ordering;
mod rare;
mod redundant;
mod split;
mod streams;
mod thorough;
mod written;
