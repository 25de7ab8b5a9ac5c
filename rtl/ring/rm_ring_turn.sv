// Which row an automorphism's step takes from, and how its lanes stand: with g the Galois element, N = 2^LogN and s
// the step, which goes up by one,
//
//   AUTO    F = g (2 s + 1) mod 2 N        the row whose number reversed is bits LogSteps to 1 of F
//   AUTOH   F = g (4 s + 2 h + 1) mod 4 N  that row of the half which bit 1 says, for each half h of the result
//   AUTOC   F = s / g mod 2 N              the row of coefficients F mod 2^LogSteps from one another 2^LogSteps
//
// the bits above being the lanes' offset (rm_ring_affine). A value at exponent e = 2 reversed(position) + 1 comes
// from exponent g e; coefficient k from k / g, with the sign of x^N = -1. F goes up by the same each beat.
//
// Latency 0 from beat_i to x_o, a register more to half_o and offset_o.
module rm_ring_turn
  import rm_ring_isa_pkg::*;
#(
    parameter int unsigned LogN = 14,
    parameter int unsigned LogRow = 5,
    localparam int unsigned LogSteps = LogN - LogRow
) (
    input  logic              clk_i,
    input  op_e               op_i,
    input  logic [LogN+1:0]   galois_i,  // g, of AUTOC 1 / g
    input  logic              beat_i,
    input  logic              first_i,
    output logic [LogN-1:0]   x_o,       // the row's lowest index
    output logic              half_o,
    output logic [LogRow:0]   offset_o
);

  logic [LogN+1:0] turned, turned_q, step;
  logic coefficients, halves;
  logic [LogSteps-1:0] number, row;
  logic [LogRow:0] offset;

  assign coefficients = op_i == OpAutoc;
  assign halves = op_i == OpAutoh;
  assign step = coefficients ? galois_i : {galois_i[LogN:0], 1'b0};
  assign turned = !first_i ? turned_q : coefficients ? '0 : galois_i;

  always_ff @(posedge clk_i) begin
    if (beat_i) turned_q <= turned + step;
    half_o <= halves && turned[1];
    offset_o <= offset;
  end

  assign number = halves ? turned[2+:LogSteps] : turned[1+:LogSteps];
  always_comb for (int unsigned i = 0; i < LogSteps; i++) row[i] = number[LogSteps-1-i];
  assign x_o = coefficients ? LogN'(turned[LogSteps-1:0]) : {row, LogRow'(0)};
  assign offset = coefficients ? turned[LogSteps+:LogRow+1] :
      {1'b0, halves ? turned[LogSteps+2+:LogRow] : turned[LogSteps+1+:LogRow]};

endmodule
