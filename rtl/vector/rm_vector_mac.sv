// SPDX-License-Identifier: Apache-2.0
// The multiply-accumulate unit of the vector machine: d = f(acc, a, b) on a chunk, for the
// instructions of unit `mac` (docs/isa/vector.md).
//
// It is an elastic pipeline of mac_stages() stages whose items are at least Period cycles apart
// (rm_vector_pipe, rm_vector_mac_lane).
//
// An instruction enters with valid_i while ready_o is high, word_i with its modulus and R mod q.
// The chunk that it reads is at chunk_i two cycles later. busy_o has the registers that items
// inside still write in the next cycle, without the instruction that enters in this one. An
// instruction that enters then must not read any of these registers. At the end an item for a
// register or the accumulator leaves. An item for the buffer shows its chunk (waits_o, place_o,
// chunk_o) until take_i, which makes room from the next cycle on. idle_o: nothing is inside, except
// an item that leaves by itself in this cycle.
//
// Rates: an instruction takes Period cycles, whatever its operands are. So an operation on one
// chunk and a constant or registers runs at full rate. One on two chunks of the buffer runs at half
// rate, with a MOV of one chunk to a register. MAC and MACI, a product and a sum in one
// instruction, run at double rate.
module rm_vector_mac
  import rm_vector_pkg::*;
  import rm_vector_isa_pkg::*;
  import rm_vector_mac_pkg::*;
#(
    parameter int unsigned Lanes = 4,
    parameter int unsigned Registers = 16,
    parameter int unsigned Period = 4,
    parameter int unsigned Width = 32
) (
    input  logic                            clk_i,
    input  logic                            rst_ni,
    input  logic                            valid_i,
    output logic                            ready_o,
    input  word_t                           word_i,
    input  logic [    Width-1:0]            q_i,
    input  logic [    Width-1:0]            one_i,
    input  logic [    Lanes-1:0][Width-1:0] chunk_i,
    output logic [Registers-1:0]            busy_o,
    output logic                            idle_o,
    output logic                            waits_o,
    input  logic                            take_i,
    output logic [         13:0]            place_o,
    output logic [    Lanes-1:0][Width-1:0] chunk_o
);

  localparam int unsigned Stages = mac_stages();
  localparam int unsigned RegWidth = $clog2(Registers);

  // The values that an item keeps up to the last stage.
  typedef struct packed {
    sum_t sum;
    kind_e d_kind;
    logic [13:0] d;
    logic [Registers-1:0] writes;
    logic [Width-1:0] q;
  } item_t;

  // The values that an item has in rank 0 only.
  typedef struct packed {
    operands_t how;
    logic [RegWidth-1:0] a;
    logic [RegWidth-1:0] b;
    logic [Width-1:0] n;
    logic [Width-1:0] one;
  } fresh_t;

  logic [Stages-1:0] move, full;
  logic last, soon, leave_early;
  logic leaves_next, ready_q, ready_pipe, idle_q, waits_q;
  // Whether an item entered in one of the last Period - 2 cycles, so that none may enter in the
  // next cycle.
  logic [Period-3:0] since_q;
  logic [1:0] came_q;
  item_t [Stages-1:0] item_q;
  item_t entering, leaving;
  fresh_t fresh_q;
  logic [Stages-1:1][Width-1:0] q;

  if (Period < 3 || Width != 32) begin : gen_check
    $error("rm_vector_mac: a chunk is there two cycles after its item, and a scalar has 32 bits");
  end

  rm_vector_pipe #(
      .Stages(Stages),
      .Period(Period)
  ) u_pipe (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o(ready_pipe),
      .last_o(last),
      .soon_o(soon),
      .leave_early_i(leave_early),
      .leave_i(take_i),
      .move_o(move),
      .full_o(full)
  );

  always_comb begin
    entering = '{sum: sum_of(word_i.op), d_kind: word_i.d_kind, d: word_i.d, writes: '0, q: q_i};
    if (word_i.d_kind == KindRegister) entering.writes[word_i.d[RegWidth-1:0]] = 1'b1;
  end
  assign leaving = item_q[Stages-1];
  assign waits_o = waits_q;
  assign leave_early = last && leaving.d_kind != KindChunk;
  assign place_o = leaving.d;

  always_ff @(posedge clk_i) begin
    if (move[0]) begin
      item_q[0] <= entering;
      fresh_q <= '{
          how: operands_of(word_i.op, word_i.a_kind),
          a: word_i.a[RegWidth-1:0],
          b: word_i.b[RegWidth-1:0],
          n: word_i.n,
          one: one_i
      };
    end
    for (int unsigned s = 1; s < Stages; s++) if (move[s]) item_q[s] <= item_q[s-1];
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) came_q <= '0;
    else came_q <= {came_q[0], valid_i && word_i.a_kind == KindChunk};
  end

  for (genvar s = 1; s < Stages; s++) begin : gen_q
    assign q[s] = item_q[s-1].q;
  end

  // The registers of all items inside, except an item that leaves by the next cycle.
  always_comb begin
    busy_o = '0;
    for (int unsigned s = 0; s < Stages; s++) begin
      if (full[s] && !(s == Stages - 1 && soon)) busy_o |= item_q[s].writes;
    end
  end

  // ready_q is the pipeline's ready_o a cycle ahead: there is room, or an item leaves by itself
  // then. idle_q says that nothing is inside except such an item. Both are computed so that inputs
  // that come late pass little logic.
  assign leaves_next = soon && leaving.d_kind != KindChunk;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      since_q <= '0;
      ready_q <= 1'b1;
      idle_q <= 1'b1;
      waits_q <= 1'b0;
    end else begin
      since_q <= (Period - 2)'({since_q, valid_i});
      ready_q <= !valid_i && since_q == '0 &&
          (take_i || full != '1 || leave_early || leaves_next);
      waits_q <= !take_i && soon && leaving.d_kind == KindChunk;
      idle_q <= !valid_i && full[Stages-2:0] == '0 &&
          (take_i || !full[Stages-1] || leave_early || leaves_next);
    end
  end

  assign ready_o = ready_q;
  assign idle_o = idle_q;

  for (genvar l = 0; l < Lanes; l++) begin : gen_lane
    rm_vector_mac_lane #(
        .Width(Width),
        .Registers(Registers)
    ) u_lane (
        .clk_i,
        .move_i(move[Stages-1:1]),
        .came_i(came_q[1]),
        .chunk_i(chunk_i[l]),
        .how_i(fresh_q.how),
        .a_i(fresh_q.a),
        .b_i(fresh_q.b),
        .n_i(fresh_q.n),
        .one_i(fresh_q.one),
        .q_i(q),
        .sum_i(leaving.sum),
        .q_last_i(leaving.q),
        .write_acc_i(leave_early && leaving.d_kind == KindAccumulator),
        .write_reg_i(leave_early && leaving.d_kind == KindRegister),
        .reg_i(leaving.d[RegWidth-1:0]),
        .sum_o(chunk_o[l])
    );
  end

  logic unused_word;
  assign unused_word = ^{word_i, leaving.writes};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      of_this_unit : assert (!valid_i || unit_of(word_i.op) == UnitMac);
      waits_a_cycle_ahead : assert (waits_q == (last && leaving.d_kind == KindChunk));
      ready_a_cycle_ahead : assert (ready_q == ready_pipe);
      idle_a_cycle_ahead :
      assert (idle_q == (full[Stages-2:0] == '0 && (!full[Stages-1] || leave_early)));
      taken_where_it_waits : assert (!take_i || waits_o);
    end
  end
`endif

endmodule
