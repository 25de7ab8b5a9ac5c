// SPDX-License-Identifier: Apache-2.0
//! Single-line faults in the leaves; the checks of the other files must catch each. A check that lets one pass checks
//! nothing of what the line is there for.

use ringmill_hdl::leaves::MULTIPLIERS;
use ringmill_hdl::{Hdl, HdlError};

use crate::common::failure::{Check, Failure};
use crate::common::faulty::Faulty;
use crate::rtl::support::{hdl, seed};
use crate::rtl::{arith, butterfly, library, wide};

/// A line of the RTL, changed.
struct Fault {
    file: &'static str,
    from: &'static str,
    to: &'static str,
    check: fn(&Hdl, u64) -> Check,
}

const fn fault(
    file: &'static str,
    from: &'static str,
    to: &'static str,
    check: fn(&Hdl, u64) -> Check,
) -> Fault {
    Fault {
        file,
        from,
        to,
        check,
    }
}

fn wordmont(hdl: &Hdl, seed: u64) -> Check {
    arith::check_multiplier(hdl, &MULTIPLIERS[0], seed)
}

fn mont17(hdl: &Hdl, seed: u64) -> Check {
    arith::check_multiplier(hdl, &MULTIPLIERS[1], seed)
}

fn sparse(hdl: &Hdl, seed: u64) -> Check {
    arith::check_multiplier(hdl, &MULTIPLIERS[3], seed)
}

fn solinas(hdl: &Hdl, seed: u64) -> Check {
    arith::check_multiplier(hdl, &MULTIPLIERS[5], seed)
}

fn ntt_friendly(hdl: &Hdl, seed: u64) -> Check {
    arith::check_multiplier(hdl, &MULTIPLIERS[6], seed)
}

fn wordmont_butterfly(hdl: &Hdl, seed: u64) -> Check {
    butterfly::check_butterfly(hdl, &MULTIPLIERS[0], seed)
}

fn wide32(hdl: &Hdl, seed: u64) -> Check {
    wide::check_wide(hdl, 32, 9, 8, seed)
}

fn wide61(hdl: &Hdl, seed: u64) -> Check {
    wide::check_wide(hdl, 61, 9, 14, seed)
}

/// Caught in every run of the tests.
const QUICK: [Fault; 5] = [
    // A sum whose upper part does not hear of the lower one's carry.
    fault(
        "arith/rm_wide_step.sv",
        "upper_q + Upper'($signed(lower_q[Part+:Carry]))",
        "upper_q",
        wide61,
    ),
    // A step that looks at the wrong word.
    fault(
        "arith/rm_wm_step.sv",
        "t_i[WordMax-1:0] & mask_i",
        "t_i[WordMax-1:0] & (mask_i >> 1)",
        wordmont,
    ),
    // The correction on one side only, as the torus paper prints it.
    fault(
        "arith/rm_red_solinas52.sv",
        "v_q[54] ? v_more[51:0] : ",
        "",
        solinas,
    ),
    // A missing pipeline stage beside the multiplier.
    fault(
        "ntt/rm_butterfly.sv",
        ".Depth(MulLatency - 1)",
        ".Depth(MulLatency - 2)",
        wordmont_butterfly,
    ),
    // A queue that takes one word too many.
    fault(
        "lib/rm_fifo.sv",
        "count_q != CountWidth'(Depth)",
        "count_q <= CountWidth'(Depth)",
        library::check_fifo,
    ),
];

/// Caught by `make full`.
const FAULTS: [Fault; 45] = [
    fault(
        "lib/rm_delay.sv",
        "line_q[Depth-1]",
        "line_q[0]",
        library::check_delay,
    ),
    fault(
        "lib/rm_valid.sv",
        "Depth'({line_q, valid_i})",
        "Depth'({line_q, line_q[0] | valid_i})",
        mont17,
    ),
    fault(
        "lib/rm_ram_1r1w.sv",
        "if (re_i) rdata_q",
        "rdata_q",
        library::check_ram_1r1w,
    ),
    fault(
        "lib/rm_ram_1r1w.sv",
        ".Depth(int'(OutReg))",
        ".Depth(1)",
        library::check_ram_1r1w,
    ),
    fault(
        "lib/rm_ram_2rw.sv",
        "mem[b_addr_i] <= b_wdata_i;\n        else",
        "mem[a_addr_i] <= b_wdata_i;\n        else",
        library::check_ram_2rw,
    ),
    fault(
        "lib/rm_ram_2rw.sv",
        "b_rdata_q <= a_wdata_i",
        "b_rdata_q <= b_wdata_i",
        library::check_ram_2rw,
    ),
    fault(
        "lib/rm_fifo.sv",
        "(tail_q == Last) ? '0 : ",
        "",
        library::check_fifo,
    ),
    fault(
        "lib/rm_fifo.sv",
        "- CountWidth'(pop)",
        "",
        library::check_fifo,
    ),
    fault(
        "lib/rm_skid.sv",
        "spare_valid_q ? spare_q : data_i",
        "data_i",
        library::check_skid,
    ),
    fault(
        "lib/rm_skid.sv",
        "!out_valid_q | ready_i",
        "ready_i",
        library::check_skid,
    ),
    fault(
        "arith/rm_mod_add.sv",
        "less_q[Width+1] ?",
        "sum[Width] ?",
        arith::check_combinational,
    ),
    fault(
        "arith/rm_mod_sub.sv",
        "borrow ? q_i",
        "!borrow ? q_i",
        arith::check_combinational,
    ),
    fault(
        "arith/rm_mod_half.sv",
        " + Width'(a_i[0])",
        "",
        arith::check_combinational,
    ),
    fault(
        "arith/rm_add_tree.sv",
        "group_d[g] - x_i[k]",
        "group_d[g] + x_i[k]",
        sparse,
    ),
    fault(
        "arith/rm_add_tree.sv",
        "rm_arith_pkg::min2(Radix, Operands - First)",
        "1",
        arith::check_tiled,
    ),
    fault(
        "arith/rm_add_tree.sv",
        "always_ff @(posedge clk_i) group_q <= group_d",
        "assign group_q = group_d",
        arith::check_tiled,
    ),
    fault(
        "arith/rm_mul_tiled.sv",
        "i * TileA + j * TileB",
        "j * TileA + i * TileB",
        arith::check_tiled,
    ),
    fault(
        "arith/rm_mul_tiled.sv",
        "k < WidthB; k++",
        "k + 1 < WidthB; k++",
        arith::check_tiled,
    ),
    fault(
        "arith/rm_wm_step.sv",
        "OutWidth'(high) + OutWidth'(prod)",
        "OutWidth'(high) - OutWidth'(prod)",
        wordmont,
    ),
    fault(
        "arith/rm_red_wordmont.sv",
        "WordWidth'(WordMin)",
        "WordWidth'(WordMin + 1)",
        wordmont,
    ),
    fault("arith/rm_wm_step.sv", "MaySkip & skip_i", "1'b0", wordmont),
    fault(
        "arith/rm_red_wordmont.sv",
        "k < word_i",
        "k <= word_i",
        wordmont,
    ),
    fault(
        "arith/rm_red_wordmont.sv",
        ".skip_i(!three_i)",
        ".skip_i(three_i)",
        wordmont,
    ),
    fault(
        "arith/rm_red_wordmont.sv",
        "t3[Width] ? q_i : '0",
        "t3[Width] ? '0 : q_i",
        wordmont,
    ),
    // A word wider than the zeros of q, taken as if it were not.
    fault(
        "arith/rm_mont_step.sv",
        " - qh[Extra-1:0] * t_i[Extra-1:0]",
        "",
        ntt_friendly,
    ),
    fault(
        "arith/rm_mont_step.sv",
        "<= -$signed({1'b0, qh})",
        "<= $signed({1'b0, qh})",
        ntt_friendly,
    ),
    // A sum that loses its sign between the DSP block and what lies above it.
    fault(
        "arith/rm_mont_step.sv",
        " - (HighWidth - Part)'(sum_q[Part])",
        "",
        ntt_friendly,
    ),
    fault(
        "arith/rm_red_mont.sv",
        "left[Steps][Width] ? q_i",
        "left[Steps][Width-1] ? q_i",
        mont17,
    ),
    fault(
        "arith/rm_red_mont.sv",
        "rm_arith_pkg::min2(steps * Word, Width)",
        "steps * Word",
        ntt_friendly,
    ),
    fault(
        "arith/rm_arith_pkg.sv",
        "plus[6'(sparse_digit(width, q, n))]",
        "!plus[6'(sparse_digit(width, q, n))]",
        sparse,
    ),
    fault(
        "arith/rm_add_select.sv",
        "low[Most] ? more : high",
        "high",
        arith::check_lazy,
    ),
    fault(
        "arith/rm_mul_cascade.sv",
        ".Depth(Tiles - 2 - j)",
        ".Depth(Tiles - 1 - j)",
        arith::check_cascade,
    ),
    fault(
        "arith/rm_mul_cascade.sv",
        "(at <= TileB + 45) ? 1 : 3",
        "1",
        arith::check_cascade,
    ),
    fault(
        "arith/rm_mul_cascade.sv",
        "a_late[j+1][2*TileA+r] ?",
        "a_late[j][2*TileA+r] ?",
        arith::check_cascade,
    ),
    fault(
        "arith/rm_mul_cascade.sv",
        "48'(a_late[j+1] >> Width)",
        "48'(a_late[j] >> Width)",
        arith::check_cascade,
    ),
    fault(
        "arith/rm_mul_cascade.sv",
        "+ (BWidth - Lo + 1)'(low_q[Lo])",
        "",
        arith::check_cascade,
    ),
    fault(
        "lib/rm_dsp_mac.sv",
        "pc_i >>> 17",
        "pc_i >>> 16",
        arith::check_cascade,
    ),
    fault(
        "arith/rm_red_lazy.sv",
        "{1'b1, t_i[Top-1:0]}",
        "{1'b0, t_i[Top-1:0]}",
        arith::check_lazy,
    ),
    fault(
        "arith/rm_red_lazy.sv",
        "{most[TimesWidth-2:0], Less >= n}",
        "{most[TimesWidth-2:0], 1'b0}",
        arith::check_lazy,
    ),
    fault(
        "arith/rm_red_lazy.sv",
        ".carry_i(!Down)",
        ".carry_i(1'b1)",
        arith::check_lazy,
    ),
    fault(
        "arith/rm_red_lazy.sv",
        "rest_low_q <= rest_q[Shift-1:0];",
        "rest_low_q <= y_q[Shift-1:0];",
        arith::check_lazy,
    ),
    fault(
        "arith/rm_red_sparse.sv",
        "z_less[LastWidth-1] ? z",
        "z_less[0] ? z",
        sparse,
    ),
    fault(
        "arith/rm_red_solinas52.sv",
        "{3'b0, a_q, 40'b0}",
        "{2'b0, a_q, 41'b0}",
        solinas,
    ),
    fault(
        "ntt/rm_butterfly.sv",
        "halves ? diff_half :",
        "halves ? sum_half :",
        wordmont_butterfly,
    ),
    fault(
        "ntt/rm_butterfly.sv",
        "(mode_i == BfSum) ? one_i : w_i",
        "w_i",
        wordmont_butterfly,
    ),
];

/// The same, of the multipliers of 61 and 32 bits.
const WIDE_FAULTS: [Fault; 15] = [
    fault(
        "arith/rm_wide_product.sv",
        "y[2*k] ^ y[2*k+1]",
        "y[2*k] | y[2*k+1]",
        wide32,
    ),
    fault(
        "arith/rm_wide_product.sv",
        "{x, 1'b0}) : '0)",
        "x) : '0)",
        wide32,
    ),
    fault(
        "arith/rm_wide_product.sv",
        "{term, minus}",
        "{term, 1'b0}",
        wide32,
    ),
    fault(
        "arith/rm_wide_product.sv",
        "sum >>> 2, 1'b1",
        "$unsigned(sum) >> 2, 1'b1",
        wide32,
    ),
    fault(
        "arith/rm_wide_product.sv",
        "(2 * Width)'(left_q) << TileA",
        "(2 * Width)'(left_q) << TileB",
        wide32,
    ),
    fault(
        "arith/rm_wide_step.sv",
        "Extra'(triple)",
        "qh[Extra-1:0]",
        wide61,
    ),
    fault(
        "arith/rm_wide_step.sv",
        "(x[1] & y[0] & x[0] & y[1])",
        "1'b0",
        wide61,
    ),
    fault(
        "arith/rm_wide_step.sv",
        "i + 3 < Extra",
        "i + 5 < Extra",
        wide61,
    ),
    fault(
        "arith/rm_wide_step.sv",
        "k < Bits; k++",
        "k + 1 < Bits; k++",
        wide61,
    ),
    fault(
        "arith/rm_wide_step.sv",
        "product[j%2] | ",
        "product[0] | ",
        wide61,
    ),
    fault("arith/rm_wide_product.sv", "row[j][i%2] | ", "", wide61),
    fault(
        "arith/rm_wide_product.sv",
        "always_ff @(posedge clk_i) high_q[k] <=",
        "always_comb high_q[k] =",
        wide61,
    ),
    fault(
        "arith/rm_wide_red.sv",
        "last[LastWidth-1] ?",
        "!last[LastWidth-1] ?",
        wide61,
    ),
    fault(
        "arith/rm_wide_pkg.sv",
        "{high[TripleWidth-2:0], 1'b0}",
        "'0",
        wide61,
    ),
    fault(
        "arith/rm_wide_pkg.sv",
        "product_latency(width) + 2 * k +",
        "product_latency(width) + 2 * k - 1 +",
        wide61,
    ),
];

fn all_caught(faults: &[Fault]) {
    let mut missed = Vec::new();
    for fault in faults {
        let copy = Faulty::copy(fault.file, fault.from, fault.to);
        let hdl = hdl().with_sources(&[copy.root()]).unwrap();
        match (fault.check)(&hdl, seed()) {
            // What a check or an assertion of the RTL found.
            Err(Failure::Mismatch(_) | Failure::Tool(HdlError::Simulation(_))) => {}
            // A model that does not build or run says nothing of the check.
            Err(Failure::Tool(error)) => missed.push(format!("{}: {error}", fault.file)),
            Ok(()) => missed.push(format!("{}: `{}` passes", fault.file, fault.to)),
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
#[ignore = "builds each faulty module, most of a minute; `make full` runs it"]
fn quick_faults_are_caught() {
    all_caught(&QUICK);
}

#[test]
#[ignore = "thirty models; `make full` runs it"]
fn every_fault_is_caught() {
    all_caught(&FAULTS);
    all_caught(&WIDE_FAULTS);
}
