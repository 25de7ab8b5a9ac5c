// SPDX-License-Identifier: Apache-2.0
//! Tests that Barrett's multiplier is right, so that the comparison with its resources means something.

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::{BuildOptions, Top};

use crate::timing::hdl;

#[test]
fn barretts_reduction_is_right() {
    let top = Top::new("peer_barrett").int("Width", 32);
    hdl().lint(&top).unwrap_or_else(|e| panic!("{e}"));
    let mut model = hdl()
        .model(&top, BuildOptions::default())
        .unwrap_or_else(|e| panic!("{e}"));
    let mut dice = Dice::new(7);
    let moduli = [(1 << 31) + 1, (1 << 32) - 1, 0xffff_0001, 1 << 31];
    for round in 0..200 {
        let q = match moduli.get(round) {
            Some(&q) => q,
            None => (1 << 31) + dice.below(1 << 31),
        };
        let mu = ((1u128 << 64) / u128::from(q) - (1 << 32)) as u64;
        // For the least modulus the constant has one bit too many.
        let Ok(mu) = u32::try_from(mu) else { continue };
        let (a, b) = match round % 4 {
            0 => (q - 1, q - 1),
            _ => (dice.below(q), dice.below(q)),
        };
        for (name, value) in [("q_i", q), ("mu_i", mu.into()), ("a_i", a), ("b_i", b)] {
            let port = model.input(name).unwrap();
            model.set(port, value).unwrap();
        }
        model.step(5).unwrap();
        let r = model.get(model.output("r_o").unwrap()).unwrap();
        assert_eq!(
            r,
            (u128::from(a) * u128::from(b) % u128::from(q)) as u64,
            "{a} {b} mod {q}"
        );
    }
}
