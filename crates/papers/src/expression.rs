// SPDX-License-Identifier: Apache-2.0
//! Evaluates the formulas of a paper's sheet, the TOML data of its tables: numbers, names, texts in single or
//! double quotes, `+ - * / ^`, comparisons, brackets and functions.

use crate::error::PaperError;
use crate::how::How;
use crate::value::Value;

/// A function that returns the value of a name in a formula, or `None` if the name is unknown.
pub type Names<'n> = dyn Fn(&str) -> Result<Option<Value>, PaperError> + 'n;

/// Evaluates a formula to a value. A text that is only a dash stands for a missing figure. A name that ends with `?`
/// may be unknown, and then is a missing figure.
///
/// # Errors
/// Returns [`PaperError::Tables`] for a text that is no formula, or an unknown name. Otherwise fails as `names` does.
pub fn evaluate(text: &str, names: &Names<'_>) -> Result<Value, PaperError> {
    if text == "-" {
        return Ok(Value::None);
    }
    let mut parser = Parser { rest: text, names };
    let value = parser.comparison()?;
    match parser.rest.trim() {
        "" => Ok(value),
        rest => Err(fault(format!("`{text}` is no formula: `{rest}`"))),
    }
}

/// Evaluates a formula to a number or a missing figure. If the value is a text, the text is evaluated as a formula in
/// turn.
///
/// # Errors
/// Fails for a text that is no formula, and for a name that `names` lacks.
pub fn number(text: &str, names: &Names<'_>) -> Result<Value, PaperError> {
    match evaluate(text, names)? {
        Value::Text(formula) => number(&formula, names),
        value => Ok(value),
    }
}

fn fault(reason: String) -> PaperError {
    PaperError::Tables(reason)
}

fn truth(holds: bool) -> Value {
    Value::number(f64::from(u8::from(holds)))
}

/// Returns whether the value of a condition holds. Zero, an empty text, a dash and a missing figure do not hold.
pub fn holds(value: &Value) -> bool {
    match value {
        Value::Known(known) => known.value != 0.0,
        Value::Text(text) => !text.is_empty() && text != "-",
        Value::NotMeasured | Value::None => false,
    }
}

struct Parser<'t> {
    rest: &'t str,
    names: &'t Names<'t>,
}

impl Parser<'_> {
    fn take(&mut self, symbol: &str) -> bool {
        let rest = self.rest.trim_start();
        let after = rest.strip_prefix(symbol);
        self.rest = after.unwrap_or(rest);
        after.is_some()
    }

    /// Returns a value as an operand of arithmetic in a formula. A text is evaluated as a formula of its own.
    fn in_numbers(&self, value: Value) -> Result<Value, PaperError> {
        match value {
            Value::Text(formula) => number(&formula, self.names),
            value => Ok(value),
        }
    }

    fn comparison(&mut self) -> Result<Value, PaperError> {
        let left = self.sum()?;
        if self.take("==") {
            return Ok(truth(self.sum()?.same(&left)));
        }
        if self.take("!=") {
            return Ok(truth(!self.sum()?.same(&left)));
        }
        let more = self.take(">");
        if !more && !self.take("<") {
            return Ok(left);
        }
        let right = self.sum()?;
        let (left, right) = (self.in_numbers(left)?, self.in_numbers(right)?);
        Ok(left.with(right, |a, b| {
            f64::from(u8::from(if more { a > b } else { a < b }))
        }))
    }

    fn sum(&mut self) -> Result<Value, PaperError> {
        let mut value = self.product()?;
        loop {
            let add = self.take("+");
            if !add && !self.take("-") {
                return Ok(value);
            }
            let other = self.product()?;
            let (left, right) = (self.in_numbers(value)?, self.in_numbers(other)?);
            value = left.with(right, |a, b| if add { a + b } else { a - b });
        }
    }

    fn product(&mut self) -> Result<Value, PaperError> {
        let mut value = self.power()?;
        loop {
            let times = self.take("*");
            if !times && !self.take("/") {
                return Ok(value);
            }
            let other = self.power()?;
            let (left, right) = (self.in_numbers(value)?, self.in_numbers(other)?);
            value = left.with(right, |a, b| if times { a * b } else { a / b });
        }
    }

    fn power(&mut self) -> Result<Value, PaperError> {
        let base = self.atom()?;
        if !self.take("^") {
            return Ok(base);
        }
        let exponent = self.atom()?;
        let (base, exponent) = (self.in_numbers(base)?, self.in_numbers(exponent)?);
        Ok(base.with(exponent, f64::powf))
    }

    fn atom(&mut self) -> Result<Value, PaperError> {
        if self.take("(") {
            let value = self.comparison()?;
            return self.closed(value);
        }
        for quote in ["'", "\""] {
            if self.take(quote) {
                let Some((text, after)) = self.rest.split_once(quote) else {
                    return Err(fault(format!("`{}` has no end", self.rest)));
                };
                self.rest = after;
                return Ok(text.into());
            }
        }
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        self.rest = after;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let number = word.parse().map(Value::number);
            return number.map_err(|_| fault(format!("`{word}` is no number")));
        }
        if self.take("(") {
            return self.function(word);
        }
        let may_lack = self.take("?");
        match (self.names)(word)? {
            Some(value) => Ok(value),
            None if word == "unmeasured" => Ok(Value::NotMeasured),
            None if word == "none" || (may_lack && !word.is_empty()) => Ok(Value::None),
            None => Err(fault(format!("there is no figure `{word}`"))),
        }
    }

    fn closed(&mut self, value: Value) -> Result<Value, PaperError> {
        match self.take(")") {
            true => Ok(value),
            false => Err(fault(format!(
                "a bracket stays open before `{}`",
                self.rest
            ))),
        }
    }

    fn function(&mut self, name: &str) -> Result<Value, PaperError> {
        let mut given = vec![self.comparison()?];
        while self.take(",") {
            given.push(self.comparison()?);
        }
        let value = match (name, given.as_slice()) {
            ("if", [condition, yes, no]) => if holds(condition) { yes } else { no }.clone(),
            ("or", [Value::None | Value::NotMeasured, other]) => other.clone(),
            ("or", [value, _]) => value.clone(),
            ("known", [value]) => truth(self.in_numbers(value.clone())?.known().is_some()),
            ("starts", [Value::Text(text), Value::Text(with)]) => truth(text.starts_with(with)),
            ("leading", [Value::Text(text)]) => {
                let number = text.split(' ').next().unwrap_or_default();
                number.parse().ok().into()
            }
            ("stated" | "counted" | "measured" | "model", [value]) => {
                self.in_numbers(value.clone())?.by(How::named(name)?)
            }
            ("by", [value, Value::Text(how)]) => {
                self.in_numbers(value.clone())?.by(How::named(how)?)
            }
            ("figure", [Value::Text(_)]) => Value::None,
            ("figure", [value]) => value.clone(),
            ("clocked", [value]) => {
                let mut value = self.in_numbers(value.clone())?;
                if let Value::Known(known) = &mut value {
                    known.at_papers_clock = true;
                }
                value
            }
            ("min" | "max", [a, b]) => {
                let (a, b) = (self.in_numbers(a.clone())?, self.in_numbers(b.clone())?);
                a.with(b, if name == "min" { f64::min } else { f64::max })
            }
            (_, [value]) => {
                let of = match name {
                    "floor" => f64::floor,
                    "ceil" => f64::ceil,
                    "round" => f64::round,
                    "abs" => f64::abs,
                    "log2" => f64::log2,
                    _ => return Err(fault(format!("there is no function `{name}`"))),
                };
                self.in_numbers(value.clone())?.map(of)
            }
            _ => {
                let count = given.len();
                return Err(fault(format!("no function `{name}` takes {count}")));
            }
        };
        self.closed(value)
    }
}
