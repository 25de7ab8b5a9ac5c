// SPDX-License-Identifier: Apache-2.0
//! Papers' counts, which they print as formulas.

use crate::error::PaperError;

/// What a letter of a formula stands for.
pub type Letter<'t> = (&'t str, f64);

/// The value of a formula of numbers, letters, `+ - * / ^` and brackets; `None` for a dash.
pub fn value(text: &str, letters: &[Letter<'_>]) -> Result<Option<f64>, PaperError> {
    if text == "-" {
        return Ok(None);
    }
    let mut parser = Parser {
        rest: text,
        letters,
    };
    let value = parser.sum();
    match value {
        Some(value) if parser.rest.trim().is_empty() => Ok(Some(value)),
        _ => Err(PaperError::Tables(format!("`{text}` is no formula"))),
    }
}

struct Parser<'t> {
    rest: &'t str,
    letters: &'t [Letter<'t>],
}

impl Parser<'_> {
    fn take(&mut self, symbol: char) -> bool {
        let rest = self.rest.trim_start();
        let after = rest.strip_prefix(symbol);
        self.rest = after.unwrap_or(rest);
        after.is_some()
    }

    fn sum(&mut self) -> Option<f64> {
        let mut value = self.product()?;
        loop {
            if self.take('+') {
                value += self.product()?;
            } else if self.take('-') {
                value -= self.product()?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<f64> {
        let mut value = self.power()?;
        loop {
            if self.take('*') {
                value *= self.power()?;
            } else if self.take('/') {
                value /= self.power()?;
            } else {
                return Some(value);
            }
        }
    }

    fn power(&mut self) -> Option<f64> {
        let base = self.atom()?;
        if self.take('^') {
            return Some(base.powf(self.atom()?));
        }
        Some(base)
    }

    fn atom(&mut self) -> Option<f64> {
        if self.take('(') {
            let value = self.sum()?;
            return self.take(')').then_some(value);
        }
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric());
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        self.rest = after;
        let letter = self.letters.iter().find(|(letter, _)| *letter == word);
        letter.map_or_else(|| word.parse().ok(), |&(_, value)| Some(value))
    }
}
