// SPDX-License-Identifier: Apache-2.0
//! Expands a step on whole limbs to the vector machine's micro instructions, one after another.

use ringmill_isa::vector::{Chunk, Instr, MicroOp, Place, Register, Shape};

use super::code::{Code, Spot};
use super::order::{Task, Work};
use super::place::StepKind;

/// The order in which the lines of a step's code are executed for the chunks of its limbs. A line is an instruction
/// that is the same for every chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// Each line (an instruction for one chunk) is executed for all chunks before the next line.
    ByLine,
    /// All lines (instructions for one chunk) are executed for one chunk before the next chunk.
    ByChunk,
    /// As [`Self::ByChunk`], but the first `loads` lines of the code, instructions that load registers, are executed
    /// for the next chunk before the other lines for the current one. Odd chunks use other registers than even ones.
    Ahead { loads: usize },
}

/// A generator of the micro instructions of one step of a procedure. The same emitter is filled again for each step.
#[derive(Clone, Debug)]
pub struct Emitter {
    /// The instructions of the step's code for the first chunk of its limbs.
    lines: Vec<Instr>,
    way: Way,
    chunks: u32,
    log_chunks: u32,
    /// The number that is added to the register numbers in instructions for odd chunks, so that two chunks can be
    /// under way.
    shift: u8,
    registers: u8,
    line: usize,
    chunk: u32,
    /// With [`Way::Ahead`], whether the current lines of the code load registers. `chunk` is then the chunk for which
    /// they do.
    filling: bool,
}

impl Emitter {
    /// Makes an emitter without instructions.
    pub fn new(shape: Shape) -> Self {
        Self {
            lines: Vec::new(),
            way: Way::ByLine,
            chunks: shape.limb_chunks(),
            log_chunks: super::decode::log_chunks(shape),
            shift: 0,
            registers: shape.registers,
            line: 0,
            chunk: 0,
            filling: false,
        }
    }

    /// Fills the emitter with the instructions of a step. `reads` and `writes` are the places in the buffer of the
    /// limbs that the step reads and writes.
    pub fn fill(&mut self, kind: StepKind, tasks: &[Task], reads: &[u32], writes: &[u32]) {
        self.lines.clear();
        (self.line, self.chunk, self.shift, self.filling) = (0, 0, 0, false);
        self.way = Way::ByLine;
        let of = |list: &[u32]| self.first(list.first().copied().unwrap_or(0));
        let (from, to) = (of(reads), of(writes));
        let pass = |op, a, modulus| Instr {
            d: to,
            a,
            modulus,
            ..Instr::new(op)
        };
        match kind {
            StepKind::Load(source) => self.lines.push(Instr {
                d: to,
                n: source << self.log_chunks,
                ..Instr::new(MicroOp::Load)
            }),
            StepKind::Store(target) => self.lines.push(Instr {
                a: from,
                n: target << self.log_chunks,
                ..Instr::new(MicroOp::Store)
            }),
            StepKind::Task(at) => match tasks.get(at).map(|task| (&task.work, task.modulus)) {
                None => {}
                Some((Work::Forward, modulus)) => self.lines.extend([
                    pass(MicroOp::Ntt1, from, modulus),
                    pass(MicroOp::Ntt2, to, modulus),
                ]),
                Some((Work::Inverse, modulus)) => self.lines.extend([
                    pass(MicroOp::Intt1, from, modulus),
                    pass(MicroOp::Intt2, to, modulus),
                ]),
                Some((&Work::Morph(galois), _)) => self.lines.push(Instr {
                    n: galois,
                    ..pass(MicroOp::Morph, from, 0)
                }),
                Some((Work::Sums(code), _)) => self.sums(code, reads, writes),
            },
        }
    }

    /// Fills the emitter with the code of a kernel (sums that are computed together) for all chunks. If the machine has
    /// at least twice as many registers as the kernel needs, odd chunks use other registers than even ones. If the code
    /// also begins with loads of registers, they are executed for the next chunk before the current one is done.
    fn sums(&mut self, code: &Code, reads: &[u32], writes: &[u32]) {
        let twice = 2 * code.registers <= usize::from(self.registers);
        if twice {
            self.shift = code.registers as u8;
        }
        self.filling = twice && code.loads > 0 && code.loads < code.lines.len();
        self.way = match self.filling {
            true => Way::Ahead { loads: code.loads },
            false => Way::ByChunk,
        };
        for line in &code.lines {
            let spot = |spot: Spot| match spot {
                Spot::None => Place::None,
                Spot::Buffer(number) => {
                    let place = match number.checked_sub(reads.len()) {
                        None => reads.get(number),
                        Some(number) => writes.get(number),
                    };
                    self.first(place.copied().unwrap_or(0))
                }
                Spot::Register(register) => Place::Register(register),
                Spot::Accumulator => Place::Accumulator,
            };
            self.lines.push(Instr {
                op: line.op,
                d: spot(line.d),
                a: spot(line.a),
                b: spot(line.b),
                modulus: line.modulus,
                n: line.n,
            });
        }
    }

    /// Returns the first chunk of the limb at a place of the buffer.
    fn first(&self, place: u32) -> Place {
        Place::Chunk(Chunk((place << self.log_chunks) as u16))
    }

    /// Returns the current line of the step's code as an instruction for a chunk.
    fn at(&self, chunk: u32) -> Option<Instr> {
        let line = *self.lines.get(self.line)?;
        let shift = if chunk % 2 == 1 { self.shift } else { 0 };
        let moved = |place: Place| match place {
            Place::Chunk(Chunk(first)) => Place::Chunk(Chunk(first + chunk as u16)),
            Place::Register(Register(register)) => Place::Register(Register(register + shift)),
            other => other,
        };
        Some(match line.op {
            // An automorphism's rows go to all parts of the limb.
            MicroOp::Morph => Instr {
                a: moved(line.a),
                ..line
            },
            MicroOp::Load | MicroOp::Store => Instr {
                d: moved(line.d),
                a: moved(line.a),
                n: line.n + chunk,
                ..line
            },
            _ => Instr {
                d: moved(line.d),
                a: moved(line.a),
                b: moved(line.b),
                ..line
            },
        })
    }
}

impl Iterator for Emitter {
    type Item = Instr;

    fn next(&mut self) -> Option<Instr> {
        let instr = self.at(self.chunk)?;
        match self.way {
            Way::ByLine => {
                self.chunk += 1;
                if self.chunk == self.chunks {
                    (self.chunk, self.line) = (0, self.line + 1);
                }
            }
            Way::ByChunk => {
                self.line += 1;
                if self.line == self.lines.len() && self.chunk + 1 < self.chunks {
                    (self.line, self.chunk) = (0, self.chunk + 1);
                }
            }
            Way::Ahead { loads } => self.ahead(loads),
        }
        Some(instr)
    }
}

impl Emitter {
    /// Advances the emitter to the next line of code, an instruction for one chunk. Register loads for the first chunk
    /// come first. Then each chunk has the loads for the next one and the other lines for the chunk itself.
    fn ahead(&mut self, loads: usize) {
        self.line += 1;
        let chunk = self.chunk;
        if self.filling && self.line == loads {
            if chunk == 0 && self.chunks > 1 {
                (self.chunk, self.line) = (1, 0);
            } else {
                (self.filling, self.chunk) = (false, chunk.saturating_sub(1));
            }
        } else if self.line == self.lines.len() && chunk + 1 < self.chunks {
            self.filling = chunk + 2 < self.chunks;
            (self.chunk, self.line) = match self.filling {
                true => (chunk + 2, 0),
                false => (chunk + 1, loads),
            };
        }
    }
}
