// SPDX-License-Identifier: Apache-2.0
//! Tests the rounding and the representatives of coefficients against wide integers.

use ringmill_math::Modulus;
use ringmill_math::torus::Coefficients;

#[test]
fn switching_rounds_to_the_nearest_multiple() {
    for q in [
        Coefficients::word(32).unwrap(),
        Coefficients::word(64).unwrap(),
        Coefficients::Prime(Modulus::new(1073692673).unwrap()),
        Coefficients::Prime(Modulus::new((1 << 52) - (1 << 12) + 1).unwrap()),
    ] {
        let modulus = q.modulus();
        for log in [4u32, 11, 12] {
            for turns in 0..=1u64 << log {
                let scaled = 2 * modulus * u128::from(turns) + (1 << log);
                let exact = (scaled >> (log + 1)) % modulus;
                assert_eq!(u128::from(q.fraction(turns, log)), exact, "{q:?} {turns}");
            }
            for step in 0..997u128 {
                let x = (modulus - 1) * step / 996;
                let exact = (2 * (x << log) + modulus) / (2 * modulus) % (1 << log);
                assert_eq!(u128::from(q.switch(x as u64, log)), exact, "{q:?} {x}");
            }
        }
    }
}

#[test]
fn representatives_are_nearest_to_zero() {
    for q in [
        Coefficients::word(32).unwrap(),
        Coefficients::word(64).unwrap(),
        Coefficients::Prime(Modulus::new(1073692673).unwrap()),
    ] {
        for x in [0i64, 1, -1, 12345, -536846336] {
            assert_eq!(q.centred(q.from_i64(x)), x, "{q:?}");
            let y = q.from_i64(7);
            assert_eq!(q.centred(q.add(q.from_i64(x), y)), x + 7);
            assert_eq!(q.sub(q.add(q.from_i64(x), y), y), q.from_i64(x));
        }
        assert_eq!(q.add(q.fraction(1, 3), q.fraction(7, 3)), q.add(0, 0));
    }
}
