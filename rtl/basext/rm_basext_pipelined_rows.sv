// Rows of a pipelined base extension (rm_basext_pipelined), for rm_basext_job: for each of the k
// targets the residues modulo m, the fast way without them, then those modulo q_0 to q_(l-1), N /
// TP coefficients each. The last of them ends the target, and the next target's first row follows.
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

  logic redundant_d, redundant_q, last_row_d, last_row_q;
  logic [IWidth-1:0] i_d, i_q;
  logic [JWidth-1:0] j_d, j_q;

  always_comb begin
    redundant_d = redundant_q;
    i_d = i_q;
    j_d = j_q;
    if (idle_i) begin
      redundant_d = exact_next_i;
      i_d = '0;
      j_d = '0;
    end else if (issue_i && at_end_i) begin
      redundant_d = last_row_q && exact_next_i;
      if (last_row_q) j_d = j_q + 1'b1;
      if (!redundant_q) i_d = last_row_q ? '0 : i_q + 1'b1;
    end
    last_row_d = !redundant_d && LWidth'(i_d) + 1'b1 == l_i;
  end

  always_ff @(posedge clk_i) begin
    redundant_q <= redundant_d;
    last_row_q <= last_row_d;
    i_q <= i_d;
    j_q <= j_d;
  end

  assign gives_o = last_row_q;
  assign final_o = last_row_q && KWidth'(j_q) + 1'b1 == k_i;
  assign target_o = j_q;
  assign redundant_o = redundant_q;
  assign first_o = i_q == '0;
  assign source_o = i_q;

endmodule
