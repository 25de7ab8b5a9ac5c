// SPDX-License-Identifier: Apache-2.0
// The data path of rm_basext_rowers: the transposition memory and the rowers around it.
//
// Bank r has N words: residues modulo q_r, in the passes of Scale xi_r or digit r, and after Sum
// the residues modulo p_r. A row of Move takes N / Lanes beats, and each beat reads and writes
// Lanes residues of one bank. A step of rm_basext_rowers_rows reads and writes every bank at one
// coefficient.
//
// With an issue of Move come its row, its place and data_i; the residues that it reads (give_i) are
// on out_o with valid_o 2 cycles later. A step writes Mul + 6 cycles later, Mul =
// mul_latency(Width, Low). One beat or one step a cycle.
module rm_basext_rowers_array
  import rm_basext_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9,
    parameter int unsigned Lanes = 1,
    parameter int unsigned MaxLogN = 12,
    parameter int unsigned MaxL = 4,
    parameter int unsigned MaxK = 4,
    parameter bit Digits = 1'b0,
    localparam int unsigned Rowers = rm_arith_pkg::max2(MaxL, MaxK),
    localparam int unsigned LWidth = $clog2(MaxL + 1),
    localparam int unsigned KWidth = $clog2(MaxK + 1),
    localparam int unsigned RWidth = rm_arith_pkg::max2(LWidth, KWidth),
    localparam int unsigned IWidth = (MaxL > 1) ? $clog2(MaxL) : 1,
    localparam int unsigned LaneWidth = $clog2(Lanes),
    localparam int unsigned AddrWidth = MaxLogN - LaneWidth
) (
    input  logic                        clk_i,
    input  logic                        rst_ni,
    // Load.
    input  logic                        take_i,
    input  part_e                       part_i,
    input  logic [       1:0]           kind_i,
    input  logic [LWidth-1:0]           source_i,
    input  logic [KWidth-1:0]           target_i,
    input  logic [LWidth-1:0]           column_i,
    input  logic [ Width-1:0]           word_i,
    input  logic [ Width-1:0]           delta_i,
    // Move.
    input  logic                        store_i,
    input  logic                        give_i,
    input  logic                        last_i,
    input  logic                        final_i,
    input  logic [RWidth-1:0]           row_i,
    input  logic [AddrWidth-1:0]        addr_i,
    input  logic [Lanes-1:0][Width-1:0] data_i,
    output logic                        valid_o,
    output logic                        last_o,
    output logic                        final_o,
    output logic [Lanes-1:0][Width-1:0] out_o,
    // Steps. A fast extension (exact_i is low) has no alpha.
    input  logic                        exact_i,
    input  logic                        step_i,
    input  logic                        sums_i,
    input  logic                        begin_i,
    input  logic [LWidth-1:0]           s_i,
    input  logic [MaxLogN-1:0]          c_i
);

  localparam int unsigned Mul = rm_wide_pkg::mul_latency(Width, Low);
  localparam int unsigned CoxBits = 16;

  // ---- Control signals of a step, by the cycles since it. ----

  typedef struct packed {
    logic               begins;
    logic               scales;
    logic [LWidth-1:0]  s;
    logic [MaxLogN-1:0] c;
  } token_t;

  token_t issued, one_q, two_q, three_q, sum, put_q;
  logic one_valid_q, two_valid_q, sum_valid, put_valid_q;

  // A pass of Scale makes sums of one term. A sum is written after each term, and the last write
  // replaces the others.
  assign issued = '{
      begins: begin_i || !sums_i,
      scales: !sums_i,
      s: s_i,
      c: c_i
  };

  rm_delay #(
      .Width($bits(token_t)),
      .Depth(Mul + 2)
  ) u_token (
      .clk_i,
      .d_i(three_q),
      .q_o(sum)
  );

  rm_valid #(
      .Depth(Mul + 3)
  ) u_step (
      .clk_i,
      .rst_ni,
      .valid_i(two_valid_q),
      .valid_o(sum_valid)
  );

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {one_valid_q, two_valid_q, put_valid_q} <= '0;
    else begin
      one_valid_q <= step_i;
      two_valid_q <= one_valid_q;
      put_valid_q <= sum_valid;
    end
  end

  always_ff @(posedge clk_i) begin
    one_q <= issued;
    two_q <= one_q;
    three_q <= two_q;
    put_q <= sum;
  end

  // ---- Move. ----

  logic store_q, give_q, give2_q;
  logic [1:0] ends_q, ends2_q;
  logic [RWidth-1:0] row_q;
  logic [AddrWidth-1:0] addr_q;
  logic [Lanes-1:0][Width-1:0] data_q, out_q;
  logic [Rowers-1:0][Lanes-1:0][Width-1:0] read;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {store_q, give_q, give2_q} <= '0;
    else {store_q, give_q, give2_q} <= {store_i, give_i, give_q};
  end

  always_ff @(posedge clk_i) begin
    ends_q <= {last_i, final_i};
    ends2_q <= ends_q;
    row_q <= row_i;
    addr_q <= addr_i;
    data_q <= data_i;
    out_q <= read[row_q];
  end

  assign valid_o = give2_q;
  assign {last_o, final_o} = ends2_q & {2{give2_q}};
  assign out_o = out_q;

  // ---- Steps. ----

  logic [Rowers-1:0][Width-1:0] v_d, v_q, v2_q, result;
  logic [Width-1:0] b_q;
  logic alpha;
  logic [Lanes-1:0] put_lane;
  logic [AddrWidth-1:0] raddr, waddr;

  if (Lanes == 1) begin : gen_lane
    assign put_lane = 1'b1;
    for (genvar r = 0; r < Rowers; r++) begin : gen_word
      assign v_d[r] = read[r][0];
    end
  end else begin : gen_lanes
    assign put_lane = Lanes'(1) << put_q.c[LaneWidth-1:0];
    for (genvar r = 0; r < Rowers; r++) begin : gen_word
      assign v_d[r] = read[r][one_q.c[LaneWidth-1:0]];
    end
  end

  assign raddr = step_i ? c_i[MaxLogN-1:LaneWidth] : addr_i;
  assign waddr = put_valid_q ? put_q.c[MaxLogN-1:LaneWidth] : addr_q;

  // Every rower's word of the coefficient, held for Sum, and the one that goes to all.
  always_ff @(posedge clk_i) begin
    if (one_valid_q && one_q.begins) v_q <= v_d;
    v2_q <= v_q;
    b_q <= v_q[two_q.s];
  end

  if (Digits) begin : gen_no_cox
    assign alpha = 1'b0;

    logic unused_cox;
    assign unused_cox = ^{delta_i, exact_i};
  end else begin : gen_cox
    logic alpha_bit;

    rm_basext_cox #(
        .Width(Width),
        .Bits(CoxBits)
    ) u_cox (
        .clk_i,
        .delta_i(delta_i[CoxBits-1:0]),
        .begin_i(three_q.begins),
        .xi_i(b_q),
        .alpha_o(alpha_bit)
    );

    // In a pass of Scale alpha is 0.
    rm_delay #(
        .Width(1),
        .Depth(Mul)
    ) u_alpha (
        .clk_i,
        .d_i(alpha_bit & sums_i & exact_i),
        .q_o(alpha)
    );

    logic unused_delta;
    assign unused_delta = ^delta_i;
  end

  for (genvar r = 0; r < Rowers; r++) begin : gen_rower
    logic put;

    // A digit that is complete is not written again.
    if (Digits && r == 0) begin : gen_first
      assign put = put_valid_q && !put_q.scales;
    end else if (Digits) begin : gen_later
      assign put = put_valid_q && !(put_q.scales && 32'(put_q.s) >= r);
    end else begin : gen_all
      assign put = put_valid_q;
    end

    rm_basext_rower #(
        .Width(Width),
        .Low(Low),
        .Index(r),
        .MaxL(MaxL),
        .MaxK(MaxK),
        .Digits(Digits)
    ) u_rower (
        .clk_i,
        .take_i,
        .part_i,
        .kind_i,
        .source_i,
        .target_i,
        .column_i,
        .word_i,
        .sums_i,
        .address_i(IWidth'(two_q.s)),
        .v_i(v2_q[r]),
        .b_i(b_q),
        .alpha_i(alpha),
        .begin_i(sum.begins),
        .r_o(result[r])
    );

    for (genvar t = 0; t < Lanes; t++) begin : gen_column
      rm_ram_1r1w #(
          .Width(Width),
          .Depth(1 << AddrWidth)
      ) u_bank (
          .clk_i,
          .we_i((store_q && 32'(row_q) == r) || (put && put_lane[t])),
          .waddr_i(waddr),
          .wdata_i(put_valid_q ? result[r] : data_q[t]),
          .re_i(give_i || (step_i && issued.begins)),
          .raddr_i(raddr),
          .rdata_o(read[r][t])
      );
    end
  end

  logic unused_token;
  assign unused_token = ^{one_q, two_q, three_q, sum, put_q};

endmodule
