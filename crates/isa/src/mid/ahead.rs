//! Calls as they are fed, seen some ahead: when a limb is read next, as far as that can be seen.

use std::collections::{HashMap, HashSet, VecDeque};

use super::stream::{Called, Stream};
use super::unrolled::LimbId;
use crate::error::VerifyError;

/// The calls of a program, of which the next `window` are known before one is taken. Of a program that is no longer than
/// that everything is.
#[derive(Clone, Debug)]
pub struct Ahead {
    window: usize,
    inputs: u64,
    calls: VecDeque<Called>,
    /// The calls in the window that read a limb, in order.
    reads: HashMap<LimbId, VecDeque<u64>>,
    /// Limbs that die with a call that was seen, until [`Self::forget`].
    ended: HashSet<LimbId>,
    /// Known when the last call is seen.
    outputs: Option<Vec<LimbId>>,
    is_output: HashSet<LimbId>,
}

impl Ahead {
    /// For a program of so many inputs.
    pub fn new(inputs: usize, window: usize) -> Self {
        Self {
            window,
            inputs: inputs as u64,
            calls: VecDeque::new(),
            reads: HashMap::new(),
            ended: HashSet::new(),
            outputs: None,
            is_output: HashSet::new(),
        }
    }

    /// The call after those fed so far.
    pub fn feed(&mut self, called: Called) {
        for &limb in &called.call.args {
            let reads = self.reads.entry(limb).or_default();
            if reads.back() != Some(&called.number) {
                reads.push_back(called.number);
            }
        }
        self.ended.extend(called.dies.iter().copied());
        self.calls.push_back(called);
    }

    /// There are no more calls, and these are the outputs in their order.
    pub fn end(&mut self, outputs: Vec<LimbId>) {
        self.is_output = outputs.iter().copied().collect();
        self.outputs = Some(outputs);
    }

    /// Feeds from `stream` until the next call can be taken.
    ///
    /// # Errors
    /// None for a program that was verified.
    pub fn look(&mut self, stream: &mut Stream<'_>) -> Result<(), VerifyError> {
        while !self.sees_enough() {
            match stream.next_call()? {
                Some(called) => self.feed(called),
                None => self.end(stream.outputs()?),
            }
        }
        Ok(())
    }

    /// When a call is taken, `window` and one more are left.
    fn sees_enough(&self) -> bool {
        self.sees_end() || self.calls.len() >= self.window.saturating_add(2)
    }

    /// Takes the next call, if enough is known of what comes after it; what is said from then on is of that.
    pub fn next_call(&mut self) -> Option<Called> {
        if !self.sees_enough() {
            return None;
        }
        let called = self.calls.pop_front()?;
        for limb in &called.call.args {
            let reads = self.reads.get_mut(limb);
            let left = reads.is_some_and(|reads| {
                if reads.front() == Some(&called.number) {
                    reads.pop_front();
                }
                !reads.is_empty()
            });
            if !left {
                self.reads.remove(limb);
            }
        }
        Some(called)
    }

    /// Whether no call is left to take.
    pub fn is_done(&self) -> bool {
        self.sees_end() && self.calls.is_empty()
    }

    /// Whether the program's last call is seen, so that everything said is certain.
    pub fn sees_end(&self) -> bool {
        self.outputs.is_some()
    }

    /// The number of the next call in sight that reads the limb.
    pub fn next_read(&self, limb: LimbId) -> Option<u64> {
        self.reads
            .get(&limb)
            .and_then(|reads| reads.front())
            .copied()
    }

    /// Whether the limb may be read by a call to come. An input that no call in sight reads counts as read no more: it
    /// can be had again.
    pub fn read_later(&self, limb: LimbId) -> bool {
        let unknown = || !self.sees_end() && !self.is_input(limb) && !self.ended.contains(&limb);
        self.reads.contains_key(&limb) || unknown()
    }

    pub fn is_input(&self, limb: LimbId) -> bool {
        limb.0 < self.inputs
    }

    /// Whether the limb is known to be an output.
    pub fn is_output(&self, limb: LimbId) -> bool {
        self.is_output.contains(&limb)
    }

    /// The outputs in their order, when the last call is seen.
    pub fn outputs(&self) -> Option<&[LimbId]> {
        self.outputs.as_deref()
    }

    /// Nothing will be asked about this limb again. Who says so of every limb that ends keeps the memory bounded.
    pub fn forget(&mut self, limb: LimbId) {
        self.ended.remove(&limb);
    }
}
