// SPDX-License-Identifier: Apache-2.0
//! Cycles of the key switch after the blind rotation.

use ringmill_machines::torus::{Description, TorusMachine, switch, switch_cycles};

#[test]
fn a_key_that_is_never_late_takes_what_the_formula_says() {
    for text in [Description::OURS, Description::WIDE] {
        let text = text.replace("log_n = 10 ", "log_n = 8 ");
        let text = text.replace("log_lanes = 7 ", "log_lanes = 5 ");
        let shape = TorusMachine::parse(&text).unwrap().shape();
        for places in [1, shape.sizes().places] {
            let found = switch(shape, places, || true);
            assert_eq!(found, switch_cycles(shape, places));
        }
    }
}
