// SPDX-License-Identifier: Apache-2.0
//! Ranges that samples declare end at powers of two.

use num_complex::Complex64;
use proptest::prelude::*;
use ringmill_compiler::ckks::{InputRange, Options};
use ringmill_compiler::{CompileError, Compiles};
use ringmill_isa::macros::{MacroInput, Visibility};
use ringmill_schemes::ckks::Ckks;

/// Returns the largest power of two up to the radius of a disc.
fn power_below(radius: f64) -> f64 {
    Ckks::narrowed(&InputRange::Disc { radius }).magnitude()
}

/// Returns the magnitude of the range that a sample of this one value declares, with the margin 1.
fn power_above(value: f64) -> Result<f64, CompileError> {
    let options = Options {
        sample: Some(vec![vec![Complex64::new(value, 0.0)]]),
        margin: 1.0,
        ..Options::default()
    };
    let x = MacroInput {
        name: "x".to_owned(),
        visibility: Visibility::Encrypted,
    };
    Ok(Ckks::ranges(&options, &[x])?[0].magnitude())
}

proptest! {
    #[test]
    fn powers_of_two_lie_closely_on_both_sides(mantissa in 1.0..2.0f64, exponent in -1000..1000i32) {
        let power = f64::from(exponent).exp2();
        prop_assert_eq!(power_below(mantissa * power), power);
        let above = if mantissa > 1.0 { 2.0 * power } else { power };
        prop_assert_eq!(power_above(mantissa * power).unwrap(), above);
    }
}

#[test]
fn powers_of_two_stay_and_the_ends_have_some() {
    for power in [1.0, 0.125, f64::MIN_POSITIVE, 2f64.powi(1023)] {
        let above = power_above(power).unwrap();
        assert_eq!((power_below(power), above), (power, power));
    }
    assert_eq!(power_above(5e-324).unwrap(), f64::MIN_POSITIVE);
    // The next power of two is infinity, which is no end of a range.
    let refused = power_above(f64::MAX).unwrap_err();
    assert!(
        matches!(&refused, CompileError::Range { why, .. } if why.contains("inf")),
        "{refused}"
    );
}
