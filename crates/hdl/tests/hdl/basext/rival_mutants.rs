// SPDX-License-Identifier: Apache-2.0
//! Single-line faults of the pipelined unit, of the rowers and of pipelined mixed radix; the checks must catch each.

use ringmill_hdl::Hdl;
use ringmill_machines::basext::rowers::Algorithm;
use ringmill_machines::basext::{Radix, Shape, Unit, Word};

use crate::basext::bench::{Failure, Order, check};
use crate::basext::mutants::{Check, Fault, all_caught};
use crate::basext::refusals::check_refusals;
use crate::basext::rivals::case;
use crate::basext::small;

fn extends(hdl: &Hdl, unit: Unit, seed: u64) -> Result<(), Failure> {
    let cases = [
        case(3, 2, 2, Order::Random, false),
        case(1, 3, 1, Order::Random, false),
        case(5, 3, 2, Order::Random, true),
        case(2, 1, 1, Order::Random, true),
    ];
    check(hdl, unit, &cases, seed).map(|_| ())
}

const PIPELINED: Check = |hdl, seed| extends(hdl, Unit::Pipelined(small(Word::Bits32, 4)), seed);
// The end of the last target but one comes while the last one is under way.
const SHORT: Check = |hdl, seed| {
    let shape = Shape::new(Word::Bits32, 16, 8..=8, 2, 2).unwrap();
    let cases = [case(1, 2, 1, Order::Natural, false)];
    check(hdl, Unit::Pipelined(shape), &cases, seed).map(|_| ())
};
const COX: Check = |hdl, seed| {
    let unit = Unit::Rowers(Algorithm::CoxRower, small(Word::Bits32, 4));
    extends(hdl, unit, seed)
};
const RADIX: Check = |hdl, seed| {
    let unit = Unit::Rowers(Algorithm::MixedRadix, small(Word::Bits32, 4));
    extends(hdl, unit, seed)
};
const STAGES: Check = |hdl, seed| {
    let unit = Radix::new(small(Word::Bits32, 4)).unwrap();
    extends(hdl, unit.into(), seed)
};
const STAGES_REFUSE: Check = |hdl, seed| {
    let unit = Radix::new(small(Word::Bits32, 4)).unwrap();
    check_refusals(hdl, unit, seed)
};
const REFUSES: Check = |hdl, seed| {
    let unit = Unit::Rowers(Algorithm::CoxRower, small(Word::Bits32, 4));
    check_refusals(hdl, unit, seed)
};
const RADIX_REFUSES: Check = |hdl, seed| {
    let unit = Unit::Rowers(Algorithm::MixedRadix, small(Word::Bits32, 4));
    check_refusals(hdl, unit, seed)
};

// Quick to build.
fn tiny() -> Shape {
    Shape::new(Word::Bits32, 1, 8..=8, 2, 2).unwrap()
}

const TINY_PIPELINED: Check = |hdl, seed| tiny_extends(hdl, Unit::Pipelined(tiny()), seed);
const TINY_COX: Check =
    |hdl, seed| tiny_extends(hdl, Unit::Rowers(Algorithm::CoxRower, tiny()), seed);

const TINY_STAGES: Check = |hdl, seed| tiny_extends(hdl, Radix::new(tiny()).unwrap().into(), seed);

fn tiny_extends(hdl: &Hdl, unit: Unit, seed: u64) -> Result<(), Failure> {
    let cases = [case(2, 2, 1, Order::Random, false)];
    check(hdl, unit, &cases, seed).map(|_| ())
}

const LANE: &str = "basext/rm_basext_pipelined_lane.sv";
const TOP: &str = "basext/rm_basext_pipelined.sv";
const PIPELINE: &str = "basext/rm_basext_pipelined_rows.sv";
const ROWER: &str = "basext/rm_basext_rower.sv";
const ARRAY: &str = "basext/rm_basext_rowers_array.sv";
const ROWS: &str = "basext/rm_basext_rowers_rows.sv";
const CELL: &str = "basext/rm_basext_radix_cell.sv";
const TERM: &str = "basext/rm_basext_radix_term.sv";
const STAGE_ARRAY: &str = "basext/rm_basext_radix_array.sv";
const STAGE_ROWS: &str = "basext/rm_basext_radix_rows.sv";
const STAGE_TOP: &str = "basext/rm_basext_radix.sv";
const COX_UNIT: &str = "basext/rm_basext_cox.sv";
const WORDS: &str = "basext/rm_basext_words.sv";
const JOB: &str = "basext/rm_basext_job.sv";

const QUICK: [Fault; 3] = [
    // A fast extension with a correction.
    Fault(
        LANE,
        "exact_i ? correction : '0",
        "correction",
        TINY_PIPELINED,
    ),
    // A sum that begins where the last one ended.
    Fault(COX_UNIT, "begin_i ? delta_i : sigma_q", "sigma_q", TINY_COX),
    // A digit that is not taken off.
    Fault(CELL, ".a_i(b_i)", ".a_i('0)", TINY_STAGES),
];

pub const PIPELINED_FAULTS: [Fault; 20] = [
    Fault(TOP, ".inverse_i(inverse)", ".inverse_i(product)", PIPELINED),
    Fault(LANE, ".Depth(2 * Mul + 1)", ".Depth(2 * Mul)", PIPELINED),
    Fault(LANE, ".Depth(SumDelay)", ".Depth(SumDelay - 1)", PIPELINED),
    Fault(LANE, ".a_i(missing_q)", ".a_i(missing_d)", PIPELINED),
    Fault(
        LANE,
        ".b_i(inverse_i)",
        ".b_i(redundant_const_i)",
        PIPELINED,
    ),
    Fault(LANE, ".b_i(product_i)", ".b_i(target_const_i)", PIPELINED),
    Fault(LANE, ".q_i(post_i)", ".q_i(target_i)", PIPELINED),
    Fault(LANE, ".q_i(last_p_i)", ".q_i(p_i)", PIPELINED),
    Fault(LANE, ".wdata_i(a_new)", ".wdata_i(data_i)", PIPELINED),
    Fault(LANE, ".a_i(p_late)", ".a_i(p_sum)", PIPELINED),
    Fault(LANE, ".wdata_i(s_sum)", ".wdata_i(p_sum)", PIPELINED),
    Fault(
        TOP,
        "target_const_q <= target_const",
        "target_const_q <= product",
        PIPELINED,
    ),
    Fault(
        TOP,
        ".store_i(put_valid_q & put_q.redundant)",
        ".store_i(put_valid_q)",
        PIPELINED,
    ),
    Fault(TOP, ".first_i(add_q.first)", ".first_i(1'b0)", PIPELINED),
    Fault(TOP, "put_valid_q & put_q.give", "put_valid_q", PIPELINED),
    Fault(TOP, "out_valid & out_final", "out_valid & out_last", SHORT),
    Fault(
        TOP,
        "(Ahead == 0) ? add_q.addr : sum.addr",
        "sum.addr",
        PIPELINED,
    ),
    Fault(
        PIPELINE,
        "last_row_q && exact_next_i",
        "last_row_q",
        PIPELINED,
    ),
    Fault(
        PIPELINE,
        "if (!row_q.redundant) next_d.source",
        "next_d.source",
        PIPELINED,
    ),
    Fault(
        PIPELINE,
        "if (last_row_q) next_d.target",
        "next_d.target",
        PIPELINED,
    ),
];

pub const ROWER_FAULTS: [Fault; 23] = [
    Fault(COX_UNIT, "xi_i[Width-1-:Bits]", "xi_i[Bits-1:0]", COX),
    Fault(
        ARRAY,
        "alpha_bit & sums_i & exact_i",
        "alpha_bit & sums_i",
        COX,
    ),
    Fault(ARRAY, ".Depth(Mul)", ".Depth(Mul - 1)", COX),
    Fault(ARRAY, "b_q <= v_q[two_q.s]", "b_q <= v_q[one_q.s]", COX),
    Fault(
        ARRAY,
        "one_valid_q && one_q.begins",
        "one_valid_q && two_q.begins",
        COX,
    ),
    Fault(ARRAY, "(store_q && 32'(row_q) == r)", "store_q", COX),
    Fault(ARRAY, "out_q <= read[row_q]", "out_q <= read[0]", COX),
    Fault(
        ARRAY,
        "put_valid_q && !(put_q.scales",
        "put_valid_q && (put_q.scales",
        RADIX,
    ),
    Fault(ARRAY, "put_valid_q && !put_q.scales", "put_valid_q", RADIX),
    Fault(
        ARRAY,
        "begins: begin_i || !sums_i",
        "begins: begin_i",
        RADIX,
    ),
    Fault(ROWER, "b_i(alpha_i ? negative_q : '0)", "b_i('0)", COX),
    Fault(ROWER, "begin_i ? '0 : sum_q", "sum_q", COX),
    Fault(ROWER, "{sums_i, address_i}", "{1'b0, address_i}", COX),
    Fault(ROWER, ".raddr_i(sums_i)", ".raddr_i(1'b0)", COX),
    Fault(
        ROWER,
        "assign x_d = sums_i ? b_i : difference",
        "assign x_d = b_i",
        RADIX,
    ),
    Fault(ROWER, ".a_i(b_i)", ".a_i(v_i)", RADIX),
    Fault(
        ROWS,
        "s_q + LWidth'(2) == l_i",
        "s_q + LWidth'(1) == l_i",
        RADIX,
    ),
    Fault(ROWS, "Digits && l_i == LWidth'(1)", "1'b0", RADIX),
    Fault(ROWS, "taking_d = more_q != '0", "taking_d = 1'b0", COX),
    Fault(ROWS, "giving_q && row_q < RWidth'(k_i)", "giving_q", COX),
    Fault(ROWS, "step_o = run_i && ", "step_o = ", REFUSES),
    Fault(
        WORDS,
        "column_q + LWidth'(!is_modulus) == i_q",
        "column_q == i_q",
        RADIX,
    ),
    Fault(JOB, "cmd_op_i == OpFast && !HasFast", "1'b0", RADIX_REFUSES),
];

pub const STAGE_FAULTS: [Fault; 22] = [
    Fault(CELL, "32'(source_i) == Row", "1'b1", STAGES),
    Fault(CELL, "32'(column_i) == Digit", "1'b1", STAGES),
    Fault(TERM, "of_target && kind_i == 2'd0", "of_target", STAGES),
    Fault(CELL, ".b_i(v_i)", ".b_i('0)", STAGES),
    Fault(TERM, "(32'(l_i) > Digit) ? word : '0", "word", STAGES),
    Fault(TERM, "32'(column_i) == Digit", "1'b1", STAGES),
    Fault(TERM, ".first_i(Digit == 0)", ".first_i(1'b1)", STAGES),
    Fault(TERM, "bus[Steps][Width-1:0]", "bus[0][Width-1:0]", STAGES),
    Fault(
        TERM,
        ".Depth(rm_wide_pkg::mul_latency(Width, Low))",
        ".Depth(rm_wide_pkg::mul_latency(Width, Low) - 1)",
        STAGES,
    ),
    Fault(STAGE_ARRAY, ".re_i(give_i)", ".re_i(1'b1)", STAGES),
    Fault(STAGE_ARRAY, "read[i][step_lane_i]", "read[i][0]", STAGES),
    Fault(
        STAGE_ARRAY,
        "store_q && 32'(store_row_q) == i",
        "store_q",
        STAGES,
    ),
    Fault(
        STAGE_ARRAY,
        "step_i && step_lane_i == LaneWidth'(Lanes - 1)",
        "step_i && step_lane_i == '0",
        STAGES,
    ),
    Fault(
        STAGE_ARRAY,
        "{sum[MaxL-1], out_q[Lanes-1:1]}",
        "{out_q[Lanes-2:0], sum[MaxL-1]}",
        STAGES,
    ),
    Fault(
        STAGE_ARRAY,
        ".modulus_i(modulus[u])",
        ".modulus_i(modulus[s+1])",
        STAGES,
    ),
    // Targets that follow each other without a gap.
    Fault(
        STAGE_ARRAY,
        ".target_i(target[s])",
        ".target_i(target[0])",
        STAGES,
    ),
    Fault(STAGE_ROWS, "!step_q || at_last_lane", "1'b1", STAGES),
    Fault(
        STAGE_ROWS,
        "giving_q && at_last_row && more_q == '0",
        "giving_q && at_last_row",
        STAGES,
    ),
    Fault(
        STAGE_ROWS,
        "giving_q ? RWidth'(k_i) : RWidth'(l_i)",
        "RWidth'(l_i)",
        STAGES,
    ),
    Fault(STAGE_ROWS, "if (idle_i) begin", "if (1'b0) begin", STAGES),
    Fault(STAGE_TOP, ".HasFast(1'b0)", ".HasFast(1'b1)", STAGES_REFUSE),
    // A queue that is too short for what is under way.
    Fault(STAGE_TOP, "1 << $clog2(", "1 << $clog2(1 + 0 * ", STAGES),
];

#[test]
#[ignore = "an engine a fault; `make full` runs it"]
fn quick_faults_of_the_other_architectures_are_caught() {
    all_caught(&QUICK);
}

#[test]
#[ignore = "twenty models; `make full` runs it"]
fn every_fault_of_the_pipelined_unit_is_caught() {
    all_caught(&PIPELINED_FAULTS);
}

#[test]
#[ignore = "23 models; `make full` runs it"]
fn every_fault_of_the_rowers_is_caught() {
    all_caught(&ROWER_FAULTS);
}

#[test]
#[ignore = "22 models; `make full` runs it"]
fn every_fault_of_pipelined_mixed_radix_is_caught() {
    all_caught(&STAGE_FAULTS);
}
