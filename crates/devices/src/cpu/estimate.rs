//! What a run will take, before it takes it.

use std::collections::HashSet;
use std::sync::Arc;

use ringmill_isa::mid::{LimbId, Unrolled};
use ringmill_math::Ring;

use super::plan::{Kernel, Plan, Step};

fn bytes_of(log_n: u8) -> u64 {
    (size_of::<u64>() as u64) << log_n.min(Ring::MAX_LOG_N)
}

/// Most bytes of limbs that the steps of one call hold at one time, taken in order: what they make until its last use, and
/// results to the end. `uses` counts the reads of each value, results' among them.
pub(super) fn inside(steps: &[Step], uses: &[u32]) -> u64 {
    let mut uses = uses.to_vec();
    let mut size = vec![0; uses.len()];
    let (mut held, mut peak) = (0, 0);
    for step in steps {
        // An expanded limb belongs to its seed.
        if !matches!(step.kernel, Kernel::Prng { .. }) {
            for made in &step.dst {
                size[made.value as usize] = bytes_of(made.log_n);
                held += bytes_of(made.log_n);
            }
        }
        peak = peak.max(held);
        for &value in &step.src {
            let left = &mut uses[value as usize];
            *left = left.saturating_sub(1);
            if *left == 0 {
                held -= std::mem::take(&mut size[value as usize]);
            }
        }
    }
    peak
}

/// Bytes of limbs that a run holds at one time: calls in order, as one thread runs them, and one more call in progress for
/// each further thread. Bound inputs are not counted. Tests hold it above what runs take.
pub(super) fn pool(program: &Unrolled, plans: &[Arc<Plan>], threads: usize) -> u64 {
    let size = |limb: LimbId| {
        let ty = program.limbs.get(limb.0 as usize);
        ty.map_or(0, |ty| bytes_of(ty.ring.log_n))
    };
    let mut uses = vec![0u32; program.limbs.len()];
    let read = program.calls.iter().flat_map(|c| &c.args);
    for limb in read.chain(program.outputs.iter().map(|o| &o.limb)) {
        if let Some(uses) = uses.get_mut(limb.0 as usize) {
            *uses += 1;
        }
    }
    let mut made = vec![false; program.limbs.len()];
    let (mut live, mut peak, mut most) = (0u64, 0, 0);
    for call in &program.calls {
        let within = plans.get(call.proc as usize).map_or(0, |p| p.peak_bytes);
        peak = peak.max(live + within);
        most = most.max(within);
        for &limb in &call.results {
            let at = limb.0 as usize;
            if uses.get(at).is_some_and(|&uses| uses > 0) {
                made[at] = true;
                live += size(limb);
            }
        }
        for &limb in &call.args {
            let at = limb.0 as usize;
            let Some(left) = uses.get_mut(at) else {
                continue;
            };
            *left = left.saturating_sub(1);
            if *left == 0 && made[at] {
                live -= size(limb);
            }
        }
    }
    peak + (threads as u64).saturating_sub(1).saturating_mul(most)
}

/// Bytes of the limbs that the program's seeds expand to, each once.
pub(super) fn seeds(program: &Unrolled, plans: &[Arc<Plan>]) -> u64 {
    let (mut calls, mut limbs) = (HashSet::new(), HashSet::new());
    let mut bytes = 0;
    for call in program.calls.iter().filter(|call| !call.seeds.is_empty()) {
        if !calls.insert((call.proc, &call.seeds)) {
            continue;
        }
        let steps = plans.get(call.proc as usize).map_or(&[][..], |p| &p.steps);
        for step in steps {
            if let &Kernel::Prng {
                seed,
                stream,
                modulus,
                ring,
            } = &step.kernel
                && limbs.insert((call.seeds.get(seed), stream, modulus.value(), ring))
            {
                bytes += bytes_of(ring.log_n);
            }
        }
    }
    bytes
}
