// SPDX-License-Identifier: Apache-2.0
// Selects who drives each port of the coefficient memories, [set][bank]: the array, the load unit
// or the unload unit.
//
// The array reads and writes its set while load and unload work in the other set, or in both. The
// decision on commands keeps users of one set apart. An assertion checks that no two users write a
// bank in one cycle.
//
// Latency 1 cycle, by registers in front of the ports.
module rm_polymul_access #(
    parameter int unsigned Units = 32,
    parameter int unsigned AddrWidth = 7
) (
    input  logic                               clk_i,
    input  logic                               rst_ni,
    // The array, and its write.
    input  logic                               array_read_i,
    input  logic                               array_set_i,
    input  logic [1:0][AddrWidth-1:0]          array_raddr_i,
    input  logic [1:0]                         array_we_i,
    input  logic                               array_wset_i,
    input  logic [1:0][AddrWidth-1:0]          array_waddr_i,
    // The streams.
    input  logic                               unload_read_i,
    input  logic                               unload_set_i,
    input  logic [AddrWidth-1:0]               unload_raddr_i,
    input  logic [Units-1:0][1:0]              load_we_i,
    input  logic                               load_set_i,
    input  logic [AddrWidth-1:0]               load_waddr_i,
    // The memories.
    output logic [1:0][1:0]                    re_o,
    output logic [1:0][1:0][AddrWidth-1:0]     raddr_o,
    output logic [Units-1:0][1:0][1:0]         we_o,
    output logic [1:0][1:0][AddrWidth-1:0]     waddr_o,
    // One cycle earlier than we_o, for a copy in each unit: the write is the array's.
    output logic [1:0]                         array_writes_o
);

  logic [1:0] array_reads;
  logic [1:0][1:0] re_d, re_q;
  logic [1:0][1:0][AddrWidth-1:0] raddr_d, raddr_q, waddr_d, waddr_q;
  logic [Units-1:0][1:0][1:0] we_d, we_q;

  for (genvar s = 0; s < 2; s++) begin : gen_set
    assign array_reads[s] = array_read_i && array_set_i == 1'(s);
    assign array_writes_o[s] = (|array_we_i) && array_wset_i == 1'(s);
    for (genvar b = 0; b < 2; b++) begin : gen_bank
      assign re_d[s][b] = array_reads[s] || (unload_read_i && unload_set_i == 1'(s));
      assign raddr_d[s][b] = array_reads[s] ? array_raddr_i[b] : unload_raddr_i;
      assign waddr_d[s][b] = array_writes_o[s] ? array_waddr_i[b] : load_waddr_i;
      for (genvar p = 0; p < Units; p++) begin : gen_unit
        assign we_d[p][s][b] = array_writes_o[s] ? array_we_i[b]
            : load_we_i[p][b] && load_set_i == 1'(s);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    raddr_q <= raddr_d;
    waddr_q <= waddr_d;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      re_q <= '0;
      we_q <= '0;
    end else begin
      re_q <= re_d;
      we_q <= we_d;
    end
  end

  assign re_o = re_q;
  assign raddr_o = raddr_q;
  assign we_o = we_q;
  assign waddr_o = waddr_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni) begin
      one_reader : assert (!(array_read_i && unload_read_i && array_set_i == unload_set_i));
      one_writer : assert (!((|array_we_i) && (|load_we_i) && array_wset_i == load_set_i));
    end
  end
`endif

endmodule
