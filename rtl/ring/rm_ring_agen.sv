// SPDX-License-Identifier: Apache-2.0
// Address generator: computes where the row of a step lies in memory (docs/machines/ring.md,
// "Passes"), for limbs of 2^log_n_i coefficients.
//
// x is the row's lowest index, made of the step counter's bits at the places that the pass gives
// them.
//
//   mask_o      exclusive-or of the pieces of x, complemented with inverse_i unless linear_i is
//               high: see rm_ring_network
//   rotate_o    the pass's lowest pair, modulo LogRow; of an automorphism's row nothing
//   addr_o[c]   address in column c: the index of the lane that stands there, without its lowest piece
//
// The step's bits, reversed, are the index above a row of neighbours; those below the window stand
// below it instead. If a bit of a column's address is in the window, it is one of the lane's bits.
// It is the bit of c ^ mask at the same place modulo LogRow, for every window.
//
// The inverse transform takes the complement of its step, with lanes complemented, too. With
// linear_i the rows are neighbours in order, x = step 2^LogRow, for every pass and direction.
//
// An automorphism has other rows (given_i): x is x_i, which comes a cycle after its step would. Its
// coefficients are neighbours or (top_i) differ in their top LogRow bits; neither is mirrored.
//
// Latency 2, a step a cycle; log_n_i is held.
module rm_ring_agen
  import rm_ring_pkg::*;
#(
    parameter int unsigned LogN = 14,
    parameter int unsigned LogRow = 5,
    parameter int unsigned Stages = 2,
    localparam int unsigned Row = 1 << LogRow,
    localparam int unsigned LogSteps = LogN - LogRow,
    localparam int unsigned Passes = pass_count(LogN, Stages),
    localparam int unsigned PassWidth = $clog2(Passes),
    localparam int unsigned RotWidth = (LogRow > 1) ? $clog2(LogRow) : 1
) (
    input  logic                              clk_i,
    input  logic [    SizeWidth-1:0]          log_n_i,
    input  logic                              linear_i,
    input  logic                              inverse_i,
    input  logic [PassWidth-1:0]              pass_i,
    input  logic [ LogSteps-1:0]              step_i,
    input  logic                              given_i,
    input  logic                              top_i,
    input  logic [     LogN-1:0]              x_i,
    output logic [   LogRow-1:0]              mask_o,
    output logic [ RotWidth-1:0]              rotate_o,
    output logic [      Row-1:0][LogSteps-1:0] addr_o
);

  if (LogN <= LogRow || LogN < 4) begin : gen_check
    $error("a limb has more than a row");
  end

  // Returns a column's number, repeated until it has LogSteps bits.
  function automatic logic [LogSteps-1:0] spread(logic [LogRow-1:0] c);
    logic [LogSteps-1:0] bits;
    for (int unsigned i = 0; i < LogSteps; i++) bits[i] = c[i%LogRow];
    return bits;
  endfunction

  typedef logic [SizeWidth-1:0] size_t;

  // short_q: the bits by which a limb's index is shorter than the largest limb's. top_q: the bits
  // of a step's number, and the lowest bit of the window at the top.
  size_t short_q, top_q;

  always_ff @(posedge clk_i) begin
    short_q <= size_t'(LogN) - log_n_i;
    top_q <= log_n_i - size_t'(LogRow);
  end

  logic [LogSteps-1:0] step, reversed, high;
  logic [LogN-1:0] x_d, x_q, x;
  logic [LogRow-1:0] mask_q, mask_q2, mask;
  logic linear_q, inverse_q;
  logic [LogSteps-1:0] window_d, window_q, window, base;
  logic [RotWidth-1:0] rotate_d, rotate_q, rotate_q2;
  logic [Row-1:0][LogSteps-1:0] addr_d, addr_q;

  assign step = inverse_i ? ~step_i : step_i;

  always_comb begin
    for (int unsigned i = 0; i < LogSteps; i++) reversed[i] = step[LogSteps-1-i];
    high = reversed >> short_q;
    x_d = {step_i, LogRow'(0)};
    window_d = '0;
    rotate_d = '0;
    if (!linear_i) begin
      x_d = '0;
      for (int unsigned i = 0; i < LogSteps; i++) begin
        if (i >= pass_pair(32'(pass_i), Stages)) x_d[LogRow+i] = high[i];
        else x_d[i] |= high[i];
        // Whether bit i of a row's address depends on the column.
        window_d[i] = i < pass_pair(32'(pass_i), Stages) && i < 32'(top_q) &&
            (i + LogRow >= pass_pair(32'(pass_i), Stages) || i + LogRow >= 32'(top_q));
      end
      rotate_d = RotWidth'(pass_pair(32'(pass_i), Stages) % LogRow);
    end
  end

  assign x = given_i ? x_i : x_q;
  assign mask = given_i ? LogRow'(column_of(IndexWidth'(x_i), LogRow)) : mask_q;

  always_comb begin
    window = window_q;
    if (given_i) begin
      for (int unsigned i = 0; i < LogSteps; i++) begin
        window[i] = top_i && i < 32'(top_q) && i + LogRow >= 32'(top_q);
      end
    end
    base = (window & spread(mask)) | (~window & x[LogN-1:LogRow]);
    for (int unsigned c = 0; c < Row; c++) addr_d[c] = base ^ (window & spread(LogRow'(c)));
  end

  always_ff @(posedge clk_i) begin
    x_q <= x_d;
    mask_q <= LogRow'(column_of(IndexWidth'(x_d), LogRow));
    linear_q <= linear_i;
    inverse_q <= inverse_i;
    window_q <= window_d;
    mask_q2 <= (inverse_q && !linear_q) ? ~mask : mask;
    rotate_q <= rotate_d;
    rotate_q2 <= rotate_q;
    addr_q <= addr_d;
  end

  assign mask_o = mask_q2;
  assign rotate_o = rotate_q2;
  assign addr_o = addr_q;

  // The low bits of a row's first index are not used: they are zero in rows of neighbouring
  // coefficients.
  logic unused_low;
  assign unused_low = ^x[LogRow-1:0];

endmodule
