// SPDX-License-Identifier: Apache-2.0
// Extends residues modulo l moduli to k targets by mixed radix: a pipeline that takes one
// coefficient a cycle (Garner; Kırbıyık's thesis, Algorithm 4 and Figure 4.4).
//
// All residues of a coefficient enter a triangle of cells together, from a transposition memory.
//
//   b_u   = (((a_u - b_0) / q_0 - b_1) / q_1 ...) mod q_u for u < l,   a stage for each division
//   a_p_j = sum_s b_s |q_0 ... q_(s-1)|_(p_j) mod p_j,                 a term beside each stage
//
// The extension is exact for every A < Q and all moduli, without a redundant residue. There is no
// fast extension (BadCommand). A command is for cmd_k_i + 1 polynomials. It takes the residues of a
// polynomial modulo q_0 to q_(l-1), N / Lanes beats each, and gives those modulo p_0 to p_(k-1),
// one target after the other. Then it takes the next polynomial. The array takes one coefficient a
// cycle, so a beat of Lanes words takes Lanes cycles. For C polynomials
//
//   C (l N / Lanes + k N) + MaxL (Mul + 1) + 5 cycles, Mul = mul_latency(Width, Low)
//
// The unit has MaxL (MaxL + 1) / 2 modular multipliers, as many adders and subtractors together,
// and MaxL memories of N words. Constants are rm_basext_words' of Radix, |-q_s^-1|_(q_i) for s < i
// and |q_0 ... q_(s-1)|_(p_j), held times R.
//
// One clock. Streams of Lanes words of 32 bits (moduli of up to 32) or 64 bits.
module rm_basext_radix
  import rm_basext_isa_pkg::*, rm_basext_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Lanes = 1,
    parameter int unsigned MinLogN = 8,
    parameter int unsigned MaxLogN = 12,
    parameter int unsigned MaxL = 4,
    parameter int unsigned MaxK = 4,
    localparam int unsigned WordBits = stream_bits(Width)
) (
    input  logic                           clk_i,
    input  logic                           rst_ni,
    input  logic                           cmd_valid_i,
    output logic                           cmd_ready_o,
    input  logic [     1:0]                cmd_op_i,
    input  logic [     7:0]                cmd_l_i,
    input  logic [     7:0]                cmd_k_i,
    input  logic [     4:0]                cmd_log_n_i,
    output logic                           done_o,
    output logic [     2:0]                code_o,
    input  logic                           in_valid_i,
    output logic                           in_ready_o,
    input  logic [Lanes-1:0][WordBits-1:0] in_data_i,
    input  logic                           in_last_i,
    output logic                           out_valid_o,
    input  logic                           out_ready_i,
    output logic [Lanes-1:0][WordBits-1:0] out_data_o,
    output logic                           out_last_o
);

  localparam int unsigned Low = MinLogN + 1;
  // From a beat's issue until it is in the queue.
  localparam int unsigned Fill = Lanes + 3 + MaxL * (rm_wide_pkg::mul_latency(Width, Low) + 1);
  // What may be under way, a beat every Lanes cycles.
  localparam int unsigned Queue = 1 << $clog2(rm_arith_pkg::ceil_div(Fill + 2, Lanes));
  localparam int unsigned LWidth = $clog2(MaxL + 1);
  localparam int unsigned KWidth = $clog2(MaxK + 1);
  localparam int unsigned RWidth = rm_arith_pkg::max2(LWidth, KWidth);
  localparam int unsigned LaneWidth = (Lanes > 1) ? $clog2(Lanes) : 1;
  localparam int unsigned AddrWidth = MaxLogN - $clog2(Lanes);

  if ((Lanes & (Lanes - 1)) != 0 || Lanes == 0 || Lanes > 64 || MinLogN < 8 || MaxLogN > 16 ||
      MinLogN > MaxLogN || MaxL == 0 || MaxL > 17 || MaxK == 0 || MaxK > 64 ||
      Lanes * WordBits > 2048 || (1 << MinLogN) < 4 * Lanes || Width > 61 || Width < Low + 1)
  begin : gen_check
    $error("Lanes a power of two within the port, log N 8 to 16, l up to 17, k to 64, 61 bits");
  end

  // ---- Streams and control. ----

  logic valid, ready, last, load_start, load_valid, load_done, exact_loaded, idle;
  logic run, exact_next, exact, moves, takes, gives, at_final, issue, at_end, given, pop, step;
  logic [Lanes-1:0][WordBits-1:0] data;
  code_e load_code, code;
  logic [4:0] log_n;
  logic [LWidth-1:0] l;
  logic [KWidth-1:0] k;
  logic [RWidth-1:0] row;
  logic [LaneWidth-1:0] step_lane;
  logic [AddrWidth-1:0] addr;

  rm_skid #(
      .Width(Lanes * WordBits + 1)
  ) u_in (
      .clk_i,
      .rst_ni,
      .valid_i(in_valid_i),
      .ready_o(in_ready_o),
      .data_i({in_last_i, in_data_i}),
      .valid_o(valid),
      .ready_i(ready),
      .data_o({last, data})
  );

  rm_basext_job #(
      .Lanes(Lanes),
      .MinLogN(MinLogN),
      .MaxLogN(MaxLogN),
      .MaxL(MaxL),
      .MaxK(MaxK),
      .Fill(Fill),
      .Queue(Queue),
      .HasFast(1'b0)
  ) u_job (
      .clk_i,
      .rst_ni,
      .cmd_valid_i,
      .cmd_ready_o,
      .cmd_op_i,
      .cmd_l_i,
      .cmd_k_i,
      .cmd_log_n_i,
      .done_o,
      .code_o(code),
      .in_valid_i(valid),
      .in_ready_o(ready),
      .in_last_i(last),
      .load_start_o(load_start),
      .load_valid_o(load_valid),
      .l_o(l),
      .k_o(k),
      .load_done_i(load_done),
      .load_code_i(load_code),
      .exact_i(exact_loaded),
      .idle_o(idle),
      .run_o(run),
      .exact_next_o(exact_next),
      .exact_o(exact),
      .log_n_o(log_n),
      .moves_i(moves),
      .takes_i(takes),
      .gives_i(gives),
      .final_i(at_final),
      .issue_o(issue),
      .addr_o(addr),
      .at_end_o(at_end),
      .given_i(given),
      .popped_i(pop)
  );

  rm_basext_radix_rows #(
      .Lanes(Lanes),
      .MaxL(MaxL),
      .MaxK(MaxK)
  ) u_rows (
      .clk_i,
      .rst_ni,
      .idle_i(idle),
      .cmd_k_i,
      .l_i(l),
      .k_i(k),
      .issue_i(issue),
      .at_end_i(at_end),
      .moves_o(moves),
      .takes_o(takes),
      .gives_o(gives),
      .final_o(at_final),
      .row_o(row),
      .step_o(step),
      .step_lane_o(step_lane)
  );

  assign code_o = code;

  // ---- Constants. ----

  logic take, word_ends;
  part_e part;
  logic [1:0] kind;
  logic [LWidth-1:0] source, column;
  logic [KWidth-1:0] target;
  logic [Width-1:0] word, head;

  rm_basext_words #(
      .Width(Width),
      .Low(Low),
      .MaxL(MaxL),
      .MaxK(MaxK),
      .Form(Radix)
  ) u_words (
      .clk_i,
      .rst_ni,
      .start_i(load_start),
      .l_i(l),
      .k_i(k),
      .valid_i(load_valid),
      .word_i(data[0]),
      .last_i(last),
      .done_o(load_done),
      .code_o(load_code),
      .exact_o(exact_loaded),
      .head_o(head),
      .take_o(take),
      .part_o(part),
      .kind_o(kind),
      .source_o(source),
      .target_o(target),
      .column_o(column),
      .ends_o(word_ends),
      .word_o(word)
  );

  // ---- Memory and cells. ----

  logic [Lanes-1:0][Width-1:0] residue, result, queued;
  logic put, put_last;

  for (genvar t = 0; t < Lanes; t++) begin : gen_word
    assign residue[t] = data[t][Width-1:0];
    assign out_data_o[t] = WordBits'(queued[t]);
  end

  rm_basext_radix_array #(
      .Width(Width),
      .Low(Low),
      .Lanes(Lanes),
      .MaxLogN(MaxLogN),
      .MaxL(MaxL),
      .MaxK(MaxK)
  ) u_array (
      .clk_i,
      .rst_ni,
      .take_i(take),
      .part_i(part),
      .kind_i(kind),
      .source_i(source),
      .target_i(target),
      .column_i(column),
      .word_i(word),
      .l_i(l),
      .store_i(issue & takes),
      .give_i(issue & gives),
      .last_i(at_end),
      .final_i(at_end & at_final),
      .row_i(row),
      .addr_i(addr),
      .data_i(residue),
      .step_i(step),
      .step_lane_i(step_lane),
      .valid_o(put),
      .last_o(put_last),
      .final_o(given),
      .out_o(result)
  );

  // ---- The output queue. The control issues only results for which there is room in it. ----

  logic queue_ready;
  logic [$clog2(Queue+1)-1:0] queue_count;

  rm_fifo #(
      .Width(Lanes * Width + 1),
      .Depth(Queue)
  ) u_out (
      .clk_i,
      .rst_ni,
      .valid_i(put),
      .ready_o(queue_ready),
      .data_i({put_last, result}),
      .valid_o(out_valid_o),
      .ready_i(out_ready_i),
      .data_o({out_last_o, queued}),
      .count_o(queue_count)
  );

  assign pop = out_valid_o & out_ready_i;

  logic unused_count;
  assign unused_count = ^{queue_count, data, log_n, run, exact_next, exact, word_ends, head};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) queue_has_room : assert (!put || queue_ready);
  end
`else
  logic unused_ready;
  assign unused_ready = queue_ready;
`endif

endmodule
