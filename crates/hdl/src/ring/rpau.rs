// SPDX-License-Identifier: Apache-2.0
//! Drives one RPAU of the ring machine at its pins. Instruction words start in the cycle model's cycles. When they
//! retire, their writes must be the model's.

use ringmill_machines::MachineError;
use ringmill_machines::ring::encode::encode;
use ringmill_machines::ring::micro::{OpWord, Opcode, Operand, Unit, Word};
use ringmill_math::{MathError, RingKind};

use super::Shape;
use super::shadow::{Lockstep, Shadow};
use super::tables::Tables;
use super::twiddles::{RINGS, Table, twiddles};
use super::wires::Wires;
use crate::{BuildOptions, Hdl, HdlError, In, Model};

/// The reason for which an RPAU or the machine cannot be built, or differs from the model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RpauError {
    #[error("{word}, granted in cycle {start}: {what}")]
    Differs {
        word: String,
        start: u64,
        what: String,
    },
    #[error("the board grants {found} in cycle {cycle}, its model {expected}")]
    Grants {
        cycle: u64,
        found: String,
        expected: String,
    },
    #[error(
        "the machine ends with code {code} in stream {stream} after {cycles} cycles, its model after {expected}"
    )]
    Ends {
        code: u64,
        stream: u64,
        cycles: u64,
        expected: u64,
    },
    #[error("the host is asked for {found}, its model asks for {expected}")]
    Asked { found: String, expected: String },
    #[error("the host is sent another limb than its model's by {word}")]
    Sent { word: String },
    #[error("the machine is not done after {cycles} cycles: a fault in the RTL?")]
    NeverDone { cycles: u64 },
    #[error("a machine for no primes: give those of the program")]
    NoPrimes,
    #[error(
        "RPAU {rpau} is to work modulo {prime}, for which it is not built: name it in `stand_in`"
    )]
    Unbuilt { rpau: usize, prime: u64 },
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Prime(#[from] MathError),
    #[error(transparent)]
    Hdl(#[from] HdlError),
}

struct Ports {
    main_start: In,
    main_word: In,
    main_turns: In,
    dyadic_start: In,
    dyadic_word: In,
    log_n: In,
    ring_start: In,
    ring_word: In,
    ring_turns: In,
    ring_valid: In,
    place: In,
    link_start: In,
    link_word: In,
    link_valid: In,
    link_index: In,
    link_data: In,
}

/// An instruction word that loads a limb into slot 0 of RPAU 0.
pub(super) const LOAD: OpWord = OpWord {
    op: Opcode::Load,
    controller: 0,
    unit: Unit::Main,
    mask: 1,
    ring: RingKind::Full,
    layer: 0,
    dst: 0,
    a: 0,
    b: Operand::None,
    c: 0,
    imm: 0,
};

/// One RPAU of the ring machine whose RTL runs in simulation, driven at its pins.
pub struct Rpau {
    model: Model,
    ports: Ports,
    wires: Wires,
    shadow: Shadow,
    shape: Shape,
    log_n: u32,
    cycle: u64,
}

impl Rpau {
    /// Builds the RPAU's simulation model (unless the cache has it), resets it and loads its twiddle tables. `seed`
    /// draws the random values with which registers and memories start.
    ///
    /// # Errors
    /// The errors of the tools; an error for a prime without the roots of unity.
    pub fn new(
        hdl: &Hdl,
        shape: Shape,
        options: BuildOptions,
        seed: u32,
    ) -> Result<Self, RpauError> {
        let mut model = super::built(hdl, &shape.top(), options)?;
        let ports = Ports {
            main_start: model.input("main_start_i")?,
            main_word: model.input("main_word_i")?,
            main_turns: model.input("main_turns_i")?,
            dyadic_start: model.input("dyadic_start_i")?,
            dyadic_word: model.input("dyadic_word_i")?,
            log_n: model.input("log_n_i")?,
            ring_start: model.input("ring_start_i")?,
            ring_word: model.input("ring_word_i")?,
            ring_turns: model.input("ring_turns_i")?,
            ring_valid: model.input("ring_valid_i")?,
            place: model.input("place_i")?,
            link_start: model.input("link_start_i")?,
            link_word: model.input("link_word_i")?,
            link_valid: model.input("link_valid_i")?,
            link_index: model.input("link_index_i")?,
            link_data: model.input("link_data_i")?,
        };
        let shadow = Shadow::new(&shape, 1, &model)?;
        model.restart(seed)?;
        for port in [
            ports.main_start,
            ports.dyadic_start,
            ports.ring_start,
            ports.ring_valid,
            ports.place,
            ports.link_start,
            ports.link_valid,
        ] {
            model.set(port, 0)?;
        }
        model.set(ports.log_n, shape.log_n.into())?;
        let wires = Wires::new(&model)?;
        wires.table(&mut model, None)?;
        model.reset()?;
        let mut rpau = Self {
            model,
            ports,
            wires,
            shadow,
            shape,
            log_n: shape.log_n,
            cycle: 0,
        };
        rpau.twiddles()?;
        Ok(rpau)
    }

    fn twiddles(&mut self) -> Result<(), RpauError> {
        for word in twiddles(&self.shape, 0, self.log_n, RINGS)? {
            self.table(word)?;
        }
        Ok(self.wires.table(&mut self.model, None)?)
    }

    /// Sets the size of limbs to 2^`log_n` coefficients, and loads the twiddles of that size.
    ///
    /// # Errors
    /// The errors of the simulation; an error for a prime without the roots of unity.
    pub fn size(&mut self, log_n: u8) -> Result<(), RpauError> {
        if self.log_n != u32::from(log_n) {
            self.log_n = log_n.into();
            self.model.set(self.ports.log_n, log_n.into())?;
            self.twiddles()?;
        }
        Ok(())
    }

    /// Writes one table word, such as a twiddle or a constant, into the RPAU over its `load_*`
    /// ports.
    ///
    /// # Errors
    /// The errors of the simulation.
    fn table(&mut self, word: Table) -> Result<(), RpauError> {
        self.wires.table(&mut self.model, Some(word))?;
        Ok(self.model.step(1)?)
    }

    /// Writes this RPAU's tables of a procedure and of one of its calls, over the RPAU's `load_*`
    /// ports.
    ///
    /// # Errors
    /// The errors of the simulation.
    pub fn tables(&mut self, tables: &Tables<'_>) -> Result<(), RpauError> {
        for word in tables.words() {
            self.table(word)?;
        }
        Ok(self.wires.table(&mut self.model, None)?)
    }

    /// Writes a limb into a slot of the RPAU's key memory, over the pins of the host link. Entry 0 of the RPAU's key
    /// table names the slot afterwards.
    ///
    /// # Errors
    /// The errors of the simulation.
    pub fn fill_key(&mut self, slot: u8, limb: &[u64]) -> Result<(), RpauError> {
        self.tables(&Tables {
            keys: vec![(0, slot)],
            ..Tables::default()
        })?;
        let word = OpWord {
            b: Operand::Key(0),
            ..LOAD
        };
        self.load(word, limb)
    }

    /// Writes a limb into a memory slot of the RPAU, over the pins of the host link, one residue in
    /// a cycle.
    ///
    /// # Errors
    /// The errors of the simulation.
    pub fn fill(&mut self, slot: u8, limb: &[u64]) -> Result<(), RpauError> {
        self.load(OpWord { dst: slot, ..LOAD }, limb)
    }

    fn load(&mut self, word: OpWord, limb: &[u64]) -> Result<(), RpauError> {
        self.model.set(self.ports.link_start, 1)?;
        self.model
            .set(self.ports.link_word, encode(&Word::Op(word)))?;
        self.step()?;
        self.model.set(self.ports.link_start, 0)?;
        // In these two cycles the RPAU looks up the slot of a key limb.
        for _ in 0..2 {
            self.step()?;
        }
        for (index, &residue) in (0..).zip(limb) {
            self.residue(Some((index, residue)))?;
            self.step()?;
        }
        self.residue(None)?;
        // In these two cycles the last residue passes the stages before the memory.
        for _ in 0..2 {
            self.step()?;
        }
        Ok(())
    }

    /// Puts one residue of a limb that is loaded, with its index in the limb, on the pins of the
    /// host link. `None` clears the pins.
    fn residue(&mut self, residue: Option<(u64, u64)>) -> Result<(), RpauError> {
        let p = &self.ports;
        self.model.set(p.link_valid, u64::from(residue.is_some()))?;
        let Some((index, data)) = residue else {
            return Ok(());
        };
        self.model.set(p.link_index, index)?;
        Ok(self.model.set(p.link_data, data)?)
    }

    /// Runs instruction words on the RPAU in the model's cycles, from cycle 0 on. When a word ends, its results must be
    /// in their memory slots. The last residue must land there in the word's last cycle, the cycle after its write. The
    /// last residue of a word of the dyadic cores may land earlier. Results in key memory are not checked.
    ///
    /// # Errors
    /// [`RpauError::Differs`] for a wrong or late result; errors of the simulation.
    pub fn run(&mut self, words: &[Lockstep]) -> Result<(), RpauError> {
        self.cycle = 0;
        let end = words.iter().map(|w| w.start + w.cycles).max().unwrap_or(0);
        let mut starts: Vec<&Lockstep> = words.iter().collect();
        starts.sort_by_key(|w| w.start);
        let mut ends = starts.clone();
        ends.sort_by_key(|w| w.start + w.cycles);
        let (mut starts, mut ends) = (starts.into_iter().peekable(), ends.into_iter().peekable());
        let mut loading: Option<&Lockstep> = None;
        while self.cycle <= end {
            while let Some(w) = ends.next_if(|w| w.start + w.cycles == self.cycle) {
                self.shadow.check(w, 0)?;
            }
            let p = &self.ports;
            for port in [p.main_start, p.dyadic_start, p.ring_start, p.link_start] {
                self.model.set(port, 0)?;
            }
            while let Some(w) = starts.next_if(|w| w.start == self.cycle) {
                if w.word.op == Opcode::Load {
                    loading = Some(w);
                }
                self.grant(w)?;
            }
            let residue = loading.and_then(|w| self.comes(w));
            self.residue(residue)?;
            self.step()?;
        }
        Ok(())
    }

    fn grant(&mut self, w: &Lockstep) -> Result<(), RpauError> {
        let p = &self.ports;
        let bits = encode(&Word::Op(w.word));
        if w.word.op == Opcode::Load {
            self.model.set(p.link_start, 1)?;
            self.model.set(p.link_word, bits)?;
        } else if !w.word.on_cores() {
            self.model.set(p.ring_start, 1)?;
            self.model.set(p.ring_word, bits)?;
            self.model.set(p.ring_turns, w.turns)?;
        } else if w.word.unit == Unit::Main {
            self.model.set(p.main_start, 1)?;
            self.model.set(p.main_word, bits)?;
            self.model.set(p.main_turns, w.turns)?;
        } else {
            self.model.set(p.dyadic_start, 1)?;
            self.model.set(p.dyadic_word, bits)?;
        }
        Ok(())
    }

    /// Returns the residue of the load `w` that arrives over the host link in this cycle, with its
    /// index in the limb. Returns `None` if none arrives. The last residue is written in the load's
    /// last cycle.
    fn comes(&self, w: &Lockstep) -> Option<(u64, u64)> {
        let (_, limb) = w.results.first()?;
        let last = w.start + w.cycles - 3;
        let n = limb.len() as u64;
        // The stages of dispatch, issue and address come before the first residue.
        let spread = (w.cycles - 9).max(n);
        let index = (0..n).find(|i| last - (n - 1 - i) * spread / n == self.cycle)?;
        Some((index, limb[index as usize]))
    }

    /// Runs one cycle of the RPAU, and records the residues that it writes. They are in memory in
    /// the next cycle.
    fn step(&mut self) -> Result<(), RpauError> {
        self.model.eval()?;
        self.shadow.take(&self.model, self.cycle)?;
        self.model.step(1)?;
        self.cycle += 1;
        Ok(())
    }
}
