//! The conformance suites, in one program: each is a module, whose name leads the names of its tests.

mod device_library;
mod devices;
mod faults;
mod faults_own;
mod graphs;
mod histogram;
mod life;
mod life_known;
mod life_resident;
mod life_rules;
mod mutate_barriers;
mod probe;
mod random_orders;
mod reduce;
mod reduce_one_tile;
mod reduce_special_values;
mod remedies;
mod remedies_beside_atomics;
mod remedies_in_words;
mod saxpy;
mod scale;
mod scan;
mod scan_cases;
mod scan_pipelined;
mod stream;
mod transpose;
