// SPDX-License-Identifier: Apache-2.0
//! Solver proofs of arithmetic modules, queues and the command unit: the property modules of `crates/hdl/formal`
//! instantiate the RTL itself.

use std::num::NonZeroU32;
use std::path::Path;

use ringmill_hdl::leaves::{MULTIPLIERS, WIDE_MULTIPLIERS};
use ringmill_hdl::{Hdl, Proof, Top, Verdict};

use crate::common::failure::{Check, Failure, ensure};
use crate::common::faulty::Faulty;
use crate::rtl::support::hdl;

/// Returns the RTL in these folders, the project's or a faulty copy, together with the property modules.
pub fn with_properties(rooms: &[&Path]) -> Hdl {
    let formal = Path::new(env!("CARGO_MANIFEST_DIR")).join("formal");
    let roots: Vec<&Path> = rooms.iter().copied().chain([formal.as_path()]).collect();
    hdl().with_sources(&roots).unwrap_or_else(|e| panic!("{e}"))
}

fn rooms() -> Hdl {
    let rtl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl");
    let rooms = ["lib", "arith", "ntt", "polymul", "torus"].map(|room| rtl.join(room));
    with_properties(&rooms.each_ref().map(|r| r.as_path()))
}

/// Checks that the solver proves every assertion of `top`, within `seconds` seconds. The mismatch of a refuted one has
/// the inputs that break it.
pub fn check_proved(hdl: &Hdl, top: &Top, seconds: u32) -> Check {
    all_proved(top, hdl.prove(top, seconds)?)
}

/// Checks that the solver proves every assertion of `top` in every cycle, by induction over `steps` cycles.
pub fn check_always(hdl: &Hdl, top: &Top, steps: u32) -> Check {
    let steps = NonZeroU32::new(steps).expect("one step at least");
    all_proved(top, hdl.prove_always(top, steps, 60)?)
}

fn all_proved(top: &Top, proofs: Vec<Proof>) -> Check {
    for proof in proofs {
        println!("{top}: {} in {} s", proof.assertion, proof.seconds);
        ensure!(proof.verdict == Verdict::Proved, "{top}: {proof:?}");
    }
    Ok(())
}

fn prove(top: Top, seconds: u32) {
    check_proved(&rooms(), &top, seconds).unwrap();
}

#[test]
fn adder_subtractor_and_halver() {
    prove(Top::new("prop_mod_addsub").int("Width", 32), 60);
}

#[test]
fn integer_multiplier_at_small_width() {
    prove(Top::new("prop_mul_tiled"), 60);
}

/// The integer multiplier as the 32-bit machines use it.
#[test]
fn tiles_of_the_integer_multiplier_at_full_width() {
    prove(Top::new("prop_mul_tiles"), 60);
}

/// The 60-bit multiplier's tiles are products of slices at their places, and its adder tree sums any operands. The
/// trees that are proved here have fewer operands, so that they have one and two levels.
#[test]
fn tiles_and_sums_of_the_wide_multiplier() {
    prove(Top::new("prop_mul_sparse"), 60);
    for operands in [3, 4] {
        prove(Top::new("prop_add_tree").int("Operands", operands), 120);
    }
}

/// Digits of the bootstrapping engine, with the paper's bases, a wide and a narrow one, and digits that have all 32
/// bits.
#[test]
fn decomposition() {
    for (log_base, levels) in [(7, 3), (10, 2), (16, 1), (2, 8), (4, 8), (16, 2)] {
        let top = Top::new("prop_torus_digits").int("Levels", levels);
        prove(top.int("LogBase", log_base), 120);
    }
}

/// A butterfly's results, the sum of a product's slices, and the sum of products of the bootstrapping engine.
#[test]
fn sums_of_the_bootstrapping_engine() {
    prove(Top::new("prop_torus_ends"), 120);
    prove(Top::new("prop_torus_join"), 300);
    prove(Top::new("prop_torus_sum").int("Terms", 2), 120);
}

#[test]
fn queue_and_skid_buffer_always() {
    let hdl = rooms();
    for depth in [2, 5] {
        let top = Top::new("prop_fifo").int("Depth", depth);
        check_always(&hdl, &top, 1).unwrap();
    }
    check_always(&hdl, &Top::new("prop_skid"), 1).unwrap();
}

#[test]
fn commands_always() {
    check_always(&rooms(), &Top::new("prop_polymul_cmd"), 2).unwrap();
}

#[test]
fn word_level_step_at_full_width() {
    prove(Top::new("prop_wm_step"), 120);
}

#[test]
fn word_level_reduction_at_full_width() {
    prove(Top::new("prop_red_wordmont"), 120);
}

#[test]
fn fixed_word_reductions_at_full_width() {
    prove(Top::new("prop_red_mont"), 120);
    let friendly = Top::new("prop_red_mont").int("Low", 17).int("Word", 17);
    prove(friendly.int("Steps", 2), 120);
}

#[test]
fn fixed_word_reductions_whole_at_small_width() {
    prove(Top::new("prop_mont_small"), 120);
    let narrow = Top::new("prop_mont_small").int("Low", 3).int("Word", 3);
    prove(narrow, 120);
}

/// The reduction is proved at 32 bits, where it has two steps. The four steps at 61 bits are like these, except that
/// each makes its sum in two parts.
#[test]
fn wide_multiplier_at_full_width() {
    prove(WIDE_MULTIPLIERS[0].top("prop_wide_red"), 120);
    for width in [32, 61] {
        prove(Top::new("prop_wide_product").int("Width", width), 60);
    }
}

#[test]
#[ignore = "minutes; `make full` runs it"]
fn every_wide_multiplier() {
    for multiplier in WIDE_MULTIPLIERS {
        prove(multiplier.top("prop_wide_red"), 900);
    }
    for (width, operands) in [(32, 3), (61, 8)] {
        let tree = Top::new("prop_add_tree").int("Operands", operands);
        prove(tree.int("Width", 2 * width).int("Radix", 4), 900);
    }
}

/// The longer proofs, with limits on time that leave room on a slow computer.
#[test]
#[ignore = "minutes; `make full` runs it"]
fn every_reducer() {
    prove(Top::new("prop_mod_addsub"), 600);
    for word in 9..=17 {
        for three in [0, 1] {
            let top = Top::new("prop_red_wordmont")
                .int("Word", word)
                .int("Three", three);
            prove(top, 900);
        }
    }
    prove(Top::new("prop_mod_mul"), 900);
    prove(Top::new("prop_mod_mul_ntt"), 900);
    prove(Top::new("prop_red_solinas52"), 900);
    prove(Top::new("prop_torus_red"), 1800);
    prove(Top::new("prop_torus_sum").int("Terms", 6), 900);
    for multiplier in MULTIPLIERS {
        if let Some(q) = multiplier.q {
            let width = u64::from(multiplier.width);
            for module in [
                "prop_red_sparse",
                "prop_red_lazy",
                "prop_mod_mul_sparse",
                "prop_mul_sparse",
            ] {
                prove(Top::new(module).int("Width", width).int("Q", q), 900);
            }
            let tree = Top::new("prop_add_tree").int("Operands", 12);
            prove(tree.int("Width", 2 * width), 900);
        }
    }
}

/// Proofs by induction fail for wrong RTL.
#[test]
fn a_wrong_queue_is_refuted() {
    for (file, from, to, property, steps) in [
        (
            "lib/rm_fifo.sv",
            "valid_o & ready_i",
            "ready_i",
            "prop_fifo",
            1,
        ),
        (
            "lib/rm_skid.sv",
            "spare_valid_q ? spare_q : data_i",
            "data_i",
            "prop_skid",
            1,
        ),
        (
            "polymul/rm_polymul_rule.sv",
            "state_i.array_busy || load_here || unload_here",
            "state_i.array_busy || unload_here",
            "prop_polymul_cmd",
            2,
        ),
    ] {
        let copy = Faulty::copy(file, from, to);
        let hdl = with_properties(&[copy.root()]);
        let outcome = check_always(&hdl, &Top::new(property), steps);
        assert!(matches!(outcome, Err(Failure::Mismatch(_))), "{outcome:?}");
    }
}

/// Proofs fail for wrong RTL.
#[test]
#[ignore = "a proof of half a minute; `make full` runs it"]
fn a_wrong_step_is_refuted() {
    for (file, from, to, property) in [
        (
            "arith/rm_wm_step.sv",
            "OutWidth'(high) + OutWidth'(prod)",
            "OutWidth'(high) - OutWidth'(prod)",
            "prop_wm_step",
        ),
        // A sum one bit short.
        (
            "arith/rm_mont_step.sv",
            "rm_arith_pkg::max2(InWidth - Low, OutWidth + Extra)",
            "InWidth - Low",
            "prop_red_mont",
        ),
        // A word of m that is q's inverse only where q_H is even.
        (
            "arith/rm_wide_step.sv",
            "Extra'(triple)",
            "qh[Extra-1:0]",
            "prop_wide_red",
        ),
        // A digit that rounds down, and one that is not reduced.
        (
            "torus/rm_torus_pkg.sv",
            "32'd1 << (31 - levels * log_base) : '0",
            "32'd0 : '0",
            "prop_torus_digits",
        ),
        (
            "torus/rm_torus_digits.sv",
            "? -Half : P - Half",
            "? -Half : P",
            "prop_torus_digits",
        ),
        // Twice P taken off where once is enough.
        (
            "torus/rm_torus_ends.sv",
            "|sum_q[12:1]",
            "|sum_q[12:0]",
            "prop_torus_ends",
        ),
        // A carry of the lower half that is lost.
        (
            "torus/rm_torus_join.sv",
            "carry_q <= low23_q[52];",
            "carry_q <= 1'b0;",
            "prop_torus_join",
        ),
        // Tiles at each other's places.
        (
            "arith/rm_mul_tiled.sv",
            "i * TileA + j * TileB",
            "j * TileA + i * TileB",
            "prop_mul_sparse",
        ),
        // A carry that does not reach the upper part.
        (
            "arith/rm_add_parts.sv",
            "High'($signed(sum_q[g][Low+:Extra]))",
            "'0",
            "prop_add_tree",
        ),
    ] {
        let copy = Faulty::copy(file, from, to);
        let hdl = with_properties(&[copy.root()]);
        let outcome = check_proved(&hdl, &Top::new(property), 120);
        assert!(matches!(outcome, Err(Failure::Mismatch(_))), "{outcome:?}");
    }
}
