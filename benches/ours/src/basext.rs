// SPDX-License-Identifier: Apache-2.0
//! Times base extensions, exact and fast, from l limbs to l others, on one thread or on several that share the
//! coefficients.

use std::rc::Rc;
use std::sync::Mutex;

use ringmill_math::basext::{BaseExtension, best_exact};
use ringmill_math::{BaseConverter, Modulus, Prng, RnsBasis, primes, sample};

use crate::Result;
use crate::group::Group;

/// Makes two rows ready. `extend` is the exact extension. `extend_fast` leaves a multiple of Q in the result, and so is
/// the same work without the step that makes it exact. Both results are compared with big integers on a sample of the
/// coefficients.
///
/// # Errors
/// Fails if there are fewer than 2 `limbs` primes of `bits` bits for 2^`log_n` points, or if a computation fails.
pub fn open(log_n: u8, limbs: usize, bits: u32, threads: usize) -> Result<Group> {
    let n = 1usize << log_n;
    let moduli = primes::ntt_primes(bits, u32::from(log_n), 2 * limbs)?
        .into_iter()
        .map(Modulus::new)
        .collect::<std::result::Result<Vec<_>, _>>()?;
    let (from, to) = moduli.split_at(limbs);
    let basis = RnsBasis::new(from.to_vec())?;
    let extension = best_exact(&basis, to)?;

    let mut prng = Prng::from_os()?;
    let mut input = vec![vec![0; n]; limbs];
    for (limb, q) in input.iter_mut().zip(from) {
        sample::uniform(&mut prng, *q, limb);
    }
    let mut output = vec![vec![0; n]; limbs];
    let mut scratch = vec![vec![0; extension.scratch_len()]; threads];
    // The calling thread is one of them.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.saturating_sub(1).max(1))
        .build()?;

    extend(&pool, &extension, &input, &mut output, &mut scratch)?;
    let fast = BaseConverter::new(&basis, to);
    let (mut rough, mut fast_scratch) =
        (output.clone(), vec![vec![0; fast.scratch_len()]; threads]);
    extend(&pool, &fast, &input, &mut rough, &mut fast_scratch)?;
    let (mut equal, mut near) = (true, true);
    for k in (0..n).step_by(n / 64) {
        let residues: Vec<u64> = input.iter().map(|limb| limb[k]).collect();
        let integer = basis.compose(&residues)?;
        equal &= to
            .iter()
            .zip(&output)
            .all(|(p, limb)| integer.clone() % p.value() == limb[k].into());
        near &= (0..limbs).any(|multiple| {
            let sum = &integer + basis.product() * multiple;
            let mut pairs = to.iter().zip(&rough);
            pairs.all(|(p, limb)| &sum % p.value() == limb[k].into())
        });
    }

    let mut group = Group::default();
    group.equal("extend", equal);
    group.equal("extend_fast", near);
    let (pool, input) = (Rc::new(pool), Rc::new(input));
    let (same_pool, same_input) = (pool.clone(), input.clone());
    group.row("extend", move || {
        extend(&pool, &extension, &input, &mut output, &mut scratch)
    });
    group.row("extend_fast", move || {
        extend(
            &same_pool,
            &fast,
            &same_input,
            &mut rough,
            &mut fast_scratch,
        )
    });
    Ok(group)
}

/// The number of parts of the coefficients for each of several threads. There are several parts, so that the threads
/// that are awake do them. A single thread takes all coefficients as one part.
const PARTS: usize = 8;

/// Extends all coefficients. The threads take parts of the coefficients, one part after the other, and the calling
/// thread takes parts too. So it need not wait until another thread wakes, which on a virtual machine may take as long
/// as a small extension.
fn extend(
    pool: &rayon::ThreadPool,
    extension: &impl BaseExtension,
    input: &[Vec<u64>],
    output: &mut [Vec<u64>],
    scratch: &mut [Vec<u64>],
) -> Result<()> {
    let n = input.first().map_or(0, Vec::len);
    let share = match scratch.len() {
        0 | 1 => n,
        threads => n.div_ceil(threads * PARTS),
    };
    let share = share.max(1);
    let mut parts: Vec<Vec<&mut [u64]>> = (0..n.div_ceil(share)).map(|_| Vec::new()).collect();
    for limb in output {
        for (part, chunk) in parts.iter_mut().zip(limb.chunks_mut(share)) {
            part.push(chunk);
        }
    }
    let parts = Mutex::new(parts.into_iter().enumerate());
    let take = || parts.lock().ok()?.next();
    let failed = Mutex::new(Ok(()));
    let work = |scratch: &mut Vec<u64>| {
        while let Some((number, mut part)) = take() {
            let input: Vec<&[u64]> = input
                .iter()
                .map(|limb| &limb[number * share..n.min((number + 1) * share)])
                .collect();
            let done = extension.convert(&input, &mut part, scratch);
            if let (Err(error), Ok(mut failed)) = (done, failed.lock()) {
                *failed = Err(error);
            }
        }
    };
    if let Some((own, others)) = scratch.split_first_mut() {
        let work = &work;
        pool.in_place_scope(|scope| {
            for other in others {
                scope.spawn(move |_| work(other));
            }
            work(own);
        });
    }
    Ok(failed.into_inner().map_err(|_| "a thread panicked")??)
}
