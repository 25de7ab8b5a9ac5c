//! The 64-bit instruction word: encoding, decoding and text.
//!
//! | bits | field | | bits | field |
//! | --- | --- | --- | --- | --- |
//! | 63-59 | opcode | | 35-31 | dst slot |
//! | 58 | controller | | 30-26 | a slot |
//! | 57 | thread (1 = dyadic) | | 25-24 | kind of b: none, slot, key, generator |
//! | 56-41 | RPAU mask | | 23-17 | b slot or key index |
//! | 40-39 | ring: full, p, m | | 16-12 | c slot, second result, or source RPAU |
//! | 38-36 | layer | | 11-0 | immediate index |
//!
//! `WAIT` (opcode 1) keeps its counter in bits 34-32 and its count in bits 31-0; `END` is opcode 0. Unused fields are 0.

use std::fmt;

use ringmill_math::RingKind;

use super::micro::{OpWord, Opcode, Operand, QUEUES, Unit, Word};

const WAIT: u64 = 1;

/// Largest immediate index, layer and slot that a word can hold.
pub const MAX_IMM: usize = (1 << 12) - 1;
pub const MAX_LAYER: usize = 7;

/// Encodes a word. Fields are truncated to their width; the scheduler keeps them inside (see [`MAX_IMM`]).
pub fn encode(word: &Word) -> u64 {
    match word {
        Word::End => 0,
        Word::Wait { queue, count } => WAIT << 59 | u64::from(queue & 7) << 32 | u64::from(*count),
        Word::Op(w) => {
            let (kind, b) = match w.b {
                Operand::None => (0, 0),
                Operand::Slot(s) => (1, s),
                Operand::Key(k) => (2, k),
                Operand::Generator => (3, 0),
            };
            let ring = match w.ring {
                RingKind::Full => 0u64,
                RingKind::HalfPlus => 1,
                RingKind::HalfMinus => 2,
            };
            (w.op as u64) << 59
                | u64::from(w.controller & 1) << 58
                | u64::from(w.unit == Unit::Dyadic) << 57
                | u64::from(w.mask) << 41
                | ring << 39
                | u64::from(w.layer & 7) << 36
                | u64::from(w.dst & 31) << 31
                | u64::from(w.a & 31) << 26
                | kind << 24
                | u64::from(b & 127) << 17
                | u64::from(w.c & 31) << 12
                | u64::from(w.imm & 0xfff)
        }
    }
}

/// Decodes a word; `None` for a word that no encoding gives.
pub fn decode(bits: u64) -> Option<Word> {
    let field = |low: u32, width: u32| bits >> low & ((1 << width) - 1);
    let word = match field(59, 5) {
        0 => Word::End,
        WAIT => Word::Wait {
            queue: field(32, 3) as u8,
            count: bits as u32,
        },
        code => {
            let op = *Opcode::ALL.get(code as usize - 2)?;
            let b = field(17, 7) as u8;
            let b = match field(24, 2) {
                0 => Operand::None,
                1 if b < 32 => Operand::Slot(b),
                2 => Operand::Key(b),
                3 => Operand::Generator,
                _ => return None,
            };
            let ring = match field(39, 2) {
                0 => RingKind::Full,
                1 => RingKind::HalfPlus,
                2 => RingKind::HalfMinus,
                _ => return None,
            };
            Word::Op(OpWord {
                op,
                controller: field(58, 1) as u8,
                unit: if field(57, 1) == 1 {
                    Unit::Dyadic
                } else {
                    Unit::Main
                },
                mask: field(41, 16) as u16,
                ring,
                layer: field(36, 3) as u8,
                dst: field(31, 5) as u8,
                a: field(26, 5) as u8,
                b,
                c: field(12, 5) as u8,
                imm: field(0, 12) as u16,
            })
        }
    };
    let known_queue = !matches!(word, Word::Wait { queue, .. } if usize::from(queue) >= QUEUES);
    (known_queue && encode(&word) == bits).then_some(word)
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let w = match self {
            Word::End => return write!(f, "END"),
            Word::Wait { queue, count } => {
                let name = [
                    "c0.main",
                    "c0.dyadic",
                    "c1.main",
                    "c1.dyadic",
                    "ring",
                    "link",
                ];
                return write!(
                    f,
                    "WAIT  {} {count}",
                    name.get(usize::from(*queue)).unwrap_or(&"?")
                );
            }
            Word::Op(w) => w,
        };
        write!(f, "{:<5} ", w.op.name())?;
        match w.op {
            Opcode::Bcast => write!(f, "s{} <- rpau{}.s{}", w.dst, w.c, w.a)?,
            Opcode::Load if matches!(w.b, Operand::Key(_)) => write!(f, "<- host")?,
            Opcode::Load => write!(f, "s{} <- host", w.dst)?,
            Opcode::Store => write!(f, "host <- s{}", w.a)?,
            Opcode::Prng => write!(f, "s{}", w.dst)?,
            op if op.is_pair() => write!(f, "s{} s{} <- s{}", w.dst, w.c, w.a)?,
            Opcode::Mac => write!(f, "s{} <- s{} s{}", w.dst, w.c, w.a)?,
            _ => write!(f, "s{} <- s{}", w.dst, w.a)?,
        }
        match w.b {
            Operand::None => {}
            Operand::Slot(s) => write!(f, " s{s}")?,
            Operand::Key(k) => write!(f, " k{k}")?,
            Operand::Generator => write!(f, " gen")?,
        }
        let ring = match w.ring {
            RingKind::Full => "",
            RingKind::HalfPlus => " p",
            RingKind::HalfMinus => " m",
        };
        write!(f, "{ring} layer {} mask {:#06x}", w.layer, w.mask)?;
        if w.imm != 0 {
            write!(f, " #{}", w.imm)
        } else {
            Ok(())
        }
    }
}
