// SPDX-License-Identifier: Apache-2.0
//! Tests files of messages and of all evaluation keys of a program.

use ringmill_isa::{Galois, Level};
use ringmill_schemes::ckks::key::KeyForm;
use ringmill_schemes::ckks::{KeyGenerator, Scale};
use ringmill_schemes::file::{
    Kind, Part, peek_kind, read_evaluation_keys, read_message, write_evaluation_keys, write_message,
};
use ringmill_schemes::rlwe::EvaluationKeys;
use sha2::{Digest, Sha256};

use crate::common::Setup;

/// The number of bytes of a file before its payload.
const HEADER: usize = 72;

fn parts(s: &Setup) -> Vec<Part<Scale>> {
    let plain = s.encode(&s.values(1));
    let (public, secret) = (s.public.encrypt(&plain), s.secret.encrypt(&plain));
    let (public, secret) = (public.unwrap(), secret.unwrap());
    let low = s.evaluator.mod_switch(&public, Level(0)).unwrap();
    vec![
        Part {
            batch: None,
            texts: vec![],
            ciphertexts: vec![("x".into(), public), ("é".into(), secret)],
        },
        Part {
            batch: Some(3),
            texts: vec!["one".into(), String::new()],
            ciphertexts: vec![("x".into(), low)],
        },
    ]
}

/// Returns the file with its payload changed by `change`, and with the length and the checksum of the new content.
fn resealed(bytes: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut payload = bytes[HEADER..bytes.len() - 32].to_vec();
    change(&mut payload);
    let mut out = bytes[..HEADER - 8].to_vec();
    out.extend((payload.len() as u64).to_le_bytes());
    out.extend(payload);
    let sum = Sha256::digest(&out);
    out.extend(sum);
    out
}

#[test]
fn a_message_is_read_as_it_was_written() {
    let s = Setup::new(&[40, 30], &[40], 4);
    for sent in [parts(&s), vec![], parts(&s)[1..].to_vec()] {
        let bytes = write_message(&s.params, &sent).unwrap();
        assert_eq!(peek_kind(&bytes), Ok(Kind::Message));
        let read = read_message::<Scale>(&bytes, &s.params).unwrap();
        assert_eq!(read, sent);
        let seeds = |parts: &[Part<Scale>]| {
            let every = parts.iter().flat_map(|part| &part.ciphertexts);
            every
                .map(|(_, c)| (c.seed().copied(), c.key_id()))
                .collect::<Vec<_>>()
        };
        assert_eq!(seeds(&read), seeds(&sent));
    }
}

/// The file of a named ciphertext is at most 64 bytes longer than its payload, without the header and the checksum.
#[test]
fn a_name_takes_few_bytes() {
    let s = Setup::new(&[40, 30], &[40], 4);
    let cipher = s.secret.encrypt(&s.encode(&s.values(1))).unwrap();
    let part = |names: &[&str]| Part {
        batch: None,
        texts: vec![],
        ciphertexts: names
            .iter()
            .map(|&name| (name.to_owned(), cipher.clone()))
            .collect(),
    };
    let length = |names: &[&str]| write_message(&s.params, &[part(names)]).unwrap().len();
    let payload = 12 + 32 + (40 + 30) * s.params.degree() / 8;
    assert_eq!(length(&["a"]), HEADER + 16 + 7 + payload + 32);
    assert_eq!(length(&["a", "weights"]) - length(&["a"]), 13 + payload);
}

#[test]
fn altered_and_foreign_messages_are_refused() {
    let s = Setup::new(&[40, 30], &[40], 4);
    let sent = parts(&s);
    let bytes = write_message(&s.params, &sent).unwrap();
    let read = |bytes: &[u8]| read_message::<Scale>(bytes, &s.params);
    for i in 0..bytes.len() {
        assert!(read(&bytes[..i]).is_err(), "cut to {i} bytes");
        let mut altered = bytes.clone();
        altered[i] ^= 1;
        assert!(read(&altered).is_err(), "byte {i}");
    }
    // With a right checksum a reader takes an altered message as another one, or refuses it, and never panics.
    let payload = bytes.len() - HEADER - 32;
    for i in 0..payload {
        for value in [0, 1, 0x7f, 0xff] {
            let file = resealed(&bytes, |p| p[i] = value);
            if let Ok(again) = read(&file) {
                assert_eq!(write_message(&s.params, &again).unwrap(), file, "byte {i}");
            }
        }
        assert!(read(&resealed(&bytes, |p| p.truncate(i))).is_err(), "{i}");
    }
    // Numbers that lie: of parts, of texts and of ciphertexts.
    for at in [0, 8, 12] {
        let many = resealed(&bytes, |p| p[at..at + 4].fill(0xff));
        assert!(read(&many).is_err(), "{at}");
    }
    // One name twice, and a name that is no UTF-8.
    let twice = Part {
        ciphertexts: [&sent[0].ciphertexts[..], &sent[0].ciphertexts[..1]].concat(),
        ..sent[0].clone()
    };
    let twice = write_message(&s.params, &[twice]).unwrap();
    assert!(
        read(&twice)
            .unwrap_err()
            .to_string()
            .contains("each name once")
    );
    let name = 4 + 4 + 4 + 4 + 4;
    let odd = resealed(&bytes, |p| p[name] = 0xff);
    assert!(read(&odd).unwrap_err().to_string().contains("UTF-8"));
    // Ciphertexts of other parameters and of other keys.
    let other = Setup::new(&[41, 30], &[40], 4);
    assert!(write_message(&other.params, &sent).is_err());
    assert!(read_message::<Scale>(&bytes, &other.params).is_err());
    let keys = KeyGenerator::new(s.params.clone()).unwrap();
    let mut mixed = sent.clone();
    let (_, cipher) = &mut mixed[1].ciphertexts[0];
    *cipher = cipher.clone().with_key_id(keys.secret_key().key_id());
    assert!(write_message(&s.params, &mixed).is_err());
}

#[test]
fn evaluation_keys_are_one_file() {
    let s = Setup::new(&[40, 30], &[40], 4);
    let elements = [Galois(3), Galois(5)];
    for form in [KeyForm::Seeded, KeyForm::Stored] {
        for relin in [None, Some(s.keygen.relin_key(form).unwrap())] {
            let keys = EvaluationKeys {
                relin,
                galois: s.keygen.galois_keys(&elements, form).unwrap(),
                ..EvaluationKeys::default()
            };
            let bytes = write_evaluation_keys(&s.params, &keys).unwrap();
            assert_eq!(peek_kind(&bytes), Ok(Kind::EvaluationKeys));
            let read = read_evaluation_keys(&bytes, &s.params).unwrap();
            assert_eq!(read.relin, keys.relin);
            assert_eq!(read.galois.iter().count(), 2);
            assert_eq!(write_evaluation_keys(&s.params, &read).unwrap(), bytes);
            for i in (0..bytes.len()).step_by(7) {
                assert!(read_evaluation_keys(&bytes[..i], &s.params).is_err());
            }
            let two = resealed(&bytes, |p| p[0] = 2);
            let refused = read_evaluation_keys(&two, &s.params).unwrap_err();
            assert!(refused.to_string().contains("0 or 1"), "{refused}");
            let long = resealed(&bytes, |p| p.push(0));
            assert!(read_evaluation_keys(&long, &s.params).is_err());
            let other = Setup::new(&[41, 30], &[40], 4);
            assert!(read_evaluation_keys(&bytes, &other.params).is_err());
            assert!(write_evaluation_keys(&other.params, &keys).is_err());
        }
    }
    let none = EvaluationKeys::default();
    let bytes = write_evaluation_keys(&s.params, &none).unwrap();
    assert!(
        read_evaluation_keys(&bytes, &s.params)
            .unwrap()
            .galois
            .is_empty()
    );
}
