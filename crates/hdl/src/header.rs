// SPDX-License-Identifier: Apache-2.0
//! The ports of a model, read from the class header that Verilator writes.

use crate::HdlError;

/// A port of the top module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Port {
    pub name: String,
    pub width: u32,
    pub input: bool,
}

/// Ports in declaration order, from lines such as `VL_IN8(&clk_i,0,0);` and `VL_OUTW(&p_o,127,0,4);`.
pub(crate) fn ports(header: &str) -> Result<Vec<Port>, HdlError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_ports() {
        let header = "  VL_IN8(&clk_i,0,0);\n int x;\n VL_OUTW(&p_o,127,0,4);\n";
        let got = ports(header).unwrap();
        let port = |name: &str, width, input| Port {
            name: name.to_owned(),
            width,
            input,
        };
        assert_eq!(got, [port("clk_i", 1, true), port("p_o", 128, false)]);
        assert!(ports("VL_IN8(&clk_i);").is_err());
    }
}
