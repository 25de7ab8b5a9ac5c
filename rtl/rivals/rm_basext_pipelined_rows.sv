// SPDX-License-Identifier: Apache-2.0
// Control of the pipelined base extension (rm_basext_pipelined): tells rm_basext_job which rows of
// coefficients come next.
//
// For each of the k targets there are N / Lanes coefficients modulo m, then as many modulo each of
// q_0 to q_(l-1). The fast extension has no row modulo m. The last row ends the target, and the
// next target's first row follows.
module rm_basext_pipelined_rows #(
    parameter int unsigned MaxL = 32,
    parameter int unsigned MaxK = 32,
    localparam int unsigned LWidth = $clog2(MaxL + 1),
    localparam int unsigned KWidth = $clog2(MaxK + 1),
    localparam int unsigned IWidth = (MaxL > 1) ? $clog2(MaxL) : 1,
    localparam int unsigned JWidth = (MaxK > 1) ? $clog2(MaxK) : 1
) (
    input  logic              clk_i,
    // The job.
    input  logic              idle_i,
    input  logic              exact_next_i,
    input  logic [LWidth-1:0] l_i,
    input  logic [KWidth-1:0] k_i,
    input  logic              issue_i,
    input  logic              at_end_i,
    output logic              gives_o,
    output logic              final_o,
    // Of a coefficient that is issued: its target, whether it is a redundant residue, the number of
    // its source, whether a sum begins.
    output logic [JWidth-1:0] target_o,
    output logic              redundant_o,
    output logic              first_o,
    output logic [IWidth-1:0] source_o
);

  typedef struct packed {
    logic              redundant;
    logic [IWidth-1:0] source;
    logic [JWidth-1:0] target;
  } row_t;

  // The row after this one is worked out while this one, of four coefficients at least, is issued:
  // next_q a cycle after its beginning, and whether it is its target's last in the cycle after.
  row_t row_q, first, next_d, next_q, looked_at;
  logic last_row_q, last_row_d, next_last_q;

  always_comb begin
    first = '0;
    first.redundant = exact_next_i;
  end

  always_comb begin
    next_d = row_q;
    next_d.redundant = last_row_q && exact_next_i;
    if (last_row_q) next_d.target = row_q.target + 1'b1;
    if (!row_q.redundant) next_d.source = last_row_q ? '0 : row_q.source + 1'b1;
  end

  assign looked_at = idle_i ? first : next_q;
  assign last_row_d = !looked_at.redundant && LWidth'(looked_at.source) + 1'b1 == l_i;

  logic unused_target;
  assign unused_target = ^looked_at.target;

  always_ff @(posedge clk_i) begin
    next_q <= next_d;
    next_last_q <= last_row_d;
    if (idle_i) begin
      row_q <= first;
      last_row_q <= last_row_d;
    end else if (issue_i && at_end_i) begin
      row_q <= next_q;
      last_row_q <= next_last_q;
    end
  end

  assign gives_o = last_row_q;
  assign final_o = last_row_q && KWidth'(row_q.target) + 1'b1 == k_i;
  assign target_o = row_q.target;
  assign redundant_o = row_q.redundant;
  assign first_o = row_q.source == '0;
  assign source_o = row_q.source;

endmodule
