// a b as two tiles: a times the lower and the upper half of b, a register each. a b = tile[1] 2^(Width/2) + tile[0]. Both multipliers
// begin so.
//
// Latency 1 move.
module rm_vector_tiles #(
    parameter int unsigned Width = 32,
    parameter bit Stalls = 1'b1,
    localparam int unsigned TileWidth = Width + Width / 2
) (
    input  logic                      clk_i,
    input  logic                      move_i,
    input  logic [         Width-1:0] a_i,
    input  logic [         Width-1:0] b_i,
    output logic [1:0][TileWidth-1:0] tile_o
);

  for (genvar j = 0; j < 2; j++) begin : gen_half
    logic [TileWidth-1:0] made;
    assign made = TileWidth'(a_i) * TileWidth'(b_i[j*(Width/2)+:Width/2]);

    rm_vector_rank #(
        .Width(TileWidth),
        .Stalls(Stalls)
    ) u_tile (
        .clk_i,
        .move_i,
        .d_i(made),
        .q_o(tile_o[j])
    );
  end

endmodule
