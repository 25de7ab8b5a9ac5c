// SPDX-License-Identifier: Apache-2.0
//! The text form of the vector machine's programs. A program that the verifier accepts and that has
//! its held chunks in ascending order is the same after it is printed and parsed.
//!
//! A text has a head, one instruction on each line, and an end with the number of instructions and
//! a checksum. These two show that a file was cut short or altered.
//!
//! ```text
//! vector ring 2^8 radix 2^4 lanes 2^5 chunks 128 registers 16 distant 4096
//! moduli 2147352577 2146959361
//! mask seed 0 stream 7 i1
//! holds r0 to r15
//! LOAD r16, m0
//! NTT1 r0, r0, i0
//! MULI acc, r16, i1, n77
//! HCF
//! end 4 1e54b7c48057089f
//! ```

use std::fmt::{self, Write};

use super::encode::encode;
use super::instr::{Chunk, Instr, MASKS, Mask, MicroProgram, Place, Register, Shape};
use super::op::{Immediate, MicroOp};
use super::verify::{MicroError, MicroFault, verify};
use crate::lex::{Cursor, ParseError};
use crate::limits;

/// The error of a text that is no program of the vector machine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TextError {
    #[error(transparent)]
    Syntax(#[from] ParseError),
    #[error(
        "line {line}: {what}: expected {expected}, found {found}: the text was altered or cut short"
    )]
    Altered {
        line: usize,
        what: &'static str,
        expected: String,
        found: String,
    },
}

/// The error of a program file of the vector machine that does not parse or does not verify.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReadError {
    #[error(transparent)]
    Text(#[from] TextError),
    /// The verifier refuses the program. `line` is the line of the refused instruction, or the first line of the
    /// program's head with its sizes, moduli, masks and held chunks.
    #[error("line {line}: `{text}`: {fault}")]
    Program {
        line: usize,
        text: String,
        fault: MicroFault,
    },
}

/// Parses the text of a vector machine's program and verifies the program.
///
/// # Errors
/// [`ReadError`], with the line of the text and the reason.
pub fn read(text: &str) -> Result<MicroProgram, ReadError> {
    let program = parse(text)?;
    match verify(&program) {
        Ok(()) => Ok(program),
        Err(MicroError {
            number,
            text: instr,
            fault,
        }) => Err(ReadError::Program {
            line: line_of(text, number)?,
            text: instr,
            fault,
        }),
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Chunk(chunk) => write!(f, "r{}", chunk.0),
            Self::Register(register) => write!(f, "t{}", register.0),
            Self::Accumulator => write!(f, "acc"),
        }
    }
}

impl fmt::Display for Instr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let info = self.op.info();
        write!(f, "{}", info.mnemonic)?;
        let mut between = " ";
        for place in [self.d, self.a, self.b] {
            if place != Place::None {
                write!(f, "{between}{place}")?;
                between = ", ";
            }
        }
        if info.modulus {
            write!(f, "{between}i{}", self.modulus)?;
            between = ", ";
        }
        match info.n {
            Immediate::None => Ok(()),
            Immediate::Distant => match self.n.checked_sub(MASKS) {
                None => write!(f, "{between}${}", self.n),
                Some(of_mask) => write!(f, "{between}m{of_mask}"),
            },
            Immediate::Scalar => write!(f, "{between}n{}", self.n),
            Immediate::Galois => write!(f, "{between}g{}", self.n),
        }
    }
}

/// Computes the hash FNV-1a over a program's head and instruction words, as its checksum. It finds
/// accidental changes of a file. A deliberate change can keep the hash; the verifier refuses a
/// program that would do harm.
fn fingerprint(program: &MicroProgram) -> u64 {
    let s = program.shape;
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut take = |value: u64| {
        for byte in value.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    for value in [
        s.log_n.into(),
        s.log_radix.into(),
        s.log_lanes.into(),
        s.chunks.into(),
        s.registers.into(),
        s.distant.into(),
        program.moduli.len() as u64,
    ] {
        take(value);
    }
    program.moduli.iter().copied().for_each(&mut take);
    for mask in &program.masks {
        take(mask.seed.into());
        take(mask.stream);
        take(mask.modulus.into());
    }
    program.holds.iter().for_each(|chunk| take(chunk.0.into()));
    for word in program.instrs.iter().map(encode) {
        take(word as u64);
        take((word >> 64) as u64);
    }
    hash
}

/// Returns the text form of a vector machine's program.
pub fn print(program: &MicroProgram) -> String {
    let s = program.shape;
    // Writing to a String cannot fail.
    let mut out = format!(
        "vector ring 2^{} radix 2^{} lanes 2^{} chunks {} registers {} distant {}\nmoduli",
        s.log_n, s.log_radix, s.log_lanes, s.chunks, s.registers, s.distant
    );
    for q in &program.moduli {
        let _ = write!(out, " {q}");
    }
    out.push('\n');
    for mask in &program.masks {
        let Mask {
            seed,
            stream,
            modulus,
        } = mask;
        let _ = writeln!(out, "mask seed {seed} stream {stream} i{modulus}");
    }
    // Chunks with successive numbers are written as one range.
    for run in program
        .holds
        .chunk_by(|a, b| a.0.checked_add(1) == Some(b.0))
    {
        if let (Some(first), Some(last)) = (run.first(), run.last()) {
            let _ = writeln!(out, "holds r{} to r{}", first.0, last.0);
        }
    }
    for instr in &program.instrs {
        let _ = writeln!(out, "{instr}");
    }
    let _ = writeln!(
        out,
        "end {} {:016x}",
        program.instrs.len(),
        fingerprint(program)
    );
    out
}

/// Parses the text of a vector machine's program, without verifying the program.
///
/// # Errors
/// [`TextError::Syntax`] if the text does not parse, [`TextError::Altered`] if its number of instructions or
/// its checksum does not match.
pub fn parse(text: &str) -> Result<MicroProgram, TextError> {
    let c = &mut Cursor::new(text)?;
    let mut program = head(c)?;
    loop {
        c.skip_lines();
        if c.accept_word("end") {
            break;
        }
        let instr = instruction(c)?;
        c.line_end()?;
        program.instrs.push(instr);
    }
    let mark = c.mark();
    let line = c.error_at(mark, "").line;
    let altered = |what, expected: String, found: String| {
        Err(TextError::Altered {
            line,
            what,
            expected,
            found,
        })
    };
    let count: usize = c.parsed("the number of instructions")?;
    let sum = c.word("the sum of 16 digits")?.to_owned();
    c.text_end()?;
    if count != program.instrs.len() {
        let found = program.instrs.len().to_string();
        return altered("number of instructions", count.to_string(), found);
    }
    let expected = format!("{:016x}", fingerprint(&program));
    if sum != expected {
        return altered("sum of all that is before it", expected, sum);
    }
    Ok(program)
}

/// Returns the line of an instruction in a text that parses, by the instruction's number, counted
/// from 1. For number 0 it returns the line on which the program's head begins.
fn line_of(text: &str, number: usize) -> Result<usize, TextError> {
    let c = &mut Cursor::new(text)?;
    c.skip_lines();
    let mut mark = c.mark();
    if number > 0 {
        head(c)?;
        for _ in 0..number {
            c.skip_lines();
            mark = c.mark();
            instruction(c)?;
        }
    }
    Ok(c.error_at(mark, "").line)
}

fn head(c: &mut Cursor<'_>) -> Result<MicroProgram, ParseError> {
    c.skip_lines();
    c.expect_word("vector")?;
    let power = |c: &mut Cursor<'_>, word: &str| -> Result<u8, ParseError> {
        c.expect_word(word)?;
        let base: u8 = c.parsed("2")?;
        if base != 2 {
            return Err(c.error("a power of 2"));
        }
        c.expect("^")?;
        c.parsed("an exponent")
    };
    let log_n = power(c, "ring")?;
    let log_radix = power(c, "radix")?;
    let log_lanes = power(c, "lanes")?;
    let shape = Shape {
        log_n,
        log_radix,
        log_lanes,
        chunks: c.field("chunks")?,
        registers: c.field("registers")?,
        distant: c.field("distant")?,
    };
    c.line_end()?;
    c.skip_lines();
    c.expect_word("moduli")?;
    let mut moduli = Vec::new();
    while !c.at_line_end() {
        if moduli.len() == limits::MAX_MODULI {
            return Err(c.error(format!("at most {} moduli", limits::MAX_MODULI)));
        }
        moduli.push(c.parsed("a modulus")?);
    }
    let mut masks = Vec::new();
    loop {
        c.skip_lines();
        if !c.accept_word("mask") {
            break;
        }
        masks.push(Mask {
            seed: c.field("seed")?,
            stream: c.field("stream")?,
            modulus: lettered(c, 'i', "a modulus, as `i5`")?,
        });
        c.line_end()?;
    }
    let mut holds: Vec<Chunk> = Vec::new();
    loop {
        c.skip_lines();
        if !c.accept_word("holds") {
            break;
        }
        let mark = c.mark();
        let first = chunk(c)?;
        c.expect_word("to")?;
        let last = chunk(c)?;
        let after = holds.last().is_none_or(|before| before.0 < first.0);
        if !after || first.0 > last.0 {
            return Err(c.error_at(mark, "chunks in ascending order"));
        }
        holds.extend((first.0..=last.0).map(Chunk));
        c.line_end()?;
    }
    Ok(MicroProgram {
        shape,
        moduli,
        masks,
        holds,
        instrs: Vec::new(),
    })
}

/// Parses a given letter and the number directly after it, such as `r12`.
fn lettered<T: std::str::FromStr>(
    c: &mut Cursor<'_>,
    letter: char,
    expected: &str,
) -> Result<T, ParseError> {
    let mark = c.mark();
    let word = c.word(expected)?;
    let number = word.strip_prefix(letter);
    let digits = number.filter(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    let read = digits.and_then(|n| n.parse().ok());
    read.ok_or_else(|| c.error_at(mark, expected))
}

fn chunk(c: &mut Cursor<'_>) -> Result<Chunk, ParseError> {
    lettered(c, 'r', "a chunk, as `r12`").map(Chunk)
}

/// Parses the address of a chunk: `$` and a number in distant memory, or `m` and the number of a
/// chunk among the program's masks.
fn address(c: &mut Cursor<'_>) -> Result<u32, ParseError> {
    let mark = c.mark();
    let (found, first): (u32, u32) = match c.peek_word().starts_with('m') {
        true => (lettered(c, 'm', "a chunk of a mask, as `m7`")?, MASKS),
        false => (c.numbered("$", "a chunk of distant memory, as `$7`")?, 0),
    };
    match found < MASKS {
        true => Ok(first | found),
        false => Err(c.error_at(mark, "an address below 2^31")),
    }
}

fn instruction(c: &mut Cursor<'_>) -> Result<Instr, ParseError> {
    let mark = c.mark();
    let word = c.word("an instruction, or `end`")?;
    let op = MicroOp::ALL
        .into_iter()
        .find(|op| op.info().mnemonic == word);
    let op = op.ok_or_else(|| c.error_at(mark, "an instruction, or `end`"))?;
    let info = op.info();
    let mut instr = Instr::new(op);
    let mut first = true;
    let mut comma = |c: &mut Cursor<'_>| -> Result<(), ParseError> {
        if !std::mem::take(&mut first) {
            c.expect(",")?;
        }
        Ok(())
    };
    for (place, allowed) in [
        (&mut instr.d, info.d),
        (&mut instr.a, info.a),
        (&mut instr.b, info.b),
    ] {
        if allowed.nothing() {
            continue;
        }
        comma(c)?;
        *place = match c.peek_word().chars().next() {
            Some('r') => Place::Chunk(chunk(c)?),
            Some('t') => Place::Register(Register(lettered(c, 't', "a register, as `t3`")?)),
            _ => {
                c.expect_word("acc")?;
                Place::Accumulator
            }
        };
    }
    if info.modulus {
        comma(c)?;
        instr.modulus = lettered(c, 'i', "a modulus, as `i5`")?;
    }
    match info.n {
        Immediate::None => {}
        Immediate::Distant => {
            comma(c)?;
            instr.n = address(c)?;
        }
        Immediate::Scalar => {
            comma(c)?;
            instr.n = lettered(c, 'n', "a scalar, as `n7`")?;
        }
        Immediate::Galois => {
            comma(c)?;
            instr.n = lettered(c, 'g', "a Galois element, as `g5`")?;
        }
    }
    Ok(instr)
}
