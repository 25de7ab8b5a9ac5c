// SPDX-License-Identifier: Apache-2.0
//! In programs that bootstrap, each caller chooses the level of its callees' arguments and results.

use std::sync::Arc;

use ringmill_compiler::bgv::{CompileError, Options};
use ringmill_compiler::builder::{Power, TraceBuilder};
use ringmill_compiler::internals::{
    Callee, Costs, Managed, Setting, cheapest, chosen, each, relinearised,
};
use ringmill_compiler::{Compiles, Passes};
use ringmill_isa::macros::{MacroProgram, SchemeName, Visibility};
use ringmill_schemes::bgv::Bgv;

use super::toy;

/// Returns a program that calls a procedure `sums` of `count` + 1 values. `sums` multiplies the first value by a
/// constant vector, squares this product, and multiplies the other `count` values by the square. It takes the lowest
/// digit of the sum of these products by a call of `digits`. To the digit it adds its products with the `count` values.
fn program(count: usize) -> MacroProgram {
    let power = Power {
        prime: 7,
        exponent: 2,
    };
    let encrypted = vec![Visibility::Encrypted; count + 1];
    let mut t = TraceBuilder::new("train", 2).unwrap();
    let inputs = (0..=count).map(|i| {
        t.input(&format!("x{i}"), Visibility::Encrypted, None)
            .unwrap()
    });
    let inputs: Vec<_> = inputs.collect();
    let given = t.begin_procedure("digits", &encrypted[..1], None).unwrap();
    let low = t.low_digit(given[0], power, None).unwrap();
    let digits = t.end(&[low], None).unwrap();
    let given = t.begin_procedure("sums", &encrypted, None).unwrap();
    let mask = t.vector(vec![(1.0, 0.0), (3.0, 0.0)], None).unwrap();
    let weight = t.mul(given[0], mask, None).unwrap();
    let weight = t.square(weight, None).unwrap();
    let mut sum = None;
    for &x in &given[1..] {
        let product = t.mul(x, weight, None).unwrap();
        sum = Some(match sum {
            Some(sum) => t.add(sum, product, None).unwrap(),
            None => product,
        });
    }
    let low = t.call(&digits, &[sum.unwrap()], None).unwrap();
    let mut sum = low[0];
    for &x in &given[1..] {
        let product = t.mul(x, low[0], None).unwrap();
        sum = t.add(sum, product, None).unwrap();
    }
    let sums = t.end(&[sum], None).unwrap();
    let made = t.call(&sums, &inputs, None).unwrap();
    t.output("y", made[0], None).unwrap();
    let mut program = t.finish();
    program.scheme = SchemeName::new("bgv").unwrap();
    program
}

/// Compares the cost of a body that calls its callee's cheapest variant with that of the body's own choice.
#[test]
fn a_caller_chooses_the_level_of_its_callee() {
    let procedure = Arc::new(toy::procedure());
    let params = Arc::clone(procedure.params());
    let options = Options {
        bootstrapping: Some(Arc::clone(&procedure)),
        seeded_keys: procedure.seeded(),
        ..Options::given(Arc::clone(&params))
    };
    let setting = Setting {
        options: &options,
        procedure: &procedure,
        costs: &Costs::new(&params, &procedure).unwrap(),
    };
    for count in [1, 4, 8] {
        let mut bodies = Vec::new();
        let passed = |body| {
            let body = relinearised::<Bgv>(body, Passes::ALL);
            bodies.push(body.clone());
            Ok::<_, CompileError>(body)
        };
        let program = each(program(count), passed).unwrap();
        let [digits, sums, _]: [MacroProgram; 3] = bodies.try_into().unwrap();
        let tables = [setting.procedure(&digits, &[]).unwrap().unwrap()];
        assert!(tables[0].len() > 1);
        let own = cheapest(&tables);
        let callees = [tables[0][own[0]].callee];
        for variant in setting.procedure(&sums, &tables).unwrap().unwrap() {
            let convention = Some(variant.callee.convention);
            let with_own = setting.body(&sums, &callees, convention).unwrap();
            let with_own = with_own.map_or(f64::INFINITY, |managed| managed.cost);
            println!(
                "{count} products at {:?}: {} of {with_own}, callee {:?} of {own:?}",
                variant.callee.convention.level, variant.callee.cost, variant.choice
            );
            assert!(variant.callee.cost <= with_own);
        }
        // A body that pays for every level but one takes the variant of that level, however cheap another is by itself.
        let other = usize::from(own[0] == 0);
        let wanted = tables[0][other].callee;
        let manage = |callees: &[Callee]| {
            let elsewhere = callees[0].convention.level != wanted.convention.level;
            Ok(Ok(Managed {
                program: sums.clone(),
                outputs: Vec::new(),
                misfit: None,
                cost: callees[0].cost + if elsewhere { 1e12 } else { 0.0 },
            }))
        };
        let (managed, choice) = chosen(&sums, &tables, own.clone(), manage)
            .unwrap()
            .unwrap();
        assert_eq!((choice, managed.cost), (vec![other], wanted.cost));
        let fitted = Bgv::fit(&program, &options, &[]).unwrap();
        assert_eq!(fitted.managed.procs.len(), 2);
    }
}
