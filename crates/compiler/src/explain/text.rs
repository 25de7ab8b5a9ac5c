// SPDX-License-Identifier: Apache-2.0
//! Prints an explanation of a compiled program as text for people.

use std::fmt;

use ringmill_device::report::{bytes, grouped};

use super::{Advice, Chain, Count, Explanation, KeyCost, KeyKind, Line, Step};

/// The most keys of a kind, or lines of the user's program, that one line of text lists. It is also the most kinds of
/// operations that the text counts limb instructions of.
pub const MOST_LISTED: usize = 8;

impl fmt::Display for Line {
    /// Prints a line of the user's program: the file's name without its folders, and the line's number. Prints "no
    /// line" if one of the two is unknown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self
            .file
            .as_deref()
            .and_then(|file| file.rsplit('/').next());
        match (name, self.line) {
            (Some(name), Some(line)) => write!(f, "{name}:{line}"),
            (Some(_), None) | (None, _) => f.write_str("no line"),
        }
    }
}

impl fmt::Display for Explanation {
    /// Prints all of an explanation in sections. A long list of keys, lines or kinds of operations is cut, with the
    /// number of entries left out. Steps of the chain and advice are printed as far as the explanation has them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} by {}, ring degree 2^{}",
            self.program, self.scheme, self.log_n
        )?;
        writeln!(f, "\nLevels")?;
        let products = counted(self.levels.products, "product");
        match self.levels.needed {
            Some(needed) => writeln!(
                f,
                "  the program needs {needed} of {}; {products} in sequence",
                self.levels.available
            )?,
            None => writeln!(
                f,
                "  ciphertexts of {} stay at level {}, and products take noise budget alone; {products} in sequence",
                self.scheme, self.levels.available
            )?,
        }
        chain(f, &self.chain)?;
        let digits = &self.digits;
        writeln!(f, "\nDigits")?;
        writeln!(
            f,
            "  dnum {}: {} ciphertext primes, {} special",
            digits.dnum, digits.ciphertext_primes, digits.special_primes
        )?;
        writeln!(f, "\nKeys")?;
        writeln!(f, "  {} in all", bytes(self.key_bytes))?;
        keys(f, &self.keys)?;
        self.costs(f)?;
        writeln!(f, "\nWhat would make it cheaper")?;
        for advice in &self.advice {
            writeln!(f, "  {advice}")?;
        }
        match (self.advice_left_out, self.advice.is_empty()) {
            (Some(why), _) => writeln!(f, "  {why}"),
            (None, true) => writeln!(
                f,
                "  no change that the compiler tried saves levels or keys"
            ),
            (None, false) => Ok(()),
        }
    }
}

impl Explanation {
    fn costs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let costs = &self.costs;
        writeln!(f, "\nCosts")?;
        for (name, count) in costs.decisions() {
            if count.count > 0 {
                writeln!(
                    f,
                    "  {name:<28}{:>12}  {}",
                    grouped(count.count),
                    places(count)
                )?;
            }
        }
        let switches = grouped(costs.key_switches);
        writeln!(f, "  {:<28}{switches:>12}", "key switches in all")?;
        for work in costs.work.iter().take(MOST_LISTED) {
            writeln!(
                f,
                "  {:<28}{:>12}  limb instructions in {}, {:.1}%",
                work.operations,
                grouped(work.limb_instructions),
                counted(work.calls, "call"),
                100.0 * work.share
            )?;
        }
        more(f, costs.work.len(), "kinds of operations")
    }
}

fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(count))
}

fn more(f: &mut fmt::Formatter<'_>, all: usize, what: &str) -> fmt::Result {
    match all.saturating_sub(MOST_LISTED) {
        0 => Ok(()),
        more => writeln!(f, "  and {more} more {what}"),
    }
}

/// Prints the steps of a chain. Equal steps in a row share one line.
fn chain(f: &mut fmt::Formatter<'_>, chain: &Chain) -> fmt::Result {
    let alike = |a: &Step, b: &Step| {
        let same =
            (&a.line, a.operation, a.taken, a.times) == (&b.line, b.operation, b.taken, b.times);
        same && a.level_after == b.level_before
    };
    for steps in chain.steps.chunk_by(alike) {
        let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
            continue;
        };
        let often = match (steps.len(), first.times) {
            (1, 1) => String::new(),
            (1, times) => format!(", {} times", grouped(times)),
            (steps, times) => format!(", {} times", grouped(times.saturating_mul(steps as u64))),
        };
        writeln!(
            f,
            "  level {:>3} to {:<3} {:<9} {}{often}  {}",
            first.level_before,
            last.level_after,
            first.operation,
            first.taken.name(),
            first.line
        )?;
    }
    match chain.cut {
        true => writeln!(f, "  and more steps than are listed"),
        false => Ok(()),
    }
}

fn keys(f: &mut fmt::Formatter<'_>, keys: &[KeyCost]) -> fmt::Result {
    for of_kind in keys.chunk_by(|a, b| a.kind == b.kind) {
        let Some(kind) = of_kind.first().map(|key| key.kind) else {
            continue;
        };
        let all = of_kind.iter().map(|key| key.bytes);
        let all = all.fold(0, u64::saturating_add);
        let names = of_kind
            .iter()
            .take(MOST_LISTED)
            .filter_map(|key| match kind {
                KeyKind::Rotation => key.steps.map(|steps| steps.to_string()),
                KeyKind::Automorphism => key.element.map(|element| element.to_string()),
                KeyKind::Relinearisation | KeyKind::Bootstrapping => None,
            });
        let names: Vec<String> = names.collect();
        let by = match (kind, names.is_empty()) {
            (_, true) => String::new(),
            (KeyKind::Rotation, false) => format!(", by {}", names.join(", ")),
            (_, false) => format!(", of element {}", names.join(", ")),
        };
        let more = match of_kind.len().saturating_sub(MOST_LISTED) {
            0 => String::new(),
            _ if names.is_empty() => String::new(),
            more => format!(" and {more} more"),
        };
        let count = counted(of_kind.len() as u64, "key");
        writeln!(
            f,
            "  {:<28}{:>12}  {count}{by}{more}",
            kind.name(),
            bytes(all)
        )?;
    }
    Ok(())
}

fn places(count: &Count) -> String {
    let listed = count.places.iter().take(MOST_LISTED);
    let mut listed: Vec<String> = listed
        .map(|place| match place.count {
            1 => place.line.to_string(),
            times => format!("{} ({})", place.line, grouped(times)),
        })
        .collect();
    if let more @ 1.. = count.places.len().saturating_sub(MOST_LISTED) {
        listed.push(format!("and {more} more lines"));
    }
    listed.join(", ")
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line != Line::default() {
            write!(f, "{}: ", self.line)?;
        }
        write!(f, "{}: ", self.change)?;
        let pair = |what: &str, [before, after]: [String; 2]| {
            (before != after).then(|| format!("{what} {after} in place of {before}"))
        };
        let saved = [
            pair("keys take", self.key_bytes.map(bytes)),
            pair("levels", self.levels.map(|level| level.to_string())),
            pair("ring degree", self.log_n.map(|log_n| format!("2^{log_n}"))),
        ];
        let saved: Vec<String> = saved.into_iter().flatten().collect();
        f.write_str(&saved.join(", "))
    }
}
