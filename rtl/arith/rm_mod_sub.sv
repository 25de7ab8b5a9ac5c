// r = a - b mod q for a, b < q: the difference, or the difference plus q where it is negative.
//
// Latency 0 (combinational).
module rm_mod_sub #(
    parameter int unsigned Width = 32
) (
    input  logic [Width-1:0] a_i,
    input  logic [Width-1:0] b_i,
    input  logic [Width-1:0] q_i,
    output logic [Width-1:0] r_o
);

  logic [Width:0] diff;

  assign diff = {1'b0, a_i} - {1'b0, b_i};
  assign r_o = diff[Width-1:0] + (diff[Width] ? q_i : '0);

endmodule
