//! The whole machine at its pins: programs and tables go in, a procedure runs, and every grant, every write and the end are
//! compared with the model's.

use ringmill_machines::ring::Description;
use ringmill_machines::ring::micro::{MicroCode, STREAMS};

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
    link_select: In,
}

/// Kind of a program's word at the `load_*` ports.
const PROGRAM: u64 = 15;

/// One simulated machine.
pub struct Machine {
    shape: Shape,
    rpaus: usize,
    dispatch: u64,
    model: Model,
    ports: Ports,
    wires: Wires,
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
            link_select: model.input("link_select_i")?,
        };
        let shadow = Shadow::new(&shape, d.rpaus, &model)?;
        model.restart(seed)?;
        let wires = Wires::new(&model)?;
        wires.rest(&mut model)?;
        model.set(ports.run, 0)?;
        model.reset()?;
        let mut machine = Self {
            shape,
            rpaus: d.rpaus,
            dispatch: d.pipeline.dispatch,
            model,
            ports,
            wires,
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

    /// Writes a limb into a slot, a residue a cycle.
    ///
    /// # Errors
    /// Those of the simulation.
    pub fn fill(&mut self, rpau: usize, slot: u8, limb: &[u64]) -> Result<(), RpauError> {
        self.model.set(self.ports.link_select, 1 << rpau)?;
        for (index, &residue) in (0..).zip(limb) {
            self.wires
                .residue(&mut self.model, Some((slot, index, residue)))?;
            self.step(0)?;
        }
        self.wires.residue(&mut self.model, None)?;
        self.step(0)?;
        self.step(0)
    }

    /// Writes a limb into a key slot.
    ///
    /// # Errors
    /// Those of the simulation.
    pub fn fill_key(&mut self, rpau: usize, slot: u8, limb: &[u64]) -> Result<(), RpauError> {
        self.model.set(self.ports.link_select, 1 << rpau)?;
        self.wires.key(&mut self.model, slot)?;
        self.step(0)?;
        for &residue in limb {
            self.wires.key_residue(&mut self.model, Some(residue))?;
            self.step(0)?;
        }
        self.wires.key_residue(&mut self.model, None)?;
        self.step(0)
    }

    /// Runs the procedure that is there until it is done.
    ///
    /// # Errors
    /// [`RpauError::NeverDone`] after so many cycles; those of the simulation.
    pub fn run(&mut self, most: u64) -> Result<Ended, RpauError> {
        self.start()?;
        for cycle in 0..most {
            if let Some(ended) = self.ended()? {
                self.step(cycle)?;
                return Ok(ended);
            }
            self.step(cycle)?;
        }
        Err(RpauError::NeverDone { cycles: most })
    }

    /// Runs the procedure that is there, `code`, beside what the model made of it: the board grants each word in its cycle, each
    /// has written its results when it retires, and the end comes in its cycle.
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
        let mut ends: Vec<&Lockstep> = words.iter().collect();
        ends.sort_by_key(|w| w.start + w.cycles);
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
            while let Some(w) = ends.next_if(|w| w.start + w.cycles + self.dispatch == cycle) {
                self.shadow.check(w, self.dispatch)?;
            }
            if let Some(end) = self.ended()? {
                ended = Some(end);
            }
            self.step(cycle)?;
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
        self.step(0)?;
        self.model.set(self.ports.run, 0)?;
        // Queues are filled ahead, with waits among the words.
        for _ in 0..100_000 {
            self.model.eval()?;
            if self.model.get(self.ports.running)? == 1 {
                return Ok(());
            }
            self.step(0)?;
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

    fn step(&mut self, cycle: u64) -> Result<(), RpauError> {
        self.model.eval()?;
        self.shadow.take(&self.model, cycle)?;
        self.model.step(1)?;
        Ok(self.model.eval()?)
    }

    pub fn rpaus(&self) -> usize {
        self.rpaus
    }
}
