// SPDX-License-Identifier: Apache-2.0
//! Cuts calls with several result ciphertexts into calls that compute some of the ciphertexts each, if they do not fit
//! the ring machine whole or take fewer cycles in parts.
//!
//! A hoisted set of rotations shares one decomposition, and needs room for all its keys and results at once. A part of
//! the call has only the instructions that its own results need. So the shared steps are computed again in each part,
//! with the same bits. That is cheap beside the host link, over which a limb takes longer than several transforms. A
//! part runs just before the first known call that reads one of its results, so that results do not wait when room is
//! short. Without such a call it runs in place of the call that was cut.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use ringmill_isa::Galois;
use ringmill_isa::mid::{Call, Imm, Instr, LimbId, ParamRole, Procedure, ResultLimb, ValueId};

use super::description::{Description, MAX_RPAUS};
use super::place::{Class, order};
use super::schedule::Placement;
use super::search::Prepared;
use crate::MachineError;

/// Returns the indices of the result ciphertexts of a procedure, ascending.
fn ciphers(procedure: &Procedure) -> Vec<u16> {
    let mut list: Vec<u16> = procedure.results.iter().map(|r| r.index).collect();
    list.sort_unstable();
    list.dedup();
    list
}

/// A part of a procedure, which computes some of its result ciphertexts.
#[derive(Clone)]
struct Part {
    /// The index of the procedure that computes this part of a call.
    proc: u32,
    /// The indices, among the parameters of the whole procedure, of the parameters of this part of it. `seeds` and
    /// `results` have the indices of its seeds and results.
    params: Vec<usize>,
    seeds: Vec<usize>,
    results: Vec<usize>,
}

impl Part {
    /// Returns the call that computes this part of the procedure, with the arguments that the part needs of the
    /// call `whole`.
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

/// A chooser of the parts into which calls are cut. It keeps the procedures of the parts, and their cycles.
pub struct Cutter<'a> {
    d: &'a Description,
    /// The program's procedures, then the procedures of parts that were cut from them.
    procs: Vec<Arc<Procedure>>,
    /// For each procedure in `procs`, the index of the program's procedure that it is, or from which it was cut.
    whole: Vec<u32>,
    /// For each of the program's procedures, the indices of its result ciphertexts.
    ciphers: Vec<Vec<u16>>,
    parts: HashMap<(u32, Vec<u16>), Part>,
    shapes: Vec<Shape>,
    /// The index of the shape of the first ciphertexts of a procedure, by the index of the program's procedure and the
    /// number of these ciphertexts.
    shape_of: HashMap<(u32, usize), usize>,
    fits: HashMap<(usize, Vec<usize>, Vec<bool>), bool>,
    shape_of_part: HashMap<u32, usize>,
}

/// A class of parts of calls that differ only in their Galois elements, in names and in the numbers of their keys.
struct Shape {
    procedure: Procedure,
    /// The cycles of a part of a call with this shape on a machine whose memory is otherwise empty, or `None` if the
    /// part does not fit or cannot be legalised.
    cycles: Option<u64>,
}

/// Returns a procedure with its Galois elements and the names of its parameters renumbered in order of appearance. The
/// names of itself and its results and the numbers of its keys are left out. Parts of one shape then become equal.
fn shape(procedure: &Procedure) -> Procedure {
    let mut elements = Vec::new();
    let mut shape = Procedure {
        name: String::new(),
        ..procedure.clone()
    };
    for instr in &mut shape.instrs {
        if let Imm::Galois(g) = &mut instr.imm {
            let known = elements.iter().position(|e| e == g);
            *g = Galois(known.unwrap_or_else(|| {
                elements.push(*g);
                elements.len() - 1
            }) as u32);
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

impl<'a> Cutter<'a> {
    pub fn new(d: &'a Description, procs: &[Arc<Procedure>]) -> Self {
        Self {
            d,
            procs: procs.to_vec(),
            whole: (0..).take(procs.len()).collect(),
            ciphers: procs.iter().map(|p| ciphers(p)).collect(),
            parts: HashMap::new(),
            shapes: Vec::new(),
            shape_of: HashMap::new(),
            fits: HashMap::new(),
            shape_of_part: HashMap::new(),
        }
    }

    /// Returns the indices of the result ciphertexts of a procedure of the program.
    pub fn ciphers(&self, proc: u32) -> &[u16] {
        self.ciphers.get(proc as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the index of a procedure of the program: `proc` itself, or the procedure from which
    /// `proc` was cut. A cut procedure computes some of the result ciphertexts.
    pub fn whole(&self, proc: u32) -> u32 {
        self.whole.get(proc as usize).copied().unwrap_or(proc)
    }

    pub fn procedure(&self, proc: u32) -> Option<&Arc<Procedure>> {
        self.procs.get(proc as usize)
    }

    /// Returns the index of the shape of a procedure that computes a part of a call: that of the first part with as
    /// many ciphertexts. A shape is a class of parts that differ only in Galois elements and names. Returns `None` for
    /// a procedure of the program, and for a part with a number of ciphertexts that was never timed.
    pub fn shape_of_part(&self, proc: u32) -> Option<usize> {
        self.shape_of_part.get(&proc).copied()
    }

    /// Returns how many of the call's result ciphertexts one part of the call computes at once, or `None` if the call
    /// is not cut. The last part may have fewer. The candidates divide the ciphertexts into 1, 2, 3 and more parts of
    /// nearly equal size. The result is the candidate with the fewest cycles for all ciphertexts among those that fit
    /// memory, or 1 if none fits. `slots` has the slots in use on each RPAU for other limbs. `later` says which limbs
    /// are read after the call. A shared decomposition saves transforms. But its limbs take room, and the transforms
    /// may run beside the products with the keys anyway.
    ///
    /// # Errors
    /// The errors of [`Prepared::new`] and of [`Prepared::schedule`] for a part.
    pub fn size(
        &mut self,
        call: &Call,
        slots: &[usize],
        later: &dyn Fn(LimbId) -> bool,
    ) -> Result<Option<usize>, MachineError> {
        let all = self.ciphers(call.proc).to_vec();
        let size = self.best_size(call, &all, slots, later)?;
        Ok((size < all.len()).then_some(size))
    }

    fn best_size(
        &mut self,
        call: &Call,
        all: &[u16],
        slots: &[usize],
        later: &dyn Fn(LimbId) -> bool,
    ) -> Result<usize, MachineError> {
        let mut costs: Vec<(u64, usize)> = Vec::new();
        for parts in 1..=all.len() {
            let size = all.len().div_ceil(parts);
            if costs.last().is_some_and(|&(_, last)| last == size) {
                continue;
            }
            let cycles = self.cycles(call.proc, &all[..size])?;
            // The cost of the whole set; a part for which there is no room has the largest cost.
            let cost = cycles.map_or(u64::MAX, |c| c * all.len() as u64 / size as u64);
            costs.push((cost, size));
        }
        // Fewest cycles first, and among equals the larger part.
        costs.sort_by_key(|&(cost, size)| (cost, Reverse(size)));
        for &(_, size) in costs.iter().filter(|(cost, _)| *cost < u64::MAX) {
            if self.fit(call, &all[..size], slots, later)? {
                return Ok(size);
            }
        }
        Ok(1)
    }

    /// Returns the cycles of a part of a call (the ciphertexts `some` of procedure `proc`) on a machine whose memory is
    /// otherwise empty. Returns `None` if the part does not fit or cannot be legalised.
    fn cycles(&mut self, proc: u32, some: &[u16]) -> Result<Option<u64>, MachineError> {
        let known = self.shape_of.get(&(proc, some.len())).copied();
        let at = match known {
            Some(at) => at,
            None => {
                let (sliced, _) = slice(&self.procs[proc as usize], some);
                let at = self.shape(&sliced)?;
                self.shape_of.insert((proc, some.len()), at);
                at
            }
        };
        Ok(self.shapes[at].cycles)
    }

    /// Returns the index of a procedure's shape, and times the shape if it is new.
    fn shape(&mut self, procedure: &Procedure) -> Result<usize, MachineError> {
        let shape = shape(procedure);
        if let Some(at) = self.shapes.iter().position(|s| s.procedure == shape) {
            return Ok(at);
        }
        let nothing = vec![0; self.d.rpaus];
        let pinned = vec![true; procedure.params.len()];
        // A procedure that cannot be legalised as a whole may be in parts; otherwise its call gives the error.
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

    /// Returns whether a part of a call fits key memory, and fits polynomial memory beside the limbs that live
    /// across the call.
    fn fit(
        &mut self,
        call: &Call,
        some: &[u16],
        slots: &[usize],
        later: &dyn Fn(LimbId) -> bool,
    ) -> Result<bool, MachineError> {
        let whole = &self.procs[call.proc as usize];
        let Some(&shape) = self.shape_of.get(&(call.proc, some.len())) else {
            return Ok(false);
        };
        // A part leaves its operands to the next one.
        let last = some.len() == ciphers(whole).len();
        let (sliced, part) = slice(whole, some);
        let pinned = part.params.iter();
        let pinned: Vec<bool> = pinned.map(|&i| !last || later(call.args[i])).collect();
        let key = (shape, slots.to_vec(), pinned);
        if let Some(&known) = self.fits.get(&key) {
            return Ok(known);
        }
        let fits = match self.placement(&sliced, slots, &key.2) {
            Some(at) => Prepared::new(self.d, &sliced)?.fits(self.d, &at),
            None => false,
        };
        self.fits.insert(key, fits);
        Ok(fits)
    }

    /// Returns slots for the procedure's arguments beside `live` slots in use on each RPAU. `pinned` tells of each
    /// parameter whether its slots must not change. Returns `None` if an RPAU has too few slots for the arguments, for
    /// the results and the pinned arguments together, or for the key limbs.
    fn placement(
        &self,
        procedure: &Procedure,
        live: &[usize],
        pinned: &[bool],
    ) -> Option<Placement> {
        let (d, slots) = (self.d, self.d.slots());
        let pieces = d.pieces(procedure.log_n);
        let rpau = |v: ValueId| {
            let ty = procedure.limb(v);
            ty.map_or(0, |ty| usize::from(ty.modulus.0)) % d.rpaus
        };
        let (mut held, mut keys) = (live.to_vec(), vec![0; d.rpaus]);
        for (param, &pinned) in procedure.params.iter().zip(pinned) {
            let r = rpau(param.value);
            match param.role {
                ParamRole::Key { .. } => keys[r] += pieces,
                ParamRole::Cipher { .. } | ParamRole::Plain { .. } if pinned => held[r] += pieces,
                // An exponent is no limb: such a program is refused.
                ParamRole::Cipher { .. } | ParamRole::Plain { .. } | ParamRole::Exponent { .. } => {
                }
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
                ParamRole::Key { .. } | ParamRole::Exponent { .. } => Vec::new(),
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

    /// Returns the call of the part that computes the ciphertexts `some` of a call.
    ///
    /// # Panics
    /// If the call names no procedure, or has fewer arguments, seeds or results than its procedure.
    pub fn part(&mut self, call: &Call, some: &[u16]) -> Call {
        self.part_of(call.proc, some).call(call)
    }

    /// Returns the part of a procedure that computes only the result ciphertexts `some`.
    fn part_of(&mut self, proc: u32, some: &[u16]) -> Part {
        let key = (proc, some.to_vec());
        if let Some(known) = self.parts.get(&key) {
            return known.clone();
        }
        let (procedure, part) = slice(&self.procs[proc as usize], some);
        let part = Part {
            proc: self.procs.len() as u32,
            ..part
        };
        if let Some(&shape) = self.shape_of.get(&(proc, some.len())) {
            self.shape_of_part.insert(part.proc, shape);
        }
        self.procs.push(Arc::new(procedure));
        self.whole.push(proc);
        self.parts.insert(key, part.clone());
        part
    }
}

/// Returns a procedure that computes only the result ciphertexts `some` of the verified procedure
/// `whole`, with the instructions that these need. Values are renumbered. Also returns which
/// parameters, seeds and results of `whole` it has.
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
