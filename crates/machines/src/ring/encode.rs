// SPDX-License-Identifier: Apache-2.0
//! Encodes and decodes the 64-bit instruction word of the ring machine, and prints it as text.
//!
//! The fields are those of `docs/isa/ring.md`, and each unused field is 0. The number of a part of
//! the ring ([`RingKind::Part`]) stands in a field that the instruction word does not use otherwise.
//! That is the field `b`, which names no slot and no key if a part is named. For `SPLIT` and `JOIN`
//! it is the field `imm`.

use std::fmt;

use ringmill_math::RingKind;

use super::isa::{Kind, RingCode, wait, word};
use super::micro::{OpWord, Opcode, Operand, QUEUES, Unit, Word};

/// The largest index in the field of the immediate of an instruction word. `MAX_LAYER` is the largest layer l: in layer
/// l, RPAU r computes modulo prime r + l times the number of RPAUs.
pub const MAX_IMM: usize = word::IMM.max() as usize;
pub const MAX_LAYER: usize = word::LAYER.max() as usize;

/// Encodes an instruction word. A number that is too large for its field is cut; the scheduler uses no such numbers
/// (see [`MAX_IMM`]).
pub fn encode(word: &Word) -> u64 {
    match word {
        Word::End => word::OP.put(Opcode::END),
        Word::Wait { queue, count } => {
            wait::OP.put(Opcode::WAIT)
                | wait::QUEUE.put((*queue).into())
                | wait::COUNT.put((*count).into())
        }
        Word::Op(w) => {
            let (kind, b) = match w.b {
                Operand::None => (Kind::None, 0),
                Operand::Slot(s) => (Kind::Slot, s),
                Operand::Key(k) => (Kind::Key, k),
                Operand::Generator => (Kind::Generator, 0),
            };
            let (ring, part) = match w.ring {
                RingKind::Full => (RingCode::Full, 0),
                RingKind::HalfPlus => (RingCode::HalfPlus, 0),
                RingKind::HalfMinus => (RingCode::HalfMinus, 0),
                RingKind::Part(number) => (RingCode::Part, number),
            };
            let (in_b, in_imm) = match part_field(w.op) {
                PartField::B => (part, 0),
                PartField::Imm => (0, part),
            };
            word::OP.put(w.op.bits())
                | word::CONTROLLER.put(w.controller.into())
                | word::THREAD.put((w.unit == Unit::Dyadic).into())
                | word::MASK.put(w.mask.into())
                | word::RING.put(ring.bits())
                | word::LAYER.put(w.layer.into())
                | word::DST.put(w.dst.into())
                | word::A.put(w.a.into())
                | word::B_KIND.put(kind.bits())
                | word::B.put((b | in_b).into())
                | word::C.put(w.c.into())
                | word::IMM.put(u64::from(w.imm) | u64::from(in_imm))
        }
    }
}

/// The field of an instruction word in which the number of a part of the polynomial ring stands.
enum PartField {
    B,
    Imm,
}

fn part_field(op: Opcode) -> PartField {
    match op {
        Opcode::Split | Opcode::Join => PartField::Imm,
        _ => PartField::B,
    }
}

/// Returns the part of the polynomial ring that an instruction word names, for the code `kind` of its operand b. If the
/// number stands in the immediate, the immediate becomes 0. Returns `None` if the number is that of no
/// [`RingKind::Part`], or if words with this operation and operand have no ring. For `SPLIT` and `JOIN` it also returns
/// `None` for the second of two halves.
fn part(op: Opcode, kind: Kind, b: u8, imm: &mut u16) -> Option<RingKind> {
    use Opcode::*;
    let number = match (op, kind) {
        // The first of two halves.
        (Split | Join, _) => u8::try_from(std::mem::take(imm))
            .ok()
            .filter(|n| n % 2 == 0)?,
        (Ntt | Intt | Auto | Prng, Kind::None) | (Mul | Mac, Kind::Generator) => b,
        _ => return None,
    };
    match RingKind::of_number(number)? {
        part @ RingKind::Part(_) => Some(part),
        RingKind::Full | RingKind::HalfPlus | RingKind::HalfMinus => None,
    }
}

/// Decodes an instruction word, or returns `None` for bits to which no word is encoded.
pub fn decode(bits: u64) -> Option<Word> {
    let word = match word::OP.get(bits) {
        Opcode::END => Word::End,
        Opcode::WAIT => Word::Wait {
            queue: wait::QUEUE.get(bits) as u8,
            count: wait::COUNT.get(bits) as u32,
        },
        code => {
            let op = Opcode::from_bits(code)?;
            let kind = Kind::from_bits(word::B_KIND.get(bits))?;
            let b = word::B.get(bits) as u8;
            let mut imm = word::IMM.get(bits) as u16;
            let ring = match RingCode::from_bits(word::RING.get(bits))? {
                RingCode::Full => RingKind::Full,
                RingCode::HalfPlus => RingKind::HalfPlus,
                RingCode::HalfMinus => RingKind::HalfMinus,
                RingCode::Part => part(op, kind, b, &mut imm)?,
            };
            let b = match kind {
                Kind::None => Operand::None,
                Kind::Slot if u64::from(b) <= word::A.max() => Operand::Slot(b),
                Kind::Slot => return None,
                Kind::Key => Operand::Key(b),
                Kind::Generator => Operand::Generator,
            };
            Word::Op(OpWord {
                op,
                controller: word::CONTROLLER.get(bits) as u8,
                unit: if word::THREAD.get(bits) == 1 {
                    Unit::Dyadic
                } else {
                    Unit::Main
                },
                mask: word::MASK.get(bits) as u16,
                ring,
                layer: word::LAYER.get(bits) as u8,
                dst: word::DST.get(bits) as u8,
                a: word::A.get(bits) as u8,
                b,
                c: word::C.get(bits) as u8,
                imm,
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
        write!(f, "{:<5} ", w.op.text())?;
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
        match w.ring {
            RingKind::Full => {}
            RingKind::HalfPlus => write!(f, " p")?,
            RingKind::HalfMinus => write!(f, " m")?,
            RingKind::Part(number) => write!(f, " part {number}")?,
        }
        write!(f, " layer {} mask {:#06x}", w.layer, w.mask)?;
        if w.imm != 0 {
            write!(f, " #{}", w.imm)
        } else {
            Ok(())
        }
    }
}
