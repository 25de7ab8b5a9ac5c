// SPDX-License-Identifier: Apache-2.0
//! Tests cards with several co-processors. The bits are the CPU's, residues go from one co-processor to another without
//! the link, and the bytes on the link are counted in a second way.

use std::collections::{HashMap, HashSet};

use crate::common::random::case;
use crate::common::{bind, ready, unmeasured};
use ringmill_device::progress::Silent;
use ringmill_device::report::MachineReport;
use ringmill_device::{Bindings, Device, Request};
use ringmill_isa::Poly;
use ringmill_isa::mid::{
    Form, Head, Imm, LimbId, LimbType, ModulusId, Op, ParamRole, ProcBuilder, Procedure, Program,
    ValueId, Verified,
};
use ringmill_isa::{Limit, Target};
use ringmill_machines::coprocessor::OffloadUse;
use ringmill_machines::coprocessor::{
    Accepted, Card, CardDescription, Claim, Coprocessor, Crosses, Keep, Resident, Schedule, Step,
    Stream,
};
use ringmill_machines::fpga::{Needs, Part, Unit};
use ringmill_machines::polymul::PolymulMachine;
use ringmill_machines::{HostLink, Machine, MachineError, Registry, SimOptions};
use ringmill_math::primes::ntt_primes;
use ringmill_math::{Ring, RingKind};
use ringmill_sim::{Offload, open};

/// A co-processor that adds and subtracts limbs of 32 bits, four residues a cycle, and keeps nothing.
struct Sums(HostLink);

fn sums() -> Box<Sums> {
    Box::new(Sums(HostLink {
        gbit_per_second: 24.0,
    }))
}

struct SumsOpened {
    narrow: Vec<bool>,
    cycles: u64,
    bytes: u64,
}

impl Coprocessor for Sums {
    fn kind(&self) -> &'static str {
        "sums"
    }

    fn name(&self) -> &str {
        "sums"
    }

    fn clock_mhz(&self) -> f64 {
        150.0
    }

    fn link(&self) -> &HostLink {
        &self.0
    }

    fn stream(&self) -> Stream {
        Stream {
            residue_bits: 32,
            beat: 4,
        }
    }

    fn needs(&self) -> Result<Needs, MachineError> {
        let unit = Unit {
            name: "adder",
            count: 4,
            needs: Vec::new(),
        };
        Ok(Needs {
            machine: "sums".to_owned(),
            part: Part::named("XC7VX485T")?,
            unit,
            shared: Vec::new(),
        })
    }

    fn allowed(&self) -> Option<&str> {
        None
    }

    fn lanes(&self) -> &'static [&'static str] {
        &["adder", "port"]
    }

    fn target(&self) -> Target {
        let field = "beat";
        Target {
            machine: "sums".to_owned(),
            log_n: Limit { field, is: 4..=16 },
            modulus_bits: Limit { field, is: 32 },
            friendly_bits: Limit { field, is: 0 },
            moduli: Limit {
                field,
                is: usize::MAX,
            },
            extends_modulo_primes: false,
            primes_alone: Limit {
                field: "kind",
                is: false,
            },
            runs_whole: Limit {
                field: "kind",
                is: false,
            },
            expands_seeds: true,
            explicit: false,
            engine: None,
        }
    }

    fn accept(&self, head: &Head<'_>) -> Result<Box<dyn Accepted>, MachineError> {
        let narrow = |q: &ringmill_isa::mid::TableModulus| q.prime().is_some_and(|q| q >> 32 == 0);
        let narrow: Vec<bool> = head.moduli.iter().map(narrow).collect();
        if !narrow.contains(&true) {
            return Err(MachineError::Program("no narrow modulus".to_owned()));
        }
        Ok(Box::new(SumsOpened {
            narrow,
            cycles: (1 << head.log_n) / 4,
            bytes: 4 << head.log_n,
        }))
    }
}

impl Accepted for SumsOpened {
    fn claims(&self, procedure: &Procedure, free: &[bool]) -> Vec<Claim> {
        let instrs = procedure.instrs.iter().zip(free).enumerate();
        let mine = instrs.filter(|(_, (instr, free))| {
            let value = instr.dst.first().copied().unwrap_or(ValueId(0));
            let ty = procedure.limb(value).unwrap();
            **free
                && matches!(instr.op, Op::Add | Op::Sub)
                && ty.ring.kind == RingKind::Full
                && self.narrow[usize::from(ty.modulus.0)]
        });
        mine.map(|(at, _)| Claim::new(procedure, vec![at]))
            .collect()
    }

    fn schedule(&self, _: &Procedure, jobs: &[&Claim], holds: &Resident) -> Schedule {
        let mut steps: Vec<Step> = Vec::new();
        let mut push = |name, lane, crosses: Option<Crosses>| {
            let begin = steps.last().map_or(0, |step: &Step| step.end);
            steps.push(Step {
                name,
                lane,
                begin,
                end: begin + self.cycles,
                crosses: crosses.into_iter().collect(),
            });
        };
        let bytes = self.bytes;
        for job in jobs {
            for &limb in &job.takes {
                push("LOAD", 1, Some(Crosses::In { limb, bytes }));
            }
            push("SUM", 0, None);
            let limb = job.gives[0];
            push("UNLOAD", 1, Some(Crosses::Out { limb, bytes }));
        }
        Schedule {
            steps,
            after: holds.clone(),
        }
    }

    fn text(&self, procedure: &Procedure, jobs: &[&Claim], holds: &Resident) -> Vec<String> {
        let steps = self.schedule(procedure, jobs, holds).steps;
        steps.iter().map(|step| step.name.to_owned()).collect()
    }

    fn keeps(&self) -> Vec<Keep> {
        Vec::new()
    }
}

/// Makes a card with a polynomial multiplier of four units, the co-processor [`Sums`], and a memory of `limbs` limbs of
/// degree 2^9.
fn card(limbs: u64) -> Card {
    let text = Registry::standard().description("polymul").unwrap();
    let multiplier = PolymulMachine::parse(&text.replace("units = 32", "units = 4")).unwrap();
    let description = CardDescription::POLYMUL.replace("limbs = 192", &format!("limbs = {limbs}"));
    let description = description.replace("max_log_n = 12", "max_log_n = 9");
    let description: CardDescription = toml::from_str(&description).unwrap();
    Card::of(description, vec![Box::new(multiplier), sums()]).unwrap()
}

fn timed(card: &Card, program: &Verified) -> MachineReport {
    card.simulate(program, SimOptions::default()).unwrap()
}

fn used(report: &MachineReport) -> (u64, u64) {
    let memory = report.memories.last().unwrap();
    assert_eq!(memory.name, "card memory");
    (memory.used_bytes, memory.available_bytes)
}

/// For x y + z in coefficient form, the product goes from the multiplier to the adder on the card, and the host gets
/// the sum only.
#[test]
fn what_one_makes_and_another_takes_stays_on_the_card() {
    let log_n = 9;
    let q = ntt_primes(30, u32::from(log_n), 1).unwrap();
    let mut p = ProcBuilder::new("fused", log_n, &q).unwrap();
    let limb = LimbType {
        ring: Ring::full(log_n),
        modulus: ModulusId(0),
        form: Form::Coeff,
    };
    let role = |arg| ParamRole::Cipher { arg, poly: Poly(0) };
    let [x, y, z] = [0, 1, 2].map(|arg| p.param(format!("p{arg}"), limb, role(arg)).unwrap());
    let (nx, ny) = (p.ntt(x).unwrap(), p.ntt(y).unwrap());
    let product = p.mul(nx, ny).unwrap();
    let product = p.intt(product).unwrap();
    let sum = p.add(product, z).unwrap();
    p.result(sum, "r", 0, Poly(0)).unwrap();
    let procedure = std::sync::Arc::new(p.finish().unwrap());
    let program = Verified::new(Program::calling(procedure, Vec::new())).unwrap();

    let limb_bytes = 4 << log_n;
    let (with, alone) = (card(64), Card::alone(sums()).unwrap());
    let report = timed(&with, &program);
    let offload = report.own::<OffloadUse>().unwrap();
    let shares: Vec<_> = offload.coprocessors.iter().collect();
    assert_eq!(
        (shares[0].name.as_str(), shares[0].instructions),
        ("polymul", 4)
    );
    assert_eq!(
        (shares[1].name.as_str(), shares[1].instructions),
        ("sums", 1)
    );
    assert_eq!(shares[0].cycles + shares[1].cycles, report.cycles);
    assert_eq!(offload.host_instructions, 0);
    let memory = offload.card.unwrap();
    assert_eq!((memory.taken_from_card, memory.handed_on), (1, 1));
    // The limbs x, y and z and the tables cross to the card, and the sum crosses to the host.
    let tables = 4 * ((1 << log_n) + 8);
    assert_eq!(report.link.bytes_in, 3 * limb_bytes + tables);
    assert_eq!(report.link.bytes_out, limb_bytes);
    let lanes: Vec<&str> = report.utilisation.iter().map(|u| u.unit.as_str()).collect();
    let multiplier = ["polymul array", "polymul load", "polymul unload"];
    assert_eq!(
        lanes,
        [&multiplier[..], &["sums adder", "sums port"]].concat()
    );
    let mut text = Vec::new();
    with.micro_text(&program, SimOptions::default(), &mut text)
        .unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("polymul FPM") && text.contains("sums SUM"),
        "{text}"
    );

    // If the adder is alone, the host multiplies, and all operands and results of the adder cross the link.
    let report = timed(&alone, &program);
    assert_eq!(report.own::<OffloadUse>().unwrap().host_instructions, 4);
    assert_eq!(report.own::<OffloadUse>().unwrap().card, None);
    assert_eq!(report.link.bytes_in, 2 * limb_bytes);
    assert_eq!(report.link.bytes_out, limb_bytes);
}

/// Returns the bytes of limbs that cross to and from a card of unlimited memory. Each limb of the host that a
/// co-processor reads crosses once, and so does each limb of a co-processor that the host reads or the program returns.
fn moved(card: &Card, program: &Verified) -> (u64, u64) {
    let head = program.head();
    let limb_bytes = 4u64 << head.log_n;
    let taken = |p: &std::sync::Arc<Procedure>| card.takes(&head, p).unwrap();
    let taken: Vec<Vec<bool>> = program.bound_procs().iter().map(taken).collect();
    let mut next = 0u64;
    let mut fresh = || {
        next += 1;
        next
    };
    let mut limbs: HashMap<LimbId, u64> = HashMap::new();
    for limb in 0..program.program().inputs.len() as u64 {
        limbs.insert(LimbId(limb), fresh());
    }
    let (mut on_card, mut came, mut went) = (HashSet::new(), HashSet::new(), HashSet::new());
    let mut stream = program.stream();
    while let Some(called) = stream.next_call().unwrap() {
        let call = called.call;
        let procedure = &program.bound_procs()[call.proc as usize];
        let mut values = HashMap::new();
        for (param, limb) in procedure.params.iter().zip(&call.args) {
            values.insert(param.value, limbs[limb]);
        }
        let mut slots = HashMap::new();
        for (instr, &taken) in procedure.instrs.iter().zip(&taken[call.proc as usize]) {
            match (instr.op, instr.imm) {
                (Op::Store, Imm::Slot(slot)) => {
                    slots.insert(slot, values[&instr.src[0]]);
                    continue;
                }
                (Op::Load, Imm::Slot(slot)) => {
                    values.insert(instr.dst[0], slots[&slot]);
                    continue;
                }
                _ => {}
            }
            for src in &instr.src {
                let id = values[src];
                match (taken, on_card.contains(&id)) {
                    (true, false) => came.insert(id),
                    (false, true) => went.insert(id),
                    _ => false,
                };
            }
            for dst in &instr.dst {
                let id = fresh();
                values.insert(*dst, id);
                if taken {
                    on_card.insert(id);
                }
            }
        }
        for (result, limb) in procedure.results.iter().zip(&call.results) {
            limbs.insert(*limb, values[&result.value]);
        }
    }
    for limb in stream.outputs().unwrap() {
        if on_card.contains(&limbs[&limb]) {
            went.insert(limbs[&limb]);
        }
    }
    (
        came.len() as u64 * limb_bytes,
        went.len() as u64 * limb_bytes,
    )
}

/// In random programs, no limb crosses the link twice if the card's memory has room for all. With less memory no more
/// bytes cross than without any. The memory changes no cycle count.
#[test]
fn what_crosses_is_what_has_to() {
    let (endless, small, tiny) = (card(900), card(6), card(1));
    let (mut handed, mut made_room, mut saved) = (0, 0, 0);
    for seed in 0..60 {
        let log_n = 8 + (seed % 2) as u8;
        let case = case(seed, log_n, 6);
        let program = ready(&case.program);
        if endless
            .takes(&program.head(), &program.bound_procs()[0])
            .is_err()
        {
            continue;
        }
        let report = timed(&endless, &program);
        let tables = report.instructions_by_kind.get("TABLES").unwrap_or(&0);
        let tables = tables * 4 * ((1 << log_n) + 8);
        let (came, went) = moved(&endless, &program);
        assert_eq!(report.link.bytes_in, came + tables, "seed {seed}");
        assert_eq!(report.link.bytes_out, went, "seed {seed}");
        assert_eq!(
            report.own::<OffloadUse>().unwrap().card.unwrap().made_room,
            0
        );
        handed += report.own::<OffloadUse>().unwrap().card.unwrap().handed_on;

        let none = crossing_all(&report, log_n);
        for less in [&small, &tiny] {
            let other = timed(less, &program);
            let card = other.own::<OffloadUse>().unwrap().card.unwrap();
            made_room += card.made_room;
            assert_eq!(other.cycles, report.cycles, "seed {seed}");
            assert_eq!(other.cycles_by_kind, report.cycles_by_kind);
            let (used, available) = used(&other);
            assert!(used <= available, "seed {seed}");
            let (least, most) = (&report.link, none);
            for (bytes, least, most) in [
                (other.link.bytes_in, least.bytes_in, most.0 + tables),
                (other.link.bytes_out, least.bytes_out, most.1),
            ] {
                assert!((least..=most).contains(&bytes), "seed {seed}: {bytes}");
                saved += most - bytes;
            }
        }
    }
    assert!(
        handed > 20 && made_room > 20 && saved > 0,
        "{handed} {made_room} {saved}"
    );
}

/// Returns the bytes of limbs in and out if every load and every unload of the card crossed the link.
fn crossing_all(report: &MachineReport, log_n: u8) -> (u64, u64) {
    let count = |kind: &str| report.instructions_by_kind.get(kind).copied().unwrap_or(0);
    (count("LOAD") * (4 << log_n), count("UNLOAD") * (4 << log_n))
}

/// A card as a device gives the CPU's bits, and the same report with data and without, except for measured times.
#[test]
fn a_card_is_a_device() {
    let cpu = open("cpu:1").unwrap();
    let device = Offload::modelled("sim:card".to_owned(), card(6)).unwrap();
    let mut instructions = 0;
    for seed in 0..20 {
        let case = case(seed, 8 + (seed % 2) as u8, 6);
        let (program, bindings) = (&ready(&case.program), bind(&case));
        let run = |device: &dyn Device, request| device.run(program, &bindings, request, &Silent);
        let want = run(cpu.as_ref(), Request::function_only()).unwrap().outputs;
        let Ok(got) = run(&device, Request::both()) else {
            continue;
        };
        assert_eq!(got.outputs, want, "seed {seed}");
        let with_data = got.machine.unwrap();
        let request = Request::timing_only();
        let without = device.run(program, &Bindings::default(), request, &Silent);
        let without = without.unwrap().machine.unwrap();
        instructions += without.own::<OffloadUse>().unwrap().machine_instructions;
        assert_eq!(unmeasured(&with_data), unmeasured(&without), "seed {seed}");
    }
    assert!(instructions > 40, "{instructions}");
}

/// A card with one co-processor and a memory takes the same cycles as the co-processor alone. No program moves more
/// bytes over the link, and all together move fewer.
#[test]
fn the_shipped_card_sends_less() {
    let (alone, with) = (
        open("sim:polymul").unwrap(),
        open("sim:polymul-card").unwrap(),
    );
    let mut saved = 0;
    for seed in 0..12 {
        let case = case(seed, 8 + (seed % 3) as u8, 4);
        let program = &ready(&case.program);
        let time = |device: &dyn Device| {
            let request = Request::timing_only();
            let outcome = device.run(program, &Bindings::default(), request, &Silent);
            outcome.ok().and_then(|outcome| outcome.machine)
        };
        let (Some(alone), Some(with)) = (time(alone.as_ref()), time(with.as_ref())) else {
            continue;
        };
        assert_eq!(alone.cycles, with.cycles);
        assert_eq!(alone.utilisation, with.utilisation);
        saved += alone.link.bytes_in - with.link.bytes_in;
        saved += alone.link.bytes_out - with.link.bytes_out;
    }
    assert!(saved > 0);
}

/// A description of a card whose fields do not suit each other is refused with the field that forbids it.
#[test]
fn cards_are_checked() {
    let text = CardDescription::POLYMUL;
    for (old, new, expected) in [
        ("limbs = 192", "limbs = 0", "memory.limbs"),
        ("limbs = 192", "limbs = 4000", "block RAM"),
        (
            "residue_bits = 32",
            "residue_bits = 31",
            "memory.residue_bits = 31: expected 32",
        ),
        ("beat = 4", "beat = 2", "memory.beat = 2: expected 4"),
        ("beat = 4", "beat = 6", "memory.beat"),
        ("max_log_n = 12", "max_log_n = 40", "memory.max_log_n"),
        ("clock_mhz = 150.0", "clock_mhz = 151.0", "polymul has 150"),
        ("24.0", "nan", "link.gbit_per_second"),
        ("of = \"block\"", "of = \"paper\"", "paper"),
        (
            "machine = \"polymul\"",
            "machine = \"ring\"",
            "takes some instructions",
        ),
        (
            "machine = \"polymul\"",
            "machine = \"polymul-card\"",
            "takes some instructions",
        ),
        ("machine = \"polymul\"", "machine = \"abacus\"", "abacus"),
        (
            "machine = \"polymul\"",
            "machine = 3",
            "no machine is called",
        ),
        (
            "machine = \"polymul\"",
            "machine = \"polymul\"\nunits = 31",
            "units",
        ),
        (
            "machine = \"polymul\"",
            "machine = \"polymul\"\nspeed = 1",
            "speed",
        ),
        ("[[coprocessor]]", "[coprocessor]", "coprocessor"),
        ("XC7VX485T", "XC1", "no part of that name"),
    ] {
        let broken = text.replace(old, new);
        assert_ne!(broken, text, "{old}");
        let error = Registry::standard().load(&broken).err();
        let error = error.map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains(expected), "{new}: {error}");
    }
    // Keys beside the key `machine` replace those of the named description.
    let two = "machine = \"polymul\"\nunits = 8\n[[coprocessor]]\nmachine = \"polymul\"\nunits = 4";
    let two = text.replace("machine = \"polymul\"", two);
    let machine = Registry::standard().load(&two).unwrap();
    let dsp = machine.fit().totals.iter().map(|total| total.used);
    assert!(
        dsp.clone().any(|used| used == 12.0 * 7.0),
        "{:?}",
        dsp.collect::<Vec<_>>()
    );
}
