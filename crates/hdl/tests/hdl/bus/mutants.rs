// SPDX-License-Identifier: Apache-2.0
//! Single-line faults in the shell, each of which some check must report.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::bus::{CHECKS, hdl};
use crate::common::faulty::Faulty;

/// That `Answer` is cleared with each command is not among them: the answer is there before any host could ask.
/// Nor is that half a word is not offered as an access: it is answered in its first cycle, before it could be judged.
///
/// File below `rtl/bus`, what stands there once, what stands there instead.
const FAULTS: &[(&str, &str, &str)] = &[
    // Bursts.
    (
        "rm_axi_bursts",
        "- {1'b0, word_q[ByteBits+:BurstBits]}",
        "- {1'b0, word_q[ByteBits+:BurstBits] & 1'b1}",
    ),
    (
        "rm_axi_bursts",
        "valid_q <= valid_q ? !ready_i : fetch",
        "valid_q <= fetch",
    ),
    (
        "rm_axi_bursts",
        "len_q <= 8'(size_q - 1'b1)",
        "len_q <= 8'(size_q)",
    ),
    (
        "rm_axi_bursts",
        "word_q <= word_q + (AddrWidth - ByteBits)'(size_q)",
        "word_q <= word_q + 1'b1",
    ),
    (
        "rm_axi_bursts",
        "word_q <= addr_i[AddrWidth-1:ByteBits]",
        "word_q <= (AddrWidth - ByteBits)'(addr_i[31:ByteBits])",
    ),
    // The read.
    (
        "rm_axi_read",
        "last_q <= left_q == CountWidth'(2)",
        "last_q <= left_q == CountWidth'(3)",
    ),
    ("rm_axi_read", "(failed_q || (left && bad))", "failed_q"),
    (
        "rm_axi_read",
        "ahead_q != AheadBits'(Ahead)",
        "ahead_q <= AheadBits'(Ahead)",
    ),
    ("rm_axi_read", "m_rresp_i != 2'b00", "m_rresp_i == 2'b01"),
    // The write.
    (
        "rm_axi_write",
        "place_q == BurstBits'(Burst - 1)",
        "place_q == BurstBits'(Burst - 2)",
    ),
    ("rm_axi_write", "!ended_q, data_i", "1'b1, data_i"),
    ("rm_axi_write", "last_i != final_q", "last_i && !final_q"),
    ("rm_axi_write", "last_i != final_q", "!last_i && final_q"),
    ("rm_axi_write", "ahead_q == AheadBits'(answered)", "room"),
    (
        "rm_axi_write",
        "answered && m_bresp_i != 2'b00",
        "answered && m_bresp_i == 2'b01",
    ),
    (
        "rm_axi_write",
        "move = open_q != '0 && room",
        "move = room && left_q != '0",
    ),
    (
        "rm_axi_write",
        "ahead_q != AheadBits'(Ahead) &&",
        "ahead_q <= AheadBits'(Ahead) &&",
    ),
    // AXI4-Lite.
    (
        "rm_axil",
        "(error_i || !whole_q) ? SlvErr",
        "error_i ? SlvErr",
    ),
    ("rm_axil", "b_q ? !s_bready_i : write_done", "write_done"),
    ("rm_axil", "r_q ? !s_rready_i : read_done", "read_done"),
    (
        "rm_axil",
        "rresp_q <= error_i ? SlvErr : Okay",
        "rresp_q <= Okay",
    ),
    ("rm_axil", "if (!w_q) begin", "if (s_wvalid_i) begin"),
    ("rm_axil", "&& !b_q && !reading_q", "&& !b_q"),
    // The registers.
    ("rm_shell", "(events_q & ~cleared)", "events_q"),
    (
        "rm_shell",
        "(go && addr == 12'h01c) ? wdata[Events-1:0] : '0",
        "(go && addr == 12'h01c) ? '1 : '0",
    ),
    ("rm_shell", "|(events_q & enable_q)", "|events_q"),
    (
        "rm_shell",
        "write && !startable_q[0]",
        "write && startable_q[1]",
    ),
    (
        "rm_shell",
        "startable_q[i] <= !moving[i] &&",
        "startable_q[i] <=",
    ),
    ("rm_shell", "wdata[CountWidth-1:0] != '0 &&", ""),
    ("rm_shell", "&aligned[i] &&", ""),
    (
        "rm_shell",
        "cycles_q <= cycles_q + 1'b1",
        "cycles_q <= cycles_q + 64'(busy_i)",
    ),
    ("rm_shell", "finished[1] && |length,", "1'b0,"),
    (
        "rm_shell",
        "m_awburst_o = {Ports{2'b01}}",
        "m_awburst_o = {Ports{2'b10}}",
    ),
    ("rm_shell", "error_d = !word_aligned", "error_d = 1'b0"),
    // The machine.
    (
        "rm_polymul_axi",
        "refused_q <= cmd_valid && !known",
        "refused_q <= 1'b0",
    ),
    (
        "rm_polymul_axi",
        "cmd_valid_q <= cmd_valid && known",
        "cmd_valid_q <= cmd_valid",
    ),
    ("rm_polymul_axi", ".cmd_set_i(cmd[4])", ".cmd_set_i(cmd[5])"),
    ("rm_polymul_axi", ".cmd_eval_i(cmd[6])", ".cmd_eval_i(1'b0)"),
];

/// The one that every run tries.
const SAMPLE: [usize; 1] = [1];

/// Puts the fault into a copy of the RTL; whether a check reports it.
fn caught(number: usize) -> bool {
    let (file, from, to) = FAULTS[number];
    let copy = Faulty::copy(&format!("{file}.sv"), from, to);
    let faulty = hdl().with_sources(&[copy.root()]).unwrap();
    // What does not build proves nothing.
    drop(crate::bus::bus(&faulty, 1));
    CHECKS
        .iter()
        .any(|check| catch_unwind(AssertUnwindSafe(|| check(&faulty))).is_err())
}

#[test]
fn some_faults_are_caught() {
    for number in SAMPLE {
        assert!(caught(number), "{:?} is not caught", FAULTS[number]);
    }
}

#[test]
#[ignore = "builds the machine once for each fault, ten minutes; `make full` runs it"]
fn all_faults_are_caught() {
    let alive: Vec<_> = (0..FAULTS.len())
        .filter(|&number| !caught(number))
        .collect();
    let alive: Vec<_> = alive.into_iter().map(|number| FAULTS[number]).collect();
    assert!(alive.is_empty(), "not caught: {alive:#?}");
}
