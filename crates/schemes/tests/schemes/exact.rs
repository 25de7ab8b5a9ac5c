// SPDX-License-Identifier: Apache-2.0
//! Tests encoders of integers as polynomials modulo t, with parameters of a made-up scheme.

use std::sync::Arc;

use num_bigint::BigInt;
use ringmill_math::{NttPlan, Ring};
use ringmill_schemes::SchemeTag;
use ringmill_schemes::exact::{
    BatchEncoder, CoefficientEncoder, Encoder, ExactError, ExactParams, IntegerEncoder, Integers,
    PlainModulus, Plaintext, file,
};
use ringmill_schemes::file::FileError;
use ringmill_schemes::rlwe::{self, RlweError};

const TAG: SchemeTag = SchemeTag {
    name: "test",
    byte: 251,
};

#[derive(Debug)]
struct Params {
    ring: Arc<rlwe::Params>,
    t: PlainModulus,
}

impl Params {
    fn new(log_n: u8, t: u64) -> Arc<Self> {
        let t = PlainModulus::new(t).unwrap();
        let builder = rlwe::Params::builder(log_n).prime_bits(&[50, 40], &[50]);
        let ring = builder.allow_insecure_parameters_for_tests_only();
        let ring = ring.build(TAG).unwrap();
        let ring = ring.with_own(t.value().to_le_bytes().to_vec(), "");
        let ring = Arc::new(ring.with_auxiliary(&[t.table_modulus()]));
        Arc::new(Self { ring, t })
    }
}

impl ExactParams for Params {
    fn shared_params(&self) -> &Arc<rlwe::Params> {
        &self.ring
    }

    fn plain_modulus(&self) -> PlainModulus {
        self.t
    }

    fn plain_index(&self) -> usize {
        self.ring.moduli().len()
    }
}

#[test]
fn plain_moduli_have_seals_limits() {
    for t in [0, 1, 1 << 60, u64::MAX] {
        assert_eq!(
            PlainModulus::new(t),
            Err(ExactError::PlainModulus { got: t })
        );
    }
    for t in [2, 3, 1 << 32, (1 << 60) - 1] {
        assert_eq!(PlainModulus::new(t).unwrap().value(), t);
    }
    // SEAL's PlainModulus::Batching(4096, 20).
    assert_eq!(PlainModulus::batching(12, 20).unwrap().value(), 1_032_193);
    assert!(PlainModulus::batching(12, 13).is_err() && PlainModulus::batching(12, 61).is_err());
    // 8193 is 1 mod 2N and no prime, 65539 is a prime and not 1 mod 2N, and 65536 is neither.
    for t in [8193, 65_539, 65_536] {
        assert!(!PlainModulus::new(t).unwrap().is_batchable(12), "{t}");
    }
}

#[test]
fn integers_stand_for_residues_both_ways() {
    for t in [2, 3, 4, 5, 16, 65_537, 1 << 32, (1 << 60) - 1, 1 << 59] {
        let t = PlainModulus::new(t).unwrap();
        for which in [Integers::Signed, Integers::Unsigned] {
            let range = t.integers(which);
            assert_eq!(range.end() - range.start() + 1, i128::from(t.value()));
            for x in [*range.start(), *range.end(), 0, *range.start() / 2] {
                let residue = t.residue(0, x, which).unwrap();
                let back = match which {
                    Integers::Signed => i128::from(t.centred(residue)),
                    Integers::Unsigned => i128::from(residue),
                };
                assert_eq!(back, x, "{t:?}");
                let upper = residue >= t.upper_half();
                assert_eq!(upper, t.centred(residue) < 0, "{t:?} {residue}");
            }
            for x in [range.start() - 1, range.end() + 1, i128::MIN, i128::MAX] {
                let refused = t.residue(7, x, which);
                assert!(matches!(
                    refused,
                    Err(ExactError::OutOfRange { index: 7, got, .. }) if got == x
                ));
            }
        }
    }
}

#[test]
fn slots_are_a_matrix_that_galois_elements_turn() {
    let params = Params::new(4, 97);
    let encoder = BatchEncoder::new(params.clone()).unwrap();
    let values: Vec<i64> = (0..16).map(|i| 3 * i - 20).collect();
    let plain = encoder.encode(&values, Integers::Signed).unwrap();
    assert_eq!(encoder.decode_signed(&plain).unwrap(), values);
    let unsigned = encoder.decode_unsigned(&plain).unwrap();
    assert!(
        unsigned
            .iter()
            .zip(&values)
            .all(|(&u, &v)| u as i64 == v.rem_euclid(97))
    );
    // m(x^g) encodes the matrix with its rows rotated or exchanged.
    let turned = |g: usize| {
        let mut out = vec![0u64; 16];
        for (i, &c) in plain.residues().iter().enumerate() {
            let e = i * g % 32;
            out[e % 16] = if e < 16 { c } else { (97 - c) % 97 };
        }
        let out = Plaintext::new(&*params, out).unwrap();
        encoder.decode_signed(&out).unwrap()
    };
    let g = params.ring.galois_element(3).unwrap().0 as usize;
    let expected: Vec<i64> = (0..16).map(|i| values[i / 8 * 8 + (i + 3) % 8]).collect();
    assert_eq!(turned(g), expected);
    let swapped: Vec<i64> = (0..16).map(|i| values[(i + 8) % 16]).collect();
    assert_eq!(turned(31), swapped);
}

#[test]
fn products_of_polynomials_are_products_of_slots() {
    let params = Params::new(5, 193);
    let encoder = BatchEncoder::new(params.clone()).unwrap();
    let a: Vec<u64> = (0..32).map(|i| i * 5 % 193).collect();
    let b: Vec<u64> = (0..32).map(|i| (i * i + 7) % 193).collect();
    let (x, y) = (
        encoder.encode(&a, Integers::Unsigned).unwrap(),
        encoder.encode(&b, Integers::Unsigned).unwrap(),
    );
    let mut product = vec![0u64; 32];
    for (i, x) in x.residues().iter().enumerate() {
        for (j, y) in y.residues().iter().enumerate() {
            let term = x * y % 193;
            let place = &mut product[(i + j) % 32];
            *place = (*place + if i + j < 32 { term } else { 193 - term }) % 193;
        }
    }
    let product = Plaintext::new(&*params, product).unwrap();
    let slots = encoder.decode_unsigned(&product).unwrap();
    for (i, slot) in slots.into_iter().enumerate() {
        assert_eq!(slot, a[i] * b[i] % 193);
    }
    let plan = NttPlan::shared(params.t.reducer(), Ring::full(5)).unwrap();
    let mut form = x.residues().to_vec();
    plan.forward(&mut form).unwrap();
    form.sort_unstable();
    let mut sorted = a.clone();
    sorted.sort_unstable();
    assert_eq!(form, sorted);
}

#[test]
fn encoders_refuse_what_does_not_fit() {
    let params = Params::new(4, 97);
    let (slots, coefficients) = (
        BatchEncoder::new(params.clone()).unwrap(),
        CoefficientEncoder::new(params.clone()),
    );
    let many = [0i64; 17];
    let too_many = Err(ExactError::TooMany { got: 17, max: 16 });
    assert_eq!(slots.encode(&many, Integers::Signed), too_many);
    assert_eq!(coefficients.encode(&many, Integers::Signed), too_many);
    for (values, which) in [
        ([1, 49], Integers::Signed),
        ([1, -49], Integers::Signed),
        ([1, 97], Integers::Unsigned),
        ([1, -1], Integers::Unsigned),
    ] {
        let refused = slots.encode(&values, which);
        assert!(matches!(
            refused,
            Err(ExactError::OutOfRange { index: 1, .. })
        ));
    }
    let large = [u64::MAX];
    assert!(slots.encode(&large, Integers::Unsigned).is_err());
    let other = Params::new(4, 16);
    assert!(matches!(
        BatchEncoder::new(other.clone()),
        Err(ExactError::NotBatchable { got: 16, order: 32 })
    ));
    assert!(matches!(
        Encoder::new(other.clone()).unwrap(),
        Encoder::Coefficients(_)
    ));
    assert!(matches!(
        Encoder::new(params.clone()).unwrap(),
        Encoder::Slots(_)
    ));
    let theirs = CoefficientEncoder::new(other.clone());
    let theirs = theirs.encode(&[-8i64, 7], Integers::Signed).unwrap();
    assert_eq!(theirs.residues()[..3], [8, 7, 0]);
    assert!(matches!(
        slots.decode_signed(&theirs),
        Err(ExactError::Rlwe(RlweError::OtherParams { .. }))
    ));
    for residues in [vec![0; 15], vec![97; 16]] {
        assert!(Plaintext::new(&*params, residues).is_err());
    }
}

#[test]
fn integers_of_any_size_are_the_values_of_polynomials() {
    for (t, base, which) in [
        (97, 2, Integers::Signed),
        (97, 49, Integers::Signed),
        (4, 2, Integers::Signed),
        (2, 2, Integers::Unsigned),
        ((1 << 60) - 1, u32::MAX, Integers::Signed),
    ] {
        let params = Params::new(5, t);
        let encoder = IntegerEncoder::new(params.clone(), base, which).unwrap();
        let mut value = BigInt::from(0);
        for k in 0..30u32 {
            let signs: &[i32] = if which == Integers::Signed {
                &[1, -1]
            } else {
                &[1]
            };
            for &sign in signs {
                let x = &value * sign;
                let plain = encoder.encode(&x).unwrap();
                assert_eq!(encoder.decode(&plain).unwrap(), x);
            }
            value = value * 2 + (k % 3 % 2);
        }
        let longest = BigInt::from(base).pow(32) - 1;
        assert_eq!(
            encoder.decode(&encoder.encode(&longest).unwrap()).unwrap(),
            longest
        );
        let refused = encoder.encode(&(longest + 1));
        assert!(matches!(
            refused,
            Err(ExactError::TooLong { got: 33, max: 32 })
        ));
    }
    let params = Params::new(5, 97);
    for (base, which) in [
        (0, Integers::Signed),
        (1, Integers::Signed),
        (50, Integers::Signed),
        (98, Integers::Unsigned),
    ] {
        let refused = IntegerEncoder::new(params.clone(), base, which);
        assert!(matches!(refused, Err(ExactError::Base { .. })), "{base}");
    }
    let unsigned = IntegerEncoder::new(params, 97, Integers::Unsigned).unwrap();
    assert_eq!(
        unsigned.encode(&BigInt::from(-1)),
        Err(ExactError::Negative)
    );
}

#[test]
fn plaintexts_are_written_and_read() {
    let params = Params::new(4, 97);
    let plain = Plaintext::new(&*params, (0..16).collect()).unwrap();
    let bytes = file::write_plaintext(&plain);
    assert_eq!(file::read_plaintext(&bytes, &*params), Ok(plain));
    for length in 0..bytes.len() {
        assert!(file::read_plaintext(&bytes[..length], &*params).is_err());
    }
    let refused = file::read_plaintext(&bytes, &*Params::new(4, 193));
    assert!(matches!(refused, Err(FileError::OtherParams { .. })));
}
