// SPDX-License-Identifier: Apache-2.0
//! Tests the security tables of parameter files: which ones a reader accepts, and which parameters the tables of sparse
//! secrets allow.

use std::sync::Arc;

use ringmill_schemes::ckks::{self, Params, SecretDistribution, SecurityLevel, SecurityTable};
use ringmill_schemes::exact::PlainModulus;
use ringmill_schemes::file::{Accepted, AcceptedTables, FileError, InsecureParams};
use ringmill_schemes::rlwe::RlweError;
use ringmill_schemes::rlwe::security::bound;
use ringmill_schemes::scheme::identity;
use ringmill_schemes::{bfv, bgv};
use sha2::{Digest, Sha256};

/// The number of bytes of a file before its payload. The parameters' identity begins at byte 16, and the payload's
/// length is at the end.
const HEADER: usize = 72;
/// The position of the security table's number in a parameter file. `OPT_OUT` is that of the insecure opt-out.
const TABLE: usize = HEADER + 6;
const OPT_OUT: usize = HEADER + 7;

const BITS: SecurityLevel = SecurityLevel::Bits128;

/// Returns sizes in bits of ciphertext primes, and of a special prime, whose product has exactly `bits` bits.
fn sizes(bits: u32) -> (Vec<u32>, u32) {
    let count = bits.div_ceil(58).max(2);
    let mut sizes: Vec<u32> = (0..count).map(|i| (bits + i) / count).collect();
    let special = sizes.pop().unwrap();
    (sizes, special)
}

fn ring(log_n: u8, bits: u32) -> ckks::ParamsBuilder {
    let (cipher, special) = sizes(bits);
    Params::builder(log_n).prime_bits(&cipher, &[special])
}

fn sparse(log_n: u8, weight: u32, bits: u32) -> ckks::ParamsBuilder {
    ring(log_n, bits)
        .secret(SecretDistribution::SparseTernary { weight })
        .security(SecurityTable::SparseTernary2026, BITS)
}

/// Returns the file with the bytes `set` of its payload changed, and with the identity and the checksum of the new
/// content. Anybody can write such a file.
fn forged(file: &[u8], set: &[(usize, u8)]) -> Vec<u8> {
    let mut file = file[..file.len() - 32].to_vec();
    for &(at, byte) in set {
        file[at] = byte;
    }
    let id = identity(&file[HEADER..]);
    file[16..48].copy_from_slice(&id);
    let sum = Sha256::digest(&file);
    file.extend(sum);
    file
}

/// Returns a file of parameters with a sparse secret that passed an earlier security table and no longer pass.
fn written_before(weight: u32, log_n: u8, bits: u32) -> Vec<u8> {
    let params = sparse(log_n, weight, bits).allow_insecure_parameters_for_tests_only();
    let params = params.build().unwrap();
    assert!(params.security().insecure.is_some() && params.security().qp_bits == bits);
    let file = ckks::file::write_params(&params);
    assert_eq!((file[TABLE], file[OPT_OUT]), (4, 1));
    forged(&file, &[(OPT_OUT, 0)])
}

fn named(name: &str) -> AcceptedTables {
    AcceptedTables::named([name]).unwrap()
}

#[test]
fn the_2018_standard_and_estimates_are_accepted_by_name_alone() {
    let tables = [
        ("standard_2018", SecurityTable::Standard2018Ternary, 438),
        ("estimator_2026", SecurityTable::Estimator2026Ternary, 430),
    ];
    for (name, table, bits) in tables {
        let t = PlainModulus::new(97).unwrap();
        let (cipher, special) = sizes(bits);
        let ckks = ring(14, bits).security(table, BITS).build().unwrap();
        let bfv = bfv::Params::builder(14, t).prime_bits(&cipher, &[special]);
        let bfv = bfv.security(table, BITS).build().unwrap();
        let bgv = bgv::Params::builder(14, t).prime_bits(&cipher, &[special]);
        let bgv = bgv.security(table, BITS).build().unwrap();
        let files = [
            ckks::file::write_params(&ckks),
            bfv::file::write_params(&bfv),
            bgv::file::write_params(&bgv),
        ];
        let read = |accepted: Accepted| {
            [
                ckks::file::read_params(&files[0], accepted).map(|read| assert_eq!(read, ckks)),
                bfv::file::read_params(&files[1], accepted).map(|read| assert_eq!(read, bfv)),
                bgv::file::read_params(&files[2], accepted).map(|read| assert_eq!(read, bgv)),
            ]
        };
        // A reader that allows insecure parameters must still accept the table by name.
        let refused = [
            Accepted::default(),
            InsecureParams::AllowForTestsOnly.into(),
            named("guidelines_2024").into(),
        ];
        for accepted in refused {
            let tables = accepted.tables;
            let error = FileError::Table {
                table,
                accepted: tables,
            };
            for read in read(accepted) {
                assert_eq!(read, Err(error.clone()));
            }
            let told = error.to_string();
            let full = table.name();
            for part in [full, "guidelines_2024.ternary", &format!("--table {full}")] {
                assert!(told.contains(part), "{told}");
            }
        }
        let several = AcceptedTables::named(["guidelines_2024", name]).unwrap();
        for accepted in [named(name), several] {
            assert!(read(accepted.into()).iter().all(Result::is_ok));
        }
    }
}

#[test]
fn the_guidelines_and_sparse_secrets_are_accepted_unasked() {
    let gaussian = ring(14, 432)
        .secret(SecretDistribution::Gaussian)
        .security(SecurityTable::Guidelines2024Gaussian, BITS);
    for made in [ring(14, 430), gaussian, sparse(14, 64, 229)] {
        let params = made.build().unwrap();
        let file = ckks::file::write_params(&params);
        let read = |accepted: Accepted| ckks::file::read_params(&file, accepted);
        assert_eq!(read(Accepted::default()).as_ref(), Ok(&params));
        let other = read(named("standard_2018").into());
        assert!(matches!(other, Err(FileError::Table { .. })));
        let own = params.security().table.name();
        assert_eq!(read(named(own).into()).as_ref(), Ok(&params));
    }
}

/// The builder applies the smaller bound for every weight with a row and for some others, at ring degrees 2^14 to 2^17.
#[test]
fn the_builder_holds_sparse_secrets_to_the_smaller_bound() {
    for weight in [32, 64, 100, 128, 192, 256, 512, 1024, 4096] {
        for log_n in 14..=17 {
            let secret = SecretDistribution::SparseTernary { weight };
            let table = SecurityTable::SparseTernary2026;
            let bound = bound(table, secret, BITS, log_n).unwrap().unwrap();
            let made = sparse(log_n, weight, bound).build().unwrap();
            assert_eq!(made.security().qp_bits, bound);
            let summary = made.security().summary();
            let expected = format!("at most {bound}");
            assert!(
                summary.contains("128-bit by sparse_ternary_2026") && summary.ends_with(&expected),
                "{summary}"
            );
            let refused = sparse(log_n, weight, bound + 1).build().unwrap_err();
            let refused = refused.to_string();
            assert!(
                refused.contains(&format!("sparse_ternary_2026 allows at most {bound} ")),
                "{refused}"
            );
        }
    }
    // By Ringmill's own estimates alone, a modulus of 268 bits would do for a weight of 64 at N = 2^14.
    assert!(sparse(14, 64, 229).build().is_ok() && sparse(14, 64, 268).build().is_err());
}

#[test]
fn a_weight_below_32_is_refused_unless_insecurity_is_asked_for() {
    for (weight, log_n) in [(31, 16), (8, 16), (1, 17), (31, 12)] {
        let refused = sparse(log_n, weight, 60).build().unwrap_err().to_string();
        assert!(refused.contains(&format!("weight {weight}")), "{refused}");
        assert!(refused.contains("weights from 32"), "{refused}");
        let allowed = sparse(log_n, weight, 60).allow_insecure_parameters_for_tests_only();
        let allowed = allowed.build().unwrap();
        assert!(allowed.security().summary().starts_with("INSECURE"));
        let file = forged(&ckks::file::write_params(&allowed), &[(OPT_OUT, 0)]);
        let refused = ckks::file::read_params(&file, InsecureParams::Refuse);
        assert!(matches!(
            refused,
            Err(FileError::Contents(RlweError::Insecure { .. }))
        ));
        assert!(ckks::file::read_params(&file, InsecureParams::AllowForTestsOnly).is_ok());
    }
}

#[test]
fn a_saved_file_that_no_longer_passes_is_refused_unless_its_insecurity_is_asked_for() {
    // These are within Ringmill's own estimates and above the bounds of the rotated hybrid attack, 229, 468 and 1553.
    for (weight, log_n, bits) in [(64, 14, 268), (64, 15, 469), (256, 16, 1676)] {
        let file = written_before(weight, log_n, bits);
        let refused = ckks::file::read_params(&file, InsecureParams::Refuse).unwrap_err();
        let told = refused.to_string();
        assert!(
            told.contains("sparse_ternary_2026 allows at most"),
            "{told}"
        );
        let read = ckks::file::read_params(&file, InsecureParams::AllowForTestsOnly).unwrap();
        // The parameters keep the identity of the file, so objects that were made with them can be read.
        assert_eq!(ckks::file::write_params(&read), file);
        assert!(read.insecure_allowed());
        assert!(read.security().summary().starts_with("INSECURE"));
    }
    // Parameters that pass the table are the same for every reader.
    let params = sparse(15, 128, 600).build().unwrap();
    let file = ckks::file::write_params(&params);
    let read = ckks::file::read_params(&file, InsecureParams::AllowForTestsOnly).unwrap();
    assert_eq!(read, params);
    assert_eq!(ckks::file::write_params(&read), file);
    assert_eq!(read.security(), params.security());
}

/// A file is accepted only if the reader accepts the table that the file names, and if that table allows the
/// parameters. A table for other secrets allows none.
#[test]
fn a_hostile_file_gains_nothing_by_the_table_it_names() {
    let dense: Arc<Params> = ring(14, 430).build().unwrap();
    let larger = ring(14, 438).security(SecurityTable::Standard2018Ternary, BITS);
    let sparse = sparse(14, 256, 388).build().unwrap();
    for (params, own, also) in [
        (dense, 0, [2, 3].as_slice()),
        (larger.build().unwrap(), 2, &[]),
        (sparse, 4, &[]),
    ] {
        let file = ckks::file::write_params(&params);
        for byte in 0..=u8::MAX {
            let file = forged(&file, &[(TABLE, byte)]);
            let all = AcceptedTables::of(&SecurityTable::ALL);
            let read = ckks::file::read_params(&file, all);
            let holds = byte == own || also.contains(&byte);
            assert_eq!(read.is_ok(), holds, "{own} as {byte}: {read:?}");
            let read = ckks::file::read_params(&file, Accepted::default());
            let unasked = [0, 1, 4].contains(&byte);
            assert_eq!(read.is_ok(), holds && unasked, "{own} as {byte}: {read:?}");
            for table in SecurityTable::ALL {
                let read = ckks::file::read_params(&file, AcceptedTables::of(&[table]));
                assert_eq!(read.is_ok(), holds && table as u8 == byte);
            }
            // With the opt-out, too.
            let file = forged(&file, &[(OPT_OUT, 1)]);
            let allowed = ckks::file::read_params(&file, InsecureParams::AllowForTestsOnly);
            assert_eq!(allowed.is_ok(), unasked, "{byte}");
        }
    }
}
