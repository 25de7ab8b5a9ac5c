// SPDX-License-Identifier: Apache-2.0
//! The parsers of netlists of gates.

use ringmill_circuits::circuit::gates::Limits;
use ringmill_circuits::circuit::netlist::{Netlist, lower, lower_to_gates, read_blif, read_json};
use ringmill_limits::Watch;

/// The bytes of text from which a netlist is not lowered, since that takes long. Hostile netlists may be shorter.
const WIRES: u64 = 4096;

/// Parses the text as BLIF and as JSON. A short netlist is lowered to digits and to bits, and each one is evaluated.
pub fn parse(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    let watch = Watch::default();
    let read: [Result<Netlist, _>; 2] = [read_blif(text, &watch), read_json(text, &watch)];
    let mut taken = false;
    for netlist in read.into_iter().flatten() {
        taken = true;
        let [inputs, _] = netlist.ports();
        if (bytes.len() as u64) < WIRES {
            let _ = lower(&netlist, 100, &watch);
            let _ = lower_to_gates(&netlist, Limits { near: 3, far: 12 }, &watch);
        }
        let used = inputs.iter().filter(|port| port.used);
        let words = used.map(|port| port.words().len()).sum();
        let given = vec![u64::MAX / 3; words];
        assert!(netlist.evaluate(&given).is_ok());
    }
    taken
}

pub fn seeds() -> Vec<Vec<u8>> {
    let blif = ".model m\n.inputs a[0] a[1] \\\n b\n.outputs s c\n.names a[0] b x # a half\n10 1\n01 1\n\
                .names x a[1] b s\n1-1 0\n01- 0\n.gate $_AND_ A=x B=s Y=c\n.end\n";
    let json = r#"{"modules": {"m": {"attributes": {"top": 1}, "ports": {"a": {"direction": "input", "bits": [2, 3]},
        "y": {"direction": "output", "bits": [4, 5, "1"]}}, "cells": {
        "g": {"type": "$_XOR_", "connections": {"A": [2], "B": [3], "Y": [4]}},
        "h": {"type": "$lut", "parameters": {"LUT": "0110"}, "connections": {"A": [4, 2], "Y": [5]}}}}}}"#;
    [blif, json].map(|text| text.as_bytes().to_vec()).to_vec()
}
