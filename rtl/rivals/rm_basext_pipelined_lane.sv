// SPDX-License-Identifier: Apache-2.0
// A lane of the pipelined base extension: one coefficient a cycle (Kırbıyık's thesis, Algorithm 2,
// Figures 3.3 and 3.4).
//
// For a coefficient of residues a_i modulo q_i, a redundant residue a_m modulo m, and one target p:
//
//   Sum Process        mu = a_i |Qhat_i^-1|_(q_i) mod q_i         first multiplier
//                      P[c] += mu |Qhat_i|_p mod p                second
//                      S[c] += mu |Qhat_i|_m mod m                third
//   Post-Sum Process   alpha = (S[c] - A[c]) |Q^-1|_m mod m       fourth
//                      out = P[c] - alpha |Q|_p mod p             fifth
//
// A, S and P are memories of Depth words, N / Lanes for the largest N. A sum that begins ignores
// the word before it, so P and S are written with a redundant residue, too. Post-Sum takes each sum
// as it is made; its result counts only for the last sum. The constants are broadcast to all lanes,
// held times R; rm_basext_pipelined says in which cycle. A lane has 5 modular multipliers, 2 adders
// and 2 subtractors.
//
// By the cycles since issue, with S = sum_delay(Width, Low) = 2 Mul + 1 and r = read_ahead(Depth)
// of rm_basext_pkg:
//
//   2             data_i, source_i, mu_const_i
//   Mul + 2       target_i, target_const_i, redundant_const_i
//   S - r         sum_re_i
//   S + 1 - r     a_re_i, which reads A
//   S + 1         first_i, p_i
//   S + 2         store_i (of a redundant residue), we_i with its place
//   S + Mul + 3   post_i, product_i
//   2 S + 2       last_p_i
//   2 S + 3       out_o
module rm_basext_pipelined_lane
  import rm_wide_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9,
    parameter int unsigned Depth = 1024,
    localparam int unsigned AddrWidth = $clog2(Depth)
) (
    input  logic                                           clk_i,
    // The residue of a source, or the redundant one.
    input  logic [    Width-1:0]                           data_i,
    // Broadcast moduli and constants.
    input  logic [steps(Width):0][modulus_bits(Width)-1:0] source_i,
    input  logic [steps(Width):0][modulus_bits(Width)-1:0] target_i,
    input  logic [steps(Width):0][modulus_bits(Width)-1:0] post_i,
    input  logic [modulus_bits(Width)-1:0]                 redundant_i,
    input  logic [    Width-1:0]                           mu_const_i,
    input  logic [    Width-1:0]                           target_const_i,
    input  logic [    Width-1:0]                           redundant_const_i,
    input  logic [    Width-1:0]                           inverse_i,
    input  logic [    Width-1:0]                           product_i,
    input  logic [    Width-1:0]                           p_i,
    input  logic [    Width-1:0]                           last_p_i,
    // Without alpha the sum is the result.
    input  logic                                           exact_i,
    // The sums, and the redundant residues.
    input  logic                                           sum_re_i,
    input  logic [AddrWidth-1:0]                           sum_addr_i,
    input  logic                                           first_i,
    input  logic                                           a_re_i,
    input  logic [AddrWidth-1:0]                           a_addr_i,
    input  logic                                           store_i,
    input  logic                                           we_i,
    input  logic [AddrWidth-1:0]                           waddr_i,
    output logic [    Width-1:0]                           out_o
);

  localparam int unsigned Steps = steps(Width);
  localparam bit Deep = rm_basext_pkg::read_ahead(Depth) != 0;
  localparam int unsigned Mul = mul_latency(Width, Low);
  localparam int unsigned SumDelay = rm_basext_pkg::sum_delay(Width, Low);

  logic [Width-1:0] mu, p_old, s_old, a_old, a_new, p_sum, s_sum, missing_d, missing_q;
  logic [Width-1:0] alpha, correction, p_late, out_d, out_q;
  logic [Steps:0][modulus_bits(Width)-1:0] redundant;

  assign redundant = {(Steps + 1) {redundant_i}};

  rm_wide_mul #(
      .Width(Width),
      .Low(Low)
  ) u_mu (
      .clk_i,
      .q_i(source_i),
      .a_i(data_i),
      .b_i(mu_const_i),
      .r_o(mu)
  );

  rm_basext_channel #(
      .Width(Width),
      .Low(Low)
  ) u_target (
      .clk_i,
      .x_i(mu),
      .const_i(target_const_i),
      .modulus_i(target_i),
      .old_i(p_old),
      .first_i,
      .p_i,
      .sum_o(p_sum)
  );

  rm_basext_channel #(
      .Width(Width),
      .Low(Low)
  ) u_redundant (
      .clk_i,
      .x_i(mu),
      .const_i(redundant_const_i),
      .modulus_i(redundant),
      .old_i(s_old),
      .first_i,
      .p_i(redundant_i[Width-1:0]),
      .sum_o(s_sum)
  );

  rm_basext_ram #(
      .Width(Width),
      .Depth(Depth),
      .OutReg(Deep)
  ) u_target_sums (
      .clk_i,
      .we_i,
      .waddr_i,
      .wdata_i(p_sum),
      .re_i(sum_re_i),
      .raddr_i(sum_addr_i),
      .rdata_o(p_old)
  );

  rm_basext_ram #(
      .Width(Width),
      .Depth(Depth),
      .OutReg(Deep)
  ) u_redundant_sums (
      .clk_i,
      .we_i,
      .waddr_i,
      .wdata_i(s_sum),
      .re_i(sum_re_i),
      .raddr_i(sum_addr_i),
      .rdata_o(s_old)
  );

  // The redundant residue waits as long as the sums, so that the next target's residue does not
  // replace it before the last sum of this target.
  rm_delay #(
      .Width(Width),
      .Depth(SumDelay)
  ) u_redundant_residue (
      .clk_i,
      .d_i(data_i),
      .q_o(a_new)
  );

  rm_basext_ram #(
      .Width(Width),
      .Depth(Depth),
      .OutReg(Deep)
  ) u_redundant_residues (
      .clk_i,
      .we_i(store_i),
      .waddr_i,
      .wdata_i(a_new),
      .re_i(a_re_i),
      .raddr_i(a_addr_i),
      .rdata_o(a_old)
  );

  rm_mod_sub #(
      .Width(Width)
  ) u_missing (
      .a_i(s_sum),
      .b_i(a_old),
      .q_i(redundant_i[Width-1:0]),
      .r_o(missing_d)
  );

  always_ff @(posedge clk_i) missing_q <= missing_d;

  rm_wide_mul #(
      .Width(Width),
      .Low(Low)
  ) u_alpha (
      .clk_i,
      .q_i(redundant),
      .a_i(missing_q),
      .b_i(inverse_i),
      .r_o(alpha)
  );

  rm_wide_mul #(
      .Width(Width),
      .Low(Low)
  ) u_correction (
      .clk_i,
      .q_i(post_i),
      .a_i(alpha),
      .b_i(product_i),
      .r_o(correction)
  );

  rm_delay #(
      .Width(Width),
      .Depth(2 * Mul + 1)
  ) u_sum (
      .clk_i,
      .d_i(p_sum),
      .q_o(p_late)
  );

  rm_mod_sub #(
      .Width(Width)
  ) u_difference (
      .a_i(p_late),
      .b_i(exact_i ? correction : '0),
      .q_i(last_p_i),
      .r_o(out_d)
  );

  always_ff @(posedge clk_i) out_q <= out_d;

  assign out_o = out_q;

endmodule
