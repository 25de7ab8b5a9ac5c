// SPDX-License-Identifier: Apache-2.0
// Key memory: holds limbs of keys one behind the other, and gives a row a cycle.
//
// A memory word has 2^LogGroup residues. Stripes memories, the stripes, take these words in turn.
// Word i is in stripe i mod Stripes at i / Stripes. The words of a row follow each other, so they
// lie in different stripes. A row comes in a cycle, brought into order by one more stage.
//
// Two readers take a limb's rows one after the other, from start_i with its slot on. Reader 0 (the
// main cores) reads whenever it asks, reader 1 (the dyadic cores) when reader 0 does not. A limb is
// written residue by residue, in order, from load_start_i on.
//
// Latency 3 from a granted request to row_o, a row a cycle. A stripe has at most one read and one
// write a cycle, since one reader is served and one residue comes.
module rm_ring_keys #(
    parameter int unsigned LogN = 14,
    parameter int unsigned LogRow = 5,
    parameter int unsigned Slots = 18,
    parameter int unsigned LogGroup = 3,
    parameter int unsigned Stripes = 9,
    parameter int unsigned Width = 60,
    localparam int unsigned Row = 1 << LogRow,
    localparam int unsigned SlotWidth = $clog2(Slots + 1)
) (
    input  logic                            clk_i,
    input  logic [      1:0]                start_i,
    input  logic [      1:0][SlotWidth-1:0] slot_i,
    input  logic [      1:0]                req_i,
    output logic                            gnt_o,  // of reader 1
    output logic [  Row-1:0][    Width-1:0] row_o,
    input  logic                            load_start_i,
    input  logic [SlotWidth-1:0]            load_slot_i,
    input  logic                            load_i,
    input  logic [Width-1:0]                load_data_i
);

  localparam int unsigned Group = 1 << LogGroup;
  localparam int unsigned Parts = Row / Group;
  localparam int unsigned Words = Slots << (LogN - LogGroup);
  localparam int unsigned Depth = (Words + Stripes - 1) / Stripes;
  localparam int unsigned AddrWidth = $clog2(Depth + 1);
  localparam int unsigned RamWidth = $clog2(Depth);
  localparam int unsigned StripeWidth = $clog2(Stripes);

  if (Parts > Stripes || Stripes < 2) begin : gen_check
    $error("the words of a row lie in different stripes");
  end

  typedef struct packed {
    logic [AddrWidth-1:0] addr;
    logic [StripeWidth-1:0] stripe;
  } place_t;

  // Returns the place of a slot's first word.
  function automatic place_t first(logic [SlotWidth-1:0] slot);
    place_t place;
    place = '0;
    for (int unsigned s = 0; s < Slots; s++) begin
      if (slot == SlotWidth'(s)) begin
        place.addr = AddrWidth'((s << (LogN - LogGroup)) / Stripes);
        place.stripe = StripeWidth'((s << (LogN - LogGroup)) % Stripes);
      end
    end
    return place;
  endfunction

  // Returns the place `by` words after `place`, by <= Stripes.
  function automatic place_t after(place_t place, int unsigned by);
    place_t next;
    next = place;
    if (32'(place.stripe) + by >= Stripes) begin
      next.addr = place.addr + 1'b1;
      next.stripe = StripeWidth'(32'(place.stripe) + by - Stripes);
    end else begin
      next.stripe = StripeWidth'(32'(place.stripe) + by);
    end
    return next;
  endfunction

  // A row's words come in lanes, one in each: stripe s in lane s mod Parts, and the stripes behind the last whole turn of that in
  // lanes that the row's others leave. So a lane chooses among few stripes, and a word among the lanes.
  localparam int unsigned Whole = Stripes / Parts;
  localparam int unsigned Extra = Stripes % Parts;
  localparam int unsigned Choices = Whole + Extra;

  // Returns the lane that reads word `part` of a row, given the stripe in which the row begins.
  function automatic int unsigned lane_of(int unsigned stripe, int unsigned part);
    logic [Parts-1:0] taken;
    int unsigned lane, at;
    taken = '0;
    lane = 0;
    for (int unsigned p = 0; p < Parts; p++) begin
      at = (stripe + p) % Stripes;
      if (at < Whole * Parts) taken[at%Parts] = 1'b1;
    end
    for (int unsigned p = 0; p <= part; p++) begin
      at = (stripe + p) % Stripes;
      if (at < Whole * Parts) begin
        lane = at % Parts;
      end else begin
        lane = 0;
        while (taken[lane]) lane++;
        taken[lane] = 1'b1;
      end
    end
    return lane;
  endfunction

  // Returns which of its stripes a lane reads for a row, given the stripe in which the row begins. Stripes of whole turns come
  // first.
  function automatic int unsigned choice_of(int unsigned stripe, int unsigned lane);
    int unsigned at;
    for (int unsigned p = 0; p < Parts; p++) begin
      at = (stripe + p) % Stripes;
      if (lane_of(stripe, p) == lane) begin
        return (at < Whole * Parts) ? at / Parts : at - Whole * Parts + Whole;
      end
    end
    return 0;
  endfunction

  localparam int unsigned ChoiceWidth = (Choices > 1) ? $clog2(Choices) : 1;
  localparam int unsigned LaneWidth = (Parts > 1) ? $clog2(Parts) : 1;

  typedef logic [Parts-1:0][ChoiceWidth-1:0] choices_t;
  typedef logic [Parts-1:0][LaneWidth-1:0] lanes_t;

  function automatic choices_t [Stripes-1:0] choices_of_stripes();
    for (int unsigned s = 0; s < Stripes; s++) begin
      for (int unsigned p = 0; p < Parts; p++) begin
        choices_of_stripes[s][p] = ChoiceWidth'(choice_of(s, p));
      end
    end
  endfunction

  function automatic lanes_t [Stripes-1:0] lanes_of_stripes();
    for (int unsigned s = 0; s < Stripes; s++) begin
      for (int unsigned p = 0; p < Parts; p++) lanes_of_stripes[s][p] = LaneWidth'(lane_of(s, p));
    end
  endfunction

  localparam choices_t [Stripes-1:0] ChoicesOf = choices_of_stripes();
  localparam lanes_t [Stripes-1:0] LanesOf = lanes_of_stripes();

  // ---- Reads. ----

  place_t [1:0] at_q;
  place_t at;
  logic read;
  logic [StripeWidth-1:0] stripe_q, stripe_q2;
  logic [Stripes-1:0][Group-1:0][Width-1:0] rdata;
  logic [Parts-1:0][Group-1:0][Width-1:0] lanes, ordered, ordered_q;
  // The choices are encoded and few, because a choice among four is one look-up table.
  (* keep *) choices_t choice;
  (* keep *) lanes_t lane;

  assign gnt_o = req_i[1] && !req_i[0];
  assign read = |req_i;
  assign at = at_q[!req_i[0]];

  always_ff @(posedge clk_i) begin
    for (int unsigned r = 0; r < 2; r++) begin
      if (start_i[r]) at_q[r] <= first(slot_i[r]);
      else if (read && (req_i[0] == (r == 0))) at_q[r] <= after(at_q[r], Parts);
    end
    stripe_q <= at.stripe;
    stripe_q2 <= stripe_q;
    ordered_q <= ordered;
  end

  always_comb begin
    choice = '0;
    lane = '0;
    for (int unsigned s = 0; s < Stripes; s++) begin
      if (32'(stripe_q2) == s) begin
        choice = ChoicesOf[s];
        lane = LanesOf[s];
      end
    end
  end

  for (genvar l = 0; l < Parts; l++) begin : gen_lane
    logic [(1<<ChoiceWidth)-1:0][Group-1:0][Width-1:0] choices;

    for (genvar c = 0; c < (1 << ChoiceWidth); c++) begin : gen_choice
      // Numbers beyond the last choice pick the last one.
      localparam int unsigned At = (c < Choices) ? c : Choices - 1;
      assign choices[c] = rdata[(At<Whole)?At*Parts+l : Whole*Parts+At-Whole];
    end

    assign lanes[l] = choices[choice[l]];
    assign ordered[l] = lanes[lane[l]];
  end

  assign row_o = ordered_q;

  // ---- Writes. ----

  place_t load_q;
  logic [LogGroup-1:0] residue_q;

  always_ff @(posedge clk_i) begin
    if (load_start_i) begin
      load_q <= first(load_slot_i);
      residue_q <= '0;
    end else if (load_i) begin
      residue_q <= residue_q + 1'b1;
      if (&residue_q) load_q <= after(load_q, 1);
    end
  end

  // A register stage before the write port. A word is written whole, when its last residue comes, because its residues share
  // ultra RAMs.
  logic we_q;
  logic [Group-1:0][Width-1:0] wdata_q;
  place_t wplace_q;

  always_ff @(posedge clk_i) begin
    we_q <= load_i && (&residue_q);
    if (load_i) wdata_q[residue_q] <= load_data_i;
    wplace_q <= load_q;
  end

  for (genvar s = 0; s < Stripes; s++) begin : gen_stripe
    logic [RamWidth-1:0] raddr;

    // Stripes before the row's first one are read at the next address. The address may wrap behind the last word, where no row
    // is.
    assign raddr = RamWidth'(at.addr + AddrWidth'(StripeWidth'(s) < at.stripe));

    rm_ram_1r1w #(
        .Width (Group * Width),
        .Depth (Depth),
        .OutReg(1'b1),
        .Style ("ultra")
    ) u_ram (
        .clk_i,
        .we_i   (we_q && wplace_q.stripe == StripeWidth'(s)),
        .waddr_i(RamWidth'(wplace_q.addr)),
        .wdata_i(wdata_q),
        .re_i   (1'b1),
        .raddr_i(raddr),
        .rdata_o(rdata[s])
    );
  end

endmodule
