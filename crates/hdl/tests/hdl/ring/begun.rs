// SPDX-License-Identifier: Apache-2.0
//! More faults: of what the board knows of a word that has only begun, of key memory's words, of tables by layer.

use crate::ring::faults::{Fault, machine, unit};

pub const FAULTS: [Fault; 5] = [
    Fault(
        "rm_ring_board.sv",
        "if (s > 1 && grant_o[1]) leaves[s] = leaves_beside[s];",
        "",
        machine,
    ),
    Fault(
        "rm_ring_board.sv",
        "(from_q[r][1][g] && hinders(begun_q[s][g], leaves_q2[g]))",
        "1'b0",
        machine,
    ),
    Fault(
        "rm_ring_span.sv",
        "rings_q <= word_i.op == OpBcast || word_i.op == OpLoad;",
        "rings_q <= word_i.op == OpBcast;",
        machine,
    ),
    Fault(
        "rm_ring_keys.sv",
        "if (load_i) wdata_q[residue_q] <= load_data_i;",
        "if (load_i) wdata_q[0] <= load_data_i;",
        unit,
    ),
    Fault(
        "rm_ring_rpau.sv",
        "TableWidth'(3 * 32'(layer_q))",
        "TableWidth'(3 * 32'(which_q[0]))",
        machine,
    ),
];
