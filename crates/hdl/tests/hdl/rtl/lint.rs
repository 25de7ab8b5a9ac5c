// SPDX-License-Identifier: Apache-2.0
//! Tests that every leaf module lints with warnings as errors, in every configuration that the machines use.

use std::collections::BTreeSet;

use ringmill_hdl::Top;
use ringmill_hdl::leaves::leaves;

use crate::rtl::support::leaves_hdl;

#[test]
fn every_module() {
    let hdl = leaves_hdl();
    let mut tops = vec![
        Top::new("rm_rom").text("InitFile", "table.hex"),
        Top::new("rm_ram_1r1w").int("OutReg", 1),
        Top::new("rm_delay").int("Depth", 0),
        Top::new("rm_fifo").int("Depth", 5),
        Top::new("rm_mul_tiled")
            .int("Width", 60)
            .int("TileA", 24)
            .int("TileB", 17)
            .int("InReg", 1),
        // Only the paper's range of word sizes.
        Top::new("rm_butterfly")
            .int("WordMin", 9)
            .int("WordMax", 13),
    ];
    tops.extend(leaves().into_iter().map(|leaf| leaf.top));
    let given: BTreeSet<String> = tops.iter().map(|t| t.module.clone()).collect();
    // Two modules instantiate themselves, which Verilator does not accept at the top; rm_mul_tiled contains them.
    let rest = hdl
        .sources()
        .modules()
        .filter(|m| !given.contains(*m) && !["rm_add_tree", "rm_add_parts"].contains(m));
    tops.extend(rest.map(Top::new));
    let dirty: Vec<String> = tops
        .iter()
        .filter_map(|top| hdl.lint(top).err())
        .map(|e| e.to_string())
        .collect();
    assert!(dirty.is_empty(), "{}", dirty.join("\n"));
}
