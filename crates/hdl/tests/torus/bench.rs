//! An engine with random ciphertexts and keys, against the software's kernels and the cycle model.

use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::torus::{Engine, EngineError};
use ringmill_hdl::{BuildOptions, Hdl, Optimise};
use ringmill_machines::torus::{
    Golden, KeyStream, Shape, Sizes, TorusError, load_cycles, run, unload_cycles,
};

pub fn hdl() -> &'static Hdl {
    static HDL: OnceLock<Hdl> = OnceLock::new();
    HDL.get_or_init(|| Hdl::find(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap())
}

pub fn seed() -> u64 {
    match std::env::var("RINGMILL_SEED") {
        Ok(text) => text.parse().expect("RINGMILL_SEED is a number"),
        Err(_) => {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            let seed = now.unwrap().as_nanos() as u64;
            println!("RINGMILL_SEED={seed}");
            seed
        }
    }
}

/// Why an engine is not what it should be.
pub enum Failure {
    Engine(EngineError),
    Refused(TorusError),
    Differs(String),
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(error) => write!(f, "{error}"),
            Self::Refused(error) => write!(f, "{error}"),
            Self::Differs(what) => f.write_str(what),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<TorusError> for Failure {
    fn from(error: TorusError) -> Self {
        Self::Refused(error)
    }
}

pub fn differs(message: String) -> Result<(), Failure> {
    Err(Failure::Differs(message))
}

/// Twelve butterflies, a position a cycle.
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
        key_beats: (128usize * ((1 << unroll) - 1)).next_power_of_two(),
    })
    .unwrap()
}

/// A bootstrapping key of random words.
pub struct Key {
    pub golden: Golden,
    pub polynomials: Vec<Vec<u64>>,
    shape: Shape,
}

impl Key {
    pub fn new(shape: Shape, dice: &mut Dice) -> Result<Self, TorusError> {
        let golden = Golden::new(shape)?;
        let polynomials = (0..shape.gadgets() * shape.rows() * 2)
            .map(|_| golden.evaluations(&dice.limb(shape.degree(), 1 << 32)));
        Ok(Self {
            polynomials: polynomials.collect::<Result<_, _>>()?,
            golden,
            shape,
        })
    }

    pub fn stream(&self) -> KeyStream<'_> {
        let polynomials = self.polynomials.iter().map(Vec::as_slice).collect();
        KeyStream::new(self.shape, polynomials).unwrap()
    }
}

/// A ciphertext before its blind rotation.
pub struct Job {
    pub table: Vec<u64>,
    pub minus_body: usize,
    pub mask: Vec<usize>,
}

impl Job {
    pub fn new(shape: Shape, dice: &mut Dice) -> Self {
        let two_n = 2 * shape.degree() as u64;
        // Edges more often than chance would have them.
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

/// Loads, runs and unloads so many ciphertexts; compares every word and every cycle. The cycles of the run.
pub fn check_run(
    engine: &mut Engine,
    key: &Key,
    places: usize,
    stalls: bool,
    dice: &mut Dice,
) -> Result<u64, Failure> {
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
    for (place, job) in jobs.iter().enumerate() {
        let (got, cycles) = engine.unload(place as u8)?;
        let (golden, mask) = (&key.golden, &job.mask);
        let expected = golden.bootstrap(&stream, &job.table, job.minus_body, mask)?;
        if let Some(at) = (0..expected.len()).find(|&i| got.get(i) != Some(&expected[i])) {
            let got = got.get(at);
            differs(format!(
                "place {place}, word {at}: {got:?}, not {}",
                expected[at]
            ))?;
        }
        if !stalls && cycles != unload_cycles(shape) {
            differs(format!("an unload takes {cycles}"))?;
        }
    }
    Ok(cycles)
}

pub fn engine(hdl: &Hdl, shape: Shape) -> Result<Engine, Failure> {
    let options = BuildOptions::default();
    Engine::new(hdl, shape, options).map_err(|e| Failure::Engine(e.into()))
}

/// For engines that run long.
pub fn quick(shape: Shape) -> Engine {
    let options = BuildOptions {
        optimise: Optimise::Run,
        ..BuildOptions::default()
    };
    Engine::new(hdl(), shape, options).unwrap()
}

/// Runs of one to all places, with and without stalls.
pub fn check(hdl: &Hdl, shape: Shape, seed: u64) -> Result<(), Failure> {
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
