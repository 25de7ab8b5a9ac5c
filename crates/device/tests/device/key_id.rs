// SPDX-License-Identifier: Apache-2.0
//! Tests the check that all parts of a computation belong to one secret key.

use ringmill_device::KeyId;
use ringmill_math::Prng;

#[test]
fn parts_agree_or_are_refused_and_what_has_none_is_not_vouched_for() {
    let mut prng = Prng::from_seed_for_reproducible_tests_only([1; 32]);
    let (a, b) = (KeyId::draw(&mut prng), KeyId::draw(&mut prng));
    let common = |ids: &[Option<KeyId>]| KeyId::common(ids.iter().map(|&id| ("part", id)));
    assert_eq!(common(&[]), Ok(None));
    assert_eq!(common(&[Some(a), Some(a)]), Ok(Some(a)));
    assert_eq!(common(&[Some(a), None, Some(a)]), Ok(None));
    for mixed in [&[Some(a), Some(b)][..], &[Some(a), None, Some(b)]] {
        let refused = common(mixed).unwrap_err();
        let said = refused.to_string();
        assert!(
            said.contains(&a.short()) && said.contains(&b.short()),
            "{said}"
        );
    }
    assert_eq!(KeyId::from_bytes([0; 16]), None);
    assert_eq!(KeyId::from_bytes(*a.bytes()), Some(a));
}
