// SPDX-License-Identifier: Apache-2.0
//! Netlists of gates, as synthesis writes them in BLIF or Yosys' JSON. Gates become lookups of up to four bits, or
//! gates of bits. Several small gates may become one, and a gate of more than four inputs becomes several.

mod blif;
mod cells;
mod gates;
mod json;
mod map;
pub(in crate::circuit) mod saved;

use std::collections::HashMap;

pub use blif::read as read_blif;
pub use gates::lower_to_gates;
pub use json::read as read_json;
pub use map::lower;
use ringmill_limits::Watch;

use super::error::CircuitError;

/// The driver of a netlist's signal: an input, a constant or a gate.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Driver {
    Input,
    Known(bool),
    Gate(Gate),
}

/// A gate of a netlist as a sum of products of signals. A product is a condition on each input. The function is
/// `value` if any product holds, else the opposite.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Gate {
    inputs: Vec<usize>,
    /// For each product, the value that each input must have for the product to hold. `None` accepts both values.
    products: Vec<Vec<Option<bool>>>,
    /// The value of the gate if any of its products holds; otherwise the gate has the opposite value.
    value: bool,
    /// The line of the gate in its file; 0 in a JSON file.
    at: usize,
}

impl Gate {
    /// Makes a gate from its truth table. Bit i of the table is the value for inputs that are the bits of i, input 0
    /// lowest.
    fn of_table(inputs: Vec<usize>, table: u64, at: usize) -> Self {
        let count = inputs.len();
        let ones = (0..1u64 << count).filter(|row| table >> row & 1 == 1);
        let product = |row: u64| (0..count).map(|i| Some(row >> i & 1 == 1)).collect();
        Self {
            inputs,
            products: ones.map(product).collect(),
            value: true,
            at,
        }
    }

    fn holds(&self, of: impl Fn(usize) -> bool) -> bool {
        let product = |product: &Vec<Option<bool>>| {
            let mut literals = product.iter().enumerate();
            literals.all(|(i, wanted)| wanted.is_none_or(|wanted| of(i) == wanted))
        };
        self.products.iter().any(product) == self.value
    }
}

/// An input or an output of a netlist: its name, and the signals of its bits, lowest first.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Bus {
    name: String,
    bits: Vec<usize>,
}

impl Bus {
    /// Returns the bus itself if it has at most 64 bits. Otherwise returns its words of 64 bits, `name[0]`, `name[1]`,
    /// ..., lowest first.
    fn words(&self) -> impl Iterator<Item = Self> {
        let one = self.bits.len() <= WORD;
        self.bits.chunks(WORD).enumerate().map(move |(i, bits)| {
            let name = &self.name;
            Self {
                name: if one {
                    name.clone()
                } else {
                    format!("{name}[{i}]")
                },
                bits: bits.to_vec(),
            }
        })
    }
}

/// The largest number of bits of a word, as the widest integer has.
const WORD: usize = 64;

/// An input or output of a netlist, as its file declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NetlistPort {
    pub name: String,
    pub bits: u32,
    /// Whether an output depends on this input. An unused input takes no value, such as the clock of a design without
    /// state. An output port has `used` set.
    pub used: bool,
}

impl NetlistPort {
    /// Returns the number of bits of each word of the port, lowest first. Each word but the last has 64 bits.
    pub fn words(&self) -> Vec<u32> {
        let word = WORD as u32;
        let starts = (0..self.bits).step_by(WORD);
        starts.map(|at| (self.bits - at).min(word)).collect()
    }
}

/// A netlist of gates without loops, in which each signal that an output needs has one driver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Netlist {
    /// The signals that outputs need, each after those that it depends on.
    order: Vec<usize>,
    drivers: Vec<Driver>,
    ports: [Vec<NetlistPort>; 2],
    /// The inputs on which some output depends, as words of at most 64 bits.
    inputs: Vec<Bus>,
    /// The outputs of the netlist, as words of at most 64 bits.
    outputs: Vec<Bus>,
}

/// Reads a netlist: Yosys' JSON if the file begins with a brace, else BLIF. The memory that the netlist takes stays
/// within the limit of `watch`.
///
/// # Errors
/// [`CircuitError::Netlist`] with the line of the error, or with line 0 for a fault of the whole netlist or of a JSON
/// file's ports and cells; [`CircuitError::Halt`].
pub fn read(bytes: &[u8], watch: &Watch) -> Result<Netlist, CircuitError> {
    let text = str::from_utf8(bytes).map_err(|e| {
        let before = &bytes[..e.valid_up_to()];
        CircuitError::Netlist {
            line: 1 + before.iter().filter(|&&b| b == b'\n').count(),
            what: "it is no text".to_owned(),
        }
    })?;
    if text.trim_start().starts_with('{') {
        read_json(text, watch)
    } else {
        read_blif(text, watch)
    }
}

impl Netlist {
    /// Checks that each signal that an output needs has a driver and that no signal depends on itself. Puts each signal
    /// after those that it depends on. `names` are the signals' names for error messages.
    fn new(
        names: &[String],
        drivers: Vec<Option<Driver>>,
        inputs: Vec<Bus>,
        outputs: Vec<Bus>,
        watch: &Watch,
    ) -> Result<Self, CircuitError> {
        let fault = |line, what| CircuitError::Netlist { line, what };
        for bus in inputs.iter().chain(&outputs) {
            if bus.bits.is_empty() {
                let what = format!("`{}` has 0 bits, expected 1 or more", bus.name);
                return Err(fault(0, what));
            }
        }
        if outputs.is_empty() {
            return Err(fault(0, "there is no output".to_owned()));
        }
        // A depth-first search without recursion, since files may be deep. It visits the signals that outputs need
        // first, then all others, since a loop is an error even if no output reads it. Only a signal that no output
        // needs may be undriven.
        let mut state = vec![0u8; drivers.len()];
        let mut order = Vec::new();
        let mut needed = None;
        let all = outputs.iter().flat_map(|bus| &bus.bits).copied();
        for root in all
            .map(Some)
            .chain([None])
            .chain((0..drivers.len()).map(Some))
        {
            watch.check()?;
            let Some(root) = root else {
                needed = Some(order.len());
                continue;
            };
            let mut stack = vec![(root, 0)];
            while let Some((signal, next)) = stack.pop() {
                if state[signal] == 2 {
                    continue;
                }
                let driver = match &drivers[signal] {
                    Some(driver) => driver,
                    None if needed.is_some() => &Driver::Known(false),
                    None => {
                        return Err(fault(0, undriven(&names[signal])));
                    }
                };
                let (operands, at): (&[usize], usize) = match driver {
                    Driver::Gate(gate) => (&gate.inputs, gate.at),
                    Driver::Input | Driver::Known(_) => (&[], 0),
                };
                if next == 0 && state[signal] == 1 {
                    let what = format!("`{}` depends on itself", names[signal]);
                    return Err(fault(at, what));
                }
                state[signal] = 1;
                match operands.get(next) {
                    Some(&operand) => {
                        stack.push((signal, next + 1));
                        stack.push((operand, 0));
                    }
                    None => {
                        state[signal] = 2;
                        order.push(signal);
                    }
                }
            }
        }
        order.truncate(needed.unwrap_or(order.len()));
        let mut read = vec![false; drivers.len()];
        order.iter().for_each(|&signal| read[signal] = true);
        let used = |bus: &Bus| bus.bits.iter().any(|&bit| read[bit]);
        let port = |bus: &Bus| NetlistPort {
            name: bus.name.clone(),
            bits: bus.bits.len() as u32,
            used: used(bus),
        };
        let ports = [&inputs, &outputs].map(|buses| buses.iter().map(port).collect());
        let taken = inputs.iter().filter(|bus| used(bus));
        let drivers = drivers.into_iter();
        Ok(Self {
            order,
            drivers: drivers.map(|d| d.unwrap_or(Driver::Known(false))).collect(),
            ports,
            inputs: taken.flat_map(Bus::words).collect(),
            outputs: outputs.iter().flat_map(Bus::words).collect(),
        })
    }

    /// Returns the netlist's inputs and outputs, as the file declares them.
    pub fn ports(&self) -> [&[NetlistPort]; 2] {
        self.ports.each_ref().map(Vec::as_slice)
    }

    /// Evaluates the netlist on plain values. It takes the words of the used inputs ([`NetlistPort::words`]) and
    /// returns the words of the outputs.
    ///
    /// # Errors
    /// [`CircuitError::Inputs`] for another number of words.
    pub fn evaluate(&self, inputs: &[u64]) -> Result<Vec<u64>, CircuitError> {
        if inputs.len() != self.inputs.len() {
            return Err(CircuitError::Inputs {
                expected: self.inputs.len(),
                got: inputs.len(),
            });
        }
        let mut values = vec![false; self.drivers.len()];
        for (bus, value) in self.inputs.iter().zip(inputs) {
            for (i, &bit) in bus.bits.iter().enumerate() {
                values[bit] = value >> i & 1 == 1;
            }
        }
        for &signal in &self.order {
            match &self.drivers[signal] {
                Driver::Input => {}
                Driver::Known(value) => values[signal] = *value,
                Driver::Gate(gate) => values[signal] = gate.holds(|i| values[gate.inputs[i]]),
            }
        }
        let of = |bus: &Bus| {
            let bits = bus.bits.iter().enumerate();
            bits.map(|(i, &bit)| u64::from(values[bit]) << i).sum()
        };
        Ok(self.outputs.iter().map(of).collect())
    }
}

/// The name that Yosys gives in BLIF files to a signal with an undefined value.
const UNDEFINED: &str = "$undef";

fn undriven(name: &str) -> String {
    if name == UNDEFINED {
        "an output depends on `$undef`, which is neither 0 nor 1; give it a value (setundef -zero) before writing the file"
            .to_owned()
    } else {
        format!("nothing drives `{name}`")
    }
}

/// The signals of a netlist file with their drivers, numbered in the order of their first use.
#[derive(Default)]
struct Signals {
    numbers: HashMap<String, usize>,
    names: Vec<String>,
    drivers: Vec<Option<Driver>>,
}

impl Signals {
    fn of(&mut self, name: &str) -> usize {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        self.numbers.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.drivers.push(None);
        self.names.len() - 1
    }

    fn drive(&mut self, signal: usize, driver: Driver, line: usize) -> Result<(), CircuitError> {
        if self.drivers[signal].is_some() {
            return Err(CircuitError::Netlist {
                line,
                what: format!("`{}` is driven twice", self.names[signal]),
            });
        }
        self.drivers[signal] = Some(driver);
        Ok(())
    }
}
