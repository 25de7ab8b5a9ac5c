// SPDX-License-Identifier: Apache-2.0
//! Tests which values of the environment variable are accepted, and what they mean.

use ringmill_math::internals::{Mode, Policy, parse_policy};
use ringmill_math::plans::VARIABLE;
use ringmill_math::{Backend, MathError};

const TWO: [Backend; 2] = [Backend::Scalar, Backend::Avx2];

#[test]
fn a_level_and_a_way_to_choose_in_either_order() {
    let policy = |level, mode| Ok(Policy { level, mode });
    for (text, expected) in [
        ("", policy(Backend::Avx2, Mode::Timed)),
        ("first", policy(Backend::Avx2, Mode::First)),
        ("scalar", policy(Backend::Scalar, Mode::Timed)),
        (
            " random:7 , scalar",
            policy(Backend::Scalar, Mode::Random(7)),
        ),
        ("avx2,timed", policy(Backend::Avx2, Mode::Timed)),
        (
            "avx512",
            Err(MathError::BackendUnavailable {
                missing: Backend::Avx512,
                available: TWO.to_vec(),
            }),
        ),
    ] {
        assert_eq!(parse_policy(text, &TWO), expected, "{text}");
    }
}

#[test]
fn a_level_that_the_processor_lacks_is_refused_with_those_that_it_has() {
    let error = parse_policy("first,avx512", &TWO).unwrap_err().to_string();
    for said in [VARIABLE, "no avx512 kernels", "but scalar, avx2;"] {
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn what_says_nothing_is_refused_by_the_name_of_the_variable() {
    for text in [
        "fast",
        "random",
        "random:",
        "random:-1",
        "first,timed",
        "avx2,scalar",
        "level:avx2",
    ] {
        let error = parse_policy(text, &TWO).unwrap_err().to_string();
        assert!(error.contains(VARIABLE), "{error}");
    }
}
