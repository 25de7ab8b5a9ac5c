// SPDX-License-Identifier: Apache-2.0
// Control of the folded base extension (rm_basext_folded): tells rm_basext_job which rows of
// coefficients come next.
//
// For each of the k targets there are N / Lanes coefficients modulo m, then as many modulo each of
// q_0 to q_(l-1) (Sum), then as many that are read (Post-Sum). The fast extension has no rows
// modulo m and no Post-Sum.
//
// Post-Sum begins when the last sum is read, SumDelay cycles after its issue (summed_i). Without
// stalls a target takes (l + 2) N / Lanes + 2 SumDelay + 3 cycles, or l N / Lanes + SumDelay + 3
// for the fast extension. done_o is high one cycle after that number of cycles from the command on.
module rm_basext_folded_rows #(
    parameter int unsigned MaxL = 32,
    parameter int unsigned MaxK = 32,
    localparam int unsigned LWidth = $clog2(MaxL + 1),
    localparam int unsigned KWidth = $clog2(MaxK + 1),
    localparam int unsigned IWidth = (MaxL > 1) ? $clog2(MaxL) : 1,
    localparam int unsigned JWidth = (MaxK > 1) ? $clog2(MaxK) : 1
) (
    input  logic              clk_i,
    input  logic              rst_ni,
    // The job.
    input  logic              idle_i,
    input  logic              exact_i,
    input  logic [LWidth-1:0] l_i,
    input  logic [KWidth-1:0] k_i,
    input  logic              issue_i,
    input  logic              at_end_i,
    output logic              moves_o,
    output logic              takes_o,
    output logic              gives_o,
    output logic              final_o,
    // Of a coefficient that is issued: whether it is a redundant residue, the number of its source,
    // whether a sum begins, and whether it is the last of its process.
    output logic [JWidth-1:0] target_o,
    output logic              redundant_o,
    output logic              first_o,
    output logic              last_o,
    output logic [IWidth-1:0] source_o,
    output logic              post_o,
    // The last coefficient of a process at its sum's read, and in the queue.
    input  logic              summed_i,
    input  logic              given_i
);

  typedef enum logic [2:0] {
    Next,  // target's constants are read
    Rows,
    Turn,  // sums are under way
    Post,
    Give   // results are under way
  } state_e;

  state_e state_d, state_q;
  // Whether this is the last row: known a cycle before.
  logic last_row_d, last_row_q;
  // The polynomial of the target: the redundant residue or source number i.
  logic redundant_d, redundant_q;
  logic [IWidth-1:0] i_d, i_q;
  logic [JWidth-1:0] j_d, j_q;
  logic last_target;

  assign last_target = KWidth'(j_q) + 1'b1 == k_i;

  assign moves_o = state_q == Rows || state_q == Post;
  assign takes_o = state_q == Rows;
  // The fast extension gives its last row's sums.
  assign gives_o = (state_q == Post) || (state_q == Rows && !exact_i && last_row_q);
  assign final_o = gives_o && last_target;
  assign target_o = j_q;
  assign redundant_o = redundant_q && state_q == Rows;
  assign first_o = i_q == '0;
  assign last_o = at_end_i && (state_q == Post || last_row_q);
  assign source_o = i_q;
  assign post_o = state_q == Post || (state_q == Give && exact_i);

  always_comb begin
    state_d = state_q;
    last_row_d = last_row_q;
    redundant_d = redundant_q;
    i_d = i_q;
    j_d = j_q;

    unique case (state_q)
      Next: begin
        i_d = '0;
        redundant_d = exact_i;
        last_row_d = !exact_i && l_i == LWidth'(1);
        state_d = Rows;
      end

      Rows: begin
        if (issue_i && at_end_i) begin
          redundant_d = 1'b0;
          last_row_d = l_i == (redundant_q ? LWidth'(1) : LWidth'(i_q) + LWidth'(2));
          if (!redundant_q) i_d = last_row_q ? '0 : i_q + 1'b1;
          if (last_row_q) state_d = exact_i ? Turn : Give;
        end
      end

      Turn: if (summed_i) state_d = Post;

      Post: if (issue_i && at_end_i) state_d = Give;

      default: begin
        if (given_i && !last_target) begin
          j_d = j_q + 1'b1;
          state_d = Next;
        end
      end
    endcase

    if (idle_i) begin
      j_d = '0;
      state_d = Next;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= Next;
    else state_q <= state_d;
  end

  always_ff @(posedge clk_i) begin
    last_row_q <= last_row_d;
    redundant_q <= redundant_d;
    i_q <= i_d;
    j_q <= j_d;
  end

endmodule
