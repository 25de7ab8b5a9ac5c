// SPDX-License-Identifier: Apache-2.0
// The data path of the mixed-radix base extension (rm_basext_radix): a transposition memory and the
// cells behind it.
//
// Bank i of the memory has N words, the residues modulo q_i. A beat of a row is written to one
// bank, and a read takes all banks. The coefficients read go, one a cycle, through MaxL stages of
// Mul + 1 cycles, Mul = mul_latency(Width, Low):
//
//   stage s   cells, u > s   v_u = (v_u - b_s) / q_s mod q_u, and v_(s+1) is digit b_(s+1)
//             a term         sum = sum + b_s |q_0 ... q_(s-1)|_p mod p, where s < l
//
// With an issue come data_i, its row (the source to store or the target to give) and its place. The
// steps of a beat that is given follow in the next cycles (rm_basext_radix_rows). Its residues are
// on out_o Lanes + 3 + MaxL (Mul + 1) cycles after the issue.
module rm_basext_radix_array
  import rm_basext_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9,
    parameter int unsigned Lanes = 1,
    parameter int unsigned MaxLogN = 12,
    parameter int unsigned MaxL = 4,
    parameter int unsigned MaxK = 4,
    localparam int unsigned LWidth = $clog2(MaxL + 1),
    localparam int unsigned KWidth = $clog2(MaxK + 1),
    localparam int unsigned RWidth = rm_arith_pkg::max2(LWidth, KWidth),
    localparam int unsigned LaneWidth = (Lanes > 1) ? $clog2(Lanes) : 1,
    localparam int unsigned AddrWidth = MaxLogN - $clog2(Lanes)
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
    // A beat. l_i is held for a command.
    input  logic [LWidth-1:0]           l_i,
    input  logic                        store_i,
    input  logic                        give_i,
    input  logic                        last_i,
    input  logic                        final_i,
    input  logic [RWidth-1:0]           row_i,
    input  logic [AddrWidth-1:0]        addr_i,
    input  logic [Lanes-1:0][Width-1:0] data_i,
    // A coefficient.
    input  logic                        step_i,
    input  logic [LaneWidth-1:0]        step_lane_i,
    // Results.
    output logic                        valid_o,
    output logic                        last_o,
    output logic                        final_o,
    output logic [Lanes-1:0][Width-1:0] out_o
);

  localparam int unsigned Stage = rm_wide_pkg::mul_latency(Width, Low) + 1;
  localparam int unsigned BusWidth = rm_wide_pkg::modulus_bits(Width);
  localparam int unsigned JWidth = (MaxK > 1) ? $clog2(MaxK) : 1;

  // ---- The memory. ----

  logic store_q;
  logic [RWidth-1:0] store_row_q;
  logic [AddrWidth-1:0] addr_q;
  logic [Lanes-1:0][Width-1:0] data_q;
  logic [MaxL-1:0][Lanes-1:0][Width-1:0] read;
  logic [MaxL-1:0][Width-1:0] v_q, v2_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) store_q <= 1'b0;
    else store_q <= store_i;
  end

  always_ff @(posedge clk_i) begin
    store_row_q <= row_i;
    addr_q <= addr_i;
    data_q <= data_i;
    v2_q <= v_q;
  end

  for (genvar i = 0; i < MaxL; i++) begin : gen_bank
    rm_ram_1r1w #(
        .Width(Lanes * Width),
        .Depth(1 << AddrWidth)
    ) u_bank (
        .clk_i,
        .we_i(store_q && 32'(store_row_q) == i),
        .waddr_i(addr_q),
        .wdata_i(data_q),
        // The words that were read stay for all steps of the beat.
        .re_i(give_i),
        .raddr_i(addr_i),
        .rdata_o(read[i])
    );

    if (Lanes == 1) begin : gen_lane
      always_ff @(posedge clk_i) v_q[i] <= read[i];
    end else begin : gen_lanes
      always_ff @(posedge clk_i) v_q[i] <= read[i][step_lane_i];
    end
  end

  // ---- Control signals of a coefficient. ----

  typedef struct packed {
    logic              last;
    logic              finally_done;
    logic [JWidth-1:0] target;
  } beat_t;

  beat_t beat_q;
  logic ends, put, put_q;
  logic [1:0] marks, marks_q;
  logic [MaxL-1:0][JWidth-1:0] target;

  always_ff @(posedge clk_i) begin
    if (give_i) begin
      beat_q <= '{
          last: last_i,
          finally_done: final_i,
          target: JWidth'(row_i)
      };
    end
  end

  // A beat is whole with its last coefficient.
  assign ends = step_i && step_lane_i == LaneWidth'(Lanes - 1);

  rm_valid #(
      .Depth(2 + MaxL * Stage)
  ) u_valid (
      .clk_i,
      .rst_ni,
      .valid_i(ends),
      .valid_o(put)
  );

  rm_delay #(
      .Width(2),
      .Depth(2 + MaxL * Stage)
  ) u_marks (
      .clk_i,
      .d_i({beat_q.last, beat_q.finally_done}),
      .q_o(marks)
  );

  // ---- Stages: v[s][u] for u >= s, of which v[s][s] is digit b_s. ----

  logic [MaxL-1:0][BusWidth-1:0] modulus;
  logic [MaxL-1:0][MaxL-1:0][Width-1:0] v;
  logic [MaxL-1:0][Width-1:0] sum;

  assign v[0] = v2_q;

  for (genvar s = 0; s < MaxL; s++) begin : gen_stage
    if (s == 0) begin : gen_first
      assign target[s] = beat_q.target;

      // Digit 0 is a residue as it came.
      logic unused_source;
      assign modulus[s] = '0;
      assign unused_source = ^{modulus[s], source_i};
    end else begin : gen_later
      logic [BusWidth-1:0] modulus_q;

      always_ff @(posedge clk_i) begin
        if (take_i && part_i == Sources && kind_i == 2'd0 && 32'(source_i) == s) begin
          modulus_q <= {rm_wide_pkg::triple_of(64'(word_i), Low), word_i};
        end
      end

      assign modulus[s] = modulus_q;

      rm_delay #(
          .Width(JWidth),
          .Depth(Stage)
      ) u_target (
          .clk_i,
          .d_i(target[s-1]),
          .q_o(target[s])
      );

      assign v[s][s-1:0] = '0;
    end

    for (genvar u = s + 1; u < MaxL; u++) begin : gen_row
      rm_basext_radix_cell #(
          .Width(Width),
          .Low(Low),
          .Digit(s),
          .Row(u),
          .LWidth(LWidth)
      ) u_cell (
          .clk_i,
          .take_i,
          .part_i,
          .source_i,
          .column_i,
          .word_i,
          .modulus_i(modulus[u]),
          .b_i(v[s][s]),
          .v_i(v[s][u]),
          .r_o(v[s+1][u])
      );
    end

    rm_basext_radix_term #(
        .Width(Width),
        .Low(Low),
        .Digit(s),
        .LWidth(LWidth),
        .MaxK(MaxK)
    ) u_term (
        .clk_i,
        .take_i,
        .part_i,
        .kind_i,
        .load_target_i(target_i),
        .column_i,
        .word_i,
        .l_i,
        .target_i(target[s]),
        .b_i(v[s][s]),
        .old_i((s == 0) ? '0 : sum[(s == 0) ? 0 : s-1]),
        .sum_o(sum[s])
    );
  end

  // ---- Beats: the first coefficient is lane 0. ----

  logic [Lanes-1:0][Width-1:0] out_d, out_q;

  if (Lanes == 1) begin : gen_word
    assign out_d = sum[MaxL-1];
  end else begin : gen_beat
    assign out_d = {sum[MaxL-1], out_q[Lanes-1:1]};
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) put_q <= 1'b0;
    else put_q <= put;
  end

  always_ff @(posedge clk_i) begin
    out_q <= out_d;
    marks_q <= marks;
  end

  assign valid_o = put_q;
  assign {last_o, final_o} = marks_q & {2{put_q}};
  assign out_o = out_q;

endmodule
