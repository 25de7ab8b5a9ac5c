//! Drives `rm_polymul`: commands, streams with stalls, cycle counts.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use ringmill_hdl::{BuildOptions, Hdl, In, Model, Optimise, Out, Top};
use ringmill_machines::polymul::{ArrayOp, Shape, Tables};

/// Codes of `rm_polymul_pkg::code_e`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    Ok,
    Busy,
    NoTables,
    Unsupported,
    TooShort,
    TooLong,
    BadModulus,
    NotReduced,
}

impl Code {
    fn from(bits: u64) -> Self {
        use Code::*;
        [
            Ok,
            Busy,
            NoTables,
            Unsupported,
            TooShort,
            TooLong,
            BadModulus,
            NotReduced,
        ][bits as usize]
    }
}

/// Which unit is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    Array,
    Load,
    Unload,
}

/// A small generator: reproducible from its seed, which failing tests print.
#[derive(Clone)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        println!("seed {seed:#x}");
        Self(seed)
    }

    /// From `$RINGMILL_SEED`, or a new seed each run.
    pub fn fresh() -> Self {
        let given = std::env::var("RINGMILL_SEED").ok();
        let given =
            given.map(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap());
        Self::new(given.unwrap_or_else(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            now.as_nanos() as u64
        }))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    pub fn limb(&mut self, n: usize, q: u64) -> Vec<u64> {
        (0..n).map(|_| self.below(q)).collect()
    }
}

struct Ports {
    cmd_valid: In,
    cmd_op: In,
    cmd_set: In,
    cmd_buf: In,
    cmd_eval: In,
    cmd_log_n: In,
    cmd_three: In,
    rsp_valid: Out,
    rsp_code: Out,
    busy: Out,
    done: Out,
    load_code: Out,
    issue: Out,
    in_valid: In,
    in_ready: Out,
    in_data: In,
    in_last: In,
    out_valid: Out,
    out_ready: In,
    out_data: Out,
    out_last: Out,
}

/// One multiplier under test.
pub struct Bench {
    pub shape: Shape,
    model: Model,
    ports: Ports,
    /// Beats still to send, with their last bits; whether the first is on offer.
    input: VecDeque<(Vec<u32>, bool)>,
    offered: bool,
    /// Words that came out since the last beat with the last bit, and whole streams before.
    partial: Vec<u32>,
    pub output: VecDeque<Vec<u32>>,
    /// Done bits seen: unit, cycle.
    pub done: VecDeque<(Unit, u64)>,
    pub load_code: Code,
    /// For each cycle since the last array command, whether the array issued.
    pub issues: Vec<bool>,
    /// Stalls of both streams: never, or one cycle in two at random.
    pub stalls: Option<Rng>,
}

const OPS: [ArrayOp; 5] = [
    ArrayOp::Ntt,
    ArrayOp::Intt,
    ArrayOp::Mul,
    ArrayOp::Hpm,
    ArrayOp::Fpm,
];
const LOAD: u64 = 5;
const UNLOAD: u64 = 6;
const TABLES: u64 = 7;

/// Where a polynomial is, and in which form.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub set: u64,
    pub buf: u64,
    pub eval: bool,
}

pub fn place(set: u64, buf: u64, eval: bool) -> Place {
    Place { set, buf, eval }
}

pub fn hdl() -> Hdl {
    Hdl::find(std::path::Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap()
}

pub fn top(shape: Shape) -> Top {
    Top::new("rm_polymul")
        .int("Units", shape.units() as u64)
        .int("MaxLogN", u64::from(shape.max_log_n()))
        .int("Beat", shape.beat() as u64)
}

impl Bench {
    pub fn new(shape: Shape) -> Self {
        Self::of(&hdl(), shape, Optimise::Run)
    }

    /// Of other sources, perhaps.
    pub fn of(hdl: &Hdl, shape: Shape, optimise: Optimise) -> Self {
        let options = BuildOptions {
            optimise,
            waves: false,
        };
        // Tests that run side by side build a model once.
        static BUILDING: Mutex<()> = Mutex::new(());
        let mut model = {
            let _guard = BUILDING.lock().unwrap_or_else(|e| e.into_inner());
            hdl.model(&top(shape), options).unwrap()
        };
        let ports = ports(&model);
        model.set(ports.out_ready, 1).unwrap();
        model.reset().unwrap();
        Self {
            shape,
            model,
            ports,
            input: VecDeque::new(),
            offered: false,
            partial: Vec::new(),
            output: VecDeque::new(),
            done: VecDeque::new(),
            load_code: Code::Ok,
            issues: Vec::new(),
            stalls: None,
        }
    }

    pub fn cycle(&self) -> u64 {
        self.model.cycle()
    }

    fn stalled(&mut self) -> bool {
        self.stalls.as_mut().is_some_and(|r| r.next() & 1 == 1)
    }

    /// One cycle: drives the streams, steps, notes what was exchanged and which unit is done.
    pub fn tick(&mut self) {
        let p = &self.ports;
        let (ready_in, valid_out) = (
            self.model.get(p.in_ready).unwrap() == 1,
            self.model.get(p.out_valid).unwrap() == 1,
        );
        // A beat on offer stays.
        self.offered = self.offered || (!self.input.is_empty() && !self.stalled());
        let take = !self.stalled();
        let p = &self.ports;
        self.model.set(p.in_valid, u64::from(self.offered)).unwrap();
        if self.offered
            && let Some((data, last)) = self.input.front()
        {
            self.model.set_words(p.in_data, data).unwrap();
            self.model.set(p.in_last, u64::from(*last)).unwrap();
        }
        self.model.set(p.out_ready, u64::from(take)).unwrap();
        if valid_out && take {
            self.partial
                .extend(self.model.get_words(p.out_data).unwrap());
            if self.model.get(p.out_last).unwrap() == 1 {
                self.output.push_back(std::mem::take(&mut self.partial));
            }
        }
        self.model.step(1).unwrap();
        if self.offered && ready_in {
            self.input.pop_front();
            self.offered = false;
        }
        let done = self.model.get(p.done).unwrap();
        for (bit, unit) in [Unit::Array, Unit::Load, Unit::Unload]
            .into_iter()
            .enumerate()
        {
            if done >> bit & 1 == 1 {
                self.done.push_back((unit, self.model.cycle()));
            }
        }
        if done >> 1 & 1 == 1 {
            self.load_code = Code::from(self.model.get(p.load_code).unwrap());
        }
        self.issues.push(self.model.get(p.issue).unwrap() == 1);
    }

    /// Sends a command; what the machine answers.
    fn command(&mut self, op: u64, at: Place, log_n: u32, three: bool) -> Code {
        let p = &self.ports;
        for (port, value) in [
            (p.cmd_valid, 1),
            (p.cmd_op, op),
            (p.cmd_set, at.set),
            (p.cmd_buf, at.buf),
            (p.cmd_eval, u64::from(at.eval)),
            (p.cmd_log_n, u64::from(log_n)),
            (p.cmd_three, u64::from(three)),
        ] {
            self.model.set(port, value).unwrap();
        }
        if op < LOAD {
            self.issues = vec![false];
        }
        self.tick();
        let p = &self.ports;
        self.model.set(p.cmd_valid, 0).unwrap();
        assert_eq!(self.model.get(p.rsp_valid).unwrap(), 1);
        Code::from(self.model.get(p.rsp_code).unwrap())
    }

    pub fn start(&mut self, op: ArrayOp, set: u64, buf: u64) -> Code {
        let code = OPS.iter().position(|&o| o == op).unwrap() as u64;
        self.command(code, place(set, buf, false), 0, false)
    }

    /// Queues a stream of words, `last` with its last beat.
    pub fn send(&mut self, words: &[u32], last: bool) {
        let beats = words.chunks(self.shape.beat());
        let count = beats.len();
        self.input.extend(
            beats
                .enumerate()
                .map(|(i, b)| (b.to_vec(), last && i + 1 == count)),
        );
    }

    pub fn start_load(&mut self, at: Place) -> Code {
        self.command(LOAD, at, 0, false)
    }

    pub fn start_unload(&mut self, at: Place) -> Code {
        self.command(UNLOAD, at, 0, false)
    }

    pub fn start_tables(&mut self, log_n: u32, three: bool) -> Code {
        self.command(TABLES, place(0, 0, false), log_n, three)
    }

    /// Ticks until `unit` is done; the cycle.
    pub fn wait(&mut self, unit: Unit) -> u64 {
        for _ in 0..400_000 {
            if let Some(at) = self.done.iter().position(|d| d.0 == unit) {
                return self.done.remove(at).unwrap().1;
            }
            self.tick();
        }
        panic!("{unit:?} is never done");
    }

    /// Loads tables; cycles and code.
    pub fn tables(&mut self, tables: &Tables) -> (u64, Code) {
        self.send(&tables.words(self.shape), true);
        let begin = self.cycle();
        let code = self.start_tables(tables.degree().log_n(), tables.three());
        assert_eq!(code, Code::Ok);
        (self.wait(Unit::Load) - begin, self.load_code)
    }

    /// Loads a polynomial; cycles.
    pub fn load(&mut self, at: Place, limb: &[u64]) -> u64 {
        let words: Vec<u32> = limb.iter().map(|&x| x as u32).collect();
        self.send(&words, true);
        let begin = self.cycle();
        assert_eq!(self.start_load(at), Code::Ok);
        let end = self.wait(Unit::Load);
        assert_eq!(self.load_code, Code::Ok);
        end - begin
    }

    /// Unloads a polynomial; cycles and residues.
    pub fn unload(&mut self, at: Place) -> (u64, Vec<u64>) {
        let begin = self.cycle();
        assert_eq!(self.start_unload(at), Code::Ok);
        let end = self.wait(Unit::Unload);
        let words = self.output.pop_front().unwrap();
        (end - begin, words.into_iter().map(u64::from).collect())
    }

    /// Runs an array command; cycles.
    pub fn run(&mut self, op: ArrayOp, set: u64, buf: u64) -> u64 {
        let begin = self.cycle();
        assert_eq!(self.start(op, set, buf), Code::Ok);
        self.wait(Unit::Array) - begin
    }

    pub fn busy(&self) -> u64 {
        self.model.get(self.ports.busy).unwrap()
    }
}

fn ports(model: &Model) -> Ports {
    let input = |name| model.input(name).unwrap();
    let output = |name| model.output(name).unwrap();
    Ports {
        cmd_valid: input("cmd_valid_i"),
        cmd_op: input("cmd_op_i"),
        cmd_set: input("cmd_set_i"),
        cmd_buf: input("cmd_buf_i"),
        cmd_eval: input("cmd_eval_i"),
        cmd_log_n: input("cmd_log_n_i"),
        cmd_three: input("cmd_three_i"),
        rsp_valid: output("rsp_valid_o"),
        rsp_code: output("rsp_code_o"),
        busy: output("busy_o"),
        done: output("done_o"),
        load_code: output("load_code_o"),
        issue: output("issue_o"),
        in_valid: input("in_valid_i"),
        in_ready: output("in_ready_o"),
        in_data: input("in_data_i"),
        in_last: input("in_last_i"),
        out_valid: output("out_valid_o"),
        out_ready: input("out_ready_i"),
        out_data: output("out_data_o"),
        out_last: output("out_last_o"),
    }
}
