// Which chunks of the buffer are still to be written: what the head, the instruction that is sent next, waits for before it reads or
// writes one of them (`Pending` in crates/machines/src/vector/pending.rs).
//
// A chunk of rows waits for itself, for columns and for scattered rows of its limb; one of columns likewise; scattered rows wait for rows
// and columns, and not for other scattered ones, which go through one pipeline and differ.
//
// Writes of a unit are written in their order, so each unit has a ring of those that are under way. With load_i an instruction becomes the
// head: it is compared with all of them then, and with what was sent in that cycle; so what keeps the head (blocked_o) is a bit for each,
// which goes with the write. set_i: the head was sent, and the unit will write its target; clear_i: a write-back of the unit. Both
// count from the next cycle on.
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
    output logic     blocked_o,
    input  writers_t set_i,
    input  target_t  set_target_i,
    input  writers_t clear_i
);

  localparam int unsigned All = Sums + Passes + Loads;

  logic [All-1:0] conflict_d, conflict_q;

  function automatic logic clashes(target_t target, target_t under);
    if (target.lie == under.lie) begin
      return target.lie != LieScattered && target.place == under.place;
    end
    return target.place >> LogLimb == under.place >> LogLimb;
  endfunction

  logic with_head;
  assign with_head = (a_valid_i && clashes(a_i, set_target_i)) ||
      (d_valid_i && clashes(d_i, set_target_i));

  for (genvar w = 0; w < 3; w++) begin : gen_writer
    localparam int unsigned Depth = (w == 32'(WriterMac)) ? Sums :
                                    (w == 32'(WriterTransform)) ? Passes : Loads;
    localparam int unsigned First = (w == 32'(WriterMac)) ? 0 :
                                    (w == 32'(WriterTransform)) ? Sums : Sums + Passes;
    // Places of the ring: taken; the oldest, and the next that is free.
    logic [Depth-1:0] under_d, under_q, oldest_q, free_q, set, clear;

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

    for (genvar e = 0; e < Depth; e++) begin : gen_place
      target_t target_q;
      logic with_this;

      always_ff @(posedge clk_i) if (set[e]) target_q <= set_target_i;

      assign with_this = (a_valid_i && clashes(a_i, target_q)) ||
          (d_valid_i && clashes(d_i, target_q));
      assign conflict_d[First+e] = !load_i ? conflict_q[First+e] && !clear[e] :
          (under_q[e] && !clear[e] && with_this) || (set[e] && with_head);
    end

`ifndef SYNTHESIS
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (rst_ni) begin
        room_for_it : assert ((set & under_q & ~clear) == '0);
        one_to_write : assert ((clear & ~under_q) == '0);
      end
    end
`endif
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) conflict_q <= '0;
    else conflict_q <= conflict_d;
  end

  assign blocked_o = conflict_q != '0;

endmodule
