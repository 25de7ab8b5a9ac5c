// SPDX-License-Identifier: Apache-2.0
// The external product in the order of the paper of Kong and Li (section III-D.2): each pair of a
// decomposed polynomial and a polynomial of the key has a transform unit of its own.
//
// There are 2 Rows pairs. A unit transforms, multiplies and transforms back. The products of a
// column are summed as coefficients of the torus:
//
//   sums_o[c] = sum_r lift(INTT(NTT(digits_r) k_(r, c)))  modulo 2^32
//
// lift is the representative nearest to 0. Both units of a row make the same forward transform, as
// in that section.
//
// There are 2 Rows units of 2^LogLanes butterflies and 2^LogPos product multipliers. key_i comes
// two cycles after product_i, and the product is written MulLatency later. sums_o comes
// pair_sum_latency(Rows) after the write of the inverse's last rows; 2 Lanes coefficients of both
// columns a cycle.
module rm_torus_pairs
  import rm_torus_pkg::*;
#(
    parameter int unsigned LogN = 7,
    parameter int unsigned LogLanes = 2,
    parameter int unsigned LogPos = 0,
    parameter int unsigned Levels = 3,
    localparam int unsigned Rows = 2 * Levels,
    localparam int unsigned Lanes = 1 << LogLanes,
    localparam int unsigned Pos = 1 << LogPos,
    localparam int unsigned LogH = LogN - LogLanes - 1
) (
    input  logic                                     clk_i,
    input  logic                                     rst_ni,
    // Inputs of rm_torus_unit, the same for all units.
    input  logic                                     read_i,
    input  logic                                     inverse_i,
    input  logic                                     first_i,
    input  logic                                     half_i,
    input  logic [                         LogH-1:0] row_i,
    input  logic [   Rows-1:0][2*Lanes-1:0][Width-1:0] digits_i,
    input  logic [              Lanes-1:0][Width-1:0] twiddle_i,
    input  logic                                     write_i,
    input  logic                                     write_inverse_i,
    input  logic                                     write_last_i,
    input  logic                                     write_half_i,
    input  logic [                         LogH-1:0] write_row_i,
    // Products, as rm_torus_seq issues them.
    input  logic                                     product_i,
    input  logic [                  LogN-LogPos-1:0] group_i,
    input  logic [Pos-1:0][Rows-1:0][1:0][Width-1:0] key_i,
    output logic [           1:0][2*Lanes-1:0][31:0] sums_o
);

  localparam int unsigned ProductLatency = product_latency(1, 1);
  localparam int unsigned Depth = tree(Rows);

  // Returns the number of terms of a column's sum that are left at a level of the tree.
  function automatic int unsigned left(int unsigned level);
    return (Rows + (1 << level) - 1) >> level;
  endfunction

  logic put;
  logic [LogN-LogPos-1:0] put_group;
  logic [1:0][Rows-1:0][2*Lanes-1:0][31:0] lifted;

  rm_valid #(
      .Depth(ProductLatency)
  ) u_put (
      .clk_i,
      .rst_ni,
      .valid_i(product_i),
      .valid_o(put)
  );

  rm_delay #(
      .Width(LogN - LogPos),
      .Depth(ProductLatency)
  ) u_put_group (
      .clk_i,
      .d_i(group_i),
      .q_o(put_group)
  );

  for (genvar c = 0; c < 2; c++) begin : gen_column
    for (genvar r = 0; r < Rows; r++) begin : gen_row
      logic [2*Lanes-1:0][Width-1:0] made;
      logic [2*Lanes-1:0][31:0] low_q, lifted_q;
      logic [2*Lanes-1:0] big_q;
      logic [0:0][Pos-1:0][Width-1:0] evaluations;
      logic [0:0][1:0][Pos-1:0][Width-1:0] unused_bundle;
      logic [Pos-1:0][Width-1:0] products;

      rm_torus_unit #(
          .LogN(LogN),
          .LogLanes(LogLanes),
          .Slots(1),
          .Places(1),
          .Group(1),
          .LogPos(LogPos),
          .HasSums(1'b1)
      ) u_unit (
          .clk_i,
          .read_i,
          .inverse_i,
          .first_i,
          .half_i,
          .tag_i('0),
          .row_i,
          .place_i('0),
          .digits_i(digits_i[r]),
          .twiddle_i,
          .write_i,
          .write_inverse_i,
          .write_last_i,
          .write_half_i,
          .write_tag_i('0),
          .write_row_i,
          .write_place_i('0),
          .write_bundle_i(1'b0),
          .write_column_i(1'b0),
          .write_odd_i(1'b0),
          .rows_o(made),
          .get_place_i('0),
          .get_group_i(group_i),
          .get_o(evaluations),
          .get_odd_i(1'b0),
          .get_bundle_o(unused_bundle),
          .put_i(put),
          .put_place_i('0),
          .put_group_i(put_group),
          .put_data_i(products)
      );

      for (genvar i = 0; i < Pos; i++) begin : gen_position
        rm_torus_mul u_mul (
            .clk_i,
            .a_i(key_i[i][r][c]),
            .b_i(near_zero(evaluations[0][i])),
            .r_o(products[i])
        );
      end

      // -P is 4095 modulo 2^32.
      always_ff @(posedge clk_i) begin
        for (int unsigned i = 0; i < 2 * Lanes; i++) begin
          low_q[i] <= made[i][31:0];
          big_q[i] <= above_half(made[i]);
          lifted_q[i] <= (big_q[i] ? 32'd4095 : 32'd0) + low_q[i];
        end
      end

      assign lifted[c][r] = lifted_q;
    end

    // The sum of the rows, a register behind each level.
    for (genvar i = 0; i < 2 * Lanes; i++) begin : gen_sum
      logic [Depth:0][Rows-1:0][31:0] level;

      for (genvar r = 0; r < Rows; r++) begin : gen_term
        assign level[0][r] = lifted[c][r][i];
      end

      for (genvar k = 0; k < Depth; k++) begin : gen_level
        logic [Rows-1:0][31:0] level_q;

        for (genvar t = 0; t < Rows; t++) begin : gen_one
          if (2 * t + 1 < left(k)) begin : gen_pair
            always_ff @(posedge clk_i) level_q[t] <= level[k][2*t] + level[k][2*t+1];
          end else if (2 * t < left(k)) begin : gen_odd
            always_ff @(posedge clk_i) level_q[t] <= level[k][2*t];
          end else begin : gen_none
            assign level_q[t] = '0;
          end
        end

        assign level[k+1] = level_q;
      end

      assign sums_o[c][i] = level[Depth][0];

      logic unused_level;
      assign unused_level = ^level;
    end
  end

endmodule
