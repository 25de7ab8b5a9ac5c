// SPDX-License-Identifier: Apache-2.0
//! Tests which backends a processor has.

use ringmill_math::Backend;
use ringmill_math::internals::backends_with;

#[test]
fn masked_features_fall_back_to_the_next_best() {
    let best = |avx2, avx512, ifma| backends_with(avx2, avx512, ifma).last().copied();
    assert_eq!(best(true, true, true), Some(Backend::Avx512Ifma));
    assert_eq!(best(true, true, false), Some(Backend::Avx512));
    assert_eq!(best(true, false, true), Some(Backend::Avx2));
    assert_eq!(best(false, true, true), Some(Backend::Scalar));
}
