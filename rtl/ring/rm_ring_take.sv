// SPDX-License-Identifier: Apache-2.0
// The port's stage of the main cores: takes a row of each operand from port groups, key memory or
// the generator, and holds it until the next.
//
// The first row goes through the network, the second and third beside it. The selection comes a
// cycle before the row, and the instruction word's slots, in the order of the rows, one cycle
// before the selection.
module rm_ring_take
  import rm_ring_isa_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned LogRow = 3,
    parameter int unsigned Width = 60,
    parameter memory_t Memory = DefaultMemory,
    localparam int unsigned Groups = groups_of(Memory),
    localparam int unsigned Row = 1 << LogRow
) (
    input  logic                      clk_i,
    // Properties of the word, held.
    input  op_e                       op_i,
    input  logic [SlotWidth-1:0]      dst_i,
    input  reads_t                    reads_i,
    input  logic [2:0][BeatWidth-1:0] beats_i,  // of a's, b's and the result's rows
    input  logic                      transform_i,
    input  logic                      moves_i,
    input  logic                      has_key_i,
    input  logic                      has_gen_i,
    // Properties of the beat whose rows come in the next cycle.
    input  logic                      beat_i,
    input  logic                      first_i,  // in a transform's first pass
    input  logic                      whole_i,  // its row's operands are complete
    input  logic [BeatWidth-1:0]      sub_i,
    input  logic                      from_half_i,  // as rm_ring_ask has it, two cycles before
    // The rows from which operands are taken. An automorphism's first operand is its second one
    // again.
    input  logic [Groups-1:0][Row-1:0][Width-1:0] rdata_i,
    input  logic [Row-1:0][Width-1:0] key_i,
    input  logic [Row-1:0][Width-1:0] fed_i,
    input  logic [Row-1:0][Width-1:0] second_i,
    output logic [2:0][Row-1:0][Width-1:0] operand_o
);

  // Where an operand's row comes from: a port group, or one of these.
  localparam int unsigned FromKey = Groups;
  localparam int unsigned FromGenerator = Groups + 1;
  localparam int unsigned FromSecond = Groups + 2;
  localparam int unsigned PickWidth = $clog2(Groups + 3);
  localparam int unsigned PortWidth = (Groups > 1) ? $clog2(Groups) : 1;

  logic aside;
  logic [2:0][Row-1:0][Width-1:0] operand_d, operand_q;
  logic [2:0][SlotWidth-1:0] slot_d, slot_q, held;
  logic [2:0][BeatWidth-1:0] last_d, last_q;
  logic [2:0] take, take_q;
  logic [PickWidth-1:0] pick, pick_q;
  logic [2:1][PortWidth-1:0] port, port_q;
  logic from_half_q, from_half_q2;

  assign aside = has_key_i || has_gen_i;

  always_comb begin
    slot_d = reads_i.slot;
    last_d = reads_i.last;
    // JOIN takes its operands the other way round (rm_ring_entry).
    if (aside || op_i == OpJoin) begin
      slot_d[1:0] = {reads_i.slot[0], reads_i.slot[1]};
      last_d[1:0] = {reads_i.last[0], reads_i.last[1]};
    end
    if (aside && op_i != OpMac) begin
      slot_d[2] = reads_i.slot[0];
      last_d[2] = reads_i.last[0];
    end
  end

  always_comb begin
    held = slot_q;
    if (transform_i && !first_i) held[0] = dst_i;
    if (moves_i) held[1] = slot_q[from_half_q2];
    for (int unsigned i = 0; i < 3; i++) take[i] = beat_i && sub_i == last_q[i];
    if (has_gen_i) take[0] = whole_i;
    // A row that comes in parts is taken with each part, until it is whole.
    if (transform_i) take[0] = beat_i && sub_i < beats_i[first_i ? 0 : 2];
    if (moves_i) take[1] = beat_i && sub_i < beats_i[from_half_q2];
    if (moves_i) take[0] = 1'b1;
    for (int unsigned i = 1; i < 3; i++) port[i] = PortWidth'(group_of(held[i], Memory));
    pick = PickWidth'(group_of(held[0], Memory));
    if (has_key_i) pick = PickWidth'(FromKey);
    if (has_gen_i) pick = PickWidth'(FromGenerator);
    if (moves_i) pick = PickWidth'(FromSecond);
  end

  // The rows that can be picked; the numbers beyond them pick the last one.
  logic [(1<<PickWidth)-1:0][Row-1:0][Width-1:0] picks;
  logic [(1<<PortWidth)-1:0][Row-1:0][Width-1:0] ports;

  always_comb begin
    for (int unsigned g = 0; g < (1 << PortWidth); g++) ports[g] = rdata_i[min2(g, Groups-1)];
    picks = {(1 << PickWidth) {second_i}};
    for (int unsigned g = 0; g < Groups; g++) picks[g] = rdata_i[g];
    picks[FromKey] = key_i;
    picks[FromGenerator] = fed_i;
    operand_d = {ports[port_q[2]], ports[port_q[1]], picks[pick_q]};
  end

  always_ff @(posedge clk_i) begin
    from_half_q <= from_half_i;
    from_half_q2 <= from_half_q;
    slot_q <= slot_d;
    last_q <= last_d;
    take_q <= take;
    pick_q <= pick;
    port_q <= port;
    for (int unsigned i = 0; i < 3; i++) if (take_q[i]) operand_q[i] <= operand_d[i];
  end

  assign operand_o = operand_q;

  logic unused;
  assign unused = ^reads_i;

endmodule
