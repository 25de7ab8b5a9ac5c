// SPDX-License-Identifier: Apache-2.0
//! What the paper prints.

use ringmill_papers::internals::polymul::polymul;

#[test]
fn the_figures_are_the_papers() {
    let polymul = polymul().unwrap();
    assert_eq!(polymul.sets.last(), Some(&(4096, 32)));
    for list in [&polymul.ntt_cycles, &polymul.fpm_cycles, &polymul.fpm_us] {
        assert_eq!(list.len(), polymul.sets.len());
    }
    assert_eq!(polymul.rivals.len(), 18);
    let stockham = polymul.rivals.iter().find(|r| r.work == "12").unwrap();
    assert_eq!((stockham.bram, stockham.ntt_us), (Some(1.0), None));
}
