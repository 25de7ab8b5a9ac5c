//! The generator and the samplers.

use ringmill_math::sample::{self, WideGaussian};
use ringmill_math::{Prng, WordModulus, expand_words};
use ringmill_secrets::telling::{Kept, Stage, Teller};
use zeroize::Zeroizing;

/// Bytes of keystream that a generator makes at once: its next key, then its output.
const REFILL: usize = 32 + 4096;
/// Blocks of 64 bytes that vectors make together.
const TOGETHER: usize = 16;

/// The seed of the `n`-th generator that a source of this seed gives.
pub fn seed_of(source: [u8; 32], n: usize) -> Zeroizing<[u8; 32]> {
    let mut source = Prng::from_seed_for_reproducible_tests_only(source);
    let mut seed = Zeroizing::new([0; 32]);
    for _ in 0..=n {
        source.fill_bytes(seed.as_mut());
    }
    seed
}

/// Tells the key of a generator, what it makes at once, and both as vectors hold them. The first `public` bytes of output are
/// a public seed.
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
            // Four bytes again and again are no pattern of noise only if they differ.
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

/// Every sampler from generators that the test can repeat.
pub fn draw(to: &mut Teller) {
    const N: usize = 1000;
    for (number, kept) in [Kept::WithItsHolder, Kept::Never].into_iter().enumerate() {
        let seed = seed_of([number as u8 + 41; 32], 3);
        let mut prng = Prng::from_seed_for_reproducible_tests_only(*seed);
        let samples = sample::ternary(&mut prng, N);
        to.tell(&format!("ternary {number}"), kept, &samples);
        let samples_too = sample::sparse_ternary(&mut prng, N, N / 2).expect("weight");
        to.tell(&format!("sparse {number}"), kept, &samples_too);
        let binomial = sample::centred_binomial(&mut prng, N, 21).expect("eta");
        to.tell(&format!("binomial {number}"), kept, &binomial);
        let gaussian = sample::gaussian(&mut prng, N, 3.2).expect("sigma");
        to.tell(&format!("gaussian {number}"), kept, &gaussian);
        let wide = WideGaussian::at_least(2f64.powi(40)).expect("sigma");
        let wide = wide.draw(&mut prng, N);
        to.tell(&format!("wide gaussian {number}"), kept, &wide);
        let mut bytes = Zeroizing::new([0; N]);
        prng.fill_bytes(bytes.as_mut());
        to.tell(&format!("bytes {number}"), kept, &bytes[..]);
        if kept == Kept::WithItsHolder {
            to.search(Stage::Held);
        }
        drop(prng);
        tell(to, &format!("generator {number}"), &seed, 0);
    }
    to.search(Stage::Dropped);
}
