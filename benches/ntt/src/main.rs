// SPDX-License-Identifier: Apache-2.0
//! The process of the library tfhe-ntt in `make bench`. It times transforms of the same rings and primes as our side,
//! by its type for primes below 2^32 if the prime fits, else by its type for 64 bits. Its `inv` leaves out the factor
//! 1/N, so a timed inverse is `inv` and then `normalize`, which is what our inverse computes. `benches/README.md` has
//! the protocol.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;
use serde_json::{Value, json};
use tfhe_ntt::{prime32, prime64};

type Result<T> = std::result::Result<T, Box<dyn Error>>;
type Run = Box<dyn FnMut()>;

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Request {
    /// A request to make transforms ready, with the prime of each case `BITS.LOG_N`.
    Open { moduli: BTreeMap<String, u64> },
    Time {
        row: String,
        count: usize,
        calls: u32,
    },
}

fn main() -> Result<()> {
    let mut rows: BTreeMap<String, Run> = BTreeMap::new();
    for line in std::io::stdin().lock().lines() {
        let answer = match serde_json::from_str(&line?)? {
            Request::Open { moduli } => {
                rows.clear();
                open(&moduli, &mut rows)?
            }
            Request::Time { row, count, calls } => {
                let run = rows.get_mut(&row).ok_or_else(|| format!("no row {row}"))?;
                json!(time(run, count, calls))
            }
        };
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// Measures `count` samples, after one call that is not timed. Returns for each the wall seconds and the processor
/// seconds of a call, as the mean of `calls` calls.
fn time(run: &mut Run, count: usize, calls: u32) -> Vec<[f64; 2]> {
    run();
    (0..count)
        .map(|_| {
            let (wall, processor) = (Instant::now(), processor_seconds());
            (0..calls).for_each(|_| run());
            let (processor, wall) = (processor_seconds() - processor, wall.elapsed());
            [wall.as_secs_f64(), processor].map(|t| t / f64::from(calls))
        })
        .collect()
}

fn processor_seconds() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

fn open(moduli: &BTreeMap<String, u64>, rows: &mut BTreeMap<String, Run>) -> Result<Value> {
    let mut digests = BTreeMap::new();
    for (case, &modulus) in moduli {
        let log_n: u32 = case.rsplit('.').next().ok_or("no size")?.parse()?;
        let (a, b) = operands(modulus, 1 << log_n);
        let product = match u32::try_from(modulus) {
            Ok(modulus) => open_32(case, modulus, a, b, rows),
            Err(_) => open_64(case, modulus, a, b, rows),
        };
        let product = product.ok_or_else(|| format!("tfhe-ntt refuses {modulus} at 2^{log_n}"))?;
        digests.insert(case, digest(product));
    }
    let names: Vec<&String> = rows.keys().collect();
    Ok(json!({ "rows": names, "facts": { "digests": digests } }))
}

/// Defines a function that makes the rows of a case and returns the product of its operands, or `None` if tfhe-ntt has
/// no transform for the prime.
macro_rules! open_with {
    ($name:ident, $plan:path, $word:ty) => {
        fn $name(
            case: &str,
            modulus: $word,
            a: Vec<u64>,
            b: Vec<u64>,
            rows: &mut BTreeMap<String, Run>,
        ) -> Option<Vec<u64>> {
            use $plan as family;
            let plan = std::rc::Rc::new(family::Plan::try_new(a.len(), modulus)?);
            let narrow = |x: Vec<u64>| x.into_iter().map(|x| x as $word).collect::<Vec<$word>>();
            let (mut a, mut b) = (narrow(a), narrow(b));
            plan.fwd(&mut a);
            plan.fwd(&mut b);
            plan.mul_assign_normalize(&mut a, &b);
            plan.inv(&mut a);
            let product = a.iter().map(|&x| u64::from(x)).collect();
            let forward = plan.clone();
            let (mut x, mut y) = (Aligned::new(&a), Aligned::new(&a));
            rows.insert(
                format!("forward.{case}"),
                Box::new(move || forward.fwd(x.words())),
            );
            rows.insert(
                format!("inverse.{case}"),
                Box::new(move || {
                    plan.inv(y.words());
                    plan.normalize(y.words());
                }),
            );
            Some(product)
        }
    };
}

open_with!(open_32, prime32, u32);
open_with!(open_64, prime64, u64);

/// A copy of words that starts on a cache line, as our side's copies do. Otherwise the place that an allocator chooses
/// could decide which side is faster.
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

/// Returns the operands of the convolution, the same as on our side.
fn operands(modulus: u64, n: u64) -> (Vec<u64>, Vec<u64>) {
    let limb = |factor: u64| (1..=n).map(|i| i.wrapping_mul(factor) % modulus).collect();
    (limb(0x9e37_79b9_7f4a_7c15), limb(0xbf58_476d_1ce4_e5b9))
}

/// Returns a hash of the words in hexadecimal, as our side does: FNV-1a of 64 bits, with a whole word in place of each
/// byte.
fn digest(limb: Vec<u64>) -> String {
    let hash = limb.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, &word| {
        (hash ^ word).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
