// SPDX-License-Identifier: Apache-2.0
//! The folded unit behind a port.

use ringmill_machines::basext::{
    Extension, Rate, Shape, Word, cycles, extend_cycles, load_cycles, load_cycles_through,
};
use ringmill_machines::internals::replay_folded as replay;

/// Compares the replay with the formula where nothing stalls. A port of one beat a cycle stalls no exact extension.
#[test]
fn a_wide_port_takes_the_models_cycles() {
    for (word, lanes) in [
        (Word::Bits32, 1),
        (Word::Bits32, 64),
        (Word::Bits64, 4),
        (Word::Bits64, 32),
    ] {
        let shape = Shape::new(word, lanes, 8..=9, 7, 5).unwrap();
        for (l, k, log_n) in [(1, 1, 8), (3, 2, 8), (7, 5, 9), (1, 3, 9)] {
            for extension in [Extension::Exact, Extension::Fast] {
                let model = cycles(shape, extension, l, k, log_n);
                let wide = replay(shape, Rate::unbounded(), extension, (l, k), log_n);
                assert_eq!(wide, model, "{shape:?} {extension:?} {l} {k}");
                for gain in [8, 9, 15] {
                    let found = replay(shape, Rate::new(gain, 8), extension, (l, k), log_n);
                    match extension {
                        Extension::Exact => assert_eq!(found, model, "{shape:?} {l} {k}"),
                        Extension::Fast => assert!(found >= model),
                    }
                }
            }
        }
    }
}

/// Checks that no command is faster than its beats, read and written, pass the port.
#[test]
fn a_narrow_port_is_the_bound() {
    let shape = Shape::new(Word::Bits64, 4, 8..=9, 7, 5).unwrap();
    for (gain, beat) in [(1, 1), (9, 8), (1, 2), (3, 5)] {
        let rate = Rate::new(gain, beat);
        for (extension, rows) in [(Extension::Exact, 3), (Extension::Fast, 2)] {
            let moved = 3 * (rows + 1) * shape.beats(9);
            let found = extend_cycles(shape, rate, extension, (2, 3), 9);
            let least = (moved * beat).div_ceil(gain);
            // Beats pass from cycle 0 on.
            assert!(
                found + 1 >= least,
                "{rate:?} {extension:?}: {found} < {least}"
            );
            assert!(found < 2 * least + 300, "{rate:?} {extension:?}: {found}");
        }
        assert!(load_cycles_through(rate, 40) >= 40 * beat / gain);
    }
    assert_eq!(load_cycles_through(Rate::new(1, 1), 40), load_cycles(40));
}
