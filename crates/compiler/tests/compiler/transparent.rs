// SPDX-License-Identifier: Apache-2.0
//! Outputs that everybody could read without the key are refused with their line. Inside a program such values are
//! allowed: a sum with an encryption of zero, such as x - x, costs no arithmetic.

use ringmill_isa::macros::{MacroOp, MacroProgram, SchemeName, Visibility};
use ringmill_schemes::bgv::{self, Bgv, PlainModulus};

use crate::random::line;
use crate::run::small_params;
use ringmill_compiler::bgv as exact;
use ringmill_compiler::builder::{TraceBuilder, TraceError, Traced};
use ringmill_compiler::ckks::{Compiled, Options};
use ringmill_compiler::{CompileError, Passes, compile};

type Body = fn(&mut TraceBuilder, Traced, Traced, Traced) -> Result<Traced, TraceError>;

fn program(body: Body) -> MacroProgram {
    let mut t = TraceBuilder::new("test", 16).unwrap();
    let x = t.input("x", Visibility::Encrypted, line(1)).unwrap();
    let y = t.input("y", Visibility::Encrypted, line(2)).unwrap();
    let p = t.input("p", Visibility::Plain, line(3)).unwrap();
    let out = body(&mut t, x, y, p).unwrap();
    t.output("out", out, line(99)).unwrap();
    t.finish()
}

fn compiled(body: Body, passes: Passes) -> Result<Compiled, CompileError> {
    let options = Options {
        passes,
        ..Options::given(small_params())
    };
    compile(program(body), &options)
}

const TRANSPARENT: [Body; 9] = [
    |t, x, _, p| {
        let sum = t.add(x, p, line(4))?;
        t.sub(sum, x, line(7))
    },
    |t, x, _, _| t.sub(x, x, line(7)),
    |t, x, _, _| {
        let zero = t.scalar(0.0, None)?;
        t.mul(x, zero, line(7))
    },
    |t, x, _, _| {
        let zeros = t.vector(vec![(0.0, 0.0); 16], None)?;
        t.mul(x, zeros, line(7))
    },
    |t, x, y, _| {
        let (a, b) = (t.add(x, y, line(4))?, t.add(y, x, line(5))?);
        t.sub(a, b, line(7))
    },
    |t, x, y, _| {
        let zero = t.sub(x, x, line(7))?;
        let product = t.mul(zero, y, line(8))?;
        t.rotate(product, 3, line(9))
    },
    |t, x, _, p| {
        let zero = t.sub(x, x, line(4))?;
        t.add(zero, p, line(7))
    },
    |t, x, _, _| {
        let (zero, one) = (t.sub(x, x, line(4))?, t.scalar(1.0, None)?);
        t.add(zero, one, line(7))
    },
    |t, x, _, _| {
        let negated = t.neg(x, line(4))?;
        t.add(x, negated, line(7))
    },
];

#[test]
fn outputs_that_everybody_could_read_are_refused_with_their_line() {
    for (number, body) in TRANSPARENT.into_iter().enumerate() {
        let error = compiled(body, Passes::ALL).unwrap_err();
        assert!(
            matches!(error, CompileError::Transparent { .. }),
            "{number}: {error}"
        );
        assert_eq!(error.loc().map(|l| l.line), Some(7), "{number}: {error}");
        assert!(error.to_string().contains("\"out\""), "{number}: {error}");
    }
    // A transparent output that needs no pass to be found is found without passes.
    let plain = compiled(TRANSPARENT[0], Passes::NONE);
    assert!(matches!(plain, Err(CompileError::Transparent { .. })));
}

#[test]
fn products_of_whole_numbers_with_zero_are_refused() {
    let plain = PlainModulus::batching(11, 20).unwrap();
    let params = bgv::Params::builder(11, plain)
        .prime_bits(&[36; 4], &[60])
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let product = |factor: f64| {
        let mut t = TraceBuilder::new("test", 16).unwrap();
        let x = t.input("x", Visibility::Encrypted, line(1)).unwrap();
        let factor = t.scalar(factor, None).unwrap();
        let product = t.mul(x, factor, line(7)).unwrap();
        t.output("out", product, line(99)).unwrap();
        let mut program = t.finish();
        program.scheme = SchemeName::new("bgv").unwrap();
        compile::<Bgv>(program, &exact::Options::given(params.clone()))
    };
    let error = product(0.0).unwrap_err();
    assert!(
        matches!(error, exact::CompileError::Transparent { .. }),
        "{error}"
    );
    assert_eq!(error.loc().map(|l| l.line), Some(7));
    assert!(product(3.0).is_ok());
}

#[test]
fn parts_that_are_nothing_cost_nothing() {
    let parts: [Body; 4] = [
        |t, x, y, _| {
            let zero = t.sub(x, x, line(4))?;
            t.add(zero, y, line(5))
        },
        |t, x, y, _| {
            let zero = t.scalar(0.0, None)?;
            let nothing = t.mul(x, zero, line(4))?;
            t.sub(y, nothing, line(5))
        },
        |t, x, y, _| {
            let zero = t.sub(x, x, line(4))?;
            t.sub(zero, y, line(5))
        },
        |t, x, y, _| {
            let zero = t.sub(x, x, line(4))?;
            let product = t.square(zero, line(5))?;
            t.add(y, product, line(6))
        },
    ];
    for (number, body) in parts.into_iter().enumerate() {
        let compiled = compiled(body, Passes::ALL).unwrap();
        let idle = |op| matches!(op, MacroOp::Input | MacroOp::Output | MacroOp::Neg);
        let work: Vec<_> = compiled
            .managed
            .instrs
            .iter()
            .map(|i| i.op)
            .filter(|&op| !idle(op))
            .collect();
        assert!(
            work.iter().all(|&op| op == MacroOp::Modswitch),
            "{number}: {work:?}"
        );
    }
}
