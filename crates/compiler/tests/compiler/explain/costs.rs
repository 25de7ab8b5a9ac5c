// SPDX-License-Identifier: Apache-2.0
//! An explanation counts the operations that the compiler's decisions cost.

use ringmill_compiler::ckks::Options;
use ringmill_compiler::compile;
use ringmill_compiler::explain::explain;
use ringmill_isa::macros::MacroOp;
use ringmill_isa::macros::stats::counts;
use ringmill_isa::mid::stats::program_counts;

use super::mixed;

#[test]
fn decisions_are_counted_with_their_lines() {
    let options = Options::default();
    let compiled = compile(mixed(), &options).unwrap();
    let costs = explain(&compiled, &options).unwrap().costs;
    assert_eq!(costs.relinearisations.count, 2);
    assert_eq!(costs.rotations.count, 2);
    assert_eq!(costs.key_switches, 4);
    let managed = counts(&compiled.managed);
    assert_eq!(costs.rescales.count, managed[&MacroOp::Rescale]);
    assert_eq!(costs.bootstraps.count, 0);
    let lines = costs.relinearisations.places.iter();
    let lines: Vec<_> = lines.map(|place| place.line.line).collect();
    assert_eq!(lines, [Some(3), Some(7)]);
}

#[test]
fn the_work_of_all_operations_is_the_work_of_the_program() {
    let options = Options::default();
    let compiled = compile(mixed(), &options).unwrap();
    let work = explain(&compiled, &options).unwrap().costs.work;
    let all: u64 = work.iter().map(|work| work.limb_instructions).sum();
    let counts = program_counts(&compiled.program).into_values();
    assert_eq!(all, counts.sum::<u64>());
    let shares: f64 = work.iter().map(|work| work.share).sum();
    assert!((shares - 1.0).abs() < 1e-9);
    assert!(work.is_sorted_by(|a, b| a.limb_instructions >= b.limb_instructions));
}
