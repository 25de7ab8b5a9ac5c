// Address generator: where the row of a step lies (docs/machines/ring.md, "Passes"). With x the row's lowest
// index, made of the step counter's bits at the places that the pass gives them:
//
//   mask_o      exclusive-or of the pieces of x, complemented with inverse_i: see rm_ring_network
//   rotate_o    the pass's lowest pair, modulo LogRow
//   addr_o[c]   address in column c: the index of the lane that stands there, without its lowest piece
//
// The inverse transform takes the complement of its step, lanes complemented too. linear_i: rows of
// neighbours in order, x = step 2^LogRow, whatever pass and direction are.
//
// An automorphism's rows (given_i) are others: x is x_i, which comes a cycle after its step would, of neighbours
// or (top_i) of coefficients that differ in their top LogRow bits; neither mirrored.
//
// Latency 2, a step a cycle.
module rm_ring_agen
  import rm_ring_pkg::*;
#(
    parameter int unsigned LogN = 14,
    parameter int unsigned LogRow = 5,
    localparam int unsigned Row = 1 << LogRow,
    localparam int unsigned LogSteps = LogN - LogRow,
    localparam int unsigned Passes = pass_count(LogN),
    localparam int unsigned PassWidth = $clog2(Passes),
    localparam int unsigned RotWidth = (LogRow > 1) ? $clog2(LogRow) : 1
) (
    input  logic                              clk_i,
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

  function automatic logic [LogN-1:0] lowest(int unsigned pass, logic [LogSteps-1:0] step);
    logic [LogN-1:0] x;
    x = '0;
    for (int unsigned place = 0; place < LogSteps; place++) begin
      x[pass_bit(LogN, LogRow, pass, place)] = step[place];
    end
    return x;
  endfunction

  function automatic logic [LogRow-1:0] column(logic [LogN-1:0] x);
    logic [LogRow-1:0] c;
    c = '0;
    for (int unsigned i = 0; i < LogN; i++) c[i%LogRow] ^= x[i];
    return c;
  endfunction

  function automatic logic [LogRow-1:0] rotr(logic [LogRow-1:0] lane, int unsigned by);
    return LogRow'({lane, lane} >> by);
  endfunction

  logic [LogSteps-1:0] step;
  // The window at the top.
  localparam int unsigned Top = LogSteps;

  logic [LogN-1:0] x_d, x_q, x;
  logic [LogRow-1:0] mask_q, mask_q2, mask;
  logic linear_q, inverse_q;
  logic [PassWidth-1:0] pass_q;
  logic [RotWidth-1:0] rotate_d, rotate_q;
  logic [Row-1:0][LogSteps-1:0] addr_d, addr_q;

  assign step = inverse_i ? ~step_i : step_i;

  always_comb begin
    x_d = {step_i, LogRow'(0)};
    for (int unsigned p = 0; p < Passes; p++) begin
      if (!linear_i && pass_i == PassWidth'(p)) x_d = lowest(p, step);
    end
  end

  assign x = given_i ? x_i : x_q;
  assign mask = given_i ? column(x_i) : mask_q;

  always_comb begin
    rotate_d = '0;
    for (int unsigned c = 0; c < Row; c++) addr_d[c] = x[LogN-1:LogRow];
    for (int unsigned p = 0; p < Passes; p++) begin
      if (!linear_q && pass_q == PassWidth'(p)) begin
        rotate_d = RotWidth'(pass_pair(p) % LogRow);
        for (int unsigned c = 0; c < Row; c++) begin
          addr_d[c] = x[LogN-1:LogRow] | LogSteps'((LogN'(rotr(
              LogRow'(c) ^ mask, pass_window(LogN, LogRow, p) % LogRow
          )) << pass_window(LogN, LogRow, p)) >> LogRow);
        end
      end
    end
    if (given_i && top_i) begin
      rotate_d = RotWidth'(Top % LogRow);
      for (int unsigned c = 0; c < Row; c++) begin
        addr_d[c] = x[LogN-1:LogRow] | LogSteps'((LogN'(rotr(
            LogRow'(c) ^ mask, Top % LogRow
        )) << Top) >> LogRow);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    x_q <= x_d;
    mask_q <= column(x_d);
    linear_q <= linear_i;
    inverse_q <= inverse_i;
    pass_q <= pass_i;
    mask_q2 <= (inverse_q && !linear_q) ? ~mask : mask;
    rotate_q <= rotate_d;
    addr_q <= addr_d;
  end

  assign mask_o = mask_q2;
  assign rotate_o = rotate_q;
  assign addr_o = addr_q;

  // The lowest index of a row has zeros in its lowest piece where rows are of neighbours.
  logic unused_low;
  assign unused_low = ^x[LogRow-1:0];

endmodule
