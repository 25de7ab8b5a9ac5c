// SPDX-License-Identifier: Apache-2.0
//! fheanor's side of `make bench`: one thin bootstrap of BGV for the sizes that it is given, on keys of its own. `benches/README.md`
//! has the protocol. Its secret has the weight that ours encapsulates, with no encapsulation, which takes it longest to do without.

use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Instant;

use feanor_math::homomorphism::Homomorphism;
use feanor_math::integer::{BigIntRing, int_cast};
use feanor_math::primitive_int::StaticRing;
use feanor_math::ring::{RingExtensionStore, RingStore};
use feanor_math::seq::VectorView;
use fheanor::bgv::bootstrap::ThinBootstrapper;
use fheanor::bgv::modswitch::DefaultModswitchStrategy;
use fheanor::bgv::noise_estimator::NaiveBGVNoiseEstimator;
use fheanor::bgv::{
    BGVInstantiation, CiphertextRing, PlaintextRing, Pow2BGV, SecretKeyDistribution,
};
use fheanor::ciphertext_ring::indices::RNSFactorIndexList;
use fheanor::gadget_product::digits::RNSGadgetVectorDigitIndices;
use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;
use serde_json::{Map, Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Deviation of errors.
const SIGMA: f64 = 3.2;
/// Digits of Galois keys and of the relinearisation key: those of fheanor's own measurements.
const DIGITS: [usize; 2] = [7, 3];
/// Constants in sequence of each linear map, at most: fheanor's own choice.
const MAP_LEVELS: usize = 4;

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Request {
    Open {
        set: Set,
        rows: Vec<String>,
        /// Where maps and polynomials are kept from one run to the next.
        cache: String,
    },
    Time {
        row: String,
        count: usize,
        calls: u32,
    },
}

#[derive(Deserialize)]
struct Set {
    log_n: u32,
    prime: i64,
    exponents: [u32; 2],
    /// Of the ciphertext modulus, not whole.
    bits: f64,
    weight: usize,
    /// The largest quotient.
    bound: i64,
}

/// One bootstrap.
type Run = Box<dyn Fn()>;

fn main() -> Result<()> {
    let mut run: Option<Run> = None;
    for line in std::io::stdin().lock().lines() {
        let answer = match serde_json::from_str(&line?)? {
            Request::Open { set, rows, cache } => {
                // The memory of the last goes before the next is made.
                drop(run.take());
                let (made, equal, left) = bootstrap(&set, &cache);
                run = Some(made);
                let equal: Map<String, Value> =
                    rows.iter().map(|row| (row.clone(), equal.into())).collect();
                json!({ "rows": rows, "equal": equal, "facts": { "bits_left": left } })
            }
            Request::Time { row, count, calls } => {
                let run = run.as_ref().ok_or_else(|| format!("no row {row}"))?;
                json!(time(run, count, calls))
            }
        };
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// A bootstrap that is ready to run, whether it gives what was encrypted, and the bits of modulus that it leaves above the noise.
fn bootstrap(set: &Set, cache: &str) -> (Run, bool, usize) {
    let (integers, small) = (BigIntRing::RING, StaticRing::<i64>::RING);
    let mut rng = rand::rng();
    let params = Pow2BGV::new(2 << set.log_n);
    let [r, e] = set.exponents;
    let p = int_cast(set.prime, integers, small);
    let bits = set.bits.round() as usize;
    let plain: PlaintextRing<Pow2BGV> = params.create_plaintext_ring(integers.pow(p, r as usize));
    let cipher: CiphertextRing<Pow2BGV> =
        params.create_ciphertext_ring(bits.saturating_sub(20)..bits + 1);
    let [galois, relin] = DIGITS
        .map(|count| RNSGadgetVectorDigitIndices::select_digits(count, cipher.base_ring().len()));
    let strategy = || DefaultModswitchStrategy::<_, _, false>::new(NaiveBGVNoiseEstimator);
    let removed = (e - r) as usize;
    let bound = (removed == 1).then_some(set.bound);
    let thin = ThinBootstrapper::build_pow2(
        &params,
        &plain,
        &cipher,
        removed,
        bound,
        MAP_LEVELS,
        &galois,
        strategy(),
        Some(cache),
    );
    let distribution = SecretKeyDistribution::SparseWithHwt(set.weight);
    let secret = Pow2BGV::gen_sk(&cipher, &mut rng, distribution);
    let (top, elements) = (
        thin.intermediate_plaintext_ring(),
        thin.required_galois_keys(&plain),
    );
    let gks = Pow2BGV::gen_gks(top, &cipher, &mut rng, &secret, elements, &galois, SIGMA);
    let rk = Pow2BGV::gen_rk(top, &cipher, &mut rng, &secret, &relin, SIGMA);
    let message = plain.int_hom().map(5);
    let ct = Pow2BGV::enc_sym(&plain, &cipher, &mut rng, &message, &secret, SIGMA);
    let one = {
        let (plain, cipher) = (plain.clone(), cipher.clone());
        move || {
            let ct = Pow2BGV::clone_ct(&plain, &cipher, &ct);
            let none = RNSFactorIndexList::empty();
            thin.bootstrap_thin(&none, ct, &rk, &gks, distribution, None, None)
        }
    };
    let fresh = one();
    let low = Pow2BGV::mod_switch_down_C(&cipher, &fresh.dropped_rns_factor_indices);
    let secret = Pow2BGV::mod_switch_sk(&low, &cipher, &secret);
    let left = Pow2BGV::noise_budget(&plain, &low, &fresh.data, &secret);
    let opened = Pow2BGV::dec(&plain, &low, fresh.data, &secret);
    let equal = plain.eq_el(&opened, &message);
    (Box::new(move || drop(one())), equal, left)
}

/// Wall and processor seconds a call, `count` times, each the mean of `calls` calls, after one that is not timed.
fn time(run: &Run, count: usize, calls: u32) -> Vec<[f64; 2]> {
    run();
    let once = |_| {
        let (wall, processor) = (Instant::now(), processor_seconds());
        (0..calls).for_each(|_| run());
        let (processor, wall) = (processor_seconds() - processor, wall.elapsed());
        [wall.as_secs_f64(), processor].map(|t| t / f64::from(calls))
    };
    (0..count).map(once).collect()
}

/// What all threads of this process have used.
fn processor_seconds() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}
