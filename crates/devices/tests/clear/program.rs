//! Programs: calls of the operations' procedures, one after the other.

use std::sync::Arc;

use ringmill_devices::Outcome;
use ringmill_devices::report::KeyReport;
use ringmill_devices::runtime::{Executable, PlainFrom, Port, RuntimeError};
use ringmill_isa::VerifyError;
use ringmill_isa::mid::{
    Call, Form, Input, InputRole, LimbId, LimbType, ModulusId, Output, Program, TableModulus,
    Unrolled,
};
use ringmill_schemes::call::bind;
use ringmill_schemes::{At, ParameterSet, ProcCache};

use super::parties::{KeyHolder, Operator};
use super::{Clear, ClearError, NoKey, Operation, Params};

/// A value of a program: one limb a prime.
#[derive(Clone)]
pub struct Handle(Vec<LimbId>);

pub struct Builder {
    cache: ProcCache<Clear>,
    inputs: Vec<(String, bool)>,
    outputs: Vec<String>,
    plains: Vec<u32>,
    constants: Vec<Vec<u64>>,
    program: Unrolled,
}

pub struct Compiled {
    params: Arc<Params>,
    inputs: Vec<(String, bool)>,
    outputs: Vec<String>,
    /// For each plaintext the plain input it comes from; after these, one a constant.
    plains: Vec<u32>,
    constants: Vec<Vec<u64>>,
    program: Program,
    unrolled: Unrolled,
}

impl Builder {
    pub fn new(params: Arc<Params>) -> Self {
        let program = Unrolled::empty(params.log_n(), TableModulus::primes(params.moduli()));
        Self {
            cache: ProcCache::new(params),
            inputs: Vec::new(),
            outputs: Vec::new(),
            plains: Vec::new(),
            constants: Vec::new(),
            program,
        }
    }

    fn limb(&mut self, q: usize) -> LimbId {
        self.program.limbs.push(LimbType {
            ring: self.cache.params().ring(),
            modulus: ModulusId(q as u16),
            form: Form::Eval,
        });
        LimbId(self.program.limbs.len() as u32 - 1)
    }

    fn taken(&mut self, name: &str, role: InputRole) -> Handle {
        let count = self.cache.params().moduli().len();
        let limbs = (0..count).map(|q| {
            let limb = self.limb(q);
            let name = format!("{name}.q{q}");
            self.program.inputs.push(Input { limb, name, role });
            limb
        });
        Handle(limbs.collect())
    }

    pub fn input(&mut self, name: &str) -> Handle {
        self.inputs.push((name.to_owned(), true));
        let input = self.inputs.len() as u32 - 1;
        self.taken(name, InputRole::Cipher { input, poly: 0 })
    }

    /// Plain inputs come before constants.
    pub fn plain(&mut self, name: &str) -> Handle {
        self.inputs.push((name.to_owned(), false));
        self.plains.push(self.inputs.len() as u32 - 1);
        let input = self.plains.len() as u32 - 1;
        self.taken(name, InputRole::Plain { input })
    }

    pub fn constant(&mut self, entries: Vec<u64>) -> Handle {
        self.constants.push(entries);
        let input = (self.plains.len() + self.constants.len()) as u32 - 1;
        self.taken(&format!("constant{input}"), InputRole::Plain { input })
    }

    pub fn call(&mut self, operation: Operation, a: &Handle, b: &Handle) -> Handle {
        let procedure = self.cache.get(&operation).unwrap();
        let bound = bind(
            &procedure,
            &mut [a, b],
            |operands, place| {
                let operand = operands.get(usize::from(place.arg))?;
                operand.0.get(usize::from(place.modulus.0)).copied()
            },
            |_, _| None::<u32>,
        );
        let bound = bound.unwrap();
        let results = (0..procedure.results.len()).map(|q| self.limb(q));
        let results: Vec<LimbId> = results.collect();
        let procs = &mut self.program.procs;
        let found = procs.iter().position(|p| p.name == procedure.name);
        let proc = found.unwrap_or(procs.len());
        if proc == procs.len() {
            procs.push(procedure);
        }
        self.program.calls.push(Call {
            proc: proc as u32,
            args: bound.limbs,
            seeds: bound.seeds,
            results: results.clone(),
            loc: None,
        });
        Handle(results)
    }

    pub fn output(&mut self, name: &str, value: &Handle) {
        let output = self.outputs.len() as u32;
        self.outputs.push(name.to_owned());
        for (q, &limb) in value.0.iter().enumerate() {
            let name = format!("{name}.q{q}");
            self.program.outputs.push(Output {
                limb,
                name,
                output,
                poly: 0,
            });
        }
    }

    pub fn finish(self) -> Arc<Compiled> {
        let calls = self.program.calls.len();
        let program = Program::from(self.program);
        let unrolled = Unrolled::of(&program, calls).unwrap();
        Arc::new(Compiled {
            params: Arc::clone(self.cache.params()),
            inputs: self.inputs,
            outputs: self.outputs,
            plains: self.plains,
            constants: self.constants,
            program,
            unrolled,
        })
    }
}

impl Compiled {
    fn at(&self) -> At<()> {
        At {
            level: self.params.level(),
            annotation: (),
        }
    }
}

impl Executable for Compiled {
    type Scheme = Clear;
    type Holder = KeyHolder;
    type Operator = Operator;
    type Report = String;

    fn params(&self) -> &Arc<Params> {
        &self.params
    }

    fn program(&self) -> &Program {
        &self.program
    }

    fn unrolled(&self) -> Result<&Unrolled, VerifyError> {
        Ok(&self.unrolled)
    }

    fn inputs(&self) -> Vec<Port<'_, Clear>> {
        let inputs = self.inputs.iter();
        inputs
            .map(|(name, encrypted)| Port {
                name,
                encrypted: *encrypted,
                at: self.at(),
            })
            .collect()
    }

    fn outputs(&self) -> Vec<Port<'_, Clear>> {
        let outputs = self.outputs.iter();
        outputs
            .map(|name| Port {
                name,
                encrypted: true,
                at: self.at(),
            })
            .collect()
    }

    fn plaintexts(&self) -> Vec<(PlainFrom, At<()>)> {
        let inputs = self.plains.iter().map(|&i| PlainFrom::Input(i));
        let constants = (0..self.constants.len() as u32).map(PlainFrom::Constant);
        inputs
            .chain(constants)
            .map(|from| (from, self.at()))
            .collect()
    }

    fn constant(&self, number: u32) -> Option<Vec<u64>> {
        self.constants.get(number as usize).cloned()
    }

    fn keys(&self) -> &[NoKey] {
        &[]
    }

    fn seeded(&self) -> bool {
        false
    }

    fn key_bytes(&self) -> u64 {
        0
    }

    fn length(&self) -> usize {
        self.params.degree()
    }

    fn check(&self, input: usize, entries: &Vec<u64>) -> Result<(), RuntimeError<ClearError>> {
        let (expected, got) = (self.length(), entries.len());
        if expected == got {
            return Ok(());
        }
        Err(RuntimeError::VectorLength {
            name: self.inputs[input].0.clone(),
            expected,
            got,
        })
    }

    fn report(&self, device: &str, outcome: &Outcome, _: Option<KeyReport>) -> String {
        let cycles = outcome.machine.as_ref().map(|m| m.cycles);
        format!("{} on {device}: {cycles:?} cycles", self.params.summary())
    }
}
