// SPDX-License-Identifier: Apache-2.0
//! Single-line faults of the RTL, each with the check that must catch it.

use ringmill_hdl::Hdl;
use ringmill_hdl::polymul::Dice;
use ringmill_hdl::ring::RpauError;

use crate::ring::bench::{PRIMES, medha, toy};
use crate::ring::random::{check_programs, check_words_on};
use crate::ring::refusals::{check_links, check_refusals, check_trailing};
use crate::ring::words::check_generated;

pub type Check = fn(&Hdl, u64) -> Result<(), RpauError>;

/// A line of the RTL, changed, and the check that must notice.
pub struct Fault(
    pub &'static str,
    pub &'static str,
    pub &'static str,
    pub Check,
);

/// One RPAU with words beside each other.
pub fn unit(hdl: &Hdl, seed: u64) -> Result<(), RpauError> {
    let mut dice = Dice::new(seed);
    check_words_on(hdl, &toy(7, 4, 1), PRIMES[1], 30, &mut dice)
}

/// The same with four cycles a row of the dyadic cores, of which words leave one to three: where a pass ends inside a period.
fn thirds(hdl: &Hdl, seed: u64) -> Result<(), RpauError> {
    let mut dice = Dice::new(seed);
    check_words_on(hdl, &toy(7, 8, 1), PRIMES[1], 30, &mut dice)
}

/// Three RPAUs with four streams.
pub fn machine(hdl: &Hdl, seed: u64) -> Result<(), RpauError> {
    check_programs(hdl, &toy(6, 4, 3), seed, 20)
}

/// One RPAU of one stage a pass, with generated twiddles.
fn generated(hdl: &Hdl, seed: u64) -> Result<(), RpauError> {
    let mut dice = Dice::new(seed);
    check_words_on(hdl, &medha(7, 2, 1), PRIMES[1], 30, &mut dice)
}

/// Three of them, on a ring that does not reduce.
fn raw(hdl: &Hdl, seed: u64) -> Result<(), RpauError> {
    check_programs(hdl, &medha(7, 2, 3), seed, 20)
}

pub const FAULTS: [Fault; 114] = [
    // Steps and turns.
    Fault(
        "rm_ring_seq.sv",
        "has_tail_q ? '0 : pause_q;",
        "has_tail_q ? '0 : pause_q - WaitWidth'(pause_q != '0);",
        unit,
    ),
    Fault(
        "rm_ring_seq.sv",
        "fresh_q <= start_i || (pass_done && !has_tail_q) ||",
        "fresh_q <= start_i ||",
        thirds,
    ),
    Fault(
        "rm_ring_seq.sv",
        "inverse_q ? pass_q == top_q : pass_q == '0",
        "pass_q == '0",
        unit,
    ),
    Fault(
        "rm_ring_pace.sv",
        "- {1'b0, turns_i}",
        "- {1'b0, turns_i} + 1'b1",
        unit,
    ),
    // Addresses: the mirror, the conflict-free columns.
    Fault(
        "rm_ring_agen.sv",
        "inverse_i ? ~step_i : step_i",
        "step_i",
        unit,
    ),
    Fault(
        "rm_ring_agen.sv",
        "(inverse_q && !linear_q) ? ~mask : mask",
        "mask",
        unit,
    ),
    Fault(
        "rm_ring_pkg.sv",
        "c[3'(i%log_row)] ^= index[i];",
        "c[3'(i%log_row)] |= index[i];",
        unit,
    ),
    Fault(
        "rm_ring_network.sv",
        "(given_i ? column_i : rotated) ^ {Row{mask}};",
        "(given_i ? column_i : rotated) ^ {Row{~mask}};",
        unit,
    ),
    // Twiddles: the other half's table, a table a word too far.
    Fault(
        "rm_ring_main.sv",
        "(inverse_q && word_q.ring != '0) ? ~word_q.ring : word_q.ring",
        "word_q.ring",
        unit,
    ),
    Fault(
        "rm_ring_twiddle.sv",
        "DeepWidth'(step_i & mask)",
        "DeepWidth'((step_i + 1'b1) & mask)",
        unit,
    ),
    Fault(
        "rm_ring_twiddle.sv",
        "is_flat_q3 <= is_flat_q2;",
        "is_flat_q3 <= is_flat_q;",
        unit,
    ),
    // Cores.
    Fault(
        "rm_ring_core.sv",
        "assign half = pre && mode_i.half && !skip_q;",
        "assign half = pre && mode_i.half;",
        unit,
    ),
    Fault(
        "rm_ring_core.sv",
        "assign half = pre && mode_i.half && !skip_q;",
        "assign half = pre && !skip_q;",
        unit,
    ),
    Fault(
        "rm_ring_core.sv",
        ".Depth(Product - Own)",
        ".Depth(Product - Own + 1)",
        unit,
    ),
    Fault(
        "rm_ring_core.sv",
        "half && !diff_q[0] && diff_below;",
        "half && !diff_q[0];",
        unit,
    ),
    Fault(
        "rm_ring_mode.sv",
        "OpMac: {u.c, v.a, w.b} = '1;",
        "OpMac: {v.a, w.b} = '1;",
        unit,
    ),
    // Ports: who goes first, what is read twice.
    Fault(
        "rm_ring_group.sv",
        "assign dy_gnt_o = dy_req_i && !main_re_i && !send_re_i;",
        "assign dy_gnt_o = dy_req_i;",
        unit,
    ),
    Fault(
        "rm_ring_group.sv",
        "assign dy_wgnt_o = dy_wreq_i && !main_we_i &&",
        "assign dy_wgnt_o = dy_wreq_i &&",
        unit,
    ),
    Fault(
        "rm_ring_pkg.sv",
        "op != OpAutoh && !b_is_a && same_group",
        "op != OpAutoh && same_group",
        unit,
    ),
    // Dyadic cores.
    Fault(
        "rm_ring_dyadic.sv",
        "at_part_q <= part_d ^ mask_d[LogRow-1:LogLanes];",
        "at_part_q <= part_d;",
        unit,
    ),
    Fault(
        "rm_ring_dyadic.sv",
        "assign core = has_key_q ? late_q : tag;",
        "assign core = tag;",
        unit,
    ),
    Fault(
        "rm_ring_dyadic.sv",
        "else if (load_tick) held_q <= come_q;",
        "else held_q <= come_q;",
        unit,
    ),
    // Keys and their generator.
    Fault(
        "rm_ring_keys.sv",
        "AddrWidth'(StripeWidth'(s) < at.stripe)",
        "AddrWidth'(StripeWidth'(s) <= at.stripe)",
        unit,
    ),
    Fault(
        "rm_ring_keys.sv",
        "stripe_q2 <= stripe_q;",
        "stripe_q2 <= at.stripe;",
        unit,
    ),
    Fault(
        "rm_ring_generator.sv",
        "CountWidth'(Latency - Ahead + 4)",
        "CountWidth'(Latency - Ahead + 3)",
        unit,
    ),
    Fault("rm_ring_expand.sv", "minus_q ? half_q : '0", "'0", unit),
    Fault(
        "rm_ring_fold.sv",
        "YWidth'({Below, x[Top-1:0]});",
        "YWidth'(x[Top-1:0]);",
        unit,
    ),
    // The ring.
    Fault(
        "rm_ring_node.sv",
        "source_q ? '0 : constant_i[Bits-1:0]",
        "constant_i[Bits-1:0]",
        machine,
    ),
    Fault(
        "rm_ring_node.sv",
        "assign ring_valid_o = passes && on_q;",
        "assign ring_valid_o = passes;",
        machine,
    ),
    Fault(
        "rm_ring.sv",
        ".Depth(hop_cycles(r))\n    ) u_hop_valid",
        ".Depth(hop_cycles(r) + 1)\n    ) u_hop_valid",
        machine,
    ),
    // The board.
    Fault(
        "rm_ring_board.sv",
        "enough &= retired_d[q] >= needs_i[s][q];",
        "enough &= retired_q[q] >= needs_i[s][q];",
        machine,
    ),
    Fault(
        "rm_ring_board.sv",
        "assign into[r][s] = grant_o[s] && uses_q[s].link;",
        "assign into[r][s] = s != 0 && grant_o[s] && uses_q[s].link;",
        machine,
    ),
    Fault(
        "rm_ring_span.sv",
        "t.early = w.a != w.dst;",
        "t.early = 1'b0;",
        machine,
    ),
    Fault(
        "rm_ring_board.sv",
        "known = waits(flying_meets_q[s][r], left_q[r]);",
        "known = waits(flying_meets_q[s][r], {left_q[r][2:1], 1'b1});",
        machine,
    ),
    // Automorphisms and half rings.
    Fault(
        "rm_ring_main.sv",
        "(tag.step != '0 || tail)",
        "(tag.step != '0)",
        unit,
    ),
    Fault(
        "rm_ring_main.sv",
        "tag_out.second ? tag_out.step - 1'b1 : tag_out.step",
        "tag_out.step",
        unit,
    ),
    Fault(
        "rm_ring_take.sv",
        "sub_i < beats_i[from_half_q2]",
        "sub_i == reads_i.last[0]",
        unit,
    ),
    Fault(
        "rm_ring_land.sv",
        "moves_i ? {LogRow'(column_of(IndexWidth'(to_d), LogRow)),",
        "moves_i ? {LogRow'(0),",
        unit,
    ),
    Fault(
        "rm_ring_seq.sv",
        "tail_q <= has_tail_q;",
        "tail_q <= 1'b0;",
        unit,
    ),
    Fault(
        "rm_ring_turn.sv",
        "{galois_i[LogN:0], 1'b0}",
        "galois_i",
        unit,
    ),
    Fault(
        "rm_ring_turn.sv",
        "half_q <= halves && turned[1];",
        "half_q <= halves && turned[2];",
        unit,
    ),
    Fault(
        "rm_ring_turn.sv",
        "coefficients ? '0 : galois_i",
        "galois_i",
        unit,
    ),
    Fault(
        "rm_ring_affine.sv",
        "minus_d[LaneOf[p]] = at_q[p][LogRow] && !reverse_i;",
        "minus_d[LaneOf[p]] = 1'b0;",
        unit,
    ),
    Fault(
        "rm_ring_affine.sv",
        "high_q[p/Lows] + offset_i",
        "high_q[p/Lows] - offset_i",
        unit,
    ),
    Fault(
        "rm_ring_affine.sv",
        "weight_d[b] = times_i << (LogRow - 1 - b);",
        "weight_d[b] = (LogRow + 1)'(1) << (LogRow - 1 - b);",
        unit,
    ),
    Fault(
        "rm_ring_main.sv",
        ".rotate_i (top_rotate_q),",
        ".rotate_i ('0),",
        unit,
    ),
    Fault(
        "rm_ring_take.sv",
        "if (aside || op_i == OpJoin) begin",
        "if (aside) begin",
        unit,
    ),
    Fault(
        "rm_ring_entry.sv",
        "OpSplit: {u_is_a, v_is_b, w_is_k} = '1;",
        "OpSplit: {u_is_a, v_is_b} = '1;",
        unit,
    ),
    Fault(
        "rm_ring_dyadic.sv",
        "assign first_d = is_generated(word_i.op, word_i.b_kind) ?",
        "assign first_d = (word_i.b_kind == KindGenerator) ?",
        unit,
    ),
    // The link.
    Fault(
        "rm_ring_link.sv",
        "assign take = ahead_q[1] &&",
        "assign take = ahead_q[0] &&",
        machine,
    ),
    Fault(
        "rm_ring_link.sv",
        "row_q[count_q[LogRow-1:0]^mask]",
        "row_q[count_q[LogRow-1:0]]",
        machine,
    ),
    Fault(
        "rm_ring_link.sv",
        "open_q <= start_q[1] ||",
        "open_q <= start_q[0] ||",
        machine,
    ),
    Fault(
        "rm_ring_link.sv",
        "assign bad_o = accept && whole_q != in_last_i;",
        "assign bad_o = accept && !whole_q && in_last_i;",
        check_links,
    ),
    Fault(
        "rm_ring_link.sv",
        "drop_q <= (accept && whole_q && !in_last_i) ||",
        "drop_q <=",
        check_links,
    ),
    Fault(
        "rm_ring_node.sv",
        "receives_q <= !is_store && word_i.mask[place_i];",
        "receives_q <= word_i.mask[place_i];",
        machine,
    ),
    Fault(
        "rm_ring_rpau.sv",
        "!here_key_q && load_group_q[g])",
        "load_group_q[g])",
        machine,
    ),
    Fault(
        "rm_ring_rpau.sv",
        ".load_slot_i (key_slot[2]),",
        ".load_slot_i (key_slot[1]),",
        machine,
    ),
    Fault(
        "rm_ring_board.sv",
        "m.whole |= w.link && flying.link;",
        "",
        machine,
    ),
    Fault(
        "rm_ring_board.sv",
        "alone = w.alone ? '1 : Narrow;",
        "alone = Narrow;",
        machine,
    ),
    Fault(
        "rm_ring_board.sv",
        "m.source |= w.ring && flying.ring;",
        "m.whole |= w.ring && flying.ring;",
        machine,
    ),
    Fault(
        "rm_ring_span.sv",
        "t.base = total_t'(2);",
        "t.base = total_t'(1);",
        machine,
    ),
    Fault(
        "rm_ring_span.sv",
        "t.source = total_t'(Begin + 2 + 1 + 32'(Reduces));",
        "t.source = total_t'(Begin + 2 + 1);",
        machine,
    ),
    Fault(
        "rm_ring_board.sv",
        "total_t'(paced(rows * 2 + 1, k));",
        "total_t'(paced(rows * 2, k));",
        machine,
    ),
    // Asked a cycle early, a stream goes by what its former word must wait for, which is itself: nothing to notice.
    Fault(
        "rm_ring_board.sv",
        "localparam int unsigned Again = 6;",
        "localparam int unsigned Again = 7;",
        machine,
    ),
    Fault(
        "rm_ring_board.sv",
        "waits_begun_q <= waits_also;",
        "waits_begun_q <= '0;",
        machine,
    ),
    Fault(
        "rm_ring_board.sv",
        "(open_q[r] ? '0 : total_t'(Counts + 1));",
        "(open_q[r] ? '0 : total_t'(Counts));",
        machine,
    ),
    // A load's residues go on beyond their receiver, where the next transfer's word already is.
    Fault(
        "rm_ring.sv",
        ".valid_i(residue_passes[r]),",
        ".valid_i(residue_valid[r]),",
        check_trailing,
    ),
    // Layers.
    Fault(
        "rm_ring_rpau.sv",
        "which_q[0] <= prime_q[main_word.layer];",
        "which_q[0] <= main_word.layer;",
        machine,
    ),
    Fault(
        "rm_ring_rpau.sv",
        "TableWidth'(3 * 32'(layer_q)) + TableWidth'(tw_ring)",
        "TableWidth'(tw_ring)",
        machine,
    ),
    Fault(
        "rm_ring_generator.sv",
        "residue_o[i] = residues[m];",
        "residue_o[i] = residues[0];",
        machine,
    ),
    // Narrow slots: parts, the residue that a stride wants, what is collected, whole words, their ports.
    Fault(
        "rm_ring_narrow.sv",
        "assign dy_gnt_o = dy_req_i && (&dy_part_q);",
        "assign dy_gnt_o = dy_req_i;",
        unit,
    ),
    Fault(
        "rm_ring_narrow.sv",
        "((column ^ LogRow'(column_of(IndexWidth'(strided), LogRow))) >> LogGroup)",
        "(column >> LogGroup)",
        unit,
    ),
    Fault(
        "rm_ring_narrow.sv",
        "come[c] = want_q2.valid && (",
        "come[c] = (",
        unit,
    ),
    Fault(
        "rm_ring_narrow.sv",
        "wparts[wpart_q^wmask[LogRow-1:LogGroup]]",
        "wparts[wpart_q]",
        unit,
    ),
    Fault(
        "rm_ring_narrow.sv",
        "loaded_q[load_index_i[LogGroup-1:0]^load_mask[LogGroup-1:0]] <= load_data_i;",
        "loaded_q[0] <= load_data_i;",
        unit,
    ),
    Fault(
        "rm_ring_take.sv",
        "sub_i < beats_i[from_half_q2]",
        "1'b1",
        unit,
    ),
    Fault("rm_ring_ask.sv", "part_q <= sub_i;", "part_q <= '0;", unit),
    Fault(
        "rm_ring_pkg.sv",
        "- 1 - 32'(!p.narrow[2])) : '0;",
        "- 1) : '0;",
        thirds,
    ),
    Fault(
        "rm_ring_send.sv",
        "assign valid_o = row_end_q[4];",
        "assign valid_o = row_end_q[3];",
        machine,
    ),
    Fault(
        "rm_ring_span.sv",
        "t.base += total_t'(Parts - 1);",
        "",
        machine,
    ),
    Fault(
        "rm_ring_board.sv",
        "m.whole = (readers && (reads & Narrow) != '0) || (units && (writes & Narrow) != '0);",
        "",
        machine,
    ),
    Fault(
        "rm_ring_span.sv",
        "t.source_kind = rows_of(beats);",
        "t.source_kind = StepsRows1;",
        machine,
    ),
    Fault(
        "rm_ring_decode.sv",
        "is_narrow(word.dst, Memory);",
        "1'b0;",
        check_refusals,
    ),
    // Limbs below the native degree.
    Fault(
        "rm_ring_agen.sv",
        "high = reversed >> short_q;",
        "high = reversed;",
        unit,
    ),
    Fault(
        "rm_ring_main.sv",
        "top_rotate_q <= RotWidth'((32'(log_n_i) - LogRow) % LogRow);",
        "top_rotate_q <= RotWidth'((LogN - LogRow) % LogRow);",
        unit,
    ),
    Fault(
        "rm_ring_seq.sv",
        "pause_q <= WaitWidth'(pass_wait(n, LogRow, Stages, MulLatency));",
        "pause_q <= WaitWidth'(pass_wait(LogN, LogRow, Stages, MulLatency));",
        unit,
    ),
    Fault(
        "rm_ring_twiddle.sv",
        "assign pass = pass_i + fewer_q;",
        "assign pass = pass_i;",
        unit,
    ),
    Fault(
        "rm_ring_main.sv",
        "odd_q <= log_n_i[0];",
        "odd_q <= 1'(LogN % 2);",
        unit,
    ),
    Fault(
        "rm_ring_turn.sv",
        "assign row = reversed >> short_q;",
        "assign row = reversed;",
        unit,
    ),
    Fault(
        "rm_ring_expand.sv",
        "half_q[i] <= i + 2 == 32'(log_n_i);",
        "half_q[i] <= i + 2 == LogSteps + LogRow;",
        unit,
    ),
    Fault(
        "rm_ring_link.sv",
        "before_last_q[i] <= i > 0 && i < 32'(log_n_i);",
        "before_last_q[i] <= i > 0;",
        machine,
    ),
    // Refusals.
    Fault(
        "rm_ring_decode.sv",
        "(32'(word.mask) >> Rpaus) != '0",
        "1'b0",
        check_refusals,
    ),
    // A ring that does not reduce.
    Fault(
        "rm_ring_node.sv",
        "assign recv_data_o[c] = ring_row_o[c][Width-1:0];",
        "assign recv_data_o[c] = ring_row_i[c][Width-1:0];",
        raw,
    ),
    Fault(
        "rm_ring_span.sv",
        "(Reduces ? Reducer + 2 : 0)",
        "(Reducer + 2)",
        raw,
    ),
    Fault(
        "rm_ring_span.sv",
        "t.source = total_t'(Begin + 2 + 1 + 32'(Reduces));",
        "t.source = total_t'(Begin + 2 + 1 + 1);",
        raw,
    ),
    // One stage a pass, and its twiddles.
    Fault(
        "rm_ring_span.sv",
        "t.base = total_t'(Begin + Through + Stages * Core);",
        "t.base = total_t'(Begin + Through + 2 * Core);",
        raw,
    ),
    Fault(
        "rm_ring_pkg.sv",
        "steps = (1 << (log_n - log_row)) >> stages;",
        "steps = (1 << (log_n - log_row)) >> 2;",
        generated,
    ),
    Fault(
        "rm_ring_main.sv",
        "{2{tag_q[AtCore-TwiddleLatency].step}}",
        "{2{tag_q[AtCore-TwiddleLatency+1].step}}",
        generated,
    ),
    Fault(
        "rm_ring_main.sv",
        "assign tw_next_step_o = tag_q[AtOut1].step;",
        "assign tw_next_step_o = tag_q[AtOut1-1].step;",
        generated,
    ),
    Fault(
        "rm_ring_cores.sv",
        "assign b_mode = transform_i ? '0 : mode_i;",
        "assign b_mode = mode_i;",
        generated,
    ),
    Fault(
        "rm_ring_powers.sv",
        "first_q3 ? value : aside",
        "first_q2 ? value : aside",
        generated,
    ),
    Fault(
        "rm_ring_powers.sv",
        "place_q2 <= place_q;",
        "place_q2 <= place;",
        generated,
    ),
    Fault(
        "rm_ring_powers.sv",
        "ring_factors_q + FactorWidth'(p)",
        "FactorWidth'(p)",
        generated,
    ),
    Fault(
        "rm_ring_powers.sv",
        "assign pass = pass_i + fewer_q;",
        "assign pass = pass_i;",
        generated,
    ),
    // Generated operands of the main cores.
    Fault(
        "rm_ring_generator.sv",
        ".Depth(Latency - Ahead + 3)\n  ) u_asked (",
        ".Depth(Latency - Ahead + 4)\n  ) u_asked (",
        unit,
    ),
    Fault(
        "rm_ring_generator.sv",
        "if (32'(turn) == k) number",
        "if (32'(turn) + 1 == k) number",
        unit,
    ),
    Fault(
        "rm_ring_feed.sv",
        "CountWidth'(Latency - 1)",
        "CountWidth'(Latency)",
        unit,
    ),
    Fault(
        "rm_ring_feed.sv",
        "LogRow'(32'(place_i)*Lanes+i)",
        "LogRow'(32'(place_i)+i)",
        unit,
    ),
    Fault(
        "rm_ring_feed.sv",
        "      .turns_i,\n",
        "      .turns_i('0),\n",
        check_generated,
    ),
    Fault(
        "rm_ring_take.sv",
        "take[0] = whole_i;",
        "take[0] = beat_i && sub_i == '0;",
        unit,
    ),
    Fault(
        "rm_ring_expand.sv",
        ".which_i     (which_i[is_dyadic_q]),",
        ".which_i     (which_i[1]),",
        machine,
    ),
    Fault(
        "rm_ring_board.sv",
        "m.whole |= w.generates && flying.generates && units;",
        "",
        machine,
    ),
    Fault(
        "rm_ring_board.sv",
        "total_t'(paced(rows * Period, k));",
        "total_t'(rows * Period);",
        machine,
    ),
    Fault(
        "rm_ring_decode.sv",
        "(word.b_kind == KindGenerator && main_only)",
        "1'b0",
        check_refusals,
    ),
];
