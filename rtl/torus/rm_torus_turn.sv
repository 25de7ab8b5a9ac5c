// SPDX-License-Identifier: Apache-2.0
// Holds one component's accumulators of Places ciphertexts, and rotates, subtracts and decomposes
// them for the forward transforms.
//
//   Turns = 1: digits of (X^a - 1) ACC;  Turns = 0: of ACC (unrolled keys turn the products)
//
// The module also adds the results of the inverse transform. A row is Lanes coefficients. Rows r
// and r + H are read together with the two rows that rotation needs for each. X^a has a = (N or 0)
// + row shift x Lanes + lane shift. Lane b of a row comes from lane b - lane shift of the row `row
// shift` before. If b is below the lane shift, it comes from lane b - lane shift + Lanes of the row
// before that one.
//
// y_o is the coefficient plus the half base of every digit plus the half that rounds, TurnLatency
// cycles after its row's number. A digit is LogBase bits of y less half a base.
//
// Throughput 2 Lanes coefficients a cycle. Updates run beside the reads; an update is visible three
// cycles after its rows. A coefficient of a table goes the same way, as an update of a zero
// accumulator.
module rm_torus_turn
  import rm_torus_pkg::*;
#(
    parameter int unsigned LogN = 7,
    parameter int unsigned LogLanes = 2,
    parameter int unsigned Places = 2,
    parameter int unsigned Levels = 3,
    parameter int unsigned LogBase = 7,
    parameter bit Turns = 1'b1,
    localparam int unsigned Lanes = 1 << LogLanes,
    localparam int unsigned LogH = LogN - LogLanes - 1,
    localparam int unsigned PlaceWidth = (Places > 1) ? $clog2(Places) : 1
) (
    input  logic                             clk_i,
    input  logic                             rst_ni,
    // The read of rows row_i and row_i + H of a place.
    input  logic [PlaceWidth-1:0]            place_i,
    input  logic [      LogH-1:0]            row_i,
    input  logic [        LogN:0]            exponent_i,
    output logic [2*Lanes-1:0][31:0]         y_o,
    output logic [2*Lanes-1:0][31:0]         plain_o,  // as read, a cycle after the issue
    // The result of an inverse transform, rows r and r + H, to add to the accumulator.
    input  logic                             add_i,
    input  logic [PlaceWidth-1:0]            add_place_i,
    input  logic [      LogH-1:0]            add_row_i,
    input  logic [2*Lanes-1:0][Width-1:0]    add_rows_i,
    // A coefficient of a loaded test polynomial, to write to the accumulator.
    input  logic                             set_i,
    input  logic [PlaceWidth-1:0]            set_place_i,
    input  logic [      LogN-1:0]            set_index_i,
    input  logic [          31:0]            set_data_i
);

  localparam int unsigned AddrWidth = $clog2(Places) + LogH;
  localparam int unsigned Depth = 1 << AddrWidth;

  // ---- Memory: a copy for each reader. ----

  logic sum_q, lift_q, lift_set_q, sum_set_q;
  logic [PlaceWidth-1:0] lift_place_q, sum_place_q;
  logic [LogH-1:0] lift_row_q, sum_row_q;
  // The word of a table's coefficient: its half of the rows and its lane.
  logic [LogLanes:0] lift_lane_q, sum_lane_q;
  logic [2*Lanes-1:0][31:0] lift_low_q, sum_d, sum_data_q;
  logic [2*Lanes-1:0] lift_big;
  logic [AddrWidth-1:0] waddr;
  logic [2*Lanes-1:0] we;
  logic [2*Lanes-1:0][31:0] plain, old;

  assign waddr = AddrWidth'({sum_place_q, sum_row_q});

  for (genvar i = 0; i < 2 * Lanes; i++) begin : gen_word
    assign we[i] = sum_q && (!sum_set_q || sum_lane_q == (LogLanes + 1)'(i));

    rm_torus_ram #(
        .Width(32),
        .Depth(Depth)
    ) u_plain (
        .clk_i,
        .we_i(we[i]),
        .waddr_i(waddr),
        .wdata_i(sum_data_q[i]),
        .raddr_i(AddrWidth'({place_i, row_i})),
        .rdata_o(plain[i])
    );

    rm_torus_ram #(
        .Width(32),
        .Depth(Depth)
    ) u_old (
        .clk_i,
        .we_i(we[i]),
        .waddr_i(waddr),
        .wdata_i(sum_data_q[i]),
        .raddr_i(AddrWidth'({add_place_i, add_row_i})),
        .rdata_o(old[i])
    );
  end

  assign plain_o = plain;

  // ---- Update: nearest to 0, to the torus, added. ----

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lift_q <= 1'b0;
      sum_q <= 1'b0;
    end else begin
      lift_q <= add_i || set_i;
      sum_q <= lift_q;
    end
  end

  always_ff @(posedge clk_i) begin
    lift_set_q <= set_i;
    lift_place_q <= set_i ? set_place_i : add_place_i;
    lift_row_q <= set_i ? set_index_i[LogN-2-:LogH] : add_row_i;
    lift_lane_q <= {set_index_i[LogN-1], set_index_i[LogLanes-1:0]};
    sum_set_q <= lift_set_q;
    sum_place_q <= lift_place_q;
    sum_row_q <= lift_row_q;
    sum_lane_q <= lift_lane_q;
    sum_data_q <= sum_d;
    // The first operand of the sum goes straight into the carry chain, so nothing is computed
    // before it.
    for (int unsigned i = 0; i < 2 * Lanes; i++) begin
      lift_low_q[i] <= (lift_big[i] ? 32'd4095 : 32'd0) + (set_i ? set_data_i : add_rows_i[i][31:0]);
    end
  end

  // Above half of P, which is 2^51 - 2^11; -P is 4095 modulo 2^32.
  for (genvar i = 0; i < 2 * Lanes; i++) begin : gen_sum
    assign lift_big[i] = !set_i && above_half(add_rows_i[i]);
    assign sum_d[i] = lift_low_q[i] + (lift_set_q ? '0 : old[i]);
  end

  // ---- Decomposition. ----

  localparam logic [31:0] Offset = offset(Levels, LogBase);

  logic [2*Lanes-1:0][31:0] y_q;
  assign y_o = y_q;

  if (Turns) begin : gen_turn
    // Rows before r and r + H by the shift: both windows in one address of the banks, which the
    // highest bit swaps.
    logic [LogH+1:0] from, beyond;
    logic [LogH:0] row_shift;
    logic [LogLanes-1:0] lane_shift, lane_shift_q, lane_shift_q2;
    logic [2*Lanes-1:0][31:0] near_rows, far_rows, mixed_d, mixed_q, turned_d, turned_q;
    logic [2*Lanes-1:0][31:0] plain_q, other_q2;
    logic near_swap_q, far_swap_q;
    // Signs of both windows, from the near and the far row.
    logic [1:0] near_neg_q, far_neg_q;
    logic [2*Lanes-1:0] neg_d, neg_q, neg_turned, neg_q2;

    assign row_shift = exponent_i[LogN-1-:LogH+1];
    assign lane_shift = exponent_i[LogLanes-1:0];
    assign from = {2'b0, row_i} - {1'b0, row_shift};
    assign beyond = from - 1'b1;

    for (genvar i = 0; i < 2 * Lanes; i++) begin : gen_copy
      rm_torus_ram #(
          .Width(32),
          .Depth(Depth)
      ) u_near (
          .clk_i,
          .we_i(we[i]),
          .waddr_i(waddr),
          .wdata_i(sum_data_q[i]),
          .raddr_i(AddrWidth'({place_i, from[LogH-1:0]})),
          .rdata_o(near_rows[i])
      );

      rm_torus_ram #(
          .Width(32),
          .Depth(Depth)
      ) u_far (
          .clk_i,
          .we_i(we[i]),
          .waddr_i(waddr),
          .wdata_i(sum_data_q[i]),
          .raddr_i(AddrWidth'({place_i, beyond[LogH-1:0]})),
          .rdata_o(far_rows[i])
      );
    end

    // A row that lies before the first comes from the end with the other sign. The second window is
    // H rows further: it lies before the first where adding H does not carry.
    always_ff @(posedge clk_i) begin
      near_swap_q <= from[LogH];
      far_swap_q <= beyond[LogH];
      near_neg_q[0] <= from[LogH+1] ^ exponent_i[LogN];
      near_neg_q[1] <= (from[LogH+1] & !from[LogH]) ^ exponent_i[LogN];
      far_neg_q[0] <= beyond[LogH+1] ^ exponent_i[LogN];
      far_neg_q[1] <= (beyond[LogH+1] & !beyond[LogH]) ^ exponent_i[LogN];
      lane_shift_q <= lane_shift;
      lane_shift_q2 <= lane_shift_q;
    end

    // The lanes that move up stay in the near row, those that come round are the far row's.
    for (genvar w = 0; w < 2; w++) begin : gen_window
      for (genvar b = 0; b < Lanes; b++) begin : gen_lane
        logic is_near;
        assign is_near = (LogLanes + 1)'(b) + (LogLanes + 1)'(lane_shift_q) <
            (LogLanes + 1)'(Lanes);
        assign mixed_d[w*Lanes+b] = is_near ?
            (near_swap_q == (w == 0) ? near_rows[Lanes+b] : near_rows[b]) :
            (far_swap_q == (w == 0) ? far_rows[Lanes+b] : far_rows[b]);
        assign neg_d[w*Lanes+b] = is_near ? near_neg_q[w] : far_neg_q[w];
      end
    end

    // Lanes moved up by the shift, each with its sign: a rotation for each bit of it.
    for (genvar w = 0; w < 2; w++) begin : gen_rotation
      logic [LogLanes:0][Lanes-1:0][32:0] turned;

      for (genvar b = 0; b < Lanes; b++) begin : gen_lane
        assign turned[0][b] = {neg_q[w*Lanes+b], mixed_q[w*Lanes+b]};
        assign {neg_turned[w*Lanes+b], turned_d[w*Lanes+b]} = turned[LogLanes][b];
        for (genvar k = 0; k < LogLanes; k++) begin : gen_bit
          assign turned[k+1][b] = lane_shift_q2[k] ?
              turned[k][(b + Lanes - (1 << k)) % Lanes] : turned[k][b];
        end
      end
    end

    // The sum of the turned coefficient, with its sign, and the rest. A negative coefficient is its
    // ones' complement plus one.
    logic [2*Lanes-1:0][32:0] y_d;

    for (genvar i = 0; i < 2 * Lanes; i++) begin : gen_y
      assign y_d[i] = {other_q2[i], 1'b1} + {turned_q[i] ^ {32{neg_q2[i]}}, neg_q2[i]};
    end

    always_ff @(posedge clk_i) begin
      mixed_q <= mixed_d;
      neg_q <= neg_d;
      plain_q <= plain;
      turned_q <= turned_d;
      neg_q2 <= neg_turned;
      for (int unsigned i = 0; i < 2 * Lanes; i++) begin
        other_q2[i] <= Offset - plain_q[i];
        y_q[i] <= y_d[i][32:1];
      end
    end
  end else begin : gen_whole
    logic [2*Lanes-1:0][31:0] plain_late;

    rm_delay #(
        .Width(2 * Lanes * 32),
        .Depth(TurnLatency - 2)
    ) u_late (
        .clk_i,
        .d_i(plain),
        .q_o(plain_late)
    );

    always_ff @(posedge clk_i) begin
      for (int unsigned i = 0; i < 2 * Lanes; i++) y_q[i] <= plain_late[i] + Offset;
    end

    logic unused_exponent;
    assign unused_exponent = ^exponent_i;
  end

endmodule
