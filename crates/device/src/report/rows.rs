// SPDX-License-Identifier: Apache-2.0
//! Formats the rows of a printed report: a label, a value and the value's source.

use std::fmt;

use super::how::How;

/// The width of the column of labels, in characters.
const LABEL: usize = 30;
/// The width of the column of values, in characters; longer values push the last column to the
/// right.
const VALUE: usize = 43;

/// A writer of a printed report: sections of rows with a label, a value, and the source of the value.
pub struct Rows<'f, 'g> {
    f: &'f mut fmt::Formatter<'g>,
}

impl<'f, 'g> Rows<'f, 'g> {
    /// Makes a writer that appends the rows of a report to `f`.
    pub fn new(f: &'f mut fmt::Formatter<'g>) -> Self {
        Self { f }
    }

    /// Writes the title of a section, before its rows.
    ///
    /// # Errors
    /// The errors of the formatter.
    pub fn section(&mut self, title: &str) -> fmt::Result {
        writeln!(self.f, "{title}")
    }

    /// Writes one row of a section: a label, a value and `how`, the value's source. An empty label
    /// continues the row above.
    ///
    /// # Errors
    /// The errors of the formatter.
    pub fn row(&mut self, label: &str, value: impl fmt::Display, how: Option<How>) -> fmt::Result {
        let value = value.to_string();
        match how {
            Some(how) => writeln!(self.f, "  {label:<LABEL$}{value:<VALUE$} {how}"),
            None => writeln!(self.f, "  {label:<LABEL$}{value}"),
        }
    }
}

/// Formats a count with its digits in groups of three.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(d);
    }
    out
}

/// Formats a number of bytes in binary units, such as KiB.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let unit = UNITS.get(unit).copied().unwrap_or("TiB");
    if n < 1024 {
        format!("{n} {unit}")
    } else {
        format!("{value:.1} {unit}")
    }
}

/// Formats a time in seconds in the unit that suits its size.
pub fn seconds(s: f64) -> String {
    match s {
        0.0 => "0 s".to_owned(),
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.2} us", s * 1e6),
    }
}
