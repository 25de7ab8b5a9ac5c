// SPDX-License-Identifier: Apache-2.0
//! An explanation has the longest chain of products, with the line and the levels of each step.

use std::sync::Arc;

use ringmill_compiler::ckks::Options;
use ringmill_compiler::compile;
use ringmill_compiler::explain::{Chain, Taken};
use ringmill_compiler::options::Options as AnyOptions;
use ringmill_isa::macros::MacroProgram;
use ringmill_schemes::bgv::Bgv;

use super::{explained, finish, mixed, squares, start};
use crate::bgv::toy;
use crate::random::line;

#[test]
fn each_step_has_its_line_and_its_levels() {
    let chain = explained(mixed(), &Options::default()).chain;
    let steps = chain.steps.iter();
    let steps = steps.map(|s| (s.line.line, s.taken, s.level_before, s.level_after));
    let expected = [
        (Some(3), Taken::Product, 3, 2),
        (Some(7), Taken::Product, 2, 1),
        (Some(8), Taken::Constant, 1, 0),
    ];
    assert_eq!(steps.collect::<Vec<_>>(), expected);
    assert!(chain.steps.iter().all(|step| step.rescales == 1));
}

#[test]
fn a_small_whole_constant_is_no_step() {
    let (mut t, x) = start();
    let three = t.scalar(3.0, line(2)).unwrap();
    let y = t.mul(x, three, line(3)).unwrap();
    let y = t.square(y, line(4)).unwrap();
    let chain = explained(finish(t, y), &Options::default()).chain;
    assert_eq!(chain.products, 1);
    assert_eq!(chain.steps[0].line.line, Some(4));
}

#[test]
fn a_product_with_a_vector_is_a_plain_product() {
    let (mut t, x) = start();
    let weights = (0..16).map(|i| (f64::from(i) / 16.0, 0.0)).collect();
    let weights = t.vector(weights, line(2)).unwrap();
    let y = t.mul(x, weights, line(3)).unwrap();
    let chain = explained(finish(t, y), &Options::default()).chain;
    assert_eq!(chain.steps[0].taken, Taken::PlainProduct);
}

#[test]
fn the_longest_of_several_chains_is_taken() {
    let (mut t, x) = start();
    let short = t.square(x, line(2)).unwrap();
    let long = t.square(short, line(3)).unwrap();
    let long = t.mul(long, x, line(4)).unwrap();
    let sum = t.add(short, long, line(5)).unwrap();
    let chain = explained(finish(t, sum), &Options::default()).chain;
    let lines: Vec<_> = chain.steps.iter().map(|step| step.line.line).collect();
    assert_eq!(lines, [Some(2), Some(3), Some(4)]);
}

#[test]
fn a_repeat_that_bootstraps_counts_each_turn() {
    let procedure = Arc::new(toy::procedure());
    let options = AnyOptions::<Bgv> {
        bootstrapping: Some(Arc::clone(&procedure)),
        seeded_keys: procedure.seeded(),
        ..AnyOptions::given(Arc::clone(procedure.params()))
    };
    let mut program = squares(50, "bgv");
    program.slots = 2;
    let compiled = compile(program, &options).unwrap();
    let chain = Chain::of(&compiled.managed);
    assert_eq!(chain.products, 50);
    let products = chain.steps.iter();
    let products = products.filter(|step| step.taken == Taken::Product);
    assert_eq!(products.map(|step| step.times).sum::<u64>(), 50);
    assert!(
        chain
            .steps
            .iter()
            .any(|step| step.taken == Taken::Bootstrap)
    );
}

#[test]
fn a_program_without_instructions_has_no_chain() {
    let scheme = squares(1, "ckks").scheme;
    let chain = Chain::of(&MacroProgram::new("empty".to_owned(), scheme, 16));
    assert_eq!(chain, Chain::default());
}
