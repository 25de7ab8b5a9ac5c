// SPDX-License-Identifier: Apache-2.0
//! Tests of command arbitration: the RTL's answers to every command in every state are compared with rules that say
//! what a host expects.

use ringmill_hdl::polymul::Code;
use ringmill_hdl::{BuildOptions, Hdl, HdlError, Top};
use ringmill_machines::polymul::isa::{Opcode, request};

use crate::polymul::bench::hdl;

/// A polynomial's place: its set and its buffer in the set.
type Place = (usize, usize);

/// The work of the array: the set that it works on, and the slot of its tables.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Working {
    set: usize,
    slot: usize,
}

/// The work of the load unit: nothing, tables of a slot, or a polynomial.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Loading {
    Nothing,
    Tables(usize),
    Limb(Place),
}

#[derive(Clone, Copy, Debug)]
struct State {
    tables: [bool; 2],
    loaded: [[bool; 2]; 2],
    slot: [[usize; 2]; 2],
    array: Option<Working>,
    load: Loading,
    unload: Option<Place>,
}

impl State {
    /// Returns the state as the RTL's `state_t`, first field highest.
    fn bits(self) -> u64 {
        let bit = u64::from;
        let two = |low: u64, high: u64| low | high << 1;
        let four =
            |f: &dyn Fn(usize, usize) -> u64| two(f(0, 0), f(0, 1)) | two(f(1, 0), f(1, 1)) << 2;
        let (array, working) = (
            self.array.is_some(),
            self.array.unwrap_or(Working { set: 0, slot: 0 }),
        );
        let (loading, tables, (set, buf), slot) = match self.load {
            Loading::Nothing => (false, false, (0, 0), 0),
            Loading::Tables(slot) => (true, true, (0, 0), slot),
            Loading::Limb(place) => (true, false, place, 0),
        };
        let (out_set, out_buf) = self.unload.unwrap_or((0, 0));
        let fields = [
            (2, two(bit(self.tables[0]), bit(self.tables[1]))),
            (4, four(&|s, b| bit(self.loaded[s][b]))),
            (4, four(&|s, b| self.slot[s][b] as u64)),
            (1, bit(array)),
            (1, working.set as u64),
            (1, working.slot as u64),
            (1, bit(loading)),
            (1, bit(tables)),
            (1, set as u64),
            (1, buf as u64),
            (1, slot as u64),
            (1, bit(self.unload.is_some())),
            (1, out_set as u64),
            (1, out_buf as u64),
        ];
        fields
            .iter()
            .fold(0, |all, &(width, value)| all << width | value)
    }
}

/// Operation codes of commands.
const LOAD: u64 = Opcode::Load.bits();
const UNLOAD: u64 = Opcode::Unload.bits();
const TABLES: u64 = Opcode::Tables.bits();
const ABORT: u64 = Opcode::Abort.bits();
const TRANSFORMS: [u64; 2] = [Opcode::Ntt.bits(), Opcode::Intt.bits()];
const PAIRS: [u64; 5] = [
    Opcode::Mul.bits(),
    Opcode::Hpm.bits(),
    Opcode::Fpm.bits(),
    Opcode::Add.bits(),
    Opcode::Sub.bits(),
];

/// Returns the answer that a host expects for a command in this state.
fn expected(s: &State, op: u64, (set, buf): Place, slot: usize, log_n: u64) -> Code {
    let first_of = |needs: &[(bool, Code)]| {
        let failed = needs.iter().find(|(holds, _)| !holds);
        failed.map_or(Code::Ok, |(_, code)| *code)
    };
    let here = (set, buf);
    let array_elsewhere = s.array.is_none_or(|a| a.set != set);
    let under = |(s_, b): Place| s.slot[s_][b];
    let limb = |(s_, b): Place| s.loaded[s_][b];
    match op {
        TABLES => first_of(&[
            (s.load == Loading::Nothing, Code::Busy),
            (s.array.is_none_or(|a| a.slot != slot), Code::Busy),
            (
                s.unload.is_none_or(|place| under(place) != slot),
                Code::Busy,
            ),
            ((8..=12).contains(&log_n), Code::Unsupported),
        ]),
        LOAD => first_of(&[
            (s.load == Loading::Nothing, Code::Busy),
            (array_elsewhere, Code::Busy),
            (s.unload != Some(here), Code::Busy),
            (s.tables[slot], Code::NoTables),
        ]),
        UNLOAD => first_of(&[
            (s.unload.is_none(), Code::Busy),
            (array_elsewhere, Code::Busy),
            (s.load != Loading::Limb(here), Code::Busy),
            (s.tables[under(here)], Code::NoTables),
            (limb(here), Code::NoData),
        ]),
        ABORT => first_of(&[(s.load != Loading::Nothing, Code::Idle)]),
        op if TRANSFORMS.contains(&op) || PAIRS.contains(&op) => {
            let pair = PAIRS.contains(&op);
            let first = if pair { (set, 0) } else { here };
            let loading = matches!(s.load, Loading::Limb((on, _)) if on == set);
            first_of(&[
                (s.array.is_none(), Code::Busy),
                (!loading, Code::Busy),
                (s.unload.is_none_or(|(on, _)| on != set), Code::Busy),
                (s.tables[under(first)], Code::NoTables),
                (limb(first), Code::NoData),
                (!pair || limb((set, 1)), Code::NoData),
                (!pair || under((set, 1)) == under((set, 0)), Code::Mixed),
            ])
        }
        _ => Code::BadOp,
    }
}

/// Returns every combination of what the three units do and of what the memories hold. No state is left out because it
/// cannot be reached.
fn states() -> impl Iterator<Item = State> {
    let places = [(0, 0), (0, 1), (1, 0), (1, 1)];
    let arrays = [None]
        .into_iter()
        .chain(places.map(|(set, slot)| Some(Working { set, slot })));
    let loads = [Loading::Nothing, Loading::Tables(0), Loading::Tables(1)];
    let loads = loads.into_iter().chain(places.map(Loading::Limb));
    let unloads = [None].into_iter().chain(places.map(Some));
    let busy = arrays.flat_map(move |array| {
        let unloads = unloads.clone();
        loads
            .clone()
            .flat_map(move |load| unloads.clone().map(move |unload| (array, load, unload)))
    });
    busy.flat_map(|(array, load, unload)| {
        (0..1usize << 10).map(move |bits| {
            let bit = |at: usize| bits >> at & 1;
            State {
                tables: [bit(0) == 1, bit(1) == 1],
                loaded: [[bit(2) == 1, bit(3) == 1], [bit(4) == 1, bit(5) == 1]],
                slot: [[bit(6), bit(7)], [bit(8), bit(9)]],
                array,
                load,
                unload,
            }
        })
    })
}

/// Returns the commands to try: each operation code with each place and slot, and for tables a degree on each side of
/// each bound.
fn commands() -> impl Iterator<Item = (u64, Place, usize, u64)> {
    (0..16u64).flat_map(|op| {
        let degrees: &[u64] = if op == TABLES {
            &[0, 7, 8, 12, 13, 31]
        } else {
            &[8]
        };
        degrees.iter().flat_map(move |&log_n| {
            (0..8usize).map(move |bits| (op, (bits >> 2, bits >> 1 & 1), bits & 1, log_n))
        })
    })
}

/// Compares the RTL's answers with the rules, for the states whose number `take` picks. Returns the number of answers
/// compared, or the first difference.
pub fn check(hdl: &Hdl, take: impl Fn(usize) -> bool) -> Result<Result<u64, String>, HdlError> {
    let mut model = hdl.model(&Top::new("rm_polymul_rule"), BuildOptions::default())?;
    let (command_i, state_i) = (model.input("command_i")?, model.input("state_i")?);
    let (code_o, ok_o) = (model.output("code_o")?, model.output("ok_o")?);
    let mut compared = 0;
    for (op, (set, buf), slot, log_n) in commands() {
        let place = request::SET.put(set as u64) | request::BUFFER.put(buf as u64);
        let tables = request::SLOT.put(slot as u64) | request::LOG_N.put(log_n);
        model.set(command_i, request::OP.put(op) | place | tables)?;
        model.step(1)?;
        for (_, state) in states().enumerate().filter(|(at, _)| take(*at)) {
            model.set(state_i, state.bits())?;
            model.eval()?;
            let got = Code::from_bits(model.get(code_o)?);
            let want = expected(&state, op, (set, buf), slot, log_n);
            let ok = model.get(ok_o)? == 1;
            if got != Some(want) || ok != (want == Code::Ok) {
                return Ok(Err(format!(
                    "command {op} on {set}.{buf} slot {slot} log_n {log_n}: {got:?} ({ok}), not {want:?}, in {state:?}"
                )));
            }
            compared += 1;
        }
    }
    Ok(Ok(compared))
}

/// Every combination of busy units is tried, each with every thirty-first of the memories' contents.
#[test]
fn every_command_in_every_busy_state() {
    let compared = check(&hdl(), |at| at % 31 == 0).unwrap().unwrap();
    assert!(compared > 900_000, "{compared}");
}

#[test]
#[ignore = "thirty million answers; `make full` runs it"]
fn every_command_in_every_state() {
    let compared = check(&hdl(), |_| true).unwrap().unwrap();
    println!("{compared} answers are the host's");
    assert_eq!(compared, 168 * 175 * 1024);
}
