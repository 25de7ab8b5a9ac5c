// SPDX-License-Identifier: Apache-2.0
//! Tests of the reader of a module's parameters and ports from its source text.

use ringmill_hdl::{HdlError, Sources};

use crate::common::folder;

const SOURCE: &str = "\
// SPDX-License-Identifier: Apache-2.0
// r = a mod q: something
// more.
module m
  import a_pkg::*, b_pkg::*;
#(
    parameter flavour_t Flavour = Slow,
    /* verilator lint_off UNUSEDPARAM */  // for the synthesiser only
    parameter Style = \"auto\",
    /* verilator lint_on UNUSEDPARAM */
    localparam int unsigned Wide = 2 * ceil(Flavour, 3)
) (
    input  logic            clk_i,
    // Data.
    output logic [Wide-1:0] r_o   // reduced
);
  logic x;
";

#[test]
fn reads_an_interface() {
    let folder = folder("interface");
    std::fs::write(folder.join("m.sv"), SOURCE).unwrap();
    std::fs::write(folder.join("none.sv"), "module none;").unwrap();
    let sources = Sources::read(&[&folder]).unwrap();
    let got = sources.interface("m").unwrap();
    assert_eq!(got.title, "r = a mod q");
    assert_eq!(got.imports, ["a_pkg::*", "b_pkg::*"]);
    let names: Vec<_> = got
        .parameters
        .iter()
        .map(|p| (&*p.kind, &*p.name, &*p.default, p.local))
        .collect();
    assert_eq!(
        names,
        [
            ("flavour_t", "Flavour", "Slow", false),
            ("", "Style", "\"auto\"", false),
            ("int unsigned", "Wide", "2 * ceil(Flavour, 3)", true),
        ]
    );
    let ports: Vec<_> = got
        .ports
        .iter()
        .map(|p| (&*p.declaration, &*p.name))
        .collect();
    assert_eq!(
        ports,
        [
            ("input  logic", "clk_i"),
            ("output logic [Wide-1:0]", "r_o")
        ]
    );
    let refused = sources.interface("none").unwrap_err();
    assert!(matches!(refused, HdlError::NoInterface(_)), "{refused}");
}
