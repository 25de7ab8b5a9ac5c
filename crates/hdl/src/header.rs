// SPDX-License-Identifier: Apache-2.0
//! Reads the ports of a simulation model from the class header that Verilator writes.

use crate::HdlError;

/// A port of a simulation model's top module: name, width in bits, and whether it is an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Port {
    pub name: String,
    pub width: u32,
    pub input: bool,
}

/// Returns the ports in declaration order. They are read from lines of Verilator's class header,
/// such as `VL_IN8(&clk_i,0,0);` and `VL_OUTW(&p_o,127,0,4);`.
pub fn ports(header: &str) -> Result<Vec<Port>, HdlError> {
    header
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("VL_IN") || line.starts_with("VL_OUT"))
        .map(|line| {
            parse(line).ok_or_else(|| HdlError::Answer {
                tool: "Verilator",
                message: format!("port declaration `{line}`"),
            })
        })
        .collect()
}

fn parse(line: &str) -> Option<Port> {
    let (kind, rest) = line.split_once('(')?;
    let mut fields = rest.strip_suffix(");")?.split(',');
    let name = fields.next()?.strip_prefix('&')?;
    let high: u32 = fields.next()?.parse().ok()?;
    let low: u32 = fields.next()?.parse().ok()?;
    Some(Port {
        name: name.to_owned(),
        width: high.checked_sub(low)?.checked_add(1)?,
        input: kind.starts_with("VL_IN"),
    })
}
