//! A memory behind AXI4 and a host behind AXI4-Lite, which stall at random and hold the machine to the protocol.

use std::collections::{BTreeMap, VecDeque};

use ringmill_hdl::polymul::Dice;
use ringmill_hdl::{HdlError, In, Model, Out};

/// What a word holds that nobody has written.
const BLANK: u32 = 0xdead_beef;
pub const OKAY: u64 = 0;
pub const SLVERR: u64 = 2;
/// Bursts that may be under way at once, each way.
const AHEAD: usize = 4;
/// Far more cycles than anything here takes.
const PATIENCE: u64 = 20_000;

/// The pins of one channel that the design drives; its payload must stand while it waits.
struct Driven {
    name: &'static str,
    valid: Out,
    ready: In,
    payload: Vec<Out>,
    /// What was shown in the cycle before and not taken.
    shown: Option<Vec<Vec<u32>>>,
}

/// The pins of one channel that this side drives.
struct Driving {
    valid: In,
    ready: Out,
}

pub struct Bus {
    pub model: Model,
    /// Words by address; a word that is not there is [`BLANK`].
    pub memory: BTreeMap<u64, u32>,
    /// Reads and writes of an address at or above this are answered with an error.
    pub fence: u64,
    dice: Dice,
    stalls: bool,
    beat: usize,
    irq: Out,
    // The memory's side.
    ar: Driven,
    aw: Driven,
    w: Driven,
    r: Driving,
    b: Driving,
    // The host's side.
    lite_b: Driven,
    lite_r: Driven,
    lite_aw: Driving,
    lite_w: Driving,
    lite_ar: Driving,
    reads: VecDeque<(u64, bool)>,
    writes: VecDeque<(u64, u64)>,
    answers: VecDeque<u64>,
    /// Whether the memory's offer of a word, an answer, stands.
    offering: [bool; 2],
    /// Of the host: address, data, and whether each is still to send.
    sending: [Option<bool>; 3],
    /// To the host's last write and to its last read: value and response.
    answered: [Option<(u64, u64)>; 2],
    pub bursts: usize,
}

fn driven(
    model: &Model,
    name: &'static str,
    ready: &str,
    payload: &[&str],
) -> Result<Driven, HdlError> {
    let payload = payload.iter().map(|pin| model.output(pin));
    Ok(Driven {
        name,
        valid: model.output(&format!("{name}valid_o"))?,
        ready: model.input(ready)?,
        payload: payload.collect::<Result<_, _>>()?,
        shown: None,
    })
}

fn driving(model: &Model, name: &str) -> Result<Driving, HdlError> {
    Ok(Driving {
        valid: model.input(&format!("{name}valid_i"))?,
        ready: model.output(&format!("{name}ready_o"))?,
    })
}

impl Driven {
    /// Whether the channel shows something; what it showed and was not taken must still be there.
    fn look(&mut self, model: &Model) -> Result<bool, HdlError> {
        let valid = model.get(self.valid)? == 1;
        if let Some(shown) = self.shown.take() {
            assert!(valid, "{} withdrew what it offered", self.name);
            let now = self.words(model)?;
            assert_eq!(now, shown, "{} changed what it offered", self.name);
        }
        Ok(valid)
    }

    fn words(&self, model: &Model) -> Result<Vec<Vec<u32>>, HdlError> {
        let words = self.payload.iter().map(|&pin| model.get_words(pin));
        words.collect()
    }

    /// Sets ready; whether the channel moves in this cycle.
    fn take(&mut self, model: &mut Model, valid: bool, ready: bool) -> Result<bool, HdlError> {
        model.set(self.ready, u64::from(ready))?;
        if valid && !ready {
            self.shown = Some(self.words(model)?);
        }
        Ok(valid && ready)
    }
}

impl Bus {
    pub fn new(mut model: Model, beat: usize, dice: Dice) -> Result<Self, HdlError> {
        model.reset()?;
        Ok(Self {
            ar: driven(&model, "m_ar", "m_arready_i", &["m_araddr_o", "m_arlen_o"])?,
            aw: driven(&model, "m_aw", "m_awready_i", &["m_awaddr_o", "m_awlen_o"])?,
            w: driven(
                &model,
                "m_w",
                "m_wready_i",
                &["m_wdata_o", "m_wstrb_o", "m_wlast_o"],
            )?,
            r: driving(&model, "m_r")?,
            b: driving(&model, "m_b")?,
            lite_b: driven(&model, "s_b", "s_bready_i", &["s_bresp_o"])?,
            lite_r: driven(&model, "s_r", "s_rready_i", &["s_rdata_o", "s_rresp_o"])?,
            lite_aw: driving(&model, "s_aw")?,
            lite_w: driving(&model, "s_w")?,
            lite_ar: driving(&model, "s_ar")?,
            irq: model.output("irq_o")?,
            model,
            memory: BTreeMap::new(),
            fence: u64::MAX,
            dice,
            stalls: false,
            beat,
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            answers: VecDeque::new(),
            offering: [false; 2],
            sending: [None; 3],
            answered: [None; 2],
            bursts: 0,
        })
    }

    /// From now on every channel stalls in about half of the cycles; or none.
    pub fn stall(&mut self, stalls: bool) {
        self.stalls = stalls;
    }

    fn go(&mut self) -> bool {
        !self.stalls || self.dice.bits() & 1 == 1
    }

    fn bytes(&self) -> u64 {
        4 * self.beat as u64
    }

    pub fn word(&self, address: u64) -> u32 {
        self.memory.get(&address).copied().unwrap_or(BLANK)
    }

    pub fn interrupt(&self) -> Result<bool, HdlError> {
        Ok(self.model.get(self.irq)? == 1)
    }

    /// A burst: within 4 KiB, its beats.
    fn burst(&mut self, channel: &'static str) -> Result<VecDeque<u64>, HdlError> {
        let pins = if channel == "m_ar" {
            &self.ar
        } else {
            &self.aw
        };
        let address = self.model.get(pins.payload[0])?;
        let beats = self.model.get(pins.payload[1])? + 1;
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
        for (pin, want) in [("size_o", u64::from(bytes.ilog2())), ("burst_o", 1)] {
            let pin = self.model.output(&format!("{channel}{pin}"))?;
            assert_eq!(self.model.get(pin)?, want);
        }
        self.bursts += 1;
        Ok((0..beats).map(|i| address + i * bytes).collect())
    }

    fn response(&self, address: u64) -> u64 {
        if address < self.fence { OKAY } else { SLVERR }
    }

    /// One cycle on all channels.
    pub fn tick(&mut self) -> Result<(), HdlError> {
        // What the design offers, as it stands before the edge.
        let ar_valid = self.ar.look(&self.model)?;
        let aw_valid = self.aw.look(&self.model)?;
        let w_valid = self.w.look(&self.model)?;
        let lite_b_valid = self.lite_b.look(&self.model)?;
        let lite_r_valid = self.lite_r.look(&self.model)?;
        let (go_ar, go_aw, go_w) = (self.go(), self.go(), self.go());
        let (go_b, go_r) = (self.go(), self.go());
        let ar = self.ar.take(&mut self.model, ar_valid, go_ar)?;
        let aw = self.aw.take(&mut self.model, aw_valid, go_aw)?;
        let w = self.w.take(&mut self.model, w_valid, go_w)?;
        let lite_b = self.lite_b.take(&mut self.model, lite_b_valid, go_b)?;
        let lite_r = self.lite_r.take(&mut self.model, lite_r_valid, go_r)?;
        if lite_b {
            self.answered[0] = Some((0, self.model.get(self.lite_b.payload[0])?));
        }
        if lite_r {
            let data = self.model.get(self.lite_r.payload[0])?;
            self.answered[1] = Some((data, self.model.get(self.lite_r.payload[1])?));
        }

        // What the memory offers, and keeps on offering.
        let waiting = [!self.reads.is_empty(), !self.answers.is_empty()];
        for (at, waits) in waiting.into_iter().enumerate() {
            self.offering[at] = waits && (self.offering[at] || self.go());
        }
        self.model.set(self.r.valid, u64::from(self.offering[0]))?;
        self.model.set(self.b.valid, u64::from(self.offering[1]))?;
        if let (true, Some(&(address, last))) = (self.offering[0], self.reads.front()) {
            let words: Vec<u32> = (0..self.beat as u64)
                .map(|i| self.word(address + 4 * i))
                .collect();
            let (data, resp, end) = (
                self.model.input("m_rdata_i")?,
                self.model.input("m_rresp_i")?,
                self.model.input("m_rlast_i")?,
            );
            self.model.set_words(data, &words)?;
            self.model.set(resp, self.response(address))?;
            self.model.set(end, u64::from(last))?;
        }
        if let (true, Some(&answer)) = (self.offering[1], self.answers.front()) {
            let resp = self.model.input("m_bresp_i")?;
            self.model.set(resp, answer)?;
        }
        let r = self.offering[0] && self.model.get(self.r.ready)? == 1;
        let b = self.offering[1] && self.model.get(self.b.ready)? == 1;

        // What the host offers.
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

        // What moves with the edge.
        if ar {
            let beats = self.burst("m_ar")?;
            let most = beats.len();
            self.reads.extend(
                beats
                    .into_iter()
                    .enumerate()
                    .map(|(i, a)| (a, i + 1 == most)),
            );
        }
        if aw {
            let beats = self.burst("m_aw")?;
            let first = beats.front().copied().unwrap_or_default();
            self.writes.push_back((first, beats.len() as u64));
        }
        if w {
            self.write_beat()?;
        }
        let (asked, promised) = (
            self.reads.iter().filter(|read| read.1).count(),
            self.writes.len() + self.answers.len(),
        );
        assert!(
            asked <= AHEAD && promised <= AHEAD,
            "{asked} reads, {promised} writes at once"
        );
        self.model.step(1)?;
        if r {
            self.reads.pop_front();
            self.offering[0] = false;
        }
        if b {
            self.answers.pop_front();
            self.offering[1] = false;
        }
        for (pending, sent) in self.sending.iter_mut().zip(sent) {
            if sent {
                *pending = None;
            }
        }
        Ok(())
    }

    /// Takes a beat of the oldest burst.
    fn write_beat(&mut self) -> Result<(), HdlError> {
        let data = self.model.get_words(self.w.payload[0])?;
        let strobes = self.model.get_words(self.w.payload[1])?;
        let last = self.model.get(self.w.payload[2])? == 1;
        let bytes = self.bytes();
        let Some((address, left)) = self.writes.front_mut() else {
            panic!("data before their address");
        };
        let at = *address;
        (*address, *left) = (at + bytes, *left - 1);
        assert_eq!(last, *left == 0, "wlast at {at:#x}");
        if *left == 0 {
            self.writes.pop_front();
            let answer = self.response(at);
            self.answers.push_back(answer);
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

    /// Waits for the answer to a write (0) or a read (1).
    fn answer(&mut self, which: usize) -> Result<(u64, u64), HdlError> {
        for _ in 0..PATIENCE {
            if let Some(answer) = self.answered[which].take() {
                let pins = [&self.sending[..2], &self.sending[2..]][which];
                assert!(
                    pins.iter().all(Option::is_none),
                    "answered before all was sent"
                );
                return Ok(answer);
            }
            self.tick()?;
        }
        panic!("no answer on AXI4-Lite in {PATIENCE} cycles");
    }

    fn pin(&mut self, name: &str, value: u64) -> Result<(), HdlError> {
        let port = self.model.input(name)?;
        self.model.set(port, value)
    }

    fn begin_write(&mut self, register: u64, value: u32, bytes: u64) -> Result<(), HdlError> {
        self.pin("s_awaddr_i", register)?;
        self.pin("s_wdata_i", value.into())?;
        self.pin("s_wstrb_i", bytes)?;
        (self.sending[0], self.sending[1]) = (Some(false), Some(false));
        Ok(())
    }

    fn begin_read(&mut self, register: u64) -> Result<(), HdlError> {
        self.pin("s_araddr_i", register)?;
        self.sending[2] = Some(false);
        Ok(())
    }

    /// Writes some bytes of a register; the response.
    pub fn write_bytes(&mut self, register: u64, value: u32, bytes: u64) -> Result<u64, HdlError> {
        self.begin_write(register, value, bytes)?;
        Ok(self.answer(0)?.1)
    }

    /// A write of some bytes and a read side by side; the response to the one, what the other gives.
    pub fn write_beside_read(
        &mut self,
        (register, value, bytes): (u64, u32, u64),
        read: u64,
    ) -> Result<(u64, u32), HdlError> {
        self.begin_write(register, value, bytes)?;
        self.begin_read(read)?;
        let (value, response) = self.answer(1)?;
        assert_eq!(response, OKAY, "read of {read:#x}");
        Ok((self.answer(0)?.1, value as u32))
    }

    /// Writes one after another, each sent as soon as its channels are free.
    pub fn write_at_once(&mut self, writes: &[(u64, u32)]) -> Result<(), HdlError> {
        let (mut named, mut given, mut answers) = (0, 0, 0);
        while answers < writes.len() {
            if let (None, Some(&(register, _))) = (self.sending[0], writes.get(named)) {
                self.pin("s_awaddr_i", register)?;
                self.sending[0] = Some(false);
                named += 1;
            }
            if let (None, Some(&(_, value))) = (self.sending[1], writes.get(given)) {
                self.pin("s_wdata_i", value.into())?;
                self.pin("s_wstrb_i", 0xf)?;
                self.sending[1] = Some(false);
                given += 1;
            }
            self.tick()?;
            if let Some((_, response)) = self.answered[0].take() {
                assert_eq!(response, OKAY);
                answers += 1;
            }
        }
        Ok(())
    }

    /// The response to a write.
    pub fn try_write(&mut self, register: u64, value: u32) -> Result<u64, HdlError> {
        self.write_bytes(register, value, 0xf)
    }

    pub fn write(&mut self, register: u64, value: u32) -> Result<(), HdlError> {
        let response = self.try_write(register, value)?;
        assert_eq!(response, OKAY, "write of {value:#x} to {register:#x}");
        Ok(())
    }

    /// The value and the response of a read.
    pub fn try_read(&mut self, register: u64) -> Result<(u32, u64), HdlError> {
        self.begin_read(register)?;
        let (data, response) = self.answer(1)?;
        Ok((data as u32, response))
    }

    pub fn read(&mut self, register: u64) -> Result<u32, HdlError> {
        let (value, response) = self.try_read(register)?;
        assert_eq!(response, OKAY, "read of {register:#x}");
        Ok(value)
    }

    /// Ticks until one of these events has come, clears those and says which.
    pub fn wait(&mut self, events: u32) -> Result<u32, HdlError> {
        for _ in 0..PATIENCE {
            let found = self.read(EVENTS)? & events;
            if found != 0 {
                self.write(EVENTS, found)?;
                return Ok(found);
            }
        }
        panic!("none of the events {events:#x} in {PATIENCE} reads");
    }
}

pub const COMMAND: u64 = 0x10;
pub const ANSWER: u64 = 0x14;
pub const BUSY: u64 = 0x18;
pub const EVENTS: u64 = 0x1c;
pub const ENABLE: u64 = 0x20;
pub const END: u64 = 0x24;
pub const CYCLES: u64 = 0x28;
pub const READ: u64 = 0x40;
pub const WRITE: u64 = 0x50;
