// SPDX-License-Identifier: Apache-2.0
// A lane of the folded base extension: one coefficient a cycle (Kırbıyık's thesis, Algorithm 2,
// Figures 3.5 and 3.7).
//
// For a coefficient of residues a_i modulo q_i, a redundant residue a_m modulo m, and one target p:
//
//   Sum Process        mu = a_i |Qhat_i^-1|_(q_i) mod q_i         first multiplier
//                      P[c] += mu |Qhat_i|_p mod p                second
//                      S[c] += mu |Qhat_i|_m mod m                third
//   Post-Sum Process   alpha = (S[c] - A[c]) |Q^-1|_m mod m       third
//                      out = P[c] - alpha |Q|_p mod p             second
//
// A, S and P are memories of Depth words, N / Lanes for the largest N, and A[c] = a_m was stored
// before. The constants are broadcast to all lanes, held times R; rm_basext_folded says in which
// cycle. A lane has 3 modular multipliers, 2 adders and 2 subtractors.
//
// By the cycles since issue, with F = folded_delay(Width, Low, Depth) of rm_basext_pkg and r =
// read_ahead(Depth):
//
// - Sum: data_i and mu_const_i at 2 + r, sum_re_i at F - r.
// - Post-Sum: post_re_i at issue, sum_re_i as before. post_i stays while a coefficient of it is in
//   flight, and post_put_i comes two cycles behind.
// - out_o at F + 2, one coefficient a cycle.
module rm_basext_lane
  import rm_wide_pkg::*;
#(
    parameter int unsigned Width = 61,
    parameter int unsigned Low = 9,
    parameter int unsigned Depth = 1024,
    localparam int unsigned AddrWidth = $clog2(Depth)
) (
    input  logic                                         clk_i,
    input  logic                                         post_i,
    input  logic                                         post_put_i,
    // Writes the redundant residue into memory A.
    input  logic                                         store_i,
    input  logic [ AddrWidth-1:0]                        store_addr_i,
    input  logic [     Width-1:0]                        store_data_i,
    // A residue of a source.
    input  logic [     Width-1:0]                        data_i,
    // Broadcast moduli and constants.
    input  logic [steps(Width):0][modulus_bits(Width)-1:0] source_i,
    input  logic [modulus_bits(Width)-1:0]               target_i,
    input  logic [modulus_bits(Width)-1:0]               redundant_i,
    input  logic [     Width-1:0]                        mu_const_i,
    input  logic [     Width-1:0]                        target_const_i,
    input  logic [     Width-1:0]                        redundant_const_i,
    // Post-Sum's read of S and A.
    input  logic                                         post_re_i,
    input  logic [ AddrWidth-1:0]                        post_addr_i,
    // The read of the sums, and the signals that belong to it in the next two cycles.
    input  logic                                         sum_re_i,
    input  logic [ AddrWidth-1:0]                        sum_addr_i,
    input  logic                                         first_i,
    input  logic                                         we_i,
    input  logic [ AddrWidth-1:0]                        waddr_i,
    output logic [     Width-1:0]                        out_o
);

  localparam int unsigned Steps = steps(Width);
  localparam bit Deep = rm_basext_pkg::read_ahead(Depth) != 0;

  logic [Width-1:0] mu, alpha, term, p_old, s_old, a_old, redundant_term;
  logic [Width-1:0] p_sum, s_sum, missing_d, missing_q, difference;
  logic [Width-1:0] out_q, s_sum_q;
  logic [Width-1:0] second, third;
  logic [Width-1:0] p_mod, m_mod;

  assign p_mod = target_i[Width-1:0];
  assign m_mod = redundant_i[Width-1:0];

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

  assign second = post_i ? alpha : mu;
  assign third = post_i ? missing_q : mu;

  rm_wide_mul #(
      .Width(Width),
      .Low(Low)
  ) u_target (
      .clk_i,
      .q_i({(Steps + 1) {target_i}}),
      .a_i(second),
      .b_i(target_const_i),
      .r_o(term)
  );

  rm_wide_mul #(
      .Width(Width),
      .Low(Low)
  ) u_redundant (
      .clk_i,
      .q_i({(Steps + 1) {redundant_i}}),
      .a_i(third),
      .b_i(redundant_const_i),
      .r_o(redundant_term)
  );

  assign alpha = redundant_term;

  rm_basext_ram #(
      .Width(Width),
      .Depth(Depth),
      .OutReg(Deep)
  ) u_redundant_residues (
      .clk_i,
      .we_i(store_i),
      .waddr_i(store_addr_i),
      .wdata_i(store_data_i),
      .re_i(post_re_i),
      .raddr_i(post_addr_i),
      .rdata_o(a_old)
  );

  rm_basext_ram #(
      .Width(Width),
      .Depth(Depth),
      .OutReg(Deep)
  ) u_redundant_sums (
      .clk_i,
      .we_i,
      .waddr_i,
      .wdata_i(s_sum_q),
      .re_i(post_i ? post_re_i : sum_re_i),
      .raddr_i(post_i ? post_addr_i : sum_addr_i),
      .rdata_o(s_old)
  );

  rm_basext_ram #(
      .Width(Width),
      .Depth(Depth),
      .OutReg(Deep)
  ) u_target_sums (
      .clk_i,
      .we_i,
      .waddr_i,
      .wdata_i(out_q),
      .re_i(sum_re_i),
      .raddr_i(sum_addr_i),
      .rdata_o(p_old)
  );

  rm_mod_add #(
      .Width(Width)
  ) u_target_add (
      .a_i(first_i ? '0 : p_old),
      .b_i(term),
      .q_i(p_mod),
      .r_o(p_sum)
  );

  rm_mod_add #(
      .Width(Width)
  ) u_redundant_add (
      .a_i(first_i ? '0 : s_old),
      .b_i(redundant_term),
      .q_i(m_mod),
      .r_o(s_sum)
  );

  rm_mod_sub #(
      .Width(Width)
  ) u_missing (
      .a_i(s_old),
      .b_i(a_old),
      .q_i(m_mod),
      .r_o(missing_d)
  );

  rm_mod_sub #(
      .Width(Width)
  ) u_difference (
      .a_i(p_old),
      .b_i(term),
      .q_i(p_mod),
      .r_o(difference)
  );

  always_ff @(posedge clk_i) begin
    missing_q <= missing_d;
    s_sum_q <= s_sum;
    out_q <= post_put_i ? difference : p_sum;
  end

  assign out_o = out_q;

endmodule
