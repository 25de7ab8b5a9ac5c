//! Where values are refreshed: at the cuts of least cost.
//!
//! A *cut* stands before an instruction. A value that was made before a cut and is read behind it is refreshed when it is first
//! read there, if that gives it room. So the values that a cut refreshes are those that live across it, and what they cost is known
//! when it is reached, up to which of them still have room. Cuts are found by dynamic programming over the instructions: for each
//! place for a cut the cheapest way there, from any earlier cut from which the noise model lets the program run so far. Then each
//! refreshed value is tried without.

use std::collections::{BTreeMap, HashSet};

use ringmill_isa::macros::{MacroProgram, MacroValue};

use super::super::CompileError;
use super::{Deep, Frame, Manager, Misfit};

/// Cuts, and values that are left alone there.
#[derive(Clone, Default, Debug)]
pub struct Placement {
    /// Numbers of the instructions that cuts stand before, in order.
    cuts: Vec<usize>,
    kept: HashSet<(MacroValue, usize)>,
}

impl Placement {
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
/// Places for cuts that are looked at.
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
    let (placement, cost) = match by_cuts(program, frame, deep)? {
        Ok(found) => found,
        Err(misfit) => return Ok(Err(misfit)),
    };
    let (placement, cost) = fewer(program, frame, deep, (placement, cost))?;
    Ok(Ok((placement, cost)))
}

/// A cut that is reached: what it has cost so far, and the cuts on the way, itself the last.
#[derive(Clone)]
struct Way<'a> {
    /// What was paid, and what is sure to be paid for values that live across the cut.
    bound: f64,
    manager: Manager<'a>,
    cuts: Vec<usize>,
}

fn by_cuts(
    program: &MacroProgram,
    frame: Frame<'_>,
    deep: Deep<'_>,
) -> Result<Result<(Placement, f64), Misfit>, CompileError> {
    let count = program.instrs.len();
    let last_read = last_reads(program);
    let spaced = count.div_ceil(PLACES).max(1);
    let none = Placement::default();
    let start = Way {
        bound: 0.0,
        manager: Manager::new(program, with(frame, deep, &none)),
        cuts: Vec::new(),
    };
    let mut ways: BTreeMap<usize, Way<'_>> = BTreeMap::from([(0, start)]);
    let mut best: Option<(Placement, f64)> = None;
    let mut first: Option<(usize, Misfit)> = None;
    while let Some((from, way)) = ways.pop_first() {
        let placement = Placement {
            cuts: way.cuts.clone(),
            kept: HashSet::new(),
        };
        let Way { manager, cuts, .. } = way;
        let mut manager = manager.within(with(frame, deep, &placement));
        for number in from..count {
            manager.next(program, number)?;
            if let Some(misfit) = &manager.misfit {
                if first.as_ref().is_none_or(|&(at, _)| at < number) {
                    first = Some((number, misfit.clone()));
                }
                break;
            }
            let cut = number + 1;
            if cut == count {
                if best.as_ref().is_none_or(|&(_, cost)| manager.cost < cost) {
                    best = Some((placement.clone(), manager.cost));
                }
                break;
            }
            if !cut.is_multiple_of(spaced) {
                continue;
            }
            let owed = manager.across(deep, &last_read, cut) as f64 * deep.costs.bootstrap();
            let bound = manager.cost + owed;
            if ways.get(&cut).is_none_or(|known| bound < known.bound) {
                let mut cuts = cuts.clone();
                cuts.push(cut);
                let manager = manager.clone().within(with(frame, deep, &none));
                let way = Way {
                    bound,
                    manager,
                    cuts,
                };
                ways.insert(cut, way);
            }
        }
        if count == 0 {
            return Ok(Ok((Placement::default(), 0.0)));
        }
    }
    Ok(match (best, first) {
        (Some(best), _) => Ok(best),
        (None, Some((_, misfit))) => Err(misfit),
        (None, None) => Ok((Placement::default(), 0.0)),
    })
}

/// The same with every refreshed value left alone that need not be.
fn fewer(
    program: &MacroProgram,
    frame: Frame<'_>,
    deep: Deep<'_>,
    (mut placement, mut cost): (Placement, f64),
) -> Result<(Placement, f64), CompileError> {
    let Some((refreshed, _)) = tried(program, with(frame, deep, &placement))? else {
        return Ok((placement, cost));
    };
    let trials = TRIALS / program.instrs.len().max(1);
    for &left in refreshed.iter().rev().take(trials) {
        let mut without = placement.clone();
        without.kept.insert(left);
        if let Some((_, less)) = tried(program, with(frame, deep, &without))?
            && less < cost
        {
            (placement, cost) = (without, less);
        }
    }
    Ok((placement, cost))
}

type Tried = (Vec<(MacroValue, usize)>, f64);

/// What a placement refreshes and costs; none where it loses a message.
fn tried(program: &MacroProgram, frame: Frame<'_>) -> Result<Option<Tried>, CompileError> {
    let mut manager = Manager::new(program, frame);
    for number in 0..program.instrs.len() {
        manager.next(program, number)?;
        if manager.misfit.is_some() {
            return Ok(None);
        }
    }
    Ok(Some((manager.refreshed, manager.cost)))
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
            since: self.since,
            refreshed: self.refreshed,
            model: self.model,
            t: self.t,
            placed: self.placed,
            derived: self.derived,
            plains: self.plains,
            plain_source: self.plain_source,
            outputs: self.outputs,
            misfit: self.misfit,
        }
    }

    /// Values that a cut before an instruction would refresh.
    fn across(&self, deep: Deep<'_>, last_read: &[usize], cut: usize) -> usize {
        let values = self.placed.iter().zip(last_read);
        let across = values.filter(|&(placed, &last)| {
            last >= cut && placed.is_some_and(|placed| self.gains(deep, placed))
        });
        across.count()
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
    use crate::options::Passes;
    use crate::pipeline;

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
                .is_none()
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
            found.map(|(_, cost)| cost)
        });
        costs.fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn no_set_of_cuts_is_cheaper_and_the_last_moment_is_dearer() {
        let procedure = toy::procedure();
        let params = Arc::clone(procedure.params());
        let costs = Costs::new(&params, &procedure);
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
