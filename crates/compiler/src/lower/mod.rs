//! From a managed macro program to the mid level: one call of a cached procedure a macro instruction. `MUL` and `SQUARE`
//! whose only use is their `RELIN` become one call with it; `MODSWITCH` drops limbs and calls nothing.

mod call;

use std::collections::{BTreeSet, HashMap};

use ringmill_isa::macros::{
    LevelNote, LevelScale, MacroImm, MacroInstr, MacroOp, MacroProgram, MacroType, MacroValue,
};
use ringmill_isa::mid::pack::{Loose, pack};
use ringmill_isa::mid::walk::Held;
use ringmill_isa::mid::{HeadOutput, InputRole, ModulusId, Operand, Program, TableModulus};
use ringmill_isa::source::SourceLoc;
use ringmill_limits::Watch;
use ringmill_schemes::ckks::encoder::scalar_residues;
use ringmill_schemes::ckks::{Galois, Level, OpKey, ProcCache};
pub use ringmill_schemes::rlwe::KeyRequest;

use crate::error::{At, CompileError};
use crate::rewrite::{is_cipher, use_counts};

/// A vector that is encoded before the program runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PlainSource {
    /// Constant vector of the managed program, by its index in that program's `data` (folding adds vectors to the source's).
    Data(u32),
    /// Plain input, by its index in `inputs`.
    Input(u32),
}

/// An encoded plaintext that the program takes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlainRequest {
    pub from: PlainSource,
    pub at: LevelScale,
}

/// The mid-level program and what its inputs stand for.
#[derive(Debug)]
pub(crate) struct Lowered {
    pub program: Program,
    pub plaintexts: Vec<PlainRequest>,
    pub keys: Vec<KeyRequest>,
}

/// Limbs of a macro value, polynomial by polynomial.
type Limbs = Vec<Vec<Held>>;

struct Lowering<'a> {
    source: &'a MacroProgram,
    procs: &'a ProcCache,
    seeded: bool,
    /// Everything but its steps.
    program: Program,
    steps: Vec<Loose>,
    /// Limbs made so far.
    made: u32,
    /// What each of the program's outputs is.
    outputs: Vec<Held>,
    /// Index in `program.procs`.
    proc_of: HashMap<OpKey, u32>,
    limbs: Vec<Limbs>,
    /// For each product that waits for its `RELIN`: its operands.
    fused: HashMap<MacroValue, MacroInstr>,
    plaintexts: Vec<PlainRequest>,
    keys: Vec<KeyRequest>,
    key_numbers: HashMap<KeyRequest, u32>,
    key_limbs: HashMap<(u32, usize, ModulusId), Held>,
    seed_of_key: HashMap<u32, u32>,
}

/// Lowers `source`, whose Galois elements are `galois`. With `seeded`, key halves come from seeds.
///
/// # Errors
/// Constants that cannot be encoded; what the scheme layer or the verifier refuses.
pub(crate) fn run(
    source: &MacroProgram,
    galois: &BTreeSet<u32>,
    procs: &ProcCache,
    seeded: bool,
    watch: &Watch,
) -> Result<Lowered, CompileError> {
    let params = procs.params();
    let relinearises = source.instrs.iter().any(|i| i.op == MacroOp::Relin);
    let keys: Vec<KeyRequest> = relinearises
        .then_some(KeyRequest::Relin)
        .into_iter()
        .chain(galois.iter().map(|&g| KeyRequest::Galois(g)))
        .collect();
    let mut lowering = Lowering {
        source,
        procs,
        seeded,
        program: Program {
            log_n: params.log_n(),
            moduli: TableModulus::primes(params.moduli()),
            procs: Vec::new(),
            blocks: Vec::new(),
            inputs: Vec::new(),
            seeds: Vec::new(),
            steps: Vec::new(),
            outputs: Vec::new(),
        },
        steps: Vec::new(),
        made: 0,
        outputs: Vec::new(),
        proc_of: HashMap::new(),
        limbs: vec![Vec::new(); source.types.len()],
        fused: HashMap::new(),
        plaintexts: Vec::new(),
        key_numbers: keys.iter().copied().zip(0..).collect(),
        keys,
        key_limbs: HashMap::new(),
        seed_of_key: HashMap::new(),
    };
    let uses = use_counts(&source.instrs, source.types.len());
    let mut relinearised = vec![false; source.types.len()];
    for instr in source.instrs.iter().filter(|i| i.op == MacroOp::Relin) {
        instr
            .src
            .iter()
            .for_each(|v| relinearised[v.0 as usize] = true);
    }
    for instr in &source.instrs {
        watch.check()?;
        let fuses = |v: &MacroValue| relinearised[v.0 as usize] && uses[v.0 as usize] == 1;
        match (instr.op, instr.dst.as_slice()) {
            (MacroOp::Square, [v]) if fuses(v) => {
                lowering.fused.insert(*v, instr.clone());
            }
            (MacroOp::Mul, [v])
                if fuses(v) && instr.src.iter().all(|&s| is_cipher(&source.types, s)) =>
            {
                lowering.fused.insert(*v, instr.clone());
            }
            _ => lowering.instr(instr)?,
        }
    }
    let Lowering {
        mut program,
        steps,
        made,
        outputs,
        plaintexts,
        keys,
        ..
    } = lowering;
    let (steps, outputs) = pack(0, made as usize, steps, &outputs);
    program.steps = steps;
    for (output, from) in program.outputs.iter_mut().zip(outputs) {
        output.from = from;
    }
    ringmill_isa::mid::verify_program(&program)?;
    Ok(Lowered {
        program,
        plaintexts,
        keys,
    })
}

impl Lowering<'_> {
    fn at(&self, value: MacroValue) -> LevelScale {
        let unmanaged = LevelScale {
            level: 0,
            scale: 1.0,
        };
        match self.source.types[value.0 as usize] {
            MacroType::Cipher { at, .. } | MacroType::Plain { at } => {
                at.and_then(LevelNote::scaled).unwrap_or(unmanaged)
            }
        }
    }

    fn level(&self, value: MacroValue) -> u32 {
        self.at(value).level
    }

    fn size(&self, value: MacroValue) -> u32 {
        match self.source.types[value.0 as usize] {
            MacroType::Cipher { size, .. } => size,
            MacroType::Plain { .. } => 1,
        }
    }

    fn instr(&mut self, instr: &MacroInstr) -> Result<(), CompileError> {
        let (seeded, loc) = (self.seeded, &instr.loc);
        let galois = |step: i32| self.procs.params().galois_element(i64::from(step));
        match (instr.op, instr.src.as_slice(), &instr.imm) {
            (MacroOp::Input, [], &MacroImm::Input(i)) => self.program_input(instr, i),
            (MacroOp::Encode, [], &MacroImm::Data(d)) => {
                self.plaintext(instr, PlainSource::Data(d))
            }
            (MacroOp::Output, &[a], &MacroImm::Output(o)) => self.output(a, o),
            (MacroOp::Modswitch, &[a], &MacroImm::Level(level)) => {
                let kept = self.limbs[a.0 as usize]
                    .iter()
                    .map(|p| p.iter().take(level as usize + 1).copied().collect());
                let kept = kept.collect();
                self.define(instr, kept);
            }
            (MacroOp::Add | MacroOp::Sub | MacroOp::Mul, &[a, b], _) => {
                let key = self.binary(instr.op, a, b);
                self.call(key, instr, &[a, b], &[], loc)?;
            }
            (MacroOp::Neg, &[a], _) => {
                let key = OpKey::neg(Level(self.level(a)), self.size(a));
                self.call(key, instr, &[a], &[], loc)?;
            }
            (MacroOp::Square, &[a], _) => {
                self.call(OpKey::square(Level(self.level(a))), instr, &[a], &[], loc)?;
            }
            (MacroOp::Addc, &[a], &MacroImm::Constant { value, .. }) => {
                let residues = self.constant(value, self.at(a).scale, a, loc)?;
                let key = OpKey::add_scalar(Level(self.level(a)), self.size(a), residues);
                self.call(key, instr, &[a], &[], loc)?;
            }
            (MacroOp::Mulc, &[a], &MacroImm::Constant { value, scale }) => {
                let residues = self.constant(value, scale.unwrap_or(1.0), a, loc)?;
                let key = OpKey::mul_scalar(Level(self.level(a)), self.size(a), residues);
                self.call(key, instr, &[a], &[], loc)?;
            }
            (MacroOp::Relin, &[a], _) => self.relinearise(instr, a)?,
            (MacroOp::Rescale, &[a], _) => {
                let key = OpKey::rescale(Level(self.level(a)), self.size(a));
                self.call(key, instr, &[a], &[], loc)?;
            }
            (MacroOp::Rotate, &[a], MacroImm::Steps(steps)) => {
                let galois = steps.first().map_or(Ok(1), |&s| galois(s))?;
                let key = OpKey::rotate(Level(self.level(a)), Galois(galois), seeded);
                self.call(key, instr, &[a], &[KeyRequest::Galois(galois)], loc)?;
            }
            (MacroOp::Hrotate, &[a], MacroImm::Steps(steps)) => {
                let galois = steps
                    .iter()
                    .map(|&s| galois(s))
                    .collect::<Result<Vec<_>, _>>()?;
                let keys: Vec<KeyRequest> = galois.iter().map(|&g| KeyRequest::Galois(g)).collect();
                let key = OpKey::hoisted_rotate(
                    Level(self.level(a)),
                    galois.into_iter().map(Galois),
                    seeded,
                );
                self.call(key, instr, &[a], &keys, loc)?;
            }
            (MacroOp::Conj, &[a], _) => {
                let galois = self.procs.params().conjugation_element();
                let key = OpKey::rotate(Level(self.level(a)), Galois(galois), seeded);
                self.call(key, instr, &[a], &[KeyRequest::Galois(galois)], loc)?;
            }
            // The macro verifier has refused other shapes, and calls and repeats are written out before.
            (
                MacroOp::Input
                | MacroOp::Encode
                | MacroOp::Add
                | MacroOp::Sub
                | MacroOp::Neg
                | MacroOp::Addc
                | MacroOp::Mulc
                | MacroOp::Mul
                | MacroOp::Square
                | MacroOp::Relin
                | MacroOp::Rescale
                | MacroOp::Modswitch
                | MacroOp::Rotate
                | MacroOp::Hrotate
                | MacroOp::Conj
                | MacroOp::Call
                | MacroOp::Repeat
                | MacroOp::Output,
                _,
                _,
            ) => {
                return Err(CompileError::Misshapen {
                    at: At(instr.loc.clone()),
                    op: instr.op.mnemonic(),
                });
            }
        }
        Ok(())
    }

    fn binary(&self, op: MacroOp, a: MacroValue, b: MacroValue) -> OpKey {
        let (level, size_a, size_b) = (self.level(a), self.size(a), self.size(b));
        match (op, is_cipher(&self.source.types, b)) {
            (MacroOp::Add, true) => OpKey::add(Level(level), size_a, size_b),
            (MacroOp::Sub, true) => OpKey::sub(Level(level), size_a, size_b),
            (MacroOp::Add, false) => OpKey::add_plain(Level(level), size_a),
            (MacroOp::Sub, false) => OpKey::sub_plain(Level(level), size_a),
            (_, true) => OpKey::mul(Level(level)),
            (_, false) => OpKey::mul_plain(Level(level), size_a),
        }
    }

    fn constant(
        &self,
        value: f64,
        scale: f64,
        a: MacroValue,
        loc: &Option<SourceLoc>,
    ) -> Result<Vec<u64>, CompileError> {
        scalar_residues(self.procs.params(), value, self.level(a), scale).map_err(|why| {
            CompileError::BadConstant {
                at: At(loc.clone()),
                value,
                why,
            }
        })
    }

    fn define(&mut self, instr: &MacroInstr, limbs: Limbs) {
        if let Some(v) = instr.dst.first() {
            self.limbs[v.0 as usize] = limbs;
        }
    }

    fn program_input(&mut self, instr: &MacroInstr, input: u32) {
        let Some(&v) = instr.dst.first() else { return };
        if !is_cipher(&self.source.types, v) {
            return self.plaintext(instr, PlainSource::Input(input));
        }
        let name = self
            .source
            .inputs
            .get(input as usize)
            .map_or("", |i| i.name.as_str())
            .to_owned();
        let limbs = (0..self.size(v) as u16)
            .map(|poly| {
                Self::moduli_at(self.level(v))
                    .map(|q| {
                        self.input(
                            format!("{name}.c{poly}.q{}", q.0),
                            q,
                            InputRole::Cipher { input, poly },
                        )
                    })
                    .collect()
            })
            .collect();
        self.define(instr, limbs);
    }

    fn plaintext(&mut self, instr: &MacroInstr, from: PlainSource) {
        let Some(&v) = instr.dst.first() else { return };
        let at = self.at(v);
        let input = self.plaintexts.len() as u32;
        self.plaintexts.push(PlainRequest { from, at });
        let limbs = Self::moduli_at(at.level)
            .map(|q| self.input(format!("p{input}.q{}", q.0), q, InputRole::Plain { input }))
            .collect();
        self.define(instr, vec![limbs]);
    }

    fn output(&mut self, a: MacroValue, output: u32) {
        let name = self
            .source
            .outputs
            .get(output as usize)
            .cloned()
            .unwrap_or_default();
        for (poly, limbs) in self.limbs[a.0 as usize].clone().into_iter().enumerate() {
            for (q, limb) in limbs.into_iter().enumerate() {
                let name = format!("{name}.c{poly}.q{q}");
                self.outputs.push(limb);
                self.program.outputs.push(HeadOutput {
                    from: Operand::Input(u32::MAX), // until the limbs are packed
                    name,
                    output,
                    poly: poly as u16,
                });
            }
        }
    }

    fn relinearise(&mut self, instr: &MacroInstr, a: MacroValue) -> Result<(), CompileError> {
        let (level, seeded) = (self.level(a), self.seeded);
        match self.fused.remove(&a) {
            Some(product) => {
                let key = match product.op {
                    MacroOp::Square => OpKey::square_relin(Level(level), seeded),
                    _ => OpKey::mul_relin(Level(level), seeded),
                };
                self.call(key, instr, &product.src, &[KeyRequest::Relin], &product.loc)
            }
            None => self.call(
                OpKey::relin(Level(level), seeded),
                instr,
                &[a],
                &[KeyRequest::Relin],
                &instr.loc,
            ),
        }
    }
}
