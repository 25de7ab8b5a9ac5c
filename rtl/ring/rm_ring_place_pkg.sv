// SPDX-License-Identifier: Apache-2.0
// The places of the row networks (rm_ring_network): which lane of the cores stands where.
//
// A network exchanges neighbours of its places bit by bit, each bit once, and rotates no bits. A
// rotation of bits becomes exchanges if the bits of a lane's number are sums of its place's bits.
// With B the matrix of these sums and R that of the rotation, bit k of a column is exchanged by the
// bits below and above k. The condition is that no leading minor of R B is zero. If the number of
// bits is odd, no B satisfies this for all rotations. There some rotations take one exchange more
// (repair), of columns that differ in their lowest bit, if a sum of others is one. Bases and sums
// were found by search.
package rm_ring_place_pkg;

  // Returns the mask of the bits of a place whose sum modulo 2 is bit b of its lane's number.
  function automatic int unsigned basis(int unsigned log_row, int unsigned b);
    unique case (log_row)
      3: return 32'({8'd1, 8'd2, 8'd7} >> (8 * b)) & 32'hff;
      5: return 32'({8'd1, 8'd2, 8'd6, 8'd10, 8'd23} >> (8 * b)) & 32'hff;
      6: return 32'({8'd17, 8'd58, 8'd53, 8'd55, 8'd10, 8'd51} >> (8 * b)) & 32'hff;
      // The rows of Pascal's triangle modulo 2. Any rows that follow each other work.
      default: begin
        return 32'({8'd255, 8'd85, 8'd51, 8'd17, 8'd15, 8'd5, 8'd3, 8'd1} >> (8 * b)) & 32'hff;
      end
    endcase
  endfunction

  // Returns the mask of the bits of a column whose sum modulo 2 says whether the repair exchanges
  // it.
  function automatic int unsigned repair(int unsigned log_row);
    unique case (log_row)
      3: return 2;
      5: return 20;
      6: return 46;
      default: return 0;
    endcase
  endfunction

  // Returns whether basis and repair exist for rows of 2^log_row lanes.
  function automatic bit has_basis(int unsigned log_row);
    return log_row >= 2 && log_row <= 8 && log_row != 7;
  endfunction

  function automatic int unsigned lane_of(int unsigned log_row, int unsigned place);
    int unsigned lane;
    lane = 0;
    for (int unsigned b = 0; b < log_row; b++) lane |= 32'(^(basis(log_row, b) & place)) << b;
    return lane;
  endfunction

  // Returns whether a rotation by `by` bits needs the repair.
  function automatic bit is_repaired(int unsigned log_row, int unsigned by);
    int unsigned rows[8];
    for (int unsigned b = 0; b < log_row; b++) begin
      rows[b] = basis(log_row, (b + log_row - by) % log_row);
    end
    for (int unsigned c = 0; c < log_row; c++) begin
      if (!rows[c][c]) return 1'b1;
      for (int unsigned b = c + 1; b < log_row; b++) if (rows[b][c]) rows[b] ^= rows[c];
    end
    return 1'b0;
  endfunction

endpackage
