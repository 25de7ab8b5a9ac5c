// SPDX-License-Identifier: Apache-2.0
// Extends residues modulo l moduli to k targets, with a redundant residue: one pipeline without
// gaps between targets (Shenoy and Kumaresan; Kırbıyık's thesis, Algorithm 2).
//
// The Post-Sum Process has multipliers of its own and follows the last sums as they are made. So
// the residues for a target follow those for the target before (Figures 3.3 and 3.4).
//
//   a_(p_j) = sum_i mu_i |Qhat_i|_(p_j) - alpha |Q|_(p_j) mod p_j
//   mu_i    = a_i |Qhat_i^-1|_(q_i) mod q_i
//   alpha   = (sum_i mu_i |Qhat_i|_m - a_m) |Q^-1|_m mod m
//
// The unit makes one target after another, without alpha |Q| for the fast extension (the thesis's
// Algorithm 1). Streams, commands and constants are those of rm_basext_folded.
//
//   Lanes coefficients a cycle; 5 Lanes modular multipliers, 4 Lanes modular adders, three memories
//   of N words; (l + 1) N / Lanes cycles a target, l N / Lanes the fast way, and for a command a
//   fill of 2 sum_delay + 4: 58 cycles with moduli of 61 bits and 34 with 32.
//
// One clock. Streams of Lanes words of 32 bits (moduli of up to 32) or 64 bits.
module rm_basext_pipelined
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
  localparam int unsigned SumDelay = sum_delay(Width, Low);
  localparam int unsigned Queue = 1 << $clog2(2 * SumDelay + 5);
  localparam int unsigned Steps = rm_wide_pkg::steps(Width);
  localparam int unsigned IWidth = (MaxL > 1) ? $clog2(MaxL) : 1;
  localparam int unsigned JWidth = (MaxK > 1) ? $clog2(MaxK) : 1;
  localparam int unsigned LWidth = $clog2(MaxL + 1);
  localparam int unsigned KWidth = $clog2(MaxK + 1);
  localparam int unsigned AddrWidth = MaxLogN - $clog2(Lanes);
  localparam int unsigned Ahead = read_ahead(1 << AddrWidth);
  localparam int unsigned BusWidth = rm_wide_pkg::modulus_bits(Width);

  if ((Lanes & (Lanes - 1)) != 0 || Lanes == 0 || Lanes > 64 || MinLogN < 8 || MaxLogN > 16 ||
      MinLogN > MaxLogN || MaxL == 0 || MaxL > 64 || MaxK == 0 || MaxK > 64 ||
      Lanes * WordBits > 2048 || (1 << MinLogN) < 4 * Lanes || Width > 61 || Width < Low + 1)
  begin : gen_check
    $error("Lanes a power of two within the port, log N 8 to 16, l and k 1 to 64, 61 bits at most");
  end

  // ---- Streams and control. ----

  logic valid, ready, last, load_start, load_valid, load_done, exact_loaded;
  logic idle, run, exact_next, exact, at_end, at_final, of_redundant;
  logic [4:0] log_n;
  logic [Lanes-1:0][WordBits-1:0] data;
  code_e load_code, code;
  logic [LWidth-1:0] l;
  logic [KWidth-1:0] k;
  logic [JWidth-1:0] target;
  logic issue, first, give, given, pop;
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
      .Fill(2 * SumDelay + 3),
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
      .moves_i(1'b1),
      .takes_i(1'b1),
      .gives_i(give),
      .final_i(at_final),
      .issue_o(issue),
      .addr_o(addr),
      .at_end_o(at_end),
      .given_i(given),
      .popped_i(pop)
  );

  rm_basext_pipelined_rows #(
      .MaxL(MaxL),
      .MaxK(MaxK)
  ) u_rows (
      .clk_i,
      .idle_i(idle),
      .exact_next_i(exact_next),
      .l_i(l),
      .k_i(k),
      .issue_i(issue),
      .at_end_i(at_end),
      .gives_o(give),
      .final_o(at_final),
      .target_o(target),
      .redundant_o(of_redundant),
      .first_o(first),
      .source_o(source)
  );

  logic unused_job;
  assign unused_job = ^{run, log_n};

  assign code_o = code;

  // ---- Control signals of a coefficient, by the cycles since its issue. ----

  typedef struct packed {
    logic                 redundant;
    logic                 first;
    logic                 give;
    logic                 last;
    logic                 finally_done;
    logic [AddrWidth-1:0] addr;
  } token_t;

  token_t issued, read, sum, add_q, put_q;
  logic read_valid, sum_valid, add_valid_q, put_valid_q, out_valid, out_last, out_final;
  logic [IWidth-1:0] column;
  logic [JWidth-1:0] row;

  assign issued = '{
      redundant: of_redundant,
      first: first,
      give: give,
      last: at_end,
      finally_done: at_end & at_final,
      addr: addr
  };

  rm_basext_token #(
      .Width($bits(token_t)),
      .Depth(SumDelay),
      .Ahead(Ahead)
  ) u_token (
      .clk_i,
      .rst_ni,
      .valid_i(issue),
      .token_i(issued),
      .read_o(read_valid),
      .read_token_o(read),
      .valid_o(sum_valid),
      .token_o(sum)
  );

  rm_delay #(
      .Width(IWidth + JWidth),
      .Depth(Mul)
  ) u_column (
      .clk_i,
      .d_i({source, target}),
      .q_o({column, row})
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {add_valid_q, put_valid_q} <= '0;
    else {add_valid_q, put_valid_q} <= {sum_valid, add_valid_q};
  end

  always_ff @(posedge clk_i) begin
    add_q <= sum;
    put_q <= add_q;
  end

  // From the sum to the result there are a difference, two products and another difference.
  rm_valid #(
      .Depth(SumDelay + 1)
  ) u_put (
      .clk_i,
      .rst_ni,
      .valid_i(put_valid_q & put_q.give),
      .valid_o(out_valid)
  );

  rm_delay #(
      .Width(2),
      .Depth(SumDelay + 1)
  ) u_ends (
      .clk_i,
      .d_i({put_q.last, put_q.finally_done}),
      .q_o({out_last, out_final})
  );

  assign given = out_valid & out_final;

  logic unused_token;
  assign unused_token = ^{put_q, read};

  // ---- Moduli and constants, broadcast. ----

  logic [Width-1:0] source_word, mu_const, mu_const_q, target_word, product, target_const;
  logic [Width-1:0] redundant_const, redundant, inverse, target_const_q, redundant_const_q;
  logic [Width-1:0] post_word, post_product, p_q, last_p_q;
  logic [BusWidth-1:0] redundant_bus_q;
  logic [Steps:0][BusWidth-1:0] source_bus, target_bus, post_bus;

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
      .source_i(source),
      .source_o(source_word),
      .mu_const_o(mu_const),
      .row_i(row),
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
      .q_i(source_word),
      .q_o(source_bus)
  );

  rm_wide_moduli #(
      .Width(Width),
      .Low(Low)
  ) u_target (
      .clk_i,
      .q_i(target_word),
      .q_o(target_bus)
  );

  // The target's modulus and |Q|_p again, at its last product.
  rm_delay #(
      .Width(2 * Width),
      .Depth(SumDelay + 1)
  ) u_post_words (
      .clk_i,
      .d_i({target_word, product}),
      .q_o({post_word, post_product})
  );

  rm_wide_moduli #(
      .Width(Width),
      .Low(Low)
  ) u_post (
      .clk_i,
      .q_i(post_word),
      .q_o(post_bus)
  );

  logic [Width-1:0] post_product_q;

  always_ff @(posedge clk_i) begin
    // This modulus stays for a whole command, so it needs no delay line.
    redundant_bus_q <= {rm_wide_pkg::triple_of(64'(redundant), Low), redundant};
    mu_const_q <= mu_const;
    target_const_q <= target_const;
    redundant_const_q <= redundant_const;
    post_product_q <= post_product;
    // The correction's modulus, one cycle later, is the adder's.
    p_q <= target_bus[Steps][Width-1:0];
    last_p_q <= post_bus[Steps][Width-1:0];
  end

  // ---- Lanes. ----

  logic [Lanes-1:0][Width-1:0] data_q, data2_q, result, queued;

  for (genvar t = 0; t < Lanes; t++) begin : gen_lane
    always_ff @(posedge clk_i) begin
      data_q[t] <= data[t][Width-1:0];
      data2_q[t] <= data_q[t];
    end

    rm_basext_pipelined_lane #(
        .Width(Width),
        .Low(Low),
        .Depth(1 << AddrWidth)
    ) u_lane (
        .clk_i,
        .data_i(data2_q[t]),
        .source_i(source_bus),
        .target_i(target_bus),
        .post_i(post_bus),
        .redundant_i(redundant_bus_q),
        .mu_const_i(mu_const_q),
        .target_const_i(target_const_q),
        .redundant_const_i(redundant_const_q),
        .inverse_i(inverse),
        .product_i(post_product_q),
        .p_i(p_q),
        .last_p_i(last_p_q),
        .exact_i(exact),
        .sum_re_i(read_valid),
        .sum_addr_i(read.addr),
        .first_i(add_q.first),
        .a_re_i((Ahead == 0) ? add_valid_q : sum_valid),
        .a_addr_i((Ahead == 0) ? add_q.addr : sum.addr),
        .store_i(put_valid_q & put_q.redundant),
        .we_i(put_valid_q),
        .waddr_i(put_q.addr),
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
      .valid_i(out_valid),
      .ready_o(queue_ready),
      .data_i({out_last, result}),
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
    if (rst_ni) queue_has_room : assert (!out_valid || queue_ready);
  end
`else
  logic unused_ready;
  assign unused_ready = queue_ready;
`endif

endmodule
