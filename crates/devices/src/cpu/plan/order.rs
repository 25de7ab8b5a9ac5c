//! The order of steps: a value is made shortly before it is wanted, so that it is still in the cache and memory is held
//! for a short time.
//!
//! Results are asked for one after the other, those of one modulus together; each asks for the operands of its step,
//! the first operand first. Steps that no result asks for are left out.

use super::Step;

/// `modulus` gives what results are grouped by.
pub(super) fn order<M: Ord>(
    steps: Vec<Step>,
    results: &[u32],
    values: usize,
    modulus: impl Fn(u32) -> M,
) -> Vec<Step> {
    let mut maker = vec![None; values];
    for (i, step) in steps.iter().enumerate() {
        for made in &step.dst {
            maker[made.value as usize] = Some(i);
        }
    }
    let mut wanted: Vec<u32> = results.to_vec();
    wanted.sort_by_key(|&v| modulus(v)); // stable
    let mut ordered = Vec::with_capacity(steps.len());
    let mut met = vec![false; steps.len()];
    // Steps being asked for, and how many of their operands have been seen to.
    let mut path: Vec<(usize, usize)> = Vec::new();
    let mut meet = |v: u32, path: &mut Vec<(usize, usize)>| {
        if let Some(i) = maker[v as usize]
            && !std::mem::replace(&mut met[i], true)
        {
            path.push((i, 0));
        }
    };
    for v in wanted {
        meet(v, &mut path);
        while let Some((i, seen)) = path.last_mut() {
            match steps[*i].src.get(*seen) {
                Some(&operand) => {
                    *seen += 1;
                    meet(operand, &mut path);
                }
                None => {
                    ordered.push(*i);
                    path.pop();
                }
            }
        }
    }
    let mut steps: Vec<Option<Step>> = steps.into_iter().map(Some).collect();
    (ordered.into_iter())
        .filter_map(|i| steps[i].take())
        .collect()
}
