// SPDX-License-Identifier: Apache-2.0
//! Products in sequence of programs that are too deep.

use ringmill_compiler::builder::{TraceBuilder, Traced};
use ringmill_compiler::options::Options;
use ringmill_compiler::{CompileError, Compiles, Sequence, compile};
use ringmill_isa::macros::{MacroProgram, SchemeName, Visibility};
use ringmill_schemes::bfv::Bfv;
use ringmill_schemes::bgv::Bgv;

use crate::random::line;

/// Products in sequence, one a line from line 10 on, then a rotation.
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

/// The first product that does not fit is the one after those that do.
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
    // As many products as are held do fit.
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
