// SPDX-License-Identifier: Apache-2.0
//! Grows random macro programs of each stage, instruction by instruction.

use proptest::prelude::*;
use ringmill_isa::macros::{
    Interval, LevelNote, LevelScale, MacroImm, MacroInput, MacroInstr, MacroOp, MacroProc,
    MacroProgram, MacroType, MacroValue, SchemeName, Stage, Visibility,
};
use ringmill_isa::source::SourceLoc;
use ringmill_isa::{Galois, Level};

pub const SLOTS: u32 = 16;
pub const PRIMES: [u64; 4] = [1_000_003, 1_048_583, 1_048_589, 1_048_601];
const SCALE: f64 = (1u64 << 40) as f64;

pub type Choice = (u16, u16, u32, f64);

/// Grows a program instruction by instruction; while it grows a procedure, `p` holds that procedure's instructions.
pub struct Grower {
    pub p: MacroProgram,
    pub stage: Stage,
    pub in_procedure: bool,
}

impl Grower {
    pub fn push(&mut self, op: MacroOp, src: &[MacroValue], imm: MacroImm, types: &[MacroType]) {
        let first = self.p.types.len() as u32;
        self.p.types.extend_from_slice(types);
        let dst = (first..first + types.len() as u32)
            .map(MacroValue)
            .collect();
        let line = self.p.instrs.len() as u32;
        let loc = (!line.is_multiple_of(3)).then(|| SourceLoc {
            file: "a \"b\".py".into(),
            line,
        });
        self.p.instrs.push(MacroInstr {
            op,
            dst,
            src: src.to_vec(),
            imm,
            loc,
        });
    }

    fn plain_like(&mut self, at: Option<LevelScale>, pick: u32) -> MacroValue {
        let v = MacroValue(self.p.types.len() as u32);
        if pick.is_multiple_of(2) && !self.in_procedure {
            self.push(
                MacroOp::Input,
                &[],
                MacroImm::Input(1),
                &[MacroType::Plain {
                    at: at.map(Into::into),
                }],
            );
        } else {
            let data = pick % self.p.data.len() as u32;
            self.push(
                MacroOp::Encode,
                &[],
                MacroImm::Data(data),
                &[MacroType::Plain {
                    at: at.map(Into::into),
                }],
            );
        }
        v
    }

    /// Returns level and scale of inputs and parameters, if the program has levels.
    fn fresh_at(&self) -> Option<LevelScale> {
        (self.stage == Stage::Managed).then_some(LevelScale {
            level: Level(3),
            scale: SCALE,
        })
    }

    fn fresh(&self) -> MacroType {
        let at = self.fresh_at().map(Into::into);
        MacroType::Cipher { size: 2, at }
    }

    /// Returns the values that have the type of a ciphertext parameter, the last first.
    fn carriable(&self) -> Vec<MacroValue> {
        let of_type = (0..)
            .zip(&self.p.types)
            .filter(|&(_, ty)| *ty == self.fresh());
        let mut values: Vec<_> = of_type.map(|(n, _)| MacroValue(n)).collect();
        values.reverse();
        values
    }

    /// Adds a procedure of two ciphertexts and a plaintext. It returns one or two ciphertexts that it can take again.
    /// Every third procedure returns its last ciphertext instead, of whatever type.
    fn procedure(&mut self, choices: &[Choice]) {
        let number = self.p.procs.len();
        let outer = std::mem::take(&mut self.p.instrs);
        let outer_types = std::mem::take(&mut self.p.types);
        let (fresh, at) = (self.fresh(), self.fresh_at());
        let at = at.map(Into::into);
        self.p.types = vec![fresh, fresh, MacroType::Plain { at }];
        self.in_procedure = true;
        choices.iter().for_each(|&choice| self.step(choice));
        self.in_procedure = false;
        let mut results = self.carriable();
        results.truncate(1 + number % 2);
        if number % 3 == 2 {
            let cipher = |ty: &MacroType| matches!(ty, MacroType::Cipher { .. });
            let last = self.p.types.iter().rposition(cipher).unwrap();
            results = vec![MacroValue(last as u32)];
        }
        self.p.procs.push(MacroProc {
            name: format!("proc \"{number}\";"),
            params: (0..3).map(MacroValue).collect(),
            instrs: std::mem::replace(&mut self.p.instrs, outer),
            types: std::mem::replace(&mut self.p.types, outer_types),
            results,
            loc: (number > 0).then(|| SourceLoc {
                file: "b.py".into(),
                line: number as u32,
            }),
        });
    }

    /// Adds a call or a repeat of a procedure, if there is one.
    fn call(&mut self, op: MacroOp, pick: u16, number: u32) {
        let Some(proc) = usize::from(pick).checked_rem(self.p.procs.len()) else {
            return;
        };
        let carriable = self.carriable();
        let one = |n: u32| carriable[n as usize % carriable.len()];
        let (a, b) = (one(number), one(number / 3));
        let at = self.fresh_at();
        let plain = self.plain_like(at, number | 1);
        let proc_ = &self.p.procs[proc];
        let results: Vec<_> = proc_
            .results
            .iter()
            .map(|v| proc_.types[v.0 as usize])
            .collect();
        let proc = proc as u32;
        let imm = if op == MacroOp::Repeat {
            let count = 1 + u64::from(number % 5);
            MacroImm::Repeat { proc, count }
        } else {
            MacroImm::Proc(proc)
        };
        self.push(op, &[a, b, plain], imm, &results);
    }

    pub fn step(&mut self, (op, pick, number, value): Choice) {
        let ciphers: Vec<_> = (0..)
            .zip(&self.p.types)
            .filter_map(|(n, ty)| match *ty {
                MacroType::Cipher { size, at } => {
                    Some((MacroValue(n), size, at.and_then(LevelNote::scaled)))
                }
                MacroType::Plain { .. }
                | MacroType::Morphed { .. }
                | MacroType::Distant { .. }
                | MacroType::Key { .. }
                | MacroType::Lifted { .. } => None,
            })
            .collect();
        let (a, size, at) = ciphers[usize::from(pick) % ciphers.len()];
        let cipher = |size, at: Option<LevelScale>| {
            let at = at.map(Into::into);
            MacroType::Cipher { size, at }
        };
        let times = |at: Option<LevelScale>, by: f64| {
            at.map(|at| LevelScale {
                scale: at.scale * by,
                ..at
            })
        };
        let small = at.is_none_or(|at| at.scale < 1e60);
        let product = if self.stage == Stage::Traced { 2 } else { 3 };
        let step = |n: u32| {
            if n.is_multiple_of(2) {
                1 + (n % (SLOTS - 1)) as i32
            } else {
                -1 - (n % (SLOTS - 1)) as i32
            }
        };
        match MacroOp::ALL[usize::from(op) % MacroOp::COUNT] {
            MacroOp::Add => self.push(MacroOp::Add, &[a, a], MacroImm::None, &[cipher(size, at)]),
            MacroOp::Sub => {
                let b = self.plain_like(at, number);
                self.push(MacroOp::Sub, &[a, b], MacroImm::None, &[cipher(size, at)]);
            }
            MacroOp::Neg => self.push(MacroOp::Neg, &[a], MacroImm::None, &[cipher(size, at)]),
            MacroOp::Addc => {
                let imm = if number.is_multiple_of(3) {
                    MacroImm::Integer(i128::from(number) << (number % 96))
                } else {
                    MacroImm::Constant { value, scale: None }
                };
                self.push(MacroOp::Addc, &[a], imm, &[cipher(size, at)]);
            }
            MacroOp::Mulc if small => {
                let scale = at.map(|_| 1048576.3);
                let imm = MacroImm::Constant { value, scale };
                self.push(
                    MacroOp::Mulc,
                    &[a],
                    imm,
                    &[cipher(size, times(at, 1048576.3))],
                );
            }
            MacroOp::Mul if small && number.is_multiple_of(2) => {
                let b = self.plain_like(at.map(|at| LevelScale { scale: SCALE, ..at }), number / 2);
                self.push(
                    MacroOp::Mul,
                    &[a, b],
                    MacroImm::None,
                    &[cipher(size, times(at, SCALE))],
                );
            }
            MacroOp::Mul if small && size == 2 => {
                let at = times(at, at.map_or(1.0, |at| at.scale));
                self.push(
                    MacroOp::Mul,
                    &[a, a],
                    MacroImm::None,
                    &[cipher(product, at)],
                );
            }
            MacroOp::Square if small && size == 2 => {
                let at = times(at, at.map_or(1.0, |at| at.scale));
                self.push(
                    MacroOp::Square,
                    &[a],
                    MacroImm::None,
                    &[cipher(product, at)],
                );
            }
            MacroOp::Relin if size == 3 => {
                self.push(MacroOp::Relin, &[a], MacroImm::None, &[cipher(2, at)])
            }
            MacroOp::Rescale => {
                if let Some(LevelScale { level, scale }) = at
                    && let Some(below) = level.below()
                {
                    let scale = scale / PRIMES[level.index()] as f64;
                    if scale >= 1.0 {
                        let at = Some(LevelScale {
                            level: below,
                            scale,
                        });
                        self.push(MacroOp::Rescale, &[a], MacroImm::None, &[cipher(size, at)]);
                    }
                }
            }
            MacroOp::Modswitch => {
                if let Some(from) = at {
                    let level = Level(number % from.level.primes() as u32);
                    let ty = cipher(size, Some(LevelScale { level, ..from }));
                    self.push(MacroOp::Modswitch, &[a], MacroImm::Level(level), &[ty]);
                }
            }
            MacroOp::Rotate if size == 2 => {
                self.push(
                    MacroOp::Rotate,
                    &[a],
                    MacroImm::Steps(vec![step(number)]),
                    &[cipher(2, at)],
                );
            }
            MacroOp::Hrotate if size == 2 => {
                let steps: Vec<_> = (0..1 + number % 3).map(|i| step(number / 2 + i)).collect();
                let types = vec![cipher(2, at); steps.len()];
                self.push(MacroOp::Hrotate, &[a], MacroImm::Steps(steps), &types);
            }
            MacroOp::Tworeal if size == 2 => {
                self.push(MacroOp::Tworeal, &[a], MacroImm::None, &[cipher(2, at)]);
            }
            MacroOp::Bounded => {
                let (lowest, highest) = (value, value + f64::from(number));
                let imm = MacroImm::Interval(Interval { lowest, highest });
                self.push(MacroOp::Bounded, &[a], imm, &[cipher(size, at)]);
            }
            MacroOp::Conj if size == 2 => {
                self.push(MacroOp::Conj, &[a], MacroImm::None, &[cipher(2, at)])
            }
            MacroOp::Load => {
                if let Some(at) = at.map(Into::into) {
                    let (of, at) = (Visibility::Plain, Some(at));
                    let far = MacroValue(self.p.types.len() as u32);
                    let imm = MacroImm::Data(number % self.p.data.len() as u32);
                    self.push(MacroOp::Encode, &[], imm, &[MacroType::Distant { of, at }]);
                    let near = MacroType::Plain { at };
                    self.push(MacroOp::Load, &[far], MacroImm::None, &[near]);
                }
            }
            MacroOp::Morph if size == 2 => {
                if let Some(at) = at {
                    let by = Galois(3 + number % 1000 * 2);
                    let morphed = MacroValue(self.p.types.len() as u32);
                    let ty = MacroType::Morphed {
                        by,
                        at: Some(at.into()),
                    };
                    self.push(MacroOp::Morph, &[a], MacroImm::Galois(by), &[ty]);
                    self.push(
                        MacroOp::Ksw,
                        &[morphed],
                        MacroImm::None,
                        &[cipher(2, Some(at))],
                    );
                }
            }
            MacroOp::Ksw if size == 3 && at.is_some() => {
                self.push(MacroOp::Ksw, &[a], MacroImm::None, &[cipher(2, at)])
            }
            MacroOp::Iszero if size == 2 => {
                self.push(MacroOp::Iszero, &[a], MacroImm::None, &[cipher(2, at)])
            }
            MacroOp::Quotient => {
                let by = MacroImm::Integer(1 + i128::from(number));
                self.push(MacroOp::Quotient, &[a], by, &[cipher(size, at)]);
            }
            MacroOp::Call => self.call(MacroOp::Call, pick, number),
            MacroOp::Repeat => {
                // Every third procedure is left out, as it may return what it does not take.
                let pick = if pick % 3 == 2 { pick - 1 } else { pick };
                let known = self.p.procs.len() as u16;
                let pick = pick.checked_rem(known).unwrap_or(0);
                let pick = if pick % 3 == 2 { pick - 1 } else { pick };
                self.call(MacroOp::Repeat, pick, number);
            }
            _ => {}
        }
    }
}

pub fn grow(stage: Stage, choices: &[Choice], data: Vec<Vec<(f64, f64)>>) -> MacroProgram {
    let input = |name: &str, visibility| MacroInput {
        name: name.into(),
        visibility,
    };
    let name = "logistic \"1\"\t".into();
    let p = MacroProgram {
        inputs: vec![
            input("x", Visibility::Encrypted),
            input("w;", Visibility::Plain),
            input("u", Visibility::Encrypted),
        ],
        data,
        outputs: vec!["y".into(), "z".into()],
        ..MacroProgram::new(name, SchemeName::default(), SLOTS)
    };
    let mut g = Grower {
        p,
        stage,
        in_procedure: false,
    };
    let (fresh, at) = (g.fresh(), g.fresh_at());
    g.push(MacroOp::Input, &[], MacroImm::Input(0), &[fresh]);
    // Managed programs of an odd number of choices load one of their inputs from distant memory.
    if stage == Stage::Managed && choices.len() % 2 == 1 {
        let of = Visibility::Encrypted;
        let far = MacroType::Distant { of, at: fresh.at() };
        g.push(MacroOp::Input, &[], MacroImm::Input(2), &[far]);
        g.push(MacroOp::Load, &[MacroValue(1)], MacroImm::None, &[fresh]);
    } else {
        g.push(MacroOp::Input, &[], MacroImm::Input(2), &[fresh]);
    }
    if stage == Stage::Relinearised {
        g.push(
            MacroOp::Square,
            &[MacroValue(0)],
            MacroImm::None,
            &[MacroType::Cipher {
                size: 3,
                at: at.map(Into::into),
            }],
        );
    }
    // Two thirds of the choices make at most four procedures of up to seven steps; the rest makes the program.
    let (procedures, own) = choices.split_at(choices.len() * 2 / 3);
    procedures.chunks(7).for_each(|steps| g.procedure(steps));
    own.iter().for_each(|&choice| g.step(choice));
    let last = (0..)
        .zip(&g.p.types)
        .filter(|(_, ty)| matches!(ty, MacroType::Cipher { .. }))
        .last();
    let last = MacroValue(last.map_or(0, |(n, _)| n));
    g.push(MacroOp::Output, &[last], MacroImm::Output(1), &[]);
    g.push(MacroOp::Output, &[MacroValue(0)], MacroImm::Output(0), &[]);
    g.p
}

fn vectors() -> impl Strategy<Value = Vec<Vec<(f64, f64)>>> {
    let real = || {
        prop_oneof![
            any::<f64>().prop_filter("finite", |x| x.is_finite()),
            Just(0.0),
            Just(-0.0),
            Just(1.5)
        ]
    };
    let vector = (
        0u32..5,
        prop::collection::vec((real(), real(), any::<bool>()), SLOTS as usize),
    )
        .prop_map(|(log_period, values)| {
            let value =
                |&(re, im, complex): &(f64, f64, bool)| (re, if complex { im } else { 0.0 });
            let period: Vec<_> = values.iter().take(1 << log_period).map(value).collect();
            period.repeat(SLOTS as usize >> log_period)
        });
    prop::collection::vec(vector, 1..4)
}

pub fn any_program() -> impl Strategy<Value = MacroProgram> {
    let stage = prop_oneof![
        Just(Stage::Traced),
        Just(Stage::Relinearised),
        Just(Stage::Managed)
    ];
    let value = any::<f64>().prop_filter("finite", |x| x.is_finite());
    let choices = prop::collection::vec((any::<u16>(), any::<u16>(), any::<u32>(), value), 0..42);
    (stage, choices, vectors()).prop_map(|(stage, choices, data)| grow(stage, &choices, data))
}
