// SPDX-License-Identifier: Apache-2.0
//! Computes the most memory in bytes that the steps of a procedure hold at one time.

/// The memory of one step of a procedure: the values that it computes and reads, and its working memory.
pub struct Held<'s, M> {
    /// The numbers of the values that the step computes, each with its size in bytes.
    pub made: M,
    pub src: &'s [u32],
    /// The bytes of the step's working memory, without the values that it computes and reads.
    pub room: u64,
}

/// Returns the most bytes that the steps of one call hold at one time, if they are taken in order.
/// `uses` has for each value the number of its reads: by steps, and by the procedure's results. A
/// value is held until its last read. If `uses` counts results, a result is held to the end. If
/// not, a result that no step reads is held only while it is computed.
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
