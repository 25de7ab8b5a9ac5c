// SPDX-License-Identifier: Apache-2.0
//! The shared unit behind a port.

use std::num::NonZeroU64;

use ringmill_machines::basext::{Extension, Rate, Shape, Shared, Word};
use ringmill_machines::internals::replay_shared as replay;

fn units() -> impl Iterator<Item = Shared> {
    let shapes = [(Word::Bits32, 1), (Word::Bits64, 4), (Word::Bits64, 32)];
    shapes.into_iter().flat_map(|(word, lanes)| {
        let shape = Shape::new(word, lanes, 8..=9, 7, 5).unwrap();
        [1, 2, 5].map(|batch| Shared::new(shape, batch).unwrap())
    })
}

const JOBS: [(usize, usize, u32, u64); 6] = [
    (1, 1, 8, 1),
    (1, 3, 9, 1),
    (3, 2, 8, 3),
    (2, 5, 8, 2),
    (7, 5, 9, 1),
    (7, 4, 8, 2),
];

#[test]
fn a_wide_port_takes_the_models_cycles() {
    for unit in units() {
        for (l, k, log_n, polynomials) in JOBS {
            for extension in [Extension::Exact, Extension::Fast] {
                let wide = Rate::unbounded();
                let found = replay(unit, wide, extension, (l, k), log_n, polynomials);
                let model = unit.cycles(extension, l, k, log_n, polynomials);
                assert_eq!(found, model, "{unit:?} {extension:?} {l} {k} {polynomials}");
            }
        }
    }
}

/// Checks that no command is faster than its beats pass the port, nor faster than without a port.
#[test]
fn a_narrow_port_is_the_bound() {
    for unit in units() {
        for (l, k, log_n, polynomials) in JOBS {
            for (extension, more) in [(Extension::Exact, 1), (Extension::Fast, 0)] {
                let moved = polynomials * (l + more + k) as u64 * unit.shape().beats(log_n);
                let alone = unit.cycles(extension, l, k, log_n, polynomials);
                for (gain, beat) in [(9, 8), (1, 1), (3, 5), (1, 3)] {
                    let rate = Rate::new(gain, beat);
                    let together = NonZeroU64::new(polynomials).unwrap();
                    let found = unit.cycles_through(rate, extension, (l, k), log_n, together);
                    let least = (moved * beat).div_ceil(gain);
                    let case = format!("{unit:?} {rate:?} {extension:?} {l} {k} {polynomials}");
                    assert!(found >= alone && found + 1 >= least, "{case}: {found}");
                    assert!(found <= alone + least + 10, "{case}: {found}");
                }
            }
        }
    }
}
