// SPDX-License-Identifier: Apache-2.0
//! Writes the ring machine's generated package; run it in the project's root.

fn main() -> std::io::Result<()> {
    std::fs::write(ringmill_hdl::ring::PACKAGE, ringmill_hdl::ring::package())
}
