// SPDX-License-Identifier: Apache-2.0
//! Tests the inputs that BGV refuses, the names of its procedures, and its files.

use ringmill_device::ResidueVec;
use ringmill_schemes::bgv::{
    Bgv, BgvError, Ciphertext, Evaluator, ExactError, Factor, KeyForm, KeyGenerator, Level, Op,
    OpKey, Operator, Params, ParamsBuilder, PlainModulus, Plaintext, ProcCache, SecurityLevel,
    SecurityTable, file,
};

use ringmill_schemes::file::{FileError, InsecureParams};
use ringmill_schemes::rlwe::ops::{Immediate, Variant};
use ringmill_schemes::rlwe::{KeyRequest, RlweError};
use ringmill_schemes::roles::{self, KeyHolder as _, Operator as _};
use ringmill_schemes::scheme::At;
use ringmill_schemes::{Operation, ParameterSet, Scheme, bgv, ckks};

use super::setup::{Setup, params};

fn builder(t: u64) -> ParamsBuilder {
    Params::builder(5, PlainModulus::new(t).unwrap()).allow_insecure_parameters_for_tests_only()
}

#[test]
fn parameters_that_cannot_work_are_refused() {
    let q = 7681;
    let exact = |e| Err(BgvError::Exact(e));
    for plain in [q, 3 * q] {
        let refused = builder(plain).primes(&[q], &[12289]).build();
        assert_eq!(refused, exact(ExactError::NotCoprime { plain, prime: q }));
    }
    let refused = builder(q).primes(&[12289], &[q]).build();
    assert!(matches!(
        refused,
        Err(BgvError::Exact(ExactError::NotCoprime { .. }))
    ));
    let refused = builder(7682).primes(&[q], &[12289]).build();
    let (plain, bits) = (7682, 13);
    assert_eq!(refused, exact(ExactError::PlainTooLarge { plain, bits }));
    let t = PlainModulus::new(65537).unwrap();
    let secure = |bits: &[u32]| {
        Params::builder(13, t)
            .prime_bits(bits, &[60])
            .security(SecurityTable::default(), SecurityLevel::Bits128)
            .build()
    };
    assert!(secure(&[50, 50, 50]).is_ok());
    assert!(matches!(
        secure(&[60, 60, 60]),
        Err(BgvError::Rlwe(RlweError::Insecure { .. }))
    ));
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let setup = Setup::new(params(5, 193, &[50, 50], &[50]));
    let e = &setup.evaluator;
    let a = setup.encrypt(&[1, 2, 3]);
    let low = e.mod_switch_to_next(&a).unwrap();
    let product = e.square(&a).unwrap();
    let is_level = |r: Result<Ciphertext, BgvError>| {
        assert!(
            matches!(r, Err(BgvError::Rlwe(RlweError::LevelMismatch { .. }))),
            "{r:?}"
        );
    };
    let is_size = |r: Result<Ciphertext, BgvError>| {
        assert!(
            matches!(r, Err(BgvError::Rlwe(RlweError::Size { .. }))),
            "{r:?}"
        );
    };
    let is_product = |r: Result<Ciphertext, BgvError>, sizes| {
        let BgvError::Rlwe(RlweError::Product {
            first,
            second,
            most,
        }) = r.unwrap_err()
        else {
            panic!("another error");
        };
        assert_eq!(((first, second), most), (sizes, Ciphertext::MAX_SIZE));
    };
    is_level(e.add(&a, &low));
    is_level(e.sub(&low, &a));
    is_level(e.mul(&a, &low));
    is_level(e.mod_switch(&low, Level(1)));
    is_product(e.mul(&product, &a), (3, 2));
    is_product(e.mul(&a, &product), (2, 3));
    is_product(e.square(&product), (3, 3));
    is_size(e.relinearise(&a, &setup.relin));
    is_size(e.rotate_rows(&product, 1, &setup.galois));
    is_size(e.rotate_columns(&product, &setup.galois));
    let bottom = e.mod_switch_to_next(&low);
    assert!(matches!(
        bottom,
        Err(BgvError::Rlwe(RlweError::TooDeep { .. }))
    ));
    let transparent = Err(BgvError::Rlwe(RlweError::Transparent));
    assert_eq!(e.sub(&a, &a), transparent);
    assert_eq!(e.add(&a, &e.negate(&a).unwrap()), transparent);
    let zero = Plaintext::new(&*setup.params, vec![0; 32]).unwrap();
    assert_eq!(e.mul_plain(&a, &zero), transparent);

    // Objects of other parameters or of another key are refused.
    let other = Setup::new(params(5, 97 * 193, &[50, 50], &[50]));
    let theirs = other.encrypt(&[1]);
    let is_other = |r: Result<(), BgvError>| {
        assert!(
            matches!(r, Err(BgvError::Rlwe(RlweError::OtherParams { .. }))),
            "{r:?}"
        );
    };
    is_other(e.add(&a, &theirs).map(drop));
    is_other(e.mul_relin(&a, &a, &other.relin).map(drop));
    is_other(setup.decryptor.decrypt(&theirs).map(drop));
    is_other(setup.decryptor.noise_budget(&theirs).map(drop));
    let plain = Plaintext::new(&*other.params, vec![0; 32]).unwrap();
    is_other(e.add_plain(&a, &plain).map(drop));
    is_other(setup.public.encrypt(&plain).map(drop));
    let stranger = KeyGenerator::new(setup.params.clone()).unwrap();
    let relin = stranger.relin_key(KeyForm::Seeded).unwrap();
    assert!(matches!(
        e.mul_relin(&a, &a, &relin),
        Err(BgvError::Rlwe(RlweError::OtherKeys { .. }))
    ));
}

#[test]
fn a_factor_is_a_unit_modulo_t() {
    let setup = Setup::new(params(5, 9, &[50, 50], &[50]));
    let a = setup.encrypt(&[1, 2, 3]);
    let t = ringmill_math::Modulus::new(9).unwrap();
    let good = Factor::new(4, t).unwrap();
    let polys = || {
        a.polys()
            .iter()
            .cloned()
            .map(ResidueVec::into_wide)
            .collect()
    };
    let held = Ciphertext::new(&setup.params, a.level(), good, polys()).unwrap();
    assert_eq!(held.annotation().value(), 4);
    for bad in [0, 3, 6, 9, 10, u64::MAX] {
        let refused = Factor::new(bad, t);
        assert_eq!(
            refused,
            Err(BgvError::Factor {
                got: bad,
                modulus: 9
            })
        );
        let mut bytes = file::write_ciphertext(&setup.params, &held).unwrap();
        let at = bytes
            .windows(8)
            .rposition(|w| w == 4u64.to_le_bytes())
            .unwrap();
        bytes[at..at + 8].copy_from_slice(&bad.to_le_bytes());
        use sha2::{Digest, Sha256};
        let end = bytes.len() - 32;
        let sum = Sha256::digest(&bytes[..end]);
        bytes[end..].copy_from_slice(&sum);
        let read = file::read_ciphertext(&bytes, &setup.params);
        assert!(matches!(read, Err(FileError::Refused(_))), "{read:?}");
    }
    // A correction factor of a larger plaintext modulus is refused.
    let large = Factor::new(10, ringmill_math::Modulus::new(97).unwrap()).unwrap();
    let refused = Ciphertext::new(&setup.params, a.level(), large, polys());
    assert!(matches!(refused, Err(BgvError::Factor { got: 10, .. })));
}

#[test]
fn a_ciphertext_has_two_or_three_polynomials() {
    let setup = Setup::new(params(5, 193, &[50, 50], &[50]));
    let a = setup.encrypt(&[1, 2, 3]);
    let poly = a.polys()[0].clone().into_wide();
    let t = ringmill_math::Modulus::new(193).unwrap();
    for size in 0..6 {
        let factor = Factor::new(1, t).unwrap();
        let polys = vec![poly.clone(); size];
        match Ciphertext::new(&setup.params, a.level(), factor, polys) {
            Ok(made) => assert!((2..=3).contains(&size) && made.polys().len() == size),
            Err(BgvError::Rlwe(RlweError::Size { got, .. })) => {
                assert!(got == size && !(2..=3).contains(&size));
            }
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn procedures_are_named_once_and_variants_that_are_none_are_refused() {
    let params = params(5, 193, &[50, 40, 40], &[50]);
    let (cache, level) = (ProcCache::new(params.clone()), Level(1));
    let t = ringmill_math::Modulus::new(193).unwrap();
    let factor = |f| Factor::new(f, t).unwrap();
    let keys = [
        OpKey::add_plain(level, 2, factor(1)),
        OpKey::add_plain(level, 2, factor(5)),
        OpKey::sub_plain(level, 3, factor(5)),
        OpKey::mul_plain(level, 3),
        OpKey::mul_scalar(level, 2, vec![3, 3]),
        OpKey::mod_switch(level, 3),
        OpKey::mul_relin(level, true),
        OpKey::square_relin(level, false),
    ];
    let mut names: Vec<String> = keys.iter().map(Operation::name).collect();
    for key in &keys {
        assert_eq!(cache.get(key).unwrap().name, key.name());
        assert!(key.name().starts_with("bgv."));
    }
    // The factor is an immediate: one procedure serves all.
    assert_eq!(keys[0].opened().0, keys[1].opened().0);
    assert_eq!(keys[1].opened().1, [5]);
    names.sort();
    names.dedup();
    assert_eq!(names.len(), keys.len());
    let with = |immediate| Variant {
        level,
        sizes: vec![2],
        immediate,
        plain: 0,
        seeded: false,
        shape: Default::default(),
    };
    for key in [
        OpKey::mul(Level(3)),
        OpKey::mod_switch(Level(0), 2),
        OpKey::mod_switch(level, 1),
        OpKey::mul_scalar(level, 2, vec![1]),
        OpKey::mul_scalar(level, 2, vec![params.moduli()[0], 0]),
        OpKey::new(Op::AddPlain, with(Immediate::PlainResidue(193))),
        OpKey::new(Op::AddPlain, with(Immediate::None)),
        OpKey::new(Op::MulPlain, with(Immediate::PlainResidue(1))),
    ] {
        assert!(cache.get(&key).is_err(), "{key:?}");
    }
}

#[test]
fn files_go_round_and_are_of_one_scheme_and_one_set() {
    let setup = Setup::new(params(5, 193, &[50, 50], &[50]));
    let (params, a) = (&setup.params, setup.encrypt(&[1, 2, 3]));
    let a = setup.evaluator.mod_switch_to_next(&a).unwrap();
    assert_ne!(*a.annotation(), Factor::ONE);
    let bytes = file::write_params(params);
    let read = file::read_params(&bytes, InsecureParams::AllowForTestsOnly).unwrap();
    assert_eq!(&read, params);
    assert!(file::read_params(&bytes, InsecureParams::Refuse).is_err());
    let cipher = file::write_ciphertext(params, &a).unwrap();
    assert_eq!(file::read_ciphertext(&cipher, params), Ok(a));
    let plain = Plaintext::new(&**params, (0..32).collect()).unwrap();
    let written = file::write_plaintext(&plain);
    assert_eq!(file::read_plaintext(&written, params), Ok(plain.clone()));
    let seeded = setup.secret.encrypt_at(&plain, Level(1)).unwrap();
    let written = file::write_ciphertext(params, &seeded).unwrap();
    assert_eq!(file::read_ciphertext(&written, params), Ok(seeded));

    let theirs = ckks::Params::builder(5).prime_bits(&[50, 50], &[50]);
    let theirs = theirs.allow_insecure_parameters_for_tests_only();
    let theirs = theirs.build().unwrap();
    let refused = ckks::file::read_ciphertext(&cipher, &theirs);
    assert!(matches!(refused, Err(FileError::Scheme { got: 2, .. })));
    for length in 0..bytes.len() {
        let cut = file::read_params(&bytes[..length], InsecureParams::AllowForTestsOnly);
        assert!(cut.is_err());
    }
    assert_eq!((Bgv::TAG.byte, Bgv::TAG.name), (2, "BGV"));
}

#[test]
fn altered_parameters_are_refused_whatever_is_altered() {
    use sha2::{Digest, Sha256};
    let params = params(5, 193, &[50, 50], &[50]);
    let good = file::write_params(&params);
    for at in 72..good.len() - 32 {
        for flip in [1u8, 0x80] {
            let mut bad = good.clone();
            bad[at] ^= flip;
            let end = bad.len() - 32;
            let sum = Sha256::digest(&bad[..end]);
            bad[end..].copy_from_slice(&sum);
            let read = file::read_params(&bad, InsecureParams::AllowForTestsOnly);
            assert!(read.is_err(), "byte {at}");
        }
    }
}

#[test]
fn the_parties_compute_together() {
    let params = params(6, 7681, &[60, 60, 60], &[60]);
    let holder = <bgv::KeyHolder as roles::KeyHolder>::new(params.clone()).unwrap();
    let operator = <Operator as roles::Operator>::new(params.clone());
    let at = |annotation| At {
        level: params.max_level(),
        annotation,
    };
    // A message may be encrypted under any factor.
    let factor = Factor::new(77, ringmill_math::Modulus::new(7681).unwrap()).unwrap();
    for at in [at(Factor::ONE), at(factor)] {
        let cipher = holder.encrypt(&vec![1, -2, 3, -3840], &at).unwrap();
        operator.check(&cipher).unwrap();
        assert!(holder.noise_budget(&cipher).unwrap() > 100);
        let requests = [
            KeyRequest::Relin,
            KeyRequest::Galois(params.conjugation_element()),
        ];
        let keys = holder.evaluation_keys(&requests, true).unwrap();
        let key = operator.key(&keys, &KeyRequest::Relin, false).unwrap();
        assert!(key.is_some_and(|key| key.seed().is_none()));
        let weights = operator.encode(&vec![10, 10, 10, 1], &at).unwrap();
        let evaluator = Evaluator::new(params.clone());
        let result = evaluator.mul_plain(&cipher, &weights).unwrap();
        let polys = result.into_polys().into_iter();
        let polys = polys.map(ResidueVec::into_wide).collect();
        let result = operator.ciphertext(&at, polys, holder.key_id()).unwrap();
        let opened = holder.decrypt(&result).unwrap();
        assert_eq!(holder.decode(&opened, 5).unwrap(), [10, -20, 30, -3840, 10]);
        assert!(holder.encrypt(&vec![3841], &at).is_err());
        assert!(Bgv::agree(&at, &at) && Bgv::place(&at).contains("level 2 and factor"));
    }
    assert!(params.summary().contains("BGV") && ParameterSet::summary(&*params).contains("7681"));
}
