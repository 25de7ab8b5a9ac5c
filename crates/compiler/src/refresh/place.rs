// SPDX-License-Identifier: Apache-2.0
//! Places bootstraps at the cuts of least cost in a program.
//!
//! A *cut* stands before an instruction. A value that was made before a cut and is read after it is refreshed at its
//! first read there, if that gives it room. So a cut refreshes the values that live across it. Their cost is known when
//! the cut is reached, because values that still have room need no refresh. A cut may only stand where each of these
//! values can be refreshed. Then all of them have room after it, wherever the earlier cuts are. So only the cheapest
//! way to a cut matters. Dynamic programming over the instructions finds the cuts: for each place the cheapest way
//! there, from any earlier cut after which no value is lost before that place. Then refreshed values are tried without
//! their refresh, the last one first, as long as that takes few enough instructions.

use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use ringmill_isa::macros::{MacroProgram, MacroValue};

use super::Course;

/// A placement of bootstraps: the cuts, which are instructions before which live values are bootstrapped, and the
/// values that are not bootstrapped there.
#[derive(Clone, Default, Debug)]
pub struct Placement {
    /// The numbers of the instructions before which cuts stand, in ascending order.
    pub cuts: Vec<usize>,
    /// The values that are not bootstrapped, each with the cut at which it is not.
    pub kept: HashSet<(MacroValue, usize)>,
}

impl Placement {
    /// Returns a placement of one cut (before the instruction with this number), or an empty one if the cut is the
    /// start of the program.
    fn at(cut: usize) -> Self {
        Self {
            cuts: (cut > 0).then_some(cut).into_iter().collect(),
            kept: HashSet::new(),
        }
    }

    /// Returns the placement of all cuts on the way to the cut `last`. `before` gives for each cut (the number of an
    /// instruction) the one before it.
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

    /// Returns whether the placement has no cuts, so that no value is bootstrapped.
    pub fn is_empty(&self) -> bool {
        self.cuts.is_empty()
    }

    /// Returns the last cut (instruction before which live values are bootstrapped) at this instruction or an earlier
    /// one.
    pub fn cut_before(&self, instr: usize) -> Option<usize> {
        let count = self.cuts.partition_point(|&cut| cut <= instr);
        self.cuts.get(count.checked_sub(1)?).copied()
    }

    pub fn is_kept(&self, value: MacroValue, cut: usize) -> bool {
        self.kept.contains(&(value, cut))
    }
}

/// The most instructions that all trials together process. Each trial runs the program without one of its bootstraps.
const TRIALS: usize = 1 << 22;
/// About how many later places in the program are tried for the next cut (place of bootstraps) after each cut. If there
/// are fewer places, all of them are tried.
const PLACES: usize = 1 << 10;

/// The result of a scheme's pass through the program, or a description of what the first lost value lacks. Errors are
/// the scheme's.
type Result<T, C> =
    std::result::Result<std::result::Result<T, <C as Course>::Lost>, <C as Course>::Error>;

/// Returns the placement of bootstraps of least cost that the search finds, and its cost. If it finds none that saves
/// every value, it returns a description of what the first lost value lacks on the way that reaches farthest. `start`
/// is the scheme's pass before the first instruction.
///
/// # Errors
/// Returns the errors of the scheme's pass.
pub fn best<C: Course>(program: &MacroProgram, start: &C) -> Result<(Placement, f64), C> {
    let found = match by_cuts(program, start, PLACES)? {
        Err(_) if program.instrs.len() > PLACES => by_cuts(program, start, usize::MAX)?,
        found => found,
    };
    match found {
        Ok(placement) => fewer(program, start, placement),
        Err(lost) => Ok(Err(lost)),
    }
}

/// A cut (instruction before which live values are bootstrapped) that the search has reached, and the cheapest way
/// there.
struct Way<C> {
    /// A lower bound on the cost of the way: the cost up to the cut, and that of the bootstraps that values living
    /// across the cut will need for certain.
    bound: f64,
    course: C,
    /// The cut that comes before this one on the cheapest way. A cut is the number of an
    /// instruction before which live values are bootstrapped.
    before: usize,
}

/// Returns the cuts of least cost, the instructions before which live values are bootstrapped. The start of the program
/// counts as a cut at which nothing is bootstrapped.
fn by_cuts<C: Course>(program: &MacroProgram, start: &C, places: usize) -> Result<Placement, C> {
    let count = program.instrs.len();
    let last_read = last_reads(program);
    let none = Rc::new(Placement::default());
    let start = Way {
        bound: 0.0,
        course: placed(start.clone(), &none),
        before: 0,
    };
    let mut ways: BTreeMap<usize, Way<C>> = BTreeMap::from([(0, start)]);
    let mut before: BTreeMap<usize, usize> = BTreeMap::new();
    let mut best: Option<(usize, f64)> = None;
    let mut first: Option<(usize, C::Lost)> = None;
    while let Some((from, way)) = ways.pop_first() {
        if best.is_some_and(|(_, cost)| way.bound >= cost) {
            continue;
        }
        before.insert(from, way.before);
        let mut course = placed(way.course, &Rc::new(Placement::at(from)));
        let spaced = spaced(&course, program, from, places)?;
        let mut lost_at = None;
        for number in from..count {
            course.go_on(program, number)?;
            if let Some(lost) = course.lost() {
                lost_at = Some((number, lost.clone()));
                break;
            }
            let cut = number + 1;
            forget(&mut course, program, number, &last_read);
            if cut == count || !cut.is_multiple_of(spaced) {
                continue;
            }
            let known = ways.get(&cut).map_or(f64::INFINITY, |known| known.bound);
            if course.cost() >= known {
                continue;
            }
            let bound = course.cost() + course.stale() as f64 * course.of_refresh();
            if bound < known && course.survives()? {
                let way = Way {
                    bound,
                    course: placed(course.lean(), &none),
                    before: from,
                };
                ways.insert(cut, way);
            }
        }
        match lost_at {
            None if best.is_none_or(|(_, cost)| course.cost() < cost) => {
                best = Some((from, course.cost()));
            }
            None => {}
            Some((end, lost)) if first.as_ref().is_none_or(|&(at, _)| at < end) => {
                first = Some((end, lost));
            }
            Some(_) => {}
        }
    }
    Ok(match (best, first) {
        (Some((last, _)), _) => Ok(Placement::through(last, &before)),
        (None, Some((_, lost))) => Err(lost),
        (None, None) => Ok(Placement::default()),
    })
}

/// Tries to leave out the bootstraps of a placement, the last one first, until the trials have processed [`TRIALS`]
/// instructions. It keeps every change that lowers the cost. Returns the resulting placement and its cost.
fn fewer<C: Course>(
    program: &MacroProgram,
    start: &C,
    mut placement: Placement,
) -> Result<(Placement, f64), C> {
    let (refreshed, mut cost) = match tried(program, start, &placement)? {
        Ok(tried) => tried,
        Err(lost) => return Ok(Err(lost)),
    };
    let trials = TRIALS / program.instrs.len().max(1);
    for &left in refreshed.iter().rev().take(trials) {
        let mut without = placement.clone();
        without.kept.insert(left);
        if let Ok((_, less)) = tried(program, start, &without)?
            && less < cost
        {
            (placement, cost) = (without, less);
        }
    }
    Ok(Ok((placement, cost)))
}

type Tried = (Vec<(MacroValue, usize)>, f64);

/// Runs a placement through the program. Returns the bootstrapped values and the cost, or a description of what the
/// first lost value lacks.
pub fn tried<C: Course>(
    program: &MacroProgram,
    start: &C,
    placement: &Placement,
) -> Result<Tried, C> {
    let mut course = placed(start.clone(), &Rc::new(placement.clone()));
    for number in 0..program.instrs.len() {
        course.go_on(program, number)?;
        if let Some(lost) = course.lost() {
            return Ok(Err(lost.clone()));
        }
    }
    Ok(Ok((course.refreshed().to_vec(), course.cost())))
}

fn placed<C: Course>(mut course: C, placement: &Rc<Placement>) -> C {
    course.refresh_by(Rc::clone(placement));
    course
}

/// Returns for each value the number of the last instruction that reads it, or 0 for a value that none reads.
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

/// Returns the distance, in instructions, between the places after a cut at which the next cut is tried. It is a power
/// of two, so that ways from different cuts share places.
fn spaced<C: Course>(
    course: &C,
    program: &MacroProgram,
    from: usize,
    places: usize,
) -> std::result::Result<usize, C::Error> {
    let distance = |end: usize| ((end - from) / places).max(1).next_power_of_two();
    let count = program.instrs.len();
    // If the rest of the program has few places, all of them are tried, however far the pass runs before it loses a
    // value.
    if distance(count) == 1 {
        return Ok(1);
    }
    let mut course = course.clone();
    for number in from..count {
        course.go_on(program, number)?;
        if course.lost().is_some() {
            return Ok(distance(number));
        }
    }
    Ok(distance(count))
}

/// Forgets the values that no instruction after this one reads.
fn forget<C: Course>(course: &mut C, program: &MacroProgram, number: usize, last_read: &[usize]) {
    let Some(instr) = program.instrs.get(number) else {
        return;
    };
    for &old in instr.src.iter().chain(&instr.dst) {
        let last = last_read.get(old.0 as usize);
        if last.is_none_or(|&last| last <= number) {
            course.forget(old);
        }
    }
}
