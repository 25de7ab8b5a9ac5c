// SPDX-License-Identifier: Apache-2.0
//! Lowers the operations that all ring schemes have in common to calls of scheme-layer procedures. Each scheme names
//! the procedures by its own type `OpKey`.

/// The methods of a [`Visitor`](ringmill_isa::macros::Visitor) whose results are a ring scheme's [`Code`](crate::Code).
/// `OpKey` makes the scheme's operations, and `automorphisms` returns an instruction's Galois elements. The visitor has
/// the `params`, the instruction (`of`), and the `level` and `size` of its first operand. It also has `add_plain` and
/// `sub_plain`, the operations with a plaintext.
macro_rules! of_rings {
    () => {
        fn add(&mut self, _: &MacroInstr) -> Found {
            let operation = match self.of.size(1) {
                Some(other) => OpKey::add(self.level, self.size, other),
                None => self.add_plain(),
            };
            Ok(coded(operation, vec![]))
        }

        fn sub(&mut self, _: &MacroInstr) -> Found {
            let operation = match self.of.size(1) {
                Some(other) => OpKey::sub(self.level, self.size, other),
                None => self.sub_plain(),
            };
            Ok(coded(operation, vec![]))
        }

        fn mul(&mut self, _: &MacroInstr) -> Found {
            Ok(match self.of.size(1) {
                Some(_) if self.of.switched => self.relinearised(OpKey::mul_relin),
                Some(_) => coded(OpKey::mul(self.level), vec![]),
                None => coded(OpKey::mul_plain(self.level, self.size), vec![]),
            })
        }

        fn square(&mut self, _: &MacroInstr) -> Found {
            Ok(match self.of.switched {
                true => self.relinearised(OpKey::square_relin),
                false => coded(OpKey::square(self.level), vec![]),
            })
        }

        fn neg(&mut self, _: &MacroInstr) -> Found {
            Ok(coded(OpKey::neg(self.level, self.size), vec![]))
        }

        fn relin(&mut self, _: &MacroInstr) -> Found {
            Ok(self.relinearised(OpKey::relin))
        }

        fn rotate(&mut self, instr: &MacroInstr, _: &[i32]) -> Found {
            match *automorphisms(self.params, instr)? {
                [element] => Ok(self.rotated(element)),
                _ => Err(self.of.misshapen()),
            }
        }

        fn hrotate(&mut self, instr: &MacroInstr, _: &[i32]) -> Found {
            let elements = automorphisms(self.params, instr)?;
            let keys = elements.iter().copied().map(KeyRequest::Galois).collect();
            let hoisted = OpKey::hoisted_rotate(self.level, elements, self.of.seeded);
            Ok(coded(hoisted, keys))
        }

        fn morph(&mut self, _: &MacroInstr, by: Galois) -> Found {
            Ok(match self.of.switched {
                true => self.rotated(by),
                false => coded(OpKey::morph(self.level, by), vec![]),
            })
        }

        fn ksw(&mut self, _: &MacroInstr) -> Found {
            Ok(match self.of.under(0) {
                Some(element) => {
                    let switch = OpKey::key_switch(self.level, self.of.seeded);
                    coded(switch, vec![KeyRequest::Galois(element)])
                }
                None => self.relinearised(OpKey::relin),
            })
        }
    };
}
pub(crate) use of_rings;

/// The helpers that the methods of `of_rings` share.
macro_rules! ring_helpers {
    () => {
        impl OfInstr<'_> {
            fn relinearised(&self, operation: fn(Level, bool) -> OpKey) -> Made {
                let operation = operation(self.level, self.of.seeded);
                coded(operation, vec![KeyRequest::Relin])
            }

            fn rotated(&self, element: Galois) -> Made {
                let operation = OpKey::rotate(self.level, element, self.of.seeded);
                coded(operation, vec![KeyRequest::Galois(element)])
            }
        }

        type Found = Result<Made, CompileError>;

        /// Returns a call of an operation. Constants and Galois elements are immediates of the call.
        fn coded(operation: OpKey, keys: Vec<KeyRequest>) -> Made {
            let (operation, immediates) = operation.opened();
            Code::Call {
                operation,
                keys,
                immediates,
            }
        }
    };
}
pub(crate) use ring_helpers;
