// SPDX-License-Identifier: Apache-2.0
//! Tests the results of runs of circuits, on any number of threads and on a device, and the errors of runs.

use ringmill_cpu::Cpu;
use ringmill_limits::{Halt, Limits, Watch};
use ringmill_math::PrngSource;

use ringmill_circuits::circuit::program::Binary;
use ringmill_circuits::circuit::{ProgramBuilder, Source, Type, netlist};
use ringmill_circuits::run::{CircuitRunError, Engine};
use ringmill_circuits::tfhe::Order;
use ringmill_circuits::tfhe::params::Sizes;

use super::{Setup, booleans, everything, of, program, quiet, setup, table_program};

#[test]
fn integers_under_encryption() {
    let setup = setup();
    for (bits, signed) in [(6, false), (5, true), (1, false), (8, true)] {
        let kind = Type::new(bits, signed).unwrap();
        let program = match bits {
            1 => {
                let mut b = ProgramBuilder::new();
                let (x, y) = (b.input("x", kind), b.input("y", kind));
                let z = b.binary(Binary::Xor, x, y).unwrap();
                b.output("z", z).unwrap();
                b.finish()
            }
            _ => program(kind),
        };
        let circuit = setup.lowered(&program);
        for (x, y) in [(0, 0), (1, 0), (u64::MAX, 3), (21, 37), (9, u64::MAX / 2)] {
            let inputs = [kind.read(x), kind.read(y)];
            let given = setup.encrypt(&circuit, &inputs);
            let ran = setup.run(&circuit, given, 2, &Watch::default()).unwrap();
            let found = setup.decrypt(&circuit, ran.outputs);
            let bits = inputs.map(|v| kind.write(v).unwrap());
            let expected = program.evaluate(&bits).unwrap();
            let ports = circuit.outputs.iter().zip(expected);
            let expected: Vec<i128> = ports.map(|(port, v)| port.kind.read(v)).collect();
            assert_eq!(found, expected, "{inputs:?} of {kind}");
        }
    }
}

fn everything_is_right(
    setup: &Setup,
    bits: u32,
    signed: bool,
    pairs: impl Iterator<Item = (u64, u64)>,
) {
    let kind = Type::new(bits, signed).unwrap();
    let program = everything(kind);
    let circuit =
        Source::Program(&program).compile(setup.client.params(), -40.0, &Watch::default());
    let circuit = circuit.unwrap();
    for (x, y) in pairs {
        let given = setup.encrypt(&circuit, &[kind.read(x), kind.read(y)]);
        let ran = setup.run(&circuit, given, 2, &Watch::default()).unwrap();
        let found = setup.decrypt(&circuit, ran.outputs);
        let expected = program.evaluate(&[x, y]).unwrap();
        let ports = circuit.outputs.iter().zip(expected);
        let expected: Vec<i128> = ports.map(|(port, v)| port.kind.read(v)).collect();
        assert_eq!(found, expected, "{x} and {y} as {kind}");
    }
}

#[test]
fn every_operation_on_every_pair_of_four_bits() {
    everything_is_right(&setup(), 4, false, (0..256).map(|i| (i / 16, i % 16)));
}

/// Tests every operation on every fifth pair of signed 4-bit integers: each number stands on either side.
#[test]
fn every_operation_on_pairs_of_four_signed_bits() {
    everything_is_right(
        &setup(),
        4,
        true,
        (0..256).step_by(5).map(|i| (i / 16, i % 16)),
    );
}

#[test]
#[ignore = "256 pairs, half a minute; `make full` runs it"]
fn every_operation_on_every_pair_of_four_signed_bits() {
    everything_is_right(&setup(), 4, true, (0..256).map(|i| (i / 16, i % 16)));
}

/// Tests every operation on pairs of edge cases, and on random pairs.
#[test]
#[ignore = "ten seconds; `make full` runs it"]
fn every_operation_on_pairs_of_sixteen_bits() {
    let [first, second] = booleans();
    let mut rng = PrngSource::os().fresh().unwrap();
    for (setup, signed) in [
        (setup(), false),
        (setup(), true),
        (first, false),
        (second, true),
    ] {
        let mut random = || {
            (
                rng.next_u64() & 0xffff,
                rng.next_u64() >> (48 + rng.next_u64() % 16),
            )
        };
        let edges = [
            (0, 0),
            (0x8000, 0xffff),
            (0xffff, 0xffff),
            (0x7fff, 0x8000),
            (0x8001, 3),
            (7, 0),
        ];
        let random = [random(), random()];
        everything_is_right(&setup, 16, signed, edges.into_iter().chain(random));
    }
}

#[test]
fn every_operation_as_gates() {
    for (setup, signed) in booleans().iter().zip([false, true]) {
        let pairs = [(0, 0), (15, 15), (8, 15), (7, 3), (13, 2)];
        everything_is_right(setup, 4, signed, pairs.into_iter());
    }
}

/// Tests a thousand gates of two inputs, each on any earlier signals.
#[test]
fn a_random_netlist_of_a_thousand_gates() {
    let [first, second] = booleans();
    for setup in [setup(), first, second] {
        a_random_netlist(&setup);
    }
}

fn a_random_netlist(setup: &Setup) {
    let mut rng = PrngSource::os().fresh().unwrap();
    let mut below = |n: usize| (rng.next_u64() % n as u64) as usize;
    let kinds = ["AND", "NAND", "OR", "NOR", "XOR", "XNOR", "ANDNOT", "ORNOT"];
    let mut names: Vec<String> = (0..16).map(|i| format!("x[{i}]")).collect();
    let mut gates = String::new();
    for g in 0..1000 {
        // Later signals are chosen more often, so that the circuit is deep.
        let recent = names.len().saturating_sub(40);
        let (a, b) = (recent + below(names.len() - recent), below(names.len()));
        let kind = kinds[below(kinds.len())];
        gates += &format!(".gate $_{kind}_ A={} B={} Y=g[{g}]\n", names[a], names[b]);
        names.push(format!("g[{g}]"));
    }
    let inputs = names[..16].join(" ");
    let outputs: Vec<String> = (0..64)
        .map(|i| format!(".names g[{}] y[{i}]\n1 1\n", 15 * i + 54))
        .collect();
    let ports: Vec<String> = (0..64).map(|i| format!("y[{i}]")).collect();
    let text = format!(
        ".inputs {inputs}\n.outputs {}\n{gates}{}",
        ports.join(" "),
        outputs.concat()
    );
    let netlist = netlist::read_blif(&text, &Watch::default()).unwrap();
    let circuit =
        Source::Netlist(&netlist).compile(setup.client.params(), -40.0, &Watch::default());
    let circuit = circuit.unwrap();
    for _ in 0..3 {
        let x = below(1 << 16) as u64;
        let given = setup.encrypt(&circuit, &[x.into()]);
        let ran = setup.run(&circuit, given, 2, &Watch::default()).unwrap();
        let found = setup.decrypt(&circuit, ran.outputs);
        let expected = netlist.evaluate(&[x]).unwrap();
        assert_eq!(found, [i128::from(expected[0])], "{x} into\n{text}");
    }
}

#[test]
fn the_same_ciphertexts_on_any_number_of_threads() {
    let setup = setup();
    let kind = Type::new(8, false).unwrap();
    let circuit = setup.lowered(&program(kind));
    let inputs = setup.encrypt(&circuit, &[200, 77]);
    let one = setup
        .run(&circuit, inputs.clone(), 1, &Watch::default())
        .unwrap();
    assert!(one.peak_wires < circuit.graph.wires());
    for threads in [2, 3, 64] {
        let more = setup
            .run(&circuit, inputs.clone(), threads, &Watch::default())
            .unwrap();
        assert_eq!(one.outputs, more.outputs);
    }
}

#[test]
fn tables_of_one_sum_share_a_rotation() {
    let entries: Vec<i128> = (0..60).map(|i| (i * i * 37 + 11) % 256).collect();
    let program = table_program(&entries);
    for builder in [quiet(), quiet().order(Order::KeySwitchFirst)] {
        let setup = of(builder);
        let circuit = setup.lowered(&program);
        let cost = circuit.graph.cost();
        assert!(4 * cost.bootstraps < 3 * cost.tables, "{cost:?}");
        for (x, y) in [(0, 0), (15, 255), (16, 1), (59, 200), (60, 3), (63, 77)] {
            let given = setup.encrypt(&circuit, &[x, y]);
            let ran = setup.run(&circuit, given, 2, &Watch::default()).unwrap();
            let expected = program.evaluate(&[x as u64, y as u64]).unwrap();
            assert_eq!(
                setup.decrypt(&circuit, ran.outputs),
                [i128::from(expected[0])]
            );
        }
    }
}

/// Tests that bootstraps as limb programs on a device give the same ciphertexts as the evaluator.
#[test]
fn a_device_gives_the_same_ciphertexts() {
    let cpu = Cpu::new(1).unwrap();
    let watch = Watch::default();
    let small = |s: &mut Sizes| s.n.0 = 9;
    let entries: Vec<i128> = (0..40).map(|i| (i * 91) % 256).collect();
    let [first, second] = booleans();
    let order = quiet().order(Order::KeySwitchFirst).sizes(small);
    for (setup, inputs) in [
        (of(quiet().sizes(small)), [39, 254]),
        (of(order), [17, 3]),
        (first, [5, 6]),
        (second, [63, 9]),
    ] {
        let params = setup.client.params();
        let program = table_program(&entries);
        let circuit = Source::Program(&program)
            .compile(params, -40.0, &Watch::default())
            .unwrap();
        let given = setup.encrypt(&circuit, &inputs);
        let expected = setup.run(&circuit, given.clone(), 2, &watch).unwrap();
        let engine = Engine::Device {
            bootstrap: &setup.bootstrap,
            device: &cpu,
        };
        let found = setup.run_by(engine, &circuit, given.clone(), 2, &watch);
        assert_eq!(found.unwrap().outputs, expected.outputs);
        let stopped = Watch::default();
        stopped.stop();
        let halted = setup.run_by(engine, &circuit, given.clone(), 2, &stopped);
        assert!(matches!(halted, Err(CircuitRunError::Halt(_))));
        // The ring machine's limbs hold no exponents, so it refuses.
        let ring = ringmill_sim::open("sim:ring").unwrap();
        let engine = Engine::Device {
            bootstrap: &setup.bootstrap,
            device: ring.as_ref(),
        };
        let refused = setup
            .run_by(engine, &circuit, given, 1, &watch)
            .unwrap_err();
        assert!(refused.to_string().contains("sim:ring"), "{refused}");
    }
}

#[test]
fn refusals() {
    let (setup, other) = (setup(), super::setup());
    let kind = Type::new(8, false).unwrap();
    let circuit = setup.lowered(&program(kind));
    let inputs = setup.encrypt(&circuit, &[1, 2]);
    let watch = Watch::default();
    let few = setup.run(&circuit, inputs[1..].to_vec(), 1, &watch);
    assert!(matches!(few, Err(CircuitRunError::Ciphertexts { .. })));
    let foreign = other.encrypt(&circuit, &[1, 2]);
    for threads in [1, 3] {
        let foreign = setup.run(&circuit, foreign.clone(), threads, &watch);
        assert!(matches!(foreign, Err(CircuitRunError::Tfhe(_))));
        let stopped = Watch::new(Limits::default());
        stopped.stop();
        let stopped = setup.run(&circuit, inputs.clone(), threads, &stopped);
        assert!(matches!(
            stopped,
            Err(CircuitRunError::Halt(Halt::Interrupted))
        ));
    }
    for value in [256, -1, i128::MAX] {
        let refused = setup.client.encrypt(&circuit.inputs[0], value, &watch);
        assert!(matches!(refused, Err(CircuitRunError::Value { .. })));
    }
    assert!(setup.client.decrypt(&circuit.outputs[0], &[]).is_err());
}
