// SPDX-License-Identifier: Apache-2.0
//! Chooses by cost how many butterfly stages become one stage of a linear map, and which baby and giant steps each stage
//! has.

/// Relative costs of the operations of a linear map on slots, by which its layout is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Costs {
    /// The cost of an automorphism of a value whose decomposition for key switches is computed
    /// already.
    pub hoisted: u64,
    /// The cost of an automorphism of a value together with the decomposition of that value for key
    /// switches.
    pub switched: u64,
    /// The cost of a product of a value with a constant polynomial.
    pub product: u64,
}

impl Default for Costs {
    /// Returns costs that prefer the fewest key switches, and then the most hoisted ones among them.
    fn default() -> Self {
        Self {
            hoisted: 1000,
            switched: 1001,
            product: 0,
        }
    }
}

/// The depth of a linear map, and the costs by which its layout is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The number of a linear map's products with constants one after the other: from 1 to log2 of half the slots, or 1
    /// if there are two slots. A greater depth takes fewer automorphisms, and far fewer constants if there are many
    /// slots.
    pub depth: usize,
    pub costs: Costs,
}

impl Default for Shape {
    /// Returns depth 1, with the costs that prefer the fewest key switches.
    fn default() -> Self {
        Self {
            depth: 1,
            costs: Costs::default(),
        }
    }
}

/// The powers of 5 among the Galois elements of a linear map's stage: 5^(k `step`) for the integers
/// k of `range`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Powers {
    pub step: i64,
    pub range: Range,
    /// Whether the stage also has the negatives of its powers of 5 as Galois elements.
    pub signs: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Range {
    /// The powers are 5^(k `step`) for k = 0, ..., count - 1, where count is this number. The
    /// exponents are then all multiples of `step` modulo half the number of slots.
    Cyclic(i64),
    /// The powers are 5^(k `step`) for k = -(r - 1), ..., r - 1, where r is this number.
    Centred(i64),
}

/// A split of a linear map's stage into baby and giant steps. A step k stands for the Galois
/// element 5^(k s), where s is [`Powers::step`]. The baby steps are consecutive numbers from
/// `first_baby` on. The giant steps are successive multiples of the number of baby steps. 0 is
/// among both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BabyGiant {
    pub babies: i64,
    pub first_baby: i64,
    pub first_giant: i64,
    pub giants: i64,
    pub cost: u64,
}

impl Powers {
    /// Returns the powers of 5 among the Galois elements of a stage that does the work of butterfly
    /// stages `from` to `to` - 1, of `log_n` in all. With `signs` it also has the powers'
    /// negatives.
    pub fn of_stages(from: u32, to: u32, log_n: u32, signs: bool) -> Self {
        let count = 1i64 << (to - from);
        Self {
            step: 1 << from,
            range: if to == log_n {
                Range::Cyclic(count)
            } else {
                Range::Centred(count)
            },
            signs,
        }
    }

    fn bounds(self) -> (i64, i64) {
        match self.range {
            Range::Cyclic(count) => (0, count - 1),
            Range::Centred(r) => (1 - r, r - 1),
        }
    }

    /// Returns the cheapest split of the stage into baby and giant steps. Of several splits with
    /// the same cost, it returns the one with the most baby steps.
    pub fn best_split(self, costs: Costs) -> BabyGiant {
        let (low, high) = self.bounds();
        let signs = if self.signs { 2 } else { 1 };
        let mut best: Option<BabyGiant> = None;
        for babies in (1..=high - low + 1).rev() {
            // Giant step g covers `babies` numbers from g babies + first_baby on. There are fewest giant steps if one
            // begins at `low`.
            let first_baby = -(-low).rem_euclid(babies);
            let first_giant = (low - first_baby) / babies;
            let giants = (high - first_baby) / babies - first_giant + 1;
            let cost = costs.hoisted * (signs * babies - 1) as u64
                + costs.switched * (giants - 1) as u64
                + costs.product * (signs * (high - low + 1)) as u64;
            if best.is_none_or(|b| cost < b.cost) {
                best = Some(BabyGiant {
                    babies,
                    first_baby,
                    first_giant,
                    giants,
                    cost,
                });
            }
        }
        best.unwrap_or(BabyGiant {
            babies: 1,
            first_baby: 0,
            first_giant: 0,
            giants: 1,
            cost: 0,
        })
    }
}

/// Returns where to cut `log_n` butterfly stages into `depth` groups, each of which becomes one stage of a linear map,
/// for the least cost. `signs` says whether the first group also has the negatives of its powers of 5 as Galois
/// elements. The result has `depth` + 1 cuts, the first of them 0.
pub(super) fn best_cuts(log_n: u32, depth: usize, signs: bool, costs: Costs) -> Vec<u32> {
    let cost = |from: u32, to: u32| {
        Powers::of_stages(from, to, log_n, signs && from == 0)
            .best_split(costs)
            .cost
    };
    // For each `to`, the least cost of the first `to` stages in the groups made so far, and its cuts.
    let mut best: Vec<Option<(u64, Vec<u32>)>> = vec![None; log_n as usize + 1];
    best[0] = Some((0, vec![0]));
    for _ in 0..depth {
        let mut next = vec![None; log_n as usize + 1];
        for to in 1..=log_n {
            let ways = (0..to).filter_map(|from| {
                let (before, cuts) = best[from as usize].as_ref()?;
                Some((before + cost(from, to), cuts))
            });
            if let Some((total, cuts)) = ways.min_by_key(|&(total, _)| total) {
                let mut cuts = cuts.clone();
                cuts.push(to);
                next[to as usize] = Some((total, cuts));
            }
        }
        best = next;
    }
    let last = best.pop().flatten();
    last.map_or_else(|| vec![0, log_n], |(_, cuts)| cuts)
}
