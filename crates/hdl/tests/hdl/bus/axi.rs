// SPDX-License-Identifier: Apache-2.0
//! A memory on a machine's AXI4 ports and a host on its AXI4-Lite port. Both stall at random, and panic where the
//! machine breaks the protocol.

mod host;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::{HdlError, In, Model, Out};

pub use host::{ANSWER, BUSY, COMMAND, COUNT, CYCLES, ENABLE, END, EVENTS, READ, WRITE};

/// The value of a memory word that nobody has written.
const BLANK: u32 = 0xdead_beef;
pub const OKAY: u64 = 0;
pub const SLVERR: u64 = 2;
/// The most bursts of a port that the memory keeps pending at once: for reads, and as many for writes.
const AHEAD: usize = 4;

/// The distance between a stream's start at one port and its start at the next. It puts them in separate stretches of
/// memory, and at different beats of their pages.
const STRIDE: u64 = 0x100_0000_0280;

/// The pins of a channel that the design drives, at one port. Its payload must not change between the offer and the
/// transfer. A pin of the model holds the bits of all ports.
struct Driven {
    name: &'static str,
    port: usize,
    valid: Out,
    /// The payload's pins, each with the number of bits that belong to a port.
    payload: Vec<(Out, usize)>,
    /// The payload that was offered in the cycle before and not taken.
    shown: Option<Vec<Vec<u32>>>,
}

/// The pins of a channel that the test bench drives.
struct Driving {
    valid: In,
    ready: Out,
}

/// The memory at one port: its reads (address of a beat, whether it is the burst's last), writes and answers that are
/// pending.
struct Memory {
    ar: Driven,
    aw: Driven,
    w: Driven,
    reads: VecDeque<(u64, bool)>,
    writes: VecDeque<(u64, u64)>,
    answers: VecDeque<u64>,
    /// Whether the memory is offering a read word, and an answer to a write, that is not yet taken.
    offering: [bool; 2],
}

pub struct Bus {
    pub model: Model,
    /// Words of 32 bits by address. An address without an entry reads as [`BLANK`].
    pub memory: BTreeMap<u64, u32>,
    /// Addresses at which reads and writes are answered with an error.
    pub fenced: Range<u64>,
    /// A port whose channels move in about one of eight of the cycles in which they otherwise would.
    pub slow: Option<usize>,
    /// Addresses of writes are taken in one cycle of 64, whatever the other channels do.
    pub late: bool,
    dice: Dice,
    stalls: bool,
    /// Words of 32 bits in a beat of all ports together, and in one port's share of it.
    beat: usize,
    share: usize,
    irq: Out,
    ports: Vec<Memory>,
    // The memory's pins, each for all ports.
    ready: [In; 3],
    r: Driving,
    b: Driving,
    // The host's pins.
    lite_b: Driven,
    lite_r: Driven,
    lite_ready: [In; 2],
    lite_aw: Driving,
    lite_w: Driving,
    lite_ar: Driving,
    /// The host's write address, write data and read address: `None` if there is none to send, else whether its offer
    /// stands already.
    sending: [Option<bool>; 3],
    /// Answers to the host's last write and last read that were not yet fetched: value and response.
    answered: [Option<(u64, u64)>; 2],
    pub bursts: usize,
    /// The cycles in which the memory handed over a read word at port 0.
    pub came: Vec<u64>,
}

fn driven(
    model: &Model,
    name: &'static str,
    port: usize,
    payload: &[(&str, usize)],
) -> Result<Driven, HdlError> {
    let payload = payload
        .iter()
        .map(|&(pin, bits)| Ok((model.output(pin)?, bits)));
    Ok(Driven {
        name,
        port,
        valid: model.output(&format!("{name}valid_o"))?,
        payload: payload.collect::<Result<_, HdlError>>()?,
        shown: None,
    })
}

fn driving(model: &Model, name: &str) -> Result<Driving, HdlError> {
    Ok(Driving {
        valid: model.input(&format!("{name}valid_i"))?,
        ready: model.output(&format!("{name}ready_o"))?,
    })
}

/// Packs one bit for each port, port 0 lowest.
fn mask(bits: impl IntoIterator<Item = bool>) -> u64 {
    let bits = bits.into_iter().enumerate();
    bits.fold(0, |mask, (port, bit)| mask | u64::from(bit) << port)
}

impl Driven {
    /// Returns whether the channel offers something. Panics if an offer that was not taken has changed or gone.
    fn look(&mut self, model: &Model) -> Result<bool, HdlError> {
        let valid = model.get(self.valid)? >> self.port & 1 == 1;
        if let Some(shown) = self.shown.take() {
            assert!(valid, "{} withdrew what it offered", self.name);
            let now = self.words(model)?;
            assert_eq!(now, shown, "{} changed what it offered", self.name);
        }
        Ok(valid)
    }

    /// Returns this port's bits of a pin of the payload, in words of 32 bits.
    fn pin(&self, model: &Model, number: usize) -> Result<Vec<u32>, HdlError> {
        let (pin, bits) = self.payload[number];
        let all = model.get_words(pin)?;
        let bit = |at: usize| all[at / 32] >> (at % 32) & 1;
        let from = self.port * bits;
        let word = |word: usize| {
            let at = from + 32 * word..from + bits.min(32 * word + 32);
            at.rev().fold(0, |value, at| value << 1 | bit(at))
        };
        Ok((0..bits.div_ceil(32)).map(word).collect())
    }

    /// Returns this port's bits of a pin of the payload, of at most 64 bits.
    fn value(&self, model: &Model, number: usize) -> Result<u64, HdlError> {
        let words = self.pin(model, number)?;
        Ok(words
            .iter()
            .rev()
            .fold(0, |value, &word| value << 32 | u64::from(word)))
    }

    fn words(&self, model: &Model) -> Result<Vec<Vec<u32>>, HdlError> {
        (0..self.payload.len())
            .map(|number| self.pin(model, number))
            .collect()
    }

    /// Returns whether the channel transfers in this cycle. Remembers the payload if it does not, so that the next look
    /// can compare.
    fn take(&mut self, model: &Model, valid: bool, ready: bool) -> Result<bool, HdlError> {
        if valid && !ready {
            self.shown = Some(self.words(model)?);
        }
        Ok(valid && ready)
    }
}

impl Bus {
    /// Resets the model and connects it. A beat has `beat` words of 32 bits, divided over `ports` ports.
    pub fn new(mut model: Model, beat: usize, ports: usize, dice: Dice) -> Result<Self, HdlError> {
        model.reset()?;
        let share = beat / ports;
        let memory = |port| {
            let address =
                |name, pins: [&str; 2]| driven(&model, name, port, &[(pins[0], 64), (pins[1], 8)]);
            let data = [
                ("m_wdata_o", 32 * share),
                ("m_wstrb_o", 4 * share),
                ("m_wlast_o", 1),
            ];
            Ok(Memory {
                ar: address("m_ar", ["m_araddr_o", "m_arlen_o"])?,
                aw: address("m_aw", ["m_awaddr_o", "m_awlen_o"])?,
                w: driven(&model, "m_w", port, &data)?,
                reads: VecDeque::new(),
                writes: VecDeque::new(),
                answers: VecDeque::new(),
                offering: [false; 2],
            })
        };
        let ready = |name: &str| model.input(&format!("{name}ready_i"));
        Ok(Self {
            ports: (0..ports).map(memory).collect::<Result<_, HdlError>>()?,
            ready: [ready("m_ar")?, ready("m_aw")?, ready("m_w")?],
            r: driving(&model, "m_r")?,
            b: driving(&model, "m_b")?,
            lite_b: driven(&model, "s_b", 0, &[("s_bresp_o", 2)])?,
            lite_r: driven(&model, "s_r", 0, &[("s_rdata_o", 32), ("s_rresp_o", 2)])?,
            lite_ready: [ready("s_b")?, ready("s_r")?],
            lite_aw: driving(&model, "s_aw")?,
            lite_w: driving(&model, "s_w")?,
            lite_ar: driving(&model, "s_ar")?,
            irq: model.output("irq_o")?,
            model,
            memory: BTreeMap::new(),
            fenced: 0..0,
            slow: None,
            late: false,
            dice,
            stalls: false,
            beat,
            share,
            sending: [None; 3],
            answered: [None; 2],
            bursts: 0,
            came: Vec::new(),
        })
    }

    pub fn ports(&self) -> usize {
        self.ports.len()
    }

    /// Returns where a stream begins at a port if it begins at `address` at port 0.
    pub fn at_port(&self, address: u64, port: usize) -> u64 {
        address + STRIDE * port as u64
    }

    /// Returns the address of a 32-bit word, by its number in the stream that begins at `address`.
    fn place(&self, address: u64, word: usize) -> u64 {
        let (beat, within) = (word / self.beat, word % self.beat);
        let (port, at) = (within / self.share, within % self.share);
        self.at_port(address, port) + 4 * (beat * self.share + at) as u64
    }

    /// Writes a 32-bit word to memory, by its number in the stream that begins at `address`.
    pub fn lay(&mut self, address: u64, word: usize, value: u32) {
        self.memory.insert(self.place(address, word), value);
    }

    /// Returns a 32-bit word of memory, by its number in the stream that begins at `address`.
    pub fn lies(&self, address: u64, word: usize) -> u32 {
        self.word(self.place(address, word))
    }

    /// Lets every channel stall in about half of the cycles from now on, or no channel.
    pub fn stall(&mut self, stalls: bool) {
        self.stalls = stalls;
    }

    fn go(&mut self) -> bool {
        !self.stalls || self.dice.bits() & 1 == 1
    }

    /// Decides whether a channel of this port may transfer in this cycle.
    fn port_goes(&mut self, port: usize) -> bool {
        let goes = self.go();
        goes && (self.slow != Some(port) || self.dice.bits() & 7 == 0)
    }

    /// Returns the number of bytes in a port's share of a beat.
    fn bytes(&self) -> u64 {
        4 * self.share as u64
    }

    pub fn word(&self, address: u64) -> u32 {
        self.memory.get(&address).copied().unwrap_or(BLANK)
    }

    pub fn interrupt(&self) -> Result<bool, HdlError> {
        Ok(self.model.get(self.irq)? == 1)
    }

    /// Takes a burst from a port's address channel and returns the addresses of its beats. Panics if the burst is
    /// unaligned, crosses 4 KiB, or has a wrong size or type.
    fn burst(&mut self, port: usize, channel: &'static str) -> Result<VecDeque<u64>, HdlError> {
        let pins = if channel == "m_ar" {
            &self.ports[port].ar
        } else {
            &self.ports[port].aw
        };
        let address = pins.value(&self.model, 0)?;
        let beats = pins.value(&self.model, 1)? + 1;
        let bytes = self.bytes();
        assert_eq!(
            address % bytes,
            0,
            "{channel}: {address:#x} lies within a beat"
        );
        let last = address + beats * bytes - 1;
        assert_eq!(
            address >> 12,
            last >> 12,
            "{channel}: {address:#x} to {last:#x}"
        );
        for (pin, bits, want) in [("size_o", 3, u64::from(bytes.ilog2())), ("burst_o", 2, 1)] {
            let pin = self.model.output(&format!("{channel}{pin}"))?;
            assert_eq!(
                self.model.get(pin)? >> (bits * port) & ((1 << bits) - 1),
                want
            );
        }
        self.bursts += 1;
        Ok((0..beats).map(|i| address + i * bytes).collect())
    }

    fn response(&self, address: u64) -> u64 {
        if self.fenced.contains(&address) {
            SLVERR
        } else {
            OKAY
        }
    }

    /// Simulates one cycle with all channels.
    pub fn tick(&mut self) -> Result<(), HdlError> {
        // The design's offers, as they stand before the clock edge.
        let moved = self.take_from_ports()?;
        self.take_for_the_host()?;
        // The memory's offers, which stand until they are taken.
        let given = self.offer_at_ports()?;

        // The host's offers.
        let mut sent = [false; 3];
        for at in 0..3 {
            let go = self.go();
            let pins = [&self.lite_aw, &self.lite_w, &self.lite_ar][at];
            let offers = match &mut self.sending[at] {
                Some(stands) => {
                    *stands |= go;
                    *stands
                }
                None => false,
            };
            self.model.set(pins.valid, u64::from(offers))?;
            sent[at] = offers && self.model.get(pins.ready)? == 1;
        }

        // The transfers at the clock edge.
        if given.first().is_some_and(|moves| moves[0]) {
            self.came.push(self.model.cycle());
        }
        for (port, [ar, aw, w]) in moved.into_iter().enumerate() {
            self.move_at_port(port, ar, aw, w)?;
        }
        self.model.step(1)?;
        for (port, [r, b]) in self.ports.iter_mut().zip(given) {
            if r {
                port.reads.pop_front();
                port.offering[0] = false;
            }
            if b {
                port.answers.pop_front();
                port.offering[1] = false;
            }
        }
        for (pending, sent) in self.sending.iter_mut().zip(sent) {
            if sent {
                *pending = None;
            }
        }
        Ok(())
    }

    /// Returns for each port whether a read address, a write address and a written word are taken in this cycle.
    fn take_from_ports(&mut self) -> Result<Vec<[bool; 3]>, HdlError> {
        let (mut ready, mut moved) = (Vec::new(), Vec::new());
        for number in 0..self.ports() {
            let mut goes = [0; 3].map(|_| self.port_goes(number));
            goes[1] &= !self.late || self.dice.bits() & 63 == 0;
            let (port, model) = (&mut self.ports[number], &self.model);
            let mut moves = [false; 3];
            for (at, channel) in [&mut port.ar, &mut port.aw, &mut port.w]
                .into_iter()
                .enumerate()
            {
                let valid = channel.look(model)?;
                moves[at] = channel.take(model, valid, goes[at])?;
            }
            ready.push(goes);
            moved.push(moves);
        }
        for (at, &pin) in self.ready.iter().enumerate() {
            self.model
                .set(pin, mask(ready.iter().map(|goes| goes[at])))?;
        }
        Ok(moved)
    }

    /// Takes the machine's answers on AXI4-Lite.
    fn take_for_the_host(&mut self) -> Result<(), HdlError> {
        let goes = [self.go(), self.go()];
        for (at, channel) in [&mut self.lite_b, &mut self.lite_r].into_iter().enumerate() {
            let valid = channel.look(&self.model)?;
            self.model.set(self.lite_ready[at], u64::from(goes[at]))?;
            if channel.take(&self.model, valid, goes[at])? {
                let value = channel.value(&self.model, 0)?;
                let answer = match at {
                    0 => (0, value),
                    _ => (value, channel.value(&self.model, 1)?),
                };
                self.answered[at] = Some(answer);
            }
        }
        Ok(())
    }

    /// Offers read words and answers to writes at every port. Returns for each port which of the two are taken.
    fn offer_at_ports(&mut self) -> Result<Vec<[bool; 2]>, HdlError> {
        let (mut data, mut word_codes, mut lasts, mut codes) = (Vec::new(), 0, 0, 0);
        for number in 0..self.ports() {
            let goes = [self.port_goes(number), self.port_goes(number)];
            let port = &mut self.ports[number];
            let waiting = [!port.reads.is_empty(), !port.answers.is_empty()];
            for at in 0..2 {
                port.offering[at] = waiting[at] && (port.offering[at] || goes[at]);
            }
            let (word, answer) = (port.reads.front().copied(), port.answers.front().copied());
            let (address, last) = word.unwrap_or_default();
            data.extend((0..self.share as u64).map(|i| self.word(address + 4 * i)));
            word_codes |= self.response(address) << (2 * number);
            lasts |= u64::from(last) << number;
            codes |= answer.unwrap_or_default() << (2 * number);
        }
        let model = &mut self.model;
        model.set(
            self.r.valid,
            mask(self.ports.iter().map(|port| port.offering[0])),
        )?;
        model.set(
            self.b.valid,
            mask(self.ports.iter().map(|port| port.offering[1])),
        )?;
        let pin = model.input("m_rdata_i")?;
        model.set_words(pin, &data)?;
        for (pin, value) in [
            ("m_rresp_i", word_codes),
            ("m_rlast_i", lasts),
            ("m_bresp_i", codes),
        ] {
            let pin = model.input(pin)?;
            model.set(pin, value)?;
        }
        let ready = [model.get(self.r.ready)?, model.get(self.b.ready)?];
        let taken = self.ports.iter().enumerate().map(|(number, port)| {
            [0, 1].map(|at| port.offering[at] && ready[at] >> number & 1 == 1)
        });
        Ok(taken.collect())
    }

    /// Books what a port transferred in this cycle: a read address, a write address, a written word.
    fn move_at_port(&mut self, port: usize, ar: bool, aw: bool, w: bool) -> Result<(), HdlError> {
        if ar {
            let beats = self.burst(port, "m_ar")?;
            let most = beats.len();
            let beats = beats.into_iter().enumerate();
            self.ports[port]
                .reads
                .extend(beats.map(|(i, a)| (a, i + 1 == most)));
        }
        if aw {
            let beats = self.burst(port, "m_aw")?;
            let first = beats.front().copied().unwrap_or_default();
            self.ports[port]
                .writes
                .push_back((first, beats.len() as u64));
        }
        if w {
            self.write_beat(port)?;
        }
        let port = &self.ports[port];
        let (asked, promised) = (
            port.reads.iter().filter(|read| read.1).count(),
            port.writes.len() + port.answers.len(),
        );
        assert!(
            asked <= AHEAD && promised <= AHEAD,
            "{asked} reads, {promised} writes at once"
        );
        Ok(())
    }

    /// Writes a beat of a port's oldest write burst to memory.
    fn write_beat(&mut self, port: usize) -> Result<(), HdlError> {
        let channel = &self.ports[port].w;
        let data = channel.pin(&self.model, 0)?;
        let strobes = channel.pin(&self.model, 1)?;
        let last = channel.value(&self.model, 2)? == 1;
        let bytes = self.bytes();
        let Some((address, left)) = self.ports[port].writes.front_mut() else {
            panic!("data before their address");
        };
        let at = *address;
        (*address, *left) = (at + bytes, *left - 1);
        let ends = *left == 0;
        assert_eq!(last, ends, "wlast at {at:#x}");
        if ends {
            let answer = self.response(at);
            self.ports[port].writes.pop_front();
            self.ports[port].answers.push_back(answer);
        }
        for (i, &word) in data.iter().enumerate() {
            let lanes = strobes[i / 8] >> (4 * (i % 8)) & 0xf;
            assert!(lanes == 0 || lanes == 0xf, "half a word at {at:#x}");
            if lanes == 0xf {
                self.memory.insert(at + 4 * i as u64, word);
            }
        }
        Ok(())
    }
}
