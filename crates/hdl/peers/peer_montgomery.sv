// SPDX-License-Identifier: Apache-2.0
// r = a b R^-1 mod q with R = 2^Width for any odd q < 2^Width: Montgomery's reduction as the textbook
// has it, with qinv_i = q^-1 mod R. What the reductions for special moduli are measured against, with
// operand registers as they have them.
//
// Latency 5 cycles, one product a cycle.
module peer_montgomery #(
    parameter int unsigned Width = 32
) (
    input  logic             clk_i,
    input  logic [Width-1:0] q_i,
    input  logic [Width-1:0] qinv_i,
    input  logic [Width-1:0] a_i,
    input  logic [Width-1:0] b_i,
    output logic [Width-1:0] r_o
);

  logic [2*Width-1:0] product_q, product_m_q;
  logic [Width-1:0] a_q, b_q, m_q, high_q, r_q;
  logic [2*Width-1:0] mq;
  logic [Width-1:0] mq_high_q;
  logic [Width:0] diff;
  logic unused_low;

  assign mq = (2 * Width)'(m_q) * (2 * Width)'(q_i);
  assign unused_low = ^{mq[Width-1:0], product_m_q[Width-1:0]};
  assign diff = {1'b0, high_q} - {1'b0, mq_high_q};

  always_ff @(posedge clk_i) begin
    a_q <= a_i;
    b_q <= b_i;
    product_q <= (2 * Width)'(a_q) * (2 * Width)'(b_q);
    m_q <= product_q[Width-1:0] * qinv_i;
    product_m_q <= product_q;
    mq_high_q <= mq[2*Width-1:Width];
    high_q <= product_m_q[2*Width-1:Width];
    r_q <= diff[Width] ? diff[Width-1:0] + q_i : diff[Width-1:0];
  end

  assign r_o = r_q;

endmodule
