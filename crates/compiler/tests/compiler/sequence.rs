// SPDX-License-Identifier: Apache-2.0
//! The error of a program that is too deep counts its products in sequence.

use ringmill_compiler::builder::{TraceBuilder, Traced};
use ringmill_compiler::options::Options;
use ringmill_compiler::{CompileError, Compiles, Sequence, compile};
use ringmill_isa::macros::{MacroProgram, SchemeName, Visibility};
use ringmill_schemes::bfv::Bfv;
use ringmill_schemes::bgv::Bgv;

use crate::random::line;

/// Returns a program of `count` products in sequence, one on each line from line 10 on, and a rotation.
pub fn powers(count: u32, slots: u32, scheme: &str) -> MacroProgram {
    let mut t = TraceBuilder::new("powers", slots).unwrap();
    let x: Traced = t.input("x", Visibility::Encrypted, line(1)).unwrap();
    let mut y = x;
    for i in 0..count {
        y = t.mul(y, x, line(10 + i)).unwrap();
    }
    let y = t.rotate(y, 1, line(90)).unwrap();
    t.output("y", y, line(99)).unwrap();
    let mut program = t.finish();
    program.scheme = SchemeName::new(scheme).unwrap();
    program
}

/// Asserts that the error names the first product that does not fit, and that the products before it compile.
fn too_deep<S: Compiles>() {
    let refused = compile(powers(60, 16, S::NAME), &Options::<S>::default()).unwrap_err();
    let CompileError::TooNoisy {
        sequence: Some(Sequence { holds, needs }),
        ..
    } = refused
    else {
        panic!("{refused}");
    };
    assert_eq!(needs, 60);
    assert!((5..60).contains(&holds), "{holds}");
    assert_eq!(refused.loc().unwrap().line, 10 + holds);
    let said = format!("multiplies 60 times in sequence, and parameters hold {holds}: ");
    assert!(refused.to_string().contains(&said), "{refused}");
    // A program with only the products before it compiles.
    compile(powers(holds, 16, S::NAME), &Options::<S>::default()).unwrap();
}

#[test]
fn bfv_names_the_first_product_that_does_not_fit() {
    too_deep::<Bfv>();
}

#[test]
fn bgv_names_the_first_product_that_does_not_fit() {
    too_deep::<Bgv>();
}
