// SPDX-License-Identifier: Apache-2.0
// An adder without a carry longer than Most bits: sum = a + b + carry mod 2^Width.
//
// The module computes the bits above the lowest Most twice, with a carry and without, and selects
// one.
//
// Latency 0 (combinational).
module rm_add_select #(
    parameter int unsigned Width = 64,
    parameter int unsigned Most = 60
) (
    input  logic [Width-1:0] a_i,
    input  logic [Width-1:0] b_i,
    input  logic             carry_i,
    output logic [Width-1:0] sum_o
);

  if (Width <= Most) begin : gen_whole
    assign sum_o = a_i + b_i + Width'(carry_i);
  end else begin : gen_select
    localparam int unsigned High = Width - Most;
    logic [Most:0] low;
    logic [High-1:0] high, more;

    if (High > Most) begin : gen_check
      $error("a sum in two parts has at most twice Most bits");
    end

    assign low = {1'b0, a_i[Most-1:0]} + {1'b0, b_i[Most-1:0]} + (Most + 1)'(carry_i);
    assign high = a_i[Width-1:Most] + b_i[Width-1:Most];
    assign more = a_i[Width-1:Most] + b_i[Width-1:Most] + High'(1);
    assign sum_o = {low[Most] ? more : high, low[Most-1:0]};
  end

endmodule
