// SPDX-License-Identifier: Apache-2.0
//! Drives the whole ring machine at its pins. [`Machine::lockstep`] compares every start of an instruction word, every
//! result in polynomial memory, every transfer and the end of a procedure with the cycle model's.

use std::ops::Range;

use ringmill_machines::MachineError;
use ringmill_machines::ring::encode::{decode, encode};
use ringmill_machines::ring::isa::{Code, TableKind};
use ringmill_machines::ring::micro::{MicroCode, OpWord, Opcode, Operand, STREAMS, Word};
use ringmill_machines::ring::{Description, built};
use ringmill_math::RingKind;

use super::host::{Host, Link, NoHost, Wanted};
use super::replay::ModelsHost;
use super::rpau::LOAD;
use super::shadow::{Lockstep, Shadow};
use super::tables::Tables;
use super::twiddles::{HALVES, RINGS, Table, WHOLE, twiddles};
use super::wires::Wires;
use super::{RpauError, Shape};
use crate::{BuildOptions, Hdl, In, Model, Out, Top};

/// How a procedure ended on the RTL of the ring machine: its result code and its clock cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    /// The result code of the procedure, [`Code`] as a number; 0 is success. `stream` is the
    /// number of the instruction stream to which an error belongs.
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

/// A ring machine whose RTL runs in simulation, driven at its pins.
pub struct Machine {
    shape: Shape,
    shapes: Vec<Shape>,
    primes: Vec<u64>,
    description: Description,
    model: Model,
    ports: Ports,
    wires: Wires,
    link: Link,
    shadow: Shadow,
    /// For each RPAU, the prime modulo which instruction words of its first layer compute. The prime is given by its
    /// index in the RPAU's own list of primes. A layer is one of the primes that an RPAU serves at a time, with its
    /// limbs and twiddles.
    selected: Vec<usize>,
    /// log2 of the number of coefficients of a limb. The loaded twiddles are for this size.
    log_n: u32,
    /// Whether the twiddles of half rings are loaded. These are the two factors of degree N of a
    /// ring with 2N coefficients. The first procedure with instruction words on half rings loads
    /// them.
    has_halves: bool,
    /// Whether limbs and twiddles are written directly into the model's memories, instead of over the link and the
    /// `load_*` ports.
    open: bool,
}

/// Returns the RTL module `rm_ring` for a description and a program's primes. Of R RPAUs, RPAU r is built for primes r,
/// r + R, r + 2 R and so on of the program. It is also built for the primes of other RPAUs whose work the description's
/// field `stand_in` gives it. An RPAU without primes gets the program's first one. All lists get the length of the
/// longest: a shorter list repeats its first prime.
///
/// # Errors
/// [`RpauError::NoPrimes`] without primes; those of [`Shape::new`].
pub fn top(d: &Description, primes: &[u64]) -> Result<Top, RpauError> {
    let (shape, shapes) = shapes(d, primes)?;
    let top = shape
        .parameters(Top::new("rm_ring"))
        .int("Hop", d.ring.hop)
        .int("Crossing", d.ring.crossing)
        .int("Dies", d.ring.dies as u64)
        .int("Dispatch", d.pipeline.dispatch)
        .int("Controllers", d.controllers as u64)
        .int("Words", d.tables.words as u64)
        .int("Layers", shape.layers() as u64);
    let primes = shapes.iter().enumerate();
    Ok(primes.fold(top, |top, (r, shape)| {
        top.ints(format!("Q{r}"), shape.primes())
    }))
}

/// Returns the parameters of the first RPAU, and those of all RPAUs. All RPAUs get the same number of primes: the list
/// of an RPAU with fewer is filled with its first prime, and that of an RPAU without primes with the program's first.
pub(super) fn shapes(d: &Description, primes: &[u64]) -> Result<(Shape, Vec<Shape>), RpauError> {
    let first = *primes.first().ok_or(RpauError::NoPrimes)?;
    let list = |r: usize| {
        let own = primes.iter().skip(r).step_by(d.rpaus.max(1)).copied();
        let others = d.stand_in.iter().filter(|s| s.rpau == r);
        let others = others.filter_map(|s| primes.get(s.prime).copied());
        let mut list: Vec<u64> = own.chain(others).collect();
        if list.is_empty() {
            list.push(first);
        }
        list
    };
    let mut lists: Vec<Vec<u64>> = (0..d.rpaus).map(list).collect();
    let moduli = lists.iter().map(Vec::len).max().unwrap_or(0);
    for list in &mut lists {
        let again = list[0];
        list.resize(moduli, again);
    }
    // A prime that an RPAU serves as a stand-in adds no layer. Its tables take turns with those of the first layer's
    // prime.
    let layers = primes.len().div_ceil(d.rpaus.max(1));
    let shape = |list: &Vec<u64>| Ok::<_, MachineError>(Shape::new(d, list)?.of_layers(layers));
    let all: Vec<Shape> = lists.iter().map(shape).collect::<Result<_, _>>()?;
    Ok((*all.first().ok_or(RpauError::NoPrimes)?, all))
}

/// Returns the table word that sets log2 of the number of coefficients of a limb, for the `load_*`
/// ports of `rm_ring`.
fn size_word(log_n: u8) -> Table {
    Table {
        kind: TableKind::Size,
        table: 0,
        address: 0,
        word: log_n.into(),
    }
}

/// Returns the words that load a machine's twiddles for limbs of 2^`log_n` coefficients, and that set this size. The
/// first layer of each RPAU gets the twiddles of the RPAU's first prime. They are entries of the stream that the RTL
/// module `rm_ring_table` decodes.
///
/// # Errors
/// The errors of [`top`]; an error for a size that the RTL does not support, or for a prime without the roots of
/// unity.
pub fn size_entries(
    d: &Description,
    primes: &[u64],
    log_n: u8,
) -> Result<Vec<[u64; 2]>, RpauError> {
    built::check_size(d, log_n)?;
    let (_, shapes) = shapes(d, primes)?;
    let mut entries = vec![size_word(log_n).entry(0)];
    for (rpau, shape) in shapes.iter().enumerate() {
        let words = twiddles(shape, 0, log_n.into(), RINGS)?.into_iter();
        entries.extend(words.map(|word| word.entry(1 << rpau)));
    }
    Ok(entries)
}

/// Returns whether an encoded instruction word works on half rings. These are the two factors of
/// degree N of a ring with 2N coefficients.
fn is_of_halves(word: u64) -> bool {
    match decode(word) {
        Some(Word::Op(w)) => w.ring != RingKind::Full || w.op.is_pair(),
        Some(Word::End | Word::Wait { .. }) | None => false,
    }
}

/// Returns the instruction words of the machine's four instruction streams as table words for the
/// `load_*` ports of `rm_ring`.
fn program_words(streams: &[Vec<u64>; STREAMS]) -> impl Iterator<Item = Table> + '_ {
    (0..).zip(streams).flat_map(|(table, words)| {
        let words = (0..).zip(words);
        words.map(move |(address, &word)| Table {
            kind: TableKind::Program,
            table,
            address,
            word,
        })
    })
}

/// Returns the instruction words of the machine's four instruction streams as entries of the stream
/// that the RTL module `rm_ring_table` decodes.
pub fn program_entries(streams: &[Vec<u64>; STREAMS]) -> Vec<[u64; 2]> {
    program_words(streams).map(|word| word.entry(0)).collect()
}

impl Machine {
    /// Builds the machine's simulation model (unless the cache has it), resets it and loads the twiddles of the full
    /// ring. `seed` draws the random values with which registers and memories start.
    ///
    /// # Errors
    /// The errors of [`top`] and of the tools; an error for a prime without the roots of unity.
    pub fn new(
        hdl: &Hdl,
        d: &Description,
        primes: &[u64],
        options: BuildOptions,
        seed: u32,
    ) -> Result<Self, RpauError> {
        let top = top(d, primes)?;
        let (shape, shapes) = shapes(d, primes)?;
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
            selected: vec![0; shapes.len()],
            shapes,
            primes: primes.to_vec(),
            description: d.clone(),
            model,
            ports,
            wires,
            link,
            shadow,
            log_n: shape.log_n,
            has_halves: false,
            open: options.open,
        };
        machine.twiddles(WHOLE)?;
        Ok(machine)
    }

    fn twiddles(&mut self, rings: Range<u64>) -> Result<(), RpauError> {
        for rpau in 0..self.shapes.len() {
            self.twiddles_of(rpau, rings.clone())?;
        }
        Ok(self.wires.table(&mut self.model, None)?)
    }

    fn twiddles_of(&mut self, rpau: usize, rings: Range<u64>) -> Result<(), RpauError> {
        let (Some(&shape), Some(&selected)) = (self.shapes.get(rpau), self.selected.get(rpau))
        else {
            return Ok(());
        };
        for word in twiddles(&shape, selected, self.log_n, rings)? {
            if !self.open || !shape.poke_twiddle(&mut self.model, rpau, &word)? {
                self.table(1 << rpau, word)?;
            }
        }
        Ok(())
    }

    /// Sets the number of coefficients of a limb to 2^`log_n`, as a command of the host does. Loads the full ring's
    /// twiddles for this size in place of those for another. The next procedure on half rings loads those of half
    /// rings. Nothing happens if the machine has this size already.
    ///
    /// # Errors
    /// An error for a size that the RTL does not support, or for a prime without the roots of unity; errors of the
    /// simulation.
    pub fn size(&mut self, log_n: u8) -> Result<(), RpauError> {
        built::check_size(&self.description, log_n)?;
        if self.log_n == u32::from(log_n) {
            return Ok(());
        }
        self.log_n = log_n.into();
        self.table(0, size_word(log_n))?;
        self.has_halves = false;
        self.twiddles(WHOLE)
    }

    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the list of the program's primes for which the machine is built. [`Self::select`]
    /// takes indices into this list.
    pub fn primes(&self) -> &[u64] {
        &self.primes
    }

    fn table(&mut self, select: u64, word: Table) -> Result<(), RpauError> {
        self.model.set(self.ports.load_select, select)?;
        self.wires.table(&mut self.model, Some(word))?;
        Ok(self.model.step(1)?)
    }

    /// Sets for each RPAU the prime modulo which instruction words of its first layer compute, as a command of the host
    /// does. Entry r of `primes` is for RPAU r, an index in the program's list of primes; an index beyond that list
    /// leaves the RPAU as it is. If the prime changes, its twiddles replace those of the old one.
    ///
    /// # Errors
    /// [`RpauError::Unbuilt`] for a prime for which an RPAU is not built; errors of the simulation.
    pub fn select(&mut self, primes: &[u8]) -> Result<(), RpauError> {
        for (rpau, &number) in primes.iter().enumerate() {
            let prime = self.primes.get(usize::from(number));
            let built = self.shapes.get(rpau).map(Shape::primes);
            // No word uses a prime that the program does not have.
            let Some((prime, built)) = prime.zip(built) else {
                continue;
            };
            let place = built.iter().position(|q| q == prime);
            let place = place.ok_or(RpauError::Unbuilt {
                rpau,
                prime: *prime,
            })?;
            let word = Table {
                kind: TableKind::Prime,
                table: 0,
                address: 0,
                word: place as u64,
            };
            self.table(1 << rpau, word)?;
            // The layer's tables are those of its prime.
            if self.selected[rpau] != place {
                self.selected[rpau] = place;
                self.twiddles_of(rpau, WHOLE)?;
                if self.has_halves {
                    self.twiddles_of(rpau, HALVES)?;
                }
            }
        }
        Ok(self.wires.table(&mut self.model, None)?)
    }

    /// Loads the tables of a procedure and of one of its calls into one RPAU: constants, streams, seeds, Galois
    /// elements, keys.
    ///
    /// # Errors
    /// The errors of the simulation.
    pub fn tables(&mut self, rpau: usize, tables: &Tables<'_>) -> Result<(), RpauError> {
        for word in tables.words() {
            self.table(1 << rpau, word)?;
        }
        Ok(self.wires.table(&mut self.model, None)?)
    }

    /// Loads the instruction words of the machine's four instruction streams. The first procedure with words on half
    /// rings also loads the twiddles of half rings.
    ///
    /// # Errors
    /// The errors of the simulation.
    pub fn program(&mut self, streams: &[Vec<u64>; STREAMS]) -> Result<(), RpauError> {
        if !self.has_halves && streams.iter().flatten().any(|&word| is_of_halves(word)) {
            self.has_halves = true;
            self.twiddles(HALVES)?;
        }
        for word in program_words(streams) {
            self.table(0, word)?;
        }
        Ok(self.wires.table(&mut self.model, None)?)
    }

    /// Loads a limb into a memory slot of an RPAU, by a procedure with one `LOAD` that moves one residue in a cycle.
    /// That procedure replaces the loaded one. In a model with open memories the limb is written directly. The caller
    /// must then give a limb of the machine's native degree, because its length is not checked.
    ///
    /// # Errors
    /// [`RpauError::Ends`] if the machine refuses the limb; [`RpauError::NeverDone`] if it does not end; errors of the
    /// simulation.
    ///
    /// # Panics
    /// May panic if no RPAU has this number.
    pub fn fill(&mut self, rpau: usize, slot: u8, limb: &[u64]) -> Result<(), RpauError> {
        if self.open {
            return self.shapes[rpau].poke_slot(&mut self.model, rpau, slot.into(), limb);
        }
        let word = OpWord {
            mask: 1 << rpau,
            dst: slot,
            ..LOAD
        };
        self.transfer(word, limb).map(drop)
    }

    /// Loads a limb into a slot of an RPAU's key memory, as [`Self::fill`] does for other memory. Entry 0 of the RPAU's
    /// key table names the slot afterwards.
    ///
    /// # Errors
    /// The errors of [`Self::fill`].
    pub fn fill_key(&mut self, rpau: usize, slot: u8, limb: &[u64]) -> Result<(), RpauError> {
        let table = Tables {
            keys: vec![(0, slot)],
            ..Tables::default()
        };
        self.tables(rpau, &table)?;
        if self.open {
            return self.shapes[rpau].poke_key(&mut self.model, rpau, slot.into(), limb);
        }
        let word = OpWord {
            mask: 1 << rpau,
            b: Operand::Key(0),
            ..LOAD
        };
        self.transfer(word, limb).map(drop)
    }

    /// Returns the limb in a memory slot of an RPAU, read by a procedure with one `STORE`, which replaces the loaded
    /// procedure.
    ///
    /// # Errors
    /// The errors of [`Self::fill`].
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
        if ended.code != Code::Ok.bits() {
            return Err(RpauError::Ends {
                code: ended.code,
                stream: ended.stream,
                cycles: ended.cycles,
                expected: ended.cycles,
            });
        }
        Ok(host.0)
    }

    /// Runs the loaded procedure until it is done. `host` sends and receives the limbs that its
    /// `LOAD` and `STORE` words ask for.
    ///
    /// # Errors
    /// [`RpauError::NeverDone`] after `most` cycles, or if the scoreboard still does not run after 100,000 cycles;
    /// errors of the simulation. A procedure that the machine refuses is no error: [`Ended::code`] tells it.
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

    /// Runs the loaded procedure, and checks that it takes `cycles` cycles, as its model does.
    ///
    /// # Errors
    /// [`RpauError::Ends`] if the procedure takes another number of cycles or is refused; [`RpauError::NeverDone`] if
    /// it takes over 1000 cycles more; errors of the simulation.
    pub fn run_for(&mut self, host: &mut dyn Host, cycles: u64) -> Result<(), RpauError> {
        let ended = self.run(host, cycles + 1000)?;
        if (ended.code, ended.cycles) == (Code::Ok.bits(), cycles) {
            return Ok(());
        }
        Err(RpauError::Ends {
            code: ended.code,
            stream: ended.stream,
            cycles: ended.cycles,
            expected: cycles,
        })
    }

    /// Runs the procedure `code` on the RTL in lockstep with a run of the cycle model. That run has
    /// the instruction words `words` and takes `cycles` cycles. The following must hold:
    ///
    /// - The RTL's scoreboard starts each instruction word in the model's cycle.
    /// - When an instruction word retires, the memory slots of its results have the model's residues. Results in key
    ///   memory are not compared.
    /// - The host sends and receives the model's limbs.
    /// - The procedure ends in the model's cycle.
    ///
    /// # Errors
    /// An error with the first difference; errors of the simulation.
    pub fn lockstep(
        &mut self,
        code: &MicroCode,
        words: &[Lockstep],
        cycles: u64,
    ) -> Result<(), RpauError> {
        self.size(code.log_n)?;
        self.select(&code.primes)?;
        self.program(&code.streams)?;
        self.start()?;
        let mut host = ModelsHost::new(&self.description, code, words);
        let mut ends: Vec<&Lockstep> = words.iter().collect();
        // The cycle in which the last residue has landed; the board learns of a link word's end then.
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
                let starting = words.iter().filter(|w| w.start == cycle);
                let starting: Vec<String> =
                    starting.map(|w| Word::Op(w.word).to_string()).collect();
                let ended = self.ended()?.map_or(String::new(), |e| format!(", {e:?}"));
                return Err(RpauError::Grants {
                    cycle,
                    found: format!("{granted:04b}{ended}"),
                    expected: format!("{expected:04b} ({})", starting.join("; ")),
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
            code: Code::Ok.bits(),
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

    /// Starts the loaded procedure. Returns when the scoreboard runs, the unit that starts instruction words. The next
    /// cycle is the scoreboard's cycle 0.
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

/// A host that sends one given limb for any load, and keeps the limb that a store sends.
struct OneLimb(Vec<u64>);

impl Host for OneLimb {
    fn give(&mut self, _: Wanted) -> Vec<u64> {
        self.0.clone()
    }

    fn take(&mut self, _: Wanted, limb: Vec<u64>) {
        self.0 = limb;
    }
}
