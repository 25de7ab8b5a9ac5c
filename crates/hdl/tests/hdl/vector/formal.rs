// SPDX-License-Identifier: Apache-2.0
//! Solver proofs of the vector machine's arithmetic.

use std::num::NonZeroU32;
use std::path::Path;

use ringmill_hdl::{Hdl, Proof, Top, Verdict};

use crate::common::failure::{Check, ensure};
use crate::common::setup::hdl;

/// Returns the RTL in the folders `vector`, `rivals`, `lib` and `arith` of `rtl`, and the property modules in this
/// crate's folder `formal`.
pub fn with_properties(rtl: &Path) -> Hdl {
    let formal = Path::new(env!("CARGO_MANIFEST_DIR")).join("formal");
    let rooms = [
        rtl.join("vector"),
        rtl.join("rivals"),
        rtl.join("lib"),
        rtl.join("arith"),
        formal,
    ];
    let roots = rooms.each_ref().map(std::path::PathBuf::as_path);
    hdl().with_sources(&roots).unwrap_or_else(|e| panic!("{e}"))
}

fn project() -> Hdl {
    with_properties(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl"))
}

fn check_all(top: &Top, proofs: Vec<Proof>) -> Check {
    for proof in proofs {
        println!("{top}: {} in {} s", proof.assertion, proof.seconds);
        ensure!(proof.verdict == Verdict::Proved, "{top}: {proof:?}");
    }
    Ok(())
}

/// Every assertion of `top` holds, registers transparent.
pub fn check_proved(hdl: &Hdl, top: &Top, seconds: u32) -> Check {
    check_all(top, hdl.prove(top, seconds)?)
}

/// Every assertion of `top` holds in every cycle, by induction over so many.
pub fn check_always(hdl: &Hdl, top: &Top, steps: u32, seconds: u32) -> Check {
    let steps = NonZeroU32::new(steps).expect("cycles");
    check_all(top, hdl.prove_always(top, steps, seconds)?)
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
    for top in [
        Top::new("prop_vector_mul").int("Width", 6),
        Top::new("prop_vector_mul_whole"),
        Top::new("prop_vector_mul_whole").int("Friendly", 0),
    ] {
        check_proved(&project(), &top, 120).unwrap();
    }
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

/// Small instances of the processing elements are what `vector_model_pkg` says of them by definition.
#[test]
fn butterflies_permutations_and_powers_at_small_width() {
    let hdl = project();
    for top in [
        Top::new("prop_vector_butterfly"),
        Top::new("prop_vector_butterfly").int("Product", 0),
        Top::new("prop_vector_net"),
        Top::new("prop_vector_net").int("Affine", 0),
        Top::new("prop_vector_turn"),
        Top::new("prop_vector_turn").int("LogLanes", 4),
        Top::new("prop_vector_factory"),
    ] {
        check_proved(&hdl, &top, 120).unwrap();
    }
}

/// What keeps tables, from cycle to cycle; an item takes five ranks.
#[test]
fn a_seed_in_every_cycle() {
    check_always(&project(), &Top::new("prop_vector_seed"), 7, 120).unwrap();
}

/// Where items stop and go on, whatever enters and leaves.
#[test]
fn an_elastic_pipeline_in_every_cycle() {
    for top in [
        Top::new("prop_vector_pipe"),
        Top::new("prop_vector_pipe")
            .int("Stages", 9)
            .int("Period", 3)
            .int("Pairs", 1),
    ] {
        check_always(&project(), &top, 1, 120).unwrap();
    }
}

/// What keeps registers and an accumulator, from cycle to cycle; an item takes six ranks.
#[test]
#[ignore = "a dozen seconds; `make full` runs it"]
fn a_lane_of_sums_in_every_cycle() {
    check_always(&project(), &Top::new("prop_vector_mac_lane"), 7, 900).unwrap();
}

/// Configuration of automorphisms of radix 32, switches of 16 lanes, powers of radix 8.
#[test]
#[ignore = "wider; `make full` runs it"]
fn wider_permutations_and_powers() {
    let hdl = project();
    for top in [
        Top::new("prop_vector_net").int("LogLanes", 4),
        Top::new("prop_vector_turn").int("LogLanes", 5),
        Top::new("prop_vector_factory").int("LogRadix", 3),
    ] {
        check_proved(&hdl, &top, 900).unwrap();
    }
}
