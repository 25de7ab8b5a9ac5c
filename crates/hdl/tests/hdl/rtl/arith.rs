// SPDX-License-Identifier: Apache-2.0
//! Tests of the modular adder, subtractor and halver, and of the multipliers of every flavour, against `ringmill_math`.

use ringmill_hdl::leaves::{MULTIPLIERS, Multiplier, SOLINAS52_Q, flavour};
use ringmill_hdl::{BuildOptions, Hdl, HdlError, Model, Top};
use ringmill_math::Modulus;

use crate::common::failure::{Check, ensure};
use crate::rtl::support::{Case, Pipeline, Rng, hdl, residues, seed};

/// Returns the moduli to test for a multiplier, each with the run-time word size, the steps and R mod q.
pub fn configs(multiplier: &Multiplier, rng: &mut Rng) -> Vec<Config> {
    match multiplier.flavour {
        flavour::WORD_MONTGOMERY => word_montgomery_configs(rng),
        flavour::MONTGOMERY_FRIENDLY => mont17_configs(rng),
        flavour::NTT_FRIENDLY => ntt_friendly_configs(rng),
        _ => vec![Config::new(multiplier.q.unwrap_or(SOLINAS52_Q), 9, 2, 0)],
    }
}

/// A modulus, and what a multiplier's run-time inputs say of it.
#[derive(Debug)]
pub struct Config {
    pub modulus: Modulus,
    pub word: u32,
    pub steps: u32,
    /// R mod q.
    pub r: u64,
}

impl Config {
    fn new(q: u64, word: u32, steps: u32, log_r: u32) -> Self {
        let modulus = Modulus::new(q).expect("moduli of these tests are below 2^61");
        Self {
            modulus,
            word,
            steps,
            r: modulus.reduce_wide(1 << log_r),
        }
    }

    pub fn apply(&self, pipeline: &mut Pipeline) -> Result<(), ringmill_hdl::HdlError> {
        let q = self.modulus.value();
        pipeline.set("q_i", q)?;
        // Only word-level Montgomery reads the following; the port has 21 bits.
        pipeline.set("qh_i", (q >> self.word) & 0x1f_ffff)?;
        pipeline.set("word_i", u64::from(self.word))?;
        pipeline.set("three_i", u64::from(self.steps == 3))
    }

    /// Computes a b R^-1 mod q.
    pub fn product(&self, a: u64, b: u64) -> u64 {
        let inverse = self.modulus.inv(self.r).expect("q is odd");
        self.modulus.mul(self.modulus.mul(a, b), inverse)
    }
}

/// Returns moduli for each word size w and number of steps L: of the least and of the most bits K in w (L - 1) < K <=
/// min(w L, 32), and a random one between. The paper's sets follow with their largest primes.
fn word_montgomery_configs(rng: &mut Rng) -> Vec<Config> {
    let mut configs = Vec::new();
    for word in 9..=17u32 {
        for steps in [2, 3] {
            let (low, high) = (word * (steps - 1) + 1, (word * steps).min(32));
            if low > high {
                continue;
            }
            let least = 1u64 << (low - 1 - word);
            let most = (1u64 << (high - word)) - 1;
            for qh in [least, most, least + rng.below(most - least + 1)] {
                configs.push(Config::new((qh << word) + 1, word, steps, word * steps));
            }
        }
    }
    for (log_n, q) in paper_moduli() {
        let word = log_n + 1;
        let steps = (u64::BITS - q.leading_zeros()).div_ceil(word);
        configs.push(Config::new(q, word, steps, word * steps));
    }
    configs
}

/// Returns log2 n and the largest prime of K bits for each of the paper's sets (n, K).
fn paper_moduli() -> impl Iterator<Item = (u32, u64)> {
    let sets = [(8, 16), (9, 16), (10, 16), (10, 32), (11, 32), (12, 32)];
    sets.into_iter().map(|(log_n, bits)| {
        let primes = ringmill_math::primes::ntt_primes(bits, log_n, 1);
        (log_n, primes.expect("such primes exist")[0])
    })
}

fn mont17_configs(rng: &mut Rng) -> Vec<Config> {
    let largest = (1 << 15) - 1;
    [1, 6, largest, 1 + rng.below(largest)]
        .map(|qh| Config::new((qh << 17) + 1, 17, 2, 34))
        .into()
}

/// Returns moduli q = 1 mod 2^9 below 2^32: at both ends of the range, with each value of bits 9 and 10, at random, and
/// the largest primes of the paper's sets.
fn ntt_friendly_configs(rng: &mut Rng) -> Vec<Config> {
    let largest = (1 << 23) - 1;
    let mut high = vec![1, 2, 3, 4, largest, largest - 1, largest - 2, largest - 3];
    high.extend((0..8).map(|_| 1 + rng.below(largest)));
    let mut moduli: Vec<u64> = high.into_iter().map(|qh| (qh << 9) + 1).collect();
    moduli.extend(paper_moduli().map(|(_, q)| q));
    let config = |q| Config::new(q, 9, 3, 33);
    moduli.into_iter().map(config).collect()
}

/// Returns every pair of the residues at the edges of the range, then random pairs.
pub fn pairs(q: u64, random: usize, rng: &mut Rng) -> Vec<(u64, u64)> {
    let edges = residues(q, 0, rng);
    let mut pairs: Vec<(u64, u64)> = edges
        .iter()
        .flat_map(|&a| edges.iter().map(move |&b| (a, b)))
        .collect();
    pairs.extend((0..random).map(|_| (rng.below(q), rng.below(q))));
    pairs
}

pub fn check_multiplier(hdl: &Hdl, multiplier: &Multiplier, seed: u64) -> Check {
    let mut rng = Rng::new(seed);
    let model = hdl.model(&multiplier.top("rm_mod_mul"), BuildOptions::default())?;
    let ports = [("a_i", multiplier.width), ("b_i", multiplier.width)];
    let mut pipeline = Pipeline::new(model, &ports, &["r_o"])?;
    for config in configs(multiplier, &mut rng) {
        pipeline.model.restart(rng.bits() as u32)?;
        config.apply(&mut pipeline)?;
        let cases: Vec<Case> = pairs(config.modulus.value(), 150, &mut rng)
            .into_iter()
            .map(|(a, b)| Case {
                inputs: vec![a, b],
                outputs: vec![config.product(a, b)],
            })
            .collect();
        pipeline.run(&cases, multiplier.latency, &mut rng)?;
    }
    Ok(())
}

#[test]
#[ignore = "many small models; `make full` runs it"]
fn multipliers_of_every_flavour() {
    for multiplier in &MULTIPLIERS {
        check_multiplier(hdl(), multiplier, seed())
            .unwrap_or_else(|e| panic!("{}: {e:?}", multiplier.name));
    }
}

/// Checks the modular adder, subtractor and halver: for all operands at 4 bits, for edges and random operands at 60
/// bits.
pub fn check_combinational(hdl: &Hdl, seed: u64) -> Check {
    let mut rng = Rng::new(seed);
    type Golden = fn(Modulus, u64, u64) -> u64;
    let operations: [(&str, Golden); 3] = [
        ("rm_mod_add", Modulus::add),
        ("rm_mod_sub", Modulus::sub),
        ("rm_mod_half", |q, a, _| q.mul(a, q.value().div_ceil(2))),
    ];
    for (module, golden) in operations {
        for width in [4u32, 60] {
            let top = Top::new(module).int("Width", u64::from(width));
            let mut model = hdl.model(&top, BuildOptions::default())?;
            let (a_i, q_i, r_o) = (
                model.input("a_i")?,
                model.input("q_i")?,
                model.output("r_o")?,
            );
            let b_i = model.input("b_i").ok();
            let moduli: Vec<u64> = if width == 4 {
                (3..16).step_by(2).collect()
            } else {
                vec![3, (1 << 60) - 1, (rng.bits() >> 4) | 1]
            };
            for q in moduli {
                let modulus = Modulus::new(q).expect("in range");
                let cases = if width == 4 {
                    (0..q).flat_map(|a| (0..q).map(move |b| (a, b))).collect()
                } else {
                    pairs(q, 200, &mut rng)
                };
                model.set(q_i, q)?;
                for (a, b) in cases {
                    model.set(a_i, a)?;
                    if let Some(b_i) = b_i {
                        model.set(b_i, b)?;
                    }
                    model.eval()?;
                    let (got, want) = (model.get(r_o)?, golden(modulus, a, b));
                    ensure!(
                        got == want,
                        "{module}: q {q} a {a} b {b}: {got}, not {want}"
                    );
                }
            }
        }
    }
    Ok(())
}

#[test]
#[ignore = "many small models; `make full` runs it"]
fn add_subtract_halve() {
    check_combinational(hdl(), seed()).unwrap();
}

/// Puts a case into the model in each cycle, and checks each case's result `latency` cycles later.
fn one_a_cycle<C>(
    model: &mut Model,
    cases: &[C],
    latency: usize,
    put: impl Fn(&mut Model, &C) -> Result<(), HdlError>,
    check: impl Fn(&Model, &C) -> Check,
) -> Check {
    for cycle in 0..cases.len() + latency - 1 {
        if let Some(case) = cases.get(cycle) {
            put(model, case)?;
        }
        model.step(1)?;
        if let Some(at) = (cycle + 1).checked_sub(latency) {
            check(model, &cases[at])?;
        }
    }
    Ok(())
}

/// Checks the integer multiplier with ragged tiles and tiles made of adders, one product a cycle.
pub fn check_tiled(hdl: &Hdl, seed: u64) -> Check {
    let mut rng = Rng::new(seed);
    let top = Top::new("rm_mul_tiled")
        .int("Width", 31)
        .int("TileA", 13)
        .int("TileB", 10)
        .int("FabricMax", 5)
        .int("Radix", 3)
        .int("InReg", 1);
    let mut model = hdl.model(&top, BuildOptions::default())?;
    let (a_i, b_i, p_o) = (
        model.input("a_i")?,
        model.input("b_i")?,
        model.output("p_o")?,
    );
    // The cycles of the input registers and of the tiles' registers, and three for 12 tiles that are summed by threes:
    // to 4, 2 and 1.
    const LATENCY: usize = 1 + 1 + 3;
    let mut cases = pairs(1 << 31, 300, &mut rng);
    cases.extend((0..31).flat_map(|i| (0..31).map(move |j| (1 << i, 1 << j))));
    let put = |model: &mut Model, &(a, b): &(u64, u64)| {
        model.set(a_i, a)?;
        model.set(b_i, b)
    };
    one_a_cycle(&mut model, &cases, LATENCY, put, |model, &(a, b)| {
        let got = model.get(p_o)?;
        ensure!(got == a * b, "{a} * {b}: {got}");
        Ok(())
    })
}

#[test]
fn integer_multiplier() {
    check_tiled(hdl(), seed()).unwrap();
}

/// Primes just below and just above a power of two. Their difference from it has few signed digits or many, and is too
/// wide for a DSP block in some.
const NEAR: [u64; 8] = [
    0x0800_0000_0230_0001,
    0x0fff_ffff_fcc6_5201,
    0x003f_ffff_ff55_0001,
    0x003f_ffff_ff00_0001,
    0x0020_0000_000e_0001,
    0x0fff_ffff_f7da_8581,
    0x1fff_fffc_e001,
    0x3fff_f401,
];

fn wide(value: u128, bits: u32) -> Vec<u32> {
    let words = (0..bits.div_ceil(32)).map(|k| (value >> (32 * k)) as u32);
    words.collect()
}

fn narrow(words: &[u32]) -> u128 {
    let places = words.iter().enumerate();
    places.fold(0, |sum, (k, &word)| sum | u128::from(word) << (32 * k))
}

/// Checks the multiplier of columns of DSP blocks, one product a cycle. Some widths have rows above the second column,
/// some have none, and some factors are filled up with zeros. Some first factors have more bits than the second. The
/// module takes their upper bits only if the second factor is 1, so these bits are tried with a second factor of 1.
pub fn check_cascade(hdl: &Hdl, seed: u64) -> Check {
    let mut rng = Rng::new(seed);
    for (width, a_width, latency) in [
        (54u32, 54u32, 7usize),
        (54, 60, 7),
        (53, 53, 7),
        (60, 60, 7),
        (52, 60, 7),
        (45, 45, 6),
        (30, 60, 6),
    ] {
        let top = Top::new("rm_mul_cascade")
            .int("Width", width.into())
            .int("AWidth", a_width.into());
        let mut model = hdl.model(&top, BuildOptions::default())?;
        let (a_i, b_i) = (model.input("a_i")?, model.input("b_i")?);
        let p_o = model.output("p_o")?;
        let mut cases = pairs(1 << width, 300, &mut rng);
        cases.extend((0..width).flat_map(|i| (0..width).map(move |j| (1 << i, 1 << j))));
        cases.extend((0..100).map(|_| (rng.below(1 << a_width), 1)));
        let put = |model: &mut Model, &(a, b): &(u64, u64)| {
            model.set(a_i, a)?;
            model.set(b_i, b)
        };
        one_a_cycle(&mut model, &cases, latency, put, |model, &(a, b)| {
            let got = narrow(&model.get_words(p_o)?);
            let want = u128::from(a) * u128::from(b);
            ensure!(got == want, "{width} bits: {a} * {b}: {got}");
            Ok(())
        })?;
    }
    Ok(())
}

#[test]
#[ignore = "a model for each width; `make full` runs it"]
fn multiplier_of_columns() {
    check_cascade(hdl(), seed()).unwrap();
}

/// Checks the reducer that leaves out the last correction, one number a cycle: its result is congruent modulo Q, and in
/// [-Q, Q).
pub fn check_lazy(hdl: &Hdl, seed: u64) -> Check {
    const LATENCY: usize = 4;
    let mut rng = Rng::new(seed);
    for q in NEAR {
        let width = 64 - q.leading_zeros();
        let top = Top::new("rm_red_lazy")
            .int("Width", width.into())
            .int("Q", q);
        let mut model = hdl.model(&top, BuildOptions::default())?;
        let (t_i, z_o) = (model.input("t_i")?, model.output("z_o")?);
        let mut cases: Vec<u128> = pairs(q, 400, &mut rng)
            .into_iter()
            .map(|(a, b)| u128::from(a) * u128::from(b))
            .collect();
        // Numbers just below Q^2, the powers of two, at which the folds' parts begin, and random ones.
        let square = u128::from(q) * u128::from(q);
        cases.extend((0..200).map(|i| square - 1 - i));
        cases.extend(
            (0..2 * width - 1)
                .map(|i| 1u128 << i)
                .filter(|t| *t < square),
        );
        cases.extend((0..200).map(|_| u128::from(rng.bits()) % square));
        let put = |model: &mut Model, &t: &u128| model.set_words(t_i, &wide(t, 2 * width));
        one_a_cycle(&mut model, &cases, LATENCY, put, |model, &t| {
            let unused = 63 - width;
            let z = i128::from((model.get(z_o)? << unused) as i64 >> unused);
            let q = i128::from(q);
            ensure!((-q..q).contains(&z), "{q}: {t} gives {z}");
            let want = (t % u128::from(q as u64)) as i128;
            ensure!(z.rem_euclid(q) == want, "{q}: {t} gives {z}, not {want}");
            Ok(())
        })?;
    }
    Ok(())
}

#[test]
#[ignore = "a model for each width; `make full` runs it"]
fn reducer_without_its_correction() {
    check_lazy(hdl(), seed()).unwrap();
}
