// SPDX-License-Identifier: Apache-2.0
// Delays the control word that goes with a coefficient, and its valid bit, by Depth cycles.
//
// They come at valid_o and token_o. For the read of a deep memory (read_ahead of rm_basext_pkg)
// they also come Ahead cycles earlier at read_o and read_token_o. Reset empties the delay of
// coefficients.
//
// Latency Depth cycles, at least Ahead; one coefficient a cycle.
module rm_basext_token #(
    parameter int unsigned Width = 16,
    parameter int unsigned Depth = 15,
    parameter int unsigned Ahead = 0
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    input  logic             valid_i,
    input  logic [Width-1:0] token_i,
    output logic             read_o,
    output logic [Width-1:0] read_token_o,
    output logic             valid_o,
    output logic [Width-1:0] token_o
);

  rm_valid #(
      .Depth(Depth - Ahead)
  ) u_read (
      .clk_i,
      .rst_ni,
      .valid_i,
      .valid_o(read_o)
  );

  rm_delay #(
      .Width(Width),
      .Depth(Depth - Ahead)
  ) u_read_token (
      .clk_i,
      .d_i(token_i),
      .q_o(read_token_o)
  );

  rm_valid #(
      .Depth(Ahead)
  ) u_valid (
      .clk_i,
      .rst_ni,
      .valid_i(read_o),
      .valid_o
  );

  rm_delay #(
      .Width(Width),
      .Depth(Ahead)
  ) u_token (
      .clk_i,
      .d_i(read_token_o),
      .q_o(token_o)
  );

endmodule
