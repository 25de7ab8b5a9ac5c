// SPDX-License-Identifier: Apache-2.0
// Joins Parts = OutWidth / InWidth (rounded up) beats of InWidth bits to one beat of OutWidth bits,
// the lowest part first.
//
// The excess bits of the last part are dropped. A stream that ends within a beat gives the part of
// the beat that came, with cut_o. A part is taken only while a beat could leave (ready_i).
//
// Latency 1 cycle from the last part, one part a cycle.
module rm_beat_join #(
    parameter int unsigned InWidth = 128,
    parameter int unsigned OutWidth = 624
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                valid_i,
    output logic                ready_o,
    input  logic [ InWidth-1:0] data_i,
    input  logic                last_i,
    output logic                valid_o,
    input  logic                ready_i,
    output logic [OutWidth-1:0] data_o,
    output logic                last_o,
    output logic                cut_o
);

  localparam int unsigned Parts = (OutWidth + InWidth - 1) / InWidth;
  localparam int unsigned PartWidth = (Parts > 1) ? $clog2(Parts) : 1;

  logic full_q, last_q, cut_q, push, ends;
  logic [PartWidth-1:0] part_q;
  logic [Parts-1:0][InWidth-1:0] beat_q;

  assign ready_o = ready_i;
  assign push = valid_i & ready_o;
  assign ends = part_q == PartWidth'(Parts - 1);
  assign valid_o = full_q;
  assign data_o = OutWidth'(beat_q);
  assign last_o = last_q;
  assign cut_o = cut_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      full_q <= 1'b0;
      part_q <= '0;
    end else begin
      full_q <= (push && (ends || last_i)) || (full_q && !ready_i);
      if (push) part_q <= (ends || last_i) ? '0 : part_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) begin
      last_q <= last_i;
      cut_q <= last_i && !ends;
      for (int unsigned p = 0; p < Parts; p++) begin
        if (part_q == PartWidth'(p)) beat_q[p] <= data_i;
      end
    end
  end

  if (Parts * InWidth > OutWidth) begin : gen_unused
    logic unused_rest;
    assign unused_rest = ^beat_q;
  end

endmodule
