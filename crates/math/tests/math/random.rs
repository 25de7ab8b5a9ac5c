// SPDX-License-Identifier: Apache-2.0
//! Tests the generator and the seed expansion against an independent ChaCha20 and the vectors of RFC
//! 8439.

use ringmill_math::{Modulus, Prng, WordModulus, expand_uniform, expand_words, kernels};

/// Computes the ChaCha20 block function, as in RFC 8439, section 2.3.
fn block(key: &[u8; 32], counter: u32, nonce: &[u8; 12]) -> [u8; 64] {
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    let mut state = [0u32; 16];
    state[..4].copy_from_slice(&[0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574]);
    for i in 0..8 {
        state[4 + i] = word(&key[4 * i..4 * i + 4]);
    }
    state[12] = counter;
    for i in 0..3 {
        state[13 + i] = word(&nonce[4 * i..4 * i + 4]);
    }
    let mut x = state;
    let mut quarter = |a: usize, b: usize, c: usize, d: usize| {
        for (target, source, mixed, turn) in
            [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)]
        {
            x[target] = x[target].wrapping_add(x[source]);
            x[mixed] = (x[mixed] ^ x[target]).rotate_left(turn);
        }
    };
    for _ in 0..10 {
        for i in 0..4 {
            quarter(i, 4 + i, 8 + i, 12 + i);
        }
        for i in 0..4 {
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
        }
    }
    let mut out = [0; 64];
    for i in 0..16 {
        out[4 * i..4 * i + 4].copy_from_slice(&x[i].wrapping_add(state[i]).to_le_bytes());
    }
    out
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2)
        .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap())
        .collect()
}

#[test]
fn the_reference_block_gives_the_rfc_vector() {
    // RFC 8439 section 2.3.2, and appendix A.1 test vector 1.
    let key: [u8; 32] = std::array::from_fn(|i| i as u8);
    let nonce = [0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0];
    let expected = "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e\
d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e";
    assert_eq!(block(&key, 1, &nonce).to_vec(), hex(expected));
    let zero = "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7\
da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586";
    assert_eq!(block(&[0; 32], 0, &[0; 12]).to_vec(), hex(zero));
}

#[test]
fn expansion_is_its_definition_on_every_backend() {
    for backend in kernels::available_backends() {
        kernels::with_backend(backend, || {
            for (q, n, stream) in [
                (97u64, 1usize, 0u64),
                (97, 64, 1),
                (4_503_599_627_366_401, 257, 0x0123_4567_89ab_cdef),
                ((1 << 61) - 1, 300, u64::MAX),
                (1 << 60, 63, 1 << 32),
            ] {
                let modulus = Modulus::new(q).unwrap();
                let seed: [u8; 32] =
                    std::array::from_fn(|i| (i as u8).wrapping_mul(37) ^ stream as u8);
                let mut out = vec![0; n];
                expand_uniform(&seed, stream, modulus, &mut out);
                let mut nonce = [0; 12];
                nonce[..8].copy_from_slice(&stream.to_le_bytes());
                for (i, &residue) in out.iter().enumerate() {
                    let bytes = block(&seed, (i / 4) as u32, &nonce);
                    let word = u128::from_le_bytes(
                        bytes[16 * (i % 4)..16 * (i % 4) + 16].try_into().unwrap(),
                    );
                    assert_eq!(
                        u128::from(residue),
                        word % u128::from(q),
                        "{backend:?} q {q} i {i}"
                    );
                }
            }
        })
        .unwrap();
    }
}

/// The lengths are around a ChaCha20 block, around the buffer of the expansion, and around the blocks
/// that one backend computes together.
#[test]
fn expansion_to_words_is_its_definition_on_every_backend() {
    for backend in kernels::available_backends() {
        kernels::with_backend(backend, || {
            for (bits, n, stream) in [
                (32, 1usize, 0u64),
                (32, 630, 0x0123_4567_89ab_cdef),
                (32, 1024, 1),
                (32, 1025, u64::MAX),
                (32, 5000, 1 << 32),
                (20, 33, 5),
                (64, 9, 7),
                (64, 512, 1 << 40),
                (64, 2049, 3),
                (33, 17, 2),
            ] {
                let q = WordModulus::new(bits).unwrap();
                let seed: [u8; 32] =
                    std::array::from_fn(|i| (i as u8).wrapping_mul(91) ^ stream as u8);
                let mut out = vec![0; n];
                expand_words(&seed, stream, q, &mut out);
                let mut nonce = [0; 12];
                nonce[..8].copy_from_slice(&stream.to_le_bytes());
                let bytes_each = if bits <= 32 { 4 } else { 8 };
                let blocks = (bytes_each * n).div_ceil(64) as u32;
                let bytes: Vec<u8> = (0..blocks).flat_map(|b| block(&seed, b, &nonce)).collect();
                for (i, &word) in out.iter().enumerate() {
                    let bytes = &bytes[bytes_each * i..][..bytes_each];
                    let whole = bytes
                        .iter()
                        .rev()
                        .fold(0, |x, &byte| x << 8 | u64::from(byte));
                    assert_eq!(word, whole & q.mask(), "{backend:?} bits {bits} i {i}");
                }
            }
        })
        .unwrap();
    }
}

#[test]
fn the_generator_gives_the_same_stream_on_every_backend() {
    let draw = |backend| {
        kernels::with_backend(backend, || {
            let mut bytes = vec![0u8; 20_000];
            Prng::from_seed_for_reproducible_tests_only([9; 32]).fill_bytes(&mut bytes);
            bytes
        })
        .unwrap()
    };
    for backend in kernels::available_backends() {
        assert_eq!(draw(backend), draw(ringmill_math::Backend::Scalar));
    }
}

#[test]
fn a_seed_fixes_the_stream_however_it_is_read() {
    let mut whole = Prng::from_seed_for_reproducible_tests_only([3; 32]);
    let mut parts = Prng::from_seed_for_reproducible_tests_only([3; 32]);
    let mut expected = vec![0u8; 10_000];
    whole.fill_bytes(&mut expected);
    let mut got = vec![0u8; 10_000];
    let mut at = 0;
    for size in (1..).take_while(|s| s * (s + 1) / 2 <= 10_000) {
        parts.fill_bytes(&mut got[at..at + size]);
        at += size;
    }
    parts.fill_bytes(&mut got[at..]);
    assert_eq!(got, expected);
    let mut other = Prng::from_seed_for_reproducible_tests_only([4; 32]);
    assert_ne!(other.next_u64().to_le_bytes(), expected[..8]);
    // The first half of block 0 is the next key, and the bytes after it are the buffer (fast key
    // erasure).
    let first = block(&[3; 32], 0, &[0; 12]);
    assert_eq!(expected[..32], first[32..]);
    assert_eq!(expected[32..96], block(&[3; 32], 1, &[0; 12]));
    let again = block(first[..32].try_into().unwrap(), 0, &[0; 12]);
    assert_eq!(expected[4096..4128], again[32..]);
}

#[test]
fn the_operating_system_seeds_differ() {
    let (mut a, mut b) = (Prng::from_os().unwrap(), Prng::from_os().unwrap());
    assert_ne!(a.next_u128(), b.next_u128());
    assert_ne!(a.next_seed(), a.next_seed());
}
