// The permutation inside a row of an automorphism, lane by lane:
//
//   row_o[l] = row_i[p(l)],   p(l) = times l + offset mod Row       and minus_o[l] its bit LogRow
//
// times is odd; with reverse_i lanes are numbered by their reversed bits, in and out, and no sign is given (rows in
// evaluation form). offset_i comes with the row, times_i and reverse_i are held.
//
// Latency 2, a row a cycle.
module rm_ring_affine #(
    parameter int unsigned LogRow = 5,
    parameter int unsigned Width = 60,
    localparam int unsigned Row = 1 << LogRow
) (
    input  logic                        clk_i,
    input  logic [LogRow:0]             times_i,
    input  logic                        reverse_i,
    input  logic [LogRow:0]             offset_i,
    input  logic [ Row-1:0][Width-1:0]  row_i,
    output logic [ Row-1:0]             minus_o,
    output logic [ Row-1:0][Width-1:0]  row_o
);

  function automatic logic [LogRow-1:0] reversed(logic [LogRow-1:0] lane);
    logic [LogRow-1:0] r;
    for (int unsigned i = 0; i < LogRow; i++) r[i] = lane[LogRow-1-i];
    return r;
  endfunction

  logic [Row-1:0][Width-1:0] lanes, first_d, first_q, second_d, second_q, out_d;
  logic [Row-1:0] minus_d, minus_q;
  logic [LogRow:0] offset_q;

  // Lanes in order, then turned by the offset, bit by bit.
  always_comb begin
    for (int unsigned l = 0; l < Row; l++) begin
      lanes[l] = reverse_i ? row_i[reversed(LogRow'(l))] : row_i[l];
    end
    first_d = lanes;
    for (int unsigned b = 0; b < LogRow; b++) begin
      if (offset_i[b]) begin
        lanes = first_d;
        for (int unsigned l = 0; l < Row; l++) first_d[l] = lanes[LogRow'(l+(1<<b))];
      end
    end
  end

  // An odd number modulo Row is a power of 3 or the negative of one: lanes are multiplied by 3, 9, 81, .. as the
  // exponent's bits say, and by -1, each an exchange for all lanes alike.
  localparam int unsigned Exponent = (LogRow > 2) ? LogRow - 2 : 0;  // its bits
  localparam int unsigned Powers = 1 << Exponent;

  // 3^(2^b), and -1 behind them.
  function automatic int unsigned factor(int unsigned b);
    int unsigned f;
    f = 3;
    for (int unsigned squared = 0; squared < b; squared++) f = (f * f) % Row;
    return (b == Exponent) ? Row - 1 : f;
  endfunction

  logic [Exponent:0] by;
  logic [Row-1:0][Width-1:0] times;

  always_comb begin
    int unsigned power;
    power = 1;
    by = '0;
    for (int unsigned k = 0; k < Powers; k++) begin
      if (times_i[LogRow-1:0] == LogRow'(power)) by = (Exponent + 1)'(k);
      if (times_i[LogRow-1:0] == LogRow'(Row - power)) by = (Exponent + 1)'(Powers + k);
      power = (power * 3) % Row;
    end
  end

  // Then multiplied.
  always_comb begin
    times = first_q;
    second_d = first_q;
    for (int unsigned b = 0; b <= Exponent; b++) begin
      if (by[b]) begin
        times = second_d;
        for (int unsigned l = 0; l < Row; l++) second_d[l] = times[LogRow'(factor(b)*l)];
      end
    end
    for (int unsigned l = 0; l < Row; l++) begin
      logic [LogRow:0] at;
      at = (LogRow + 1)'(32'(times_i) * l) + offset_q;
      minus_d[l] = at[LogRow] && !reverse_i;
      out_d[l] = reverse_i ? second_d[reversed(LogRow'(l))] : second_d[l];
    end
  end

  always_ff @(posedge clk_i) begin
    offset_q <= offset_i;
    first_q <= first_d;
    second_q <= out_d;
    minus_q <= minus_d;
  end

  assign row_o = second_q;
  assign minus_o = minus_q;

endmodule
