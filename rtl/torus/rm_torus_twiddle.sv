// SPDX-License-Identifier: Apache-2.0
// The twiddles of butterfly `Lane` of a transform unit with 2^LogLanes butterflies, in two's
// complement.
//
// For the forward transform they are psi^bitrev(2^s + i), i = (row 2^LogLanes + Lane) mod 2^s, and
// for the inverse transform halves of the inverses.
//
// Stages s >= LogLanes have entry a = 2^(s - LogLanes) + row mod 2^(s - LogLanes). The stages
// before have entry Rows + s, as their twiddle is the lane's alone. The table is computed when the
// design is elaborated, so no table is loaded.
//
// Latency 1 cycle, one read a cycle.
module rm_torus_twiddle
  import rm_torus_pkg::*;
#(
    parameter int unsigned LogN = 7,
    parameter int unsigned LogLanes = 2,
    parameter int unsigned Lane = 0,
    localparam int unsigned Rows = 1 << (LogN - LogLanes),
    localparam int unsigned AddrWidth = $clog2(Rows + LogLanes)
) (
    input  logic                 clk_i,
    input  logic                 inverse_i,
    input  logic [AddrWidth-1:0] addr_i,
    output logic [         51:0] w_o
);

  logic [51:0] mem[2 << AddrWidth];
  logic [51:0] w_q;

  // Returns the number 2^s + i in the standard order of the twiddle at an entry.
  function automatic int unsigned number(int unsigned entry);
    int unsigned s;
    if (entry < Rows) return (entry << LogLanes) + Lane;
    s = entry - Rows;
    return (1 << s) + Lane % (1 << s);
  endfunction

  initial begin
    for (int unsigned a = 0; a < (1 << AddrWidth); a++) begin
      int unsigned e;
      e = (a == 0 || a >= Rows + LogLanes) ? 0 : reversed(number(a), LogN);
      mem[a] = near_zero(pow_mod(psi(LogN), 12'(e)));
      mem[(1<<AddrWidth)+a] =
          near_zero(halved(pow_mod(psi(LogN), 12'(((2 << LogN) - e) % (2 << LogN)))));
    end
  end

  always_ff @(posedge clk_i) w_q <= mem[{inverse_i, addr_i}];

  assign w_o = w_q;

endmodule
