// SPDX-License-Identifier: Apache-2.0
//! Tests of circuits on encrypted inputs, with toy parameters.

use ringmill_cpu::Cpu;
use ringmill_device::progress::{Progress, Silent, Step};
use ringmill_device::{CheckpointError, Saving};
use ringmill_limits::{Halt, Limits, Watch};
use ringmill_math::PrngSource;

use ringmill_circuits::Bootstrap;
use ringmill_circuits::circuit::program::{Binary, Comparison, Shift};
use ringmill_circuits::circuit::{Circuit, Program, ProgramBuilder, Source, Type, lower, netlist};
use ringmill_circuits::internals::checkpoint::{self, Reached, Whose};
use ringmill_circuits::run::client::{CircuitClient, bound, unbound};
use ringmill_circuits::run::server::{Server, run};
use ringmill_circuits::run::{CircuitRun, CircuitRunError, Engine, Keeping};
use ringmill_circuits::tfhe::params::Sizes;
use ringmill_circuits::tfhe::{
    CiphertextModulus, Client, Evaluator, LweCiphertext, ModulusSwitch, Order, Params,
    ParamsBuilder,
};

struct Setup {
    client: CircuitClient,
    evaluator: Evaluator,
    bootstrap: Bootstrap,
}

fn setup() -> Setup {
    of(ParamsBuilder::toy_circuits_for_tests_only())
}

fn of(builder: ParamsBuilder) -> Setup {
    let client = Client::new(builder.build().unwrap()).unwrap();
    let keys = (
        client.bootstrap_key().unwrap(),
        client.key_switch_key().unwrap(),
    );
    Setup {
        evaluator: Evaluator::new(client.params().clone(), &keys.0, &keys.1).unwrap(),
        bootstrap: Bootstrap::new(client.params(), &keys.0, &keys.1).unwrap(),
        client: CircuitClient::new(client),
    }
}

fn limit(params: &Params) -> u64 {
    params.noise().largest_norm(4, -40.0).unwrap()
}

impl Setup {
    fn lowered(&self, program: &Program) -> Circuit {
        lower(program, limit(self.client.params()), &Watch::default()).unwrap()
    }

    fn encrypt(&self, circuit: &Circuit, inputs: &[i128]) -> Vec<LweCiphertext> {
        let watch = Watch::default();
        let ports = circuit.inputs.iter().zip(inputs);
        let each = ports.map(|(port, &x)| self.client.encrypt(port, x, &watch).unwrap());
        bound(circuit, each.collect()).unwrap()
    }

    fn run(
        &self,
        circuit: &Circuit,
        inputs: Vec<LweCiphertext>,
        threads: usize,
        watch: &Watch,
    ) -> Result<CircuitRun, CircuitRunError> {
        self.run_by(
            Engine::Evaluator(&self.evaluator),
            circuit,
            inputs,
            threads,
            watch,
        )
    }

    fn run_by(
        &self,
        engine: Engine<'_>,
        circuit: &Circuit,
        inputs: Vec<LweCiphertext>,
        threads: usize,
        watch: &Watch,
    ) -> Result<CircuitRun, CircuitRunError> {
        let server = Server {
            engine,
            threads,
            watch,
            progress: &Silent,
        };
        run(&circuit.graph, &server, inputs, &Keeping::default())
    }

    fn decrypt(&self, circuit: &Circuit, outputs: Vec<LweCiphertext>) -> Vec<i128> {
        let outputs = unbound(circuit, outputs);
        let ports = circuit.outputs.iter().zip(&outputs);
        ports
            .map(|(port, limbs)| self.client.decrypt(port, limbs).unwrap())
            .collect()
    }
}

/// Returns a program with the sum, product, quotient, maximum and order of two integers, and a constant.
fn program(kind: Type) -> Program {
    let mut b = ProgramBuilder::new();
    let (x, y) = (b.input("x", kind), b.input("y", kind));
    for op in [Binary::Add, Binary::Mul, Binary::Div, Binary::Max] {
        let z = b.binary(op, x, y).unwrap();
        b.output("z", z).unwrap();
    }
    let less = b.compare(Comparison::Less, x, y).unwrap();
    b.output("less", less).unwrap();
    let five = b.constant(5, kind).unwrap();
    b.output("five", five).unwrap();
    b.finish()
}

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

/// Returns a program with every operation of two integers.
fn everything(kind: Type) -> Program {
    let mut b = ProgramBuilder::new();
    let (x, y) = (b.input("x", kind), b.input("y", kind));
    let mut results = Vec::new();
    for op in Binary::ALL {
        results.push(b.binary(op, x, y).unwrap());
    }
    for op in Comparison::ALL {
        let bit = b.compare(op, x, y).unwrap();
        results.push(bit);
        results.push(b.select(bit, x, y).unwrap());
    }
    let amount = b.convert(y, Type::new(3, false).unwrap()).unwrap();
    for shift in Shift::ALL {
        results.push(b.shift(shift, x, amount).unwrap());
        results.push(b.shift_by(shift, x, 1).unwrap());
    }
    results.push(b.not(x).unwrap());
    results.push(b.sum(&[x, y, x, y, y]).unwrap());
    let wide = Type::new(9, true).unwrap();
    results.push(b.convert(x, wide).unwrap());
    let index = b.convert(x, Type::new(4, false).unwrap()).unwrap();
    let entries: Vec<i128> = (0..16).map(|i| (i * i * 7) % 200).collect();
    results.push(b.table(index, &entries, wide).unwrap());
    for value in results {
        b.output("z", value).unwrap();
    }
    b.finish()
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

/// Returns keys and servers for booleans, one set for a ciphertext modulus that is a power of two,
/// and one for a prime.
fn booleans() -> [Setup; 2] {
    let prime = CiphertextModulus::Prime { bits: 32 };
    let toy = ParamsBuilder::toy_for_tests_only;
    [
        of(toy()),
        of(toy()
            .modulus(prime)
            .modulus_switch(ModulusSwitch::CentredMean)),
    ]
}

#[test]
fn every_operation_as_gates() {
    for (setup, signed) in booleans().iter().zip([false, true]) {
        let pairs = [(0, 0), (15, 15), (8, 15), (7, 3), (13, 2)];
        everything_is_right(setup, 4, signed, pairs.into_iter());
    }
}

/// Tests that a run of gates is saved and continued, gives the same on any number of threads, and is refused with keys
/// for digits.
#[test]
fn gates_are_kept_and_refused_as_lookups_are() {
    let [setup, _] = booleans();
    let kind = Type::new(8, false).unwrap();
    let circuit =
        Source::Program(&program(kind)).compile(setup.client.params(), -40.0, &Watch::default());
    let circuit = circuit.unwrap();
    let inputs = setup.encrypt(&circuit, &[200, 77]);
    let watch = Watch::default();
    let one = setup.run(&circuit, inputs.clone(), 1, &watch).unwrap();
    let two = setup.run(&circuit, inputs.clone(), 2, &watch).unwrap();
    assert_eq!(one.outputs, two.outputs);
    let path = std::env::temp_dir().join(format!("ringmill-gates-{}", std::process::id()));
    let stopped = Watch::default();
    let stopper = Stopper {
        after: 1,
        watch: &stopped,
    };
    let server = |watch, progress| Server {
        engine: Engine::Evaluator(&setup.evaluator),
        threads: 2,
        watch,
        progress,
    };
    let saving = Saving {
        path: path.clone(),
        every: std::time::Duration::ZERO,
    };
    let keeping = Keeping {
        saving: Some(saving),
        resume: None,
    };
    let halted = run(
        &circuit.graph,
        &server(&stopped, &stopper),
        inputs.clone(),
        &keeping,
    );
    assert!(
        matches!(halted, Err(CircuitRunError::Halt(_))),
        "{halted:?}"
    );
    let keeping = Keeping {
        saving: None,
        resume: Some(path.clone()),
    };
    let found = run(
        &circuit.graph,
        &server(&watch, &Silent),
        inputs.clone(),
        &keeping,
    )
    .unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(found.outputs, one.outputs);
    // The same circuit under keys for digits, and a circuit of digits under keys for bits.
    let digits = self::setup();
    let refused = digits.run(&circuit, inputs.clone(), 1, &watch);
    assert!(matches!(refused, Err(CircuitRunError::OtherBasis { .. })));
    let lookups = lower(&program(kind), 500, &Watch::default()).unwrap();
    let refused = setup.run(&lookups, inputs, 1, &watch);
    assert!(matches!(refused, Err(CircuitRunError::OtherBasis { .. })));
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

/// Returns a program that reads a table of integers, whose circuit has many tables at few sums.
fn table_program(entries: &[i128]) -> Program {
    let mut b = ProgramBuilder::new();
    let (index, of) = (Type::new(6, false).unwrap(), Type::new(8, false).unwrap());
    let (x, y) = (b.input("x", index), b.input("y", of));
    let entry = b.table(x, entries, of).unwrap();
    let sum = b.binary(Binary::Add, entry, y).unwrap();
    b.output("sum", sum).unwrap();
    b.finish()
}

/// Returns parameters with less noise than the toy ones, so that lookups share blind rotations.
fn quiet() -> ParamsBuilder {
    ParamsBuilder::toy_circuits_for_tests_only().sizes(|s| s.glwe_std /= 16.0)
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

/// Tests that a checkpoint has the results of all lookups that share a blind rotation, or of none. A file with some of
/// them is refused.
#[test]
fn half_a_rotation_is_no_checkpoint() {
    let setup = of(quiet());
    let entries: Vec<i128> = (0..64).map(|i| (i * i) % 256).collect();
    let circuit = setup.lowered(&table_program(&entries));
    let graph = &circuit.graph;
    let inputs = setup.encrypt(&circuit, &[5, 6]);
    let rotation = graph.rotations().into_iter().find(|r| r.len() > 1).unwrap();
    let path = std::env::temp_dir().join(format!("ringmill-half-{}", std::process::id()));
    let read = |half: bool| {
        let mut done = vec![false; graph.lookups.len()];
        let taken = if half { &rotation[1..] } else { &rotation[..] };
        taken.iter().for_each(|&at| done[at] = true);
        let kept = checkpoint::kept(graph, &done).len();
        let reached = Reached {
            done,
            ciphertexts: vec![inputs[0].clone(); kept],
        };
        let (whose, params) = (Whose::of(graph, &inputs), setup.client.params());
        let bytes = checkpoint::bytes(whose, params, &reached).unwrap();
        checkpoint::put(&path, &bytes).unwrap();
        checkpoint::read(&path, whose, params, graph, &Watch::default())
    };
    assert!(read(false).is_ok());
    assert!(matches!(
        read(true),
        Err(CircuitRunError::Checkpoint(CheckpointError::Damaged { .. }))
    ));
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn refusals() {
    let (setup, other) = (setup(), self::setup());
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

/// An observer of progress that stops the run once it reports `after` bootstraps as done.
struct Stopper<'a> {
    after: u64,
    watch: &'a Watch,
}

impl Progress for Stopper<'_> {
    fn told(&self, _: &str) {}

    fn step(&self, step: Step) {
        if step.done >= self.after {
            self.watch.stop();
        }
    }
}

#[test]
fn a_stopped_run_goes_on_to_the_same_ciphertexts() {
    let setup = setup();
    let kind = Type::new(16, false).unwrap();
    let circuit = setup.lowered(&program(kind));
    let inputs = setup.encrypt(&circuit, &[50_000, 123]);
    let whole = setup
        .run(&circuit, inputs.clone(), 2, &Watch::default())
        .unwrap();
    let folder = std::env::temp_dir().join(format!("ringmill-circuit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("checkpoint");
    let saving = |every| {
        Some(Saving {
            path: path.clone(),
            every,
        })
    };
    // Each run is saved after every lookup and stopped by a clock, and the next continues it.
    let mut resume = None;
    let mut stops = 0;
    let found = loop {
        let watch = Watch::default();
        let server = Server {
            engine: Engine::Evaluator(&setup.evaluator),
            threads: 2,
            watch: &watch,
            progress: &Silent,
        };
        let keeping = Keeping {
            saving: saving(std::time::Duration::ZERO),
            resume: resume.clone(),
        };
        // The time grows, so that the loop ends on a slow computer too.
        let moment = std::time::Duration::from_millis(40 + 10 * stops);
        let stop = std::thread::spawn({
            let watch = watch.clone();
            move || {
                std::thread::sleep(moment);
                watch.stop();
            }
        });
        let ran = run(&circuit.graph, &server, inputs.clone(), &keeping);
        stop.join().unwrap();
        match ran {
            Ok(ran) => break ran.outputs,
            Err(CircuitRunError::Halt(Halt::Interrupted)) => stops += 1,
            Err(error) => panic!("{error}"),
        }
        assert!(stops < 1000);
        resume = Some(path.clone());
    };
    assert_eq!(found, whole.outputs);
    // Checkpoints of another circuit, of other inputs, or damaged ones are refused.
    let watch = Watch::default();
    let server = Server {
        engine: Engine::Evaluator(&setup.evaluator),
        threads: 1,
        watch: &watch,
        progress: &Silent,
    };
    let keeping = Keeping {
        saving: None,
        resume: Some(path.clone()),
    };
    let stopped = Watch::default();
    let stopper = Stopper {
        after: 1,
        watch: &stopped,
    };
    let slow = Server {
        watch: &stopped,
        progress: &stopper,
        ..server
    };
    stopped.stop();
    let saved = Keeping {
        saving: saving(std::time::Duration::from_secs(1000)),
        resume: None,
    };
    assert!(run(&circuit.graph, &slow, inputs.clone(), &saved).is_err());
    assert!(run(&circuit.graph, &server, inputs.clone(), &keeping).is_ok());
    let others = setup.encrypt(&circuit, &[50_000, 123]);
    let other = setup.lowered(&everything(kind));
    for (graph, inputs) in [(&circuit.graph, others), (&other.graph, inputs.clone())] {
        let refused = run(graph, &server, inputs, &keeping);
        assert!(matches!(
            refused,
            Err(CircuitRunError::Checkpoint(
                CheckpointError::OtherData { .. } | CheckpointError::OtherProgram { .. }
            ))
        ));
    }
    let bytes = std::fs::read(&path).unwrap();
    for at in (0..bytes.len()).step_by(bytes.len() / 40) {
        for cut in [true, false] {
            let mut bytes = bytes.clone();
            if cut {
                bytes.truncate(at);
            } else {
                bytes[at] ^= 1;
            }
            std::fs::write(&path, bytes).unwrap();
            let refused = run(&circuit.graph, &server, inputs.clone(), &keeping);
            assert!(matches!(refused, Err(CircuitRunError::Checkpoint(_))));
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
