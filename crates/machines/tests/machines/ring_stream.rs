// SPDX-License-Identifier: Apache-2.0
//! Tests programs that are streamed to the ring machine: nested blocks that repeat many times, as in bootstrapping.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use crate::common::{description, params};
use ringmill_isa::Level;
use ringmill_isa::mid::pack::{Loose, pack};
use ringmill_isa::mid::walk::Held;
use ringmill_isa::mid::{
    Action, Block, Form, HeadInput, HeadOutput, InputRole, LimbType, ModulusId, Operand, ParamRole,
    Program, Step, TableModulus, Unrolled, ValueType, Verified, stats,
};
use ringmill_isa::{Galois, Poly};
use ringmill_machines::ring::RingUse;
use ringmill_machines::ring::program::{Outcome, Running, Told, Totals};
use ringmill_machines::ring::{Description, RingMachine};
use ringmill_machines::{Machine, MachineError, SimOptions};
use ringmill_schemes::ckks::params::Params;
use ringmill_schemes::ckks::{OpKey, ProcCache};

/// A builder of programs of blocks and repeats.
struct Writer {
    params: Arc<Params>,
    cache: ProcCache,
    program: Program,
    procs: HashMap<String, u32>,
    keys: HashMap<(u32, u16, u16, u16), u32>,
}

impl Writer {
    fn new(params: &Arc<Params>) -> Self {
        Self {
            params: Arc::clone(params),
            cache: ProcCache::new(Arc::clone(params)),
            program: Program::empty(params.log_n(), TableModulus::primes(params.moduli())),
            procs: HashMap::new(),
            keys: HashMap::new(),
        }
    }

    fn ty(&self, modulus: usize) -> ValueType {
        ValueType::Limb(LimbType {
            ring: self.params.ring(),
            modulus: ModulusId(modulus as u16),
            form: Form::Eval,
        })
    }

    fn input(&mut self, ty: ValueType, role: InputRole) -> u32 {
        let name = format!("in{}", self.program.inputs.len());
        self.program.inputs.push(HeadInput { ty, name, role });
        self.program.inputs.len() as u32 - 1
    }

    /// Returns a step that applies an operation to ciphertexts with the evaluation key `which`. Its results get numbers
    /// from `made` on, which is moved behind them.
    fn step(&mut self, op: &OpKey, operands: &[&[Held]], which: u32, made: &mut u32) -> Loose {
        let limbs = op.level().primes();
        let procedure = self.cache.get(op).unwrap();
        let next = self.program.procs.len() as u32;
        let proc = *self.procs.entry(procedure.name.clone()).or_insert(next);
        if proc == next {
            self.program.procs.push(Arc::clone(&procedure));
        }
        let mut args = Vec::new();
        for (param, ty) in procedure.params.iter().zip(procedure.param_types()) {
            let modulus = ty.modulus().unwrap().0;
            args.push(match param.role {
                ParamRole::Cipher { arg, poly } => {
                    operands[usize::from(arg)][poly.index() * limbs + usize::from(modulus)]
                }
                ParamRole::Plain { .. } | ParamRole::Exponent { .. } => {
                    unreachable!("not in these tests")
                }
                ParamRole::Key { digit, part, .. } => {
                    let id = (which, digit, part, modulus);
                    let known = self.keys.get(&id).copied();
                    let input = known.unwrap_or_else(|| {
                        let key = which;
                        self.input(ty, InputRole::Key { key, digit, part })
                    });
                    self.keys.insert(id, input);
                    Held::Input(input)
                }
            });
        }
        let seeds = procedure.seeds.iter().map(|_| {
            let seeds = &mut self.program.seeds;
            let known = seeds.iter().position(|&s| s == which);
            known.unwrap_or_else(|| {
                seeds.push(which);
                seeds.len() - 1
            }) as u32
        });
        let seeds = seeds.collect();
        let first = *made;
        *made += procedure.results.len() as u32;
        Loose {
            action: Action::Call { proc },
            args,
            seeds,
            immediates: Vec::new(),
            results: (first..*made).collect(),
            loc: None,
        }
    }

    /// Adds a block that squares a ciphertext and then adds `rotations` rotations of the running sum, each by another
    /// Galois element. Returns the block's index.
    fn inner(&mut self, level: Level, rotations: u32) -> u32 {
        let count = 2 * level.primes() as u32;
        let cipher = |from: u32| -> Vec<Held> { (from..from + count).map(Held::Made).collect() };
        let (mut made, mut steps) = (count, Vec::new());
        let mut x = cipher(0);
        let square = OpKey::square_relin(level, true);
        steps.push(self.step(&square, &[&x], 0, &mut made));
        x = cipher(made - count);
        let mut galois = 1u32;
        for which in 1..=rotations {
            galois = galois * 3 % (2 << self.params.log_n());
            let key = OpKey::rotate(level, Galois(galois), true);
            steps.push(self.step(&key, &[&x], which, &mut made));
            let turned = cipher(made - count);
            let add = OpKey::add(level, 2, 2);
            steps.push(self.step(&add, &[&x, &turned], 0, &mut made));
            x = cipher(made - count);
        }
        self.block(&format!("inner{}", level.0), level, made, steps, &x)
    }

    fn block(
        &mut self,
        name: &str,
        level: Level,
        made: u32,
        steps: Vec<Loose>,
        kept: &[Held],
    ) -> u32 {
        let primes = level.primes();
        let params: Vec<_> = (0..2 * primes).map(|at| self.ty(at % primes)).collect();
        let (steps, results) = pack(params.len() as u32, made as usize, steps, kept);
        let name = name.to_owned();
        self.program.blocks.push(Block {
            name,
            params,
            steps,
            results,
        });
        self.program.blocks.len() as u32 - 1
    }

    /// Adds a block that repeats the block `block` `count` times. Returns its index.
    fn outer(&mut self, level: Level, block: u32, count: u64) -> u32 {
        let limbs = 2 * level.primes() as u32;
        let step = Loose {
            action: Action::Repeat { block, count },
            args: (0..limbs).map(Held::Made).collect(),
            seeds: Vec::new(),
            immediates: Vec::new(),
            results: (limbs..2 * limbs).collect(),
            loc: None,
        };
        let kept: Vec<_> = (limbs..2 * limbs).map(Held::Made).collect();
        let name = format!("outer{}", level.0);
        self.block(&name, level, 2 * limbs, vec![step], &kept)
    }

    /// Adds a block that applies one operation, and returns its index.
    fn single(&mut self, op: &OpKey) -> u32 {
        let limbs = 2 * op.level().primes() as u32;
        let x: Vec<Held> = (0..limbs).map(Held::Made).collect();
        let mut made = limbs;
        let step = self.step(op, &[&x, &x], 1, &mut made);
        let kept: Vec<_> = (limbs..made).map(Held::Made).collect();
        self.block("single", op.level(), made, vec![step], &kept)
    }

    /// Returns a step of the program that repeats the block `block` `count` times on an encrypted input of its own.
    fn repeat(&mut self, level: Level, block: u32, count: u64, made: &mut u32) -> Loose {
        let mut args = Vec::new();
        for poly in [Poly(0), Poly(1)] {
            for modulus in 0..level.primes() {
                let (input, ty) = (level.0, self.ty(modulus));
                args.push(Held::Input(
                    self.input(ty, InputRole::Cipher { input, poly }),
                ));
            }
        }
        let first = *made;
        *made += args.len() as u32;
        Loose {
            action: Action::Repeat { block, count },
            args,
            seeds: Vec::new(),
            immediates: Vec::new(),
            results: (first..*made).collect(),
            loc: None,
        }
    }

    /// Completes the program with these steps, one for each level from `level` on. All their results are outputs.
    fn finish(mut self, level: Level, steps: Vec<Loose>) -> Verified {
        let levels = (level.0..).map(Level).zip(&steps);
        let outputs: Vec<_> = levels
            .flat_map(|(level, step)| {
                let primes = level.primes() as u32;
                let poly = move |at: u32| Poly((at / primes) as u16);
                let results = (0..).zip(&step.results);
                results.map(move |(at, &made)| (Held::Made(made), level.0, poly(at)))
            })
            .collect();
        let kept: Vec<_> = outputs.iter().map(|o| o.0).collect();
        let (steps, from): (Vec<Step>, Vec<Operand>) = pack(0, kept.len(), steps, &kept);
        self.program.steps = steps;
        let outputs = outputs.iter().zip(from).zip(0..);
        let outputs = outputs.map(|((&(_, output, poly), from), number)| HeadOutput {
            from,
            name: format!("out{number}"),
            output,
            poly,
        });
        self.program.outputs = outputs.collect();
        Verified::new(self.program).unwrap()
    }
}

/// Makes a program with one ciphertext at every level. The ciphertext goes `outer` times through a block that repeats a
/// block of squares and rotations `inner` times.
fn long(params: &Arc<Params>, rotations: u32, inner: u64, outer: u64) -> Verified {
    let mut w = Writer::new(params);
    let (mut steps, mut made) = (Vec::new(), 0u32);
    for level in (0..=params.max_level().0).map(Level) {
        let block = w.inner(level, rotations);
        let block = w.outer(level, block, inner);
        steps.push(w.repeat(level, block, outer, &mut made));
    }
    w.finish(Level(0), steps)
}

/// A program of repeats takes the same cycles and transfers as the program written out call by call. It has more calls
/// than the machine knows ahead. One machine has room for all values, the other does not.
#[test]
fn repeats_cost_what_they_cost_written_out() {
    let parameters = params(8, 2, 1);
    let program = long(&parameters, 3, 40, 15);
    let calls = stats::calls(&program);
    assert!(calls > 10_000, "{calls}");
    let written = Unrolled::of(&program, calls as usize).unwrap();
    let written = Verified::try_from(written).unwrap();
    for slots in [8, 32] {
        let mut d = description(8, 3, 4, false);
        d.memory[0].slots = slots - 5;
        let machine = RingMachine::new(d).unwrap();
        let simulate = |program| machine.simulate(program, SimOptions::default()).unwrap();
        let (pulled, flat) = (simulate(&program), simulate(&written));
        assert_eq!(pulled, flat, "{slots} slots");
        assert_eq!(pulled.calls, calls);
        let limb = 8 << 8;
        assert_eq!(pulled.link.bytes_in, (2 + 4 + 6) * limb);
        assert_eq!(pulled.link.bytes_out, (2 + 4 + 6) * limb);
    }
}

/// Each repetition takes the same cycles, however far the end of the program is.
#[test]
fn cycles_do_not_hang_on_what_is_in_sight() {
    let parameters = params(8, 1, 1);
    let machine = RingMachine::new(description(8, 3, 4, false)).unwrap();
    let cycles = |outer| {
        let program = long(&parameters, 2, 10, outer);
        let report = machine.simulate(&program, SimOptions::default()).unwrap();
        assert_eq!(report.own::<RingUse>().unwrap().spills.bytes, 0);
        report.cycles
    };
    let (few, more, many) = (cycles(10), cycles(20), cycles(200));
    assert_eq!(many - more, 18 * (more - few));
}

/// The number of schedules that a run has made.
#[derive(Default)]
struct Schedules(u64);

impl Told for Schedules {
    fn schedule(&mut self, _: &Outcome) -> Result<(), MachineError> {
        self.0 += 1;
        Ok(())
    }
}

/// Runs a program without data. Returns its totals, the number of schedules that were made, and the seconds of
/// processor time.
fn timed(d: &Description, program: &Verified) -> (Totals, u64, f64) {
    let begin = processor();
    let mut told = Schedules::default();
    let mut running = Running::new(d, program.head(), SimOptions::default());
    let mut stream = program.stream();
    while let Some(called) = stream.next_call().unwrap() {
        running.feed(called, &mut told).unwrap();
    }
    let totals = running.finish(stream.outputs().unwrap(), &mut told);
    (totals.unwrap(), told.0, processor() - begin)
}

/// A later call of a procedure in the same state takes the same cycles as the first call. The simulator needs at most a
/// hundredth of the first call's time for it, on a small machine and on the paper's.
#[test]
#[ignore = "measures time; `make full` runs it"]
fn a_call_that_was_seen_costs_a_look_up() {
    let toy = (description(8, 3, 4, false), params(8, 2, 1));
    let medha = Description::parse(Description::MEDHA).unwrap();
    for (d, parameters) in [toy, (medha, Params::named("set1").unwrap())] {
        let level = parameters.max_level();
        for op in [
            OpKey::add(level, 2, 2),
            OpKey::square_relin(level, true),
            OpKey::rotate(level, Galois(3), true),
        ] {
            let of = |count| {
                let mut w = Writer::new(&parameters);
                let block = w.single(&op);
                let mut made = 0;
                let step = w.repeat(level, block, count, &mut made);
                w.finish(level, vec![step])
            };
            // The least time of five runs counts, because other processes may run at the same time. For the first call
            // alone it is wall time, since the clock of processor time is too coarse. For a long run it is processor
            // time.
            let least = |count| {
                let program = of(count);
                let runs = (0..5).map(|_| {
                    let begin = Instant::now();
                    let (totals, schedules, processor) = timed(&d, &program);
                    let wall = begin.elapsed().as_secs_f64();
                    let seconds = if count == 1 { wall } else { processor };
                    (seconds, totals, schedules)
                });
                runs.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
            };
            let (search, one, first) = least(1);
            let ((before, few, made), (after, many, again)) = (least(20_000), least(100_000));
            assert!(first > 0 && made == again, "{first} {made} {again}");
            let (more, _, _) = timed(&d, &of(40_000));
            assert_eq!(
                many.cycles - few.cycles,
                4 * (more.cycles - few.cycles),
                "a turn costs what it cost"
            );
            let look_up = (after - before) / 80_000.0;
            let name = one.procedures.keys().next().unwrap();
            println!(
                "2^{}, {name}: {:.2} ms the first time, {:.2} us again, {:.0} times as fast; {made} schedules",
                d.log_n,
                1e3 * search,
                1e6 * look_up,
                search / look_up
            );
            assert!(search >= 100.0 * look_up, "{search} {look_up}");
        }
    }
}

/// Returns the seconds of processor time that this thread has taken.
fn processor() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanoseconds = text.split_whitespace().next().unwrap();
    nanoseconds.parse::<u64>().unwrap() as f64 * 1e-9
}

/// Returns the most bytes of memory that this process has had resident.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.unwrap().split_whitespace().nth(1).unwrap();
    kib.parse::<u64>().unwrap() << 10
}

/// Streams a program of the size of one application in the BASALISC paper.
#[test]
#[ignore = "some minutes; `make full` runs it"]
fn eight_hundred_and_fifty_million_instructions_stream() {
    const INSTRUCTIONS: u64 = 850_000_000;
    let parameters = Params::named("set1").unwrap();
    let of = |outer| long(&parameters, 40, 25, outer);
    let once: u64 = stats::program_counts(&of(1)).values().sum();
    let program = of(INSTRUCTIONS.div_ceil(once));
    let sizes: Vec<u64> = program
        .bound_procs()
        .iter()
        .map(|p| p.instrs.len() as u64)
        .collect();
    let begin = processor();
    let again = Verified::new(program.program().clone()).unwrap();
    let mut stream = again.stream();
    let (mut calls, mut instructions) = (0u64, 0u64);
    while let Some(called) = stream.next_call().unwrap() {
        calls += 1;
        instructions += sizes[called.call.proc as usize];
    }
    let seconds = processor() - begin;
    let whole: u64 = stats::program_counts(&program).values().sum();
    assert_eq!((calls, instructions), (stats::calls(&program), whole));
    assert!(instructions >= INSTRUCTIONS);
    println!(
        "{} procedures, {calls} calls, {instructions} instructions verified and counted in {seconds:.1} s of processor \
         time: {:.1} M a second, peak {} MiB",
        sizes.len(),
        instructions as f64 / seconds / 1e6,
        peak() >> 20
    );
    assert!(peak() < 1 << 30);
    let d = Description::parse(Description::MEDHA).unwrap();
    let begin = Instant::now();
    let (totals, schedules, seconds) = timed(&d, &program);
    assert_eq!(totals.calls, calls);
    println!(
        "timed on {}: {} cycles in {seconds:.1} s of processor time, {:.1} s in all, {schedules} schedules, peak {} MiB",
        d.name,
        totals.cycles,
        begin.elapsed().as_secs_f64(),
        peak() >> 20
    );
    // Memory has the known calls of the program and the schedules, and not the whole program.
    assert!(peak() < 1 << 30);
}
