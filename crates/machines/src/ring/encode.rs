// SPDX-License-Identifier: Apache-2.0
//! Encodes and decodes the 64-bit instruction word of the ring machine, and prints it as text.
//!
//! | bits | field | | bits | field |
//! | --- | --- | --- | --- | --- |
//! | 63-59 | opcode | | 35-31 | dst slot |
//! | 58 | controller | | 30-26 | a slot |
//! | 57 | thread (1 = dyadic) | | 25-24 | kind of b: none, slot, key, generator |
//! | 56-41 | RPAU mask | | 23-17 | b slot or key index |
//! | 40-39 | ring: full, p, m, part | | 16-12 | c slot, second result, or source RPAU |
//! | 38-36 | layer | | 11-0 | immediate index |
//!
//! In the field for the ring, p and m are the two halves of a ring that is split once, and part is
//! a smaller part. The layer tells the prime: RPAU r computes modulo prime r + layer times the
//! number of RPAUs. The number of a part of the ring ([`RingKind::Part`]) stands in a field that
//! the instruction word does not use otherwise. That is bits 23-17, which name no slot and no key
//! if a part is named. For `SPLIT` and `JOIN` it is bits 11-0.
//!
//! `WAIT` (opcode 1) has its counter in bits 34-32 and its count in bits 31-0; `END` is opcode 0.
//! Each unused field is 0.

use std::fmt;

use ringmill_math::RingKind;

use super::micro::{OpWord, Opcode, Operand, QUEUES, Unit, Word};

const WAIT: u64 = 1;
/// The value of the instruction word's field for the polynomial ring if the word names a part of the ring, a factor
/// into which the ring is split. The part's number then stands in another field.
const PART: u64 = 3;

/// A field of the instruction word, by name, lowest bit and width in bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    pub name: &'static str,
    pub low: u32,
    pub width: u32,
}

impl Field {
    const fn new(name: &'static str, low: u32, width: u32) -> Self {
        Self { name, low, width }
    }

    const fn put(self, value: u64) -> u64 {
        (value & ((1 << self.width) - 1)) << self.low
    }

    const fn get(self, bits: u64) -> u64 {
        bits >> self.low & ((1 << self.width) - 1)
    }
}

const OPCODE: Field = Field::new("op", 59, 5);
const CONTROLLER: Field = Field::new("controller", 58, 1);
const THREAD: Field = Field::new("thread", 57, 1);
const MASK: Field = Field::new("mask", 41, 16);
const RING: Field = Field::new("ring", 39, 2);
const LAYER: Field = Field::new("layer", 36, 3);
const DST: Field = Field::new("dst", 31, 5);
const A: Field = Field::new("a", 26, 5);
const KIND: Field = Field::new("b_kind", 24, 2);
const B: Field = Field::new("b", 17, 7);
const C: Field = Field::new("c", 12, 5);
const IMM: Field = Field::new("imm", 0, 12);

/// The fields of the instruction word of an operation, highest bits first. The RTL's package is generated from them.
pub const FIELDS: [Field; 12] = [
    OPCODE, CONTROLLER, THREAD, MASK, RING, LAYER, DST, A, KIND, B, C, IMM,
];

/// The fields of the instruction word `WAIT`: the retire counter, and the count that it must reach.
pub const WAIT_FIELDS: [Field; 2] = [Field::new("queue", 32, 3), Field::new("count", 0, 32)];

/// The names of the kinds of operand b, in the order of their codes.
pub const KINDS: [&str; 4] = ["none", "slot", "key", "generator"];

/// The largest index in the field of the immediate of an instruction word. `MAX_LAYER` is the largest layer l: in layer
/// l, RPAU r computes modulo prime r + l times the number of RPAUs.
pub const MAX_IMM: usize = (1 << 12) - 1;
pub const MAX_LAYER: usize = 7;

/// Encodes an instruction word. A number that is too large for its field is cut; the scheduler uses no such numbers
/// (see [`MAX_IMM`]).
pub fn encode(word: &Word) -> u64 {
    match word {
        Word::End => 0,
        Word::Wait { queue, count } => {
            let [at, number] = WAIT_FIELDS;
            OPCODE.put(WAIT) | at.put((*queue).into()) | number.put((*count).into())
        }
        Word::Op(w) => {
            let (kind, b) = match w.b {
                Operand::None => (0, 0),
                Operand::Slot(s) => (1, s),
                Operand::Key(k) => (2, k),
                Operand::Generator => (3, 0),
            };
            let (ring, part) = match w.ring {
                RingKind::Full => (0u64, 0),
                RingKind::HalfPlus => (1, 0),
                RingKind::HalfMinus => (2, 0),
                RingKind::Part(number) => (PART, number),
            };
            let (in_b, in_imm) = match part_field(w.op) {
                PartField::B => (part, 0),
                PartField::Imm => (0, part),
            };
            OPCODE.put(w.op as u64)
                | CONTROLLER.put(w.controller.into())
                | THREAD.put((w.unit == Unit::Dyadic).into())
                | MASK.put(w.mask.into())
                | RING.put(ring)
                | LAYER.put(w.layer.into())
                | DST.put(w.dst.into())
                | A.put(w.a.into())
                | KIND.put(kind)
                | B.put((b | in_b).into())
                | C.put(w.c.into())
                | IMM.put(u64::from(w.imm) | u64::from(in_imm))
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
/// number stands in the immediate, the immediate becomes 0. Returns `None` if the number is that of no part, or if
/// words with this operation and operand have no ring.
fn part(op: Opcode, kind: u64, b: u8, imm: &mut u16) -> Option<RingKind> {
    use Opcode::*;
    let number = match (op, kind) {
        // The first of two halves.
        (Split | Join, _) => u8::try_from(std::mem::take(imm))
            .ok()
            .filter(|n| n % 2 == 0)?,
        (Ntt | Intt | Auto | Prng, 0) | (Mul | Mac, 3) => b,
        _ => return None,
    };
    match RingKind::of_number(number)? {
        part @ RingKind::Part(_) => Some(part),
        RingKind::Full | RingKind::HalfPlus | RingKind::HalfMinus => None,
    }
}

/// Decodes an instruction word, or returns `None` for bits to which no word is encoded.
pub fn decode(bits: u64) -> Option<Word> {
    let word = match OPCODE.get(bits) {
        0 => Word::End,
        WAIT => Word::Wait {
            queue: WAIT_FIELDS[0].get(bits) as u8,
            count: WAIT_FIELDS[1].get(bits) as u32,
        },
        code => {
            let op = *Opcode::ALL.get(code as usize - 2)?;
            let b = B.get(bits) as u8;
            let mut imm = IMM.get(bits) as u16;
            let ring = match RING.get(bits) {
                0 => RingKind::Full,
                1 => RingKind::HalfPlus,
                2 => RingKind::HalfMinus,
                _ => part(op, KIND.get(bits), b, &mut imm)?,
            };
            let b = match KIND.get(bits) {
                0 => Operand::None,
                1 if b < 32 => Operand::Slot(b),
                2 => Operand::Key(b),
                3 => Operand::Generator,
                _ => return None,
            };
            Word::Op(OpWord {
                op,
                controller: CONTROLLER.get(bits) as u8,
                unit: if THREAD.get(bits) == 1 {
                    Unit::Dyadic
                } else {
                    Unit::Main
                },
                mask: MASK.get(bits) as u16,
                ring,
                layer: LAYER.get(bits) as u8,
                dst: DST.get(bits) as u8,
                a: A.get(bits) as u8,
                b,
                c: C.get(bits) as u8,
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
