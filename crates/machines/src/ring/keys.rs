//! Key memory across calls: which key limbs are where, and what has to come over the link.
//!
//! Programs are static, so the limb whose next use is farthest away goes out (Belady). Key limbs are counted as the machine
//! stores them: at twice the native ring degree a limb of the program is two.

use std::collections::HashMap;

use ringmill_isa::mid::{LimbId, Unrolled};

use super::description::Description;

/// A key limb as the machine stores it: a limb of the program, and which of its pieces.
pub type KeyLimb = (LimbId, u8);

/// A key limb that crosses the link before a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyLoad {
    pub rpau: usize,
    pub slot: u8,
    pub limb: KeyLimb,
}

/// Key memory of all RPAUs.
#[derive(Clone, Debug)]
pub struct KeyMemory {
    /// For each RPAU, what each key slot holds.
    held: Vec<Vec<Option<KeyLimb>>>,
    /// Calls that use a limb, ascending.
    uses: HashMap<LimbId, Vec<u32>>,
    /// Slots that nothing has been asked from yet already hold what is asked for: of all contents to start with, the
    /// limbs that are used first are the best.
    resident: bool,
    /// Distinct key limbs of the program, for each RPAU.
    needed: Vec<u64>,
    /// Limbs brought over the link between calls.
    pub loads: u64,
    /// Limbs that were there before the first call.
    pub found: u64,
}

impl KeyMemory {
    /// Key memory before the first call; `is_key` says which limbs of the program are key limbs, `rpau` where they live.
    pub fn new(
        d: &Description,
        program: &Unrolled,
        is_key: &[bool],
        rpau: impl Fn(LimbId) -> usize,
        resident: bool,
    ) -> Self {
        let pieces = 1 + u64::from(program.log_n > d.log_n);
        let mut uses: HashMap<LimbId, Vec<u32>> = HashMap::new();
        let mut needed = vec![0; d.rpaus];
        for (index, call) in program.calls.iter().enumerate() {
            for &limb in call.args.iter().filter(|l| is_key[l.0 as usize]) {
                let calls = uses.entry(limb).or_default();
                if calls.is_empty() {
                    needed[rpau(limb)] += pieces;
                }
                if calls.last() != Some(&(index as u32)) {
                    calls.push(index as u32);
                }
            }
        }
        Self {
            held: vec![vec![None; d.keys.slots]; d.rpaus],
            uses,
            resident,
            needed,
            loads: 0,
            found: 0,
        }
    }

    /// Call number `call` needs `wanted`, no more than fit, on RPAU `r`: gives their slots, and appends what has to be
    /// loaded to `loads`.
    pub fn bring_in(
        &mut self,
        call: usize,
        r: usize,
        wanted: &[KeyLimb],
        loads: &mut Vec<KeyLoad>,
    ) -> Vec<u8> {
        let before = loads.len();
        for limb in wanted {
            if self.held[r].contains(&Some(*limb)) {
                continue;
            }
            let empty = self.held[r].iter().position(Option::is_none);
            let slot = empty.or_else(|| self.victim(call, r, wanted));
            let Some(slot) = slot else { continue };
            self.held[r][slot] = Some(*limb);
            if empty.is_some() && self.resident {
                self.found += 1;
            } else {
                loads.push(KeyLoad {
                    rpau: r,
                    slot: slot as u8,
                    limb: *limb,
                });
            }
        }
        self.loads += (loads.len() - before) as u64;
        let slot = |l: &KeyLimb| self.held[r].iter().position(|h| *h == Some(*l));
        wanted.iter().map(|l| slot(l).unwrap_or(0) as u8).collect()
    }

    /// The procedure has left `limbs` in these slots.
    pub fn leave(&mut self, r: usize, slots: &[u8], limbs: &[KeyLimb]) {
        for (&slot, &limb) in slots.iter().zip(limbs) {
            self.held[r][usize::from(slot)] = Some(limb);
        }
    }

    /// The slot whose limb is needed last, and not by this call.
    fn victim(&self, call: usize, r: usize, wanted: &[KeyLimb]) -> Option<usize> {
        let next = |limb: &KeyLimb| {
            let calls = self.uses.get(&limb.0).map_or(&[][..], Vec::as_slice);
            let after = calls.partition_point(|&c| c as usize <= call);
            calls.get(after).copied().unwrap_or(u32::MAX)
        };
        let held = self.held[r].iter().enumerate();
        held.filter_map(|(slot, h)| h.as_ref().map(|l| (slot, l)))
            .filter(|(_, l)| !wanted.contains(l))
            .max_by_key(|(slot, l)| (next(l), *slot))
            .map(|(slot, _)| slot)
    }

    /// Distinct key limbs that the program uses.
    pub fn needed(&self) -> u64 {
        self.needed.iter().sum()
    }

    /// Of them, how many there is room for at once.
    pub fn fit(&self) -> u64 {
        let room = |(needed, held): (&u64, &Vec<_>)| (*needed).min(held.len() as u64);
        self.needed.iter().zip(&self.held).map(room).sum()
    }

    /// Distinct key limbs on the RPAU with most.
    pub fn most(&self) -> u64 {
        self.needed.iter().copied().max().unwrap_or(0)
    }
}
