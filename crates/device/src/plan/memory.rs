// SPDX-License-Identifier: Apache-2.0
//! What limbs the steps of a procedure hold at one time.

/// What a step makes, reads and works in.
pub struct Held<'s, M> {
    /// Each value that it makes, and its bytes.
    pub made: M,
    pub src: &'s [u32],
    /// Bytes that it works in beside these.
    pub room: u64,
}

/// Most bytes that the steps of one call hold at one time, taken in order: what they make until its last use, and results to the
/// end. `uses` counts the reads of each value, results' among them; without these, results that no step reads leave when they are
/// made.
pub fn peak<'s, M>(steps: impl Iterator<Item = Held<'s, M>>, uses: &[u32]) -> u64
where
    M: Iterator<Item = (u32, u64)> + Clone,
{
    let mut uses = uses.to_vec();
    let mut size = vec![0; uses.len()];
    let (mut held, mut peak) = (0, 0);
    for step in steps {
        for (value, bytes) in step.made.clone() {
            size[value as usize] = bytes;
            held += bytes;
        }
        peak = peak.max(held + step.room);
        for &value in step.src {
            let left = &mut uses[value as usize];
            *left = left.saturating_sub(1);
            if *left == 0 {
                held -= std::mem::take(&mut size[value as usize]);
            }
        }
        for (value, _) in step.made.filter(|&(value, _)| uses[value as usize] == 0) {
            held -= std::mem::take(&mut size[value as usize]);
        }
    }
    peak
}
