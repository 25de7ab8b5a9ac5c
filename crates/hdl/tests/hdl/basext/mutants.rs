// SPDX-License-Identifier: Apache-2.0
//! Single-line faults; the checks must catch each.

use ringmill_hdl::{Hdl, HdlError};
use ringmill_machines::basext::{Shape, Word};

use crate::basext::bench::{Case, Failure, Order, check};
use crate::basext::refusals::check_refusals;
use crate::basext::{rival_mutants, shared_mutants, small};
use crate::common::faulty::Faulty;
use crate::common::setup::{hdl, seed};

pub type Check = fn(&Hdl, u64) -> Result<(), Failure>;

/// A line of the RTL, changed, and the check that must notice.
pub struct Fault(
    pub &'static str,
    pub &'static str,
    pub &'static str,
    pub Check,
);

fn deep(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    let shape = Shape::new(Word::Bits32, 1, 8..=13, 3, 2).unwrap();
    let case = Case {
        l: 3,
        k: 2,
        log_n: 8,
        order: Order::Natural,
        stalls: false,
        polynomials: 1,
    };
    check(hdl, shape, &[case], seed).map(|_| ())
}

/// So often that the output stalls for much longer than the input, which fills the queue.
fn stalls(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    let case = Case {
        l: 1,
        k: 2,
        log_n: 8,
        order: Order::Natural,
        stalls: true,
        polynomials: 1,
    };
    check(hdl, small(Word::Bits32, 1), &vec![case; 30], seed).map(|_| ())
}

fn extends(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    let case = |l, k, stalls| Case {
        l,
        k,
        log_n: 8,
        order: Order::Random,
        stalls,
        polynomials: 1,
    };
    let cases = [
        case(3, 2, false),
        case(1, 2, false),
        case(2, 1, true),
        case(5, 3, true),
    ];
    check(hdl, small(Word::Bits32, 4), &cases, seed).map(|_| ())
}

fn refuses(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    check_refusals(hdl, small(Word::Bits32, 4), seed)
}

const QUICK: [Fault; 2] = [
    // A last sum that Post-Sum's begin keeps from memory.
    Fault(
        "basext/rm_basext_folded.sv",
        ".we_i(put_valid_q & !post_put)",
        ".we_i(put_valid_q & !post)",
        extends,
    ),
    // A wrong stream that is not swallowed.
    Fault(
        "basext/rm_basext_job.sv",
        "long_d = !in_last_i;",
        "long_d = 1'b0;",
        refuses,
    ),
];

const FAULTS: [Fault; 46] = [
    // Deep memories.
    Fault(
        "basext/rm_basext_lane.sv",
        "rm_basext_pkg::read_ahead(Depth) != 0",
        "1'b0",
        deep,
    ),
    Fault(
        "basext/rm_basext_folded.sv",
        ".Depth(1 + Ahead)",
        ".Depth(1)",
        deep,
    ),
    Fault(
        "basext/rm_basext_folded.sv",
        ".d_i(source_late)",
        ".d_i(source)",
        deep,
    ),
    // Lanes.
    Fault(
        "basext/rm_basext_lane.sv",
        "post_i ? alpha : mu",
        "mu",
        extends,
    ),
    Fault(
        "basext/rm_basext_lane.sv",
        "post_i ? missing_q : mu",
        "mu",
        extends,
    ),
    Fault(
        "basext/rm_basext_lane.sv",
        ".a_i(first_i ? '0 : p_old)",
        ".a_i(p_old)",
        extends,
    ),
    Fault(
        "basext/rm_basext_lane.sv",
        ".a_i(first_i ? '0 : s_old)",
        ".a_i(s_old)",
        extends,
    ),
    Fault(
        "basext/rm_basext_lane.sv",
        ".wdata_i(s_sum_q)",
        ".wdata_i(out_q)",
        extends,
    ),
    Fault(
        "basext/rm_basext_lane.sv",
        "post_put_i ? difference : p_sum",
        "p_sum",
        extends,
    ),
    Fault(
        "basext/rm_basext_lane.sv",
        ".q_i({(Steps + 1) {target_i}})",
        ".q_i(source_i)",
        extends,
    ),
    Fault(
        "basext/rm_basext_lane.sv",
        ".q_i({(Steps + 1) {redundant_i}})",
        ".q_i(source_i)",
        extends,
    ),
    Fault(
        "basext/rm_basext_lane.sv",
        ".raddr_i(post_i ? post_addr_i : sum_addr_i)",
        ".raddr_i(sum_addr_i)",
        extends,
    ),
    Fault(
        "basext/rm_basext_lane.sv",
        ".wdata_i(store_data_i)",
        ".wdata_i(data_i)",
        extends,
    ),
    // Broadcast and what goes with a coefficient.
    Fault(
        "basext/rm_basext_folded.sv",
        "post ? product : target_const",
        "target_const",
        extends,
    ),
    Fault(
        "basext/rm_basext_folded.sv",
        "post ? inverse : redundant_const",
        "redundant_const",
        extends,
    ),
    Fault(
        "basext/rm_basext_folded.sv",
        ".Depth(Mul)",
        ".Depth(Mul - 1)",
        extends,
    ),
    Fault(
        "basext/rm_basext_folded.sv",
        "store_addr_q <= addr",
        "store_addr_q <= addr + 1'b1",
        extends,
    ),
    Fault(
        "basext/rm_basext_folded.sv",
        "add_first_q <= sum_first",
        "add_first_q <= first",
        extends,
    ),
    Fault(
        "basext/rm_basext_folded.sv",
        ".first_i(add_first_q)",
        ".first_i(sum_first)",
        extends,
    ),
    Fault(
        "basext/rm_basext_folded.sv",
        ".waddr_i(put_addr_q)",
        ".waddr_i(add_addr_q)",
        extends,
    ),
    Fault(
        "basext/rm_basext_folded.sv",
        "sum_valid & sum_last & !post",
        "sum_valid & !post",
        extends,
    ),
    Fault(
        "basext/rm_basext_folded.sv",
        "put_valid_q & put_give_q & put_last_q",
        "put_valid_q & put_give_q",
        extends,
    ),
    Fault(
        "basext/rm_basext_folded.sv",
        ".valid_i(put_valid_q & put_give_q)",
        ".valid_i(put_valid_q)",
        extends,
    ),
    Fault(
        "basext/rm_basext_folded.sv",
        ".data_i(data_late[t])",
        ".data_i(data_q[t])",
        extends,
    ),
    // Control.
    Fault(
        "basext/rm_basext_folded_rows.sv",
        "if (!redundant_q) i_d = ",
        "i_d = ",
        extends,
    ),
    Fault(
        "basext/rm_basext_folded.sv",
        "store = move & of_redundant",
        "store = move",
        extends,
    ),
    Fault(
        "basext/rm_basext_job.sv",
        "takes_i && room_left;",
        "takes_i;",
        stalls,
    ),
    Fault(
        "basext/rm_basext_job.sv",
        "Run && moves_i && room_left &&",
        "Run && moves_i &&",
        stalls,
    ),
    Fault(
        "basext/rm_basext_job.sv",
        "room_d = room_q + 1'b1",
        "room_d = room_q",
        extends,
    ),
    Fault(
        "basext/rm_basext_folded_rows.sv",
        "|| (state_q == Give && exact_i)",
        "|| state_q == Give",
        extends,
    ),
    Fault(
        "basext/rm_basext_folded_rows.sv",
        "gives_o && last_target",
        "gives_o",
        extends,
    ),
    Fault(
        "basext/rm_basext_folded_rows.sv",
        "at_end_i && (state_q == Post || last_row_q)",
        "at_end_i && state_q == Post",
        extends,
    ),
    Fault(
        "basext/rm_basext_job.sv",
        "cmd_l_i > 8'(MaxL)",
        "1'b0",
        refuses,
    ),
    Fault(
        "basext/rm_basext_job.sv",
        "(32'd2 << MaxLogN)",
        "32'd0",
        refuses,
    ),
    Fault(
        "basext/rm_basext_job.sv",
        "loaded_d = load_code_i == Ok",
        "loaded_d = 1'b1",
        refuses,
    ),
    Fault(
        "basext/rm_basext_job.sv",
        "cmd_op_i == OpExact && !exact_i",
        "1'b0",
        refuses,
    ),
    Fault(
        "basext/rm_basext_job.sv",
        "in_last_i ? CutShort : TooLong",
        "CutShort",
        refuses,
    ),
    Fault(
        "basext/rm_basext_job.sv",
        "(load_code_i == Ok) ? Idle : Swallow",
        "Idle",
        refuses,
    ),
    // Constants.
    Fault("basext/rm_basext_words.sv", "!one_q || ", "", refuses),
    Fault(
        "basext/rm_basext_words.sv",
        "of_redundant ? head_q : modulus_q",
        "modulus_q",
        refuses,
    ),
    Fault(
        "basext/rm_basext_words.sv",
        "value_q >= (",
        "value_q > (",
        refuses,
    ),
    Fault(
        "basext/rm_basext_words.sv",
        "last_q ? Ok : TooLong",
        "Ok",
        refuses,
    ),
    Fault(
        "basext/rm_basext_words.sv",
        "last_source_q <= i_q == before_last_q",
        "last_source_q <= i_q == '0",
        extends,
    ),
    Fault(
        "basext/rm_basext_words.sv",
        "last_target_q <= k_i == KWidth'(1)",
        "last_target_q <= 1'b0",
        extends,
    ),
    Fault(
        "basext/rm_basext_words.sv",
        ": one_source_q;",
        ": 1'b0;",
        extends,
    ),
    Fault(
        "basext/rm_basext_const.sv",
        "{row_i, column_i}",
        "{row_i, source_i}",
        extends,
    ),
];

pub fn all_caught(faults: &[Fault]) {
    let mut missed = Vec::new();
    for Fault(file, from, to, check) in faults {
        let copy = Faulty::copy(file, from, to);
        let hdl = hdl().with_sources(&[copy.root()]).unwrap();
        match check(&hdl, seed()) {
            Err(Failure::Wrong(_) | Failure::Tool(HdlError::Simulation(_))) => {}
            // A model that does not build says nothing of the check.
            Err(Failure::Tool(error)) => missed.push(format!("{file}: `{to}`: {error}")),
            Ok(()) => missed.push(format!("{file}: `{from}` -> `{to}` passes")),
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Those that only `make full` builds, too: a fault whose line was rewritten is found at once.
#[test]
fn every_fault_has_its_line() {
    let lists: [&[Fault]; 5] = [
        &FAULTS,
        &rival_mutants::PIPELINED_FAULTS,
        &rival_mutants::ROWER_FAULTS,
        &rival_mutants::STAGE_FAULTS,
        &shared_mutants::FAULTS,
    ];
    for Fault(file, from, to, _) in lists.into_iter().flatten() {
        drop(Faulty::copy(file, from, to));
    }
}

#[test]
#[ignore = "two models; `make full` runs it"]
fn quick_faults_are_caught() {
    all_caught(&QUICK);
}

#[test]
#[ignore = "forty models; `make full` runs it"]
fn every_fault_is_caught() {
    all_caught(&FAULTS);
}
