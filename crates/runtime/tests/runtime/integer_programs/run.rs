// SPDX-License-Identifier: Apache-2.0
//! Runs programs on devices, and compares them with the computation without encryption.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ringmill_compiler::exact::reference::evaluate;
use ringmill_compiler::exact::{IntegerRange, Prediction};
use ringmill_compiler::{CompileError, Compiled, Options, compile};
use ringmill_device::Request;
use ringmill_device::progress::Silent;
use ringmill_isa::macros::text::{parse, print};
use ringmill_isa::macros::{MacroOp, MacroProgram};
use ringmill_runtime::{Client, Runs, RuntimeError, Server};
use ringmill_schemes::bfv::Bfv;
use ringmill_schemes::bgv::Bgv;
use ringmill_sim::open;

use crate::integer_programs::draw::Draw;

/// A scheme of whole numbers, with what the tests need of it.
pub trait Whole: Runs<Message = Vec<i64>, Range = IntegerRange, Prediction = Prediction> {
    /// The bits by which a measured noise budget may be below the predicted one because of rounding.
    const ROUNDED: f64;

    fn budget(client: &Client<Self>, cipher: &Self::Ciphertext) -> u32;
}

impl Whole for Bfv {
    /// A BFV budget is measured in whole bits, rounded down by up to two.
    const ROUNDED: f64 = 2.0;

    fn budget(client: &Client<Self>, cipher: &Self::Ciphertext) -> u32 {
        client.noise_budget(cipher).unwrap()
    }
}

impl Whole for Bgv {
    /// A BGV budget is predicted in the same way in which it is measured.
    const ROUNDED: f64 = 0.0;

    fn budget(client: &Client<Self>, cipher: &Self::Ciphertext) -> u32 {
        client.noise_budget(cipher).unwrap()
    }
}

/// The outputs of a run by name, and the predicted and the measured noise budget of each.
pub type Ran = (BTreeMap<String, Vec<i64>>, Vec<(f64, u32)>);

/// Runs a program on a device. Returns `None` if an output is transparent, as with a plain vector of zeros.
pub fn run<S: Whole>(
    compiled: &Arc<Compiled<S>>,
    device: &str,
    vectors: &[Vec<i64>; 3],
) -> Option<Ran> {
    let client = Client::<S>::new(Arc::clone(compiled)).unwrap();
    let [x, y, p] = vectors.clone();
    let inputs = BTreeMap::from([("x".to_owned(), x), ("y".to_owned(), y)]);
    let inputs = client.encrypt(&inputs).unwrap();
    let keys = client.evaluation_keys().unwrap();
    let server = Server::new(Arc::clone(compiled), keys).unwrap();
    let plain = BTreeMap::from([("p".to_owned(), p)]);
    let device = open(device).unwrap();
    let request = Request::function_only();
    let outputs = match server.run(&*device, &inputs, &plain, request, &Silent) {
        Ok(answer) => answer.outputs.unwrap(),
        Err(RuntimeError::Transparent { .. }) => return None,
        Err(error) => panic!("{error}"),
    };
    let budgets = compiled.outputs.iter().zip(&compiled.predicted);
    let budgets = budgets.map(|(output, predicted)| {
        let measured = S::budget(&client, &outputs[&output.name]);
        (predicted.budget, measured)
    });
    let budgets = budgets.collect();
    Some((client.decrypt(&outputs).unwrap(), budgets))
}

/// The counts and figures of a series of random programs.
pub struct Tally {
    pub ran: usize,
    /// The number of programs that were refused because their values or their noise are too large.
    pub refused: usize,
    /// The least difference, in bits, of a measured noise budget and its prediction. `most` is the largest.
    pub least: f64,
    pub most: f64,
    /// The operations that the programs contain.
    pub seen: BTreeSet<MacroOp>,
}

impl Tally {
    pub fn new() -> Self {
        Self {
            ran: 0,
            refused: 0,
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
            seen: BTreeSet::new(),
        }
    }

    /// Compiles and runs one program on a device. Checks that every output equals that without encryption and has its
    /// predicted noise budget.
    pub fn try_one<S: Whole>(
        &mut self,
        seed: u64,
        draw: &mut Draw,
        (program, largest): (&MacroProgram, i64),
        options: &Options<S>,
        device: &str,
    ) {
        // Every second program is compiled with explicit loads, stores and ends.
        let options = Options {
            explicit: seed % 2 == 1,
            ..options.clone()
        };
        let compiled = match compile(program.clone(), &options) {
            Ok(compiled) => Arc::new(compiled),
            Err(CompileError::Transparent { .. }) => return,
            Err(
                CompileError::PlainRange { .. }
                | CompileError::Unbounded { .. }
                | CompileError::TooNoisy { .. },
            ) => {
                self.refused += 1;
                return;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        };
        let vectors = [0; 3].map(|_| draw.vector(program.slots, largest));
        let expected = evaluate(program, &clear(&vectors)).unwrap();
        // The operations that the compiler adds for levels and noise leave the slots unchanged, and the printed text
        // holds the whole program. The compiler replaces a test for zero by a computation modulo the plaintext modulus,
        // so such programs are left out here.
        if !program.instrs.iter().any(|i| i.op == MacroOp::Iszero) {
            let managed = evaluate(&compiled.managed, &clear(&vectors)).unwrap();
            assert_eq!(managed, expected, "seed {seed}, managed");
        }
        assert_eq!(parse(&print(&compiled.managed)).unwrap(), compiled.managed);
        assert_eq!(compiled.program.halts(), options.explicit, "seed {seed}");
        let Some((outputs, budgets)) = run(&compiled, device, &vectors) else {
            return;
        };
        for ((output, expected), (predicted, measured)) in
            compiled.outputs.iter().zip(expected).zip(budgets)
        {
            let got: Vec<i128> = outputs[&output.name].iter().map(|&v| v.into()).collect();
            assert_eq!(got, expected, "seed {seed}, {}", output.name);
            let slack = f64::from(measured) + S::ROUNDED - predicted;
            assert!(
                slack >= 0.0,
                "seed {seed}: {predicted} predicted, {measured} measured"
            );
            (self.least, self.most) = (self.least.min(slack), self.most.max(slack));
        }
        let instrs = &compiled.managed.instrs;
        self.seen.extend(instrs.iter().map(|instr| instr.op));
        self.ran += 1;
    }

    pub fn print(&self) {
        let Self {
            ran,
            refused,
            least,
            most,
            ..
        } = self;
        println!("{ran} programs, {refused} refused, slack {least:.1} to {most:.1} bits");
    }
}

pub fn clear(vectors: &[Vec<i64>]) -> Vec<Vec<i128>> {
    let vectors = vectors.iter();
    vectors
        .map(|v| v.iter().map(|&x| x.into()).collect())
        .collect()
}
