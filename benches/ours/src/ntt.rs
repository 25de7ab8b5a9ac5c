// SPDX-License-Identifier: Apache-2.0
//! Times forward and inverse transforms. Each case has the digest of a negacyclic convolution that a peer must
//! reproduce.

use ringmill_math::plans::{self, Task};
use ringmill_math::{Modulus, Ntt32, NttPlan, Ring, kernels, primes};
use serde_json::{Map, Value};

use crate::Result;
use crate::group::Group;

/// The factor by which the choice of a row's kernel may take longer than within a program. So the record has the
/// fastest kernel, and not one that a bad moment favoured.
const LONGER: u32 = 10;
/// The number of rounds through all rows in which each row's kernel is chosen, since a bad moment may last as long as
/// the choices of many rows. The kernel that most rounds chose is taken: the choice is repeated until it gives that
/// kernel, at most `AGAIN` times.
const ROUNDS: usize = 3;
const AGAIN: usize = 8;

/// The transforms of a case: forward and inverse.
const TASKS: [Task; 2] = [Task::Forward, Task::Inverse];

/// Makes the rows `forward.BITS.LOG_N` and `inverse.BITS.LOG_N` ready: transforms in place on one limb. The inverse
/// includes the factor 1/N.
///
/// # Errors
/// Fails if no prime of one of the sizes exists for one of the lengths, or if a computation fails.
pub fn open(log_n: &[u8], bits: &[u32]) -> Result<Group> {
    let mut group = Group::default();
    let (mut moduli, mut digests, mut kernels) = (Map::new(), Map::new(), Map::new());
    let mut cases = Vec::new();
    for &log_n in log_n {
        for &bits in bits {
            let prime = *primes::ntt_primes(bits, u32::from(log_n), 1)?
                .first()
                .ok_or("no such prime")?;
            cases.push((format!("{bits}.{log_n}"), Modulus::new(prime)?, log_n));
        }
    }
    let mut votes: Vec<[Vec<String>; 2]> = vec![Default::default(); cases.len()];
    for _ in 0..ROUNDS {
        for ((_, q, log_n), votes) in cases.iter().zip(&mut votes) {
            for (task, votes) in TASKS.into_iter().zip(votes) {
                votes.push(choose(*q, *log_n, task)?);
            }
        }
    }
    for ((case, q, log_n), votes) in cases.into_iter().zip(votes) {
        for (task, votes) in TASKS.into_iter().zip(votes) {
            let kernel = settle(q, log_n, task, votes)?;
            kernels.insert(format!("{}.{case}", task.name()), kernel.into());
        }
        let ring = Ring::full(log_n);
        let product = if q.bits() <= 32 {
            narrow(&mut group, &case, q, ring)?
        } else {
            wide(&mut group, &case, q, ring)?
        };
        moduli.insert(case.clone(), q.value().into());
        digests.insert(case, digest(&product).into());
    }
    group.fact("moduli", Value::from(moduli));
    group.fact("digests", Value::from(digests));
    group.fact("kernels", Value::from(kernels));
    Ok(group)
}

/// Repeats the choice of a kernel until it gives the kernel with the most votes, or [`AGAIN`] times. The last vote is
/// the kernel in force. Returns the kernel in force at the end.
fn settle(q: Modulus, log_n: u8, task: Task, mut votes: Vec<String>) -> Result<String> {
    let times = |kernel: &String| votes.iter().filter(|&vote| vote == kernel).count();
    let most = votes.iter().max_by_key(|&vote| times(vote)).cloned();
    let mut kernel = votes.pop().ok_or("no kernel was chosen")?;
    for _ in 0..AGAIN {
        if Some(&kernel) == most.as_ref() {
            break;
        }
        kernel = choose(q, log_n, task)?;
    }
    Ok(kernel)
}

/// Chooses the kernel of a transform by timing all candidates, and returns its name.
fn choose(q: Modulus, log_n: u8, task: Task) -> Result<String> {
    let ring = Ring::full(log_n);
    let patience = plans::patience(log_n) * LONGER;
    let choice = if q.bits() <= 32 {
        Ntt32::shared(q, ring)?.choose(task, patience)
    } else {
        NttPlan::shared(q, ring)?.choose(task, patience)
    };
    Ok(choice.ok_or("no kernel was chosen")?.kernel)
}

/// Adds the rows of a prime of up to 61 bits. Returns the negacyclic product of the case's operands.
fn wide(group: &mut Group, case: &str, q: Modulus, ring: Ring) -> Result<Vec<u64>> {
    let plan = NttPlan::shared(q, ring)?;
    let (mut a, mut b) = operands(q, ring);
    plan.forward(&mut a)?;
    plan.forward(&mut b)?;
    kernels::mul_assign(q, &mut a, &b)?;
    plan.inverse(&mut a)?;
    let forward = plan.clone();
    let (mut x, mut y) = (Aligned::new(&b), Aligned::new(&a));
    group.row(format!("forward.{case}"), move || {
        Ok(forward.forward(x.words())?)
    });
    group.row(format!("inverse.{case}"), move || {
        Ok(plan.inverse(y.words())?)
    });
    Ok(a)
}

/// Adds the rows of a prime below 2^32, on limbs of 32-bit words. Returns the negacyclic product of the case's
/// operands.
fn narrow(group: &mut Group, case: &str, q: Modulus, ring: Ring) -> Result<Vec<u64>> {
    let plan = Ntt32::shared(q, ring)?;
    let (a, b) = operands(q, ring);
    let words = |limb: Vec<u64>| limb.into_iter().map(|x| x as u32).collect::<Vec<_>>();
    let (mut a, mut b) = (words(a), words(b));
    plan.forward(&mut a)?;
    plan.forward(&mut b)?;
    for (x, &y) in a.iter_mut().zip(&b) {
        *x = q.mul(u64::from(*x), u64::from(y)) as u32;
    }
    plan.inverse(&mut a)?;
    let forward = plan.clone();
    let (mut x, mut y) = (Aligned::new(&b), Aligned::new(&a));
    group.row(format!("forward.{case}"), move || {
        Ok(forward.forward(x.words())?)
    });
    group.row(format!("inverse.{case}"), move || {
        Ok(plan.inverse(y.words())?)
    });
    Ok(a.into_iter().map(u64::from).collect())
}

/// A copy of words that starts on a cache line, as the limbs of a device do. Otherwise the place that an allocator
/// chooses could decide which side is faster.
struct Aligned<W> {
    words: Vec<W>,
    start: usize,
}

impl<W: Copy + Default> Aligned<W> {
    fn new(from: &[W]) -> Self {
        const LINE: usize = 64;
        let spare = LINE / size_of::<W>();
        let mut words = vec![W::default(); from.len() + spare];
        let start = words.as_ptr().align_offset(LINE).min(spare);
        words[start..start + from.len()].copy_from_slice(from);
        words.truncate(start + from.len());
        Self { words, start }
    }

    fn words(&mut self) -> &mut [W] {
        &mut self.words[self.start..]
    }
}

/// Returns the two factors of the convolution: multiples of two odd constants modulo 2^64, reduced modulo q.
fn operands(q: Modulus, ring: Ring) -> (Vec<u64>, Vec<u64>) {
    let limb = |factor: u64| {
        (1..=ring.len() as u64)
            .map(|i| i.wrapping_mul(factor) % q.value())
            .collect()
    };
    (limb(0x9e37_79b9_7f4a_7c15), limb(0xbf58_476d_1ce4_e5b9))
}

/// Returns a hash of the words in hexadecimal: FNV-1a of 64 bits, with a whole word in place of each byte.
fn digest(limb: &[u64]) -> String {
    let hash = limb.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, &word| {
        (hash ^ word).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
