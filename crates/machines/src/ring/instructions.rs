// SPDX-License-Identifier: Apache-2.0
//! The operations in Table 2 of the Medha paper as single instruction words of the ring machine. Operands and results
//! of a word have different ports.

use ringmill_math::RingKind;

use super::description::Description;
use super::micro::{OpWord, Opcode, Operand, Unit};

/// The memory slots in the instruction words of [`instructions`]: of operand a, of operand b, of the result, and of the
/// second result or third operand. On a machine with the port groups of Medha no two of them share a port.
const SLOTS: [u8; 4] = [8, 9, 10, 0];

/// Returns the instruction words for the operations in Table 2 of the Medha paper, with their names. All run on RPAU 0,
/// except the broadcast from RPAU 0 to all RPAUs.
pub fn instructions(d: &Description) -> [(&'static str, OpWord); 14] {
    let [a, b, dst, second] = SLOTS;
    let word = |op, unit| OpWord {
        op,
        controller: 0,
        unit,
        mask: 1,
        ring: RingKind::Full,
        layer: 0,
        dst,
        a,
        b: Operand::None,
        c: 0,
        imm: 1,
    };
    let of_two = |op, unit| OpWord {
        b: Operand::Slot(b),
        imm: 0,
        ..word(op, unit)
    };
    let pair = |op| OpWord {
        c: second,
        ..of_two(op, Unit::Main)
    };
    let everywhere = OpWord {
        mask: ((1u32 << d.rpaus) - 1) as u16,
        imm: 0,
        ..word(Opcode::Bcast, Unit::Main)
    };
    let mac = OpWord {
        c: second,
        ..of_two(Opcode::Mac, Unit::Dyadic)
    };
    let (main, dyadic) = (Unit::Main, Unit::Dyadic);
    [
        ("NTT", word(Opcode::Ntt, main)),
        ("INTT", word(Opcode::Intt, main)),
        ("broadcast to all RPAUs", everywhere),
        ("scale by a constant", word(Opcode::Muli, main)),
        (
            "coefficient-wise add, main cores",
            of_two(Opcode::Add, main),
        ),
        (
            "coefficient-wise subtract, main cores",
            of_two(Opcode::Sub, main),
        ),
        (
            "coefficient-wise multiply, main cores",
            of_two(Opcode::Mul, main),
        ),
        (
            "coefficient-wise add, dyadic cores",
            of_two(Opcode::Add, dyadic),
        ),
        (
            "coefficient-wise subtract, dyadic cores",
            of_two(Opcode::Sub, dyadic),
        ),
        (
            "coefficient-wise multiply, dyadic cores",
            of_two(Opcode::Mul, dyadic),
        ),
        ("coefficient-wise c + a b, dyadic cores", mac),
        ("SPLIT", pair(Opcode::Split)),
        ("JOIN", pair(Opcode::Join)),
        ("automorphism", word(Opcode::Auto, main)),
    ]
}
