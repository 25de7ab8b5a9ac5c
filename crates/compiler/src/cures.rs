// SPDX-License-Identifier: Apache-2.0
//! What to do about a program that is too deep, as far as it is known to help.

use std::fmt;

/// Cures that hold for a program, and the one that always does: fewer products in sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cures {
    /// Most products in sequence that fit.
    pub at_most: Option<u32>,
    /// The largest lower precision at which the program compiles.
    pub precision: Option<u32>,
    /// The program compiles with parameters that the compiler chooses.
    pub chosen: bool,
    /// The program compiles with inputs from -1 to 1.
    pub narrower: bool,
    /// The program is one that BGV bootstraps, by a set of this name.
    pub bootstrapping: Option<&'static str>,
    /// The program computes on real numbers, and bootstraps if its values are whole all the same.
    pub real: bool,
}

impl fmt::Display for Cures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cures = Vec::new();
        cures.push(match self.at_most {
            Some(most) => format!("multiply at most {most} times in sequence"),
            None => "multiply less often in sequence".to_owned(),
        });
        if let Some(bits) = self.precision {
            cures.push(format!("ask for a precision of {bits} bits"));
        }
        if self.chosen {
            cures.push("let the compiler choose the parameters".to_owned());
        }
        if self.narrower {
            cures.push("declare narrower ranges of the inputs".to_owned());
        }
        if let Some(set) = self.bootstrapping {
            let whole = if self.real {
                "if the values are whole numbers, "
            } else {
                ""
            };
            cures.push(format!(
                "{whole}compile it for BGV with bootstrapping=rm.bootstrapping({set:?}), which takes any depth"
            ));
        }
        match cures.split_last() {
            Some((last, [])) => f.write_str(last),
            Some((last, [only])) => write!(f, "{only}, or {last}"),
            Some((last, others)) => write!(f, "{}, or {last}", others.join(", ")),
            None => Ok(()),
        }
    }
}
