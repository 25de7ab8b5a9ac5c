// SPDX-License-Identifier: Apache-2.0
// Control of the two ways of rm_vector_transform: through the transform, or past it (MORPH).
//
// A chunk goes in two halves through the permutation units and one of the ways. Each way is an
// elastic pipeline of its own (rm_vector_pipe). An instruction enters with send_i while ready_o is
// high; morph_i selects its way. Its first half enters then, the second (again_o) Period cycles
// later. Another instruction enters at least 2 Period cycles after it: on the same way when that
// has room, on the other way when nothing is inside.
//
// way_o: the items inside go past the transform. move_o[r]: rank r of the transform's way takes the
// item before it. MORPH goes through its first ranks and its last. One of the ways is always empty,
// so that its enables are low, and the signals that end an item need not name its way. A chunk at
// the end waits at waits_o until take_i, which makes room from the next cycle on.
//
// ready_o comes from registers, which count chunks. Items stop only behind others that fill all
// stages to the end. So stage 0 is free if fewer items are inside than there is room for, and the
// item before has been there for its time.
module rm_vector_ways
  import rm_vector_pkg::*;
#(
    parameter int unsigned LogRadix = 2,
    parameter int unsigned Period = 3,
    localparam int unsigned Pass = pass_stages(LogRadix)
) (
    input  logic           clk_i,
    input  logic           rst_ni,
    input  logic           send_i,
    input  logic           morph_i,
    output logic           ready_o,
    output logic           idle_o,
    output logic           again_o,
    output logic           way_o,
    output logic           waits_o,
    input  logic           take_i,
    output logic [Pass:1] move_o
);

  localparam int unsigned Side = net_stages(LogRadix);
  localparam int unsigned Ntt = ntt_stages(LogRadix);
  localparam int unsigned Morph = 2 * Side;
  localparam int unsigned CountWidth = $clog2(Pass / 2 + 1);
  localparam logic [CountWidth-1:0] PassRoom = CountWidth'(Pass / 2);
  localparam logic [CountWidth-1:0] MorphRoom = CountWidth'(Morph / 2);

  logic way_d, way_q, again, empty_q, room_q, spaced_q, last_pass, last_morph;
  logic ready_pass, ready_morph;
  logic waits_q, soon_pass, soon_morph;
  // Whether an instruction entered in the cycles before.
  logic [2*Period-3:0] since_q;
  logic [CountWidth-1:0] count_d, count_q, room;
  logic [Pass:0] move_pass, full_pass;
  logic [Morph:0] move_morph, full_morph;

  assign again = since_q[Period-1];
  assign way_d = send_i ? morph_i : way_q;
  assign count_d = count_q + CountWidth'(send_i) - CountWidth'(take_i);
  assign room = way_d ? MorphRoom : PassRoom;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      way_q <= 1'b0;
      since_q <= '0;
      spaced_q <= 1'b1;
      waits_q <= 1'b0;
      count_q <= '0;
      empty_q <= 1'b1;
      room_q <= 1'b1;
    end else begin
      way_q <= way_d;
      since_q <= {since_q[2*Period-4:0], send_i};
      spaced_q <= !send_i && since_q == '0;
      // Both halves are there, and the second has had its time.
      waits_q <= !take_i && ((soon_pass && full_pass[Pass]) || (soon_morph && full_morph[Morph]));
      count_q <= count_d;
      // send_i and take_i come late, so each case is computed beside them and then selected.
      unique case ({
        send_i, take_i
      })
        2'b10: begin
          empty_q <= 1'b0;
          room_q <= count_q + 1'b1 < room;
        end
        2'b01: begin
          empty_q <= count_q == CountWidth'(1);
          room_q <= count_q <= room;
        end
        2'b11: begin
          empty_q <= 1'b0;
          room_q <= count_q < room;
        end
        default: begin
          empty_q <= count_q == '0;
          room_q <= count_q < room;
        end
      endcase
    end
  end

  assign ready_o = spaced_q && ((morph_i == way_q) ? room_q : empty_q);
  assign idle_o = empty_q;
  assign again_o = again;
  assign way_o = way_q;
  assign waits_o = waits_q;

  rm_vector_pipe #(
      .Stages(Pass + 1),
      .Period(Period),
      .Pairs(1'b1)
  ) u_pass (
      .clk_i,
      .rst_ni,
      .valid_i((send_i && !morph_i) || (again && !way_q)),
      .ready_o(ready_pass),
      .last_o(last_pass),
      .soon_o(soon_pass),
      .leave_early_i(1'b0),
      .leave_i(take_i),
      .move_o(move_pass),
      .full_o(full_pass)
  );

  rm_vector_pipe #(
      .Stages(Morph + 1),
      .Period(Period),
      .Pairs(1'b1)
  ) u_past (
      .clk_i,
      .rst_ni,
      .valid_i((send_i && morph_i) || (again && way_q)),
      .ready_o(ready_morph),
      .last_o(last_morph),
      .soon_o(soon_morph),
      .leave_early_i(1'b0),
      .leave_i(take_i),
      .move_o(move_morph),
      .full_o(full_morph)
  );

  for (genvar r = 1; r <= Pass; r++) begin : gen_move
    if (r < Side) begin : gen_in
      assign move_o[r] = move_morph[r] || move_pass[r];
    end else if (r < Side + Ntt) begin : gen_transform
      assign move_o[r] = move_pass[r];
    end else begin : gen_out
      assign move_o[r] = move_morph[r-Ntt] || move_pass[r];
    end
  end

  logic unused_bits;
  assign unused_bits = ^{
    move_pass[0], move_morph[Side:0], full_pass, full_morph, last_pass, last_morph, ready_pass, ready_morph
  };

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      room_for_it : assert (!send_i || ready_o);
      one_way_is_empty :
      assert ((way_q ? full_pass == '0 : full_morph == '0) && (!take_i || waits_o));
      stage_is_free : assert (!ready_o || (morph_i ? ready_morph : ready_pass));
      waits_a_cycle_ahead : assert (waits_q == (last_pass || last_morph));
      room_is_counted : assert (room_q == (count_q < (way_q ? MorphRoom : PassRoom)));
      emptiness_is_counted : assert (empty_q == (count_q == '0));
    end
  end
`endif

endmodule
