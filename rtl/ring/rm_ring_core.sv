// SPDX-License-Identifier: Apache-2.0
// A core of the ring machine: one modular multiplier, one adder and one subtractor, whose
// corrections also halve.
//
//   mode             out0              out1
//   neither          u + w v           u - w v              forward butterfly, and what adds
//   pre              (u + v) / h       ((u - v) / h) w      inverse butterfly (h = 2 with half)
//   reduce           u + [v]_Q         u - [v]_Q            v of any Width bits, w = 1
//   pass_i           u                 w v                  u of any Width bits
//
// All are modulo Q, the prime that which_i selects of Moduli primes, for u, v, w < Q but where the
// table says otherwise. which_i and mode_i are held while data is in flight; pass_i comes with each
// datum.
//
// The product comes as z in [-Q, Q), right or too small by Q (rm_red_lazy). Sum and difference of
// these lie in [-Q, 2 Q). In the next cycle a multiple of Q brings them into [0, Q), and also makes
// even a number that is to be halved:
//
//   s = u + v, d = u - v       s < 0 or d < 0   in [0, Q)   Q or above
//   not halved                 Q                0           -Q
//   halved, s even             -                0           0
//   halved, s odd              -                Q           -Q
//   halved, d even             2 Q              0           -
//   halved, d odd              Q                Q           -
//
// Latency MulLatency + 1 in every mode, one datum a cycle. All primes share the multiplier, of
// QWidth bits, those of the widest prime.
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

  localparam int unsigned Own = cascade_latency(QWidth) + lazy_latency();
  // From the multiplier's operands to its product before the last correction.
  localparam int unsigned Product = MulLatency - 1;
  localparam int unsigned SumWidth = Width + 2;
  localparam int unsigned DiffWidth = QWidth + 2;

  if (QWidth > Width || Own > Product) begin : gen_check
    $error("the prime is wider than a word, or the multiplier deeper than MulLatency");
  end

  logic [QWidth-1:0] q;

  always_comb begin
    q = '0;
    for (int unsigned m = 0; m < Moduli; m++) begin
      if (which_i == WhichWidth'(m)) q = Q[m][QWidth-1:0];
    end
  end

  logic pre, half;
  logic signed [QWidth:0] z;
  logic [Width-1:0] line, line_q, late_q;  // of what waits for the product

  assign pre = mode_i.pre;

  // ---- Sum and difference. ----

  logic pass_late, pass_last, skip, skip_q;
  logic [Width-1:0] add_a;
  logic signed [QWidth:0] add_b, added;
  logic signed [SumWidth-1:0] sum_q;
  logic signed [DiffWidth-1:0] diff_q;
  logic [QWidth-1:0] v_q, w_q;

  assign skip = pre ? pass_i : pass_late;
  assign add_a = pre ? u_i : line_q;
  assign add_b = pre ? $signed({1'b0, v_i[QWidth-1:0]}) : z;

  assign added = skip ? '0 : add_b;

  always_ff @(posedge clk_i) begin
    sum_q <= $signed({2'b00, add_a}) + SumWidth'(added);
    diff_q <= $signed({2'b00, add_a[QWidth-1:0]}) - DiffWidth'(add_b);
    skip_q <= skip;
    v_q <= v_i[QWidth-1:0];
    w_q <= w_i[QWidth-1:0];
  end

  // ---- Corrections. ----

  assign half = pre && mode_i.half && !skip_q;

  // Returns whether a number below 2 Q is Q or more, bit by bit: of a prime next to a power of two most bits are alike,
  // which a few gates of many inputs compare.
  function automatic logic reaches(logic [QWidth:0] x, logic [63:0] prime);
    logic at_least;
    at_least = 1'b1;
    for (int unsigned i = 0; i <= QWidth; i++) begin
      at_least = prime[6'(i)] ? at_least && x[i] : at_least || x[i];
    end
    return at_least;
  endfunction

  logic sum_reaches, diff_reaches, sum_below, diff_below;
  logic sum_up, sum_down, diff_up, diff_twice, diff_down;
  logic [SumWidth-1:0] sum;
  logic [DiffWidth-1:0] diff;
  logic [SumWidth-1:0] sum_by;
  logic [DiffWidth-1:0] diff_by;

  always_comb begin
    sum_reaches = 1'b0;
    diff_reaches = 1'b0;
    for (int unsigned m = 0; m < Moduli; m++) begin
      if (which_i == WhichWidth'(m)) begin
        sum_reaches = reaches(sum_q[QWidth:0], Q[m]);
        diff_reaches = reaches(diff_q[QWidth:0], Q[m]);
      end
    end
  end

  assign sum_below = sum_q[QWidth+1];
  assign diff_below = diff_q[QWidth+1];
  assign sum_up = !skip_q && (half ? sum_q[0] && !sum_reaches : sum_below);
  assign sum_down = !skip_q && (half ? sum_q[0] : !sum_below) && sum_reaches;
  assign diff_up = half ? diff_q[0] : diff_below;
  assign diff_twice = half && !diff_q[0] && diff_below;
  assign diff_down = !half && !diff_below && diff_reaches;

  assign sum_by = sum_up ? SumWidth'(q) : sum_down ? ~SumWidth'(q) : '0;
  assign diff_by = diff_up ? DiffWidth'(q) : diff_twice ? {1'b0, q, 1'b0} :
      diff_down ? ~DiffWidth'(q) : '0;
  assign sum = sum_q + sum_by + SumWidth'(sum_down);
  assign diff = diff_q + diff_by + DiffWidth'(diff_down);

  // ---- The multiplier, and what waits beside it. ----

  logic [Width-1:0] wait_d;
  logic [QWidth-1:0] mul_a, mul_w;

  assign wait_d = !pre ? u_i : half ? Width'(sum >> 1) : Width'(sum);
  assign mul_a = !pre ? v_i[QWidth-1:0] : skip_q ? v_q : half ? QWidth'(diff >> 1) : QWidth'(diff);
  assign mul_w = pre ? w_q : w_i[QWidth-1:0];

  rm_delay #(
      .Width(Width),
      .Depth(Product - 1)
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
      .q_o(line_q)
  );

  rm_delay #(
      .Width(1),
      .Depth(Product)
  ) u_pass (
      .clk_i,
      .d_i(pass_i),
      .q_o(pass_late)
  );

  logic [Width-1:0] factor;
  logic [2*QWidth-1:0] product;

  if (Width > QWidth) begin : gen_wide
    assign factor = {mode_i.reduce ? v_i[Width-1:QWidth] : '0, mul_a};
  end else begin : gen_same
    assign factor = mul_a;
  end

  rm_mul_cascade #(
      .Width (QWidth),
      .AWidth(Width)
  ) u_mul (
      .clk_i,
      .a_i(factor),
      .b_i(mul_w),
      .p_o(product)
  );

  logic signed [Moduli-1:0][QWidth:0] reduced;

  for (genvar m = 0; m < Moduli; m++) begin : gen_modulus
    localparam int unsigned Bits = bits_of(Q[m]);
    logic signed [Bits:0] own, even;

    rm_red_lazy #(
        .Width(Bits),
        .Q(Q[m])
    ) u_red (
        .clk_i,
        .t_i(product[2*Bits-1:0]),
        .z_o(own)
    );

    rm_delay #(
        .Width(Bits + 1),
        .Depth(Product - Own)
    ) u_even (
        .clk_i,
        .d_i(own),
        .q_o(even)
    );

    assign reduced[m] = (QWidth + 1)'(even);
  end

  always_comb begin
    z = '0;
    for (int unsigned m = 0; m < Moduli; m++) begin
      if (which_i == WhichWidth'(m)) z = reduced[m];
    end
  end

  // ---- Results. ----

  logic [QWidth-1:0] product_q, product_q2, diff_last_q, out1;
  logic [Width-1:0] sum_last_q;

  always_ff @(posedge clk_i) begin
    product_q <= QWidth'(z) + (z[QWidth] ? q : '0);
    product_q2 <= product_q;
    late_q <= line_q;
    sum_last_q <= Width'(sum);
    diff_last_q <= QWidth'(diff);
    pass_last <= skip_q;
  end

  // Which result is the word's is for the parent to say.
  logic unused;
  assign unused = ^{mode_i, w_i, sum, diff};

  assign out0_o = pre ? late_q : sum_last_q;
  assign out1 = pre ? product_q : pass_last ? product_q2 : diff_last_q;
  assign out1_o = Width'(out1);

endmodule
