// SPDX-License-Identifier: Apache-2.0
//! A traced program stores equal constant vectors once.

use ringmill_compiler::builder::{TraceBuilder, TraceError, Unary};
use ringmill_isa::macros::{MacroImm, MacroOp, Visibility};

#[test]
fn equal_vectors_have_one_number() {
    let mut t = TraceBuilder::new("vectors", 2).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    let vector = |last: f64| vec![(1.0, 0.0), (2.0, last)];
    let more = vec![(1.0, 0.0), (3.0, 0.0)];
    let lasts = [0.0, -0.0, 0.5, 0.0, -0.0].map(vector);
    for (number, values) in lasts.into_iter().chain([more.clone()]).enumerate() {
        let constant = t.vector(values, None).unwrap();
        let product = t.mul(x, constant, None).unwrap();
        t.output(&format!("y{number}"), product, None).unwrap();
    }
    let program = t.finish();
    let bits =
        |v: &[(f64, f64)]| -> Vec<_> { v.iter().map(|z| (z.0.to_bits(), z.1.to_bits())).collect() };
    let kept: Vec<_> = program.data.iter().map(|v| bits(v)).collect();
    let expected = [vector(0.0), vector(-0.0), vector(0.5), more];
    assert_eq!(kept, expected.map(|v| bits(&v)));
    // The constant vectors by which the outputs are multiplied.
    let numbers = program.instrs.iter().filter(|i| i.op == MacroOp::Mul);
    let numbers = numbers.map(|product| {
        let mut made = program.instrs.iter();
        let encoded = made.find(|i| i.op == MacroOp::Encode && i.dst[0] == product.src[1]);
        encoded.unwrap().imm.clone()
    });
    let expected = [0, 1, 2, 0, 1, 3].map(MacroImm::Data);
    assert_eq!(numbers.collect::<Vec<_>>(), expected);
}

#[test]
fn an_operation_of_a_constant_that_overflows_is_refused() {
    let mut t = TraceBuilder::new("overflow", 2).unwrap();
    let scalar = t.scalar(1e308, None).unwrap();
    let vector = t.vector(vec![(1.0, 0.0), (-1e308, 0.0)], None).unwrap();
    for (constant, slot) in [(scalar, 0), (vector, 1)] {
        match t.unary(Unary::TwoReal, constant, None) {
            Err(TraceError::Overflow { index, value, .. }) => {
                assert_eq!((index, value.is_infinite()), (slot, true));
            }
            other => panic!("{other:?}"),
        }
        t.unary(Unary::Neg, constant, None).unwrap();
    }
}
