// SPDX-License-Identifier: Apache-2.0
//! Solver proofs of the vector machine's arithmetic, permutations, pipelines and tables.

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

/// Checks that the solver proves every assertion of `top`, with registers made transparent, within `seconds` seconds.
pub fn check_proved(hdl: &Hdl, top: &Top, seconds: u32) -> Check {
    check_all(top, hdl.prove(top, seconds)?)
}

/// Checks that the solver proves every assertion of `top` in every cycle, by induction over `steps` cycles.
pub fn check_always(hdl: &Hdl, top: &Top, steps: u32, seconds: u32) -> Check {
    let steps = NonZeroU32::new(steps).expect("cycles");
    check_all(top, hdl.prove_always(top, steps, seconds)?)
}

/// Sums, differences and their halves at full width.
#[test]
fn sums_and_differences() {
    check_proved(&project(), &Top::new("prop_vector_halfsum"), 120).unwrap();
}

#[test]
fn reduction_at_full_width() {
    check_proved(&project(), &Top::new("prop_vector_red"), 120).unwrap();
}

/// The multiplier for Montgomery-friendly moduli and the generic one return the same words for the moduli that both
/// take.
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

/// Small instances of the processing elements compute what `vector_model_pkg` defines.
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

/// The module that keeps the tables of seeds is right in every cycle. An item takes five ranks in it.
#[test]
fn a_seed_in_every_cycle() {
    check_always(&project(), &Top::new("prop_vector_seed"), 7, 120).unwrap();
}

/// Items of an elastic pipeline stop and go on as they should, whatever enters and leaves.
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

/// A lane with registers and an accumulator is right in every cycle. An item takes six ranks in it.
#[test]
#[ignore = "a dozen seconds; `make full` runs it"]
fn a_lane_of_sums_in_every_cycle() {
    check_always(&project(), &Top::new("prop_vector_mac_lane"), 7, 900).unwrap();
}

/// Larger instances: permutation networks of 16 lanes, automorphisms at radix 32, and powers at radix 8.
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
