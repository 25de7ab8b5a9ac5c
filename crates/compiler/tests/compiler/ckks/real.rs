// SPDX-License-Identifier: Apache-2.0
//! Integer constants of CKKS programs become the doubles that equal them, or are refused.

use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::{CompileError, Compiles};
use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroValue, Visibility};
use ringmill_schemes::ckks::Ckks;

/// Returns the program that multiplies its input by an integer.
fn multiple(integer: i128) -> MacroProgram {
    let mut t = TraceBuilder::new("multiple", 8).unwrap();
    let x = t.input("x", Visibility::Encrypted, None).unwrap();
    t.output("y", x, None).unwrap();
    let mut program = t.finish();
    let made = MacroValue(program.types.len() as u32);
    program.types.push(program.types[0]);
    let product = MacroInstr {
        op: MacroOp::Mulc,
        dst: vec![made],
        src: vec![MacroValue(0)],
        imm: MacroImm::Integer(integer),
        loc: None,
    };
    program.instrs.insert(1, product);
    program.instrs[2].src = vec![made];
    program
}

#[test]
fn integers_are_exact_or_refused() {
    for (integer, real) in [
        (0, Some(0.0)),
        (-7, Some(-7.0)),
        ((1 << 53) - 1, Some(9_007_199_254_740_991.0)),
        ((1 << 53) + 1, None),
        ((1 << 53) + 2, Some(9_007_199_254_740_994.0)),
        (i128::MIN, Some(-(2f64.powi(127)))),
        (i128::MAX, None),
        (12_345_678_901_234_567_890, None),
        (3 << 120, Some(3.0 * 2f64.powi(120))),
    ] {
        let found = match Ckks::constants(multiple(integer)) {
            Ok(program) => Some(program.instrs[1].imm.clone()),
            Err(CompileError::InexactInteger { value, .. }) if value == integer => None,
            Err(other) => panic!("{integer}: {other}"),
        };
        let expected = real.map(|value| MacroImm::Constant { value, scale: None });
        assert_eq!(found, expected, "{integer}");
    }
}
