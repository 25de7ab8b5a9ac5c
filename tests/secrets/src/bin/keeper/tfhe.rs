// SPDX-License-Identifier: Apache-2.0
//! Scenarios of TFHE with small and large keys as bits, as words and in transform form, and with files. A phase is a
//! single word, too short to be searched for.

use std::sync::Arc;

use ringmill_circuits::tfhe::{
    Client, LweKey, Params, ParamsBuilder, SecretKey, client::Encryptor, file,
};
use ringmill_device::whole_file::{self, Contents};
use ringmill_math::Prng;
use ringmill_math::torus::{KeyRows, KeyShape};
use ringmill_secrets::telling::{Keeper, Kept, Stage, Teller};
use zeroize::Zeroizing;

use super::generator::{self, seed_of};
use super::ring::Folder;

const SEED: [u8; 32] = [51; 32];

/// Runs the scenario with messages of one bit.
pub fn booleans(keeper: &mut Keeper) {
    one(
        keeper,
        ParamsBuilder::toy_for_tests_only().sizes(|s| s.n.0 = 64),
    );
}

/// Runs the scenario with messages of two bits and two bits of carry.
pub fn circuits(keeper: &mut Keeper) {
    let circuits = ParamsBuilder::toy_circuits_for_tests_only();
    one(keeper, circuits.sizes(|s| s.n.0 = 80));
}

fn one(keeper: &mut Keeper, params: ParamsBuilder) {
    let params = params.allow_any_failure_rate_for_tests_only().build();
    let params = params.expect("parameters");
    let client = Client::from_seed_for_reproducible_tests_only(params.clone(), SEED);
    let client = client.expect("client");
    let secret = client.secret();
    keeper.tells(|to| tell(to, &params, secret));
    client.bootstrap_key().expect("bootstrapping key");
    client.key_switch_key().expect("key-switching key");
    let public = client.public_key().expect("public key");
    let encryptor = Encryptor::new(params.clone(), &public).expect("encryptor");
    let booleans = client.encrypt_bit(true).is_ok();
    for bit in [false, true] {
        if booleans {
            for x in [client.encrypt_bit(bit), encryptor.encrypt_bit(bit)] {
                assert_eq!(client.decrypt_bit(&x.expect("a bit")), Ok(bit));
            }
        } else {
            for x in [client.encrypt(bit.into()), encryptor.encrypt(bit.into())] {
                assert_eq!(client.decrypt(&x.expect("a message")), Ok(bit.into()));
            }
        }
    }
    let read = Arc::new(through_a_file(&params, secret));
    let again = Client::with_secret(params.clone(), read).expect("client");
    again.bootstrap_key().expect("bootstrapping key");
    drop(again);
    keeper.search(Stage::Held);
    drop(client);
    keeper.search(Stage::Dropped);
}

/// Tells the keys as bits, as words and in transform form, and the generator that drew them.
fn tell(to: &mut Teller, params: &Params, secret: &SecretKey) {
    for (name, key) in [("small key", LweKey::Small), ("large key", LweKey::Large)] {
        let bits = secret.expose_bits(key);
        to.tell(name, Kept::WithItsHolder, bits);
        let words: Vec<u64> = bits.iter().map(|&bit| bit.into()).collect();
        to.tell_small(&format!("{name} in words"), Kept::Never, &words);
    }
    transformed(to, params, secret);
    let seed = seed_of(SEED, 0);
    generator::tell(to, "generator", &seed, 0);
    let mut prng = Prng::from_seed_for_reproducible_tests_only(*seed);
    let mut drawn = vec![0u8; secret.expose_bits(LweKey::Small).len()];
    prng.fill_bytes(&mut drawn);
    to.tell("bytes of the small key", Kept::Never, &drawn);
}

/// Tells the ring key in the form in which the products take it.
fn transformed(to: &mut Teller, params: &Params, secret: &SecretKey) {
    let name = "ring key in transform form";
    let (ring, n) = (params.ring(), params.sizes().degree());
    let polynomials = secret.expose_bits(LweKey::Large).chunks(n);
    let shape = KeyShape::new(n, params.sizes().k.0, 1).expect("shape");
    let mut key = ring.key(shape, 1).expect("room");
    let mut words = Zeroizing::new(vec![0u64; n]);
    for (c, bits) in polynomials.enumerate() {
        for (word, &bit) in words.iter_mut().zip(bits) {
            *word = bit.into();
        }
        ring.put(&mut key, 0, [c, 0], &words).expect("lengths");
    }
    for lane in 0..ring.lanes() {
        match key.rows(lane, 0) {
            KeyRows::Narrow(words) => to.tell(name, Kept::Never, words),
            KeyRows::Wide(words) => to.tell(name, Kept::Never, words),
        }
    }
    key.wipe();
}

/// Saves a secret key to a file and returns the key that is loaded from it.
fn through_a_file(params: &Params, secret: &SecretKey) -> SecretKey {
    let folder = Folder::new();
    let path = folder.file("secret");
    let bytes = file::write_secret_key_in_the_clear(secret);
    whole_file::write(&path, Contents::Secret, &bytes).expect("written");
    drop(bytes);
    let bytes = whole_file::read_secret(&path, u64::MAX).expect("read");
    let cut = file::read_secret_key_in_the_clear(&bytes[..bytes.len() - 1], params);
    cut.expect_err("a file cut short");
    file::read_secret_key_in_the_clear(&bytes, params).expect("a key")
}
