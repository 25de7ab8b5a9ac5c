// SPDX-License-Identifier: Apache-2.0
//! The correctness simulator of the vector machine: executes micro instructions on residues.

use ringmill_isa::vector::{Chunk, Instr, MASKS, MicroOp, MicroProgram, Place, Shape};
use ringmill_math::modmul::{MontgomeryFriendly32, Reduction};
use ringmill_math::{MathError, Modulus, expand_uniform};
use thiserror::Error;

use super::layout::{Layout, Orientation, orientation};
use super::passes::Passes;

/// The reason for which an instruction cannot be executed or a mask cannot be expanded. The verifier refuses programs
/// with a malformed instruction; it does not know the seeds.
#[derive(Debug, Error)]
pub enum Fault {
    #[error("instruction {number} `{instr}`: {what}; run the verifier first")]
    Malformed {
        number: usize,
        instr: Instr,
        what: &'static str,
    },
    #[error("mask {number} is made of seed {seed}: {given} seeds are given")]
    NoSeed {
        number: usize,
        seed: u16,
        given: usize,
    },
    #[error(transparent)]
    Math(#[from] MathError),
}

/// The arithmetic of the vector machine's units for one modulus.
#[derive(Debug)]
struct Arithmetic {
    q: Modulus,
    multiplier: MontgomeryFriendly32,
    passes: Passes,
}

/// The memories of the simulated vector machine with their residues, and the arithmetic for its table of moduli.
#[derive(Debug)]
pub struct Memory {
    shape: Shape,
    layout: Layout,
    moduli: Vec<Arithmetic>,
    /// The words of the ciphertext buffer, limb after limb, and row after row in a limb.
    pub buffer: Vec<u32>,
    /// Distant memory (HBM or DDR), as one vector of 32-bit residues for each chunk.
    pub distant: Vec<Vec<u32>>,
    /// The masks that the generator has expanded, as one vector of residues for each chunk.
    masks: Vec<Vec<u32>>,
    registers: Vec<Vec<u32>>,
    accumulator: Vec<u32>,
}

impl Memory {
    /// Makes memories with all words 0, for programs of a shape and a table of moduli. Distant memory has `distant`
    /// chunks.
    ///
    /// # Errors
    /// An error for a modulus that the multipliers or the transforms do not support.
    pub fn new(shape: Shape, moduli: &[u64], distant: usize) -> Result<Self, MathError> {
        let lanes = 1usize << shape.log_lanes;
        let moduli = moduli.iter().map(|&q| {
            let q = Modulus::new(q)?;
            Ok(Arithmetic {
                q,
                multiplier: MontgomeryFriendly32::new(q)?,
                passes: Passes::new(q, shape)?,
            })
        });
        Ok(Self {
            shape,
            layout: Layout::new(shape),
            moduli: moduli.collect::<Result<_, MathError>>()?,
            buffer: vec![0; lanes * shape.chunks as usize],
            distant: vec![vec![0; lanes]; distant],
            masks: Vec::new(),
            registers: vec![vec![0; lanes]; shape.registers.into()],
            accumulator: vec![0; lanes],
        })
    }

    /// Expands a program's masks from their seeds, as the machine's generator does.
    ///
    /// # Errors
    /// [`Fault::NoSeed`] for a mask whose seed is not in `seeds`. [`Fault::Math`] for a mask whose modulus is not in
    /// the program's table.
    pub fn make(&mut self, program: &MicroProgram, seeds: &[[u8; 32]]) -> Result<(), Fault> {
        let lanes = self.layout.lanes();
        self.masks.clear();
        for (number, mask) in program.masks.iter().enumerate() {
            let seed = seeds.get(usize::from(mask.seed)).ok_or(Fault::NoSeed {
                number,
                seed: mask.seed,
                given: seeds.len(),
            })?;
            let q = Modulus::new(*program.moduli.get(usize::from(mask.modulus)).unwrap_or(&0))?;
            let mut limb = vec![0; 1 << self.shape.log_n];
            expand_uniform(seed, mask.stream, q, &mut limb);
            let words = self.to_machine(&limb, true);
            self.masks.extend(words.chunks(lanes).map(<[u32]>::to_vec));
        }
        Ok(())
    }

    /// Executes a micro program on the memories' residues.
    ///
    /// # Errors
    /// [`Fault::Malformed`] for an instruction with an operand, an address or a modulus that is not there; the verifier
    /// refuses such programs. It is also the error for a mask that [`Self::make`] has not expanded.
    pub fn execute(&mut self, program: &MicroProgram) -> Result<(), Fault> {
        for (number, instr) in program.instrs.iter().enumerate() {
            self.step(instr).map_err(|stop| match stop {
                Stop::Math(error) => Fault::Math(error),
                Stop::Malformed(what) => Fault::Malformed {
                    number,
                    instr: *instr,
                    what,
                },
            })?;
        }
        Ok(())
    }

    fn step(&mut self, instr: &Instr) -> Result<(), Stop> {
        let lanes = self.layout.lanes();
        match instr.op {
            MicroOp::Hcf => Ok(()),
            MicroOp::Load => {
                let from = match instr.n.checked_sub(MASKS) {
                    None => self.distant.get(instr.n as usize),
                    Some(of_mask) => self.masks.get(of_mask as usize),
                };
                let from = from.ok_or(OUTSIDE)?.clone();
                self.put(instr.d, Orientation::Rows, from)
            }
            MicroOp::Store => {
                let chunk = self.get(instr.a, Orientation::Rows)?;
                *self.distant.get_mut(instr.n as usize).ok_or(OUTSIDE)? = chunk;
                Ok(())
            }
            MicroOp::Morph => self.morph(instr),
            MicroOp::Ntt1 | MicroOp::Ntt2 | MicroOp::Intt1 | MicroOp::Intt2 => {
                let (how, _) = orientation(instr.op);
                let chunk = self.get(instr.a, how)?;
                let of = self.modulus(instr)?;
                let length = match how {
                    Orientation::Columns => self.layout.rows(),
                    Orientation::Rows | Orientation::Scattered => self.layout.columns(),
                };
                let first = self.limb_chunk(instr.a)?.1 * (lanes / length);
                let mut words: Vec<u64> = chunk.iter().map(|&x| x.into()).collect();
                for (line, number) in words.chunks_mut(length).zip(first..) {
                    of.passes.line(instr.op, number, line)?;
                }
                let chunk = words.into_iter().map(|x| x as u32).collect();
                self.put(instr.d, how, chunk)
            }
            MicroOp::Mov => {
                let chunk = self.get(instr.a, Orientation::Rows)?;
                self.put(instr.d, Orientation::Rows, chunk)
            }
            MicroOp::Add
            | MicroOp::Sub
            | MicroOp::Mul
            | MicroOp::Muli
            | MicroOp::Mac
            | MicroOp::Maci
            | MicroOp::Acc
            | MicroOp::Acci => {
                let nothing = || vec![0; lanes];
                let operand = |place| match place {
                    Place::None => Ok(nothing()),
                    there => self.get(there, Orientation::Rows),
                };
                let (a, b) = (operand(instr.a)?, operand(instr.b)?);
                let of = self.modulus(instr)?;
                let q = of.q;
                let product = |a: u32, b: u32| {
                    // Below 2^32 q, as b is below q.
                    of.multiplier.reduce(u128::from(a) * u128::from(b))
                };
                let compute = |acc: u32, a: u32, b: u32| -> u64 {
                    let (acc64, a64, b64) = (acc.into(), a.into(), b.into());
                    match instr.op {
                        MicroOp::Add => q.add(a64, b64),
                        MicroOp::Sub => q.sub(a64, b64),
                        MicroOp::Mul => product(a, b),
                        MicroOp::Muli => product(a, instr.n),
                        MicroOp::Mac => q.add(acc64, product(a, b)),
                        MicroOp::Maci => q.add(acc64, product(a, instr.n)),
                        MicroOp::Acc => q.add(acc64, a64),
                        // `Acci`: the outer match lets no other operation through.
                        _ => q.add(acc64, instr.n.into()),
                    }
                };
                let lanes = self.accumulator.iter().zip(&a).zip(&b);
                let chunk = lanes.map(|((&acc, &a), &b)| compute(acc, a, b) as u32);
                let chunk = chunk.collect();
                self.put(instr.d, Orientation::Rows, chunk)
            }
        }
    }

    /// Moves the words of a chunk, which has whole rows of a limb, to the places that an automorphism gives them.
    fn morph(&mut self, instr: &Instr) -> Result<(), Stop> {
        let chunk = self.get(instr.a, Orientation::Rows)?;
        let (_, first) = self.limb_chunk(instr.a)?;
        let (to, _) = self.limb_chunk(instr.d)?;
        let (columns, n) = (self.layout.columns(), 1usize << self.shape.log_n);
        let from = first * self.layout.lanes();
        for (word, at) in chunk.into_iter().zip(from..) {
            let (row, column) = self
                .layout
                .turned(instr.n.into(), at / columns, at % columns);
            let place = self.buffer.get_mut(to * n + row * columns + column);
            *place.ok_or(OUTSIDE)? = word;
        }
        Ok(())
    }

    fn modulus(&self, instr: &Instr) -> Result<&Arithmetic, Stop> {
        self.moduli.get(usize::from(instr.modulus)).ok_or(OUTSIDE)
    }

    /// Returns the place of the limb to which a chunk belongs, and the chunk's number in the limb.
    fn limb_chunk(&self, place: Place) -> Result<(usize, usize), Stop> {
        let Chunk(chunk) = place.chunk().ok_or(OUTSIDE)?;
        let limb = self.shape.limb_chunks() as usize;
        Ok((usize::from(chunk) / limb, usize::from(chunk) % limb))
    }

    fn get(&self, place: Place, how: Orientation) -> Result<Vec<u32>, Stop> {
        match place {
            Place::Chunk(_) => {
                let (limb, chunk) = self.limb_chunk(place)?;
                let base = limb << self.shape.log_n;
                let words = self.layout.words(how, chunk);
                let words = words.into_iter().map(|at| self.buffer.get(base + at));
                words.map(|word| word.copied().ok_or(OUTSIDE)).collect()
            }
            Place::Register(register) => {
                let found = self.registers.get(usize::from(register.0));
                found.cloned().ok_or(OUTSIDE)
            }
            Place::Accumulator => Ok(self.accumulator.clone()),
            Place::None => Err(OUTSIDE),
        }
    }

    fn put(&mut self, place: Place, how: Orientation, chunk: Vec<u32>) -> Result<(), Stop> {
        match place {
            Place::Chunk(_) => {
                let (limb, at) = self.limb_chunk(place)?;
                let base = limb << self.shape.log_n;
                for (at, word) in self.layout.words(how, at).into_iter().zip(chunk) {
                    *self.buffer.get_mut(base + at).ok_or(OUTSIDE)? = word;
                }
            }
            Place::Register(register) => {
                let found = self.registers.get_mut(usize::from(register.0));
                *found.ok_or(OUTSIDE)? = chunk;
            }
            Place::Accumulator => self.accumulator = chunk,
            Place::None => return Err(OUTSIDE),
        }
        Ok(())
    }

    /// Converts a limb from the CPU's order to the machine's, row after row. Coefficients keep
    /// their order; the values of an evaluation form (`evaluations`) go to their places in the
    /// limb's matrix of rows and columns.
    pub fn to_machine(&self, limb: &[u64], evaluations: bool) -> Vec<u32> {
        let mut words = vec![0; limb.len()];
        for (position, &residue) in limb.iter().enumerate() {
            let at = match evaluations {
                true => self.layout.of_evaluation(position),
                false => position,
            };
            if let Some(word) = words.get_mut(at) {
                *word = residue as u32;
            }
        }
        words
    }

    /// Converts a limb from the machine's order to the CPU's: the inverse of [`Self::to_machine`].
    pub fn from_machine(&self, words: &[u32], evaluations: bool) -> Vec<u64> {
        let all = 0..words.len();
        let limb = all.map(|position| {
            let at = match evaluations {
                true => self.layout.of_evaluation(position),
                false => position,
            };
            words.get(at).map_or(0, |&word| word.into())
        });
        limb.collect()
    }
}

enum Stop {
    Math(MathError),
    Malformed(&'static str),
}

const OUTSIDE: Stop = Stop::Malformed("an operand is not there");

impl From<MathError> for Stop {
    fn from(error: MathError) -> Self {
        Self::Math(error)
    }
}
