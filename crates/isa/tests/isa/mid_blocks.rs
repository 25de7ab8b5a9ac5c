// SPDX-License-Identifier: Apache-2.0
//! Random programs with blocks and repeats, packed from numbered limbs. The walk, the program written out and a
//! recursive reading of the numbered limbs give the same result in symbols.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;
use ringmill_isa::Fault;
use ringmill_isa::Poly;
use ringmill_isa::mid::pack::{Loose, pack};
use ringmill_isa::mid::text::{parse_program, print_program};
use ringmill_isa::mid::walk::{Held, Walk};
use ringmill_isa::mid::{
    Action, Block, Form, HeadInput, HeadOutput, ImmType, InputRole, LimbType, LocalId,
    LweDimension, LweType, ModulusId, Op, Operand, ParamRole, ProcBuilder, Procedure, Program,
    Step, TableModulus, Unrolled, ValueType, Verified, stats, verify_program, verify_unrolled,
};
use ringmill_isa::source::SourceLoc;
use ringmill_math::{Ring, primes};

#[path = "mid_blocks/refusals.rs"]
mod refusals;

const LOG_N: u8 = 4;

/// Asserts that a fault is of the expected kind.
macro_rules! refused {
    ($fault:expr, $kind:pat) => {{
        let fault = $fault;
        let right = matches!(fault, $kind);
        prop_assert!(right, "{}", fault);
    }};
}

fn moduli() -> Vec<u64> {
    primes::ntt_primes(30, u32::from(LOG_N), 2).unwrap()
}

/// Returns the types of values: limbs of both moduli, and LWE vectors and exponents, which no procedure here takes.
fn kinds() -> [ValueType; 5] {
    let vector = |dimension, modulus| {
        ValueType::Lwe(LweType {
            dimension: LweDimension(dimension),
            modulus: ModulusId(modulus),
        })
    };
    [
        ty(0).into(),
        ty(1).into(),
        vector(5, 0),
        vector(5, 1),
        ValueType::Exponent,
    ]
}

fn ty(modulus: u16) -> LimbType {
    LimbType {
        ring: Ring::full(LOG_N),
        modulus: ModulusId(modulus),
        form: Form::Eval,
    }
}

/// Returns the procedures. For each modulus, one multiplies a limb by an immediate, and one makes sum and difference of
/// a pair. The last applies an automorphism to a limb of each modulus, and exchanges the two.
fn procedures() -> Vec<Arc<Procedure>> {
    let new = |name: &str| ProcBuilder::new(name, LOG_N, &moduli()).unwrap();
    let role = |poly| ParamRole::Cipher { arg: 0, poly };
    let mut procs = Vec::new();
    for q in 0..2 {
        let mut b = new(&format!("scale.q{q}"));
        let x = b.param("x", ty(q), role(Poly(0))).unwrap();
        let w = b.immediate(ImmType::Scalar(ModulusId(q))).unwrap();
        let y = b.muli_of(x, w).unwrap();
        b.result(y, "y", 0, Poly(0)).unwrap();
        procs.push(b.finish().unwrap());
        let mut b = new(&format!("turn.q{q}"));
        let x = b.param("x", ty(q), role(Poly(0))).unwrap();
        let y = b.param("y", ty(q), role(Poly(1))).unwrap();
        let (sum, difference) = (b.add(x, y).unwrap(), b.sub(x, y).unwrap());
        b.result(sum, "sum", 0, Poly(0)).unwrap();
        b.result(difference, "difference", 0, Poly(1)).unwrap();
        procs.push(b.finish().unwrap());
    }
    let mut b = new("mixed");
    let x = b.param("x", ty(0), role(Poly(0))).unwrap();
    let y = b.param("y", ty(1), role(Poly(0))).unwrap();
    let g = b.immediate(ImmType::Galois).unwrap();
    let (x, y) = (b.auto_of(x, g).unwrap(), b.auto_of(y, g).unwrap());
    b.result(y, "y", 0, Poly(0)).unwrap();
    b.result(x, "x", 0, Poly(0)).unwrap();
    procs.push(b.finish().unwrap());
    procs.into_iter().map(Arc::new).collect()
}

/// Block before its limbs are packed.
#[derive(Clone, Debug)]
struct Numbered {
    params: Vec<ValueType>,
    steps: Vec<Loose>,
    results: Vec<Held>,
}

struct Case {
    program: Program,
    blocks: Vec<Numbered>,
    main: Numbered,
}

type Choice = (u16, u16, u16, u16);

fn result_types(p: &Procedure) -> Vec<ValueType> {
    let ty = |v: ringmill_isa::mid::ValueId| p.types[v.0 as usize];
    p.results.iter().map(|r| ty(r.value)).collect()
}

fn param_types(p: &Procedure) -> Vec<ValueType> {
    p.params
        .iter()
        .map(|x| p.types[x.value.0 as usize])
        .collect()
}

/// Grows the steps of a block or of the program from choices. Returns them, and the types of the results.
fn numbered(
    choices: &[Choice],
    inputs: &[ValueType],
    procs: &[Arc<Procedure>],
    blocks: &[(Vec<ValueType>, Vec<ValueType>)],
    params: Vec<ValueType>,
) -> (Numbered, Vec<ValueType>) {
    let mut types = params.clone();
    let mut steps = Vec::new();
    let known = |types: &[ValueType], wanted: ValueType, pick: u16| {
        let made = (0u32..).zip(types).filter(|(_, ty)| **ty == wanted);
        let given = (0u32..).zip(inputs).filter(|(_, ty)| **ty == wanted);
        let all: Vec<_> = made
            .map(|(n, _)| Held::Made(n))
            .chain(given.map(|(n, _)| Held::Input(n)))
            .collect();
        all[usize::from(pick) % all.len()]
    };
    for &(what, which, pick, line) in choices {
        let (action, taken, given) = match what % 3 {
            1 | 2 if !blocks.is_empty() => {
                let block = usize::from(which) % blocks.len();
                let (params, results) = blocks[block].clone();
                let carries = params.get(..results.len()) == Some(&results[..]);
                let action = if what % 3 == 2 && carries {
                    let count = u64::from(pick % 4) + 1;
                    let block = block as u32;
                    Action::Repeat { block, count }
                } else {
                    Action::Run {
                        block: block as u32,
                    }
                };
                (action, params, results)
            }
            _ => {
                let proc = usize::from(which) % procs.len();
                let p = &procs[proc];
                (
                    Action::Call { proc: proc as u32 },
                    param_types(p),
                    result_types(p),
                )
            }
        };
        let args = (0u16..)
            .zip(&taken)
            .map(|(n, &ty)| known(&types, ty, pick.wrapping_add(n.wrapping_mul(7))))
            .collect();
        let immediates = match action {
            Action::Call { proc } => {
                let immediates = procs[proc as usize].immediates.iter();
                immediates.map(|_| u64::from(2 * (pick % 16) + 1)).collect()
            }
            Action::Run { .. } | Action::Repeat { .. } | Action::Halt => vec![],
        };
        let results = (types.len() as u32..).take(given.len()).collect();
        types.extend(given);
        steps.push(Loose {
            action,
            args,
            seeds: vec![],
            immediates,
            results,
            loc: (line % 3 == 0).then(|| SourceLoc {
                file: "model.py".into(),
                line: u32::from(line),
            }),
        });
    }
    // Results have the types of the first parameters, so that the block may be repeated.
    let count = choices.len() % (params.len() + 1);
    let picks = choices.iter().map(|c| c.3).chain(std::iter::repeat(1));
    let results: Vec<_> = params
        .iter()
        .take(count)
        .zip(picks)
        .map(|(&ty, pick)| known(&types, ty, pick))
        .collect();
    let given = params[..count].to_vec();
    let made = Numbered {
        params,
        steps,
        results,
    };
    (made, given)
}

fn packed(n: &Numbered) -> (Vec<Step>, Vec<Operand>) {
    let made: usize = n.steps.iter().map(|s| s.results.len()).sum();
    let params = n.params.len();
    pack(params as u32, params + made, n.steps.clone(), &n.results)
}

fn case(blocks: &[Vec<Choice>], main: &[Choice]) -> Case {
    let procs = procedures();
    let inputs: Vec<_> = kinds().into_iter().chain([ty(0).into()]).collect();
    let mut made: Vec<Numbered> = Vec::new();
    let mut shapes = Vec::new();
    let mut program = Program {
        log_n: LOG_N,
        moduli: TableModulus::primes(&moduli()),
        procs: procs.clone(),
        blocks: vec![],
        inputs: (0u32..)
            .zip(&inputs)
            .map(|(input, &ty)| HeadInput {
                ty,
                name: format!("x{input}"),
                role: InputRole::Plain { input },
            })
            .collect(),
        seeds: vec![],
        steps: vec![],
        outputs: vec![],
    };
    for (n, choices) in blocks.iter().enumerate() {
        let kind = |c: &Choice| kinds()[usize::from(c.0 % 5)];
        let params = choices.iter().take(3).map(kind).collect();
        let (block, given) = numbered(choices, &inputs, &procs, &shapes, params);
        let (steps, results) = packed(&block);
        program.blocks.push(Block {
            name: format!("block{n}"),
            params: block.params.clone(),
            steps,
            results,
        });
        shapes.push((block.params.clone(), given));
        made.push(block);
    }
    let (mut frame, _) = numbered(main, &inputs, &procs, &shapes, vec![]);
    let numbers = frame.steps.iter().flat_map(|s| &s.results);
    frame.results = numbers
        .rev()
        .step_by(2)
        .take(3)
        .map(|&n| Held::Made(n))
        .collect();
    // Inputs of every kind of value are also outputs.
    frame.results.extend((1..=4).map(Held::Input));
    let (steps, outputs) = packed(&frame);
    program.steps = steps;
    // Programs of an odd number of choices end with HCF.
    if main.len() % 2 == 1 {
        program.steps.push(Step::halt());
    }
    program.outputs = (0u32..)
        .zip(outputs)
        .map(|(output, from)| HeadOutput {
            from,
            name: format!("y{output}"),
            output,
            poly: Poly(0),
        })
        .collect();
    Case {
        program,
        blocks: made,
        main: frame,
    }
}

/// Symbols of values: a number for each (procedure, immediates, arguments, result) that ever occurred.
#[derive(Default)]
struct Symbols(HashMap<(String, Vec<u64>, Vec<usize>, usize), usize>);

impl Symbols {
    /// The first symbol of a result. Inputs are smaller numbers.
    const INPUTS: usize = 100;

    fn call(
        &mut self,
        name: &str,
        immediates: &[u64],
        args: &[usize],
        results: usize,
    ) -> Vec<usize> {
        let next = Self::INPUTS + self.0.len();
        let mut of = |(n, result)| {
            let key = (name.to_owned(), immediates.to_vec(), args.to_vec(), result);
            *self.0.entry(key).or_insert(next + n)
        };
        (0..results).enumerate().map(&mut of).collect()
    }
}

/// Reads the numbered limbs recursively, counts the calls, and returns the symbols of the results.
fn meaning(
    case: &Case,
    frame: &Numbered,
    args: Vec<usize>,
    symbols: &mut Symbols,
    calls: &mut usize,
) -> Vec<usize> {
    let mut values = args;
    let get = |values: &[usize], held: &Held| match *held {
        Held::Input(n) => n as usize,
        Held::Made(n) => values[n as usize],
    };
    for step in &frame.steps {
        let args: Vec<usize> = step.args.iter().map(|held| get(&values, held)).collect();
        let given = match step.action {
            Action::Call { proc } => {
                *calls += 1;
                let p = &case.program.procs[proc as usize];
                symbols.call(&p.name, &step.immediates, &args, p.results.len())
            }
            Action::Run { block } => {
                meaning(case, &case.blocks[block as usize], args, symbols, calls)
            }
            Action::Repeat { block, count } => {
                let mut args = args;
                for _ in 0..count {
                    let block = &case.blocks[block as usize];
                    let given = meaning(case, block, args.clone(), symbols, calls);
                    args.splice(..given.len(), given);
                }
                args.truncate(step.results.len());
                args
            }
            Action::Halt => vec![],
        };
        values.extend(given);
    }
    frame
        .results
        .iter()
        .map(|held| get(&values, held))
        .collect()
}

fn choices(most: usize) -> impl Strategy<Value = Vec<Choice>> {
    prop::collection::vec(any::<Choice>(), 0..most)
}

proptest! {
    #[test]
    fn walked_written_out_and_read_alike(blocks in prop::collection::vec(choices(7), 0..4), main in choices(8)) {
        let case = case(&blocks, &main);
        let program = &case.program;
        verify_program(program).unwrap();
        let text = print_program(program);
        prop_assert_eq!(&parse_program(&text).unwrap(), program);

        let (mut symbols, mut calls) = (Symbols::default(), 0);
        let expected = meaning(&case, &case.main, vec![], &mut symbols, &mut calls);
        prop_assert_eq!(stats::call_counts(program).into_iter().sum::<u64>(), calls as u64);
        prop_assert_eq!(program.halts(), main.len() % 2 == 1);
        prop_assert_eq!(stats::program_counts(program).contains_key(&Op::Hcf), program.halts());

        // The walk gives no number twice at one time, and needs as many numbers as limbs are alive at most.
        let mut walk = Walk::new(program).unwrap();
        let mut alive: HashMap<u32, usize> = HashMap::new();
        let (mut most, mut walked) = (0, 0);
        while let Some(call) = walk.next_call().unwrap() {
            walked += 1;
            let args: Vec<usize> = call.args.iter().map(|held| match held {
                Held::Input(n) => *n as usize,
                Held::Made(n) => alive[n],
            }).collect();
            let p = &program.procs[call.proc as usize];
            for (n, v) in call.results.iter().zip(symbols.call(&p.name, call.immediates, &args, p.results.len())) {
                prop_assert!(alive.insert(*n, v).is_none(), "a number given twice");
            }
            most = most.max(alive.len());
            for n in &call.dies {
                prop_assert!(alive.remove(n).is_some(), "what dies was alive");
            }
        }
        prop_assert_eq!(walked, calls);
        prop_assert_eq!(walk.numbers(), most);
        let outputs: Vec<usize> = walk.outputs().unwrap().iter().map(|held| match held {
            Held::Input(n) => *n as usize,
            Held::Made(n) => alive[n],
        }).collect();
        prop_assert_eq!(&outputs, &expected);

        // The program written out computes the same, and is not made where it has more calls than allowed.
        let ready = Verified::new(program.clone()).unwrap();
        if calls > 0 {
            prop_assert!(Unrolled::of(&ready, calls - 1).is_err());
        }
        let unrolled = Unrolled::of(&ready, calls).unwrap();
        verify_unrolled(&unrolled).unwrap();
        let mut values: Vec<usize> = (0..unrolled.limbs.len()).collect();
        let mut bound = Symbols::default();
        for call in &unrolled.calls {
            let args: Vec<usize> = call.args.iter().map(|l| values[l.0 as usize]).collect();
            let p = &unrolled.procs[call.proc as usize];
            prop_assert!(p.immediates.is_empty());
            for (l, v) in call.results.iter().zip(bound.call(&p.name, &[], &args, p.results.len())) {
                values[l.0 as usize] = v;
            }
        }
        // Symbols differ, as names of bound procedures stand for names and immediates. The same outputs are equal.
        let outputs: Vec<usize> = unrolled.outputs.iter().map(|o| values[o.limb.0 as usize]).collect();
        for (i, a) in outputs.iter().enumerate() {
            for (j, b) in outputs.iter().enumerate() {
                prop_assert_eq!(a == b, expected[i] == expected[j]);
            }
        }
        prop_assert_eq!(bound.0.len() <= symbols.0.len(), true);
    }

    #[test]
    fn what_is_wrong_is_refused(blocks in prop::collection::vec(choices(7), 1..4), main in choices(8), pick in any::<u16>()) {
        let program = case(&blocks, &main).program;
        let refuse = |bad: &Program| *verify_program(bad).expect_err("an altered program").fault;
        let count = program.steps.len();
        if count == 0 {
            return Ok(());
        }
        let at = usize::from(pick) % count;
        let with = |alter: &dyn Fn(&mut Step)| {
            let mut bad = program.clone();
            alter(&mut bad.steps[at]);
            bad
        };
        // These may be legal or not; neither verifying nor writing them out panics.
        let wild = [
            with(&|s| s.args.reverse()),
            with(&|s| s.dies.extend(s.results.clone())),
            with(&|s| s.results.reverse()),
            with(&|s| s.dies.clear()),
        ];
        for bad in &wild {
            let _ = Verified::new(bad.clone()).map(|ready| Unrolled::of(&ready, 1000));
        }
        if let Some(&local) = program.steps[at].dies.first() {
            let twice = with(&|s| s.dies.push(local));
            refused!(refuse(&twice), Fault::Died { .. });
        }
        if let Some(&local) = program.steps[at].results.first()
            && program.steps[at].results.len() > 1
        {
            let twice = with(&|s| s.results[1] = local);
            refused!(refuse(&twice), Fault::Alive { .. });
        }
        let more = with(&|s| s.immediates.push(1));
        refused!(refuse(&more), Fault::Count { what: "immediates", .. });
        let none = with(&|s| s.action = Action::Run { block: 99 });
        refused!(refuse(&none), Fault::Range { what: "block number", .. });
        let none = with(&|s| s.action = Action::Call { proc: 99 });
        refused!(refuse(&none), Fault::Range { what: "procedure number", .. });
    }
}

/// Packs a chain whose limbs each die with their one read, beside a parameter that lives to the end. The whole chain
/// takes one number.
#[test]
fn numbers_of_dead_limbs_are_used_again() {
    let step = |from: u32, to: u32| Loose {
        action: Action::Call { proc: 0 },
        args: vec![Held::Made(from), Held::Made(0)],
        seeds: Vec::new(),
        immediates: Vec::new(),
        results: vec![to],
        loc: None,
    };
    let chain: Vec<_> = (1..=5).map(|n| step(n, n + 1)).collect();
    let (steps, kept) = pack(2, 7, chain, &[Held::Made(6), Held::Made(0)]);
    for step in &steps {
        assert_eq!(step.results, [LocalId(1)]);
        assert_eq!(step.dies, [LocalId(1)]);
    }
    let locals = [1, 0].map(|n| Operand::Local(LocalId(n)));
    assert_eq!(kept, locals);
}
