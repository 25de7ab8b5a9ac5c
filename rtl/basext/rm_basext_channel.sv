// One modulus of the shared base extension, for one coefficient a cycle: P[c] := x w + P[c] mod p,
// or x w where the sum begins, with P a memory of Depth words. 1 modular multiplier, 1 adder.
//
// By the cycles since the operands: x_i and const_i (times R of rm_wide_mul) at 0; modulus_i as
// rm_wide_moduli gives it, from 0 on; the read of P (re_i, raddr_i) at Mul - 1; first_i (the sum
// begins) and p_i at Mul; the sum on sum_o, and its write (we_i, waddr_i), at Mul + 1, where Mul is
// mul_latency(Width, Low). So a word that was read may be read again four cycles later.
module rm_basext_channel
  import rm_wide_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9,
    parameter int unsigned Depth = 1024,
    localparam int unsigned AddrWidth = $clog2(Depth)
) (
    input  logic                                           clk_i,
    input  logic [     Width-1:0]                          x_i,
    input  logic [     Width-1:0]                          const_i,
    input  logic [steps(Width):0][modulus_bits(Width)-1:0] modulus_i,
    input  logic                                           re_i,
    input  logic [ AddrWidth-1:0]                          raddr_i,
    input  logic                                           first_i,
    input  logic [     Width-1:0]                          p_i,
    input  logic                                           we_i,
    input  logic [ AddrWidth-1:0]                          waddr_i,
    output logic [     Width-1:0]                          sum_o
);

  logic [Width-1:0] term, old, sum_d, sum_q;

  rm_wide_mul #(
      .Width(Width),
      .Low(Low)
  ) u_mul (
      .clk_i,
      .q_i(modulus_i),
      .a_i(x_i),
      .b_i(const_i),
      .r_o(term)
  );

  rm_ram_1r1w #(
      .Width(Width),
      .Depth(Depth)
  ) u_sums (
      .clk_i,
      .we_i,
      .waddr_i,
      .wdata_i(sum_q),
      .re_i,
      .raddr_i,
      .rdata_o(old)
  );

  rm_mod_add #(
      .Width(Width)
  ) u_add (
      .a_i(first_i ? '0 : old),
      .b_i(term),
      .q_i(p_i),
      .r_o(sum_d)
  );

  always_ff @(posedge clk_i) sum_q <= sum_d;

  assign sum_o = sum_q;

endmodule
