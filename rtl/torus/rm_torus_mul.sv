// a b modulo P. Latency MulLatency, a product a cycle.
module rm_torus_mul
  import rm_torus_pkg::*;
(
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic [Width-1:0] a_i,
    input  logic [Width-1:0] b_i,
    output logic [Width-1:0] r_o
);

  logic unused_valid;

  rm_mod_mul #(
      .Flavour(rm_arith_pkg::Solinas52),
      .Width(Width),
      .Slack(MulSlack)
  ) u_mul (
      .clk_i,
      .rst_ni,
      .q_i(P),
      .qh_i('0),
      .word_i('0),
      .three_i(1'b0),
      .valid_i(1'b0),
      .a_i,
      .b_i,
      .valid_o(unused_valid),
      .r_o
  );

endmodule
