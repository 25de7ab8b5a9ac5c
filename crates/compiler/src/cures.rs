// SPDX-License-Identifier: Apache-2.0
//! The cures that an error message names for a program with too many products in sequence.

use std::fmt;

use crate::accuracy::Accuracy;

/// The cures that help a program with too many products in sequence. The message always names one
/// more: fewer products in sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cures {
    /// The largest number of products in sequence that fits the parameters, if it is known.
    pub at_most: Option<u32>,
    /// The highest accuracy below the user's demand at which the program compiles.
    pub accuracy: Option<Accuracy>,
    /// Whether the program compiles with parameters that the compiler chooses. False if the compiler chose them
    /// already.
    pub chosen: bool,
    /// Whether a program of integers, which failed with chosen parameters, compiles with inputs from -1 to 1.
    pub narrower: bool,
    /// The name of a parameter set with which BGV may bootstrap the program: its slots, modulus and operations suit. No
    /// compilation was tried.
    pub bootstrapping: Option<&'static str>,
    /// Whether the program computes on real numbers. If its values are whole all the same, a scheme
    /// of integers may bootstrap it.
    pub real: bool,
}

impl fmt::Display for Cures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cures = Vec::new();
        cures.push(match self.at_most {
            Some(most) => format!("multiply at most {most} times in sequence"),
            None => "multiply less often in sequence".to_owned(),
        });
        if let Some(accuracy) = self.accuracy {
            cures.push(format!("ask for {accuracy}"));
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
