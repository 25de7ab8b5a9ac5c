//! Yosys' JSON, as `write_json` makes it: the top module of a flat design.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::cells::cell;
use super::{Bus, Driver, Gate, Netlist, Signals};
use crate::circuit::error::CircuitError;

/// Widest table of a `$lut`.
const WIDEST: usize = 6;

#[derive(Deserialize)]
struct File {
    modules: BTreeMap<String, Module>,
}

#[derive(Deserialize)]
struct Module {
    #[serde(default)]
    attributes: BTreeMap<String, serde_json::Value>,
    ports: BTreeMap<String, Port>,
    #[serde(default)]
    cells: BTreeMap<String, Cell>,
}

#[derive(Deserialize)]
struct Port {
    direction: String,
    bits: Vec<Bit>,
}

#[derive(Deserialize)]
struct Cell {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    parameters: BTreeMap<String, serde_json::Value>,
    connections: BTreeMap<String, Vec<Bit>>,
}

/// A net by its number, or a constant.
#[derive(Deserialize)]
#[serde(untagged)]
enum Bit {
    Net(u64),
    Known(String),
}

fn fault<T>(at: usize, what: impl Into<String>) -> Result<T, CircuitError> {
    Err(CircuitError::Netlist {
        line: at,
        what: what.into(),
    })
}

/// The netlist of a JSON file. What is called a line in its refusals is the number of the cell, from 1 on.
///
/// # Errors
/// [`CircuitError::Netlist`]: what is no such file; several modules without a top; state, cells that are not known, loops.
pub fn read(text: &str) -> Result<Netlist, CircuitError> {
    let file: File = match serde_json::from_str(text) {
        Ok(file) => file,
        Err(e) => return fault(e.line(), e.to_string()),
    };
    let tops = file
        .modules
        .values()
        .filter(|module| module.attributes.contains_key("top"));
    let mut tops: Vec<&Module> = tops.collect();
    if tops.is_empty() {
        tops = file.modules.values().collect();
    }
    let [module] = tops[..] else {
        return fault(
            0,
            format!(
                "{} modules, expected one; flatten the design first",
                tops.len()
            ),
        );
    };
    let mut signals = Signals::default();
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for (name, port) in &module.ports {
        let bits = port.bits.iter().map(|bit| net(&mut signals, bit));
        let bits = bits.collect::<Result<Vec<_>, _>>()?;
        let bus = Bus {
            name: name.clone(),
            bits,
        };
        match port.direction.as_str() {
            "input" => {
                for &bit in &bus.bits {
                    signals.drive(bit, Driver::Input, 0)?;
                }
                inputs.push(bus);
            }
            "output" => outputs.push(bus),
            other => {
                return fault(
                    0,
                    format!("port `{name}` is an {other}, expected input or output"),
                );
            }
        }
    }
    for (at, cell) in (1..).zip(module.cells.values()) {
        gate(&mut signals, cell, at)?;
    }
    let Signals { names, drivers, .. } = signals;
    Netlist::new(&names, drivers, inputs, outputs)
}

fn net(signals: &mut Signals, bit: &Bit) -> Result<usize, CircuitError> {
    match bit {
        Bit::Net(number) => Ok(signals.of(&format!("net {number}"))),
        Bit::Known(value) => {
            let known = match value.as_str() {
                // What is undefined may be anything.
                "0" | "x" | "z" => false,
                "1" => true,
                other => return fault(0, format!("a net is `{other}`, expected a number, 0 or 1")),
            };
            let signal = signals.of(if known { "1" } else { "0" });
            signals.drivers[signal] = Some(Driver::Known(known));
            Ok(signal)
        }
    }
}

fn gate(signals: &mut Signals, of: &Cell, at: usize) -> Result<(), CircuitError> {
    let kind = &of.kind;
    let mut pin = |name: &str| match of.connections.get(name) {
        Some(bits) => bits
            .iter()
            .map(|bit| net(signals, bit))
            .collect::<Result<Vec<_>, _>>(),
        None => fault(at, format!("pin {name} of `{kind}` is not connected")),
    };
    let (inputs, output, table) = if kind == "$lut" {
        let table = of.parameters.get("LUT").and_then(|lut| match lut {
            serde_json::Value::String(bits) => u64::from_str_radix(bits, 2).ok(),
            serde_json::Value::Number(number) => number.as_u64(),
            _ => None,
        });
        let inputs = pin("A")?;
        let (Some(table), 1..=WIDEST) = (table, inputs.len()) else {
            return fault(
                at,
                format!(
                    "a `$lut` of {} inputs, expected 1 to {WIDEST} and its table",
                    inputs.len()
                ),
            );
        };
        (inputs, pin("Y")?, table)
    } else {
        let Some((formals, output, table)) = cell(kind) else {
            return fault(
                at,
                format!(
                    "the cell `{kind}` is not known; map the design to simple gates (techmap; abc -g simple) or to $lut"
                ),
            );
        };
        let mut inputs = Vec::new();
        for formal in formals {
            let bits = pin(formal)?;
            let [bit] = bits[..] else {
                return fault(
                    at,
                    format!(
                        "pin {formal} of `{kind}` has {} bits, expected 1",
                        bits.len()
                    ),
                );
            };
            inputs.push(bit);
        }
        (inputs, pin(output)?, table)
    };
    let [output] = output[..] else {
        return fault(
            at,
            format!(
                "the output of `{kind}` has {} bits, expected 1",
                output.len()
            ),
        );
    };
    signals.drive(output, Driver::Gate(Gate::of_table(inputs, table, at)), at)
}
