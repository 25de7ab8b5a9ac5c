// SPDX-License-Identifier: Apache-2.0
//! Single-line faults in the vector machine's leaves; the checks of the other files must catch each.

use std::path::Path;

use ringmill_hdl::HdlError;

use crate::common::failure::Failure;
use crate::common::faulty::Faulty;
use crate::common::setup::{hdl, seed};
use crate::vector::ranks::Checker;
use crate::vector::{arith, buffer, mac, machine, ntt, permutation, queue};

/// A line of the RTL, changed.
struct Fault(&'static str, &'static str, &'static str, Checker);

/// Caught by `make full`.
const FAULTS: [Fault; 60] = [
    // Twice the product of a word and h, which is once.
    Fault(
        "vector/rm_vector_red.sv",
        "(Width + Word + 1)'({multiple[0], 1'b0})",
        "(Width + Word + 1)'(multiple[0])",
        arith::check_multiplier,
    ),
    // Elastic control.
    Fault(
        "vector/rm_vector_pipe.sv",
        "{Chain{leave_early_i || leave_i}}",
        "{Chain{leave_i}}",
        mac::check_mac,
    ),
    Fault(
        "vector/rm_vector_pipe.sv",
        "reach *= 2",
        "reach += 2",
        mac::check_mac,
    ),
    Fault(
        "vector/rm_vector_pipe.sv",
        "AgeWidth'(Period - 1)",
        "AgeWidth'(Period - 2)",
        mac::check_mac,
    ),
    Fault(
        "vector/rm_vector_pipe.sv",
        "!full_on[0] || leave_early_i",
        "!full_on[0]",
        mac::check_mac,
    ),
    Fault(
        "vector/rm_vector_pipe.sv",
        "left_q[Chain-1] <= AgeWidth'(1)",
        "left_q[Chain-1] == '0",
        mac::check_mac,
    ),
    Fault(
        "vector/rm_vector_mac.sv",
        "soon && leaving.d_kind != KindChunk",
        "1'b0",
        mac::check_mac,
    ),
    Fault(
        "vector/rm_vector_mac.sv",
        "!valid_i && since_q == '0",
        "!valid_i",
        mac::check_mac,
    ),
    Fault(
        "vector/rm_vector_rank.sv",
        "if (move_i) word_q <= d_i",
        "word_q <= d_i",
        arith::check_multiplier,
    ),
    Fault(
        "vector/rm_vector_delay.sv",
        ".move_i(move_i[s])",
        ".move_i(move_i[0])",
        arith::check_both_butterflies,
    ),
    // Multiplication.
    Fault(
        "vector/rm_vector_tiles.sv",
        "b_i[Width-1:Low]",
        "b_i[Width-1:Low-1]",
        arith::check_multiplier,
    ),
    Fault(
        "vector/rm_vector_mul.sv",
        "high + (Width + High)'",
        "high | (Width + High)'",
        arith::check_multiplier,
    ),
    Fault(
        "vector/rm_vector_mul.sv",
        ".q_i(q_i[3:1])",
        ".q_i(q_i[2:0])",
        arith::check_multiplier,
    ),
    // A stage that does not wait for its items.
    Fault(
        "vector/rm_vector_pipe.sv",
        "full_q[s] && !left[s] && left_q[s] <= AgeWidth'(1)",
        "full_q[s]",
        mac::check_mac,
    ),
    Fault(
        "vector/rm_vector_red.sv",
        "(2 * Word - 1)'(first[Word-1:0])",
        "(2 * Word - 1)'(first[Word-2:0])",
        arith::check_multiplier,
    ),
    Fault(
        "vector/rm_vector_red.sv",
        "$signed(first[Width+Word:Word])",
        "$signed({1'b0, first[Width+Word-1:Word]})",
        arith::check_multiplier,
    ),
    Fault(
        "vector/rm_vector_red.sv",
        "second[Width] ? h[2]",
        "second[Width] ? h[1]",
        arith::check_multiplier,
    ),
    // Butterflies.
    Fault(
        "vector/rm_vector_halfsum.sv",
        "sum_less[Wide-1] ? sum : sum_less",
        "sum",
        arith::check_both_butterflies,
    ),
    Fault(
        "vector/rm_vector_halfsum.sv",
        "difference + (q <<< 1)",
        "difference + q",
        arith::check_both_butterflies,
    ),
    Fault(
        "vector/rm_vector_halfsum.sv",
        "sum_less[Wide-1] ? sum_more : sum_less",
        "sum_more",
        arith::check_both_butterflies,
    ),
    Fault(
        "vector/rm_vector_halfsum.sv",
        "pass_i ? v_i",
        "pass_i ? u_i",
        arith::check_both_butterflies,
    ),
    Fault(
        "vector/rm_vector_butterfly.sv",
        ".q_i(q_i[Stages-1:1])",
        ".q_i(q_i[Stages-2:0])",
        arith::check_both_butterflies,
    ),
    // Permutations.
    Fault(
        "vector/rm_vector_net.sv",
        ") ^ c_i;\n    end\n  end else",
        ") + c_i;\n    end\n  end else",
        permutation::check_nets,
    ),
    Fault(
        "vector/rm_vector_net.sv",
        "LogLanes'(j << LogLow) + b_i",
        "LogLanes'(j << LogLow) - b_i",
        permutation::check_nets,
    ),
    Fault(
        "vector/rm_vector_net.sv",
        "LogLanes'(i) ^ c_i",
        "LogLanes'(i) + c_i",
        permutation::check_nets,
    ),
    Fault(
        "vector/rm_vector_net.sv",
        "assign swap = pattern[2*j][0];",
        "assign swap = pattern[2*j][Left-1];",
        permutation::check_nets,
    ),
    Fault(
        "vector/rm_vector_inverse.sv",
        "^ Width'(2)",
        "^ Width'(0)",
        permutation::check_small_morphs,
    ),
    Fault(
        "vector/rm_vector_inverse.sv",
        "Width'(2) - g[k] * x[k]",
        "Width'(1) - g[k] * x[k]",
        permutation::check_small_morphs,
    ),
    Fault(
        "vector/rm_vector_turn.sv",
        "+ h[LogN:1]",
        "+ h[LogN-1:0]",
        permutation::check_small_morphs,
    ),
    Fault(
        "vector/rm_vector_turn.sv",
        "row + LogLanes'(l)",
        "row",
        permutation::check_small_morphs,
    ),
    Fault(
        "vector/rm_vector_morph.sv",
        ".c_i(row)",
        ".c_i(own)",
        permutation::check_small_morphs,
    ),
    // Sums.
    Fault(
        "vector/rm_vector_mac.sv",
        "valid_i && word_i.a_kind == KindChunk",
        "1'b0",
        mac::check_mac,
    ),
    Fault(
        "vector/rm_vector_mac.sv",
        "!(s == Stages - 1 && soon)",
        "1'b1",
        mac::check_mac,
    ),
    Fault(
        "vector/rm_vector_mac.sv",
        "last && leaving.d_kind != KindChunk",
        "last",
        mac::check_mac,
    ),
    Fault(
        "vector/rm_vector_mac.sv",
        "assign q[s] = item_q[s-1].q;",
        "assign q[s] = item_q[0].q;",
        mac::check_mac,
    ),
    Fault(
        "vector/rm_vector_mac_lane.sv",
        "q_i[1] - from_b",
        "'0 - from_b",
        mac::check_mac,
    ),
    Fault(
        "vector/rm_vector_mac_lane.sv",
        "if (write_acc_i) acc_q",
        "acc_q",
        mac::check_mac,
    ),
    Fault(
        "vector/rm_vector_mac_pkg.sv",
        "how.b_one = op inside {OpAdd, OpSub, OpAcc}",
        "how.b_one = op inside {OpAdd, OpSub}",
        mac::check_mac,
    ),
    Fault(
        "vector/rm_vector_mac_pkg.sv",
        "how.only_term = op == OpMov",
        "how.only_term = 1'b0",
        mac::check_mac,
    ),
    // Transforms.
    Fault(
        "vector/rm_vector_ntt_rank.sv",
        ".Product(j != 0)",
        ".Product(1'b0)",
        ntt::check_radix_four,
    ),
    Fault(
        "vector/rm_vector_ntt.sv",
        "skip_i[s] > SkipWidth'(s)",
        "1'b0",
        ntt::check_radix_four,
    ),
    Fault(
        "vector/rm_vector_ntt.sv",
        "of_skip[skip_i[LogRadix]]",
        "of_skip[0]",
        ntt::check_radix_four,
    ),
    Fault(
        "vector/rm_vector_factory.sv",
        ".a_i(have[Have])",
        ".a_i(have[1])",
        ntt::check_twiddles,
    ),
    Fault(
        "vector/rm_vector_seed.sv",
        "column_i[LogLow+:LogHigh]",
        "column_i[0+:LogHigh]",
        ntt::check_twiddles,
    ),
    // The buffer.
    Fault(
        "vector/rm_vector_ctb.sv",
        "s ^ (v % Span)",
        "s",
        buffer::check_small,
    ),
    Fault(
        "vector/rm_vector_ctb.sv",
        "line_of[rows_i[l][LogSpan-1:0]] = LogSpan'(l)",
        "line_of[l] = LogSpan'(l)",
        buffer::check_small,
    ),
    Fault(
        "vector/rm_vector_ctb.sv",
        "LogRows'(v) ^ row_of[s]",
        "LogRows'(v) ^ rows_i[0]",
        buffer::check_small,
    ),
    Fault(
        "vector/rm_vector_ctb.sv",
        "if (access_i && !write_i) begin",
        "begin",
        buffer::check_small,
    ),
    Fault(
        "vector/rm_vector_ctb.sv",
        "Address'(column >> LogSpan)",
        "Address'(column)",
        buffer::check_small,
    ),
    // The queue.
    Fault(
        "vector/rm_vector_check.sv",
        "index != '0)",
        "1'b0)",
        queue::check_queue,
    ),
    Fault(
        "vector/rm_vector_check.sv",
        "11'(word_i.modulus) >= moduli_i",
        "11'(word_i.modulus) > moduli_i",
        queue::check_queue,
    ),
    Fault(
        "vector/rm_vector_check.sv",
        "!word_i.n[0] || ",
        "",
        queue::check_queue,
    ),
    Fault(
        "vector/rm_vector_check.sv",
        "word_i.d >> LogLimb == word_i.a >> LogLimb",
        "1'b0",
        queue::check_queue,
    ),
    Fault(
        "vector/rm_vector_queue.sv",
        "held && wrong_q == '0",
        "held",
        queue::check_queue,
    ),
    Fault(
        "vector/rm_vector_queue.sv",
        "32'(count_q) + 32'(asked_q) + Batch",
        "32'(count_q) + Batch",
        queue::check_queue,
    ),
    Fault(
        "vector/rm_vector_queue.sv",
        "exhausted_q && !acknowledge_i",
        "exhausted_q",
        queue::check_queue,
    ),
    Fault(
        "vector/rm_vector_queue.sv",
        "held_i ? !last_i : runs_q",
        "held_i || runs_q",
        queue::check_queue,
    ),
    Fault(
        "vector/rm_vector_queue.sv",
        "!held_q || taken",
        "1'b1",
        queue::check_queue,
    ),
    Fault(
        "vector/rm_vector_queue.sv",
        "!read_held_q || check",
        "1'b1",
        queue::check_queue,
    ),
    Fault(
        "vector/rm_vector_queue.sv",
        ".rst_ni(rst_ni && !clear_q)",
        ".rst_ni(rst_ni)",
        queue::check_queue,
    ),
];

/// In what only the whole machine has.
const WHOLE: [Fault; 29] = [
    // What is still to be written, the port, the rules of dispatch.
    Fault(
        "vector/rm_vector_board.sv",
        "target.lie != LieScattered && chunk",
        "1'b0",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_board.sv",
        "target.lie != under.lie || ",
        "",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_board.sv",
        "set[e] ? next_with_head : with_this",
        "with_this",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_board.sv",
        "set[e] ? with_head : second_q[First+e]",
        "second_q[First+e]",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_board.sv",
        "second_q[First+:Depth] & under_q",
        "second_q[First+:Depth]",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_board.sv",
        "clear_i[w] ? second_rest : second_all",
        "second_all",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_board.sv",
        " || (set_i[w] && with_head)",
        "",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_board.sv",
        "(head & ~oldest_q) != '0",
        "1'b0",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_control.sv",
        "load ? compared_q.registers : head_q.registers",
        "compared_q.registers",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_control.sv",
        "port_q <= PortWidth'(1)",
        "port_q == '0",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_control.sv",
        "if (!free_q || read_o) take_o",
        "if (!free_q) take_o",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_control.sv",
        "unit && (free_q || !head_q.reads)",
        "unit && free_q",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_control.sv",
        "PortWidth'(Buffer - 1)",
        "PortWidth'(Buffer)",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_control.sv",
        "head_q.halt && mac_idle_i &&",
        "head_q.halt &&",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_load.sv",
        "send_i ? CountWidth'(Chunks - 1) : CountWidth'(Chunks)",
        "CountWidth'(Chunks)",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_store.sv",
        "ready_q <= leaves || count_q",
        "ready_q <= count_q",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_store.sv",
        ".valid_i(came_q[1])",
        ".valid_i(came_q[0])",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_cross.sv",
        "LogRows'(i)^rows_i[l]",
        "LogRows'(i)",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_ways.sv",
        "(morph_i == way_q) ? room_q : empty_q",
        "room_q",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_ways.sv",
        "!send_i && since_q == '0",
        "!send_i && since_q[2*Period-4:0] == '0",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_ways.sv",
        "!take_i && ((soon_pass",
        "((soon_pass",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_ways.sv",
        "count_q + 1'b1 < room",
        "count_q < room",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_ways.sv",
        "room_q <= count_q <= room;",
        "room_q <= count_q < room;",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_ways.sv",
        "assign way_d = send_i ? morph_i : way_q;",
        "assign way_d = way_q;",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_ways.sv",
        "(again && !way_q)",
        "again",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_transform.sv",
        "way ? row[l] : line_of(item_q[Out-1].d",
        "way ? row[l] : line_of(item_q[Out-1].a",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector_factors.sv",
        "before_none_i ? one_i : words",
        "words",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector.sv",
        ".held_i(held)",
        ".held_i(pending)",
        machine::check_small,
    ),
    Fault(
        "vector/rm_vector.sv",
        "take[WriterTransform] ? target[WriterTransform].lie == LieColumns :",
        "",
        machine::check_small,
    ),
];

/// A fault whose line has moved is noticed where it moves.
#[test]
fn every_fault_has_its_line() {
    let rtl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rtl");
    for Fault(file, from, to, _) in FAULTS.iter().chain(&WHOLE) {
        let text = std::fs::read_to_string(rtl.join(file)).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{file}: `{from}`");
        assert_ne!(from, to, "{file}");
    }
}

fn catches(faults: &[Fault]) {
    let mut passed = Vec::new();
    for Fault(file, from, to, check) in faults {
        let copy = Faulty::copy(file, from, to);
        let hdl = hdl().with_sources(&[copy.root()]).unwrap();
        match check(&hdl, seed()) {
            // A failed assertion of the RTL is a catch as well.
            Err(Failure::Mismatch(_) | Failure::Tool(HdlError::Simulation { .. })) => {}
            Err(Failure::Tool(error)) => panic!("{file}: `{to}`: {error}"),
            Ok(()) => passed.push(format!("{file}: `{from}` -> `{to}`")),
        }
    }
    assert!(passed.is_empty(), "not caught:\n{}", passed.join("\n"));
}

#[test]
#[ignore = "builds a model for each fault, minutes; `make full` runs it"]
fn every_fault_is_caught() {
    catches(&FAULTS);
}

#[test]
#[ignore = "builds a model for each fault, minutes; `make full` runs it"]
fn every_fault_of_the_whole_machine_is_caught() {
    catches(&WHOLE);
}
