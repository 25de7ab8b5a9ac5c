// SPDX-License-Identifier: Apache-2.0
// An unsigned multiplier from columns of DSP blocks: p = a b.
//
// A column takes 26 bits of a and all of b, 17 bits a block. Each block adds the rest of the block
// before it, shifted down by 17 bits. So the sum inside a column costs no adder in the fabric; only
// the columns are added there.
//
//   block j of a column   P_j = a_k b_j + (P_(j-1) / 2^17), its low 17 bits are the column's j-th word
//
// If Width is 53 or 54, the one or two bits of a above 52 have no column. The rows that these bits
// select, b or nothing, enter the blocks of the second column by the third operand. There no sum
// grows beyond 47 bits. a may be wider than b: if a has a one at bit Width or above, b must be 1.
//
// Factors of fewer than CascadeLeast bits are extended with zeros. The operands of block j come j
// cycles late.
//
// Latency cascade_latency(Width) of rm_arith_pkg: 2 cycles for operands and product, 1 for each
// block, and 1 for the sum of the columns. One product a cycle.
module rm_mul_cascade
  import rm_arith_pkg::*;
#(
    parameter int unsigned Width = 54,
    parameter int unsigned AWidth = Width
) (
    input  logic               clk_i,
    input  logic [ AWidth-1:0] a_i,
    input  logic [  Width-1:0] b_i,
    output logic [2*Width-1:0] p_o
);

  localparam int unsigned TileA = 26;
  localparam int unsigned TileB = 17;
  localparam int unsigned BWidth = max2(Width, CascadeLeast);
  localparam int unsigned Tiles = ceil_div(BWidth, TileB);
  // The number of bits of a beyond two columns of tiles.
  localparam int unsigned Top = (Width > 2 * TileA) ? Width - 2 * TileA : 0;
  localparam int unsigned Rows = (Top <= 2) ? Top : 0;
  localparam int unsigned Columns = (Rows > 0) ? 2 : ceil_div(max2(AWidth, BWidth), TileA);
  localparam int unsigned AllWidth = max2(AWidth, Columns * TileA);
  localparam int unsigned Lo = (Tiles - 1) * TileB;  // bits of a column below its last block's

  if (Tiles > 4 || Columns > 3 || AWidth < Width) begin : gen_check
    $error("factors have at most 68 bits");
  end

  // ---- Operands, as often delayed as a block or a row asks. ----

  logic [Tiles:0][AllWidth-1:0] a_late;
  logic [Tiles:0][BWidth-1:0] b_late;

  assign a_late[0] = AllWidth'(a_i);
  assign b_late[0] = BWidth'(b_i);

  always_ff @(posedge clk_i) begin
    for (int unsigned j = 1; j <= Tiles; j++) begin
      a_late[j] <= a_late[j-1];
      b_late[j] <= b_late[j-1];
    end
  end

  // Returns the block that adds the bit of row r at bit `at` of a column's product. Row r begins at
  // bit 26 + r. Bits of row 0 enter block 1 up to that block's bit 45, and otherwise block 3. Bits of
  // row 1 enter block 0 up to its bit 45, then block 2 up to its bit 45, and otherwise block 3.
  function automatic int unsigned block_of(int unsigned r, int unsigned at);
    if (r == 0) return (at <= TileB + 45) ? 1 : 3;
    return (at <= 45) ? 0 : (at <= 2 * TileB + 45) ? 2 : 3;
  endfunction

  // Returns the bits of row r that block j adds, as a mask.
  function automatic logic [BWidth-1:0] bits_of_row(int unsigned r, int unsigned j);
    for (int unsigned i = 0; i < BWidth; i++) bits_of_row[i] = block_of(r, TileA + r + i) == j;
  endfunction

  // ---- Columns. ----

  logic [Columns-1:0][Lo-1:0] lo;
  logic [Columns-1:0][47:0] hi;

  for (genvar k = 0; k < Columns; k++) begin : gen_column
    logic [Tiles-1:0][47:0] p, pc;

    for (genvar j = 0; j < Tiles; j++) begin : gen_block
      localparam int unsigned Bits = min2(TileB, BWidth - j * TileB);
      localparam bit HasRows = Rows > 0 && k == 1;
      logic [47:0] c, carried;

      if (HasRows) begin : gen_rows
        logic [Rows:0][47:0] rows;

        // If b is 1, the rows leave these places free for the bits of a from Width on.
        assign rows[0] = (j == 1) ? 48'(a_late[j+1] >> Width) << (Width - TileA - TileB) : '0;

        for (genvar r = 0; r < Rows; r++) begin : gen_row
          localparam int unsigned At = TileA + r;
          localparam logic [BWidth-1:0] Its = bits_of_row(r, j);
          logic [BWidth-1:0] bits;

          assign bits = a_late[j+1][2*TileA+r] ? b_late[j+1] & Its : '0;

          if (At >= j * TileB) begin : gen_left
            assign rows[r+1] = rows[r] | 48'(bits) << (At - j * TileB);
          end else begin : gen_right
            assign rows[r+1] = rows[r] | 48'(bits >> (j * TileB - At));
          end

          logic unused_bits;
          assign unused_bits = ^bits;
        end
        assign c = rows[Rows];
      end else begin : gen_no_rows
        assign c = '0;
      end

      if (j == 0) begin : gen_first
        assign carried = '0;
      end else begin : gen_later
        assign carried = pc[j-1];
      end

      rm_dsp_mac #(
          .CReg (HasRows),
          .Chain(j > 0)
      ) u_mac (
          .clk_i,
          .a_i({1'b0, a_late[j][k*TileA+:TileA]}),
          .b_i(18'(b_late[j][j*TileB+:Bits])),
          .c_i(c),
          .pc_i(carried),
          .p_o(p[j]),
          .pc_o(pc[j])
      );

      if (j + 1 < Tiles) begin : gen_low
        rm_delay #(
            .Width(TileB),
            .Depth(Tiles - 2 - j)
        ) u_low (
            .clk_i,
            .d_i(p[j][TileB-1:0]),
            .q_o(lo[k][j*TileB+:TileB])
        );
      end
    end

    assign hi[k] = p[Tiles-1];

    logic unused_chain;
    assign unused_chain = ^pc[Tiles-1];
  end

  // ---- The columns' sum: the bits below the last blocks' words, then the rest. ----

  localparam int unsigned HiWidth = 2 * BWidth - Lo;
  logic [Lo-1:0] below_q;  // settled
  logic [HiWidth-1:0] sum_d, sum_q;

  logic [TileA-1:0] first_q;
  logic [Lo-1:0] beside;
  logic [Lo:0] low_q;  // from TileA on
  logic [BWidth-Lo:0] above;
  logic [HiWidth-1:0] right, over, left, other;

  always_ff @(posedge clk_i) begin
    first_q <= lo[0][TileA-1:0];
    low_q <= {1'b0, beside} + {1'b0, lo[1]};
    below_q <= Lo'({low_q, first_q});
  end

  // The bits of the first column from the place on where the second's low bits end.
  assign above = (BWidth - Lo + 1)'(hi[0][TileA+:BWidth-Lo]) + (BWidth - Lo + 1)'(low_q[Lo]);
  assign right = HiWidth'({hi[1], hi[0][TileA-1:0]});
  assign over = HiWidth'({above, TileA'(0)});

  if (Columns == 3) begin : gen_three
    logic [TileA-1:0] rest_q;
    logic [HiWidth-1:0] third, carries;

    always_ff @(posedge clk_i) rest_q <= lo[2][Lo-1:Lo-TileA];

    // The low words of the third column lie above those of the first.
    assign beside = {lo[2][Lo-TileA-1:0], (2 * TileA - Lo)'(0), lo[0][Lo-1:TileA]};
    assign third = HiWidth'({hi[2], rest_q, low_q[Lo-1:Lo-TileA]});
    assign carries = (third & right) | (third & over) | (right & over);
    assign left = third ^ right ^ over;
    assign other = {carries[HiWidth-2:0], 1'b0};

    logic unused_carry;
    assign unused_carry = carries[HiWidth-1];
  end else begin : gen_two
    assign beside = Lo'(lo[0][Lo-1:TileA]);
    assign left = HiWidth'(low_q[Lo-1:Lo-TileA]) | over;
    assign other = right;
  end

  rm_add_select #(
      .Width(HiWidth)
  ) u_sum (
      .a_i(left),
      .b_i(other),
      .carry_i(1'b0),
      .sum_o(sum_d)
  );

  always_ff @(posedge clk_i) sum_q <= sum_d;

  assign p_o = (2 * Width)'({sum_q, below_q});

  logic unused;
  assign unused = ^{a_late, b_late, hi, sum_q};

endmodule
