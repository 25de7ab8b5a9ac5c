// Row network between the columns of the memory and the lanes of the main cores: lane l stands in
// column rotl(l, rotate) ^ mask, rotl being a rotation of the LogRow bits of a lane's number.
//
//   Write = 0   row_o[l] = row_i[rotl(l, rotate) ^ mask]     columns to lanes: mask, then rotation
//   Write = 1   row_o[rotl(l, rotate) ^ mask] = row_i[l]     lanes to columns: rotation, then mask
//
// mask_i and rotate_i come with the row. Latency 2, a row a cycle.
module rm_ring_network #(
    parameter int unsigned LogRow = 5,
    parameter int unsigned Width = 60,
    parameter bit Write = 1'b0,
    localparam int unsigned Row = 1 << LogRow,
    localparam int unsigned RotWidth = (LogRow > 1) ? $clog2(LogRow) : 1
) (
    input  logic                           clk_i,
    input  logic [  LogRow-1:0]            mask_i,
    input  logic [RotWidth-1:0]            rotate_i,
    input  logic [     Row-1:0][Width-1:0] row_i,
    output logic [     Row-1:0][Width-1:0] row_o
);

  // Bits of a lane's number rotated to the left.
  function automatic logic [LogRow-1:0] rotl(logic [LogRow-1:0] lane, int unsigned by);
    return LogRow'({lane, lane} >> (LogRow - by));
  endfunction

  function automatic logic [LogRow-1:0] rotr(logic [LogRow-1:0] lane, int unsigned by);
    return LogRow'({lane, lane} >> by);
  endfunction

  logic [Row-1:0][Width-1:0] first_d, first_q, second_d, second_q;
  logic [LogRow-1:0] mask_q;
  logic [RotWidth-1:0] rotate_q;

  // Masks: bit by bit, each swaps the halves of pairs of lanes.
  function automatic logic [Row-1:0][Width-1:0] masked(logic [Row-1:0][Width-1:0] row,
                                                       logic [LogRow-1:0] mask);
    logic [Row-1:0][Width-1:0] out;
    for (int unsigned l = 0; l < Row; l++) out[l] = row[LogRow'(l)^mask];
    return out;
  endfunction

  if (Write) begin : gen_write
    always_comb begin
      first_d = row_i;
      for (int unsigned by = 1; by < LogRow; by++) begin
        if (rotate_i == RotWidth'(by)) begin
          for (int unsigned c = 0; c < Row; c++) first_d[c] = row_i[rotr(LogRow'(c), by)];
        end
      end
      second_d = masked(first_q, mask_q);
    end
    logic unused_rotate;
    assign unused_rotate = ^rotate_q;
  end else begin : gen_read
    always_comb begin
      first_d = masked(row_i, mask_i);
      second_d = first_q;
      for (int unsigned by = 1; by < LogRow; by++) begin
        if (rotate_q == RotWidth'(by)) begin
          for (int unsigned l = 0; l < Row; l++) second_d[l] = first_q[rotl(LogRow'(l), by)];
        end
      end
    end
    logic unused_mask;
    assign unused_mask = ^mask_q;
  end

  always_ff @(posedge clk_i) begin
    mask_q <= mask_i;
    rotate_q <= rotate_i;
    first_q <= first_d;
    second_q <= second_d;
  end

  assign row_o = second_q;

endmodule
