// SPDX-License-Identifier: Apache-2.0
//! Reads Yosys' JSON, as `write_json` writes it: the top module of a flat design.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::io::{self, BufReader, Read};
use std::marker::PhantomData;

use ringmill_limits::{Halt, Watch};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::cells::{cell, silent};
use super::{Bus, Driver, Gate, Netlist, Signals};
use crate::circuit::error::CircuitError;

/// The largest number of inputs of a `$lut` cell.
const WIDEST: usize = 6;

/// A JSON object that is refused if two of its names are equal. A plain JSON reader would silently use the last of
/// two equal names.
struct Named<T>(BTreeMap<String, T>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Each<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Each<T> {
            type Value = Named<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object, each name once")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<T>, A::Error> {
                let mut found = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, T>()? {
                    match found.entry(name) {
                        Entry::Vacant(entry) => drop(entry.insert(value)),
                        Entry::Occupied(entry) => {
                            let what = format!("`{}` is there twice", entry.key());
                            return Err(A::Error::custom(what));
                        }
                    }
                }
                Ok(Named(found))
            }
        }
        from.deserialize_map(Each(PhantomData))
    }
}

#[derive(Deserialize)]
struct File {
    modules: Named<Module>,
}

#[derive(Deserialize)]
struct Module {
    #[serde(default)]
    attributes: BTreeMap<String, serde_json::Value>,
    ports: Named<Port>,
    #[serde(default)]
    cells: Named<Cell>,
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
    #[serde(default)]
    connections: Named<Vec<Bit>>,
}

/// A bit of a port or a pin in Yosys' JSON: the number of a net, or a constant.
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

/// Reads the netlist of a JSON file. An error in a cell names the cell.
///
/// # Errors
/// [`CircuitError::Netlist`]: a file of another form; several modules without one top; flip-flops or other state,
/// unknown cells, loops; signals that an output needs and nothing drives, or that are driven twice.
/// [`CircuitError::Halt`].
pub fn read(text: &str, watch: &Watch) -> Result<Netlist, CircuitError> {
    let file = parsed(text, watch)?;
    let modules = file.modules.0;
    let tops = modules
        .values()
        .filter(|module| module.attributes.contains_key("top"));
    let mut tops: Vec<&Module> = tops.collect();
    if tops.is_empty() {
        tops = modules.values().collect();
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
    for (name, port) in &module.ports.0 {
        let bits = nets(&mut signals, &port.bits);
        let bits = bits.map_err(|error| at(&format!("port `{name}`"), error))?;
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
    for (name, cell) in &module.cells.0 {
        watch.check()?;
        gate(&mut signals, cell).map_err(|error| at(&format!("cell `{name}`"), error))?;
    }
    let Signals { names, drivers, .. } = signals;
    Netlist::new(&names, drivers, inputs, outputs, watch)
}

/// A reader that passes on a JSON text piece by piece, and fails as soon as `watch` lets the work go on no longer.
struct Watched<'a> {
    left: &'a [u8],
    watch: &'a Watch,
    halt: Option<Halt>,
}

impl Read for Watched<'_> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        if let Err(halt) = self.watch.check() {
            self.halt = Some(halt.clone());
            return Err(io::Error::other(halt));
        }
        self.left.read(piece)
    }
}

/// Parses the modules of a Yosys JSON file, and stops if memory for them runs out or the work is interrupted.
fn parsed(text: &str, watch: &Watch) -> Result<File, CircuitError> {
    let mut text = BufReader::new(Watched {
        left: text.as_bytes(),
        watch,
        halt: None,
    });
    let parsed = serde_json::from_reader(&mut text);
    parsed.or_else(|e| match text.into_inner().halt {
        Some(halt) => Err(halt.into()),
        None => fault(e.line(), e.to_string()),
    })
}

/// Returns the error with a place of the file, such as a cell, in front of its text.
fn at(place: &str, error: CircuitError) -> CircuitError {
    match error {
        CircuitError::Netlist { line, what } => CircuitError::Netlist {
            line,
            what: format!("{place}: {what}"),
        },
        other => other,
    }
}

fn nets(signals: &mut Signals, bits: &[Bit]) -> Result<Vec<usize>, CircuitError> {
    let each = bits.iter().enumerate();
    each.map(|(i, bit)| match bit {
        Bit::Net(number) => Ok(signals.of(&format!("net {number}"))),
        Bit::Known(value) => {
            let known = match value.as_str() {
                "0" => false,
                "1" => true,
                "x" | "z" => {
                    let what = format!(
                        "bit {i} is {value}, neither 0 nor 1; give it a value (setundef -zero) before writing the file"
                    );
                    return fault(0, what);
                }
                other => {
                    let what = format!("bit {i} is `{other}`, expected a net's number, \"0\" or \"1\"");
                    return fault(0, what);
                }
            };
            let signal = signals.of(if known { "1" } else { "0" });
            signals.drivers[signal] = Some(Driver::Known(known));
            Ok(signal)
        }
    })
    .collect()
}

fn gate(signals: &mut Signals, of: &Cell) -> Result<(), CircuitError> {
    let kind = &of.kind;
    if silent(kind) {
        return Ok(());
    }
    let mut pin = |name: &str| match of.connections.0.get(name) {
        Some(bits) => {
            nets(signals, bits).map_err(|error| at(&format!("pin {name} of `{kind}`"), error))
        }
        None => fault(0, format!("pin {name} of `{kind}` is not connected")),
    };
    let (inputs, output, table) = if kind == "$lut" {
        let table = of.parameters.get("LUT").and_then(|lut| match lut {
            serde_json::Value::String(bits) => u64::from_str_radix(bits, 2).ok(),
            serde_json::Value::Number(number) => number.as_u64(),
            _ => None,
        });
        let inputs = pin("A")?;
        if let Some(serde_json::Value::String(bits)) = of.parameters.get("LUT")
            && bits.contains(['x', 'z'])
        {
            let what = format!(
                "the table {bits} of a `$lut` has rows that are neither 0 nor 1; give them a value (setundef -zero -params) before writing the file"
            );
            return fault(0, what);
        }
        let (Some(table), 1..=WIDEST) = (table, inputs.len()) else {
            return fault(
                0,
                format!(
                    "a `$lut` of {} inputs, expected 1 to {WIDEST} and its table",
                    inputs.len()
                ),
            );
        };
        let rows = 1u32.checked_shl(inputs.len() as u32).unwrap_or(u32::MAX);
        if table.checked_shr(rows).is_some_and(|beyond| beyond > 0) {
            return fault(
                0,
                format!("the table of a `$lut` has more than {rows} rows"),
            );
        }
        (inputs, pin("Y")?, table)
    } else {
        let Some((formals, output, table)) = cell(kind) else {
            return fault(
                0,
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
                    0,
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
            0,
            format!(
                "the output of `{kind}` has {} bits, expected 1",
                output.len()
            ),
        );
    };
    signals.drive(output, Driver::Gate(Gate::of_table(inputs, table, 0)), 0)
}
