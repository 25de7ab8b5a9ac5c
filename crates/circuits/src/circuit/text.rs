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
    /// Writes a line for each lookup: the wire that it gives, its operand and its entries. Wires count in halves of a
    /// message. In circuits of bits they count in eighths of the torus, and each table is the sign.
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

#[cfg(test)]
mod tests {
    use ringmill_limits::Watch;

    use super::super::small::Lookups;

    #[test]
    fn lookups_and_sums_are_lines() {
        let mut l = Lookups::new(2000, &Watch::default());
        let (x, y) = (l.input(3), l.input(3));
        let product = l
            .lookup(&[(4, &x), (1, &y)], |u| (u >> 2) * (u & 3))
            .unwrap();
        let more = l
            .lookup(&[(1, &product), (-1, &x)], |u| i64::from(u > 0))
            .unwrap();
        let known = x.plus(-1, &x);
        let sums = [&more, &product, &known].map(|x| x.sum().clone());
        let text = l.finish(sums.to_vec()).unwrap().to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "circuit of digits, inputs %0 to %1");
        assert_eq!(
            lines[1],
            "%2 = LOOKUP 4 %0 + %1, [0, 0, 0, 0, 0, 2, 4, 6, 0, 4, 8, 12, 0, 6, 12, 18]"
        );
        assert!(
            lines[2].starts_with("%3 = LOOKUP -%0 + %2 + 6, ["),
            "{text}"
        );
        assert_eq!(lines[3..], ["output %3", "output %2", "output 0"]);
    }
}
