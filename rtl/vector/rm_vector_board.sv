// Which chunks of the buffer are still to be written: what an instruction waits for before it reads or writes one of them (`Pending` in
// crates/machines/src/vector/pending.rs).
//
// A chunk of rows waits for itself, for columns and for scattered rows of its limb; one of columns likewise; scattered rows wait for rows
// and columns, and not for other scattered ones, which go through one pipeline and differ.
// set_i: an instruction that writes was sent; clear_i: a write-back. Both count from the next cycle on. blocked_o is of what a_i
// reads and d_i writes now.
module rm_vector_board
  import rm_vector_top_pkg::*;
#(
    parameter int unsigned Slots = 16,
    parameter int unsigned LogLimb = 3,
    // Scattered writes that are under way at once, at most.
    parameter int unsigned Scattered = 5
) (
    input  logic    clk_i,
    input  logic    rst_ni,
    input  logic    a_valid_i,
    input  target_t a_i,
    input  logic    d_valid_i,
    input  target_t d_i,
    output logic    blocked_o,
    input  logic    set_i,
    input  target_t set_target_i,
    input  logic    clear_i,
    input  target_t clear_target_i
);

  localparam int unsigned Limb = 1 << LogLimb;
  localparam int unsigned SlotWidth = (Slots > 1) ? $clog2(Slots) : 1;
  localparam int unsigned CountWidth = $clog2(Scattered + 1);

  logic [Slots-1:0][Limb-1:0] rows_d, rows_q, columns_d, columns_q;
  logic [Slots-1:0][CountWidth-1:0] scattered_d, scattered_q;
  // Of each limb: something of the kind is to be written.
  logic [Slots-1:0] any_rows_q, any_columns_q, any_scattered_q;

  function automatic logic [SlotWidth-1:0] slot_of(logic [13:0] place);
    return SlotWidth'(place >> LogLimb);
  endfunction

  function automatic logic blocks(target_t target);
    logic [SlotWidth-1:0] slot;
    logic row, column;
    slot = slot_of(target.place);
    row = rows_q[slot][target.place[LogLimb-1:0]];
    column = columns_q[slot][target.place[LogLimb-1:0]];
    unique case (target.lie)
      LieColumns: return any_scattered_q[slot] || column || any_rows_q[slot];
      LieScattered: return any_rows_q[slot] || any_columns_q[slot];
      default: return any_scattered_q[slot] || row || any_columns_q[slot];
    endcase
  endfunction

  always_comb blocked_o = (a_valid_i && blocks(a_i)) || (d_valid_i && blocks(d_i));

  always_comb begin
    rows_d = rows_q;
    columns_d = columns_q;
    scattered_d = scattered_q;
    if (clear_i) begin
      unique case (clear_target_i.lie)
        LieColumns:
        columns_d[slot_of(clear_target_i.place)][clear_target_i.place[LogLimb-1:0]] = 1'b0;
        LieScattered: scattered_d[slot_of(clear_target_i.place)] -= CountWidth'(1);
        default: rows_d[slot_of(clear_target_i.place)][clear_target_i.place[LogLimb-1:0]] = 1'b0;
      endcase
    end
    if (set_i) begin
      unique case (set_target_i.lie)
        LieColumns: columns_d[slot_of(set_target_i.place)][set_target_i.place[LogLimb-1:0]] = 1'b1;
        LieScattered: scattered_d[slot_of(set_target_i.place)] += CountWidth'(1);
        default: rows_d[slot_of(set_target_i.place)][set_target_i.place[LogLimb-1:0]] = 1'b1;
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rows_q <= '0;
      columns_q <= '0;
      scattered_q <= '0;
      any_rows_q <= '0;
      any_columns_q <= '0;
      any_scattered_q <= '0;
    end else begin
      rows_q <= rows_d;
      columns_q <= columns_d;
      scattered_q <= scattered_d;
      for (int unsigned s = 0; s < Slots; s++) begin
        any_rows_q[s] <= rows_d[s] != '0;
        any_columns_q[s] <= columns_d[s] != '0;
        any_scattered_q[s] <= scattered_d[s] != '0;
      end
    end
  end

  logic unused_places;
  assign unused_places = ^{a_i.place, d_i.place, set_target_i.place, clear_target_i.place};

endmodule
