// SPDX-License-Identifier: Apache-2.0
//! A scenario that writes and reads secret keys and plaintexts in SEAL's format, with and without compression.

use ringmill_schemes::ckks::{Encoder, KeyGenerator, Params};
use ringmill_schemes::seal::{self, Compression, SealContext};
use ringmill_secrets::telling::{Keeper, Kept, Stage};
use zeroize::Zeroizing;

use super::ring::WIDE;

/// The bytes of the header of SEAL's objects.
const HEADER: usize = 16;
/// The place of the header's byte that tells how the rest is compressed.
const COMPRESSION: usize = 5;
const ZLIB: u8 = 1;
/// The first bytes of a file that are not searched for. They include the header and the parameters' name, which are
/// public.
const PUBLIC: usize = 256;

pub fn all(keeper: &mut Keeper) {
    let builder = Params::builder(9).prime_bits(WIDE.0, WIDE.1);
    let params = builder
        .allow_insecure_parameters_for_tests_only()
        .build()
        .expect("parameters");
    let context = SealContext::new(params.clone()).expect("context");
    let keygen = KeyGenerator::from_seed_for_reproducible_tests_only(params.clone(), [61; 32]);
    let keygen = keygen.expect("keys");
    let secret = keygen.secret_key();
    keeper.tells(|to| {
        to.tell(
            "secret key",
            Kept::WithItsHolder,
            secret.expose_eval_limbs(),
        )
    });
    for compression in [Compression::None, Compression::Zstd] {
        let bytes = seal::write_secret_key_in_the_clear(&context, secret, compression);
        let bytes = bytes.expect("written");
        if compression == Compression::Zstd {
            keeper.tells(|to| to.tell("secret key's file", Kept::Never, &bytes[PUBLIC..]));
        }
        seal::read_secret_key(&context, &bytes).expect("read");
        let cut = seal::read_secret_key(&context, &bytes[..bytes.len() - 9]);
        cut.expect_err("a file cut short");
    }
    let plain = seal::write_secret_key_in_the_clear(&context, secret, Compression::None);
    let packed = zlib(&plain.expect("written"));
    seal::read_secret_key(&context, &packed).expect("read");
    drop(packed);
    // A decrypted message is a plaintext too, so plaintexts are secret.
    let encoder = Encoder::new(params.clone());
    let values: Vec<f64> = (0..params.slots()).map(|i| (i as f64).cos()).collect();
    let plain = encoder
        .encode_real(&values, params.max_level(), 2f64.powi(30))
        .expect("plaintext");
    keeper.tells(|to| {
        let limbs: Vec<u64> = plain.limbs().iter().collect();
        to.tell("plaintext", Kept::Never, &limbs);
    });
    for compression in [Compression::None, Compression::Zstd] {
        let bytes =
            Zeroizing::new(seal::write_plaintext(&context, &plain, compression).expect("written"));
        if compression == Compression::Zstd {
            keeper.tells(|to| to.tell("plaintext's file", Kept::Never, &bytes[PUBLIC..]));
        }
        assert!(seal::read_plaintext(&context, &bytes).expect("read") == plain);
    }
    drop(plain);
    keeper.search(Stage::Held);
    drop(keygen);
    keeper.search(Stage::Dropped);
}

/// Returns an uncompressed object with its members in a zlib stream of stored blocks.
fn zlib(object: &[u8]) -> Zeroizing<Vec<u8>> {
    const BLOCK: usize = 40_000;
    let (head, members) = object.split_at(HEADER);
    let mut packed = Zeroizing::new(Vec::with_capacity(object.len() + 64));
    packed.extend_from_slice(head);
    packed.extend([0x78, 0x01]);
    let blocks = members.chunks(BLOCK);
    let last = blocks.len();
    for (number, block) in blocks.enumerate() {
        packed.push((number + 1 == last).into());
        packed.extend((block.len() as u16).to_le_bytes());
        packed.extend((!(block.len() as u16)).to_le_bytes());
        packed.extend_from_slice(block);
    }
    let (mut a, mut b) = (1u32, 0);
    for &byte in members {
        a = (a + u32::from(byte)) % 65521;
        b = (b + a) % 65521;
    }
    packed.extend((b << 16 | a).to_be_bytes());
    let size = packed.len() as u64;
    packed[COMPRESSION] = ZLIB;
    packed[8..HEADER].copy_from_slice(&size.to_le_bytes());
    packed
}
