// SPDX-License-Identifier: Apache-2.0
//! Single-line faults of the shared unit; the checks must catch each.

use ringmill_hdl::Hdl;
use ringmill_machines::basext::Word;

use crate::basext::bench::{Case, Failure, Order, check};
use crate::basext::mutants::{Fault, all_caught};
use crate::basext::refusals::check_refusals;
use crate::basext::shared::{case, deep, small};

fn extends(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    let cases: [Case; 5] = [
        case(3, 2, 2, Order::Random, false),
        case(2, 1, 1, Order::Random, true),
        case(1, 3, 2, Order::Random, false),
        case(2, 3, 2, Order::Random, false),
        case(5, 3, 3, Order::Random, true),
    ];
    check(hdl, small(Word::Bits32, 4, 2), &cases, seed).map(|_| ())
}

fn extends_deep(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    let cases = [case(5, 5, 2, Order::Random, true)];
    check(hdl, deep(), &cases, seed).map(|_| ())
}

fn refuses(hdl: &Hdl, seed: u64) -> Result<(), Failure> {
    check_refusals(hdl, small(Word::Bits32, 4, 2), seed)
}

const CHANNEL: &str = "basext/rm_basext_channel.sv";
const RAM: &str = "basext/rm_basext_ram.sv";
const LANE: &str = "basext/rm_basext_shared_lane.sv";
const BANK: &str = "basext/rm_basext_shared_bank.sv";
const ARRAY: &str = "basext/rm_basext_shared_array.sv";
const JOB: &str = "basext/rm_basext_job.sv";
const ROWS: &str = "basext/rm_basext_shared_rows.sv";
const CONST: &str = "basext/rm_basext_shared_const.sv";
const WORDS: &str = "basext/rm_basext_words.sv";
const PKG: &str = "basext/rm_basext_pkg.sv";

const QUICK: [Fault; 2] = [
    // A channel that takes the new row where it is still at the last round's target.
    Fault(LANE, "new_i[j] ? new_q : kept", "new_q", extends),
    // A wrong stream that is not swallowed.
    Fault(JOB, "long_d = !in_last_i;", "long_d = 1'b0;", refuses),
];

pub const FAULTS: [Fault; 38] = [
    // Lanes.
    Fault(CHANNEL, "first_i ? '0 : old_i", "old_i", extends),
    Fault(LANE, ".wdata_i(alpha)", ".wdata_i(new_d)", extends),
    Fault(LANE, "exact_i ? alpha : '0", "alpha", extends),
    Fault(LANE, "if (!tail_i) new_d", "if (1'b1) new_d", extends),
    Fault(LANE, ".Depth(Mul + 1)", ".Depth(Mul)", extends),
    Fault(
        LANE,
        "\n        .wdata_i(new_q)",
        "\n        .wdata_i(new_d)",
        extends,
    ),
    Fault(LANE, "out_q <= sum[channel_i]", "out_q <= sum[0]", extends),
    Fault(
        RAM,
        ".wdata_i(wdata_i[Width-1:Nines])",
        ".wdata_i('0)",
        extends_deep,
    ),
    Fault(
        RAM,
        ".wdata_i(wdata_i[Nines-1:0])",
        ".wdata_i('0)",
        extends_deep,
    ),
    // Channels.
    Fault(
        BANK,
        "slot_i >= SWidth'(Index)",
        "slot_i > SWidth'(Index)",
        extends,
    ),
    Fault(BANK, "present ? round_i : past_round_i", "round_i", extends),
    Fault(BANK, "present ? place_i : past_place_i", "place_i", extends),
    Fault(BANK, "present & fresh_i", "present", extends),
    Fault(BANK, ".Depth(Mul + 2)", ".Depth(Mul + 1)", extends),
    // What goes with a coefficient.
    Fault(
        ARRAY,
        "b_first_q <= a.slot == '0",
        "b_first_q <= 1'b0",
        extends,
    ),
    Fault(
        ARRAY,
        "a_rounds.base + PWidth'(a.slot)",
        "a_rounds.base",
        extends,
    ),
    Fault(
        ARRAY,
        "d_valid_q & d_q.fresh & d_q.kept",
        "d_valid_q & d_q.fresh & d_q.tail",
        extends,
    ),
    Fault(
        ARRAY,
        ".channel_i(g_q.channel)",
        ".channel_i(f_q.channel)",
        extends,
    ),
    Fault(ARRAY, "h_valid_q & h_q.give", "h_valid_q", extends),
    Fault(
        ARRAY,
        ".f_waddr_i(g_q.addr)",
        ".f_waddr_i(f_q.addr)",
        extends,
    ),
    Fault(
        PKG,
        "return (max_k <= batch) ? max_k - 1 : max_l + 1;",
        "return max_k - 1;",
        extends,
    ),
    // Control.
    Fault(
        ROWS,
        "row_q.base + PWidth'(l_i) + 1'b1",
        "row_q.base + PWidth'(l_i)",
        extends,
    ),
    Fault(
        ROWS,
        "next_d.round = row_q.round + 1'b1;",
        "next_d.round = row_q.round;",
        extends,
    ),
    Fault(
        ROWS,
        "next_d.past = count;",
        "next_d.past = batch_q;",
        extends,
    ),
    Fault(
        ROWS,
        "next_d.more = row_q.more - 1'b1;",
        "next_d.more = '0;",
        extends,
    ),
    Fault(
        ROWS,
        "(exact_next_i || batch_q > l_i) ? l_i",
        "exact_next_i ? l_i",
        extends,
    ),
    Fault(
        ROWS,
        "(exact_next_i || looked_at.slot != l_i)",
        "1'b1",
        extends,
    ),
    Fault(JOB, "!gives_i || room_q != '0", "1'b1", extends),
    Fault(
        ROWS,
        "known_d.last_slot && looked_at.more == '0 && ",
        "known_d.last_slot && ",
        extends,
    ),
    Fault(ROWS, "8'(l_i) >= 8'(Batch)", "8'(l_i) > 8'(Batch)", extends),
    Fault(JOB, "takes_i && in_last_i != at_end_q", "1'b0", refuses),
    Fault(JOB, "in_last_i ? CutShort : TooLong", "CutShort", refuses),
    Fault(JOB, "cmd_op_i == OpExact && !exact_i", "1'b0", refuses),
    Fault(
        JOB,
        "loaded_d = load_code_i == Ok",
        "loaded_d = 1'b1",
        refuses,
    ),
    // Constants.
    Fault(CONST, "(part == Head) ? l_i : i;", "i;", extends),
    Fault(CONST, "(kind == 2'd1) ? l_i : column", "column", extends),
    Fault(
        WORDS,
        "of_redundant ? head_q : modulus_q",
        "modulus_q",
        refuses,
    ),
    Fault(WORDS, "last_q ? Ok : TooLong", "Ok", refuses),
];

#[test]
fn quick_faults_of_the_shared_unit_are_caught() {
    all_caught(&QUICK);
}

#[test]
#[ignore = "38 models; `make full` runs it"]
fn every_fault_of_the_shared_unit_is_caught() {
    all_caught(&FAULTS);
}
