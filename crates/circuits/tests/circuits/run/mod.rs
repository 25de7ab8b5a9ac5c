// SPDX-License-Identifier: Apache-2.0
//! Keys, servers and programs with toy parameters, which the tests of circuits on encrypted inputs share.

mod kept;
mod results;

use ringmill_device::progress::Silent;
use ringmill_limits::Watch;

use ringmill_circuits::Bootstrap;
use ringmill_circuits::circuit::program::{Binary, Comparison, Shift};
use ringmill_circuits::circuit::{Circuit, Program, ProgramBuilder, Type, lower};
use ringmill_circuits::run::client::{CircuitClient, bound, unbound};
use ringmill_circuits::run::server::{Server, run};
use ringmill_circuits::run::{CircuitRun, CircuitRunError, Engine, Keeping};
use ringmill_circuits::tfhe::{
    CiphertextModulus, Client, Evaluator, LweCiphertext, ModulusSwitch, Params, ParamsBuilder,
};

pub struct Setup {
    pub client: CircuitClient,
    pub evaluator: Evaluator,
    pub bootstrap: Bootstrap,
}

pub fn setup() -> Setup {
    of(ParamsBuilder::toy_circuits_for_tests_only())
}

pub fn of(builder: ParamsBuilder) -> Setup {
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
    pub fn lowered(&self, program: &Program) -> Circuit {
        lower(program, limit(self.client.params()), &Watch::default()).unwrap()
    }

    pub fn encrypt(&self, circuit: &Circuit, inputs: &[i128]) -> Vec<LweCiphertext> {
        let watch = Watch::default();
        let ports = circuit.inputs.iter().zip(inputs);
        let each = ports.map(|(port, &x)| self.client.encrypt(port, x, &watch).unwrap());
        bound(circuit, each.collect()).unwrap()
    }

    pub fn run(
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

    pub fn run_by(
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

    pub fn decrypt(&self, circuit: &Circuit, outputs: Vec<LweCiphertext>) -> Vec<i128> {
        let outputs = unbound(circuit, outputs);
        let ports = circuit.outputs.iter().zip(&outputs);
        ports
            .map(|(port, limbs)| self.client.decrypt(port, limbs).unwrap())
            .collect()
    }
}

/// Returns a program with the sum, product, quotient, maximum and order of two integers, and a constant.
pub fn program(kind: Type) -> Program {
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

/// Returns a program with every operation of two integers.
pub fn everything(kind: Type) -> Program {
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

/// Returns keys and servers for booleans, one set for a ciphertext modulus that is a power of two,
/// and one for a prime.
pub fn booleans() -> [Setup; 2] {
    let prime = CiphertextModulus::Prime { bits: 32 };
    let toy = ParamsBuilder::toy_for_tests_only;
    [
        of(toy()),
        of(toy()
            .modulus(prime)
            .modulus_switch(ModulusSwitch::CentredMean)),
    ]
}

/// Returns a program that reads a table of integers, whose circuit has many tables at few sums.
pub fn table_program(entries: &[i128]) -> Program {
    let mut b = ProgramBuilder::new();
    let (index, of) = (Type::new(6, false).unwrap(), Type::new(8, false).unwrap());
    let (x, y) = (b.input("x", index), b.input("y", of));
    let entry = b.table(x, entries, of).unwrap();
    let sum = b.binary(Binary::Add, entry, y).unwrap();
    b.output("sum", sum).unwrap();
    b.finish()
}

/// Returns parameters with less noise than the toy ones, so that lookups share blind rotations.
pub fn quiet() -> ParamsBuilder {
    ParamsBuilder::toy_circuits_for_tests_only().sizes(|s| s.glwe_std /= 16.0)
}
