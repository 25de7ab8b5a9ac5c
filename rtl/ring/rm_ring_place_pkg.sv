// The places of the row networks (rm_ring_network): which lane of the cores stands where.
//
// A network exchanges neighbours of its places bit by bit, each bit once, and turns no bits round. A rotation of bits
// becomes exchanges where the bits of a lane's number are sums of its place's: with B their matrix and R the rotation's, bit k
// of a column is exchanged by the bits below and above k if R B has no leading minor that is zero. No B has it for all
// rotations where bits are odd in number: there one exchange more (repair) goes before.
package rm_ring_place_pkg;

  // Bits of a place of which bit b of the lane's number is the sum.
  function automatic int unsigned basis(int unsigned log_row, int unsigned b);
    unique case (log_row)
      3: return 32'({8'd5, 8'd3, 8'd1} >> (8 * b)) & 32'hff;
      5: return 32'({8'd13, 8'd27, 8'd10, 8'd21, 8'd25} >> (8 * b)) & 32'hff;
      6: return 32'({8'd23, 8'd62, 8'd21, 8'd31, 8'd61, 8'd19} >> (8 * b)) & 32'hff;
      7: return 32'({8'd30, 8'd34, 8'd47, 8'd35, 8'd87, 8'd75, 8'd10} >> (8 * b)) & 32'hff;
      // Pascal's triangle, whose rows go on for ever: any that follow each other are as good.
      default: return 32'({8'd255, 8'd85, 8'd51, 8'd17, 8'd15, 8'd5, 8'd3, 8'd1} >> (8 * b)) & 32'hff;
    endcase
  endfunction

  // Whether there is a basis for rows of this many lanes.
  function automatic bit has_basis(int unsigned log_row);
    return log_row >= 2 && log_row <= 8;
  endfunction

  function automatic int unsigned lane_of(int unsigned log_row, int unsigned place);
    int unsigned lane;
    lane = 0;
    for (int unsigned b = 0; b < log_row; b++) lane |= 32'(^(basis(log_row, b) & place)) << b;
    return lane;
  endfunction

  // Whether rows of a matrix have leading minors of one alone, `first` added to the first row.
  function automatic bit is_regular(int unsigned log_row, int unsigned by, int unsigned first);
    int unsigned rows[8];
    for (int unsigned b = 0; b < log_row; b++) rows[b] = basis(log_row, (b + log_row - by) % log_row);
    for (int unsigned b = 1; b < log_row; b++) if (first[b]) rows[0] ^= rows[b];
    for (int unsigned c = 0; c < log_row; c++) begin
      if (!rows[c][c]) return 1'b0;
      for (int unsigned b = c + 1; b < log_row; b++) if (rows[b][c]) rows[b] ^= rows[c];
    end
    return 1'b1;
  endfunction

  // Bits of a column's number that are added to its lowest, for a rotation.
  function automatic int unsigned repair(int unsigned log_row, int unsigned by);
    for (int unsigned first = 0; first < (1 << log_row); first += 2) begin
      if (is_regular(log_row, by, first)) return first;
    end
    return 0;
  endfunction

endpackage
