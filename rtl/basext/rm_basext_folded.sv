// SPDX-License-Identifier: Apache-2.0
// Extends residues modulo l moduli to k targets, with a redundant residue: the two phases share
// their multipliers (Shenoy and Kumaresan; Kırbıyık's thesis, Algorithm 2).
//
// The phases are the Sum Process and the Post-Sum Process of the thesis (Figure 3.5).
//
//   a_(p_j) = sum_i mu_i |Qhat_i|_(p_j) - alpha |Q|_(p_j) mod p_j
//   mu_i    = a_i |Qhat_i^-1|_(q_i) mod q_i
//   alpha   = (sum_i mu_i |Qhat_i|_m - a_m) |Q^-1|_m mod m
//
// The unit makes one target after another, without alpha |Q| for the fast extension (the thesis's
// Algorithm 1). l, k, N, every modulus and every constant are set at run time. rm_basext_job has
// commands and codes, rm_basext_folded_rows the streams, rm_basext_const the constants. Any q = 1
// mod 2 N serves as source, target and redundant modulus. A residue must be below its modulus; the
// bits of a word from Width on are ignored.
//
//   Lanes coefficients a cycle; 3 Lanes modular multipliers, 4 Lanes modular adders, three memories
//   of N words; (l + 2) N / Lanes cycles a target and a fill of 2 folded_delay + 3, 57 cycles with
//   moduli of 61 bits and 33 with 32, and two more where memories are deep; in the fast extension
//   l N / Lanes cycles and a fill of folded_delay + 3; one cycle more for a command.
//
// One clock. Streams of Lanes words of 32 bits (moduli of up to 32) or 64 bits.
module rm_basext_folded
  import rm_basext_isa_pkg::*, rm_basext_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Lanes = 1,
    parameter int unsigned MinLogN = 8,
    parameter int unsigned MaxLogN = 12,
    parameter int unsigned MaxL = 32,
    parameter int unsigned MaxK = 32,
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
  localparam int unsigned Mul = rm_wide_pkg::mul_latency(Width, Low);
  localparam int unsigned IWidth = (MaxL > 1) ? $clog2(MaxL) : 1;
  localparam int unsigned JWidth = (MaxK > 1) ? $clog2(MaxK) : 1;
  localparam int unsigned LWidth = $clog2(MaxL + 1);
  localparam int unsigned KWidth = $clog2(MaxK + 1);
  localparam int unsigned AddrWidth = MaxLogN - $clog2(Lanes);
  localparam int unsigned Ahead = read_ahead(1 << AddrWidth);
  localparam int unsigned SumDelay = folded_delay(Width, Low, 1 << AddrWidth);
  localparam int unsigned Queue = queue_depth(SumDelay);
  localparam int unsigned BusWidth = rm_wide_pkg::modulus_bits(Width);

  if ((Lanes & (Lanes - 1)) != 0 || Lanes == 0 || Lanes > 64 || MinLogN < 8 || MaxLogN > 16 ||
      MinLogN > MaxLogN || MaxL == 0 || MaxL > 64 || MaxK == 0 || MaxK > 64 ||
      Lanes * WordBits > 2048 || (1 << MinLogN) < 4 * Lanes || Width > 61 || Width < Low + 1)
  begin : gen_check
    $error("Lanes a power of two within the port, log N 8 to 16, l and k 1 to 64, 61 bits at most");
  end

  // ---- Streams and control. ----

  logic valid, ready, last, load_start, load_valid, load_done, exact_loaded;
  logic idle, run, exact_next, exact, moves, takes, move, at_end, at_final, of_redundant;
  logic [4:0] log_n;
  logic [Lanes-1:0][WordBits-1:0] data;
  code_e load_code, code;
  logic [LWidth-1:0] l;
  logic [KWidth-1:0] k;
  logic [JWidth-1:0] target;
  logic issue, store, first, give, at_last, post, summed, given, pop;
  logic [IWidth-1:0] source;
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
      .Fill(SumDelay + 3),
      .Queue(Queue)
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
      .gives_i(give),
      .final_i(at_final),
      .issue_o(move),
      .addr_o(addr),
      .at_end_o(at_end),
      .given_i(given),
      .popped_i(pop)
  );

  rm_basext_folded_rows #(
      .MaxL(MaxL),
      .MaxK(MaxK)
  ) u_rows (
      .clk_i,
      .rst_ni,
      .idle_i(idle),
      .exact_i(exact),
      .l_i(l),
      .k_i(k),
      .issue_i(move),
      .at_end_i(at_end),
      .moves_o(moves),
      .takes_o(takes),
      .gives_o(give),
      .final_o(at_final),
      .target_o(target),
      .redundant_o(of_redundant),
      .first_o(first),
      .last_o(at_last),
      .source_o(source),
      .post_o(post),
      .summed_i(summed),
      .given_i(given)
  );

  assign issue = move & !of_redundant;
  assign store = move & of_redundant;

  logic unused_job;
  assign unused_job = ^{run, exact_next, log_n};

  assign code_o = code;

  // ---- Control signals of a coefficient, by the cycles since its issue. ----

  logic read_valid, sum_valid, sum_first, sum_give, sum_last;
  logic [2:0] read_marks;
  logic [AddrWidth-1:0] read_addr, sum_addr;
  logic add_valid_q, add_first_q, add_give_q, add_last_q;
  logic put_valid_q, put_give_q, put_last_q;
  logic [AddrWidth-1:0] add_addr_q, put_addr_q, store_addr_q;
  logic store_q, post_put;
  logic [IWidth-1:0] source_late, column;

  rm_basext_token #(
      .Width(AddrWidth + 3),
      .Depth(SumDelay),
      .Ahead(Ahead)
  ) u_token (
      .clk_i,
      .rst_ni,
      .valid_i(issue),
      .token_i({first, give, at_last, addr}),
      .read_o(read_valid),
      .read_token_o({read_marks, read_addr}),
      .valid_o(sum_valid),
      .token_o({sum_first, sum_give, sum_last, sum_addr})
  );

  logic unused_marks;
  assign unused_marks = ^read_marks;

  // The source's number waits for Ahead cycles, as long as the read of a deep memory in Post-Sum
  // takes, so that both processes reach the multipliers alike.
  rm_delay #(
      .Width(IWidth),
      .Depth(Ahead)
  ) u_late (
      .clk_i,
      .d_i(source),
      .q_o(source_late)
  );

  rm_delay #(
      .Width(IWidth),
      .Depth(Mul)
  ) u_column (
      .clk_i,
      .d_i(source_late),
      .q_o(column)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      add_valid_q <= 1'b0;
      put_valid_q <= 1'b0;
      store_q <= 1'b0;
    end else begin
      add_valid_q <= sum_valid;
      put_valid_q <= add_valid_q;
      store_q <= store;
    end
  end

  always_ff @(posedge clk_i) begin
    add_first_q <= sum_first;
    add_give_q <= sum_give;
    add_last_q <= sum_last;
    add_addr_q <= sum_addr;
    put_give_q <= add_give_q;
    put_last_q <= add_last_q;
    put_addr_q <= add_addr_q;
    store_addr_q <= addr;
  end

  // The last sum is added and written while Post-Sum begins.
  rm_valid #(
      .Depth(2)
  ) u_post (
      .clk_i,
      .rst_ni,
      .valid_i(post),
      .valid_o(post_put)
  );

  assign summed = sum_valid & sum_last & !post;
  assign given = put_valid_q & put_give_q & put_last_q;

  // ---- Moduli and constants, broadcast. ----

  logic [Width-1:0] source_q, mu_const, mu_const_q, target_word, product, target_const;
  logic [Width-1:0] redundant_const, redundant, inverse, target_const_q, redundant_const_q;
  logic [BusWidth-1:0] target_bus_q, redundant_bus_q;
  logic [rm_wide_pkg::steps(Width):0][BusWidth-1:0] source_bus;

  rm_basext_const #(
      .Width(Width),
      .Low(Low),
      .MaxL(MaxL),
      .MaxK(MaxK)
  ) u_const (
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
      .source_i(source_late),
      .source_o(source_q),
      .mu_const_o(mu_const),
      .row_i(target),
      .column_i(column),
      .target_o(target_word),
      .product_o(product),
      .target_const_o(target_const),
      .redundant_const_o(redundant_const),
      .redundant_o(redundant),
      .inverse_o(inverse)
  );

  rm_wide_moduli #(
      .Width(Width),
      .Low(Low)
  ) u_source (
      .clk_i,
      .q_i(source_q),
      .q_o(source_bus)
  );

  // These moduli stay for a whole target, so they need no delay line.
  always_ff @(posedge clk_i) begin
    target_bus_q <= {rm_wide_pkg::triple_of(64'(target_word), Low), target_word};
    redundant_bus_q <= {rm_wide_pkg::triple_of(64'(redundant), Low), redundant};
  end

  always_ff @(posedge clk_i) begin
    mu_const_q <= mu_const;
    target_const_q <= post ? product : target_const;
    redundant_const_q <= post ? inverse : redundant_const;
  end

  // ---- Lanes. ----

  logic [Lanes-1:0][Width-1:0] data_q, data_late, result, queued;

  for (genvar t = 0; t < Lanes; t++) begin : gen_lane
    always_ff @(posedge clk_i) data_q[t] <= data[t][Width-1:0];

    rm_delay #(
        .Width(Width),
        .Depth(1 + Ahead)
    ) u_data (
        .clk_i,
        .d_i(data_q[t]),
        .q_o(data_late[t])
    );

    rm_basext_lane #(
        .Width(Width),
        .Low(Low),
        .Depth(1 << AddrWidth)
    ) u_lane (
        .clk_i,
        .post_i(post),
        .post_put_i(post_put),
        .store_i(store_q),
        .store_addr_i(store_addr_q),
        .store_data_i(data_q[t]),
        .data_i(data_late[t]),
        .source_i(source_bus),
        .target_i(target_bus_q),
        .redundant_i(redundant_bus_q),
        .mu_const_i(mu_const_q),
        .target_const_i(target_const_q),
        .redundant_const_i(redundant_const_q),
        .post_re_i(issue),
        .post_addr_i(addr),
        .sum_re_i(read_valid),
        .sum_addr_i(read_addr),
        .first_i(add_first_q),
        .we_i(put_valid_q & !post_put),
        .waddr_i(put_addr_q),
        .out_o(result[t])
    );

    assign out_data_o[t] = WordBits'(queued[t]);
  end

  // ---- The output queue. The control issues only results for which there is room in it. ----

  logic queue_ready;
  logic [$clog2(Queue+1)-1:0] queue_count;

  rm_fifo #(
      .Width(Lanes * Width + 1),
      .Depth(Queue)
  ) u_out (
      .clk_i,
      .rst_ni,
      .valid_i(put_valid_q & put_give_q),
      .ready_o(queue_ready),
      .data_i({put_last_q, result}),
      .valid_o(out_valid_o),
      .ready_i(out_ready_i),
      .data_o({out_last_o, queued}),
      .count_o(queue_count)
  );

  assign pop = out_valid_o & out_ready_i;

  logic unused_count;
  assign unused_count = ^{queue_count, data};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) queue_has_room : assert (!(put_valid_q && put_give_q) || queue_ready);
  end
`else
  logic unused_ready;
  assign unused_ready = queue_ready;
`endif

endmodule
