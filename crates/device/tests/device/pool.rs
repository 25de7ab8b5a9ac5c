// SPDX-License-Identifier: Apache-2.0
//! Tests the pool of buffers, which are taken, lent and given back.

use ringmill_device::OutputLimb;
use ringmill_device::pool::{ALIGNMENT, Buf, Pool, PoolUse};
use ringmill_isa::limits;
use ringmill_isa::mid::TableModulus;
use ringmill_math::Residues;

fn start(buf: &Buf) -> *const u8 {
    match buf.residues() {
        Residues::Wide(words) => words.as_ptr().cast(),
        Residues::Short(words) => words.as_ptr().cast(),
    }
}

#[test]
fn buffers_are_aligned_and_reused() {
    let mut pool = Pool::default();
    let a = pool.take(16, false).unwrap();
    let b = pool.take(16, false).unwrap();
    assert_eq!(a.residues().len(), 16);
    assert_eq!(start(&a) as usize % ALIGNMENT, 0);
    assert_eq!(start(&b) as usize % ALIGNMENT, 0);
    let first = start(&a);
    let again = a.clone();
    pool.give(a);
    assert_eq!(pool.usage().live, 2 * 128, "still referred to once");
    pool.give(again);
    assert_eq!(
        pool.usage(),
        PoolUse {
            live: 128,
            peak: 256,
            held: 256
        }
    );
    assert_eq!(start(&pool.take(16, false).unwrap()), first);
    assert_eq!(pool.usage().held, 256);
}

#[test]
fn vectors_of_other_lengths_share_buffers() {
    let mut pool = Pool::default();
    let vector = pool.take(9, false).unwrap();
    assert_eq!(vector.residues().len(), 9);
    pool.give(vector);
    assert_eq!(pool.take(16, false).unwrap().residues().len(), 16);
    assert_eq!(pool.usage().held, 128);
    let longest = limits::MAX_LWE_DIMENSION as usize + 1;
    assert_eq!(pool.take(longest, false).unwrap().residues().len(), longest);
}

#[test]
fn lent_limbs_come_back_when_they_are_dropped() {
    let mut pool = Pool::default();
    let buf = pool.take(16, false).unwrap();
    let (once, twice) = (pool.lend(buf.clone()), pool.lend(buf));
    drop(once);
    assert_eq!(pool.usage().live, 128, "one is still out");
    assert_eq!(twice.len(), 16);
    drop(twice);
    assert_eq!(
        pool.usage(),
        PoolUse {
            live: 0,
            peak: 128,
            held: 128
        }
    );
}

#[test]
fn words_of_32_bits_have_buffers_of_their_own() {
    let mut pool = Pool::default();
    let short = pool.take(9, true).unwrap();
    assert!(matches!(short.residues(), Residues::Short(words) if words.len() == 9));
    assert_eq!(start(&short) as usize % ALIGNMENT, 0);
    assert_eq!(pool.usage().live, 64);
    let first = start(&short);
    pool.give(short);
    let wide = pool.take(8, false).unwrap();
    assert!(matches!(wide.residues(), Residues::Wide(_)));
    assert_eq!(pool.usage().held, 128);
    assert_eq!(start(&pool.take(16, true).unwrap()), first);
}

#[test]
fn outputs_are_in_the_words_of_their_modulus() {
    let large = (1u64 << 32) + 15;
    for (modulus, short) in [
        (Some(97), true),
        (Some((1 << 32) - 5), true),
        (Some(large), false),
        (None, false),
    ] {
        let modulus = modulus.map(TableModulus::Prime);
        for residues in [Residues::Wide(&[1, 96]), Residues::Short(&[1, 96])] {
            let limb = OutputLimb::of(residues, modulus);
            assert_eq!(matches!(limb.residues(), Residues::Short(_)), short);
            assert_eq!(limb, vec![1, 96]);
            assert_ne!(limb, vec![1, 95]);
            assert_eq!((limb.len(), &*limb.wide()), (2, &[1, 96][..]));
        }
    }
}
