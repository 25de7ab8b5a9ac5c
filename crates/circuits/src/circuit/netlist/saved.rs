// SPDX-License-Identifier: Apache-2.0
//! A netlist in the text of a saved circuit. Signals keep their order, which fixes how gates are merged, so the netlist
//! is lowered to the same circuit again.
#![deny(clippy::arithmetic_side_effects)]

use std::fmt::{self, Formatter};

use ringmill_limits::Watch;
use ringmill_schemes::file::FileError;
use serde::de::{self, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Bus, Driver, Gate, Netlist, NetlistPort};
use crate::circuit::saved::{at, distinct};

/// The inputs and outputs of a netlist, and the drivers of the signals that they need.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::circuit) struct NetlistText {
    inputs: Vec<BusText>,
    outputs: Vec<BusText>,
    /// The driver of each signal. A signal may depend on later ones, but not on itself.
    signals: Vec<DriverText>,
}

/// An input or an output: its name, and the numbers of its bits' signals, lowest first.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BusText {
    name: String,
    signals: Vec<u32>,
}

/// A driver as a list: `["input"]`, `["known", true]`, or `["gate", inputs, products, value]`. A product has a 0, a 1 or
/// a - for each input.
struct DriverText(Driver);

impl NetlistText {
    /// Returns the text of a netlist. It leaves out signals that no output needs, but the bits of all inputs stay.
    pub(in crate::circuit) fn of(netlist: &Netlist) -> Self {
        let mut numbers: Vec<Option<u32>> = vec![None; netlist.drivers.len()];
        let inputs = netlist.inputs.iter().flat_map(|bus| &bus.bits);
        for &signal in netlist.order.iter().chain(inputs) {
            numbers[signal] = Some(0);
        }
        let mut count = 0u32;
        let mut signals = Vec::new();
        for (number, driver) in numbers.iter_mut().zip(&netlist.drivers) {
            if let Some(number) = number {
                *number = count;
                count = count.saturating_add(1);
                signals.push(driver);
            }
        }
        let number = |signal: &usize| numbers[*signal].unwrap_or(0);
        let mut signals: Vec<DriverText> = (signals.into_iter())
            .map(|driver| {
                DriverText(match driver {
                    Driver::Gate(gate) => Driver::Gate(Gate {
                        inputs: gate.inputs.iter().map(|i| number(i) as usize).collect(),
                        ..gate.clone()
                    }),
                    other => other.clone(),
                })
            })
            .collect();
        let bus = |port: &NetlistPort, words: &mut std::slice::Iter<'_, Bus>| BusText {
            name: port.name.clone(),
            signals: (words.by_ref().take(port.words().len()))
                .flat_map(|word| word.bits.iter().map(number))
                .collect(),
        };
        let (mut input_words, mut output_words) = (netlist.inputs.iter(), netlist.outputs.iter());
        let mut inputs = Vec::new();
        for port in &netlist.ports[0] {
            if port.used {
                inputs.push(bus(port, &mut input_words));
                continue;
            }
            let first = signals.len() as u32;
            let last = first.saturating_add(port.bits);
            signals.extend((first..last).map(|_| DriverText(Driver::Input)));
            inputs.push(BusText {
                name: port.name.clone(),
                signals: (first..last).collect(),
            });
        }
        let outputs = netlist.ports[1].iter();
        Self {
            inputs,
            outputs: outputs.map(|port| bus(port, &mut output_words)).collect(),
            signals,
        }
    }

    /// Returns the number of signals.
    pub(in crate::circuit) fn signals(&self) -> usize {
        self.signals.len()
    }

    /// Checks the text, and returns the netlist.
    ///
    /// # Errors
    /// [`FileError::Refused`] for a signal that does not exist, an input's bit that is not driven as an input or is there
    /// twice, and an input signal of no input. Also for a product of another length than its gate's inputs, a loop, and a
    /// name that is there twice. [`FileError::Halt`].
    pub(in crate::circuit) fn netlist(self, watch: &Watch) -> Result<Netlist, FileError> {
        let refused = |what: String| Err(FileError::Refused(what));
        let count = self.signals.len();
        for buses in [&self.inputs, &self.outputs] {
            distinct("port", buses.iter().map(|bus| bus.name.as_str()))?;
        }
        let bits = self.inputs.iter().chain(&self.outputs);
        let gates = self.signals.iter().map(|of| match &of.0 {
            Driver::Gate(gate) => gate.inputs.as_slice(),
            Driver::Input | Driver::Known(_) => &[],
        });
        let named = bits.flat_map(|bus| bus.signals.iter().map(|&bit| bit as usize));
        let mut all = named.chain(gates.flatten().copied());
        if let Some(late) = all.find(|&signal| signal >= count) {
            return refused(format!("there is no signal {late}, only {count} signals"));
        }
        let mut inputs = vec![false; count];
        for bus in &self.inputs {
            for &bit in &bus.signals {
                let is_input = matches!(self.signals[bit as usize].0, Driver::Input);
                if !is_input || std::mem::replace(&mut inputs[bit as usize], true) {
                    let name = &bus.name;
                    return refused(format!("signal {bit} is no bit of its own of `{name}`"));
                }
            }
        }
        for (number, (of, input)) in self.signals.iter().zip(&inputs).enumerate() {
            watch.check()?;
            match &of.0 {
                Driver::Input if !input => {
                    return refused(format!("signal {number} is an input of no port"));
                }
                Driver::Gate(gate) => {
                    let wanted = gate.inputs.len();
                    if gate.products.iter().any(|row| row.len() != wanted) {
                        return refused(format!(
                            "gate {number} has a product of other than its {wanted} inputs"
                        ));
                    }
                }
                Driver::Input | Driver::Known(_) => {}
            }
        }
        let names: Vec<String> = (0..count)
            .map(|number| format!("signal {number}"))
            .collect();
        let drivers = self.signals.into_iter().map(|of| Some(of.0)).collect();
        let [inputs, outputs] = [self.inputs, self.outputs].map(|buses| {
            let bus = |of: BusText| Bus {
                name: of.name,
                bits: of.signals.into_iter().map(|bit| bit as usize).collect(),
            };
            buses.into_iter().map(bus).collect()
        });
        let made = Netlist::new(&names, drivers, inputs, outputs, watch);
        made.map_err(|error| at("its netlist", error))
    }
}

const INPUT: &str = "input";
const KNOWN: &str = "known";
const GATE: &str = "gate";

fn row(product: &[Option<bool>]) -> String {
    let literals = product.iter().map(|wanted| match wanted {
        None => '-',
        Some(false) => '0',
        Some(true) => '1',
    });
    literals.collect()
}

fn product(row: &str) -> Option<Vec<Option<bool>>> {
    let literals = row.chars().map(|literal| match literal {
        '-' => Some(None),
        '0' => Some(Some(false)),
        '1' => Some(Some(true)),
        _ => None,
    });
    literals.collect()
}

impl Serialize for DriverText {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Driver::Input => (INPUT,).serialize(to),
            Driver::Known(value) => (KNOWN, value).serialize(to),
            Driver::Gate(gate) => {
                let products: Vec<String> = gate.products.iter().map(|of| row(of)).collect();
                (GATE, &gate.inputs, products, gate.value).serialize(to)
            }
        }
    }
}

impl<'de> Deserialize<'de> for DriverText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(Parts)
    }
}

struct Parts;

impl<'de> Visitor<'de> for Parts {
    type Value = DriverText;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("a list of a driver's name and parts")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<DriverText, A::Error> {
        let name: String = part(&mut parts)?;
        let driver = match name.as_str() {
            INPUT => Driver::Input,
            KNOWN => Driver::Known(part(&mut parts)?),
            GATE => {
                let inputs: Vec<u32> = part(&mut parts)?;
                let rows: Vec<String> = part(&mut parts)?;
                let products: Option<Vec<_>> = rows.iter().map(|row| product(row)).collect();
                Driver::Gate(Gate {
                    inputs: inputs.into_iter().map(|i| i as usize).collect(),
                    products: products.ok_or_else(|| {
                        de::Error::custom("a product of a gate, expected 0, 1 and - alone")
                    })?,
                    value: part(&mut parts)?,
                    at: 0,
                })
            }
            other => return Err(de::Error::custom(format!("there is no driver `{other}`"))),
        };
        if parts.next_element::<IgnoredAny>()?.is_some() {
            return Err(de::Error::custom(format!("`{name}` has too many parts")));
        }
        Ok(DriverText(driver))
    }
}

fn part<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(parts: &mut A) -> Result<T, A::Error> {
    let next = parts.next_element()?;
    next.ok_or_else(|| de::Error::custom("a driver has too few parts"))
}
