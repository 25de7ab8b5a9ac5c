// SPDX-License-Identifier: Apache-2.0
//! An explanation lists the keys of a program with their purposes and sizes.

use ringmill_compiler::ckks::Options;
use ringmill_compiler::explain::KeyKind;

use super::{explained, finish, mixed, start};
use crate::random::line;

#[test]
fn keys_have_what_they_are_for_and_add_up() {
    let found = explained(mixed(), &Options::default());
    let keys: Vec<_> = found.keys.iter().map(|key| (key.kind, key.steps)).collect();
    let expected = [
        (KeyKind::Relinearisation, None),
        (KeyKind::Rotation, Some(1)),
        (KeyKind::Rotation, Some(3)),
    ];
    assert_eq!(keys, expected);
    assert_eq!(
        found.keys.iter().map(|key| key.bytes).sum::<u64>(),
        found.key_bytes
    );
}

#[test]
fn a_conjugate_takes_the_key_of_an_automorphism() {
    let (mut t, x) = start();
    let y = t.conj(x, line(2)).unwrap();
    let found = explained(finish(t, y), &Options::default());
    assert_eq!(found.keys[0].kind, KeyKind::Automorphism);
    assert!(found.keys[0].element.is_some());
}
