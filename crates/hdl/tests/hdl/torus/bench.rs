// SPDX-License-Identifier: Apache-2.0
//! Checks of a bootstrapping engine with random ciphertexts and keys, against the software's kernels and the cycle
//! model.

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::torus::{Engine, EngineError};
use ringmill_hdl::{BuildOptions, Hdl};
use ringmill_machines::torus::keyswitch::{Digits, Generators, SwitchError, golden};
use ringmill_machines::torus::{
    Golden, KeyStream, KeySwitch, Shape, Sizes, TorusError, give_cycles, load_cycles, run, switch,
    switch_cycles, unload_cycles,
};

use crate::common::failure::{Check, Failure};

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Hdl(error) => error.into(),
            error @ (EngineError::Answered { .. } | EngineError::NeverDone { .. }) => {
                Self::Mismatch(error.to_string())
            }
            // A refusal of the driver says nothing about the RTL.
            other => Self::Tool(other.to_string()),
        }
    }
}

impl From<TorusError> for Failure {
    fn from(error: TorusError) -> Self {
        Self::Tool(error.to_string())
    }
}

impl From<SwitchError> for Failure {
    fn from(error: SwitchError) -> Self {
        Self::Tool(error.to_string())
    }
}

pub fn differs(message: String) -> Check {
    Err(Failure::Mismatch(message))
}

/// Returns a key switch of `levels` digits in base 2^`log_base`, with `cores` generators of masks.
pub fn key_switch(
    (log_base, levels): (u32, usize),
    (cores, rounds, steps): (usize, u32, u32),
) -> KeySwitch {
    KeySwitch {
        digits: Digits { log_base, levels },
        generators: Generators {
            cores,
            rounds,
            steps,
        },
    }
}

/// Returns an engine of twelve butterflies that multiplies one position a cycle.
pub fn small(unroll: usize, places: usize, dim: usize) -> Shape {
    Shape::new(Sizes {
        log_n: 7,
        levels: 3,
        log_base: 7,
        dim,
        unroll,
        units: 3,
        log_lanes: 2,
        log_pos: 0,
        places,
        group: places.div_ceil(2),
        // Several ciphertexts share a step's key, so that the store holds all of it. For one ciphertext it holds two
        // beats, so that products wait when the key stalls.
        key_beats: match places {
            1 => 2,
            _ => (128usize * ((1 << unroll) - 1)).next_power_of_two(),
        },
        switch: key_switch((2, 5), (1, 4, 2)),
    })
    .unwrap()
}

/// Returns an engine of four butterflies, whose model is built quickly.
pub fn tiny(places: usize, dim: usize) -> Shape {
    let sizes = small(1, places, dim).sizes();
    Shape::new(Sizes {
        log_n: 5,
        levels: 2,
        log_base: 10,
        units: 2,
        log_lanes: 1,
        ..sizes
    })
    .unwrap()
}

/// A bootstrapping key and a switching key of random words.
pub struct Key {
    pub golden: Golden,
    pub polynomials: Vec<Vec<u64>>,
    pub seed: [u8; 32],
    pub bodies: Vec<u32>,
    shape: Shape,
}

impl Key {
    pub fn new(shape: Shape, dice: &mut Dice) -> Result<Self, TorusError> {
        let golden = Golden::new(shape)?;
        let polynomials = (0..shape.gadgets() * shape.rows() * 2)
            .map(|_| golden.evaluations(&dice.limb(shape.degree(), 1 << 32)));
        let polynomials = polynomials.collect::<Result<_, _>>()?;
        let mut seed = [0; 32];
        seed.fill_with(|| dice.bits() as u8);
        let rows = shape.degree() * shape.switch().digits().levels;
        Ok(Self {
            polynomials,
            seed,
            bodies: (0..rows).map(|_| dice.bits() as u32).collect(),
            golden,
            shape,
        })
    }

    pub fn stream(&self) -> KeyStream<'_> {
        let polynomials = self.polynomials.iter().map(Vec::as_slice).collect();
        KeyStream::new(self.shape, polynomials).unwrap()
    }

    /// Returns the ciphertexts to which the software switches these.
    pub fn switched(&self, large: &[Vec<u64>]) -> Result<Vec<Vec<u64>>, SwitchError> {
        let words = |words: &Vec<u64>| words.iter().map(|&x| x as u32).collect();
        let large: Vec<Vec<u32>> = large.iter().map(words).collect();
        let (digits, dim) = (self.shape.switch().digits(), self.shape.sizes().dim);
        let small = golden(digits, &self.seed, &self.bodies, dim, &large)?;
        let words = |words: Vec<u32>| words.into_iter().map(u64::from).collect();
        Ok(small.into_iter().map(words).collect())
    }
}

/// A ciphertext to bootstrap: the test polynomial, and the exponents of its negated body and of its mask.
pub struct Job {
    pub table: Vec<u64>,
    pub minus_body: usize,
    pub mask: Vec<usize>,
}

impl Job {
    pub fn new(shape: Shape, dice: &mut Dice) -> Self {
        let two_n = 2 * shape.degree() as u64;
        // Edges of the range are drawn more often than by chance.
        let mut exponent = || match dice.below(6) {
            0 => [0, 1, two_n / 2 - 1, two_n / 2, two_n - 1][dice.below(5) as usize] as usize,
            _ => dice.below(two_n) as usize,
        };
        let minus_body = exponent();
        let mask = (0..shape.sizes().dim).map(|_| exponent()).collect();
        Self {
            minus_body,
            mask,
            table: dice.limb(shape.degree(), 1 << 32),
        }
    }
}

/// Returns a mismatch if a result's words are not those expected.
fn same(what: &str, place: usize, got: &[u64], expected: &[u64]) -> Check {
    match (0..expected.len()).find(|&i| got.get(i) != Some(&expected[i])) {
        None => Ok(()),
        Some(at) => differs(format!(
            "{what} of place {place}, word {at}: {:?}, not {}",
            got.get(at),
            expected[at]
        )),
    }
}

/// Loads, bootstraps, unloads and switches ciphertexts in `places` places, and compares every word and every number of
/// cycles. Returns the cycles of the run and of the switch.
pub fn check_run(
    engine: &mut Engine,
    key: &Key,
    places: usize,
    stalls: bool,
    dice: &mut Dice,
) -> Result<(u64, u64), Failure> {
    let shape = engine.shape();
    let jobs: Vec<_> = (0..places).map(|_| Job::new(shape, dice)).collect();
    engine.stall(None);
    for (place, job) in jobs.iter().enumerate() {
        let cycles = engine.load(place as u8, &job.table, job.minus_body, &job.mask)?;
        if cycles != load_cycles(shape) {
            differs(format!("a load takes {cycles}, {}", load_cycles(shape)))?;
        }
    }
    let falls = Dice::new(dice.bits());
    engine.stall(stalls.then(|| falls.clone()));
    let stream = key.stream();
    let cycles = engine.run(places as u8 - 1, &stream)?;
    let mut model_falls = falls;
    let model = run(shape, places, || !stalls || model_falls.below(8) >= 3);
    if cycles != model.cycles {
        differs(format!(
            "{places} places take {cycles} cycles, the model says {model:?}"
        ))?;
    }
    let expected = jobs.iter().map(|job| {
        let (golden, mask) = (&key.golden, &job.mask);
        golden.bootstrap(&stream, &job.table, job.minus_body, mask)
    });
    let large: Vec<_> = expected.collect::<Result<_, _>>()?;
    for (place, expected) in large.iter().enumerate() {
        let (got, cycles) = engine.unload(place as u8)?;
        same("the extracted ciphertext", place, &got, expected)?;
        if !stalls && cycles != unload_cycles(shape) {
            differs(format!("an unload takes {cycles}"))?;
        }
    }
    let switched = check_switch(engine, key, &large, stalls, dice)?;
    Ok((cycles, switched))
}

/// Switches the ciphertexts `large`, which the engine extracted, and compares every word and the cycles. Returns the
/// cycles of the switch.
pub fn check_switch(
    engine: &mut Engine,
    key: &Key,
    large: &[Vec<u64>],
    stalls: bool,
    dice: &mut Dice,
) -> Result<u64, Failure> {
    let (shape, places) = (engine.shape(), large.len());
    let falls = Dice::new(dice.bits());
    engine.stall(stalls.then(|| falls.clone()));
    let cycles = engine.switch(places as u8 - 1, &key.seed, &key.bodies)?;
    let mut model_falls = falls;
    let model = match stalls {
        true => switch(shape, places, || model_falls.below(8) >= 3),
        false => switch_cycles(shape, places),
    };
    if cycles != model {
        differs(format!(
            "the switch of {places} places takes {cycles} cycles, the model says {model}"
        ))?;
    }
    for (place, expected) in key.switched(large)?.iter().enumerate() {
        let (got, cycles) = engine.give(place as u8)?;
        same("the switched ciphertext", place, &got, expected)?;
        if !stalls && cycles != give_cycles(shape) {
            differs(format!("giving takes {cycles}"))?;
        }
    }
    Ok(cycles)
}

pub fn engine(hdl: &Hdl, shape: Shape) -> Result<Engine, Failure> {
    let options = BuildOptions::default();
    Ok(Engine::new(hdl, shape, options)?)
}

/// Checks runs of all places down to one, with and without stalls.
pub fn check(hdl: &Hdl, shape: Shape, seed: u64) -> Check {
    let mut dice = Dice::new(seed);
    let key = Key::new(shape, &mut dice)?;
    let mut engine = engine(hdl, shape)?;
    for places in (1..=shape.sizes().places).rev() {
        for stalls in [true, false] {
            check_run(&mut engine, &key, places, stalls, &mut dice)?;
        }
    }
    Ok(())
}
