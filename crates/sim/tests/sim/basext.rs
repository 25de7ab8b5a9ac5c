// SPDX-License-Identifier: Apache-2.0
//! Tests BFV multiplications with the base-extension unit beside the CPU, as a model and as RTL, alone and on a card
//! with the polynomial multiplier. The bits are the CPU's, the cycles of model and RTL agree, and the report says which
//! extensions the unit takes.

use std::sync::Arc;

use crate::common::random::Dice;
use crate::common::unmeasured;
use crate::described::Described;
use ringmill_cpu::Cpu;
use ringmill_device::progress::Silent;
use ringmill_device::report::MachineReport;
use ringmill_device::{Bindings, Device, Limb, Outcome, Request, SeedExpansion};
use ringmill_isa::mid::{Procedure, Program, Verified};
use ringmill_machines::Registry;
use ringmill_machines::coprocessor::OffloadUse;
use ringmill_schemes::bfv::{Level, Multiplication, OpKey, Params, PlainModulus, ProcCache};

fn edited(text: &str, edits: &[(&str, &str)]) -> String {
    edits.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

/// Returns the description of a base-extension unit with two lanes and small memories, whose RTL builds fast. `hbm_mhz`
/// is the line with the clock of its memory port, which has beats of 128 bits.
fn small(hbm_mhz: &str) -> String {
    smaller("basext", ("max_log_n = 16", "max_log_n = 9"), hbm_mhz)
}

/// Returns the same for the shared unit, which computes two targets at once.
fn small_shared(hbm_mhz: &str) -> String {
    let text = smaller(
        "basext-shared",
        ("max_log_n = 14", "max_log_n = 9"),
        hbm_mhz,
    );
    edited(&text, &[("batch = 8", "batch = 2")])
}

fn smaller(name: &str, max_log_n: (&str, &str), hbm_mhz: &str) -> String {
    let edits = [
        ("lanes = 32", "lanes = 2"),
        max_log_n,
        ("max_l = 32", "max_l = 6"),
        ("max_k = 32", "max_k = 6"),
        ("bits = 2048", "bits = 128"),
        ("clock_mhz = 225.0", hbm_mhz),
    ];
    edited(Registry::standard().description(name).unwrap(), &edits)
}

fn multiply(log_n: u8, bits: &[u32], multiplication: Multiplication) -> Verified {
    let params = Params::builder(log_n, PlainModulus::new(97).unwrap())
        .prime_bits(bits, &[31])
        .multiplication(multiplication)
        .allow_insecure_parameters_for_tests_only()
        .build()
        .unwrap();
    let level = Level(bits.len() as u32 - 1);
    let cache = ProcCache::new(params);
    let procedure: Arc<Procedure> = cache.get(&OpKey::mul_relin(level, false)).unwrap();
    Verified::new(Program::calling(procedure, Vec::new())).unwrap()
}

/// Random residues for all inputs of a program.
struct Data {
    limbs: Vec<Vec<u64>>,
    seeds: usize,
}

impl Data {
    fn new(program: &Verified, dice: &mut Dice) -> Self {
        let n = 1 << program.head().log_n;
        let modulus = |at: usize| program.moduli[at];
        let limbs = program.inputs.iter().map(|input| {
            let ty = input.ty.limb().unwrap();
            dice.residues(modulus(usize::from(ty.modulus.0)), n)
        });
        Self {
            limbs: limbs.collect(),
            seeds: program.bound_procs()[0].seeds.len(),
        }
    }

    fn bindings<'a>(&'a self, program: &Verified) -> Bindings<'a> {
        let limbs = program.inputs.iter().zip(&self.limbs).map(|(input, limb)| {
            let ty = input.ty.limb().unwrap();
            Limb::borrowed(limb, program.moduli[usize::from(ty.modulus.0)]).unwrap()
        });
        Bindings {
            limbs: limbs.collect(),
            seeds: (1..)
                .take(self.seeds)
                .map(|s| Arc::new(SeedExpansion::new([s; 32])))
                .collect(),
        }
    }
}

fn run(device: &dyn Device, program: &Verified, data: &Data) -> Outcome {
    let bindings = data.bindings(program);
    device
        .run(program, &bindings, Request::both(), &Silent)
        .unwrap()
}

/// Returns the part of a report that is the same for the model and the RTL, as JSON.
fn figures(report: &MachineReport) -> serde_json::Value {
    let mut json = unmeasured(report);
    json["how"] = "".into();
    json
}

fn seed() -> u64 {
    let given = std::env::var("RINGMILL_SEED").ok();
    let seed = given.and_then(|s| s.parse().ok()).unwrap_or_else(|| {
        std::time::UNIX_EPOCH
            .elapsed()
            .map_or(1, |d| d.as_nanos() as u64)
    });
    println!("RINGMILL_SEED={seed}");
    seed
}

/// For each polynomial of a BEHZ product the unit takes the fast extension and the exact one back to q. The extension
/// with m-tilde, a power of two, stays with the host. A slow memory port stalls the fast extension by the same cycles
/// in the model and the RTL.
#[test]
fn a_multiplication_has_the_cpus_bits_and_the_models_cycles() {
    let mut dice = Dice::new(seed());
    let mut fast = Vec::new();
    for hbm in [
        "clock_mhz = 225.0",
        "clock_mhz = 130.0",
        "clock_mhz = 400.0",
    ] {
        let machine = Described::new(&small(hbm));
        let (model, rtl) = (machine.device("sim"), machine.device("rtl"));
        for (log_n, bits) in [(8, &[30, 29][..]), (9, &[60, 45, 50])] {
            let program = multiply(log_n, bits, Multiplication::Behz);
            let data = Data::new(&program, &mut dice);
            let cpu = Cpu::new(1).unwrap();
            let bindings = data.bindings(&program);
            let (want, _) = cpu.execute(&program, &bindings, &Silent, None).unwrap();
            let (by_model, by_rtl) = (
                run(model.as_ref(), &program, &data),
                run(rtl.as_ref(), &program, &data),
            );
            assert_eq!(by_model.outputs.unwrap(), want);
            assert_eq!(by_rtl.outputs.unwrap(), want);
            let (by_model, by_rtl) = (by_model.machine.unwrap(), by_rtl.machine.unwrap());
            assert_eq!((by_model.how, by_rtl.how), ("model", "RTL"));
            assert_eq!(figures(&by_model), figures(&by_rtl), "{hbm}");

            let kinds = &by_rtl.instructions_by_kind;
            // The unit extends three polynomials of a product back, and the host extends four polynomials of the
            // factors. The key switch's digits are conversions, not extensions.
            assert_eq!((kinds["BEXTR"], kinds["host BEXTR"]), (3, 4), "{kinds:?}");
            assert!(
                kinds["BEXT"] >= 3 && !kinds.contains_key("host BEXT"),
                "{kinds:?}"
            );
            if log_n == 9 {
                fast.push(by_rtl.cycles_by_kind["BEXT"]);
            }

            // The cycles do not depend on data.
            let none = Bindings::default();
            let request = Request::timing_only();
            let alone = rtl.run(&program, &none, request, &Silent).unwrap();
            assert_eq!(figures(&alone.machine.unwrap()), figures(&by_rtl));
        }
    }
    assert!(fast[1] > fast[0] && fast[0] > fast[2], "{fast:?}");
}

/// With a prime as m-tilde the unit takes all extensions, those of the factors too.
#[test]
#[ignore = "another model; `make full` runs it"]
fn all_extensions_are_the_units_where_m_tilde_is_a_prime() {
    let mut dice = Dice::new(seed());
    let machine = Described::new(&small("clock_mhz = 225.0"));
    for (log_n, bits) in [(8, &[30, 29][..]), (9, &[60, 45, 50])] {
        let program = multiply(log_n, bits, Multiplication::BehzPrime);
        let data = Data::new(&program, &mut dice);
        let cpu = Cpu::new(1).unwrap();
        let bindings = data.bindings(&program);
        let (want, _) = cpu.execute(&program, &bindings, &Silent, None).unwrap();
        let [by_model, by_rtl] = ["sim", "rtl"].map(|kind| {
            let ran = run(machine.device(kind).as_ref(), &program, &data);
            assert_eq!(ran.outputs.unwrap(), want, "{kind}");
            ran.machine.unwrap()
        });
        assert_eq!(figures(&by_model), figures(&by_rtl));
        let kinds = &by_rtl.instructions_by_kind;
        assert_eq!(kinds["BEXTR"], 7, "{kinds:?}");
        assert!(
            !kinds.contains_key("host BEXTR") && !kinds.contains_key("host BEXT"),
            "{kinds:?}"
        );
    }
}

/// The shared unit gives the CPU's bits, and model and RTL take the same cycles, with ports of three rates. Its
/// exact extensions take fewer cycles than the folded unit's at the same rate.
#[test]
#[ignore = "another unit to build; `make full` runs it"]
fn a_batch_of_targets_at_a_time_has_the_same_bits_in_fewer_cycles() {
    let mut dice = Dice::new(seed());
    let program = multiply(9, &[60, 45, 50], Multiplication::BehzPrime);
    let data = Data::new(&program, &mut dice);
    let cpu = Cpu::new(1).unwrap();
    let bindings = data.bindings(&program);
    let (want, _) = cpu.execute(&program, &bindings, &Silent, None).unwrap();
    let mut taken = Vec::new();
    for hbm in [
        "clock_mhz = 130.0",
        "clock_mhz = 225.0",
        "clock_mhz = 800.0",
    ] {
        let machine = Described::new(&small_shared(hbm));
        let [by_model, by_rtl] = ["sim", "rtl"].map(|kind| {
            let ran = run(machine.device(kind).as_ref(), &program, &data);
            assert_eq!(ran.outputs.unwrap(), want, "{kind} {hbm}");
            ran.machine.unwrap()
        });
        assert_eq!(figures(&by_model), figures(&by_rtl), "{hbm}");
        let kinds = &by_rtl.instructions_by_kind;
        assert_eq!(kinds["BEXTR"], 7, "{kinds:?}");
        assert!(
            kinds.keys().all(|kind| !kind.starts_with("host BEXT")),
            "{kinds:?}"
        );
        taken.push(by_rtl.cycles_by_kind["BEXTR"]);
    }
    // A faster port makes the unit faster.
    assert!(taken[0] > taken[1] && taken[1] > taken[2], "{taken:?}");
    let folded = Described::new(&small("clock_mhz = 225.0"));
    let folded = run(folded.device("sim").as_ref(), &program, &data);
    let folded = folded.machine.unwrap().cycles_by_kind["BEXTR"];
    assert!(taken[1] < folded, "{taken:?} of {folded}");
}

/// The exact extensions of HPS have no redundant residue, so the host keeps them.
#[test]
fn what_has_no_redundant_residue_is_the_hosts() {
    let mut dice = Dice::new(seed());
    let program = multiply(8, &[40, 40], Multiplication::Hps);
    let machine = Described::new(&small("clock_mhz = 225.0"));
    let data = Data::new(&program, &mut dice);
    let report = run(machine.device("sim").as_ref(), &program, &data)
        .machine
        .unwrap();
    let kinds = &report.instructions_by_kind;
    assert!(kinds["host BEXTX"] > 0, "{kinds:?}");
    assert!(
        !kinds.contains_key("BEXTX") && !kinds.contains_key("BEXTR"),
        "{kinds:?}"
    );
}

/// On one card, residues modulo q go from the base-extension unit to the polynomial multiplier and back without the
/// link.
#[test]
fn residues_stay_on_a_card_with_the_multiplier() {
    let card = edited(
        Registry::standard().description("basext-card").unwrap(),
        &[
            (
                "max_log_n = 14\nresidue_bits = 64\nbeat = 32",
                "max_log_n = 9\nresidue_bits = 64\nbeat = 4",
            ),
            (
                "machine = \"basext\"",
                "machine = \"basext\"\nlanes = 2\nmax_log_n = 9\nmax_l = 6\nmax_k = 6",
            ),
            ("max_log_n = 14\n", "max_log_n = 9\nunits = 4\n"),
        ],
    );
    let mut dice = Dice::new(seed());
    let program = multiply(9, &[30, 29, 28], Multiplication::Behz);
    let data = Data::new(&program, &mut dice);
    let cpu = Cpu::new(1).unwrap();
    let bindings = data.bindings(&program);
    let (want, _) = cpu.execute(&program, &bindings, &Silent, None).unwrap();
    let machine = Described::new(&card);
    let (by_model, by_rtl) = (
        run(machine.device("sim").as_ref(), &program, &data),
        run(machine.device("rtl").as_ref(), &program, &data),
    );
    assert_eq!(by_model.outputs.unwrap(), want);
    assert_eq!(by_rtl.outputs.unwrap(), want);
    let (by_model, by_rtl) = (by_model.machine.unwrap(), by_rtl.machine.unwrap());
    assert_eq!(figures(&by_model), figures(&by_rtl));
    let offload = by_rtl.own::<OffloadUse>().unwrap();
    assert!(
        offload
            .coprocessors
            .iter()
            .all(|unit| unit.instructions > 0)
    );
    let memory = offload.card.unwrap();
    assert!(
        memory.handed_on > 0 && memory.taken_from_card > memory.handed_on,
        "{memory:?}"
    );

    // With a memory of one limb more bytes cross the link. The bytes that cross and the bytes that are saved have the
    // same sum.
    let none = Described::new(&card.replace("limbs = 4096", "limbs = 1"));
    let tight = run(none.device("sim").as_ref(), &program, &data)
        .machine
        .unwrap();
    let crossed = |report: &MachineReport| {
        let saved = report
            .own::<OffloadUse>()
            .unwrap()
            .card
            .unwrap()
            .link_bytes_saved;
        report.link.bytes_in + report.link.bytes_out + saved
    };
    assert_eq!(crossed(&tight), crossed(&by_rtl));
    assert!(tight.link.bytes_in > by_rtl.link.bytes_in);
    let saved = memory.link_bytes_saved as f64 * 8.0 / 128e9;
    assert!(saved > 0.0 && (memory.link_seconds_saved - saved).abs() < 1e-15);
}
