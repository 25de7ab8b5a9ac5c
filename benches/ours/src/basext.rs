//! Exact base extension from l limbs to l others, on one thread or several that share the coefficients.

use std::sync::Mutex;

use ringmill_math::basext::{BaseExtension, best_exact};
use ringmill_math::{Modulus, Prng, RnsBasis, primes, sample};

use crate::Result;
use crate::group::Group;

/// One row, `extend`. Its result is compared with big integers on a sample of the coefficients.
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
    let mut equal = true;
    for k in (0..n).step_by(n / 64) {
        let residues: Vec<u64> = input.iter().map(|limb| limb[k]).collect();
        let integer = basis.compose(&residues)?;
        equal &= to
            .iter()
            .zip(&output)
            .all(|(p, limb)| integer.clone() % p.value() == limb[k].into());
    }

    let mut group = Group::default();
    group.equal("extend", equal);
    group.row("extend", move || {
        extend(&pool, &extension, &input, &mut output, &mut scratch)
    });
    Ok(group)
}

/// Parts of the coefficients for each thread: more than one, so that whoever is awake does them.
const PARTS: usize = 8;

/// The threads take parts of the coefficients, one after the other, and the calling thread takes them too: it need not
/// wait until another wakes, which on a virtual machine may take as long as a small extension.
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
