// SPDX-License-Identifier: Apache-2.0
//! Tests of the reader of a model's ports, from the class header that Verilator writes.

use ringmill_hdl::internals::ports;

#[test]
fn reads_ports() {
    let header = "  VL_IN8(&clk_i,0,0);\n int x;\n VL_OUTW(&p_o,127,0,4);\n";
    let got = ports(header).unwrap();
    let got = got.iter().map(|p| (&*p.name, p.width, p.input));
    let got: Vec<_> = got.collect();
    assert_eq!(got, [("clk_i", 1, true), ("p_o", 128, false)]);
    assert!(ports("VL_IN8(&clk_i);").is_err());
}
