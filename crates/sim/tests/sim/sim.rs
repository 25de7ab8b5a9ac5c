// SPDX-License-Identifier: Apache-2.0
//! Tests simulated machines as devices: description files, traces, refused values, and the CPU's bits on limb programs.

use std::sync::Arc;

use crate::common::random::{Dice, moduli};
use crate::described::Described;
use ringmill_device::progress::Silent;
use ringmill_device::trace::TraceWriter;
use ringmill_device::{Bindings, DeviceError, Limb, Request};
use ringmill_isa::Poly;
use ringmill_isa::mid::*;
use ringmill_machines::{MachineError, Registry, SimOptions};
use ringmill_math::Ring;
use ringmill_sim::{OpenError, open};

/// Makes a program of transforms, a conversion and coefficient-wise instructions: 12345 (y - x) y, with x converted to
/// the modulus of y.
fn program(log_n: u8) -> Verified {
    let moduli = moduli(log_n);
    let ty = |m| LimbType {
        ring: Ring::full(log_n),
        modulus: ModulusId(m),
        form: Form::Eval,
    };
    let mut b = ProcBuilder::new("fold", log_n, &moduli).unwrap();
    let x = b
        .param(
            "x",
            ty(2),
            ParamRole::Cipher {
                arg: 0,
                poly: Poly(0),
            },
        )
        .unwrap();
    let y = b
        .param(
            "y",
            ty(1),
            ParamRole::Cipher {
                arg: 0,
                poly: Poly(1),
            },
        )
        .unwrap();
    let t = b.intt(x).unwrap();
    let t = b.conv(t, ModulusId(1)).unwrap();
    let t = b.ntt(t).unwrap();
    let d = b.sub(y, t).unwrap();
    let d = b.muli(d, 12345).unwrap();
    let d = b.mul(d, y).unwrap();
    b.result(d, "d", 0, Poly(0)).unwrap();
    let procedure = Arc::new(b.finish().unwrap());
    Verified::new(Program::calling(procedure, Vec::new())).unwrap()
}

fn data(program: &Verified) -> [Vec<u64>; 2] {
    let mut dice = Dice::new(5);
    let n = 1 << program.log_n;
    [
        dice.residues(program.moduli[2], n),
        dice.residues(program.moduli[1], n),
    ]
}

fn bind<'a>(program: &Verified, data: &'a [Vec<u64>; 2]) -> Bindings<'a> {
    let [x, y] = data;
    let limb = |d: &'a [u64], m: usize| Limb::borrowed(d, program.moduli[m]).unwrap();
    Bindings {
        limbs: vec![limb(x, 2), limb(y, 1)],
        seeds: vec![],
    }
}

/// A device refuses values that its machine does not hold. The error names the device, the input and the kind of value.
/// The machine `ring` refuses them without a device, too.
#[test]
fn values_that_a_device_lacks_are_refused_by_name() {
    let vector = ValueType::Lwe(LweType {
        dimension: LweDimension(4),
        modulus: ModulusId(0),
    });
    for (ty, kind) in [
        (vector, "an LWE vector"),
        (ValueType::Exponent, "a public exponent"),
    ] {
        let mut program = program(12).into_program();
        let (name, role) = ("odd".to_owned(), InputRole::Plain { input: 9 });
        program.inputs.push(HeadInput { ty, name, role });
        let program = Verified::new(program).unwrap();
        for name in ["sim:ring", "sim:polymul", "sim:basext"] {
            let device = open(name).unwrap();
            let request = Request::timing_only();
            let refused = device.run(&program, &Bindings::default(), request, &Silent);
            match refused {
                Err(DeviceError::Kind {
                    device,
                    input,
                    kind: found,
                }) => assert_eq!((&*device, &*input, found), (name, "odd", kind)),
                other => panic!("{other:?}"),
            }
        }
        let machine = Registry::standard().open("ring").unwrap();
        let refused = machine.simulate(&program, SimOptions::default());
        let said = refused.unwrap_err().to_string();
        assert!(said.contains(kind) && said.contains("`odd`"), "{said}");
    }
}

#[test]
fn a_described_machine_gives_the_cpus_bits_and_a_trace_of_its_units() {
    let program = program(10);
    let data = data(&program);
    let bindings = bind(&program, &data);
    let cpu = open("cpu:1").unwrap();
    let expected = cpu
        .run(&program, &bindings, Request::function_only(), &Silent)
        .unwrap()
        .outputs
        .unwrap();

    let file = Described::new(Registry::standard().description("ring").unwrap());
    let device = file.device("sim");
    let clock = device.clock_mhz().unwrap();
    let mut units = TraceWriter::new(Vec::new(), "machine", clock);
    let mut threads = TraceWriter::new(Vec::new(), "cpu", 1.0);
    let request = Request {
        machine_trace: Some(&mut units),
        cpu_spans: Some(&mut threads),
        ..Request::both()
    };
    let outcome = device.run(&program, &bindings, request, &Silent).unwrap();
    assert_eq!(outcome.outputs.unwrap(), expected);
    let machine = outcome.machine.unwrap();
    assert!(machine.cycles > 0);

    let events = |bytes: Vec<u8>| -> Vec<serde_json::Value> {
        let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        json["traceEvents"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|e| e["ph"] == "X")
            .cloned()
            .collect()
    };
    let spans = events(units.finish().unwrap());
    let end = |e: &serde_json::Value| e["ts"].as_f64().unwrap() + e["dur"].as_f64().unwrap();
    let last = spans.iter().map(end).fold(0.0, f64::max);
    // The trace has the time of the link's transfers, too. Its cycles are whole numbers.
    let total = machine.end_to_end.seconds * 1e6;
    assert!(
        (last - total).abs() <= 1.0 / clock,
        "trace ends at {last} us of {total}"
    );
    assert!(machine.cycles as f64 / clock < total);
    // The CPU's trace has one span for each step: an instruction, or several fused instructions under the name of one
    // of them.
    let names: Vec<String> = events(threads.finish().unwrap())
        .iter()
        .map(|e| e["name"].as_str().unwrap().to_owned())
        .collect();
    let instrs = &program.procs[0].instrs;
    let known = |name: &String| instrs.iter().any(|i| i.op.mnemonic() == name);
    assert!(names.iter().all(known), "{names:?}");
    assert!((3..=instrs.len()).contains(&names.len()), "{names:?}");
    for alone in [Op::Intt, Op::Mul] {
        assert!(names.iter().any(|n| n == alone.mnemonic()), "{names:?}");
    }
}

#[test]
fn nonsense_machine_files_are_refused() {
    let refused = open("sim:/no/such/machine.toml").err().unwrap();
    let unread = matches!(refused.as_own(), Some(OpenError::MachineFile { .. }));
    assert!(unread, "{refused:?}");
    let shipped = Registry::standard().description("ring").unwrap();
    // A file of more than 1 MiB is refused, and not cut there.
    let long = format!("{shipped}\n#{}", " ".repeat(1 << 20));
    let refused = Described::new(&long).open("sim").err().unwrap();
    assert!(refused.to_string().contains("1048576 bytes"), "{refused}");
    for text in [
        "".to_owned(),
        "clock_mhz = ".to_owned(),
        shipped.replace("clock_mhz = 200", "clock_mhz = -200"),
        shipped.replace("rpaus = 10", "rpaus = 18446744073709551615"),
        shipped[..shipped.len() / 2].to_owned(),
    ] {
        let refused = Described::new(&text).open("sim").err().unwrap();
        assert!(refused.as_own::<MachineError>().is_some(), "{text}");
    }
}
