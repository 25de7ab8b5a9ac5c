// SPDX-License-Identifier: Apache-2.0
//! Executes the ring machine's instruction words on residues, for tests of the scheduler and of the RTL.
//!
//! An instruction word reads its operands when it starts, and its results appear when it retires. So a wait that is
//! missing, a slot that is reused too early, or a wrong half of the ring gives a wrong bit or an error.

use std::collections::HashMap;

use ringmill_isa::Galois;
use ringmill_isa::mid::TableModulus;
use ringmill_math::kernels::AutoEvalPlan;
use ringmill_math::{Modulus, NttPlan, Ring, RingKind, expand_uniform, kernels};

use super::description::Description;
use super::micro::{MicroCode, OpWord, Opcode, Operand};
use super::model::{self, Observer, Started};
use crate::MachineError;

/// The limbs in the memories of all RPAUs, and the other data that a procedure's instruction words read.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The program's table of moduli. An RPAU and a layer, which has one prime for each RPAU, determine a modulus of
    /// it. In layer 0 that is the one of [`MicroCode::primes`].
    pub moduli: Vec<TableModulus>,
    /// The limbs of polynomial memory, by RPAU and slot.
    pub slots: HashMap<(usize, u8), Vec<u64>>,
    /// The limbs of key memory, by RPAU and key slot.
    pub keys: HashMap<(usize, u8), Vec<u64>>,
    /// The call's key table: for each RPAU and key index (the number by which instruction words name a key limb),
    /// the key slot.
    pub key_table: HashMap<(usize, u8), u8>,
    /// The limbs in host memory, by the number with which loads and stores name them.
    pub host: HashMap<u16, Vec<u64>>,
    /// The call's key limbs on the host, by RPAU and key index, the number by which instruction words name a key
    /// limb.
    pub host_keys: HashMap<(usize, u8), Vec<u64>>,
    /// The seeds of the call, from which the generator expands uniform limbs.
    pub seeds: Vec<[u8; 32]>,
    /// How many times the program's ring is split: 0 at the native degree, 1 at twice that degree, and so on.
    pub splits: u32,
}

impl Memory {
    /// Makes empty memories. `halves` tells whether the program's ring is split once, into two halves.
    pub fn new(moduli: Vec<TableModulus>, seeds: Vec<[u8; 32]>, halves: bool) -> Self {
        Self {
            moduli,
            slots: HashMap::new(),
            keys: HashMap::new(),
            key_table: HashMap::new(),
            host: HashMap::new(),
            host_keys: HashMap::new(),
            seeds,
            splits: u32::from(halves),
        }
    }

    /// Returns the memories for a program whose polynomial ring is split `splits` times.
    #[must_use]
    pub fn split(self, splits: u32) -> Self {
        Self { splits, ..self }
    }
}

/// Runs a procedure's instruction words on the limbs of `memory`, and returns the cycles.
///
/// # Errors
/// The errors of [`model::run`]. [`MachineError::Operands`] if an instruction word reads a limb that was not written,
/// or if `code` lacks the word's generator stream. Also if `memory` lacks the modulus, the seed, the key limb or the
/// host limb that a word needs. The errors of the kernels.
///
/// # Panics
/// If `Copy`, `Mac`, `Ntt` or `Intt` reads a limb of other than 2^`code.log_n` residues.
pub fn execute(
    d: &Description,
    code: &MicroCode,
    memory: &mut Memory,
) -> Result<u64, MachineError> {
    trace(d, code, memory, &[], &mut |_| {})
}

/// An instruction word that was executed, with its cycles and results. The RTL must do the same in the same cycles.
#[derive(Clone, Debug)]
pub struct Executed<'a> {
    pub word: OpWord,
    /// The cycle of the procedure's run in which the instruction word started.
    pub start: u64,
    pub cycles: u64,
    /// The number of cycles of each period that the instruction word leaves free on each of its ports, for words of the
    /// dyadic cores. A period is the time in which these cores take one row. The number is 0 for a dyadic word.
    pub turns: u64,
    /// The results of the instruction word with their destinations, written when the word retires.
    pub results: &'a [(Target, Vec<u64>)],
}

/// Runs a procedure's instruction words on the limbs of `memory` with a slow host ([`model::run_stalled`]). It passes
/// each word to `watch` when the word retires, and returns the cycles.
///
/// # Errors
/// The errors of [`execute`].
///
/// # Panics
/// As [`execute`] does.
pub fn trace(
    d: &Description,
    code: &MicroCode,
    memory: &mut Memory,
    stalls: &[u64],
    watch: &mut dyn FnMut(Executed<'_>),
) -> Result<u64, MachineError> {
    let mut engine = Engine {
        d,
        code,
        memory,
        late: HashMap::new(),
        watch,
    };
    model::run_stalled(d, code, stalls, &mut engine)
}

/// The destination of a result: a slot of an RPAU, a key slot of an RPAU, or a limb in host memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    Slot(usize, u8),
    Key(usize, u8),
    Host(u16),
}

/// A result of an instruction word that has started and not retired, with its destination.
type Late = (Target, Vec<u64>);

struct Engine<'a> {
    d: &'a Description,
    code: &'a MicroCode,
    memory: &'a mut Memory,
    late: HashMap<usize, Flying>,
    watch: &'a mut dyn FnMut(Executed<'_>),
}

/// An instruction word that has started and not retired.
struct Flying {
    word: OpWord,
    at: Started,
    results: Vec<Late>,
}

impl Observer for Engine<'_> {
    fn start(&mut self, w: &OpWord, at: Started) -> Result<(), MachineError> {
        let mut late = Vec::new();
        for r in w.rpaus() {
            if !w.on_cores() {
                late.push(self.transfer(w, r)?);
                continue;
            }
            let [first, second] = self.compute(w, r)?;
            late.push((Target::Slot(r, w.dst), first));
            if w.op.is_pair() {
                late.push((Target::Slot(r, w.c), second));
            }
        }
        // An instruction word that reads a result before it has retired must not find the old value.
        for (target, _) in &late {
            match target {
                Target::Slot(r, slot) => self.memory.slots.remove(&(*r, *slot)),
                Target::Key(r, slot) => self.memory.keys.remove(&(*r, *slot)),
                Target::Host(at) => self.memory.host.remove(at),
            };
        }
        let flying = Flying {
            word: *w,
            at,
            results: late,
        };
        self.late.insert(at.sequence, flying);
        Ok(())
    }

    fn retire(&mut self, sequence: usize) -> Result<(), MachineError> {
        let Some(flying) = self.late.remove(&sequence) else {
            return Ok(());
        };
        (self.watch)(Executed {
            word: flying.word,
            start: flying.at.start,
            cycles: flying.at.cycles,
            turns: flying.at.turns,
            results: &flying.results,
        });
        for (target, limb) in flying.results {
            match target {
                Target::Slot(r, slot) => self.memory.slots.insert((r, slot), limb),
                Target::Key(r, slot) => self.memory.keys.insert((r, slot), limb),
                Target::Host(at) => self.memory.host.insert(at, limb),
            };
        }
        Ok(())
    }
}

impl Engine<'_> {
    fn missing(&self, what: String) -> MachineError {
        MachineError::Operands {
            procedure: self.code.name.clone(),
            what,
        }
    }

    fn slot(&self, r: usize, slot: u8) -> Result<&Vec<u64>, MachineError> {
        let limb = self.memory.slots.get(&(r, slot));
        limb.ok_or_else(|| {
            self.missing(format!(
                "slot {slot} of RPAU {r} is read before it is written"
            ))
        })
    }

    /// Returns the limb that the instruction word `w` moves over the ring network or the host link,
    /// and its destination.
    fn transfer(&self, w: &OpWord, r: usize) -> Result<Late, MachineError> {
        let limb = match (w.op, w.b) {
            (Opcode::Bcast, _) => {
                let mut limb = self.slot(usize::from(w.c), w.a)?.clone();
                if self.d.ring.reduces {
                    let source = usize::from(w.c);
                    let constant = self.constant(w, source);
                    if constant != 0 {
                        kernels::add_scalar_assign(self.modulus(w, source)?, &mut limb, constant);
                    }
                    let (q, constant) = (self.modulus(w, r)?, self.constant(w, r));
                    limb.iter_mut().for_each(|x| *x = q.reduce(*x));
                    // An RPAU that sends to itself adds nothing on the way.
                    if r != source {
                        kernels::add_scalar_assign(q, &mut limb, constant);
                    }
                }
                return Ok((Target::Slot(r, w.dst), limb));
            }
            (Opcode::Store, _) => {
                return Ok((Target::Host(w.imm), self.slot(r, w.a)?.clone()));
            }
            (_, Operand::Key(k)) => {
                let limb = self.memory.host_keys.get(&(r, k));
                let slot = self.memory.key_table.get(&(r, k));
                limb.zip(slot)
                    .map(|(limb, &slot)| (Target::Key(r, slot), limb.clone()))
            }
            _ => {
                let limb = self.memory.host.get(&w.imm);
                limb.map(|limb| (Target::Slot(r, w.dst), limb.clone()))
            }
        };
        limb.ok_or_else(|| self.missing(format!("the host lacks a limb that RPAU {r} loads")))
    }

    /// Returns the prime modulo which the instruction word `w` computes on RPAU `r`.
    fn modulus(&self, w: &OpWord, r: usize) -> Result<Modulus, MachineError> {
        let modulus = match self.code.primes.get(r) {
            Some(&prime) if w.layer == 0 => usize::from(prime),
            _ => r + usize::from(w.layer) * self.d.rpaus,
        };
        let q = self.memory.moduli.get(modulus).and_then(|q| q.prime());
        let q = q.ok_or_else(|| self.missing(format!("RPAU {r} has no modulus {modulus}")))?;
        Ok(Modulus::new(q)?)
    }

    /// Returns the constant of the instruction word `w` on RPAU `r`, or 0 if the word names none.
    fn constant(&self, w: &OpWord, r: usize) -> u64 {
        let row = self.code.constants.get(usize::from(w.imm));
        row.and_then(|row| row.get(r)).copied().unwrap_or(0)
    }

    /// Computes both results of the instruction word `w` on RPAU `r`. The second is empty if the word has one result.
    fn compute(&self, w: &OpWord, r: usize) -> Result<[Vec<u64>; 2], MachineError> {
        let q = self.modulus(w, r)?;
        let ring = Ring {
            log_n: self.code.log_n,
            kind: w.ring,
        };
        let n = ring.len();
        let mut out = vec![0; n];
        let mut second = Vec::new();
        if w.op == Opcode::Prng {
            return Ok([self.stream(w, r, q)?, second]);
        }
        let a = self.slot(r, w.a)?;
        let b = match w.b {
            Operand::None => Vec::new(),
            Operand::Slot(s) => self.slot(r, s)?.clone(),
            Operand::Key(k) => {
                let slot = self.memory.key_table.get(&(r, k));
                let limb = slot.and_then(|&s| self.memory.keys.get(&(r, s))).cloned();
                limb.ok_or_else(|| self.missing(format!("key limb {k} of RPAU {r} is absent")))?
            }
            Operand::Generator => self.stream(w, r, q)?,
        };
        let constant = self.constant(w, r);
        let galois = u64::from(
            self.code
                .galois
                .get(usize::from(w.imm))
                .copied()
                .unwrap_or(Galois(1)),
        );
        match w.op {
            Opcode::Copy => out.copy_from_slice(a),
            Opcode::Add => kernels::add(q, &mut out, a, &b)?,
            Opcode::Sub => kernels::sub(q, &mut out, a, &b)?,
            Opcode::Neg => kernels::neg(q, &mut out, a)?,
            Opcode::Mul => kernels::mul(q, &mut out, a, &b)?,
            Opcode::Mac => {
                out.copy_from_slice(self.slot(r, w.c)?);
                kernels::mac_assign(q, &mut out, a, &b)?;
            }
            Opcode::Muli => kernels::mul_scalar(q, &mut out, a, constant)?,
            Opcode::Addi => kernels::add_scalar(q, &mut out, a, constant)?,
            Opcode::Subm => {
                kernels::sub(q, &mut out, a, &b)?;
                kernels::mul_scalar_assign(q, &mut out, constant);
            }
            Opcode::Red => {
                out.iter_mut().zip(a).for_each(|(o, &x)| *o = q.reduce(x));
                if w.imm != 0 {
                    kernels::add_scalar_assign(q, &mut out, constant);
                }
            }
            Opcode::Ntt => {
                out.copy_from_slice(a);
                NttPlan::shared(q, ring)?.forward(&mut out)?;
            }
            Opcode::Intt => {
                out.copy_from_slice(a);
                NttPlan::shared(q, ring)?.inverse(&mut out)?;
            }
            Opcode::Auto if matches!(w.ring, RingKind::Part(_)) => {
                AutoEvalPlan::shared(ring.full_log_n(), galois)?.apply_part(ring, &mut out, a)?;
            }
            Opcode::Auto => kernels::auto_eval(galois, &mut out, a)?,
            Opcode::Autoc => kernels::auto_coeff(q, galois, &mut out, a)?,
            Opcode::Autoh => {
                second = vec![0; n];
                kernels::auto_eval_halves(galois, &mut out, &mut second, a, &b)?;
            }
            Opcode::Split => {
                // a + zeta b and a - zeta b. For a limb of several pieces, a and b are the pieces of one place in its
                // halves.
                kernels::mul_scalar(q, &mut out, &b, self.zeta(w, q)?)?;
                second = vec![0; n];
                kernels::sub(q, &mut second, a, &out)?;
                kernels::add_assign(q, &mut out, a)?;
            }
            Opcode::Join => {
                let half = q.inv(2)?;
                second = vec![0; n];
                kernels::sub(q, &mut second, a, &b)?;
                let factor = q.mul(half, q.inv(self.zeta(w, q)?)?);
                kernels::mul_scalar_assign(q, &mut second, factor);
                kernels::add(q, &mut out, a, &b)?;
                kernels::mul_scalar_assign(q, &mut out, half);
            }
            Opcode::Prng | Opcode::Bcast | Opcode::Load | Opcode::Store => {}
        }
        Ok([out, second])
    }

    /// Returns the constant zeta of a `SPLIT` or `JOIN`: a split of the pieces a and b gives
    /// a + zeta b and a - zeta b.
    fn zeta(&self, w: &OpWord, q: Modulus) -> Result<u64, MachineError> {
        let kind = RingKind::of_number(w.ring.number() / 2).unwrap_or(RingKind::Full);
        let whole = u32::from(self.code.log_n) + self.memory.splits.max(1);
        let log_n = whole.saturating_sub(kind.depth()) as u8;
        Ok(NttPlan::shared(q, Ring { log_n, kind })?.zeta())
    }

    /// Returns the generated limb of RPAU `r`: the whole stream, or those of its residues that belong to the part of
    /// the polynomial ring which the instruction word names.
    fn stream(&self, w: &OpWord, r: usize, q: Modulus) -> Result<Vec<u64>, MachineError> {
        let entry = self
            .code
            .generators
            .get(usize::from(w.imm))
            .and_then(|row| row.get(r))
            .copied()
            .flatten();
        let entry =
            entry.ok_or_else(|| self.missing(format!("RPAU {r} has no stream {}", w.imm)))?;
        let seed = self.memory.seeds.get(usize::from(entry.seed));
        let seed = seed.ok_or_else(|| self.missing(format!("seed {} is absent", entry.seed)))?;
        let part = Ring {
            log_n: self.code.log_n,
            kind: w.ring,
        };
        let mut limb = vec![0; part.len() << self.memory.splits];
        expand_uniform(seed, entry.stream, q, &mut limb);
        // A limb that is not split has no parts, even if the instruction word names one.
        let first = part.first().min(limb.len() - part.len());
        Ok(limb.split_off(first).into_iter().take(part.len()).collect())
    }
}
