// SPDX-License-Identifier: Apache-2.0
//! Single-line faults in the multiplier; the checks of the other files must catch each.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ringmill_hdl::{Hdl, Optimise};
use ringmill_machines::polymul::Shape;

use crate::common::faulty::Faulty;
use crate::polymul::bench::{Bench, Rng, hdl};
use crate::polymul::lockstep::{every_operation, load_tables};
use crate::polymul::{refusals, rule};

/// A line of the RTL: file, text, what it is changed to, and what must notice.
type Fault = (&'static str, &'static str, &'static str, Check);

/// A check with the machine it runs on.
#[derive(Clone, Copy)]
enum Check {
    /// Of sixteen units: waits between stages.
    Wide(fn(&mut Bench)),
    /// Of four.
    Narrow(fn(&mut Bench)),
    /// Of command arbitration alone.
    Rule,
}

const OPERATIONS: Check = Check::Wide(operations);
const REFUSALS: Check = Check::Narrow(refusals::refusals);
const SLOTS: Check = Check::Narrow(refusals::slots);
const ABORTS: Check = Check::Narrow(refusals::aborts);
const BAD_STREAMS: Check = Check::Narrow(refusals::bad_streams);
const STALLS: Check = Check::Narrow(crate::polymul::stalls);
const BESIDE: Check = Check::Narrow(crate::polymul::beside);
const RULE: Check = Check::Rule;

/// Both polynomials, every operation, waits between stages (8 rows).
fn operations(bench: &mut Bench) {
    let mut rng = Rng::new(0x3a);
    let tables = load_tables(bench, 256, 18);
    every_operation(bench, &mut rng, &tables);
}

impl Check {
    /// Whether RTL passes. A tool that would not do its work is no answer.
    fn passes(self, hdl: &Hdl) -> bool {
        let (units, check) = match self {
            Self::Rule => return rule::check(hdl, |at| at % 31 == 0).unwrap().is_ok(),
            Self::Wide(check) => (16, check),
            Self::Narrow(check) => (4, check),
        };
        let shape = Shape::new(units, 9, 4).unwrap();
        let mut bench = Bench::of(hdl, shape, Optimise::Build);
        catch_unwind(AssertUnwindSafe(|| check(&mut bench))).is_ok()
    }
}

/// Caught in every run of the tests.
const QUICK: [Fault; 3] = [
    (
        "rm_polymul_seq.sv",
        "bank ? {addr0, addr1} : {addr1, addr0}",
        "bank ? {addr1, addr0} : {addr0, addr1}",
        OPERATIONS,
    ),
    (
        "rm_polymul_rule.sv",
        "(kind_q.unload || kind_q.array) && !data",
        "kind_q.unload && !data",
        RULE,
    ),
    (
        "rm_polymul_cmd.sv",
        "state_d.loaded[command_q.set][1] = 1'b0;",
        "state_d.loaded[command_q.set][1] = 1'b1;",
        REFUSALS,
    ),
];

/// Caught by `make full`.
#[rustfmt::skip]
const FAULTS: &[Fault] = &[
    ("rm_polymul_pkg.sv", "WriteLatency = 3 + ButterflyLatency", "WriteLatency = 2 + ButterflyLatency", OPERATIONS),
    ("rm_polymul_pkg.sv", "TurnGap = DepLatency - 2", "TurnGap = 2", OPERATIONS),
    ("rm_polymul_pkg.sv", "DepLatency = WriteLatency + 1", "DepLatency = WriteLatency", OPERATIONS),
    ("rm_polymul_pkg.sv", "CommandLatency = 4", "CommandLatency = 5", OPERATIONS),
    ("rm_polymul_pkg.sv", "op == OpFpm || op == OpAdd || op == OpSub;\n  endfunction\n\n  //", "op == OpFpm || op == OpAdd;\n  endfunction\n\n  //", SLOTS),
    ("rm_polymul_rule.sv", "array_uses = state_i.array_busy && state_i.array_set == set", "array_uses = state_i.array_busy", RULE),
    ("rm_polymul_rule.sv", "state_i.load_busy && !state_i.load_tables && state_i.load_set == set", "state_i.load_busy && state_i.load_set == set", RULE),
    ("rm_polymul_rule.sv", "unload_here = state_i.unload_busy && state_i.unload_set == set", "unload_here = state_i.unload_busy", RULE),
    ("rm_polymul_rule.sv", "state_i.loaded[set][buffer] && (!kind_q.pair || state_i.loaded[set][1])", "state_i.loaded[set][buffer]", RULE),
    ("rm_polymul_rule.sv", "mixed = kind_q.pair && state_i.slot[set][0] != state_i.slot[set][1]", "mixed = 1'b0", RULE),
    ("rm_polymul_rule.sv", "state_i.array_busy && state_i.array_slot == command_q.slot", "state_i.array_busy", RULE),
    ("rm_polymul_rule.sv", "state_i.slot[state_i.unload_set][state_i.unload_buffer] == command_q.slot", "state_i.slot[0][0] == command_q.slot", RULE),
    ("rm_polymul_rule.sv", "load_here && state_i.load_buffer == buffer", "load_here", RULE),
    ("rm_polymul_rule.sv", "unload_here && state_i.unload_buffer == buffer", "unload_here", RULE),
    ("rm_polymul_rule.sv", "kind_q.load && (state_i.load_busy || array_uses || stream_on)", "kind_q.load && (array_uses || stream_on)", RULE),
    ("rm_polymul_rule.sv", "(state_i.unload_busy || array_uses || stream_on)", "(state_i.unload_busy || stream_on)", RULE),
    ("rm_polymul_rule.sv", "state_i.array_busy || load_here || unload_here", "state_i.array_busy || unload_here", RULE),
    ("rm_polymul_rule.sv", "(state_i.array_busy || load_here || unload_here)", "(state_i.array_busy || load_here)", RULE),
    ("rm_polymul_rule.sv", "(state_i.load_busy || array_on || unload_on)", "(state_i.load_busy || unload_on)", RULE),
    ("rm_polymul_rule.sv", "command_i.log_n <= 5'(MaxLogN)", "command_i.log_n < 5'(MaxLogN)", RULE),
    ("rm_polymul_rule.sv", "command_i.log_n >= 5'(MinLogN)", "command_i.log_n > 5'(MinLogN)", RULE),
    ("rm_polymul_rule.sv", "(kind_q.load && !state_i.tables[command_q.slot])", "1'b0", RULE),
    ("rm_polymul_rule.sv", "kind_q.cut && !state_i.load_busy", "kind_q.cut && state_i.load_busy", RULE),
    ("rm_polymul_rule.sv", "assign bad_op = !(", "assign bad_op = 1'b0 && (", RULE),
    ("rm_polymul_rule.sv", "command_i.buffer && !is_pair(command_i.op)", "command_i.buffer", RULE),
    ("rm_polymul_rule.sv", "mixed || idle || bad_op);", "idle || bad_op);", RULE),
    ("rm_polymul_cmd.sv", "if (array_done_i) state_d.array_busy = 1'b0;", "if (array_done_i) state_d.array_busy = 1'b1;", REFUSALS),
    ("rm_polymul_cmd.sv", "if (unload_done_i) state_d.unload_busy = 1'b0;", "if (unload_done_i) state_d.unload_busy = 1'b1;", REFUSALS),
    ("rm_polymul_cmd.sv", "tables[state_q.load_slot] = load_code_i == CodeOk", "tables[state_q.load_slot] = 1'b1", BAD_STREAMS),
    ("rm_polymul_cmd.sv", "[state_q.load_buffer] = load_code_i == CodeOk", "[state_q.load_buffer] = 1'b1", BAD_STREAMS),
    ("rm_polymul_cmd.sv", "state_d.tables[command_q.slot] = 1'b0;", "state_d.tables[command_q.slot] = 1'b1;", REFUSALS),
    ("rm_polymul_cmd.sv", "if (state_q.slot[s][b] == command_q.slot)", "if (state_q.slot[s][b] != command_q.slot)", REFUSALS),
    ("rm_polymul_cmd.sv", "[command_q.buffer] = command_q.slot;", "[command_q.buffer] = 1'b0;", SLOTS),
    ("rm_polymul_cmd.sv", "state_q.slot[command_q.set][kind_q.first]", "state_q.slot[command_q.set][1'b0]", SLOTS),
    ("rm_polymul_cmd.sv", "{unload_done_i, load_done_i, array_done_i}", "{unload_done_i, array_done_i, load_done_i}", REFUSALS),
    ("rm_polymul_cmd.sv", "state_d.load_slot = command_q.slot;", "state_d.load_slot = 1'b0;", SLOTS),
    ("rm_polymul_cmd.sv", "abort_q <= go && kind_q.cut;", "abort_q <= 1'b0;", ABORTS),
    ("rm_polymul_cmd.sv", "rsp_valid_q <= valid_q;", "rsp_valid_q <= valid_i;", REFUSALS),
    ("rm_polymul_cmd.sv", "assign go = valid_q && ok;", "assign go = valid_q;", REFUSALS),
    ("rm_polymul_cmd.sv", "state_d.array_set = command_q.set;", "state_d.array_set = 1'b0;", SLOTS),
    ("rm_polymul_config.sv", "sum_i ? one_q[array_slot_i]", "sum_i ? scale_q[array_slot_i]", OPERATIONS),
    ("rm_polymul_config.sv", "q_q <= modulus_q[array_slot_i]", "q_q <= modulus_q[slot_i]", SLOTS),
    ("rm_polymul_config.sv", "modulus_we_i ? q_i : modulus_q[slot_i]", "modulus_q[slot_i]", REFUSALS),
    ("rm_polymul_config.sv", "(32'(LaneBits + 1) << log_rows) - 32'd1", "32'(LaneBits + 1) << log_rows", OPERATIONS),
    ("rm_polymul_config.sv", "unload_log_n_o = log_n_q[unload_slot_i]", "unload_log_n_o = log_n_q[slot_i]", SLOTS),
    ("rm_polymul_config.sv", "rows_o = rows_q[array_slot_i]", "rows_o = rows_q[slot_i]", SLOTS),
    ("rm_polymul_seq.sv", "more = (WaitWidth + 1)'(hot_q >> 1);", "more = '0;", OPERATIONS),
    ("rm_polymul_seq.sv", "stage_q == '0) ? TwAddrWidth'(0) : tw_q", "stage_q == '0) ? tw_q : tw_q", OPERATIONS),
    ("rm_polymul_seq.sv", "more = (WaitWidth + 1)'(hot_q);", "more = '0;", OPERATIONS),
    ("rm_polymul_seq.sv", "bank ^ (pass_q == Sum && op_q == OpSub)", "bank", OPERATIONS),
    ("rm_polymul_seq.sv", "operand.zero_u = pass_q == Scale || pass_q == Product", "operand.zero_u = pass_q == Scale", OPERATIONS),
    ("rm_polymul_seq.sv", "if (read_q) inverse_held_q <= inverse_q;", "inverse_held_q <= inverse_q;", OPERATIONS),
    ("rm_polymul_seq.sv", "op_i == OpMul || op_i == OpAdd || op_i == OpSub;\n        last_d", "op_i == OpMul || op_i == OpSub;\n        last_d", OPERATIONS),
    ("rm_polymul_seq.sv", "assign bank = (^count_q) ^ buf_q;", "assign bank = (^count_q);", OPERATIONS),
    ("rm_polymul_seq.sv", "finish_d = stage_q == '0;", "finish_d = stage_q == 5'd1;", OPERATIONS),
    ("rm_polymul_seq.sv", ".Depth(WriteLatency - 1)", ".Depth(WriteLatency - 2)", OPERATIONS),
    ("rm_polymul_seq.sv", "if (hot_q[0] && !final_stage) route", "if (hot_q[0]) route", OPERATIONS),
    ("rm_polymul_seq.sv", "if (!climbs) route.net", "if (climbs) route.net", OPERATIONS),
    ("rm_polymul_seq.sv", "(pass_q == Inverse) ? tw_q - TwAddrWidth'(low_end)", "(pass_q == Inverse) ? tw_q - 1'b1", OPERATIONS),
    ("rm_polymul_seq.sv", "stage_q <= {1'b0, log_rows_q}", "stage_q < {1'b0, log_rows_q}", OPERATIONS),
    ("rm_polymul_seq.sv", "rows_i - (RowBits + 1)'(2)", "rows_i - (RowBits + 1)'(3)", OPERATIONS),
    ("rm_polymul_seq.sv", "low_d = low_q >> 1;", "low_d = low_q;", OPERATIONS),
    ("rm_polymul_seq.sv", "if (pair) lack = lack_double_q;", "", OPERATIONS),
    ("rm_polymul_seq.sv", "waits_d = gap_q != '0;", "waits_d = 1'b0;", OPERATIONS),
    ("rm_polymul_seq.sv", "slot_q <= slot_i;", "slot_q <= 1'b0;", SLOTS),
    ("rm_polymul_access.sv", "(|array_we_i) && array_wset_i == 1'(s)", "(|array_we_i)", SLOTS),
    ("rm_polymul_access.sv", "array_reads[s] || (unload_read_i && unload_set_i == 1'(s))", "array_reads[s]", REFUSALS),
    ("rm_polymul_access.sv", "load_we_i[p][b] && load_set_i == 1'(s)", "load_we_i[p][b]", SLOTS),
    ("rm_polymul_access.sv", "array_read_i && array_set_i == 1'(s)", "array_read_i", BESIDE),
    ("rm_polymul_net.sv", "(l * 2) % Lanes + (l * 2) / Lanes", "(l * 2) % Lanes", OPERATIONS),
    ("rm_polymul_pu.sv", "WMirror: w_d = tw_mirror_i", "WMirror: w_d = tw_o", OPERATIONS),
    ("rm_polymul_pu.sv", "read = rdata_o[operand.set]", "read = rdata_o[0]", OPERATIONS),
    ("rm_polymul_pu.sv", "array_writes[s] ? lane_q[b]", "array_writes[0] ? lane_q[b]", OPERATIONS),
    ("rm_polymul_pu.sv", "lane_q[1] <= route.swap ? lane0_i : lane1_i", "lane_q[1] <= lane1_i", OPERATIONS),
    ("rm_polymul_load.sv", "UnitBits'({mask_q, 1'b1})", "mask_q", OPERATIONS),
    ("rm_polymul_load.sv", "state_d = Drop;", "state_d = Idle;", BAD_STREAMS),
    ("rm_polymul_load.sv", "log_n_i >= 5'(i)", "log_n_i > 5'(i)", BAD_STREAMS),
    ("rm_polymul_load.sv", "|| data_q[0][Width-1:1] == '0 ||", "||", BAD_STREAMS),
    ("rm_polymul_load.sv", "unreduced_q <= unreduced_q || unreduced", "unreduced_q <= unreduced", BAD_STREAMS),
    ("rm_polymul_load.sv", "short_d = !last_beat", "short_d = 1'b0", BAD_STREAMS),
    ("rm_polymul_load.sv", "aborted_q <= abort_i && !(beat && in_last_i)", "aborted_q <= 1'b0", ABORTS),
    ("rm_polymul_load.sv", "beat && (state_q == Constants || state_q", "beat && (state_q", BAD_STREAMS),
    ("rm_polymul_load.sv", "if (!first_q) mask_d", "mask_d", OPERATIONS),
    ("rm_polymul_load.sv", "parity_q <= parity;", "parity_q <= 1'b0;", OPERATIONS),
    ("rm_polymul_load.sv", "if (abort_i && state_q != Idle) finish = 1'b1;", "if (abort_i && state_q == Beats) finish = 1'b1;", ABORTS),
    ("rm_polymul_load.sv", "else if (short_q) code_d = CodeTooShort;", "", BAD_STREAMS),
    ("rm_polymul_load.sv", "tw_waddr_o <= {slot_q, tw_addr_q}", "tw_waddr_o <= {1'b0, tw_addr_q}", SLOTS),
    ("rm_polymul_unload.sv", "parity: (^row) ^ buffer_q", "parity: (^row)", OPERATIONS),
    ("rm_polymul_unload.sv", "ahead_q != 4'(Ahead)", "1'b1", STALLS),
    ("rm_polymul_unload.sv", "(log_n_i - 5'(BeatBits))) - 32'd1", "(log_n_i - 5'(BeatBits)))", REFUSALS),
    ("rm_polymul_unload.sv", "valid_q <= read_q", "valid_q <= issue", REFUSALS),
    ("rm_polymul_unload.sv", "state_q == Drain && pop && out_last_o", "state_q == Drain && pop", REFUSALS),
    ("rm_polymul.sv", "array_op_q == OpAdd || array_op_q == OpSub", "array_op_q == OpAdd", OPERATIONS),
    ("rm_polymul.sv", ".tw_mirror_i(tw[Units-1-p])", ".tw_mirror_i(tw[p])", OPERATIONS),
    ("rm_polymul.sv", "start_load && started.op == OpTables", "start_load", REFUSALS),
    ("rm_butterfly.sv", "halves ? sum_half : pre", "halves ? early0_q : pre", OPERATIONS),
    ("rm_polymul_seq.sv", "tw_d = tw_start_q;", "tw_d = tw_start_q + 1'b1;", OPERATIONS),
];

fn all_caught(faults: &[Fault]) {
    let mut missed = Vec::new();
    for fault in faults {
        let (file, from, to, check) = fault;
        let copy = Faulty::copy(file, from, to);
        let hdl = hdl().with_sources(&[copy.root()]).unwrap();
        let caught = !check.passes(&hdl);
        println!("{file}: {from} -> {to}: {caught}");
        if !caught {
            missed.push(format!("{file}: {to}"));
        }
    }
    assert!(missed.is_empty(), "not caught: {missed:#?}");
}

/// The checks pass on what they are to find faults in.
#[test]
#[ignore = "half a minute; `make full` runs it, beside the faults"]
fn the_checks_pass_without_a_fault() {
    for check in [
        OPERATIONS,
        REFUSALS,
        SLOTS,
        ABORTS,
        BAD_STREAMS,
        STALLS,
        BESIDE,
    ] {
        assert!(check.passes(&hdl()));
    }
}

#[test]
#[ignore = "three models; `make full` runs it"]
fn swapped_addresses_and_lost_data_bits_are_caught() {
    all_caught(&QUICK);
}

/// A model for each: minutes.
#[test]
#[ignore = "a model for each fault, a quarter of an hour; `make full` runs it"]
fn every_fault_is_caught() {
    all_caught(FAULTS);
}
