//! Procedures that give several ciphertexts and do not fit the machine whole, cut into calls that give some of them each.
//!
//! A hoisted set of rotations shares one decomposition, and wants room for all its keys and results at once. A part has
//! the instructions that its own results need and no others, so what parts share is computed again, exactly as it was:
//! every bit stays. That is cheap beside the host link, over which a limb takes longer than several transforms. A part
//! stands before the first call that reads one of its results, so that these do not wait where room is short.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use ringmill_isa::mid::{Call, Imm, Instr, ParamRole, Procedure, ResultLimb, Unrolled, ValueId};

use super::description::{Description, MAX_RPAUS};
use super::place::{Class, order};
use super::schedule::Placement;
use super::search::Prepared;
use crate::{Cuts, MachineError};

/// A program whose procedures fit as far as cutting helps.
pub struct Fitted {
    pub program: Unrolled,
    pub cuts: Cuts,
    /// For procedures of parts, the number of their shape: those of one shape are scheduled alike.
    pub shapes: HashMap<u32, usize>,
}

/// `program` with the calls cut that do not fit; `None` where there is nothing to cut.
///
/// # Errors
/// Those of legalising a part.
pub fn fit(d: &Description, program: &Unrolled) -> Result<Option<Fitted>, MachineError> {
    let ciphers: Vec<Vec<u16>> = program.procs.iter().map(|p| ciphers(p)).collect();
    let several = |call: &Call| ciphers[call.proc as usize].len() > 1;
    if !program.calls.iter().any(several) {
        return Ok(None);
    }
    let live = Live::new(d, program);
    let mut cutter = Cutter {
        d,
        program,
        procs: program.procs.clone(),
        parts: HashMap::new(),
        shapes: Vec::new(),
        shape_of: HashMap::new(),
        fits: HashMap::new(),
        shape_of_part: HashMap::new(),
    };
    // Calls to insert before each call, and whether it goes itself.
    let mut before: Vec<Vec<Call>> = vec![Vec::new(); program.calls.len()];
    let mut gone = vec![false; program.calls.len()];
    let mut cuts = Cuts::default();
    for (at, call) in program.calls.iter().enumerate().filter(|(_, c)| several(c)) {
        let all = &ciphers[call.proc as usize];
        let size = cutter.size(call, all, &live.beside(at))?;
        if size == all.len() {
            continue;
        }
        gone[at] = true;
        cuts.calls += 1;
        for some in all.chunks(size) {
            cuts.parts += 1;
            let part = cutter.part(call.proc, some);
            let part = part.call(call);
            let reads = part.results.iter().filter_map(|l| live.first_read(*l));
            before[reads.min().unwrap_or(at)].push(part);
        }
    }
    if cuts.calls == 0 {
        return Ok(None);
    }
    let mut calls = Vec::with_capacity(program.calls.len() + cuts.parts as usize);
    for ((call, parts), gone) in program.calls.iter().zip(before).zip(gone) {
        calls.extend(parts);
        if !gone {
            calls.push(call.clone());
        }
    }
    let program = Unrolled {
        procs: cutter.procs,
        calls,
        ..program.clone()
    };
    Ok(Some(Fitted {
        program,
        cuts,
        shapes: cutter.shape_of_part,
    }))
}

/// The numbers of a procedure's result ciphertexts.
fn ciphers(procedure: &Procedure) -> Vec<u16> {
    let mut list: Vec<u16> = procedure.results.iter().map(|r| r.index).collect();
    list.sort_unstable();
    list.dedup();
    list
}

/// A part of a procedure.
#[derive(Clone)]
struct Part {
    /// Index of the part's own procedure.
    proc: u32,
    /// Which of the whole's parameters, seeds and results it has.
    params: Vec<usize>,
    seeds: Vec<usize>,
    results: Vec<usize>,
}

impl Part {
    /// The part's call, in place of `whole`.
    fn call(&self, whole: &Call) -> Call {
        Call {
            proc: self.proc,
            args: self.params.iter().map(|&i| whole.args[i]).collect(),
            seeds: self.seeds.iter().map(|&i| whole.seeds[i]).collect(),
            results: self.results.iter().map(|&i| whole.results[i]).collect(),
            loc: whole.loc.clone(),
        }
    }
}

struct Cutter<'a> {
    d: &'a Description,
    program: &'a Unrolled,
    procs: Vec<Arc<Procedure>>,
    parts: HashMap<(u32, Vec<u16>), Part>,
    shapes: Vec<Shape>,
    /// For each procedure and number of its ciphertexts made at once, the shape of a part.
    shape_of: HashMap<(u32, usize), usize>,
    fits: HashMap<(usize, Vec<usize>, Vec<bool>), bool>,
    shape_of_part: HashMap<u32, usize>,
}

/// Parts that differ in Galois elements only: they take the same cycles and room.
struct Shape {
    procedure: Procedure,
    /// Cycles on a machine with nothing else in its memory; `None` where it does not fit.
    cycles: Option<u64>,
}

/// A procedure with Galois elements in the order of their coming, and no name.
fn shape(procedure: &Procedure) -> Procedure {
    let mut elements: Vec<u32> = Vec::new();
    let mut shape = Procedure {
        name: String::new(),
        ..procedure.clone()
    };
    for instr in &mut shape.instrs {
        if let Imm::Galois(g) = &mut instr.imm {
            let known = elements.iter().position(|e| e == g);
            *g = known.unwrap_or_else(|| {
                elements.push(*g);
                elements.len() - 1
            }) as u32;
        }
    }
    for (name, param) in shape.params.iter_mut().enumerate() {
        param.name = name.to_string();
        if let ParamRole::Key { arg, .. } = &mut param.role {
            *arg = 0;
        }
    }
    shape.results.iter_mut().for_each(|r| {
        r.name = String::new();
    });
    shape
}

impl Cutter<'_> {
    /// How many of the call's ciphertexts are made at once: what takes the fewest cycles of all that fits beside what is
    /// alive, one where nothing does. (A shared decomposition saves transforms, but its limbs take room, and the transforms
    /// may have hidden behind the products with the keys.)
    fn size(&mut self, call: &Call, all: &[u16], live: &Beside<'_>) -> Result<usize, MachineError> {
        let mut costs: Vec<(u64, usize)> = Vec::new();
        for parts in 1..=all.len() {
            let size = all.len().div_ceil(parts);
            if costs.last().is_some_and(|&(_, last)| last == size) {
                continue;
            }
            let cycles = self.cycles(call.proc, &all[..size])?;
            // For the whole set; no part at all where there is no room for one.
            let cost = cycles.map_or(u64::MAX, |c| c * all.len() as u64 / size as u64);
            costs.push((cost, size));
        }
        // Fewest cycles first, and of equals the larger.
        costs.sort_by_key(|&(cost, size)| (cost, Reverse(size)));
        for &(_, size) in costs.iter().filter(|(cost, _)| *cost < u64::MAX) {
            if self.fit(call, &all[..size], live)? {
                return Ok(size);
            }
        }
        Ok(1)
    }

    /// Cycles of a part on a machine with nothing else in its memory; `None` where it does not fit.
    fn cycles(&mut self, proc: u32, some: &[u16]) -> Result<Option<u64>, MachineError> {
        let known = self.shape_of.get(&(proc, some.len())).copied();
        let at = match known {
            Some(at) => at,
            None => {
                let (sliced, _) = slice(&self.program.procs[proc as usize], some);
                let at = self.shape(&sliced)?;
                self.shape_of.insert((proc, some.len()), at);
                at
            }
        };
        Ok(self.shapes[at].cycles)
    }

    /// The number of a procedure's shape.
    fn shape(&mut self, procedure: &Procedure) -> Result<usize, MachineError> {
        let shape = shape(procedure);
        if let Some(at) = self.shapes.iter().position(|s| s.procedure == shape) {
            return Ok(at);
        }
        let nothing = vec![0; self.d.rpaus];
        let pinned = vec![true; procedure.params.len()];
        // What cannot be legalised whole may be in parts; if not, its call says so.
        let placed = self.placement(procedure, &nothing, &pinned);
        let prepared = placed.and_then(|at| Some((Prepared::new(self.d, procedure).ok()?, at)));
        let cycles = match prepared {
            None => None,
            Some((mut prepared, at)) => {
                let done = prepared.schedule(self.d, &at)?.ok();
                done.map(|(_, cycles)| cycles)
            }
        };
        self.shapes.push(Shape {
            procedure: shape,
            cycles,
        });
        Ok(self.shapes.len() - 1)
    }

    /// Whether a part fits key memory, and polynomial memory beside what is alive across the call.
    fn fit(&mut self, call: &Call, some: &[u16], live: &Beside<'_>) -> Result<bool, MachineError> {
        let whole = &self.program.procs[call.proc as usize];
        let Some(&shape) = self.shape_of.get(&(call.proc, some.len())) else {
            return Ok(false);
        };
        // A part leaves its operands to the next one.
        let last = some.len() == ciphers(whole).len();
        let (sliced, part) = slice(whole, some);
        let pinned = part.params.iter();
        let pinned: Vec<bool> = pinned
            .map(|&i| !last || live.read_later(call.args[i]))
            .collect();
        let key = (shape, live.slots.clone(), pinned);
        if let Some(&known) = self.fits.get(&key) {
            return Ok(known);
        }
        let fits = match self.placement(&sliced, &live.slots, &key.2) {
            Some(at) => Prepared::new(self.d, &sliced)?.fits(self.d, &at),
            None => false,
        };
        self.fits.insert(key, fits);
        Ok(fits)
    }

    /// A placement of the procedure beside `live` slots in use on each RPAU; `None` where counting tells that it does not
    /// fit.
    fn placement(
        &self,
        procedure: &Procedure,
        live: &[usize],
        pinned: &[bool],
    ) -> Option<Placement> {
        let (d, slots) = (self.d, self.d.slots());
        let pieces = 1 + usize::from(procedure.log_n > d.log_n);
        let rpau = |v: ValueId| {
            let ty = procedure.types.get(v.0 as usize);
            ty.map_or(0, |ty| usize::from(ty.modulus.0)) % d.rpaus
        };
        let (mut held, mut keys) = (live.to_vec(), vec![0; d.rpaus]);
        for (param, &pinned) in procedure.params.iter().zip(pinned) {
            let r = rpau(param.value);
            match param.role {
                ParamRole::Key { .. } => keys[r] += pieces,
                ParamRole::Cipher { .. } | ParamRole::Plain { .. } if pinned => held[r] += pieces,
                ParamRole::Cipher { .. } | ParamRole::Plain { .. } => {}
            }
        }
        for result in &procedure.results {
            held[rpau(result.value)] += pieces;
        }
        if held.iter().any(|&n| n > slots) || keys.iter().any(|&n| n > d.keys.slots) {
            return None;
        }
        let places = order(d, Class::Keep);
        let mut next: Vec<_> = vec![places.iter().copied(); d.rpaus];
        let mut busy = [0u32; MAX_RPAUS];
        for (r, &count) in live.iter().enumerate() {
            for slot in next[r].by_ref().take(count) {
                busy[r] |= 1 << slot;
            }
        }
        let mut args = Vec::with_capacity(procedure.params.len());
        for param in &procedure.params {
            let r = rpau(param.value);
            args.push(match param.role {
                ParamRole::Key { .. } => Vec::new(),
                ParamRole::Cipher { .. } | ParamRole::Plain { .. } => {
                    let own: Vec<u8> = next[r].by_ref().take(pieces).collect();
                    (own.len() == pieces).then_some(own)?
                }
            });
        }
        Some(Placement {
            args,
            pinned: pinned.to_vec(),
            busy,
        })
    }

    /// The part of a procedure that gives `some` of its ciphertexts.
    fn part(&mut self, proc: u32, some: &[u16]) -> Part {
        let key = (proc, some.to_vec());
        if let Some(known) = self.parts.get(&key) {
            return known.clone();
        }
        let (procedure, part) = slice(&self.program.procs[proc as usize], some);
        let part = Part {
            proc: self.procs.len() as u32,
            ..part
        };
        if let Some(&shape) = self.shape_of.get(&(proc, some.len())) {
            self.shape_of_part.insert(part.proc, shape);
        }
        self.procs.push(Arc::new(procedure));
        self.parts.insert(key, part.clone());
        part
    }
}

/// The instructions of a verified procedure that `some` of its ciphertexts need, values numbered anew.
fn slice(whole: &Procedure, some: &[u16]) -> (Procedure, Part) {
    let mut needed = vec![false; whole.types.len()];
    let wanted = |r: &ResultLimb| some.contains(&r.index);
    for result in whole.results.iter().filter(|r| wanted(r)) {
        needed[result.value.0 as usize] = true;
    }
    let mut kept: Vec<&Instr> = Vec::new();
    for instr in whole.instrs.iter().rev() {
        if instr.dst.iter().any(|v| needed[v.0 as usize]) {
            instr.src.iter().for_each(|v| needed[v.0 as usize] = true);
            kept.push(instr);
        }
    }
    kept.reverse();
    let mut part = Part {
        proc: 0,
        params: Vec::new(),
        seeds: Vec::new(),
        results: Vec::new(),
    };
    let mut types = Vec::new();
    let mut number: HashMap<ValueId, ValueId> = HashMap::new();
    let mut define = |v: ValueId| {
        types.push(whole.types[v.0 as usize]);
        let new = ValueId(types.len() as u32 - 1);
        number.insert(v, new);
        new
    };
    let mut params = Vec::new();
    for (at, param) in whole.params.iter().enumerate() {
        if needed[param.value.0 as usize] {
            part.params.push(at);
            let mut param = param.clone();
            param.value = define(param.value);
            params.push(param);
        }
    }
    // Definitions stand before uses, so one pass numbers all of them.
    let defined: Vec<Vec<ValueId>> = kept
        .iter()
        .map(|instr| instr.dst.iter().map(|&v| define(v)).collect())
        .collect();
    let mut instrs = Vec::with_capacity(kept.len());
    for (instr, dst) in kept.into_iter().zip(defined) {
        let imm = match instr.imm {
            Imm::Stream { seed, stream } => {
                let seed = usize::from(seed);
                let known = part.seeds.iter().position(|&s| s == seed);
                let seed = known.unwrap_or_else(|| {
                    part.seeds.push(seed);
                    part.seeds.len() - 1
                });
                Imm::Stream {
                    seed: seed as u16,
                    stream,
                }
            }
            other => other,
        };
        let src = instr.src.iter().map(|v| number[v]).collect();
        instrs.push(Instr {
            op: instr.op,
            dst,
            src,
            imm,
        });
    }
    let mut results = Vec::new();
    for (at, result) in whole.results.iter().enumerate().filter(|(_, r)| wanted(r)) {
        part.results.push(at);
        let mut result = result.clone();
        result.value = number[&result.value];
        results.push(result);
    }
    let (first, last) = (some.first(), some.last());
    let name = format!(
        "{}.r{}-{}",
        whole.name,
        first.copied().unwrap_or(0),
        last.copied().unwrap_or(0)
    );
    let procedure = Procedure {
        name,
        log_n: whole.log_n,
        moduli: whole.moduli.clone(),
        params,
        seeds: part.seeds.iter().map(|&s| whole.seeds[s]).collect(),
        immediates: whole.immediates.clone(),
        instrs,
        results,
        types,
    };
    (procedure, part)
}

/// Which limbs of a program are on the machine when.
struct Live<'a> {
    d: &'a Description,
    program: &'a Unrolled,
    /// First call that has the limb, as argument or result, and the first and the last that read it.
    since: Vec<Option<usize>>,
    first: Vec<Option<usize>>,
    last: Vec<Option<usize>>,
    is_key: Vec<bool>,
}

/// What is on the machine beside a call's operands and results.
struct Beside<'a> {
    live: &'a Live<'a>,
    at: usize,
    /// Slots in use on each RPAU.
    slots: Vec<usize>,
}

impl Beside<'_> {
    /// Whether a call after this one reads the limb.
    fn read_later(&self, limb: ringmill_isa::mid::LimbId) -> bool {
        self.live.last[limb.0 as usize].is_some_and(|last| last > self.at)
    }
}

impl<'a> Live<'a> {
    fn new(d: &'a Description, program: &'a Unrolled) -> Self {
        let count = program.limbs.len();
        let (mut since, mut first, mut last) =
            (vec![None; count], vec![None; count], vec![None; count]);
        for (at, call) in program.calls.iter().enumerate() {
            for limb in &call.args {
                let limb = limb.0 as usize;
                since[limb] = since[limb].or(Some(at));
                first[limb] = first[limb].or(Some(at));
                last[limb] = Some(at);
            }
            for limb in &call.results {
                since[limb.0 as usize] = Some(at);
            }
        }
        let mut is_key = vec![false; count];
        for input in &program.inputs {
            is_key[input.limb.0 as usize] =
                matches!(input.role, ringmill_isa::mid::InputRole::Key { .. });
        }
        Self {
            d,
            program,
            since,
            first,
            last,
            is_key,
        }
    }

    fn first_read(&self, limb: ringmill_isa::mid::LimbId) -> Option<usize> {
        self.first[limb.0 as usize]
    }

    /// Slots of what is on the machine before call `at` and read after it, but not by it.
    fn beside(&self, at: usize) -> Beside<'_> {
        let pieces = 1 + usize::from(self.program.log_n > self.d.log_n);
        let mut slots = vec![0; self.d.rpaus];
        for (limb, ty) in self.program.limbs.iter().enumerate() {
            let across = self.since[limb].is_some_and(|since| since < at)
                && self.last[limb].is_some_and(|last| last > at);
            let own = || {
                let args = &self.program.calls[at].args;
                args.iter().any(|l| l.0 as usize == limb)
            };
            if across && !self.is_key[limb] && !own() {
                slots[usize::from(ty.modulus.0) % self.d.rpaus] += pieces;
            }
        }
        Beside {
            live: self,
            at,
            slots,
        }
    }
}
