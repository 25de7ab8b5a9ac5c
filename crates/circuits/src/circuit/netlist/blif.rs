// SPDX-License-Identifier: Apache-2.0
//! Reads BLIF (Berkeley Logic Interchange Format, University of California, 1992): one model of `.names`, and of
//! `.gate` or `.subckt` lines with the names of Yosys' cells.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashMap;

use ringmill_limits::{Halt, Watch};

use super::cells::{cell, silent};
use super::{Bus, Driver, Gate, Netlist, Signals, UNDEFINED};
use crate::circuit::error::CircuitError;

fn fault<T>(line: usize, what: impl Into<String>) -> Result<T, CircuitError> {
    Err(CircuitError::Netlist {
        line,
        what: what.into(),
    })
}

/// Returns the lines of a BLIF file that are not empty, without comments and with their line numbers. A line that ends
/// with a backslash is joined to the next.
fn lines(text: &str, watch: &Watch) -> Result<Vec<(usize, String)>, Halt> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (i, line) in text.lines().enumerate() {
        watch.check()?;
        let line = line.split('#').next().unwrap_or("").trim();
        let (line, more) = match line.strip_suffix('\\') {
            Some(line) => (line, true),
            None => (line, false),
        };
        match found.last_mut() {
            Some((_, before)) if goes_on => {
                before.push(' ');
                before.push_str(line);
            }
            _ if line.is_empty() && !more => {}
            _ => found.push((i.saturating_add(1), line.to_owned())),
        }
        goes_on = more;
    }
    Ok(found)
}

/// Reads the netlist of a BLIF file. Signals `x[0]`, `x[1]`, ... become one integer x.
///
/// # Errors
/// [`CircuitError::Netlist`], with line 0 for a fault of no single line: latches or other state, unknown gates, loops,
/// more than one model. Also signals that an output needs and nothing drives, signals that are driven twice, and
/// integers with missing bits. [`CircuitError::Halt`].
pub fn read(text: &str, watch: &Watch) -> Result<Netlist, CircuitError> {
    let mut signals = Signals::default();
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    // The gate of the `.names` whose rows are being read.
    let mut open: Option<(usize, Gate)> = None;
    let (mut model, mut ended) = (false, false);
    let lines = lines(text, watch)?;
    for (line, text) in &lines {
        watch.check()?;
        let line = *line;
        if ended {
            return fault(line, "more behind `.end`; flatten the design first");
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let Some((&first, rest)) = words.split_first() else {
            continue;
        };
        if !first.starts_with('.') {
            let Some((_, gate)) = &mut open else {
                return fault(line, format!("`{text}` is a row of no `.names`"));
            };
            row(gate, &words, line)?;
            continue;
        }
        if let Some(open) = open.take() {
            drive(&mut signals, open)?;
        }
        match first {
            ".model" => {
                if std::mem::replace(&mut model, true) {
                    return fault(line, "a second model; flatten the design first");
                }
            }
            ".inputs" => {
                for name in rest {
                    let signal = signals.of(name);
                    signals.drive(signal, Driver::Input, line)?;
                    inputs.push((*name, signal));
                }
            }
            ".outputs" => outputs.extend(rest.iter().map(|name| (*name, signals.of(name)))),
            ".names" => {
                let Some((output, operands)) = rest.split_last() else {
                    return fault(line, "`.names` without a signal");
                };
                let gate = Gate {
                    inputs: operands.iter().map(|name| signals.of(name)).collect(),
                    products: Vec::new(),
                    value: true,
                    at: line,
                };
                open = Some((signals.of(output), gate));
            }
            ".gate" | ".subckt" => gate(&mut signals, rest, line)?,
            ".end" => ended = true,
            ".latch" => return fault(line, "a latch: circuits have no state; unroll the design"),
            other => return fault(line, format!("`{other}` is not known here")),
        }
    }
    if let Some(open) = open {
        drive(&mut signals, open)?;
    }
    let Signals { names, drivers, .. } = signals;
    Netlist::new(&names, drivers, buses(&inputs)?, buses(&outputs)?, watch)
}

/// Makes a `.names` gate the driver of its output signal. Yosys declares its undefined signal this way in every file,
/// and that signal stays undriven.
fn drive(signals: &mut Signals, (output, gate): (usize, Gate)) -> Result<(), CircuitError> {
    if signals.names[output] == UNDEFINED && gate.inputs.is_empty() {
        return Ok(());
    }
    let at = gate.at;
    signals.drive(output, Driver::Gate(gate), at)
}

/// Reads a row of `.names` into the gate: the value that each input must have, and the value of the function there.
fn row(gate: &mut Gate, words: &[&str], line: usize) -> Result<(), CircuitError> {
    let (plane, value) = match words {
        [value] if gate.inputs.is_empty() => ("", *value),
        [plane, value] => (*plane, *value),
        _ => {
            return fault(
                line,
                "a row must be what the inputs are, and what the output is",
            );
        }
    };
    if plane.len() != gate.inputs.len() {
        let expected = gate.inputs.len();
        let got = plane.len();
        return fault(line, format!("a row of {got} inputs, expected {expected}"));
    }
    let value = match value {
        "0" => false,
        "1" => true,
        other => return fault(line, format!("the output is `{other}`, expected 0 or 1")),
    };
    if !gate.products.is_empty() && gate.value != value {
        return fault(line, "rows for 0 and for 1 in one `.names`");
    }
    let mut product = Vec::with_capacity(plane.len());
    for literal in plane.chars() {
        product.push(match literal {
            '0' => Some(false),
            '1' => Some(true),
            '-' => None,
            other => return fault(line, format!("an input is `{other}`, expected 0, 1 or -")),
        });
    }
    gate.value = value;
    gate.products.push(product);
    Ok(())
}

/// Reads a line `.gate kind formal=actual ...`: a cell with the signals of its pins.
fn gate(signals: &mut Signals, words: &[&str], line: usize) -> Result<(), CircuitError> {
    let Some((kind, pins)) = words.split_first() else {
        return fault(line, "a gate without a kind");
    };
    if silent(kind) {
        return Ok(());
    }
    let Some((formals, output, table)) = cell(kind) else {
        return fault(
            line,
            format!("the gate `{kind}` is not known; map the design to simple gates or .names"),
        );
    };
    let mut actual = |formal: &str| {
        let of = |pin: &&str| {
            let name = pin.strip_prefix(formal)?.strip_prefix('=')?;
            (!name.is_empty()).then(|| name.to_owned())
        };
        let found: Vec<String> = pins.iter().filter_map(of).collect();
        match &found[..] {
            [name] => Ok(signals.of(name)),
            [] => fault(line, format!("pin {formal} of `{kind}` is not connected")),
            _ => fault(line, format!("pin {formal} of `{kind}` is there twice")),
        }
    };
    let inputs = formals.iter().map(|formal| actual(formal));
    let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    let output = actual(output)?;
    signals.drive(
        output,
        Driver::Gate(Gate::of_table(inputs, table, line)),
        line,
    )
}

/// Groups signals `x[0]`, `x[1]`, ... into one bus x. Buses are in the order in which their names first appear.
fn buses(signals: &[(&str, usize)]) -> Result<Vec<Bus>, CircuitError> {
    let mut found: Vec<(&str, Vec<(usize, usize)>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for &(name, signal) in signals {
        let indexed = name
            .strip_suffix(']')
            .and_then(|name| name.rsplit_once('['));
        let indexed = indexed.and_then(|(bus, index)| Some((bus, index.parse::<usize>().ok()?)));
        let (bus, index) = indexed.unwrap_or((name, 0));
        let place = *places.entry(bus).or_insert_with(|| {
            found.push((bus, Vec::new()));
            found.len().saturating_sub(1)
        });
        found[place].1.push((index, signal));
    }
    let bus = |(name, mut bits): (&str, Vec<(usize, usize)>)| {
        bits.sort_unstable();
        for (at, &(index, _)) in bits.iter().enumerate() {
            if index < at {
                return fault(0, format!("bit {index} of `{name}` is there twice"));
            }
            if index > at {
                return fault(
                    0,
                    format!("bits of `{name}` are missing, {at} is the first"),
                );
            }
        }
        Ok(Bus {
            name: name.to_owned(),
            bits: bits.into_iter().map(|(_, signal)| signal).collect(),
        })
    };
    found.into_iter().map(bus).collect()
}
