// SPDX-License-Identifier: Apache-2.0
// A multiply-accumulate step in one DSP block of UltraScale+: p = a b + c + (pcin / 2^17 if Chain
// is set).
//
// Synthesis for UltraScale+ maps the module to a DSP48E2. Other tools infer the multiplier and
// adder from the code. a and b are signed, as in the block. pcin comes from another block's pc_o
// over the wires between neighbours, c from the fabric.
//
// Latency 2 cycles from a and b to p, or 3 with InReg. Latency 1 from c, or 2 with CReg, and 1 from
// pcin. One product a cycle.
module rm_dsp_mac #(
    parameter int unsigned AWidth = 27,
    parameter int unsigned BWidth = 18,
    parameter bit InReg = 1'b1,
    parameter bit CReg = 1'b1,
    parameter bit Chain = 1'b0
) (
    input  logic                     clk_i,
    input  logic signed [AWidth-1:0] a_i,
    input  logic signed [BWidth-1:0] b_i,
    input  logic signed [      47:0] c_i,
    input  logic signed [      47:0] pc_i,
    output logic signed [      47:0] p_o,
    output logic signed [      47:0] pc_o
);

  logic signed [AWidth-1:0] a;
  logic signed [BWidth-1:0] b;
  logic signed [AWidth+BWidth-1:0] product_q;
  logic signed [47:0] c, carried, p_q;

  if (AWidth > 27 || BWidth > 18) begin : gen_check
    $error("a DSP block multiplies 27 bits by 18");
  end

  if (InReg) begin : gen_in_reg
    always_ff @(posedge clk_i) begin
      a <= a_i;
      b <= b_i;
    end
  end else begin : gen_in_wire
    assign a = a_i;
    assign b = b_i;
  end

  if (CReg) begin : gen_c_reg
    always_ff @(posedge clk_i) c <= c_i;
  end else begin : gen_c_wire
    assign c = c_i;
  end

  if (Chain) begin : gen_chain
    assign carried = pc_i >>> 17;
  end else begin : gen_first
    logic unused_chain;
    assign unused_chain = ^pc_i;
    assign carried = '0;
  end

  always_ff @(posedge clk_i) begin
    product_q <= (AWidth + BWidth)'(a) * (AWidth + BWidth)'(b);
    p_q <= 48'(product_q) + c + carried;
  end

  assign p_o = p_q;
  assign pc_o = p_q;

endmodule
