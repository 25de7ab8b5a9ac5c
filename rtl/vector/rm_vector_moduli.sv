// SPDX-License-Identifier: Apache-2.0
// The table of moduli of the vector machine: q and R mod q of each, written at start-up. Latency 0
// (combinational).
module rm_vector_moduli
  import rm_vector_top_pkg::*;
#(
    parameter int unsigned Moduli = 16,
    parameter int unsigned Width = 32
) (
    input  logic               clk_i,
    input  logic               load_i,
    input  entry_t             entry_i,
    input  logic [        9:0] modulus_i,
    output logic [Width-1:0]   q_o,
    output logic [Width-1:0]   one_o
);

  localparam int unsigned IndexWidth = (Moduli > 1) ? $clog2(Moduli) : 1;

  (* ram_style = "distributed" *) logic [Width-1:0] moduli[Moduli];
  (* ram_style = "distributed" *) logic [Width-1:0] ones[Moduli];

  always_ff @(posedge clk_i) begin
    if (load_i && entry_i.kind == TableModulus) begin
      moduli[entry_i.modulus[IndexWidth-1:0]] <= entry_i.word[Width-1:0];
    end
    if (load_i && entry_i.kind == TableOne) begin
      ones[entry_i.modulus[IndexWidth-1:0]] <= entry_i.word[Width-1:0];
    end
  end

  assign q_o = moduli[modulus_i[IndexWidth-1:0]];
  assign one_o = ones[modulus_i[IndexWidth-1:0]];

  logic unused_entry;
  assign unused_entry = ^{entry_i, modulus_i};

endmodule
