// SPDX-License-Identifier: Apache-2.0
//! Tests of the explanations of compiled programs.

mod advice;
mod chain;
mod costs;
mod keys;
mod text;

use ringmill_compiler::bfv::CompileError as BfvError;
use ringmill_compiler::builder::{TraceBuilder, Traced};
use ringmill_compiler::ckks::Options;
use ringmill_compiler::compile;
use ringmill_compiler::explain::{Explanation, explain};
use ringmill_compiler::options::Options as AnyOptions;
use ringmill_isa::macros::{MacroProgram, SchemeName, Visibility};
use ringmill_schemes::bfv::Bfv;
use ringmill_schemes::bgv::Bgv;

use crate::random::line;
use crate::run::twenty_bits;

fn start() -> (TraceBuilder, Traced) {
    let mut t = TraceBuilder::new("test", 16).unwrap();
    let x = t.input("x", Visibility::Encrypted, line(1)).unwrap();
    (t, x)
}

fn finish(mut t: TraceBuilder, y: Traced) -> MacroProgram {
    t.output("y", y, line(99)).unwrap();
    t.finish()
}

/// Returns a program of a square, rotations of it by 1, 0 and 3, a sum, a product of ciphertexts and a product with a
/// constant.
fn mixed() -> MacroProgram {
    let (mut t, x) = start();
    let hundredth = t.scalar(0.01, line(2)).unwrap();
    let squared = t.square(x, line(3)).unwrap();
    let turned = t.rotate(squared, 1, line(4)).unwrap();
    let turned = t.rotate(turned, 0, line(4)).unwrap();
    let other = t.rotate(squared, 3, line(5)).unwrap();
    let sum = t.add(turned, other, line(6)).unwrap();
    let product = t.mul(sum, x, line(7)).unwrap();
    let scaled = t.mul(product, hundredth, line(8)).unwrap();
    finish(t, scaled)
}

fn explained(program: MacroProgram, options: &Options) -> Explanation {
    let compiled = compile(program, options).unwrap();
    explain(&compiled, options).unwrap()
}

/// Returns a program of the scheme `scheme` that squares its input `turns` times in a repeat.
fn squares(turns: u64, scheme: &str) -> MacroProgram {
    let (mut t, x) = start();
    let given = t.begin_body("body", 1, line(2)).unwrap();
    let squared = t.square(given[0], line(3)).unwrap();
    let body = t.end(&[squared], line(2)).unwrap();
    let made = t.repeat(turns, &body, &[x], line(2)).unwrap();
    let mut program = finish(t, made[0]);
    program.scheme = SchemeName::new(scheme).unwrap();
    program
}

#[test]
fn levels_of_chosen_parameters_are_those_that_the_program_needs() {
    let found = explained(mixed(), &twenty_bits());
    assert_eq!((found.levels.available, found.levels.needed), (3, Some(3)));
    assert_eq!(found.levels.products, 3);
    assert_eq!(found.digits.ciphertext_primes, 4);
    assert_eq!(found.digits.special_primes, 1);
    assert_eq!(found.digits.dnum, 4);
}

#[test]
fn ciphertexts_of_bfv_have_no_levels_to_need() -> Result<(), BfvError> {
    let options = AnyOptions::<Bfv>::default();
    let compiled = compile(squares(3, "bfv"), &options)?;
    let found = explain(&compiled, &options)?;
    assert_eq!(found.levels.needed, None);
    assert_eq!(found.levels.products, 3);
    assert_eq!(found.costs.rescales.count, 0);
    Ok(())
}

#[test]
fn an_explanation_is_plain_data() {
    let options = AnyOptions::<Bgv>::default();
    let compiled = compile(squares(3, "bgv"), &options).unwrap();
    let found = serde_json::to_value(explain(&compiled, &options).unwrap()).unwrap();
    assert_eq!(found["scheme"], "bgv");
    let steps = found["chain"]["steps"].as_array().unwrap();
    let products = steps.iter().filter(|step| step["taken"] == "product");
    assert_eq!(products.count(), 3);
    assert_eq!(steps[0]["line"], 3);
}
