// SPDX-License-Identifier: Apache-2.0
// Control of the mixed-radix base extension (rm_basext_radix): tells rm_basext_job which rows of
// coefficients come next.
//
// For each of a command's cmd_k_i + 1 polynomials it takes the residues modulo q_0 to q_(l-1), a
// row of N / Lanes beats each. Then it gives the residues modulo p_0 to p_(k-1). The coefficients
// of a beat that is given go into the array one a cycle. step_o is high from the cycle after the
// beat's issue on, and step_lane_o is the place in the beat. Nothing else is issued before the last
// of them.
module rm_basext_radix_rows #(
    parameter int unsigned Lanes = 1,
    parameter int unsigned MaxL = 4,
    parameter int unsigned MaxK = 4,
    localparam int unsigned LWidth = $clog2(MaxL + 1),
    localparam int unsigned KWidth = $clog2(MaxK + 1),
    localparam int unsigned RWidth = rm_arith_pkg::max2(LWidth, KWidth),
    localparam int unsigned LaneWidth = (Lanes > 1) ? $clog2(Lanes) : 1
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    // The job.
    input  logic                 idle_i,
    input  logic [          7:0] cmd_k_i,
    input  logic [   LWidth-1:0] l_i,
    input  logic [   KWidth-1:0] k_i,
    input  logic                 issue_i,
    input  logic                 at_end_i,
    output logic                 moves_o,
    output logic                 takes_o,
    output logic                 gives_o,
    output logic                 final_o,
    // The source or the target.
    output logic [   RWidth-1:0] row_o,
    // A coefficient that is given.
    output logic                 step_o,
    output logic [LaneWidth-1:0] step_lane_o
);

  logic giving_d, giving_q, step_d, step_q, at_last_row, at_last_lane;
  logic [7:0] more_d, more_q;
  logic [RWidth-1:0] row_d, row_q;
  logic [LaneWidth-1:0] lane_d, lane_q;

  assign at_last_lane = lane_q == LaneWidth'(Lanes - 1);
  assign at_last_row = row_q + 1'b1 == (giving_q ? RWidth'(k_i) : RWidth'(l_i));
  assign moves_o = !step_q || at_last_lane;
  assign takes_o = !giving_q;
  assign gives_o = giving_q;
  assign final_o = giving_q && at_last_row && more_q == '0;
  assign row_o = row_q;
  assign step_o = step_q;
  assign step_lane_o = lane_q;

  always_comb begin
    giving_d = giving_q;
    more_d = more_q;
    row_d = row_q;
    if (issue_i && at_end_i) begin
      row_d = at_last_row ? '0 : row_q + 1'b1;
      if (at_last_row) begin
        giving_d = !giving_q;
        if (giving_q) more_d = more_q - 1'b1;
      end
    end
    if (idle_i) begin
      giving_d = 1'b0;
      more_d = cmd_k_i;
      row_d = '0;
    end
  end

  always_comb begin
    step_d = step_q && !at_last_lane;
    lane_d = lane_q + 1'b1;
    if (issue_i && giving_q) begin
      step_d = 1'b1;
      lane_d = '0;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      giving_q <= 1'b0;
      step_q <= 1'b0;
    end else begin
      giving_q <= giving_d;
      step_q <= step_d;
    end
  end

  always_ff @(posedge clk_i) begin
    more_q <= more_d;
    row_q <= row_d;
    lane_q <= lane_d;
  end

endmodule
