// SPDX-License-Identifier: Apache-2.0
//! Unrolled keys bundled in coefficient form.

use ringmill_hdl::Hdl;
use ringmill_machines::torus::{Schedule, Shape, Sizes, TorusError};

use crate::common::setup::{hdl, seed};
use crate::torus::bench::{Failure, check, key_switch};
use crate::torus::mutants::{Fault, all_caught};
use crate::torus::refusals::check_refusals;

/// Two units of two butterflies, positions two by two.
fn small(
    unroll: usize,
    dim: usize,
    places: usize,
    change: impl Fn(&mut Sizes),
) -> Result<Shape, TorusError> {
    let mut sizes = Sizes {
        log_n: 6,
        levels: 2,
        log_base: 7,
        dim,
        unroll,
        units: 2,
        log_lanes: 1,
        log_pos: 0,
        places,
        group: places.div_ceil(2),
        key_beats: 0,
        switch: key_switch((2, 5), (1, 4, 2)),
    };
    change(&mut sizes);
    sizes.key_beats = (1 << (sizes.log_n - sizes.log_pos - 1)) << (sizes.unroll + 1);
    Shape::scheduled(sizes, Schedule::Coefficients)
}

/// Three ciphertexts, two of them together; a last step of one bit.
fn three(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    check(hdl, small(3, 25, 3, |_| {})?, seed)
}

/// One ciphertext, whose bundles wait for the key.
fn late(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    let shape = small(3, 13, 1, |s| {
        (s.log_n, s.levels, s.log_lanes) = (7, 1, 3);
    });
    check(hdl, shape?, seed)
}

/// Twelve butterflies and three digits, two ciphertexts, a last step of one bit.
pub fn toy() -> Shape {
    let shape = small(3, 25, 2, |s| {
        (s.log_n, s.levels, s.units, s.log_lanes) = (7, 3, 3, 2);
    });
    shape.unwrap()
}

#[test]
#[ignore = "half a minute, an engine of its own; `make full` runs it"]
fn three_bits_a_step() {
    check(hdl(), toy(), seed()).unwrap();
}

const GATHER: &str = "rm_torus_gather.sv";
const TURN: &str = "rm_torus_gather_turn.sv";
const COEFS: &str = "rm_torus_coefs.sv";
const SEQ: &str = "rm_torus_seq.sv";
const UNIT: &str = "rm_torus_unit.sv";

const FAULTS: [Fault; 25] = [
    // What comes.
    Fault(GATHER, "held_q != 2'd2", "held_q != 2'd3", three),
    Fault(GATHER, "(store_first ? '0", "(1'b0 ? '0", three),
    Fault(
        GATHER,
        "Unroll'((1 << LastBits) - 1)",
        "Unroll'(Patterns)",
        three,
    ),
    // Which bundle.
    Fault(GATHER, "!begun_q[place_q]", "1'b1", three),
    Fault(GATHER, "~free_i) | begins", "~free_i)", three),
    Fault(
        GATHER,
        "freed = run_last && last_place",
        "freed = run_last",
        three,
    ),
    Fault(
        GATHER,
        "used_d[u] = Unroll'(u) <= last_pattern(step_q)",
        "used_d[u] = 1'b1",
        three,
    ),
    // The sum.
    Fault(GATHER, "= ~plain_late[j][w]", "= plain_late[j][w]", three),
    Fault(
        GATHER,
        "ones_d = (Unroll + 1)'(1);",
        "ones_d = (Unroll + 1)'(0);",
        three,
    ),
    Fault(GATHER, "+ 32'(ones)", "+ 32'd1", three),
    Fault(
        GATHER,
        "total_q[31] ? 32'd4095",
        "total_q[31] ? 32'd4096",
        three,
    ),
    Fault(GATHER, "big_q <= total_q[31]", "big_q <= 1'b0", three),
    // The turn.
    Fault(TURN, "~{1'b0, shift}", "-{1'b0, shift}", three),
    Fault(TURN, " ^ exponent_i[LogN]", "", three),
    Fault(
        TURN,
        "is_near ? near_negative : far_negative_q",
        "near_negative",
        three,
    ),
    Fault(TURN, "lanes_q2[k] ?", "1'b0 ?", three),
    // What the units take.
    Fault(COEFS, "put_row[LogH] == (half == 1)", "1'b1", three),
    Fault(COEFS, "{get_q[i][32]}", "{1'b0}", three),
    Fault(
        COEFS,
        "rows[get_slot_i][get_column_i]",
        "rows[get_slot_i][0]",
        three,
    ),
    Fault(
        UNIT,
        "BothWidth'({write_place_i, write_odd_i})",
        "'0",
        three,
    ),
    // When.
    Fault(SEQ, "step_q[0] ^ ahead_q", "step_q[0]", three),
    Fault(SEQ, "(group & ~gathered_q) == '0", "1'b1", three),
    Fault(
        SEQ,
        "transform_q == BodyKey && pass",
        "transform_q == MaskKey && pass",
        three,
    ),
    Fault(SEQ, "gathered_d & ~group", "gathered_d", late),
    Fault(
        SEQ,
        "BodyKey: forward_next = !ahead_q",
        "BodyKey: forward_next = 1'b0",
        three,
    ),
];

#[test]
#[ignore = "twenty-five models; `make full` runs it"]
fn every_fault_is_caught() {
    all_caught(&FAULTS);
}

#[test]
#[ignore = "a model of its own; `make full` runs it"]
fn wrong_keys_are_refused() {
    check_refusals(hdl(), small(3, 24, 3, |_| {}).unwrap(), seed()).unwrap();
}

#[test]
#[ignore = "other engines; `make full` runs it"]
fn engines_of_other_sizes() {
    for (unroll, dim, places, change) in [
        (2, 9, 1, (7, 3, 7, 3, 2, 1, 1)),
        (3, 7, 4, (6, 2, 10, 4, 2, 0, 4)),
        (3, 9, 2, (11, 3, 7, 2, 5, 4, 2)),
        (2, 7, 5, (4, 4, 4, 8, 2, 0, 3)),
        (3, 4, 3, (10, 3, 7, 2, 3, 2, 1)),
    ] {
        let shape = small(unroll, dim, places, |s| {
            (
                s.log_n,
                s.levels,
                s.log_base,
                s.units,
                s.log_lanes,
                s.log_pos,
                s.group,
            ) = change;
        });
        let shape = shape.unwrap();
        check(hdl(), shape, seed()).unwrap_or_else(|e| panic!("{shape:?}: {e:?}"));
    }
}
