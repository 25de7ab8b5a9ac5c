// SPDX-License-Identifier: Apache-2.0
//! Single-line faults; the checks must catch each.

use ringmill_hdl::torus::EngineError;
use ringmill_hdl::{Hdl, HdlError};

use crate::common::faulty::Faulty;
use crate::common::setup::{hdl, seed};
use crate::torus::bench::{Failure, check, small, tiny};
use crate::torus::refusals::check_tiny_refusals;

pub type Check = fn(&Hdl, u64) -> Result<(), Failure>;

/// A line of the RTL, changed, and the check that must notice.
pub struct Fault(
    pub &'static str,
    pub &'static str,
    pub &'static str,
    pub Check,
);

fn quick(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    check(hdl, tiny(2, 12), seed)
}

fn one(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    check(hdl, small(1, 2, 12), seed)
}

/// A key that products wait for.
fn late(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    check(hdl, small(1, 1, 12), seed)
}

fn two(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    check(hdl, small(2, 2, 9), seed)
}

const QUICK: [Fault; 2] = [
    // A sign of a coefficient that comes round.
    Fault(
        "rm_torus_turn.sv",
        "near_neg_q[1] <= (from[LogH+1] & !from[LogH])",
        "near_neg_q[1] <= from[LogH+1]",
        quick,
    ),
    // A key that goes on is not taken to its end.
    Fault(
        "rm_torus_key.sv",
        "!ended_q && (long_q || count_q",
        "!ended_q && (count_q",
        check_tiny_refusals,
    ),
];

const FAULTS: [Fault; 78] = [
    // Rotation, decomposition, update.
    Fault(
        "rm_torus_turn.sv",
        "near_swap_q <= from[LogH];",
        "near_swap_q <= 1'b0;",
        one,
    ),
    Fault(
        "rm_torus_turn.sv",
        "far_swap_q <= beyond[LogH];",
        "far_swap_q <= from[LogH];",
        one,
    ),
    Fault(
        "rm_torus_turn.sv",
        "far_neg_q[0] <= beyond[LogH+1]",
        "far_neg_q[0] <= from[LogH+1]",
        one,
    ),
    Fault(
        "rm_torus_turn.sv",
        "(beyond[LogH+1] & !beyond[LogH])",
        "beyond[LogH+1]",
        one,
    ),
    Fault(
        "rm_torus_turn.sv",
        "assign beyond = from - 1'b1;",
        "assign beyond = from;",
        one,
    ),
    Fault(
        "rm_torus_turn.sv",
        "turned_q[i] ^ {32{neg_q2[i]}}, neg_q2[i]}",
        "turned_q[i] ^ {32{neg_q2[i]}}, 1'b0}",
        one,
    ),
    Fault(
        "rm_torus_turn.sv",
        "Offset - plain_q[i];",
        "Offset - plain[i];",
        one,
    ),
    Fault(
        "rm_torus_turn.sv",
        "offset(Levels, LogBase)",
        "offset(Levels, LogBase) ^ (32'd1 << (31 - Levels * LogBase))",
        one,
    ),
    Fault(
        "rm_torus_pkg.sv",
        "x[Width-1] || (&x[Width-2:11]",
        "(&x[Width-2:11]",
        one,
    ),
    Fault(
        "rm_torus_turn.sv",
        "? 32'd4095 : 32'd0",
        "? 32'd4096 : 32'd0",
        one,
    ),
    Fault(
        "rm_torus_turn.sv",
        "? '0 : old[i]",
        "? old[i] : old[i]",
        one,
    ),
    Fault(
        "rm_torus_turn.sv",
        "!set_i && above_half",
        "above_half",
        one,
    ),
    Fault(
        "rm_torus_turn.sv",
        "is_near ? near_neg_q[w] : far_neg_q[w]",
        "near_neg_q[w]",
        one,
    ),
    Fault(
        "rm_torus_turn.sv",
        "plain_late[i] + Offset",
        "plain_late[i]",
        two,
    ),
    Fault(
        "rm_torus_digits.sv",
        "? -Half : P - Half",
        "? -Half : P",
        one,
    ),
    // Transforms.
    Fault(
        "rm_torus_unit.sv",
        "odd = bank ^ row[LogH-1];",
        "odd = bank;",
        one,
    ),
    Fault(
        "rm_torus_unit.sv",
        "far_read ? row_i[0] : row_i[LogH-1]",
        "row_i[0]",
        one,
    ),
    Fault(
        "rm_torus_unit.sv",
        "write_inverse_i ? write_row_i[0] : write_row_i[LogH-1]",
        "write_row_i[LogH-1]",
        one,
    ),
    Fault(
        "rm_torus_unit.sv",
        "write_inverse_i ? rows_o : woven",
        "woven",
        one,
    ),
    Fault(
        "rm_torus_evaluations.sv",
        "get_row_i[LogH] ^ get_row_i[0];",
        "get_row_i[0];",
        one,
    ),
    Fault(
        "rm_torus_twiddle.sv",
        "near_zero(halved(",
        "near_zero((",
        one,
    ),
    Fault(
        "rm_torus_unit.sv",
        "(first_i && inverse_i) ? sums",
        "inverse_i ? sums",
        one,
    ),
    Fault(
        "rm_torus_unit.sv",
        ".raddr_i(WorkWidth'({read_tag, half_i,",
        ".raddr_i(WorkWidth'({TagWidth'(0), half_i,",
        one,
    ),
    Fault(
        "rm_torus_unit.sv",
        "write_tag_i[SlotWidth-1:0] == SlotWidth'(s)",
        "1'b1",
        one,
    ),
    Fault(
        "rm_torus_evaluations.sv",
        "AddrWidth'({put_place_i, put_row_i[b]})",
        "AddrWidth'({PlaceWidth'(0), put_row_i[b]})",
        one,
    ),
    Fault("rm_torus_twiddle.sv", "Lane % (1 << s)", "0", one),
    Fault(
        "rm_torus_twiddle.sv",
        "((2 << LogN) - e)",
        "((1 << LogN) - e)",
        one,
    ),
    // Products.
    Fault(
        "rm_torus_product.sv",
        "first_late ? '0 : total_q[c][j]",
        "total_q[c][j]",
        two,
    ),
    Fault(
        "rm_torus_product.sv",
        "weighed_valid && last_late",
        "weighed_valid && first_late",
        two,
    ),
    Fault(
        "rm_torus_product.sv",
        "{group_rev_q, 1'b1}",
        "{group_rev_q, 1'b0}",
        two,
    ),
    Fault("rm_torus_powers.sv", "power - 1'b1);", "power);", two),
    Fault(
        "rm_torus_sum.sv",
        "assign {beyond, low} = level[Levels][0];",
        "assign {beyond, low} = level[Levels-1][0];",
        one,
    ),
    // The key.
    Fault(
        "rm_torus_key.sv",
        "offset_d = rewind_i ? '0 :",
        "offset_d = (rewind_i & !keep_i) ? '0 :",
        one,
    ),
    Fault(
        "rm_torus_key.sv",
        "free = take_i & !keep_i;",
        "free = take_i;",
        one,
    ),
    Fault(
        "rm_torus_key.sv",
        "(key_cut_i || !at_total)",
        "key_cut_i",
        check_tiny_refusals,
    ),
    Fault(
        "rm_torus_key.sv",
        "!key_last_i && at_total",
        "1'b0",
        check_tiny_refusals,
    ),
    Fault(
        "rm_torus_key.sv",
        "offset_q < count_q;",
        "offset_q <= count_q;",
        late,
    ),
    // The schedule.
    Fault(
        "rm_torus_seq.sv",
        "? Whole - ahead : ForwardTail",
        "? Whole - 5 - ahead : ForwardTail",
        one,
    ),
    Fault(
        "rm_torus_seq.sv",
        "ForwardTail = BflyLatency - 1",
        "ForwardTail = BflyLatency - 3",
        one,
    ),
    Fault(
        "rm_torus_seq.sv",
        "WaitWidth'(pass_cycles(H, polynomials, turn) - polynomials * H)",
        "'0",
        one,
    ),
    // The order of rows, and the pauses that it leaves.
    Fault(
        "rm_torus_seq.sv",
        "row = LogH'({row_q, row_q} >> ((LogN - 1 - s) % LogH));",
        "row = LogH'({row_q, row_q} >> (s % LogH));",
        one,
    ),
    Fault(
        "rm_torus_seq.sv",
        "LogN - 1 - s : LogN - 2 - s + LogH",
        "LogN - 1 - s : LogN - 1 - s + LogH",
        quick,
    ),
    Fault(
        "rm_torus_pkg.sv",
        "least = (1 << turn)",
        "least = (1 << turn >> 1)",
        one,
    ),
    Fault(
        "rm_torus_turn.sv",
        "turned[k][(b + Lanes - (1 << k)) % Lanes]",
        "turned[k][(b + (1 << k)) % Lanes]",
        one,
    ),
    // Products and butterflies.
    Fault(
        "rm_torus_times.sv",
        ".Slack(MulSlack - 2)",
        ".Slack(MulSlack - 1)",
        one,
    ),
    Fault(
        "rm_torus_raw.sv",
        "a1_q <= a_i[52:26];",
        "a1_q <= {1'b0, a_i[51:26]};",
        one,
    ),
    Fault(
        "rm_torus_join.sv",
        "assign carry_o = {low_q[52], carry_q};",
        "assign carry_o = {1'b0, carry_q};",
        one,
    ),
    Fault(
        "rm_torus_red.sv",
        "{~{u_q[52], u_q}, ~carry_q}",
        "{~{u_q[52], u_q}, 1'b1}",
        one,
    ),
    Fault("rm_torus_red.sv", "u_q[42:40] - a_q", "u_q[42:40]", one),
    Fault(
        "rm_torus_ends.sv",
        "assign more = !diff[Width+1] ? '0 :",
        "assign more =",
        one,
    ),
    Fault(
        "rm_torus_butterfly.sv",
        "(inverse_i && sum_q[0]) ?",
        "inverse_i ?",
        one,
    ),
    Fault(
        "rm_torus_sum.sv",
        "(Width + 1)'({beyond, 12'd0})",
        "(Width + 1)'({beyond, 11'd0})",
        one,
    ),
    Fault(
        "rm_torus_pkg.sv",
        "return x + (x[Width-1] ? LessP : '0);",
        "return x;",
        one,
    ),
    Fault(
        "rm_torus_seq.sv",
        "last_group ? step_q : step_q - 1'b1",
        "step_q",
        one,
    ),
    Fault(
        "rm_torus_seq.sv",
        "PassWidth'(LogN - 1) - pass_q : pass_q",
        "pass_q : pass_q",
        one,
    ),
    Fault(
        "rm_torus_seq.sv",
        "if (begins && inverse) summed_d",
        "if (1'b0) summed_d",
        one,
    ),
    Fault(
        "rm_torus_seq.sv",
        "Unroll'((1 << LastBits) - 1)",
        "Unroll'((1 << Unroll) - 1)",
        two,
    ),
    // Commands.
    Fault(
        "rm_torus_ctl.sv",
        "else if (bad_d) code_d = BadExponent;",
        "",
        check_tiny_refusals,
    ),
    Fault(
        "rm_torus_ctl.sv",
        "if (!at_end) code_d = CutShort;",
        "if (1'b0) code_d = CutShort;",
        check_tiny_refusals,
    ),
    Fault(
        "rm_torus_ctl.sv",
        "made_d = made_q & ~wanted;",
        "made_d = made_q;",
        check_tiny_refusals,
    ),
    Fault("rm_torus.sv", "negate_q2 ? -picked : picked", "picked", one),
    // The key switch within the engine.
    Fault(
        "rm_torus_ctl.sv",
        "assign ready_to_switch = (wanted & ~made_q) == '0;",
        "assign ready_to_switch = 1'b1;",
        check_tiny_refusals,
    ),
    Fault(
        "rm_torus_ctl.sv",
        "switched_d = switched_q & ~wanted;
                end else begin",
        "switched_d = switched_q;
                end else begin",
        check_tiny_refusals,
    ),
    Fault(
        "rm_torus_ctl.sv",
        "made_d = made_q & ~wanted;
                  switched_d = switched_q & ~wanted;",
        "made_d = made_q & ~wanted;",
        check_tiny_refusals,
    ),
    Fault(
        "rm_torus_ctl.sv",
        "cmd_op_i == OpGive ? switched_q",
        "1'b0 ? switched_q",
        check_tiny_refusals,
    ),
    Fault(
        "rm_torus_ctl.sv",
        "small_d = cmd_op_i == OpGive;",
        "small_d = 1'b0;",
        quick,
    ),
    Fault(
        "rm_torus_ctl.sv",
        "small_q ? WordWidth'(Dim) : WordWidth'(1 << LogN)",
        "WordWidth'(1 << LogN)",
        quick,
    ),
    Fault(
        "rm_torus_ctl.sv",
        "if (switch_short_i) code_d = KeyShort;",
        "if (1'b0) code_d = KeyShort;",
        check_tiny_refusals,
    ),
    Fault(
        "rm_torus_ctl.sv",
        "else if (switch_long_i) code_d = KeyLong;",
        "",
        check_tiny_refusals,
    ),
    Fault(
        "rm_torus_ctl.sv",
        "else switched_d = switched_q | ran;",
        "else switched_d = switched_q | 1;",
        quick,
    ),
    Fault(
        "rm_torus_switch.sv",
        "{data_i, seed_q",
        "{seed_q[0], seed_q",
        quick,
    ),
    Fault(
        "rm_torus_switch.sv",
        "if (&count_q) state_d = Begin;",
        "if (count_q == 6) state_d = Begin;",
        quick,
    ),
    Fault(
        "rm_torus_switch.sv",
        "cut_d = 1'b1;",
        "cut_d = 1'b0;",
        check_tiny_refusals,
    ),
    Fault(
        "rm_torus_switch.sv",
        "short_o = cut_q ||",
        "short_o =",
        check_tiny_refusals,
    ),
    Fault(
        "rm_torus_switch.sv",
        "8'(last_place_i) + 8'd1",
        "8'(last_place_i)",
        quick,
    ),
    Fault(
        "rm_torus_results.sv",
        "switch_read ? switch_word : (LogN + 1)'(word_i)",
        "(LogN + 1)'(word_i)",
        quick,
    ),
    Fault(
        "rm_torus_results.sv",
        "body_q ? body_word_q : mask_word",
        "mask_word",
        quick,
    ),
    Fault(
        "rm_torus_results.sv",
        "SmallWidth'({small_place, small_column})",
        "SmallWidth'(small_column)",
        quick,
    ),
];

/// Of the faults those that `RINGMILL_FAULTS` numbers, as in 3,7; all where it does not.
fn chosen(number: usize) -> bool {
    let Ok(numbers) = std::env::var("RINGMILL_FAULTS") else {
        return true;
    };
    numbers.split(',').any(|n| n.trim().parse() == Ok(number))
}

pub fn all_caught(faults: &[Fault]) {
    let mut missed = Vec::new();
    let chosen = faults.iter().enumerate().filter(|(k, _)| chosen(*k));
    for (_, Fault(file, from, to, check)) in chosen {
        let copy = Faulty::copy(file, from, to);
        let hdl = hdl().with_sources(&[copy.root()]).unwrap();
        match check(&hdl, seed()) {
            Err(Failure::Differs(_)) => {}
            Err(Failure::Engine(
                EngineError::Answered { .. }
                | EngineError::NeverDone { .. }
                | EngineError::Hdl(HdlError::Simulation(_)),
            )) => {}
            // A model that does not build says nothing of the check.
            Err(error) => missed.push(format!("{file}: `{to}`: {error:?}")),
            Ok(()) => missed.push(format!("{file}: `{from}` -> `{to}` passes")),
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
#[ignore = "a model for each fault; `make full` runs it"]
fn quick_faults_are_caught() {
    all_caught(&QUICK);
}

#[test]
#[ignore = "78 models; `make full` runs it"]
fn every_fault_is_caught() {
    all_caught(&FAULTS);
}
