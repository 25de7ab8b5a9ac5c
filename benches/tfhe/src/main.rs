// SPDX-License-Identifier: Apache-2.0
//! The process of the library tfhe-rs in `make bench`. It times gates, table look-ups and operations on integers for
//! given parameters, with keys of its own. `benches/README.md` has the protocol.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, Write};
use std::rc::Rc;
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;
use serde_json::{Value, json};
use tfhe::boolean::parameters::{
    BooleanParameters, DecompositionBaseLog, DecompositionLevelCount, DynamicDistribution,
    EncryptionKeyChoice, GlweDimension, LweDimension, PolynomialSize, StandardDev,
};
use tfhe::shortint::parameters::{
    CarryModulus, CiphertextModulus, ClassicPBSParameters, MaxNoiseLevel, MessageModulus,
    ModulusSwitchType,
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;
type Run = Rc<dyn Fn()>;

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Request {
    /// A request to make rows of a parameter set ready. Without `integer_bits`, all rows are the same gate or look-up.
    Open {
        set: Set,
        rows: Vec<String>,
        /// The bits of integers, if each row is an operation on integers with the row's name. `None` for a gate or a
        /// look-up.
        integer_bits: Option<usize>,
    },
    Time {
        row: String,
        count: usize,
        calls: u32,
    },
}

/// The sizes of a parameter set. Standard deviations are fractions of the torus.
#[derive(Deserialize)]
struct Set {
    n: usize,
    k: usize,
    ring: usize,
    pbs_log_base: usize,
    pbs_levels: usize,
    ks_log_base: usize,
    ks_levels: usize,
    lwe_std: f64,
    glwe_std: f64,
    /// The bits of a message, or 0 for booleans.
    message_bits: u32,
    carry_bits: u32,
}

fn main() -> Result<()> {
    let mut rows: BTreeMap<String, Run> = BTreeMap::new();
    for line in std::io::stdin().lock().lines() {
        let answer = match serde_json::from_str(&line?)? {
            Request::Open {
                set,
                rows: names,
                integer_bits: Some(bits),
            } => {
                rows.clear();
                let mut equal = BTreeMap::new();
                for (name, run, right) in integers(&set, &names, bits) {
                    equal.insert(name.clone(), right);
                    rows.insert(name, run);
                }
                json!({ "rows": names, "equal": equal, "facts": Value::Object(Default::default()) })
            }
            Request::Open {
                set, rows: names, ..
            } => {
                rows.clear();
                let (run, equal) = match set.message_bits {
                    0 => gate(&set),
                    _ => lookup(&set),
                };
                rows.extend(names.iter().map(|name| (name.clone(), run.clone())));
                let equal: BTreeMap<_, _> = names.iter().map(|name| (name, equal)).collect();
                json!({ "rows": names, "equal": equal, "facts": Value::Object(Default::default()) })
            }
            Request::Time { row, count, calls } => {
                let run = rows.get(&row).ok_or_else(|| format!("no row {row}"))?;
                json!(time(run, count, calls))
            }
        };
        println!("{answer}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// Returns a NAND gate, with a bootstrap and then a key switch, and whether its results for all four inputs are right.
fn gate(set: &Set) -> (Run, bool) {
    use tfhe::boolean::client_key::ClientKey;
    use tfhe::boolean::server_key::{BinaryBooleanGates, ServerKey};
    let noise = |std| DynamicDistribution::new_gaussian_from_std_dev(StandardDev(std));
    let client = ClientKey::new(&BooleanParameters::new(
        LweDimension(set.n),
        GlweDimension(set.k),
        PolynomialSize(set.ring),
        noise(set.lwe_std),
        noise(set.glwe_std),
        DecompositionBaseLog(set.pbs_log_base),
        DecompositionLevelCount(set.pbs_levels),
        DecompositionBaseLog(set.ks_log_base),
        DecompositionLevelCount(set.ks_levels),
        EncryptionKeyChoice::Small,
    ));
    let server = ServerKey::new(&client);
    let equal = [(false, false), (false, true), (true, false), (true, true)]
        .into_iter()
        .all(|(a, b)| {
            let nand = server.nand(&client.encrypt(a), &client.encrypt(b));
            client.decrypt(&nand) != (a && b)
        });
    let (x, y) = (client.encrypt(true), client.encrypt(false));
    let run = move || {
        std::hint::black_box(server.nand(&x, &y));
    };
    (Rc::new(run), equal)
}

/// Returns the named operations on integers whose digits have this set's parameters, each with whether its result is
/// right.
fn integers(set: &Set, names: &[String], bits: usize) -> Vec<(String, Run, bool)> {
    use tfhe::integer::gen_keys_radix;
    let blocks = bits / set.message_bits as usize;
    let (client, server) = gen_keys_radix(messages(set), blocks);
    let (x, y, mask) = (40_503u64, 777u64, (1u64 << bits) - 1);
    let (a, b, server) = (client.encrypt(x), client.encrypt(y), Rc::new(server));
    let mut rows: Vec<(String, Run, bool)> = Vec::new();
    for name in names {
        let (a, b, keys) = (a.clone(), b.clone(), server.clone());
        let (expected, compute): (u64, Box<dyn Fn() -> tfhe::integer::RadixCiphertext>) =
            match name.as_str() {
                "add" => (
                    (x + y) & mask,
                    Box::new(move || keys.add_parallelized(&a, &b)),
                ),
                "multiply" => (
                    x * y & mask,
                    Box::new(move || keys.mul_parallelized(&a, &b)),
                ),
                "maximum" => (x.max(y), Box::new(move || keys.max_parallelized(&a, &b))),
                "divide" => (x / y, Box::new(move || keys.div_parallelized(&a, &b))),
                _ => continue,
            };
        let right = client.decrypt::<u64>(&compute()) == expected;
        let run = move || {
            std::hint::black_box(compute());
        };
        rows.push((name.clone(), Rc::new(run), right));
    }
    rows
}

/// Returns tfhe-rs's parameters for messages with a carry. A look-up is a key switch and then a bootstrap.
fn messages(set: &Set) -> ClassicPBSParameters {
    let noise = |std| DynamicDistribution::new_gaussian_from_std_dev(StandardDev(std));
    ClassicPBSParameters {
        lwe_dimension: LweDimension(set.n),
        glwe_dimension: GlweDimension(set.k),
        polynomial_size: PolynomialSize(set.ring),
        lwe_noise_distribution: noise(set.lwe_std),
        glwe_noise_distribution: noise(set.glwe_std),
        pbs_base_log: DecompositionBaseLog(set.pbs_log_base),
        pbs_level: DecompositionLevelCount(set.pbs_levels),
        ks_base_log: DecompositionBaseLog(set.ks_log_base),
        ks_level: DecompositionLevelCount(set.ks_levels),
        message_modulus: MessageModulus(1 << set.message_bits),
        carry_modulus: CarryModulus(1 << set.carry_bits),
        max_noise_level: MaxNoiseLevel::new(5),
        log2_p_fail: -64.0,
        ciphertext_modulus: CiphertextModulus::new_native(),
        encryption_key_choice: tfhe::shortint::EncryptionKeyChoice::Big,
        modulus_switch_noise_reduction_params: ModulusSwitchType::Standard,
    }
}

/// Returns a table look-up, and whether its results for all messages are right.
fn lookup(set: &Set) -> (Run, bool) {
    let (client, server) = tfhe::shortint::gen_keys(messages(set));
    let mask = (1u64 << set.message_bits) - 1;
    let table = server.generate_lookup_table(move |m| (m + 1) & mask);
    let equal = (0..=mask).all(|m| {
        let found = server.apply_lookup_table(&client.encrypt(m), &table);
        client.decrypt(&found) == (m + 1) & mask
    });
    let x = client.encrypt(1);
    let run = move || {
        let _ = std::hint::black_box(server.apply_lookup_table(&x, &table));
    };
    (Rc::new(run), equal)
}

/// Measures `count` samples, after one call that is not timed. Returns for each the wall seconds and the processor
/// seconds of a call, as the mean of `calls` calls.
fn time(run: &Run, count: usize, calls: u32) -> Vec<[f64; 2]> {
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
