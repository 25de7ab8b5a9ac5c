// SPDX-License-Identifier: Apache-2.0
//! Tests of the digests of a run's arguments.

use ringmill_cli::internals::{Asked, Key};

#[test]
fn digests_hang_on_the_key_and_on_all_that_was_asked() {
    let keys = [(); 2].map(|()| Key::draw().unwrap());
    let of = |key: &Key, parts: &[(&str, &[u8])]| {
        let asked = Asked::under(key).unwrap();
        parts.iter().fold(asked, |a, (name, b)| a.with(name, b))
    };
    let whole = of(&keys[0], &[("x", &[1, 2]), ("y", &[3])]);
    assert!(whole.is(&whole.tag()));
    let copy = Key::read(keys[0].bytes()).unwrap();
    assert!(of(&copy, &[("x", &[1, 2]), ("y", &[3])]).is(&whole.tag()));
    for other in [
        of(&keys[1], &[("x", &[1, 2]), ("y", &[3])]),
        of(&keys[0], &[("x", &[1]), ("y", &[3])]),
        of(&keys[0], &[("x", &[1, 2]), ("z", &[3])]),
        of(&keys[0], &[("x", &[1, 2]), ("", &[]), ("y", &[3])]),
        of(&keys[0], &[]),
    ] {
        assert!(!other.is(&whole.tag()));
    }
    assert!(!whole.is(&whole.tag()[..31]) && !whole.is(&[]));
    assert!(Key::read(&[0; 31]).is_none() && Key::read(&[]).is_none());
}
