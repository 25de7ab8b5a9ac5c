//! Key memory across calls: which key limbs are there, what has to come over the link.

use std::collections::HashMap;

use ringmill_isa::mid::LimbId;

/// Key memory of all RPAUs, least recently used first out.
#[derive(Clone, Debug, Default)]
pub struct KeyMemory {
    /// Limbs in key memory, with their RPAU and the last call that used them.
    held: HashMap<LimbId, (usize, usize)>,
    /// Every key limb used so far, with its RPAU.
    seen: HashMap<LimbId, usize>,
    /// Limbs brought over the link.
    pub loads: u64,
}

impl KeyMemory {
    /// Call number `call` uses `limbs` (with their RPAUs); each RPAU holds `capacity` of them. With
    /// `resident` they are there already, as far as they fit.
    pub fn call(
        &mut self,
        call: usize,
        limbs: &[(LimbId, usize)],
        capacity: usize,
        resident: bool,
    ) {
        for &(limb, rpau) in limbs {
            self.seen.insert(limb, rpau);
        }
        if resident {
            // What one call needs beyond the memory has to come over the link in any case.
            let mut counts: HashMap<usize, usize> = HashMap::new();
            limbs
                .iter()
                .for_each(|(_, rpau)| *counts.entry(*rpau).or_default() += 1);
            self.loads += counts
                .values()
                .map(|c| c.saturating_sub(capacity) as u64)
                .sum::<u64>();
            return;
        }
        for &(limb, rpau) in limbs {
            if self.held.insert(limb, (rpau, call)).is_some() {
                continue;
            }
            self.loads += 1;
            let here = self.held.iter().filter(|(_, (r, _))| *r == rpau);
            if here.clone().count() > capacity {
                // The oldest leaves; a limb of this very call only when the call alone overflows the memory.
                let oldest = here
                    .min_by_key(|(l, (_, used))| (*used, l.0))
                    .map(|(l, _)| *l);
                oldest.map(|l| self.held.remove(&l));
            }
        }
    }

    /// Distinct key limbs used, on the RPAU with most.
    pub fn most(&self) -> usize {
        let mut counts: HashMap<usize, usize> = HashMap::new();
        self.seen
            .values()
            .for_each(|r| *counts.entry(*r).or_default() += 1);
        counts.values().copied().max().unwrap_or(0)
    }
}
