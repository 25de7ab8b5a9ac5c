// SPDX-License-Identifier: Apache-2.0
//! Encodes the vector machine's instructions as words of 96 bits, and decodes them.

use super::instr::{Chunk, Instr, Place, Register};
use super::op::{
    A_BITS, A_KIND_BITS, B_BITS, B_KIND_BITS, D_BITS, D_KIND_BITS, MODULUS_BITS, MicroOp, N_BITS,
    OP_BITS,
};

/// The error of a 96-bit word that is no instruction of the vector machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{word:#026x} is no instruction: {what}")]
pub struct NotAWord {
    pub word: u128,
    pub what: &'static str,
}

/// Returns the number whose low `bits` bits are ones and whose other bits are zeros.
fn mask(bits: u32) -> u32 {
    let others = u32::BITS.saturating_sub(bits);
    u32::MAX.checked_shr(others).unwrap_or(0)
}

/// Encodes an instruction of the vector machine as a word, in the low 96 bits of the result. If an
/// index is too large for its field, its high bits are lost; the verifier refuses such an
/// instruction.
pub fn encode(instr: &Instr) -> u128 {
    let mut word = 0u128;
    let mut put = |value: u32, bits: u32| {
        word = word.checked_shl(bits).unwrap_or(0) | u128::from(value & mask(bits));
    };
    put(instr.op as u32, OP_BITS);
    for (place, kind_bits, bits) in [
        (instr.d, D_KIND_BITS, D_BITS),
        (instr.a, A_KIND_BITS, A_BITS),
        (instr.b, B_KIND_BITS, B_BITS),
    ] {
        let (kind, at) = match place {
            Place::None => (0, 0),
            Place::Chunk(chunk) => (1, chunk.0.into()),
            Place::Register(register) => (2, register.0.into()),
            Place::Accumulator => (3, 0),
        };
        put(kind, kind_bits);
        put(at, bits);
    }
    put(instr.modulus.into(), MODULUS_BITS);
    put(instr.n, N_BITS);
    word
}

/// Decodes a 96-bit word to the instruction of the vector machine that it encodes.
///
/// # Errors
/// Fails for a code that no instruction has, or for a bit above the 96th. Fails for an index of an absent operand or of
/// the accumulator, and for the number of a register above 255.
pub fn decode(word: u128) -> Result<Instr, NotAWord> {
    let bad = |what| NotAWord { word, what };
    let mut left = word;
    let mut take = |bits: u32| {
        let value = left as u32 & mask(bits);
        left = left.checked_shr(bits).unwrap_or(0);
        value
    };
    // Fields are taken from the least significant bits upwards.
    let n = take(N_BITS);
    let modulus = take(MODULUS_BITS) as u16;
    let mut places = [Place::None; 3];
    for (place, kind_bits, bits) in [
        (2, B_KIND_BITS, B_BITS),
        (1, A_KIND_BITS, A_BITS),
        (0, D_KIND_BITS, D_BITS),
    ] {
        let at = take(bits);
        let found = match (take(kind_bits), at) {
            (0, 0) => Place::None,
            (1, at) => Place::Chunk(Chunk(at as u16)),
            (2, at) if at <= u8::MAX.into() => Place::Register(Register(at as u8)),
            (3, 0) => Place::Accumulator,
            _ => return Err(bad("an operand that is none has an index")),
        };
        if let Some(place) = places.get_mut(place) {
            *place = found;
        }
    }
    let code = take(OP_BITS);
    if left != 0 {
        return Err(bad("it has more than 96 bits"));
    }
    let found = MicroOp::ALL.into_iter().find(|&op| op as u32 == code);
    let [d, a, b] = places;
    Ok(Instr {
        op: found.ok_or_else(|| bad("no instruction has its code"))?,
        d,
        a,
        b,
        modulus,
        n,
    })
}
