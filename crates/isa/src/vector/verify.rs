// SPDX-License-Identifier: Apache-2.0
//! The verifier of the vector machine's programs. An accepted program reads only chunks of the buffer, registers and
//! the accumulator after they were written, and reaches only memory that exists. Chunks that the program's head lists
//! count as written, and so does a whole limb after the first `MORPH` to it.

use ringmill_math::primes;

use super::info::Allowed;
use super::instr::{Chunk, Instr, MASKS, MicroProgram, Place, Register, Shape};
use super::op::{A_BITS, Immediate, MODULUS_BITS, MicroOp};
use crate::limits;

/// How many low bits the moduli of the vector machine have in common: each modulus is 1 modulo 2 to
/// this power (BASALISC paper, section 6.4).
const FIXED_BITS: u32 = 17;

/// The error of a program of the vector machine that the verifier refuses. `number` is that of the
/// refused instruction, from 1, or 0 for the program's head with its sizes, moduli, masks and held
/// chunks.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("instruction {number} `{text}`: {fault}")]
pub struct MicroError {
    pub number: usize,
    pub text: String,
    pub fault: MicroFault,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MicroFault {
    #[error("{what} is {found}: expected {expected}")]
    Size {
        what: &'static str,
        expected: String,
        found: String,
    },
    #[error(
        "modulus {found} is not Montgomery-friendly: expected a prime below 2^32 that is 1 modulo 2^17 and modulo twice the ring degree"
    )]
    Modulus { found: u64 },
    #[error("operand `{operand}` is {found}: expected {expected}")]
    Operand {
        operand: char,
        expected: String,
        found: Place,
    },
    #[error("{what} {found} is outside: expected below {limit}")]
    Outside {
        what: &'static str,
        limit: u64,
        found: u64,
    },
    #[error("{0} is read before it is written")]
    Unwritten(Place),
    #[error("n is {found}: expected {expected}")]
    Scalar { expected: String, found: u32 },
    #[error("an instruction after HCF: expected none")]
    AfterEnd,
}

/// The chunks and registers that programs have written so far, whether one has written the
/// accumulator, and whether one has ended with `HCF`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    chunks: Vec<bool>,
    registers: Vec<bool>,
    accumulator: bool,
    ended: bool,
}

/// Checks a whole program of the vector machine: its head, then each instruction.
///
/// # Errors
/// Fails for a head with sizes, moduli, masks or held chunks that the machine cannot have. Fails at the first
/// instruction that has wrong kinds of operands or a wrong immediate, reads data which were not written, reaches memory
/// that does not exist, or comes after `HCF`.
pub fn verify(program: &MicroProgram) -> Result<(), MicroError> {
    let fault = |fault| MicroError {
        number: 0,
        text: "the head".to_owned(),
        fault,
    };
    head(program).map_err(fault)?;
    let mut written = Written::new(program.shape);
    for &chunk in &program.holds {
        let place = written.chunks.get_mut(usize::from(chunk.0));
        *place.ok_or_else(|| fault(outside("held chunk", program.shape.chunks, chunk.0)))? = true;
    }
    verify_from(program, &mut written)
}

/// Checks the instructions of a program that runs after other programs of the same shape. `written`
/// is what those programs have written; the check adds what this program writes. Chunks that the
/// program's head lists do not count as written here.
///
/// # Errors
/// The errors of [`verify`], except those of its checks of the head.
pub fn verify_from(program: &MicroProgram, written: &mut Written) -> Result<(), MicroError> {
    for (number, instr) in (1..).zip(&program.instrs) {
        step(program, written, instr).map_err(|fault| MicroError {
            number,
            text: instr.to_string(),
            fault,
        })?;
    }
    Ok(())
}

impl Written {
    /// Makes the state of a vector machine in which nothing has been written.
    pub fn new(shape: Shape) -> Self {
        Self {
            chunks: vec![false; shape.chunks as usize],
            registers: vec![false; shape.registers.into()],
            accumulator: false,
            ended: false,
        }
    }
}

fn outside(what: &'static str, limit: impl Into<u64>, found: impl Into<u64>) -> MicroFault {
    MicroFault::Outside {
        what,
        limit: limit.into(),
        found: found.into(),
    }
}

fn head(program: &MicroProgram) -> Result<(), MicroFault> {
    let s = program.shape;
    let size = |holds: bool, what, found: u64, expected: &str| {
        if holds {
            return Ok(());
        }
        Err(MicroFault::Size {
            what,
            expected: expected.to_owned(),
            found: found.to_string(),
        })
    };
    size(
        (1..=16).contains(&s.log_radix),
        "log2 of the radix",
        s.log_radix.into(),
        "1 to 16",
    )?;
    size(
        s.log_n > s.log_radix && s.log_n <= s.log_radix.saturating_mul(2),
        "log2 of the ring degree",
        s.log_n.into(),
        "above the radix's and at most twice it: two passes",
    )?;
    size(
        s.log_lanes >= s.log_radix && s.log_lanes <= s.log_n,
        "log2 of the lanes",
        s.log_lanes.into(),
        "from the radix's to the ring degree's",
    )?;
    size(
        s.log_lanes.saturating_sub(s.log_radix) <= s.log_columns(),
        "log2 of the lanes",
        s.log_lanes.into(),
        "at most the columns' of whole columns",
    )?;
    size(
        s.chunks >= s.limb_chunks() && s.chunks <= 1 << A_BITS,
        "number of chunks",
        s.chunks.into(),
        "a limb's to 16384",
    )?;
    size(
        (2..=64).contains(&s.registers),
        "number of registers",
        s.registers.into(),
        "2 to 64",
    )?;
    size(
        !program.moduli.is_empty()
            && program.moduli.len() <= limits::MAX_MODULI.min(1 << MODULUS_BITS),
        "number of moduli",
        program.moduli.len() as u64,
        "1 to 1024",
    )?;
    for &found in &program.moduli {
        let fixed = FIXED_BITS.max(u32::from(s.log_n).saturating_add(1));
        let step = 1u64.checked_shl(fixed);
        let fixed = step.is_some_and(|step| found.checked_rem(step) == Some(1));
        let friendly = found >> 32 == 0 && fixed && primes::is_prime(found);
        if !friendly {
            return Err(MicroFault::Modulus { found });
        }
    }
    size(
        s.distant <= MASKS,
        "number of chunks of distant memory",
        s.distant.into(),
        "at most 2^31",
    )?;
    size(
        mask_chunks(program) <= MASKS.into(),
        "number of chunks of masks",
        mask_chunks(program),
        "at most 2^31",
    )?;
    for mask in &program.masks {
        if usize::from(mask.modulus) >= program.moduli.len() {
            let limit = program.moduli.len() as u64;
            return Err(outside("a mask's modulus", limit, mask.modulus));
        }
    }
    Ok(())
}

/// Returns the number of chunks of all masks of a program.
fn mask_chunks(program: &MicroProgram) -> u64 {
    let each = u64::from(program.shape.limb_chunks());
    each.saturating_mul(program.masks.len() as u64)
}

fn kind(operand: char, place: Place, allowed: Allowed) -> Result<(), MicroFault> {
    let fits = match place {
        Place::None => allowed.nothing(),
        Place::Chunk(_) => allowed.chunk,
        Place::Register(_) => allowed.register,
        Place::Accumulator => allowed.accumulator,
    };
    if fits {
        return Ok(());
    }
    let kinds = [
        (allowed.chunk, "a chunk"),
        (allowed.register, "a register"),
        (allowed.accumulator, "acc"),
    ];
    let kinds: Vec<_> = kinds.iter().filter(|k| k.0).map(|k| k.1).collect();
    Err(MicroFault::Operand {
        operand,
        expected: match kinds.is_empty() {
            true => "nothing".to_owned(),
            false => kinds.join(" or "),
        },
        found: place,
    })
}

fn step(program: &MicroProgram, written: &mut Written, instr: &Instr) -> Result<(), MicroFault> {
    let (s, info) = (program.shape, instr.op.info());
    if written.ended {
        return Err(MicroFault::AfterEnd);
    }
    kind('d', instr.d, info.d)?;
    kind('a', instr.a, info.a)?;
    kind('b', instr.b, info.b)?;
    let modulus = program.moduli.get(usize::from(instr.modulus));
    let below = if info.modulus {
        let found = modulus.copied();
        found.ok_or_else(|| outside("modulus", program.moduli.len() as u64, instr.modulus))?
    } else if instr.modulus != 0 {
        return Err(outside("modulus", 1u32, instr.modulus));
    } else {
        1 << 32
    };
    let scalar = |holds: bool, expected: String| match holds {
        true => Ok(()),
        false => Err(MicroFault::Scalar {
            expected,
            found: instr.n,
        }),
    };
    match info.n {
        Immediate::None => scalar(instr.n == 0, "zero".to_owned())?,
        Immediate::Scalar => scalar(u64::from(instr.n) < below, format!("below {below}"))?,
        Immediate::Distant if instr.n < s.distant => {}
        Immediate::Distant if instr.op == MicroOp::Load && instr.n >= MASKS => {
            let (found, there) = (instr.n ^ MASKS, mask_chunks(program));
            if u64::from(found) >= there {
                return Err(outside("chunk of a mask", there, found));
            }
        }
        Immediate::Distant => return Err(outside("distant chunk", s.distant, instr.n)),
        Immediate::Galois => {
            let top = 2u64.checked_shl(s.log_n.into()).unwrap_or(u64::MAX);
            let fits = instr.n % 2 == 1 && u64::from(instr.n) < top;
            scalar(fits, format!("odd and below {top}"))?;
        }
    }
    let limb = s.limb_chunks();
    if info.adds && !written.accumulator {
        return Err(MicroFault::Unwritten(Place::Accumulator));
    }
    for place in [instr.a, instr.b] {
        read(s, written, place)?;
    }
    if let (MicroOp::Morph, Place::Chunk(d), Place::Chunk(a)) = (instr.op, instr.d, instr.a) {
        let (d, a) = (u32::from(d.0), u32::from(a.0));
        if !d.is_multiple_of(limb) || d.checked_div(limb) == a.checked_div(limb) {
            return Err(MicroFault::Operand {
                operand: 'd',
                expected: "the first chunk of another limb than a's".to_owned(),
                found: instr.d,
            });
        }
        // The rows go to all parts of the limb, which is complete only after its last chunk. No simple rule tracks
        // this, so the limb counts as written.
        for chunk in d..d.saturating_add(limb) {
            write(s, written, Place::Chunk(Chunk(chunk as u16)))?;
        }
        return Ok(());
    }
    if instr.op == MicroOp::Hcf {
        written.ended = true;
    }
    write(s, written, instr.d)
}

fn read(s: Shape, written: &Written, place: Place) -> Result<(), MicroFault> {
    let was = match place {
        Place::None => true,
        Place::Chunk(Chunk(chunk)) => *written
            .chunks
            .get(usize::from(chunk))
            .ok_or_else(|| outside("chunk", s.chunks, chunk))?,
        Place::Register(Register(register)) => *written
            .registers
            .get(usize::from(register))
            .ok_or_else(|| outside("register", s.registers, register))?,
        Place::Accumulator => written.accumulator,
    };
    match was {
        true => Ok(()),
        false => Err(MicroFault::Unwritten(place)),
    }
}

fn write(s: Shape, written: &mut Written, place: Place) -> Result<(), MicroFault> {
    match place {
        Place::None => {}
        Place::Chunk(Chunk(chunk)) => {
            *written
                .chunks
                .get_mut(usize::from(chunk))
                .ok_or_else(|| outside("chunk", s.chunks, chunk))? = true;
        }
        Place::Register(Register(register)) => {
            *written
                .registers
                .get_mut(usize::from(register))
                .ok_or_else(|| outside("register", s.registers, register))? = true;
        }
        Place::Accumulator => written.accumulator = true,
    }
    Ok(())
}
