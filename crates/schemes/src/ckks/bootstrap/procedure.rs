// SPDX-License-Identifier: Apache-2.0
//! A bootstrap as a procedure of programs. It is emitted for the demands of a program: the sizes and scales of the
//! values that the program bootstraps.

use std::fmt;
use std::sync::Arc;

use num_complex::Complex64;
use ringmill_isa::Level;
use ringmill_isa::macros::op::MacroKeys;
use ringmill_isa::macros::{MacroImm, MacroOp, MacroProgram, SchemeName};

use super::bounds::{Bounds, root};
use super::code::{Code, Value};
use super::linear::{Map, map};
use super::modulo::{Removal, Removed, remove};
use super::sawtooth::NearIntegers;
use super::setup::{Bootstrapping, Set};
use super::transform::{Direction, turned};
use crate::ckks::{CkksError, Encoder, Params};
use crate::rlwe::{KeyRequest, Spread};

/// The demands of a program on its bootstraps: the kind, the size and the scales of the values that it bootstraps.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Wanted {
    /// Whether all bootstrapped values are real. A bootstrap of real values drops the imaginary parts of its
    /// operand.
    pub real: bool,
    /// A bound on the absolute values that are bootstrapped.
    pub magnitude: f64,
    /// The scale of the operand of a bootstrap, then the scale of its result.
    pub scales: [f64; 2],
}

/// A constant of a bootstrap: a vector of numbers in turned slots ([`super::transform`]), with its level and scale. A
/// vector that is shorter than the slots repeats through them.
#[derive(Clone)]
pub struct Constant {
    pub slots: Arc<[Complex64]>,
    pub level: Level,
    pub scale: f64,
    /// Whether the constant also has limbs modulo the special primes.
    pub special: bool,
}

impl Constant {
    /// Encodes the constant. A vector that repeats through the slots has limbs of blocks of equal residues.
    ///
    /// # Errors
    /// Fails if the encoder's parameters lack the constant's level or have too few slots. Nothing else checks that they
    /// are the bootstrap's.
    pub fn encoded(&self, encoder: &Encoder) -> Result<Spread, CkksError> {
        let params = encoder.params();
        let slots = turned(self.slots.iter().copied());
        let moduli: Vec<usize> = self.moduli(params).collect();
        let limbs = encoder.encode_over(&slots, (self.level, self.scale), &moduli)?;
        let repeated = self.repeated(params);
        let limbs = limbs.chunks_exact(params.degree());
        let values = limbs.map(|limb| limb.iter().step_by(repeated).copied().collect());
        Ok(Spread::new(
            *params.id(),
            moduli,
            values.collect(),
            repeated,
        ))
    }

    /// Returns the indices of the moduli of the constant's limbs: those of the level, then those of the special primes if
    /// it has limbs for them.
    fn moduli(&self, params: &Params) -> impl Iterator<Item = usize> {
        let special = params.cipher_count()..params.moduli().len();
        let special = special.filter(|_| self.special);
        self.level.moduli().chain(special)
    }

    /// Returns the number of limbs of the encoded constant, and the length of their blocks of equal residues.
    pub fn limbs(&self, params: &Params) -> [usize; 2] {
        [self.moduli(params).count(), self.repeated(params)]
    }

    /// Returns the number of equal residues in each block of the constant's limbs.
    fn repeated(&self, params: &Params) -> usize {
        (params.slots() / self.slots.len().max(1)).max(1)
    }
}

/// A bootstrap as a procedure of programs. It takes a ciphertext at level [`Layout::start`](super::Layout::start) and
/// returns one at level [`Layout::end`](super::Layout::end).
#[derive(Clone)]
pub struct Procedure {
    setup: Bootstrapping,
    wanted: Wanted,
    /// A macro program whose one procedure is the bootstrap.
    program: MacroProgram,
    constants: Vec<Constant>,
    key_names: Vec<KeyRequest>,
    error: f64,
    encoder: Arc<Encoder>,
    seeded: bool,
}

impl fmt::Debug for Procedure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Procedure({})", self.setup)
    }
}

/// The factor by which the value in a slot, together with its error, may exceed the largest value that the program
/// states.
const ROOM: f64 = 1.02;

impl Procedure {
    /// Emits a bootstrap of real numbers up to 1 in absolute value, at the default scale of a named parameter set. Its
    /// keys come with seeds. For programs, the compiler emits a bootstrap by their demands instead.
    ///
    /// # Errors
    /// The errors of [`Procedure::new`].
    pub fn of_set(set: Set) -> Result<Self, CkksError> {
        let setup = set.bootstrapping()?;
        let scale = setup.params().default_scale();
        let wanted = Wanted {
            real: true,
            magnitude: 1.0,
            scales: [scale, scale],
        };
        Self::new(setup, wanted, true)
    }

    /// Emits a bootstrap for the demands `wanted` of a program. `seeded` says whether its keys come with seeds.
    ///
    /// # Errors
    /// Fails for a magnitude or scales that are not positive and finite, and for parameters with too few levels.
    pub fn new(setup: Bootstrapping, wanted: Wanted, seeded: bool) -> Result<Self, CkksError> {
        let usable = |x: f64| x.is_finite() && x > 0.0;
        let [start, end] = wanted.scales;
        if ![wanted.magnitude, start, end].into_iter().all(usable) {
            return Err(CkksError::NotBootstrapped {
                reason: format!(
                    "values up to {} at scales {start} and {end}",
                    wanted.magnitude
                ),
            });
        }
        let mut code = Code::default();
        let (result, error) = emitted(&mut code, &setup, &wanted)?;
        let (proc, constants) = code.procedure("ckks.bootstrap", result);
        let mut key_names = Vec::new();
        for instr in &proc.instrs {
            key_names.extend(keys(&setup, instr.op, &instr.imm));
        }
        key_names.sort_unstable();
        key_names.dedup();
        // The program has no vectors.
        let scheme = SchemeName::new("ckks").unwrap_or_default();
        let mut program = MacroProgram::new(proc.name.clone(), scheme, 1);
        program.procs.push(proc);
        let encoder = Arc::new(Encoder::new(Arc::clone(setup.params())));
        Ok(Self {
            setup,
            wanted,
            program,
            constants,
            key_names,
            error,
            encoder,
            seeded,
        })
    }

    pub fn params(&self) -> &Arc<Params> {
        self.setup.params()
    }

    pub fn setup(&self) -> &Bootstrapping {
        &self.setup
    }

    pub fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    /// Returns a macro program whose only procedure is the bootstrap.
    pub fn program(&self) -> &MacroProgram {
        &self.program
    }

    /// Returns the constants that the bootstrap's `LIFT` instructions name, in the order of their numbers.
    pub fn constants(&self) -> &[Constant] {
        &self.constants
    }

    /// Encodes the constant that `LIFT` instructions call by this number, or returns `None` if there is none.
    pub fn encoded(&self, number: u32) -> Option<Result<Spread, CkksError>> {
        let constant = self.constants.get(number as usize)?;
        Some(constant.encoded(&self.encoder))
    }

    /// Returns whether the bootstrap's keys come with seeds.
    pub fn seeded(&self) -> bool {
        self.seeded
    }

    /// Returns the level of the bootstrap's operand.
    pub fn start(&self) -> Level {
        self.setup.layout().start()
    }

    /// Returns the level of the bootstrap's result.
    pub fn end(&self) -> Level {
        self.setup.layout().end()
    }

    /// Returns a bound on the error that a bootstrap adds to a slot, not counting the error that its operand has.
    /// The bound holds if the operand's error is at most [`Procedure::most`].
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Returns the largest error in a slot of the operand for which [`Procedure::error`] bounds the error that a
    /// bootstrap adds.
    pub fn most(&self) -> f64 {
        self.wanted.magnitude * (ROOM - 1.0)
    }

    /// Returns the names of the keys that the bootstrap needs, each once.
    pub fn key_names(&self) -> &[KeyRequest] {
        &self.key_names
    }
}

/// Returns the names of the keys that an instruction of a bootstrap needs.
fn keys(setup: &Bootstrapping, op: MacroOp, imm: &MacroImm) -> Vec<KeyRequest> {
    let galois = |of: &[ringmill_isa::Galois]| of.iter().copied().map(KeyRequest::Galois).collect();
    match (op.columns().keys, op, imm) {
        (MacroKeys::Relin, ..) => vec![KeyRequest::Relin],
        (MacroKeys::Galois, ..) => vec![KeyRequest::Galois(setup.params().conjugation_element())],
        (MacroKeys::Linked, MacroOp::Encapsulate, _) => vec![KeyRequest::Encapsulation],
        (MacroKeys::Linked, MacroOp::Modraise, _) => vec![KeyRequest::Decapsulation],
        (MacroKeys::Linked, _, MacroImm::Elements(elements)) => galois(&elements.of),
        (MacroKeys::Linked, _, MacroImm::Matrix(matrix)) => {
            galois(&[matrix.babies.as_slice(), &matrix.giants].concat())
        }
        (
            MacroKeys::Linked
            | MacroKeys::None
            | MacroKeys::Switch
            | MacroKeys::Refresh
            | MacroKeys::Unknown,
            ..,
        ) => Vec::new(),
    }
}

/// Emits a bootstrap with all its iterations. Returns the value of its result, and a bound on the error that the
/// bootstrap adds to a slot.
fn emitted(
    code: &mut Code,
    setup: &Bootstrapping,
    wanted: &Wanted,
) -> Result<(Value, f64), CkksError> {
    let layout = setup.layout();
    let bounds = &mut Bounds::new(setup.params());
    let [start, end] = wanted.scales;
    let operand = code.operand(layout.start(), start);
    let mut sum: Option<Removed> = None;
    // A bound on the imaginary error that no later iteration removes.
    let mut imaginary = 0.0;
    for left in (0..layout.iterations).rev() {
        let (of, magnitude, rounding) = match &sum {
            None => (operand, wanted.magnitude, 0.0),
            Some(found) => {
                let (residue, rounding) = residue(code, bounds, wanted, operand, found.value);
                (residue, found.error(0.0), rounding)
            }
        };
        // An imaginary error would stay, as only the real part of a residue is bootstrapped. The real part has twice
        // the scale.
        let corrected = wanted.real && left > 0;
        let once = Wanted {
            real: wanted.real,
            magnitude,
            scales: [of.scale, if corrected { end / 2.0 } else { end }],
        };
        let mut found = steps(code, bounds, setup, &once, of)?;
        if corrected {
            found.value = code.real_part(found.value);
            let switch = bounds.switch(found.value.level, found.value.scale);
            found.random = root([found.random, switch]);
            imaginary += switch;
        }
        if let Some(before) = sum {
            found.value = code.add(before.value, found.value);
            found.fixed += rounding;
        }
        sum = Some(found);
    }
    let found = sum.ok_or_else(|| CkksError::NotBootstrapped {
        reason: "a bootstrap of no iterations".into(),
    })?;
    let prime = setup.params().cipher_moduli();
    let prime = prime.get(found.value.level.index()).copied().unwrap_or(1);
    let result = code.rescale(found.value, prime);
    let error = found.error(bounds.rescale(result.scale)) + imaginary;
    Ok((result, error))
}

/// The factor by which the scales of an operand and of its bootstrap are multiplied, so that the ratio of both scales
/// is a ratio of two integers, nearly.
const COMMON: f64 = (1u64 << 24) as f64;

/// Emits the difference of an operand and its bootstrap at the operand's level. Returns its value, and a bound on its
/// distance to the negative of the error of the bootstrap.
fn residue(
    code: &mut Code,
    bounds: &mut Bounds,
    wanted: &Wanted,
    operand: Value,
    result: Value,
) -> (Value, f64) {
    // The scales of two levels differ a little, and the factor of the operand is rounded to an integer.
    let factor = result.scale * COMMON / operand.scale;
    let rounding = wanted.magnitude * ROOM * 0.5 / factor;
    let from = code.mul_constant(operand, 1.0, factor);
    let low = code.at(result, operand.level);
    let low = code.mul_constant(low, 1.0, COMMON);
    let residue = code.sub(from, low);
    match wanted.real {
        // The operand has imaginary errors that the bootstrap has dropped.
        true => {
            let switch = bounds.switch(residue.level, residue.scale);
            (code.real_part(residue), rounding + switch)
        }
        false => (residue, rounding),
    }
}

/// Emits the steps of one bootstrap but for the last division. The errors of the result are those that the steps add to
/// a slot.
fn steps(
    code: &mut Code,
    bounds: &mut Bounds,
    setup: &Bootstrapping,
    wanted: &Wanted,
    operand: Value,
) -> Result<Removed, CkksError> {
    let (params, layout) = (setup.params(), setup.layout());
    let first = |primes: &[u64]| primes.first().map_or(1.0, |&q| q as f64);
    let (base, special) = (
        first(params.cipher_moduli()),
        first(params.special_moduli()),
    );
    let [start, end] = wanted.scales;
    let ratio = (-f64::from(layout.ratio_bits)).exp2();
    // The scale of the message in coefficients, as a part of q_0.
    let message = base * ratio / wanted.magnitude;
    // Key switches add less to a value at a larger scale. The product with a power of two is exact.
    let larger = (message / start).log2().floor().max(0.0).exp2();
    let operand = code.mul_constant(operand, 1.0, larger);
    let down = Map {
        direction: Direction::ToCoefficients,
        stages: layout.to_coefficients,
        scale: message,
        magnitude: wanted.magnitude,
        divides: true,
    };
    let (lowest, of_down) = map(code, bounds, params, operand, &down)?;
    let sparse = code.encapsulate(lowest);
    let encapsulated = bounds.encapsulated(special / base, setup.weight()) / message;
    let width = ratio * ROOM;
    let domain = NearIntegers {
        integers: (setup.range() + width) as u32,
        width,
    };
    // Twice K, as a value and its conjugate are added.
    let range = domain.range();
    let raised = code.raise(sparse, layout.top(), 2.0 * range * base);
    let series = layout.top().0.saturating_sub(layout.to_slots) as usize;
    let series = params
        .cipher_moduli()
        .get(series)
        .map_or(1.0, |&q| q as f64);
    let up = Map {
        direction: Direction::ToSlots,
        stages: layout.to_slots,
        // Twice the prime of the series, as the removal of multiples of q_0 wants it.
        scale: 2.0 * series.log2().round().exp2(),
        magnitude: bounds.raised(setup.weight()) / (2.0 * range),
        // A conjugation adds an error to a value at its scale, so it comes before the division.
        divides: false,
    };
    let (slots, of_up) = map(code, bounds, params, raised, &up)?;
    let raise = bounds.switch(layout.top(), raised.scale) / (params.slots() as f64).sqrt();
    let of_up = root([of_up, raise]);
    let prime = params.cipher_moduli().get(slots.level.index());
    let prime = prime.copied().unwrap_or(1);
    let switch = bounds.switch(slots.level, slots.scale) + bounds.rescale(up.scale);
    let removal = Removal {
        domain,
        log_length: layout.log_length,
        error: 2.0 * of_up + switch,
        factor: base / message,
        scale: end,
    };
    let error = of_down + encapsulated;
    if wanted.real {
        let real = code.two_real(slots);
        let real = code.rescale(real, prime);
        let removed = remove(code, bounds, params, real, &removal)?;
        return Ok(Removed {
            fixed: error + removed.fixed,
            ..removed
        });
    }
    let conjugate = code.conjugate(slots);
    let real = code.add(slots, conjugate);
    let difference = code.sub(slots, conjugate);
    let imaginary = rotated(code, params, difference, -1.0);
    let [real, imaginary] = [real, imaginary].map(|part| code.rescale(part, prime));
    let real = remove(code, bounds, params, real, &removal)?;
    let imaginary = remove(code, bounds, params, imaginary, &removal)?;
    let imaginary = rotated(code, params, imaginary.value, 1.0);
    Ok(Removed {
        value: code.add(real.value, imaginary),
        random: 2f64.sqrt() * real.random,
        fixed: 2f64.sqrt() * (error + real.fixed),
    })
}

/// Emits the product of a value with `sign` times i in every turned slot ([`super::transform`]), for `sign` 1 or -1.
/// The factor is a monomial of degree N / 2, up to its sign, so the product is exact.
fn rotated(code: &mut Code, params: &Params, of: Value, sign: f64) -> Value {
    let slots = vec![Complex64::new(0.0, sign); params.slots()];
    code.mul_plain(of, &slots)
}
