//! Where values are refreshed: at the cuts of least cost.
//!
//! A *cut* stands before an instruction. A value that was made before a cut and is read behind it is refreshed when it is first
//! read there, if that gives it room. So the values that a cut refreshes are those that live across it, and what they cost is known
//! when it is reached, up to which of them still have room. A cut may only stand where each of these values can be refreshed: then
//! all of them have room behind it, wherever the earlier cuts are, and the cheapest way there is the only one that matters. Cuts are
//! found by dynamic programming over the instructions: for each place for a cut the cheapest way there, from any earlier cut from
//! which the noise model lets the program run so far. Then each refreshed value is tried without.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use ringmill_isa::macros::{MacroProgram, MacroValue};

use super::super::CompileError;
use super::{Deep, Frame, Manager, Misfit, Placed};

/// Cuts, and values that are left alone there.
#[derive(Clone, Default, Debug)]
pub struct Placement {
    /// Numbers of the instructions that cuts stand before, in order.
    cuts: Vec<usize>,
    kept: HashSet<(MacroValue, usize)>,
}

impl Placement {
    /// One cut; none at the start of the program.
    fn at(cut: usize) -> Self {
        Self {
            cuts: (cut > 0).then_some(cut).into_iter().collect(),
            kept: HashSet::new(),
        }
    }

    /// All cuts up to `last`, of each of which the one before it is given.
    fn through(last: usize, before: &BTreeMap<usize, usize>) -> Self {
        let earlier = |&cut: &usize| before.get(&cut).copied();
        let cuts = std::iter::successors(Some(last), earlier);
        let mut cuts: Vec<usize> = cuts.take_while(|&cut| cut > 0).collect();
        cuts.reverse();
        Self {
            cuts,
            kept: HashSet::new(),
        }
    }

    /// Whether nothing is refreshed.
    pub fn is_empty(&self) -> bool {
        self.cuts.is_empty()
    }

    /// The last cut before an instruction, or right there.
    pub(super) fn cut_before(&self, instr: usize) -> Option<usize> {
        let count = self.cuts.partition_point(|&cut| cut <= instr);
        self.cuts.get(count.checked_sub(1)?).copied()
    }

    pub(super) fn is_kept(&self, value: MacroValue, cut: usize) -> bool {
        self.kept.contains(&(value, cut))
    }
}

/// Trials of one refreshed value less, in instructions.
const TRIALS: usize = 1 << 22;
/// Places for cuts that are looked at from a cut, where there are places enough among them.
const PLACES: usize = 1 << 10;

/// The placement of least cost that is found, and its cost; what is lacking at the first value that no placement saves.
///
/// # Errors
/// What the watch says, and instructions that no level serves.
pub fn best(
    program: &MacroProgram,
    frame: Frame<'_>,
    deep: Deep<'_>,
) -> Result<Result<(Placement, f64), Misfit>, CompileError> {
    let found = match by_cuts(program, frame, deep, PLACES)? {
        Err(_) if program.instrs.len() > PLACES => by_cuts(program, frame, deep, usize::MAX)?,
        found => found,
    };
    let placement = match found {
        Ok(found) => found,
        Err(misfit) => return Ok(Err(misfit)),
    };
    fewer(program, frame, deep, placement)
}

/// A cut that is reached, and the cheapest way there.
struct Way<'a> {
    /// What was paid, and what is sure to be paid for values that live across the cut.
    bound: f64,
    manager: Manager<'a>,
    /// The cut before it.
    before: usize,
}

/// Cuts of least cost. The start of the program is one, at which nothing is refreshed.
fn by_cuts(
    program: &MacroProgram,
    frame: Frame<'_>,
    deep: Deep<'_>,
    places: usize,
) -> Result<Result<Placement, Misfit>, CompileError> {
    let count = program.instrs.len();
    let last_read = last_reads(program);
    let none = Placement::default();
    let start = Way {
        bound: 0.0,
        manager: Manager::new(program, with(frame, deep, &none)),
        before: 0,
    };
    let mut ways: BTreeMap<usize, Way<'_>> = BTreeMap::from([(0, start)]);
    let mut before: BTreeMap<usize, usize> = BTreeMap::new();
    let mut best: Option<(usize, f64)> = None;
    let mut first: Option<(usize, Misfit)> = None;
    while let Some((from, way)) = ways.pop_first() {
        if best.is_some_and(|(_, cost)| way.bound >= cost) {
            continue;
        }
        before.insert(from, way.before);
        let placement = Placement::at(from);
        let mut manager = way.manager.within(with(frame, deep, &placement));
        let end = manager.clone().end(program, from)?;
        // Places that all ways share.
        let spaced = ((end - from) / places).max(1).next_power_of_two();
        for number in from..end {
            manager.next(program, number)?;
            let cut = number + 1;
            manager.forget(program, number, &last_read);
            if cut == count || !cut.is_multiple_of(spaced) {
                continue;
            }
            let known = ways.get(&cut).map_or(f64::INFINITY, |known| known.bound);
            if manager.cost >= known {
                continue;
            }
            let stale = manager.stale(deep);
            let bound = manager.cost + stale.len() as f64 * deep.costs.bootstrap();
            if bound < known && manager.survive(deep, &stale)? {
                let manager = manager.lean().within(with(frame, deep, &none));
                let way = Way {
                    bound,
                    manager,
                    before: from,
                };
                ways.insert(cut, way);
            }
        }
        if end == count {
            if best.is_none_or(|(_, cost)| manager.cost < cost) {
                best = Some((from, manager.cost));
            }
            continue;
        }
        manager.next(program, end)?;
        if let Some(misfit) = manager.misfit
            && first.as_ref().is_none_or(|&(at, _)| at < end)
        {
            first = Some((end, misfit));
        }
    }
    Ok(match (best, first) {
        (Some((last, _)), _) => Ok(Placement::through(last, &before)),
        (None, Some((_, misfit))) => Err(misfit),
        (None, None) => Ok(Placement::default()),
    })
}

/// The same with every refreshed value left alone that need not be, and its cost.
fn fewer(
    program: &MacroProgram,
    frame: Frame<'_>,
    deep: Deep<'_>,
    mut placement: Placement,
) -> Result<Result<(Placement, f64), Misfit>, CompileError> {
    let (refreshed, mut cost) = match tried(program, with(frame, deep, &placement))? {
        Ok(tried) => tried,
        Err(misfit) => return Ok(Err(misfit)),
    };
    let trials = TRIALS / program.instrs.len().max(1);
    for &left in refreshed.iter().rev().take(trials) {
        let mut without = placement.clone();
        without.kept.insert(left);
        if let Ok((_, less)) = tried(program, with(frame, deep, &without))?
            && less < cost
        {
            (placement, cost) = (without, less);
        }
    }
    Ok(Ok((placement, cost)))
}

type Tried = (Vec<(MacroValue, usize)>, f64);

/// What a placement refreshes and costs, or the first message that it loses.
fn tried(program: &MacroProgram, frame: Frame<'_>) -> Result<Result<Tried, Misfit>, CompileError> {
    let mut manager = Manager::new(program, frame);
    for number in 0..program.instrs.len() {
        manager.next(program, number)?;
        if let Some(misfit) = manager.misfit {
            return Ok(Err(misfit));
        }
    }
    Ok(Ok((manager.refreshed, manager.cost)))
}

fn with<'b>(frame: Frame<'b>, deep: Deep<'b>, placement: &'b Placement) -> Frame<'b> {
    let deep = Some(Deep { placement, ..deep });
    Frame {
        deep,
        measure: false,
        ..frame
    }
}

/// The last instruction that reads each value.
fn last_reads(program: &MacroProgram) -> Vec<usize> {
    let mut last = vec![0; program.types.len()];
    for (number, instr) in program.instrs.iter().enumerate() {
        for v in &instr.src {
            if let Some(slot) = last.get_mut(v.0 as usize) {
                *slot = number;
            }
        }
    }
    last
}

impl Manager<'_> {
    /// The same in another frame.
    fn within<'b>(self, frame: Frame<'b>) -> Manager<'b> {
        Manager {
            frame,
            out: self.out,
            made: self.made,
            cost: self.cost,
            at: self.at,
            refreshed: self.refreshed,
            model: self.model,
            t: self.t,
            known: self.known,
            derived: self.derived,
            plains: self.plains,
            plain_source: self.plain_source,
            outputs: self.outputs,
            misfit: self.misfit,
        }
    }

    /// The number of the first instruction, from one on, that loses a message; that of instructions where none does.
    fn end(mut self, program: &MacroProgram, from: usize) -> Result<usize, CompileError> {
        let count = program.instrs.len();
        for number in from..count {
            self.next(program, number)?;
            if self.misfit.is_some() {
                return Ok(number);
            }
        }
        Ok(count)
    }

    /// Forgets the values that no instruction behind this one reads.
    fn forget(&mut self, program: &MacroProgram, number: usize, last_read: &[usize]) {
        let Some(instr) = program.instrs.get(number) else {
            return;
        };
        for old in instr.src.iter().chain(&instr.dst) {
            if last_read
                .get(old.0 as usize)
                .is_none_or(|&last| last <= number)
            {
                self.known.remove(old);
            }
        }
    }

    /// The values that a cut would refresh, of those that are known.
    fn stale(&self, deep: Deep<'_>) -> Vec<Placed> {
        let known = self.known.values().map(|known| known.placed);
        known.filter(|&placed| self.gains(deep, placed)).collect()
    }

    /// Whether each of these values can be refreshed.
    fn survive(&self, deep: Deep<'_>, values: &[Placed]) -> Result<bool, CompileError> {
        for &placed in values {
            if !self.survives(deep, placed)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The same without what was made of values that are forgotten.
    fn lean(&self) -> Self {
        let known = self.known.values().map(|known| known.placed.value);
        let mut left: BTreeSet<MacroValue> = known.collect();
        let mut derived = BTreeMap::new();
        // What is made of a value has a higher number.
        for (&(from, how), &placed) in &self.derived {
            if left.contains(&from) {
                left.insert(placed.value);
                derived.insert((from, how), placed);
            }
        }
        Self {
            out: None,
            made: self.made,
            cost: self.cost,
            at: self.at,
            refreshed: Vec::new(),
            frame: self.frame,
            model: self.model.clone(),
            t: self.t,
            known: self.known.clone(),
            derived,
            plains: HashMap::new(),
            plain_source: HashMap::new(),
            outputs: Vec::new(),
            misfit: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ringmill_isa::macros::Visibility;
    use ringmill_schemes::bgv::Bgv;

    use super::super::super::cost::Costs;
    use super::super::super::toy;
    use super::*;
    use crate::builder::{TraceBuilder, Traced};
    use crate::pipeline;
    use crate::scheme::options::Passes;

    /// A program of two inputs.
    fn program(body: impl Fn(&mut TraceBuilder, Traced, Traced) -> Traced) -> MacroProgram {
        let mut t = TraceBuilder::new("placed", 2).unwrap();
        let x = t.input("x", Visibility::Encrypted, None).unwrap();
        let y = t.input("y", Visibility::Encrypted, None).unwrap();
        let z = body(&mut t, x, y);
        t.output("z", z, None).unwrap();
        pipeline::relinearised::<Bgv>(t.finish(), Passes::ALL)
    }

    /// Cuts where they can no longer be put off.
    fn at_the_last_moment(program: &MacroProgram, frame: Frame<'_>, deep: Deep<'_>) -> f64 {
        let mut placement = Placement::default();
        for count in 1..=program.instrs.len() {
            let mut prefix = program.clone();
            prefix.instrs.truncate(count);
            let mut cut = count - 1;
            while tried(&prefix, with(frame, deep, &placement))
                .unwrap()
                .is_err()
            {
                placement.cuts.retain(|&known| known != cut + 1);
                placement.cuts.push(cut);
                placement.cuts.sort_unstable();
                cut = cut.checked_sub(1).unwrap();
            }
        }
        let found = tried(program, with(frame, deep, &placement)).unwrap();
        found.unwrap().1
    }

    /// Of all sets of cuts.
    fn cheapest(program: &MacroProgram, frame: Frame<'_>, deep: Deep<'_>) -> f64 {
        let count = program.instrs.len();
        let sets = (0u32..1 << (count - 1)).map(|set| Placement {
            cuts: (1..count).filter(|cut| set >> (cut - 1) & 1 == 1).collect(),
            kept: HashSet::new(),
        });
        let costs = sets.filter_map(|placement| {
            let found = tried(program, with(frame, deep, &placement)).unwrap();
            found.ok().map(|(_, cost)| cost)
        });
        costs.fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn no_set_of_cuts_is_cheaper_and_the_last_moment_is_dearer() {
        let procedure = toy::procedure();
        let params = Arc::clone(procedure.params());
        let costs = Costs::new(&params, &procedure).unwrap();
        let none = Placement::default();
        let deep = Deep {
            procedure: &procedure,
            costs: &costs,
            convention: None,
            callees: &[],
            placement: &none,
        };
        let square = |t: &mut TraceBuilder, x| t.square(x, None).unwrap();
        let programs = [
            // Squares in sequence: one value lives across each cut.
            program(|t, x, y| {
                let sum = t.add(x, y, None).unwrap();
                (0..4).fold(sum, |x, _| square(t, x))
            }),
            // Two values, and then one: the last moment refreshes both.
            program(|t, x, y| {
                let (a, b) = (square(t, x), square(t, y));
                let both = t.mul(a, b, None).unwrap();
                let both = square(t, both);
                square(t, both)
            }),
        ];
        let (start, watch) = (procedure.start(), Default::default());
        let (mut cut, mut all, mut put_off) = (0, 0.0, 0.0);
        // The lower inputs are, the sooner they run out.
        for entry in start.to(start.above(5)) {
            let entry = vec![entry; 2];
            let frame = Frame {
                params: &params,
                entry: &entry,
                output: ringmill_isa::Level::LOWEST,
                measure: false,
                deep: Some(deep),
                watch: &watch,
            };
            for program in &programs {
                let (placement, cost) = best(program, frame, deep).unwrap().unwrap();
                let least = cheapest(program, frame, deep);
                let last = at_the_last_moment(program, frame, deep);
                println!("{:?}: {cost} of {least}, {last}", placement.cuts);
                assert!(cost <= least * (1.0 + 1e-9) && least <= last * (1.0 + 1e-9));
                cut += usize::from(!placement.cuts.is_empty());
                (all, put_off) = (all + cost, put_off + last);
            }
        }
        assert!(cut > 0 && all <= put_off);
    }
}
