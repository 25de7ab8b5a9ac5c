// SPDX-License-Identifier: Apache-2.0
//! Prints a circuit as text: its basis, sums and lookups.

use std::fmt::{self, Display, Formatter};

use super::graph::{Basis, Graph};
use super::sum::Sum;

/// Writes a sum of wires as text, such as `4 %0 - %1 + 3`.
fn sum(f: &mut Formatter<'_>, sum: &Sum) -> fmt::Result {
    for (i, &(wire, factor)) in sum.terms().iter().enumerate() {
        match (i, factor < 0) {
            (0, false) => {}
            (0, true) => f.write_str("-")?,
            (_, false) => f.write_str(" + ")?,
            (_, true) => f.write_str(" - ")?,
        }
        if factor.unsigned_abs() != 1 {
            write!(f, "{} ", factor.unsigned_abs())?;
        }
        write!(f, "%{}", wire.0)?;
    }
    match (sum.halves(), sum.is_constant()) {
        (constant, true) => write!(f, "{constant}"),
        (0, false) => Ok(()),
        (constant, false) if constant < 0 => write!(f, " - {}", constant.unsigned_abs()),
        (constant, false) => write!(f, " + {constant}"),
    }
}

impl Display for Graph {
    /// Writes a headline, a line for each lookup and a line for each output. The line of a lookup has the wire that it
    /// gives, its operand and its entries. In circuits of digits, wires count in halves of a message. In circuits of bits
    /// they count in eighths of the torus, and each table is the sign.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let of = match self.basis {
            Basis::Digits => "digits",
            Basis::Bits => "bits",
        };
        writeln!(
            f,
            "circuit of {of}, inputs %0 to %{}",
            i64::from(self.inputs) - 1
        )?;
        for (i, lookup) in self.lookups.iter().enumerate() {
            write!(f, "%{} = ", self.inputs as usize + i)?;
            match (self.basis, lookup.shared) {
                (Basis::Bits, _) => f.write_str("SIGN ")?,
                (Basis::Digits, false) => f.write_str("LOOKUP ")?,
                (Basis::Digits, true) => f.write_str("LOOKUP shared ")?,
            }
            sum(f, &lookup.operand)?;
            match self.basis {
                Basis::Bits => writeln!(f)?,
                Basis::Digits => writeln!(f, ", {:?}", lookup.table)?,
            }
        }
        for output in &self.outputs {
            f.write_str("output ")?;
            sum(f, output)?;
            writeln!(f)?;
        }
        Ok(())
    }
}
