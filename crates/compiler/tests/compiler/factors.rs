// SPDX-License-Identifier: Apache-2.0
//! Level management of BGV programs inserts few divisions, and few products that make correction factors equal.

use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_isa::macros::{MacroOp, MacroProgram, SchemeName, Visibility};
use ringmill_schemes::bgv::{Bgv, Factor, Params, PlainModulus};

use ringmill_compiler::bgv::{CompileError, Compiled, Options};
use ringmill_compiler::builder::{TraceBuilder, Traced};
use ringmill_compiler::compile;

fn encrypted(t: &mut TraceBuilder, names: &[&str]) -> Vec<Traced> {
    let inputs = names.iter();
    inputs
        .map(|n| t.input(n, Visibility::Encrypted, None).unwrap())
        .collect()
}

fn count(program: &MacroProgram, op: MacroOp) -> usize {
    program.instrs.iter().filter(|i| i.op == op).count()
}

/// Returns insecure parameters of twelve ciphertext primes of 36 bits at ring degree 2^11.
fn params() -> Arc<Params> {
    let t = PlainModulus::batching(11, 20).unwrap();
    Params::builder(11, t)
        .prime_bits(&[36; 12], &[60])
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap()
}

fn compiled(t: TraceBuilder) -> Result<Compiled, CompileError> {
    with(t, &Options::given(params()))
}

fn with(t: TraceBuilder, options: &Options) -> Result<Compiled, CompileError> {
    let mut program = t.finish();
    program.scheme = SchemeName::new("bgv").unwrap();
    compile::<Bgv>(program, options)
}

fn level(program: &MacroProgram, op: MacroOp) -> Level {
    let instr = program.instrs.iter().find(|i| i.op == op).unwrap();
    program.types[instr.src[0].0 as usize].at().unwrap().level
}

/// Compiles a sum of products, which goes down the levels as one value, so that no correction factor has to change.
#[test]
fn a_sum_of_products_is_divided_once() {
    let mut t = TraceBuilder::new("inner", 16).unwrap();
    let [x, y, z] = encrypted(&mut t, &["x", "y", "z"]).try_into().unwrap();
    let mut sum = t.mul(x, y, None).unwrap();
    for step in 1..8 {
        let turned = t.rotate(x, step, None).unwrap();
        let product = t.mul(turned, y, None).unwrap();
        sum = t.add(sum, product, None).unwrap();
    }
    let scaled = t.mul(sum, z, None).unwrap();
    let shifted = t.add(scaled, sum, None).unwrap();
    t.output("s", shifted, None).unwrap();
    let managed = compiled(t).unwrap().managed;
    assert_eq!(count(&managed, MacroOp::Relin), 2);
    // There are fewer divisions than products, since only the sum and the result are divided.
    assert!(count(&managed, MacroOp::Rescale) < 4);
    assert_eq!(count(&managed, MacroOp::Refactor), 0);
}

/// Compiles for given parameters, whose lowest sufficient levels are used. An input that is used late enters at a lower
/// level.
#[test]
fn inputs_enter_as_low_as_they_can() {
    let mut t = TraceBuilder::new("late", 16).unwrap();
    let [x, w] = encrypted(&mut t, &["x", "w"]).try_into().unwrap();
    let mut power = x;
    for _ in 0..3 {
        power = t.mul(power, power, None).unwrap();
    }
    let late = t.mul(power, w, None).unwrap();
    t.output("s", late, None).unwrap();
    let compiled = compiled(t).unwrap();
    let [x, w] = [0, 1].map(|i| compiled.inputs[i].at);
    assert!(x.level < compiled.params.max_level(), "{x:?}");
    assert!(w.level < x.level, "{w:?} {x:?}");
    assert_eq!((x.annotation, w.annotation), (Factor::ONE, Factor::ONE));
    assert!(compiled.outputs[0].at.level < w.level);
}

/// Compiles a rotation of a product, which is divided first, so that the key switch has fewer primes.
#[test]
fn rotations_happen_below_products() {
    let mut t = TraceBuilder::new("turned", 16).unwrap();
    let [x, y] = encrypted(&mut t, &["x", "y"]).try_into().unwrap();
    let xy = t.mul(x, y, None).unwrap();
    let turned = t.rotate(xy, 3, None).unwrap();
    let product = t.mul(turned, xy, None).unwrap();
    t.output("s", product, None).unwrap();
    let managed = compiled(t).unwrap().managed;
    assert!(level(&managed, MacroOp::Rotate) < level(&managed, MacroOp::Mul));
}

/// Adds terms of different depths, whose correction factors differ. At most one product for each term makes them equal,
/// and the noise still fits.
#[test]
fn terms_of_all_depths_are_added() {
    let mut t = TraceBuilder::new("terms", 16).unwrap();
    let [x, w] = encrypted(&mut t, &["x", "w"]).try_into().unwrap();
    let (mut power, mut sum) = (x, w);
    for _ in 0..3 {
        power = t.square(power, None).unwrap();
        sum = t.add(sum, power, None).unwrap();
    }
    t.output("s", sum, None).unwrap();
    let compiled = compiled(t).unwrap();
    let balanced = count(&compiled.managed, MacroOp::Refactor);
    assert!((1..=3).contains(&balanced), "{balanced}");
    assert!(compiled.predicted[0].budget >= 1.0);
}

#[test]
fn outputs_rest_where_they_are_wanted() {
    for wanted in 0..3 {
        let mut t = TraceBuilder::new("rests", 16).unwrap();
        let [x] = encrypted(&mut t, &["x"]).try_into().unwrap();
        let square = t.square(x, None).unwrap();
        t.output("s", square, None).unwrap();
        let options = Options {
            output_level: Level(wanted),
            ..Options::given(params())
        };
        let compiled = with(t, &options).unwrap();
        assert_eq!(compiled.outputs[0].at.level, Level(wanted));
        assert_eq!(compiled.output_level, Level(wanted));
        // Chosen parameters have `wanted` more primes.
        let mut t = TraceBuilder::new("rests", 16).unwrap();
        let [x] = encrypted(&mut t, &["x"]).try_into().unwrap();
        t.output("s", x, None).unwrap();
        let options = Options {
            output_level: Level(wanted),
            ..Options::default()
        };
        let compiled = with(t, &options).unwrap();
        assert_eq!(compiled.params.max_level(), Level(wanted));
    }
}

/// Checks that chosen parameters are secure. If the security bound leaves room for one more prime, the digits have
/// about two primes or more.
#[test]
fn chosen_parameters_are_secure_and_their_digits_few() {
    let mut last = 0;
    for depth in 1..8 {
        let mut t = TraceBuilder::new("squares", 16).unwrap();
        let [x] = encrypted(&mut t, &["x"]).try_into().unwrap();
        let power = (0..depth).fold(x, |x, _| t.square(x, None).unwrap());
        t.output("s", power, None).unwrap();
        let compiled = with(t, &Options::default()).unwrap();
        let params = &compiled.params;
        assert!(!params.insecure_allowed());
        assert!(params.log_n() >= last && params.log_n() <= 14, "{depth}");
        last = params.log_n();
        let spare = params.security().bound.unwrap() as f64 - params.security().log_qp;
        let prime = (params.moduli()[0] as f64).log2();
        let enough = spare < prime || params.dnum() <= params.cipher_count().div_ceil(2);
        assert!(enough, "{depth}: {}", params.summary());
    }
}
