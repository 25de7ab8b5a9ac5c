// SPDX-License-Identifier: Apache-2.0
//! Scenarios with a random generator and the samplers.

use ringmill_math::sample::{self, WideGaussian};
use ringmill_math::{Prng, PrngSource, Seeded, WordModulus, expand_words};
use ringmill_secrets::telling::{Keeper, Kept, Stage, Teller};
use zeroize::Zeroizing;

/// The bytes of keystream that a generator makes at once: its next key, and then its output.
const REFILL: usize = 32 + 4096;
/// The number of blocks of 64 bytes that vector code makes at once.
const TOGETHER: usize = 16;

/// Returns the seed of the `n`-th generator, counted from 0, of a source with this seed.
pub fn seed_of(source: [u8; 32], n: usize) -> Zeroizing<[u8; 32]> {
    let mut source = Prng::from_seed_for_reproducible_tests_only(source);
    let mut seed = Zeroizing::new([0; 32]);
    for _ in 0..=n {
        source.fill_bytes(seed.as_mut());
    }
    seed
}

/// Tells a generator's key, its next key and its first output, in order and in the order in which vectors hold them.
/// The first `public` bytes of output are a public seed and are left out.
pub fn tell(to: &mut Teller, name: &str, seed: &[u8; 32], public: usize) {
    let words = WordModulus::new(64).expect("64 bits");
    let mut stream = Zeroizing::new(vec![0; REFILL / 8]);
    expand_words(seed, 0, words, &mut stream);
    let mut bytes = Zeroizing::new(vec![0u8; REFILL]);
    for (bytes, word) in bytes.chunks_exact_mut(8).zip(stream.iter()) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    let next = bytes.first_chunk::<32>().expect("32 bytes");
    for (which, key) in [("key", seed), ("next key", next)] {
        to.tell(&format!("{name}: {which}"), Kept::Never, key);
        for word in key.as_chunks::<4>().0 {
            let repeated = Zeroizing::new([u32::from_le_bytes(*word); TOGETHER]);
            to.tell(
                &format!("{name}: {which} in vectors"),
                Kept::Never,
                &repeated[..],
            );
        }
    }
    to.tell(
        &format!("{name}: output"),
        Kept::Never,
        &bytes[32 + public..],
    );
    let words = bytes.as_chunks::<4>().0;
    for first in (0..words.len() / 16).step_by(TOGETHER) {
        for word in 0..16 {
            let mut lanes = Zeroizing::new([0u32; TOGETHER]);
            for (block, lane) in lanes.iter_mut().enumerate() {
                let word = words.get((first + block) * 16 + word);
                *lane = word.map_or(0, |bytes| u32::from_le_bytes(*bytes));
            }
            if first + TOGETHER <= words.len() / 16 {
                to.tell(
                    &format!("{name}: output in vectors"),
                    Kept::Never,
                    &lanes[..],
                );
            }
        }
    }
}

/// The samples of every sampler.
struct Drawn {
    small: [Zeroizing<Vec<i8>>; 4],
    wide: Zeroizing<Vec<i128>>,
    bytes: Zeroizing<Vec<u8>>,
}

const NAMES: [&str; 4] = ["ternary", "sparse", "binomial", "Gaussian"];
const SEED: [u8; 32] = [41; 32];

/// Draws from every sampler by one generator.
fn draw() -> Drawn {
    const N: usize = 1000;
    let source = PrngSource::from_seed_for_reproducible_tests_only(SEED, Seeded::KeyHolder);
    let mut prng = source.fresh().expect("a generator");
    let wide = WideGaussian::at_least(2f64.powi(40)).expect("sigma");
    let mut bytes = Zeroizing::new(vec![0; N]);
    prng.fill_bytes(&mut bytes);
    Drawn {
        small: [
            sample::ternary(&mut prng, N),
            sample::sparse_ternary(&mut prng, N, N / 2).expect("weight"),
            sample::centred_binomial(&mut prng, N, 21).expect("eta"),
            sample::gaussian(&mut prng, N, 3.2).expect("sigma"),
        ],
        wide: wide.draw(&mut prng, N),
        bytes,
    }
}

fn tell_drawn(to: &mut Teller, drawn: &Drawn, kept: Kept) {
    for (name, samples) in NAMES.into_iter().zip(&drawn.small) {
        to.tell(name, kept, samples);
    }
    to.tell("wide Gaussian", kept, &drawn.wide);
    to.tell("bytes", kept, &drawn.bytes);
}

/// Draws samples and drops them. Nothing of them may be left.
pub fn drawing(keeper: &mut Keeper) {
    let drawn = draw();
    keeper.tells(|to| {
        tell_drawn(to, &drawn, Kept::Never);
        tell(to, "generator", &seed_of(SEED, 0), 0);
    });
    drop(drawn);
    keeper.search(Stage::Dropped);
}

/// Draws samples and holds them, so that a search must find them.
pub fn holding(keeper: &mut Keeper) {
    let drawn = draw();
    keeper.tells(|to| tell_drawn(to, &drawn, Kept::WithItsHolder));
    keeper.search(Stage::Held);
    drop(drawn);
    keeper.search(Stage::Dropped);
}
