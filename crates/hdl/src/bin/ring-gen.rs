// SPDX-License-Identifier: Apache-2.0
//! Writes the SystemVerilog package that decodes the ring machine's instruction words. The program
//! must run in the project's root.

fn main() -> std::io::Result<()> {
    std::fs::write(ringmill_hdl::ring::PACKAGE, ringmill_hdl::ring::package())
}
