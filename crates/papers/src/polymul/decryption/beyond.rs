// SPDX-License-Identifier: Apache-2.0
//! Uses of the polymul machine beyond decryption: BFV's encryption with a public key, and products modulo six primes of
//! 30 bits at n = 4096.

use std::sync::Arc;
use std::time::Instant;

use ringmill_machines::polymul::{ArrayOp, Tables};
use ringmill_math::primes::ntt_primes;
use ringmill_math::{NttPlan, Prng, Ring, kernels, sample};
use ringmill_runtime::shown::Parts;
use ringmill_schemes::bfv::{Ciphertext, KeyGenerator, Level};
use zeroize::Zeroizing;

use super::Study;
use super::card::{Call, Card, Product, Work};
use super::host;
use super::sample::{Sample, Set, T, limb, reducer};
use crate::error::PaperError;
use crate::scope::{Record, record};
use crate::value::measured;

/// The parameter sets of the decryption study whose noise budget holds the noise of an encryption with a public
/// key.
pub const SETS: [Set; 2] = [Set { n: 1024, bits: 27 }, Set { n: 2048, bits: 29 }];
/// The number of primes of a product modulo 180 bits, 30 bits each.
const PRIMES: usize = 6;
const WIDE: Set = Set { n: 4096, bits: 30 };

/// The number of steps of progress that this part of the decryption study reports, each a call of the machine.
pub const PARTS: u64 = 2 * SETS.len() as u64 + 2;

/// Returns the cycles of two calls of the machine: the first call, and one that finds its tables and operands already
/// loaded. Beside them stand the words that the second call moves over the link, with n words for each load of tables
/// and without the tables' headers, and the host's microseconds `host` for the same products.
fn timed(study: Study<'_>, set: Set, calls: &[Call; 2], polynomials: usize, host: f64) -> Record {
    let [first, steady] = calls;
    study.named(record([
        ("n", set.n.into()),
        ("bits", set.bits.into()),
        ("first", first.cycles().into()),
        ("steady", steady.cycles().into()),
        ("words", (polynomials * set.n).into()),
        ("tables", steady.of("TABLES").len().into()),
        ("host", measured(host)),
    ]))
}

/// Returns the mean time of `work` in microseconds, over the study's number of runs, after a tenth as many that warm
/// up.
fn mean(
    study: Study<'_>,
    mut work: impl FnMut() -> Result<(), PaperError>,
) -> Result<f64, PaperError> {
    for _ in 0..study.runs.div_ceil(10) {
        work()?;
    }
    let begin = Instant::now();
    for _ in 0..study.runs {
        work()?;
    }
    Ok(1e6 * begin.elapsed().as_secs_f64() / f64::from(study.runs.max(1)))
}

/// Times BFV's encryption (c_0, c_1) = (Delta m + p_0 u + e_1, p_1 u + e_2) of a message m under the public key (p_0,
/// p_1) (Mert, Öztürk and Savaş, section 4.1). The public key stays in the machine, and the random u crosses the link
/// for each product. The ciphertext must decrypt to m.
///
/// # Errors
/// Fails if the machine's run fails, or if the ciphertext does not decrypt to m.
pub fn encryption(
    study: Study<'_>,
    set: Set,
    card: &mut Card,
    parts: &mut Parts<'_>,
) -> Result<Record, PaperError> {
    let (params, n) = (set.params()?, set.n);
    let q = reducer(set.prime()?)?;
    let keys = KeyGenerator::new(Arc::clone(&params))?;
    let public = keys.public_key()?;
    let key = [limb(public.b(), n)?, limb(&public.expanded_a(&params)?, n)?];
    let mut prng = Prng::from_os()?;
    let mut message = vec![0; n];
    sample::uniform(&mut prng, reducer(T)?, &mut message);
    let mut u = Zeroizing::new(vec![0; n]);
    sample::to_limb(q, &sample::ternary(&mut prng, n), &mut u)?;

    let tables = Arc::new(Tables::new(card.shape(), n, q.value())?);
    let [p0, p1] = &key;
    let work = Work {
        tables: vec![tables],
        operands: vec![p0, p1, &u],
    };
    let product = |b| Product {
        op: ArrayOp::Hpm,
        modulus: 0,
        a: 2,
        b,
    };
    card.forget();
    let first = card.call(&work, &[product(0), product(1)])?;
    parts.done();
    let steady = card.call(&work, &[product(0), product(1)])?;
    parts.done();

    // The host adds the message and the errors.
    let plan = NttPlan::shared(q, params.ring())?;
    let mut polys = steady.products.clone();
    for poly in &mut polys {
        let mut error = Zeroizing::new(vec![0; n]);
        sample::to_limb(
            q,
            &params.error_distribution().sample(&mut prng, n)?,
            &mut error,
        )?;
        kernels::add_assign(q, poly, &error)?;
    }
    if let Some(c0) = polys.first_mut() {
        // Q m / t, rounded to nearest and up at a tie.
        let scaled = |&m: &u64| (q.value() * m + T / 2) / T;
        let scaled: Vec<u64> = message.iter().map(scaled).collect();
        kernels::add_assign(q, c0, &scaled)?;
    }
    polys.iter_mut().try_for_each(|poly| plan.forward(poly))?;
    let cipher = Ciphertext::new(&params, Level::LOWEST, (), polys)?;
    let secret = Zeroizing::new(limb(keys.secret_key().expose_eval_limbs(), n)?);
    // The measurement fails if the decrypted message is not the encrypted one.
    host::measure(&Sample::of(&params, &cipher, secret, message)?, 1)?;

    let mut room = vec![0; n];
    let host = mean(study, || {
        for half in &key {
            room.copy_from_slice(&u);
            plan.forward(&mut room)?;
            kernels::mul_assign(q, &mut room, half)?;
            plan.inverse(&mut room)?;
        }
        Ok(())
    })?;
    Ok(timed(study, set, &[first, steady], 4, host))
}

/// Times the product of polynomials with coefficients of 180 bits, as residues: one full product for each of six
/// primes. The machine holds the tables of two moduli at a time, so each call loads the tables of the other moduli
/// again.
///
/// # Errors
/// Fails if the machine does not take a prime, or if a product of the RTL is wrong.
pub fn six_primes(
    study: Study<'_>,
    card: &mut Card,
    parts: &mut Parts<'_>,
) -> Result<Record, PaperError> {
    let Set { n, bits } = WIDE;
    let log_n = n.ilog2();
    let primes = ntt_primes(bits, log_n, PRIMES)?;
    let mut prng = Prng::from_os()?;
    let (mut tables, mut limbs, mut plans) = (Vec::new(), Vec::new(), Vec::new());
    for &q in &primes {
        tables.push(Arc::new(Tables::new(card.shape(), n, q)?));
        plans.push(NttPlan::shared(reducer(q)?, Ring::full(log_n as u8))?);
        for _ in 0..2 {
            let mut limb = vec![0; n];
            sample::uniform(&mut prng, reducer(q)?, &mut limb);
            limbs.push(limb);
        }
    }
    let products = (0..primes.len() as u16).map(|modulus| Product {
        op: ArrayOp::Fpm,
        modulus,
        a: 2 * u32::from(modulus),
        b: 2 * u32::from(modulus) + 1,
    });
    let products: Vec<Product> = products.collect();
    let work = Work {
        tables,
        operands: limbs.iter().map(Vec::as_slice).collect(),
    };
    card.forget();
    let first = card.call(&work, &products)?;
    parts.done();
    let steady = card.call(&work, &products)?;
    parts.done();

    let mut room = [vec![0; n], vec![0; n]];
    let host = mean(study, || {
        for (plan, pair) in plans.iter().zip(limbs.chunks_exact(2)) {
            for (room, limb) in room.iter_mut().zip(pair) {
                room.copy_from_slice(limb);
                plan.forward(room)?;
            }
            let [a, b] = &mut room;
            kernels::mul_assign(plan.modulus(), a, b)?;
            plan.inverse(a)?;
        }
        Ok(())
    })?;
    let tables = steady.of("TABLES").len();
    Ok(timed(
        study,
        WIDE,
        &[first, steady],
        3 * PRIMES + tables,
        host,
    ))
}
