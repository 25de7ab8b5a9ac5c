// SPDX-License-Identifier: Apache-2.0
// Requests polynomial memory for a word of the main cores: decides, beat by beat, which groups'
// read ports it uses, and which of their slots.
//
// A word is an instruction word. The requests are computed a cycle early, so that the ports have a
// cycle of their own. Operands in narrow slots begin at multiples of a row's parts, so a beat's low
// bits say which part is read.
//
// Latency 1 from a beat to its request; the inputs of the word are there a cycle before its first
// beat.
module rm_ring_ask
  import rm_ring_pkg::*;
#(
    parameter int unsigned LogRow = 3,
    parameter memory_t Memory = DefaultMemory,
    localparam int unsigned Groups = groups_of(Memory)
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    // Of the word, held.
    input  reads_t                    reads_i,
    input  logic [SlotWidth-1:0]      dst_i,
    input  logic                      transform_i,
    input  logic                      moves_i,
    output logic [2:0][BeatWidth-1:0] beats_o,  // of a's, b's and the result's rows
    // Of the beat.
    input  logic                      beat_i,
    input  logic                      first_i,  // in a transform's first pass
    input  logic [BeatWidth-1:0]      sub_i,
    input  logic                      from_half_i,  // an automorphism's row is the second operand's
    output logic [Groups-1:0]         re_o,
    output logic [Groups-1:0][SlotWidth-1:0] rslot_o,
    output logic                      strides_o,
    output logic [BeatWidth-1:0]      part_o
);

  localparam int unsigned Row = 1 << LogRow;

  // Returns the beats of a slot's row: one for each residue if the word strides, else the slot's
  // parts.
  function automatic logic [BeatWidth-1:0] beats_of(logic [SlotWidth-1:0] slot);
    return reads_i.strides ? BeatWidth'(Row) : parts_of(slot, Memory);
  endfunction

  logic [3:0][Groups-1:0] group_q;  // of a, b, c and the result
  logic [3:0][SlotWidth-1:0] inner_q;
  logic [2:0][BeatWidth-1:0] beats_q;
  logic [2:0] now;  // operands that are read
  logic [Groups-1:0] one_group;  // of what reads one slot
  logic [SlotWidth-1:0] one_inner;
  logic [BeatWidth-1:0] one_beats;
  logic [Groups-1:0] re_d, re_q;
  logic [Groups-1:0][SlotWidth-1:0] rslot_d, rslot_q;
  logic [BeatWidth-1:0] part_q;

  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < 3; i++) begin
      group_q[i] <= reads_i.has[i] ? Groups'(groups_at(reads_i.slot[i], Memory)) : '0;
      inner_q[i] <= inner_of(reads_i.slot[i], Memory);
    end
    group_q[3] <= Groups'(groups_at(dst_i, Memory));
    inner_q[3] <= inner_of(dst_i, Memory);
    beats_q <= {beats_of(dst_i), beats_of(reads_i.slot[1]), beats_of(reads_i.slot[0])};
  end

  always_comb begin
    for (int unsigned i = 0; i < 3; i++) begin
      now[i] = sub_i >= reads_i.first[i] && sub_i <= reads_i.last[i];
    end
    one_group = group_q[from_half_i];
    one_inner = inner_q[from_half_i];
    one_beats = beats_q[from_half_i];
    if (transform_i) begin
      one_group = first_i ? group_q[0] : group_q[3];
      one_inner = first_i ? inner_q[0] : inner_q[3];
      one_beats = first_i ? beats_q[0] : beats_q[2];
    end
  end

  // Operands that are read in one beat from one port are one.
  always_comb begin
    re_d = '0;
    rslot_d = '0;
    for (int unsigned g = 0; g < Groups; g++) begin
      if (transform_i || moves_i) begin
        re_d[g] = beat_i && one_group[g] && sub_i < one_beats;
        rslot_d[g] = one_inner;
      end else begin
        for (int unsigned i = 0; i < 3; i++) begin
          re_d[g] |= beat_i && now[i] && group_q[i][g];
          if (now[i] && group_q[i][g]) rslot_d[g] |= inner_q[i];
        end
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) re_q <= '0;
    else re_q <= re_d;
  end

  always_ff @(posedge clk_i) begin
    rslot_q <= rslot_d;
    part_q <= sub_i;
  end

  assign beats_o = beats_q;
  assign re_o = re_q;
  assign rslot_o = rslot_q;
  assign part_o = part_q;
  assign strides_o = reads_i.strides;

  logic unused;
  assign unused = ^reads_i;

endmodule
