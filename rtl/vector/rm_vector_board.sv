// SPDX-License-Identifier: Apache-2.0
// A scoreboard of the ciphertext buffer: knows which chunks are still to be written, so that an
// instruction waits before it reads or writes one of them.
//
// The model is `Pending` in crates/machines/src/vector/pending.rs. The head is the instruction that
// is sent next. A chunk of rows waits for itself, and for columns and scattered rows of its limb. A
// chunk of columns does likewise. Scattered rows wait for rows and columns, but not for other
// scattered rows. These go through one pipeline and differ from each other.
//
// A unit writes in order, so each unit has a ring of its writes in flight. An instruction stands
// before the head for at least a cycle. With load_i, the chunks a_i and d_i are compared with all
// writes in flight, and with the instruction sent in that cycle. The result is a bit for each write
// that blocks the instruction, while that write is in flight. With load_head_i the instruction
// becomes the head. set_i: the head is sent, and the unit will write its target. clear_i: a
// write-back of the unit. Both count from the next cycle on.
//
// Sending and writing depend on blocked_o and come back in the same cycle. So two values for each
// unit are computed beside them: whether any of its writes blocks the instruction, and whether any
// but the oldest does.
module rm_vector_board
  import rm_vector_top_pkg::*;
#(
    parameter int unsigned LogLimb = 3,
    // Writes under way at most: of sums, of transforms, of loads.
    parameter int unsigned Sums = 6,
    parameter int unsigned Passes = 33,
    parameter int unsigned Loads = 16
) (
    input  logic     clk_i,
    input  logic     rst_ni,
    input  logic     load_i,
    input  logic     a_valid_i,
    input  target_t  a_i,
    input  logic     d_valid_i,
    input  target_t  d_i,
    input  logic     load_head_i,
    output logic     blocked_o,
    input  writers_t set_i,
    input  target_t  set_target_i,
    input  writers_t clear_i
);

  localparam int unsigned All = Sums + Passes + Loads;

  // Writes with which the instruction before the head clashes, and the head, if they are under way.
  logic [All-1:0] second_d, second_q, head_d, head_q;
  writers_t blocked_d, blocked_q;

  function automatic logic clashes(target_t target, target_t under);
    logic limb, chunk;
    limb = target.place >> LogLimb == under.place >> LogLimb;
    chunk = target.place[LogLimb-1:0] == under.place[LogLimb-1:0];
    return limb && (target.lie != under.lie || (target.lie != LieScattered && chunk));
  endfunction

  // The chunks of the instruction before the head. with_head and next_with_head: whether that
  // instruction, and the one that is loaded, clash with the target of the instruction that is sent.
  logic a_valid_q, d_valid_q, next_with_head, with_head;
  target_t a_q, d_q;

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      a_valid_q <= a_valid_i;
      a_q <= a_i;
      d_valid_q <= d_valid_i;
      d_q <= d_i;
    end
  end

  assign next_with_head = (a_valid_i && clashes(a_i, set_target_i)) ||
      (d_valid_i && clashes(d_i, set_target_i));
  assign with_head = (a_valid_q && clashes(a_q, set_target_i)) ||
      (d_valid_q && clashes(d_q, set_target_i));

  for (genvar w = 0; w < 3; w++) begin : gen_writer
    localparam int unsigned Depth = (w == 32'(WriterMac)) ? Sums :
                                    (w == 32'(WriterTransform)) ? Passes : Loads;
    localparam int unsigned First = (w == 32'(WriterMac)) ? 0 :
                                    (w == 32'(WriterTransform)) ? Sums : Sums + Passes;
    // Places of the ring: taken; the oldest, and the next that is free.
    logic [Depth-1:0] under_d, under_q, oldest_q, free_q, set, clear, second, head;
    logic second_all, second_rest, head_rest;

    assign set = set_i[w] ? free_q : '0;
    assign clear = clear_i[w] ? oldest_q : '0;
    assign under_d = (under_q & ~clear) | set;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        under_q <= '0;
        oldest_q <= Depth'(1);
        free_q <= Depth'(1);
      end else begin
        under_q <= under_d;
        if (clear_i[w]) oldest_q <= Depth'({oldest_q, oldest_q} >> (Depth - 1));
        if (set_i[w]) free_q <= Depth'({free_q, free_q} >> (Depth - 1));
      end
    end

    assign second = second_q[First+:Depth] & under_q;
    assign head = head_q[First+:Depth] & under_q;

    for (genvar e = 0; e < Depth; e++) begin : gen_place
      target_t target_q;
      logic with_this;

      always_ff @(posedge clk_i) if (set[e]) target_q <= set_target_i;

      assign with_this = (a_valid_i && clashes(a_i, target_q)) ||
          (d_valid_i && clashes(d_i, target_q));
      // While an instruction stays before the head, nothing is sent, because the instruction would
      // then become the head.
      assign second_d[First+e] = set[e] ? next_with_head : with_this;
      assign head_d[First+e] = set[e] ? with_head : second_q[First+e];
    end

    assign second_all = second != '0;
    assign second_rest = (second & ~oldest_q) != '0;
    assign head_rest = (head & ~oldest_q) != '0;
    assign blocked_d[w] = !load_head_i ? (clear_i[w] ? head_rest : blocked_q[w]) :
        (clear_i[w] ? second_rest : second_all) || (set_i[w] && with_head);

`ifndef SYNTHESIS
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (rst_ni) begin
        room_for_it : assert ((set & under_q & ~clear) == '0);
        one_to_write : assert ((clear & ~under_q) == '0);
        kept_by_one : assert (sent_q || blocked_q[w] == (head != '0));
      end
    end
`endif
  end

  always_ff @(posedge clk_i) begin
    if (load_i) second_q <= second_d;
    if (load_head_i) head_q <= head_d;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) blocked_q <= '0;
    else blocked_q <= blocked_d;
  end

  assign blocked_o = blocked_q != '0;

`ifndef SYNTHESIS
  // The head was sent, with nothing behind it.
  logic sent_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) sent_q <= 1'b1;
    else sent_q <= !load_head_i && (sent_q || set_i != '0);
  end
`endif

endmodule
