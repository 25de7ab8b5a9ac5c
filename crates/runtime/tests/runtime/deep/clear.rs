// SPDX-License-Identifier: Apache-2.0
//! Evaluates traced programs with their calls and repeats without encryption, modulo t.

use std::collections::BTreeMap;

use ringmill_isa::macros::{MacroImm, MacroInstr, MacroOp, MacroProgram, MacroValue};

/// A generator of numbers for the unknown part of a quotient. A quotient by p is known only modulo t / p, and no output
/// may depend on the rest.
pub struct Junk(pub u64);

impl Junk {
    fn next(&mut self) -> i128 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        i128::from(self.0 >> 40)
    }
}

type Slots = Vec<i128>;

/// Returns the outputs of a program by name, as integers nearest to 0 modulo t. `junk` gives the unknown part of each
/// quotient.
pub fn evaluate(
    program: &MacroProgram,
    inputs: &BTreeMap<String, Vec<i64>>,
    t: i128,
    junk: &mut Junk,
) -> BTreeMap<String, Vec<i64>> {
    let values = body(
        program,
        &program.instrs,
        program.types.len(),
        &[],
        inputs,
        t,
        junk,
    );
    let mut outputs = BTreeMap::new();
    for instr in &program.instrs {
        if let (MacroOp::Output, &MacroImm::Output(o)) = (instr.op, &instr.imm) {
            let slots = values[instr.src[0].0 as usize].iter();
            let slots = slots.map(|&x| centred(x, t) as i64).collect();
            outputs.insert(program.outputs[o as usize].clone(), slots);
        }
    }
    outputs
}

fn centred(x: i128, t: i128) -> i128 {
    let x = x.rem_euclid(t);
    if x > t / 2 { x - t } else { x }
}

fn body(
    program: &MacroProgram,
    instrs: &[MacroInstr],
    count: usize,
    given: &[(MacroValue, Slots)],
    inputs: &BTreeMap<String, Vec<i64>>,
    t: i128,
    junk: &mut Junk,
) -> Vec<Slots> {
    let slots = program.slots as usize;
    let mut values: Vec<Slots> = vec![Vec::new(); count];
    for (value, slots) in given {
        values[value.0 as usize].clone_from(slots);
    }
    for instr in instrs {
        let of = |n: usize| values[instr.src[n].0 as usize].clone();
        let each = |f: &dyn Fn(i128) -> i128| vec![of(0).into_iter().map(f).collect::<Slots>()];
        let zip = |f: fn(i128, i128) -> i128| {
            let pairs = of(0).into_iter().zip(of(1));
            vec![pairs.map(|(x, y)| f(x, y).rem_euclid(t)).collect::<Slots>()]
        };
        let constant = |imm: &MacroImm| match *imm {
            MacroImm::Integer(c) => c,
            MacroImm::Constant { value, .. } => value as i128,
            _ => panic!("{instr:?}"),
        };
        let results: Vec<Slots> = match (instr.op, &instr.imm) {
            (MacroOp::Input, &MacroImm::Input(i)) => {
                let input = &inputs[&program.inputs[i as usize].name];
                vec![input.iter().map(|&x| i128::from(x).rem_euclid(t)).collect()]
            }
            (MacroOp::Encode, &MacroImm::Data(d)) => {
                let data = program.data[d as usize].iter();
                vec![data.map(|&(re, _)| (re as i128).rem_euclid(t)).collect()]
            }
            (MacroOp::Add, _) => zip(|x, y| x + y),
            (MacroOp::Sub, _) => zip(|x, y| x - y),
            (MacroOp::Mul, _) => zip(|x, y| x * y),
            (MacroOp::Square, _) => each(&|x| x * x % t),
            (MacroOp::Neg, _) => each(&|x| (-x).rem_euclid(t)),
            (MacroOp::Addc, imm) => each(&|x| (x + constant(imm)).rem_euclid(t)),
            (MacroOp::Mulc, imm) => {
                let c = constant(imm).rem_euclid(t);
                each(&|x| x * c % t)
            }
            (MacroOp::Quotient, imm) => {
                let by = constant(imm);
                let quotients = of(0).into_iter().map(|x| {
                    assert_eq!(x % by, 0, "{instr:?}");
                    (x / by + t / by * junk.next()).rem_euclid(t)
                });
                vec![quotients.collect()]
            }
            (MacroOp::Rotate, MacroImm::Steps(steps)) => {
                let mut turned = of(0);
                turned.rotate_left(steps[0].rem_euclid(slots as i32) as usize);
                vec![turned]
            }
            (MacroOp::Call | MacroOp::Repeat, imm) => {
                let (n, times) = match *imm {
                    MacroImm::Proc(n) => (n, 1),
                    MacroImm::Repeat { proc, count } => (proc, count),
                    _ => panic!("{instr:?}"),
                };
                let proc = &program.procs[n as usize];
                let mut arguments: Vec<Slots> = (0..instr.src.len()).map(of).collect();
                for _ in 0..times {
                    let given = proc.params.iter().copied().zip(arguments.clone());
                    let given: Vec<_> = given.collect();
                    let made = body(
                        program,
                        &proc.instrs,
                        proc.types.len(),
                        &given,
                        inputs,
                        t,
                        junk,
                    );
                    for (slot, result) in arguments.iter_mut().zip(&proc.results) {
                        slot.clone_from(&made[result.0 as usize]);
                    }
                    if times == 1 {
                        let results = proc.results.iter();
                        arguments = results.map(|r| made[r.0 as usize].clone()).collect();
                    }
                }
                arguments.truncate(proc.results.len());
                arguments
            }
            (MacroOp::Output, _) => vec![],
            other => panic!("{other:?}"),
        };
        for (dst, result) in instr.dst.iter().zip(results) {
            values[dst.0 as usize] = result;
        }
    }
    values
}
