// A core of the ring machine: one modular multiplier, one adder, one subtractor, one halver.
//
//   mode             out0              out1
//   neither          u + w v           u - w v              forward butterfly, and what adds
//   pre              (u + v) / h       ((u - v) / h) w      inverse butterfly (h = 2 with half)
//   reduce           u + [v]_Q         u - [v]_Q            v of any Width bits
//   pass_i           u                 w v                  u of any Width bits
//
// all modulo Q, the one of Moduli primes that which_i says, for u, v, w < Q but where the table says otherwise.
// which_i and mode_i are held while data is in flight;
// pass_i comes with each datum. A residue to be reduced enters the multiplier's reducer in place of the
// product, as late as a product would.
//
// Latency MulLatency + 1 in every mode, one datum a cycle. A prime whose multiplier is less deep waits. The product
// of tiles is one for all primes, QWidth bits being the widest's.
module rm_ring_core
  import rm_arith_pkg::*, rm_ring_pkg::*;
#(
    parameter int unsigned Width = 60,
    parameter int unsigned QWidth = 60,
    parameter int unsigned Moduli = 1,
    parameter logic [Moduli-1:0][63:0] Q = {Moduli{64'h0800_0000_0230_0001}},
    parameter int unsigned MulLatency = 12
) (
    input  logic             clk_i,
    input  logic [WhichWidth-1:0] which_i,
    input  mode_t            mode_i,
    input  logic             pass_i,
    input  logic [Width-1:0] u_i,
    input  logic [Width-1:0] v_i,
    input  logic [Width-1:0] w_i,
    output logic [Width-1:0] out0_o,
    output logic [Width-1:0] out1_o
);

  localparam int unsigned TileLatency = mul_latency(QWidth, tile_a(Sparse), tile_b(Sparse),
                                                    radix(Sparse), 1'b1);
  logic [QWidth-1:0] q;

  always_comb begin
    q = '0;
    for (int unsigned m = 0; m < Moduli; m++) begin
      if (which_i == WhichWidth'(m)) q = Q[m][QWidth-1:0];
    end
  end

  if (QWidth > Width) begin : gen_check
    $error("the prime is wider than a word");
  end

  logic pre, halves;
  logic pass_q, pass_late;
  logic [QWidth-1:0] add_a, add_b, sum, diff, sum_half, diff_half, w_q;
  logic [Width-1:0] early0_d, early0_q, early1_d, early1_q, wait_d, line, u_late;
  logic [QWidth-1:0] mul_a, mul_w, product;
  logic [Moduli-1:0][QWidth-1:0] reduced;
  logic [2*QWidth-1:0] tiled, entering;
  logic [Width-1:0] to_reduce;
  logic [Width-1:0] late0_q;
  logic [QWidth-1:0] late1_q;

  assign pre = mode_i.pre;
  assign halves = mode_i.half && !pass_q;

  assign add_a = pre ? u_i[QWidth-1:0] : u_late[QWidth-1:0];
  assign add_b = pre ? v_i[QWidth-1:0] : product;

  rm_mod_add #(.Width(QWidth)) u_add (.a_i(add_a), .b_i(add_b), .q_i(q), .r_o(sum));
  rm_mod_sub #(.Width(QWidth)) u_sub (.a_i(add_a), .b_i(add_b), .q_i(q), .r_o(diff));
  rm_mod_half #(.Width(QWidth)) u_half0 (
      .a_i(early0_q[QWidth-1:0]),
      .q_i(q),
      .r_o(sum_half)
  );
  rm_mod_half #(.Width(QWidth)) u_half1 (
      .a_i(early1_q[QWidth-1:0]),
      .q_i(q),
      .r_o(diff_half)
  );

  assign early0_d = pass_i ? u_i : Width'(sum);
  assign early1_d = pass_i ? v_i : Width'(diff);

  always_ff @(posedge clk_i) begin
    early0_q <= early0_d;
    early1_q <= early1_d;
    w_q <= w_i[QWidth-1:0];
    pass_q <= pass_i;
    late0_q <= pass_late ? u_late : Width'(sum);
    late1_q <= pass_late ? product : diff;
  end

  assign wait_d = !pre ? u_i : halves ? Width'(sum_half) : early0_q;
  assign mul_a = !pre ? v_i[QWidth-1:0] : halves ? diff_half : early1_q[QWidth-1:0];
  assign mul_w = pre ? w_q : w_i[QWidth-1:0];

  rm_delay #(
      .Width(Width),
      .Depth(MulLatency - 1)
  ) u_wait (
      .clk_i,
      .d_i(wait_d),
      .q_o(line)
  );

  // A flip-flop of its own behind the delay line, which is slow to leave a shift register.
  rm_copy #(
      .Width(Width)
  ) u_wait_last (
      .clk_i,
      .d_i(line),
      .q_o(u_late)
  );

  rm_delay #(
      .Width(1),
      .Depth(MulLatency)
  ) u_pass (
      .clk_i,
      .d_i(pass_i),
      .q_o(pass_late)
  );

  rm_mul_tiled #(
      .Width(QWidth),
      .TileA(tile_a(Sparse)),
      .TileB(tile_b(Sparse)),
      .FabricMax(fabric_max(Sparse)),
      .Radix(radix(Sparse)),
      .InReg(1'b1)
  ) u_mul (
      .clk_i,
      .a_i(mul_a),
      .b_i(mul_w),
      .p_o(tiled)
  );

  rm_delay #(
      .Width(Width),
      .Depth(TileLatency)
  ) u_to_reduce (
      .clk_i,
      .d_i(v_i),
      .q_o(to_reduce)
  );

  assign entering = mode_i.reduce ? (2 * QWidth)'(to_reduce) : tiled;

  for (genvar m = 0; m < Moduli; m++) begin : gen_modulus
    localparam int unsigned Bits = bits_of(Q[m]);
    localparam int unsigned Own = TileLatency + red_latency(Sparse, Bits, Q[m]);
    logic [Bits-1:0] own, even;

    if (Own > MulLatency || Bits > QWidth) begin : gen_check
      $error("the multiplier is deeper than MulLatency, or the prime wider than QWidth");
    end

    rm_red_sparse #(
        .Width(Bits),
        .Q(Q[m])
    ) u_red (
        .clk_i,
        .t_i(entering[2*Bits-1:0]),
        .r_o(own)
    );

    rm_delay #(
        .Width(Bits),
        .Depth(MulLatency - Own)
    ) u_even (
        .clk_i,
        .d_i(own),
        .q_o(even)
    );

    assign reduced[m] = QWidth'(even);
  end

  always_comb begin
    product = '0;
    for (int unsigned m = 0; m < Moduli; m++) begin
      if (which_i == WhichWidth'(m)) product = reduced[m];
    end
  end

  // Which result is the word's is for the parent to say.
  logic unused_second;
  assign unused_second = mode_i.second;

  assign out0_o = pre ? u_late : late0_q;
  assign out1_o = Width'(pre ? product : late1_q);

endmodule
