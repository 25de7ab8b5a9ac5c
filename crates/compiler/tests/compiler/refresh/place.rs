// SPDX-License-Identifier: Apache-2.0
//! The placement of refreshes works for a scheme that this crate does not have.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::rc::Rc;

use ringmill_compiler::builder::TraceBuilder;
use ringmill_compiler::internals::{Course, Placement, best};
use ringmill_isa::macros::{MacroOp, MacroProgram, MacroValue, Visibility};

/// The pass of a made-up scheme, in which a fresh or refreshed value bears three squares in sequence.
#[derive(Clone)]
struct Counted {
    /// For each value, the number of squares that it still bears, and the instruction that made or refreshed it last.
    left: BTreeMap<MacroValue, (u32, usize)>,
    placement: Rc<Placement>,
    refreshed: Vec<(MacroValue, usize)>,
    cost: f64,
    lost: Option<usize>,
}

const FRESH: u32 = 3;
const REFRESH: f64 = 100.0;

impl Counted {
    fn new() -> Self {
        Self {
            left: BTreeMap::new(),
            placement: Rc::default(),
            refreshed: Vec::new(),
            cost: 0.0,
            lost: None,
        }
    }
}

impl Course for Counted {
    type Lost = usize;
    type Error = Infallible;

    fn refresh_by(&mut self, placement: Rc<Placement>) {
        self.placement = placement;
    }

    fn go_on(&mut self, program: &MacroProgram, number: usize) -> Result<(), Infallible> {
        let instr = &program.instrs[number];
        let cut = self.placement.cut_before(number);
        for &v in &instr.src {
            let Some((left, since)) = self.left.get_mut(&v) else {
                continue;
            };
            if let Some(cut) = cut
                && (*since < cut && *left < FRESH && !self.placement.is_kept(v, cut))
            {
                (*left, *since) = (FRESH, number);
                self.refreshed.push((v, cut));
                self.cost += REFRESH;
            }
        }
        let operands = instr.src.iter().filter_map(|v| self.left.get(v));
        let left = operands.map(|&(left, _)| left).min().unwrap_or(FRESH);
        let taken = u32::from(instr.op == MacroOp::Square);
        if left < taken {
            self.lost.get_or_insert(number);
        }
        self.cost += 1.0;
        for &d in &instr.dst {
            self.left.insert(d, (left.saturating_sub(taken), number));
        }
        Ok(())
    }

    fn cost(&self) -> f64 {
        self.cost
    }

    fn of_refresh(&self) -> f64 {
        REFRESH
    }

    fn lost(&self) -> Option<&usize> {
        self.lost.as_ref()
    }

    fn refreshed(&self) -> &[(MacroValue, usize)] {
        &self.refreshed
    }

    fn stale(&self) -> usize {
        self.left.values().filter(|(left, _)| *left < FRESH).count()
    }

    fn survives(&self) -> Result<bool, Infallible> {
        Ok(true)
    }

    fn forget(&mut self, old: MacroValue) {
        self.left.remove(&old);
    }

    fn lean(&self) -> Self {
        Self {
            refreshed: Vec::new(),
            lost: None,
            ..self.clone()
        }
    }
}

/// Places refreshes in programs of 1 to 11 squares in sequence. The fewest refreshes are one after each three squares.
#[test]
fn another_scheme_is_refreshed_by_its_own_costs() {
    for squares in 1..12u32 {
        let mut t = TraceBuilder::new("counted", 2).unwrap();
        let x = t.input("x", Visibility::Encrypted, None).unwrap();
        let y = (0..squares).fold(x, |x, _| t.square(x, None).unwrap());
        t.output("y", y, None).unwrap();
        let program = t.finish();
        let (placement, cost) = best(&program, &Counted::new()).unwrap().unwrap();
        let refreshes = (squares - 1) / FRESH;
        assert_eq!(placement.is_empty(), refreshes == 0);
        let instrs = program.instrs.len() as f64;
        assert_eq!(cost, f64::from(refreshes) * REFRESH + instrs, "{squares}");
    }
}
