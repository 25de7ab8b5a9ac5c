//! The whole machine at its pins: programs and tables go in, a procedure runs, and every grant, every write and the end are
//! compared with the model's.

use std::collections::VecDeque;

use ringmill_machines::ring::encode::encode;
use ringmill_machines::ring::micro::{MicroCode, OpWord, Opcode, Operand, STREAMS, Word};
use ringmill_machines::ring::{Description, timing};

use super::host::{Host, Link, NoHost, Place, Wanted};
use super::rpau::LOAD;
use super::shadow::{Lockstep, Shadow};
use super::tables::Tables;
use super::twiddles::{Table, twiddles};
use super::wires::Wires;
use super::{RpauError, Shape};
use crate::{BuildOptions, Hdl, In, Model, Out, Top};

/// How a procedure ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    /// `code_e` of `rm_ring_pkg`; 0 is done.
    pub code: u64,
    pub stream: u64,
    pub cycles: u64,
}

struct Ports {
    run: In,
    done: Out,
    code: Out,
    stream: Out,
    cycles: Out,
    running: Out,
    granted: Out,
    load_select: In,
}

/// Kind of a program's word at the `load_*` ports.
const PROGRAM: u64 = 15;

/// One simulated machine.
pub struct Machine {
    shape: Shape,
    description: Description,
    model: Model,
    ports: Ports,
    wires: Wires,
    link: Link,
    shadow: Shadow,
}

/// `rm_ring` for a description, an RPAU a prime; `None` for what the RTL does not build.
pub fn top(d: &Description, primes: &[u64]) -> Option<Top> {
    let shape = Shape::new(d, *primes.first()?)?;
    let fits = primes.len() == d.rpaus && primes.iter().all(|&q| Shape::new(d, q).is_some());
    let top = shape
        .parameters(Top::new("rm_ring"))
        .int("Hop", d.ring.hop)
        .int("Crossing", d.ring.crossing)
        .int("Dies", d.ring.dies as u64)
        .int("Dispatch", d.pipeline.dispatch)
        .int("Controllers", d.controllers as u64)
        .int("Words", d.tables.words as u64);
    let primes = primes.iter().enumerate();
    fits.then(|| primes.fold(top, |top, (r, &q)| top.int(format!("Q{r}"), q)))
}

impl Machine {
    /// Builds the model (unless the cache has it), resets it and fills its twiddle tables; `None` for what the RTL does not
    /// build.
    ///
    /// # Errors
    /// What the tools refuse; a prime without the roots of unity.
    pub fn new(
        hdl: &Hdl,
        d: &Description,
        primes: &[u64],
        options: BuildOptions,
        seed: u32,
    ) -> Result<Option<Self>, RpauError> {
        let shapes: Option<Vec<Shape>> = primes.iter().map(|&q| Shape::new(d, q)).collect();
        let (Some(top), Some(shapes)) = (top(d, primes), shapes) else {
            return Ok(None);
        };
        let Some(&shape) = shapes.first() else {
            return Ok(None);
        };
        let mut model = super::built(hdl, &top, options)?;
        let ports = Ports {
            run: model.input("run_i")?,
            done: model.output("done_o")?,
            code: model.output("code_o")?,
            stream: model.output("stream_o")?,
            cycles: model.output("cycles_o")?,
            running: model.output("running_o")?,
            granted: model.output("granted_o")?,
            load_select: model.input("load_select_i")?,
        };
        let shadow = Shadow::new(&shape, d.rpaus, &model)?;
        model.restart(seed)?;
        let wires = Wires::new(&model)?;
        wires.table(&mut model, None)?;
        let mut link = Link::new(&model)?;
        link.rest(&mut model)?;
        model.set(ports.run, 0)?;
        model.reset()?;
        let mut machine = Self {
            shape,
            description: d.clone(),
            model,
            ports,
            wires,
            link,
            shadow,
        };
        for (rpau, shape) in shapes.iter().enumerate() {
            for word in twiddles(shape)? {
                machine.table(1 << rpau, word)?;
            }
        }
        machine.wires.table(&mut machine.model, None)?;
        Ok(Some(machine))
    }

    pub fn shape(&self) -> Shape {
        self.shape
    }

    fn table(&mut self, select: u64, word: Table) -> Result<(), RpauError> {
        self.model.set(self.ports.load_select, select)?;
        self.wires.table(&mut self.model, Some(word))?;
        Ok(self.model.step(1)?)
    }

    /// Writes the tables of one RPAU.
    ///
    /// # Errors
    /// Those of the simulation.
    pub fn tables(&mut self, rpau: usize, tables: &Tables<'_>) -> Result<(), RpauError> {
        for word in tables.words() {
            self.table(1 << rpau, word)?;
        }
        Ok(self.wires.table(&mut self.model, None)?)
    }

    /// Writes the words of the four streams.
    ///
    /// # Errors
    /// Those of the simulation.
    pub fn program(&mut self, streams: &[Vec<u64>; STREAMS]) -> Result<(), RpauError> {
        for (table, words) in (0..).zip(streams) {
            for (address, &word) in (0..).zip(words) {
                let kind = PROGRAM;
                let word = Table {
                    kind,
                    table,
                    address,
                    word,
                };
                self.table(0, word)?;
            }
        }
        Ok(self.wires.table(&mut self.model, None)?)
    }

    /// Brings a limb into a slot, a residue a cycle: a procedure of a `LOAD`.
    ///
    /// # Errors
    /// Those of the simulation; what the machine refuses.
    pub fn fill(&mut self, rpau: usize, slot: u8, limb: &[u64]) -> Result<(), RpauError> {
        let word = OpWord {
            mask: 1 << rpau,
            dst: slot,
            ..LOAD
        };
        self.transfer(word, limb).map(drop)
    }

    /// Brings a limb into a key slot, which is index 0 of the key table from then on.
    ///
    /// # Errors
    /// As [`Self::fill`].
    pub fn fill_key(&mut self, rpau: usize, slot: u8, limb: &[u64]) -> Result<(), RpauError> {
        let table = Tables {
            keys: vec![(0, slot)],
            ..Tables::default()
        };
        self.tables(rpau, &table)?;
        let word = OpWord {
            mask: 1 << rpau,
            b: Operand::Key(0),
            ..LOAD
        };
        self.transfer(word, limb).map(drop)
    }

    /// What a slot holds: a procedure of a `STORE`.
    ///
    /// # Errors
    /// As [`Self::fill`].
    pub fn read(&mut self, rpau: usize, slot: u8) -> Result<Vec<u64>, RpauError> {
        let word = OpWord {
            op: Opcode::Store,
            mask: 1 << rpau,
            a: slot,
            ..LOAD
        };
        self.transfer(word, &[])
    }

    fn transfer(&mut self, word: OpWord, limb: &[u64]) -> Result<Vec<u64>, RpauError> {
        let end = || vec![encode(&Word::End)];
        let mut streams: [Vec<u64>; STREAMS] = std::array::from_fn(|_| end());
        streams[0].insert(0, encode(&Word::Op(word)));
        self.program(&streams)?;
        let mut host = OneLimb(limb.to_vec());
        let most = 1000 + (4 << self.shape.log_n);
        let ended = self.run(&mut host, most)?;
        if ended.code != 0 {
            return Err(RpauError::Ends {
                code: ended.code,
                stream: ended.stream,
                cycles: ended.cycles,
                expected: ended.cycles,
            });
        }
        Ok(host.0)
    }

    /// Runs the procedure that is there until it is done, with a host for its transfers.
    ///
    /// # Errors
    /// [`RpauError::NeverDone`] after so many cycles; those of the simulation.
    pub fn run(&mut self, host: &mut dyn Host, most: u64) -> Result<Ended, RpauError> {
        self.start()?;
        for cycle in 0..most {
            let ended = self.ended()?;
            self.step(host, cycle)?;
            if let Some(ended) = ended {
                return Ok(ended);
            }
        }
        Err(RpauError::NeverDone { cycles: most })
    }

    /// Runs the procedure that is there, `code`, beside what the model made of it: the board grants each word in its cycle, each
    /// has written its results when it retires, the host is asked for what it gives and sent what it takes, and the end comes in
    /// its cycle.
    ///
    /// # Errors
    /// The first difference; those of the simulation.
    pub fn lockstep(
        &mut self,
        code: &MicroCode,
        words: &[Lockstep],
        cycles: u64,
    ) -> Result<(), RpauError> {
        self.program(&code.streams)?;
        self.start()?;
        let mut host = ModelsHost::new(&self.description, code, words);
        let mut ends: Vec<&Lockstep> = words.iter().collect();
        // When its last residue has landed; what the link does the board hears of then.
        let dispatch = self.description.pipeline.dispatch;
        let landed = |w: &Lockstep| {
            let late = if w.word.op.on_link() { 0 } else { dispatch };
            w.start + w.cycles + late
        };
        ends.sort_by_key(|w| landed(w));
        let mut ends = ends.into_iter().peekable();
        let mut ended = None;
        for cycle in 0..cycles + 1 {
            let granted = self.model.get(self.ports.granted)?;
            let starting = words.iter().filter(|w| w.start == cycle);
            let expected = starting.fold(0, |bits, w| bits | 1 << w.word.stream());
            if granted != expected {
                return Err(RpauError::Grants {
                    cycle,
                    found: format!("{granted:04b}"),
                    expected: format!("{expected:04b}"),
                });
            }
            while let Some(w) = ends.next_if(|w| landed(w) == cycle) {
                self.shadow.check(w, dispatch)?;
            }
            if let Some(end) = self.ended()? {
                ended = Some(end);
            }
            self.step(&mut host, cycle)?;
            if let Some(error) = host.error.take() {
                return Err(error);
            }
        }
        let done = Ended {
            code: 0,
            stream: 0,
            cycles,
        };
        match ended {
            Some(e) if (e.code, e.cycles) == (done.code, done.cycles) => Ok(()),
            Some(e) => Err(RpauError::Ends {
                code: e.code,
                stream: e.stream,
                cycles: e.cycles,
                expected: cycles,
            }),
            None => Err(RpauError::NeverDone { cycles }),
        }
    }

    /// Starts the procedure; the next cycle is the board's cycle 0.
    fn start(&mut self) -> Result<(), RpauError> {
        self.model.set(self.ports.run, 1)?;
        self.step(&mut NoHost, 0)?;
        self.model.set(self.ports.run, 0)?;
        // Queues are filled ahead, with waits among the words.
        for _ in 0..100_000 {
            self.model.eval()?;
            if self.model.get(self.ports.running)? == 1 {
                return Ok(());
            }
            self.step(&mut NoHost, 0)?;
        }
        Err(RpauError::NeverDone { cycles: 100_000 })
    }

    fn ended(&self) -> Result<Option<Ended>, RpauError> {
        let get = |port| self.model.get(port);
        let p = &self.ports;
        if get(p.done)? == 0 {
            return Ok(None);
        }
        Ok(Some(Ended {
            code: get(p.code)?,
            stream: get(p.stream)?,
            cycles: get(p.cycles)?,
        }))
    }

    fn step(&mut self, host: &mut dyn Host, cycle: u64) -> Result<(), RpauError> {
        self.model.eval()?;
        self.link.drive(&mut self.model, host)?;
        self.shadow.take(&self.model, cycle)?;
        self.model.step(1)?;
        self.link.settle(&mut self.model)?;
        Ok(self.model.eval()?)
    }

    pub fn rpaus(&self) -> usize {
        self.description.rpaus
    }
}

/// Gives a limb, or has the one that was taken.
struct OneLimb(Vec<u64>);

impl Host for OneLimb {
    fn give(&mut self, _: Wanted) -> Vec<u64> {
        self.0.clone()
    }

    fn take(&mut self, _: Wanted, limb: Vec<u64>) {
        self.0 = limb;
    }
}

/// The host of a run that the model has made: its limbs, and beats that take as long as they took there.
struct ModelsHost<'a> {
    /// Transfers to come, with the cycles of their beats.
    transfers: VecDeque<(&'a Lockstep, u64)>,
    sending: Option<&'a Lockstep>,
    limb: usize,
    error: Option<RpauError>,
}

impl<'a> ModelsHost<'a> {
    fn new(d: &Description, code: &MicroCode, words: &'a [Lockstep]) -> Self {
        let groups = d.slot_groups();
        let mut transfers: Vec<&Lockstep> = words.iter().filter(|w| w.word.op.on_link()).collect();
        transfers.sort_by_key(|w| w.start);
        let beats = |w: &&Lockstep| {
            let unstalled = timing::duration(d, &groups, code.log_n, &w.word).total;
            timing::link(d, code.log_n) + w.cycles - unstalled
        };
        Self {
            transfers: transfers.into_iter().map(|w| (w, beats(&w))).collect(),
            sending: None,
            limb: 1 << code.log_n,
            error: None,
        }
    }

    /// Whether the machine asks for what the model asks for next; its result.
    fn asked(&mut self, wanted: Wanted, expected: Option<&'a Lockstep>) -> Option<&'a [u64]> {
        let place = |w: &Lockstep| match w.word.b {
            Operand::Key(k) if w.word.op == Opcode::Load => Place::Key(k),
            _ => Place::Limb(w.word.imm),
        };
        let of = |w: &Lockstep| Wanted {
            rpau: w.word.rpaus().next().unwrap_or_default(),
            place: place(w),
        };
        if expected.map(of) != Some(wanted) {
            self.error.get_or_insert(RpauError::Asked {
                found: format!("{wanted:?}"),
                expected: format!("{:?}", expected.map(of)),
            });
        }
        let (_, limb) = expected?.results.first()?;
        Some(limb)
    }
}

impl Host for ModelsHost<'_> {
    fn give(&mut self, wanted: Wanted) -> Vec<u64> {
        let next = self.transfers.front().map(|&(w, _)| w);
        let limb = self.asked(wanted, next);
        limb.unwrap_or_default().to_vec()
    }

    fn take(&mut self, wanted: Wanted, limb: Vec<u64>) {
        let word = self.sending.take();
        if self.asked(wanted, word) != Some(&limb) {
            let word = word.map(|w| Word::Op(w.word).to_string());
            self.error.get_or_insert(RpauError::Sent {
                word: word.unwrap_or_default(),
            });
        }
    }

    /// Whenever it pleases the host, but for the last one.
    fn beats(&mut self) -> Vec<u64> {
        let n = self.limb as u64;
        let Some((word, cycles)) = self.transfers.pop_front() else {
            return Vec::new();
        };
        self.sending = Some(word);
        let mut draw = word.start.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut beats = Vec::with_capacity(self.limb);
        for at in 0..cycles.saturating_sub(1) {
            // As many of the cycles that are left as there are beats left, each alike.
            draw ^= draw << 13;
            draw ^= draw >> 7;
            draw ^= draw << 17;
            let left = n - 1 - beats.len() as u64;
            if draw % (cycles - 1 - at) < left {
                beats.push(at);
            }
        }
        beats.push(cycles.saturating_sub(1));
        beats
    }
}
