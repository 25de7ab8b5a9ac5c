// SPDX-License-Identifier: Apache-2.0
//! Programs run on devices, and compared with the same arithmetic in the clear.

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

/// A scheme of whole numbers.
pub trait Whole: Runs<Message = Vec<i64>, Range = IntegerRange, Prediction = Prediction> {
    /// Bits by which a measured budget may be below the one that was predicted of it, for rounding.
    const ROUNDED: f64;

    fn budget(client: &Client<Self>, cipher: &Self::Ciphertext) -> u32;
}

impl Whole for Bfv {
    /// A budget is measured in whole bits, rounded down by up to two.
    const ROUNDED: f64 = 2.0;

    fn budget(client: &Client<Self>, cipher: &Self::Ciphertext) -> u32 {
        client.noise_budget(cipher).unwrap()
    }
}

impl Whole for Bgv {
    /// Predicted as it is measured.
    const ROUNDED: f64 = 0.0;

    fn budget(client: &Client<Self>, cipher: &Self::Ciphertext) -> u32 {
        client.noise_budget(cipher).unwrap()
    }
}

/// Outputs by name and, for each of the program's, its predicted and its measured budget.
pub type Ran = (BTreeMap<String, Vec<i64>>, Vec<(f64, u32)>);

/// Runs a program on a device; `None` where a plain vector of zeros would let an output show.
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

/// What random programs came to.
pub struct Tally {
    pub ran: usize,
    /// Refused, as their values or their noise are too large.
    pub refused: usize,
    /// The least and the largest slack of predicted noise, in bits.
    pub least: f64,
    pub most: f64,
    /// What programs were made of.
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

    /// Compiles and runs one program on a device: every output is what it is in the clear, within its predicted budget.
    pub fn try_one<S: Whole>(
        &mut self,
        seed: u64,
        draw: &mut Draw,
        (program, largest): (&MacroProgram, i64),
        options: &Options<S>,
        device: &str,
    ) {
        // Every other one says what moves and when it ends.
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
        // What management adds leaves the slots alone, and the text says all of it. Tests for zero it writes out modulo the
        // plaintext modulus, which evaluation in the clear knows nothing of.
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
