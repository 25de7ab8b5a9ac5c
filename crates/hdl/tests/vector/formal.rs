//! Solver proofs of the vector machine's arithmetic.

use std::path::Path;

use ringmill_hdl::{Hdl, Top, Verdict};

use crate::failure::{Check, ensure};
use crate::setup::hdl;

/// The RTL below `rtl` with the property modules beside it.
pub fn with_properties(rtl: &Path) -> Hdl {
    let formal = Path::new(env!("CARGO_MANIFEST_DIR")).join("formal");
    let rooms = [rtl.join("vector"), rtl.join("lib")];
    let roots = [rooms[0].as_path(), rooms[1].as_path(), formal.as_path()];
    hdl().with_sources(&roots).unwrap_or_else(|e| panic!("{e}"))
}

fn project() -> Hdl {
    with_properties(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl"))
}

/// Every assertion of `top` holds.
pub fn check_proved(hdl: &Hdl, top: &Top, seconds: u32) -> Check {
    for proof in hdl.prove(top, seconds)? {
        println!("{top}: {} in {} s", proof.assertion, proof.seconds);
        ensure!(proof.verdict == Verdict::Proved, "{top}: {proof:?}");
    }
    Ok(())
}

/// Halves and sums at full width.
#[test]
fn sums_and_differences() {
    check_proved(&project(), &Top::new("prop_vector_halfsum"), 120).unwrap();
}

#[test]
fn reduction_at_full_width() {
    check_proved(&project(), &Top::new("prop_vector_red"), 120).unwrap();
}

/// The friendly multiplier and the generic one are one function where both are defined.
#[test]
fn friendly_and_generic_multipliers_are_equal_at_small_width() {
    let top = Top::new("prop_vector_mul").int("Width", 6);
    check_proved(&project(), &top, 120).unwrap();
}

#[test]
#[ignore = "wider and deeper; `make full` runs it"]
fn wider_multipliers_are_equal() {
    for (width, deep) in [(6, 1), (8, 0), (8, 1)] {
        let top = Top::new("prop_vector_mul")
            .int("Width", width)
            .int("Deep", deep);
        check_proved(&project(), &top, 900).unwrap();
    }
}
