// SPDX-License-Identifier: Apache-2.0
// Moves the results of the butterflies to the processing units that write them.
//
// Results of butterfly p leave as lanes p (out0) and P + p (out1), and arrive in lane L of the row
// that is written:
//
//   NetStraight    new[L] = old[L]
//   NetShuffle     new[rotl(L)] = old[L]     the next lower bit of the index comes into the pair
//   NetUnshuffle   new[rotr(L)] = old[L]     the inverse
//
// rotl and rotr rotate over log2(2 P) bits. Lane L is the pair's first (lane0_o, L < P) or second
// place in unit L mod P. net_i is the same for all units; each unit brings its own copy for its own
// lanes.
//
// Latency 0 (combinational).
module rm_polymul_net
  import rm_polymul_pkg::*;
#(
    parameter int unsigned Units = 32,
    parameter int unsigned Width = 32
) (
    input  net_e [Units-1:0]            net_i,
    input  logic [Units-1:0][Width-1:0] out0_i,
    input  logic [Units-1:0][Width-1:0] out1_i,
    output logic [Units-1:0][Width-1:0] lane0_o,
    output logic [Units-1:0][Width-1:0] lane1_o
);

  localparam int unsigned Lanes = 2 * Units;
  localparam int unsigned LaneWidth = $clog2(Lanes);

  logic [Lanes-1:0][Width-1:0] old_lane, new_lane;

  assign old_lane = {out1_i, out0_i};

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    localparam int unsigned Rotl = (l * 2) % Lanes + (l * 2) / Lanes;
    localparam int unsigned Rotr = l / 2 + (l % 2) * (Lanes / 2);
    always_comb begin
      unique case (net_i[l%Units])
        NetShuffle: new_lane[l] = old_lane[LaneWidth'(Rotr)];
        NetUnshuffle: new_lane[l] = old_lane[LaneWidth'(Rotl)];
        default: new_lane[l] = old_lane[l];
      endcase
    end
  end

  assign {lane1_o, lane0_o} = new_lane;

endmodule
