// SPDX-License-Identifier: Apache-2.0
//! The process of the library fheanor in `make bench`. It times one thin bootstrap of BGV for given sizes, with keys of
//! its own. `benches/README.md` has the protocol. Its secret key has the weight of the sparse secret that our bootstrap
//! encapsulates. fheanor itself encapsulates nothing here.

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

/// The standard deviation of the errors in keys and ciphertexts.
const SIGMA: f64 = 3.2;
/// The numbers of digits of Galois keys and of the relinearisation key, as in fheanor's own measurements.
const DIGITS: [usize; 2] = [7, 3];
/// The largest number of products with constants in sequence in a linear map, fheanor's own choice.
const MAP_LEVELS: usize = 4;

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Request {
    Open {
        set: Set,
        rows: Vec<String>,
        /// The folder that keeps linear maps and polynomials from one run to the next.
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
    /// The bits of the ciphertext modulus, with a fraction.
    bits: f64,
    weight: usize,
    /// The largest absolute value of the quotient that the bootstrap removes. It counts only if one digit is removed.
    bound: i64,
}

/// A function that runs one bootstrap.
type Run = Box<dyn Fn()>;

fn main() -> Result<()> {
    let mut run: Option<Run> = None;
    for line in std::io::stdin().lock().lines() {
        let answer = match serde_json::from_str(&line?)? {
            Request::Open { set, rows, cache } => {
                // The memory of the last bootstrap is freed before the next one is made.
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

/// Makes a bootstrap and runs it once. Returns the bootstrap, whether its result decrypts to the encrypted message, and
/// the bits of modulus that it leaves above the noise.
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

/// Measures `count` samples, after one call that is not timed. Returns for each the wall seconds and the processor
/// seconds of a call, as the mean of `calls` calls.
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

/// Returns the processor seconds that all threads of this process have used.
fn processor_seconds() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}
