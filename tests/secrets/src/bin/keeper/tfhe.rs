//! TFHE: small and large keys as bits, as words and in transform form; files. A phase is one word, shorter than a copy.

use std::sync::Arc;

use ringmill_math::Prng;
use ringmill_math::torus::{KeyRows, KeyShape};
use ringmill_schemes::tfhe::{
    Client, LweKey, Params, ParamsBuilder, SecretKey, client::Encryptor, file,
};
use ringmill_schemes::whole_file::{self, Contents};
use ringmill_secrets::telling::{Kept, Stage, Teller};
use zeroize::Zeroizing;

use super::generator::{self, seed_of};
use super::ring::Folder;

/// Booleans on one prime, and two more bits on what prime or primes they take.
pub fn all(to: &mut Teller) {
    let toy = ParamsBuilder::toy_for_tests_only;
    let wide = toy().sizes(|s| s.n.0 = 64);
    let circuits = ParamsBuilder::toy_circuits_for_tests_only().sizes(|s| s.n.0 = 80);
    for (number, params) in [wide, circuits].into_iter().enumerate() {
        let params = params.allow_any_failure_rate_for_tests_only().build();
        one(to, number, &params.expect("parameters"));
    }
    to.search(Stage::Dropped);
}

fn one(to: &mut Teller, number: usize, params: &Arc<Params>) {
    let seed = [51 + number as u8; 32];
    let client =
        Client::from_seed_for_reproducible_tests_only(params.clone(), seed).expect("client");
    let name = |what: &str| format!("{what} of client {number}");
    // Others' keys have a few bits in common with it by chance, 32 never.
    let secret = client.secret();
    to.tell(
        &name("small key"),
        Kept::WithItsHolder,
        secret.expose_bits(LweKey::Small),
    );
    to.tell(
        &name("large key"),
        Kept::WithItsHolder,
        secret.expose_bits(LweKey::Large),
    );
    for key in [LweKey::Small, LweKey::Large] {
        let mut words = Zeroizing::new(vec![0u64; secret.expose_bits(key).len()]);
        for (word, &bit) in words.iter_mut().zip(secret.expose_bits(key)) {
            *word = bit.into();
        }
        to.tell_small(&name("key in words"), Kept::Never, &words);
    }
    transformed(to, &name("large key in transform form"), params, secret);
    let generator = seed_of(seed, 0);
    generator::tell(to, &name("generator"), &generator, 0);
    let mut prng = Prng::from_seed_for_reproducible_tests_only(*generator);
    let mut drawn = Zeroizing::new(vec![0u8; secret.expose_bits(LweKey::Small).len()]);
    prng.fill_bytes(&mut drawn);
    to.tell(&name("bytes of the small key"), Kept::Never, &drawn);
    client.bootstrap_key().expect("bootstrapping key");
    client.key_switch_key().expect("key-switching key");
    let public = client.public_key().expect("public key");
    let encryptor = Encryptor::new(params.clone(), &public).expect("encryptor");
    let booleans = client.encrypt_bit(true).is_ok();
    for bit in [false, true] {
        match booleans {
            true => {
                let bits = [client.encrypt_bit(bit), encryptor.encrypt_bit(bit)];
                let _ = bits.map(|x| assert_eq!(client.decrypt_bit(&x.expect("a bit")), Ok(bit)));
            }
            false => {
                let messages = [client.encrypt(bit.into()), encryptor.encrypt(bit.into())];
                messages
                    .map(|x| assert_eq!(client.decrypt(&x.expect("a message")), Ok(bit.into())));
            }
        }
    }
    let again = Client::with_secret(params.clone(), Arc::new(through_a_file(params, secret)));
    again
        .expect("client")
        .bootstrap_key()
        .expect("bootstrapping key");
    to.search(Stage::Held);
    drop(client);
    to.search(Stage::Dropped);
}

/// Tells the ring key as products take it.
fn transformed(to: &mut Teller, name: &str, params: &Params, secret: &SecretKey) {
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

/// Saves a secret key and loads it.
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
