//! A stream seen some calls ahead: when a limb is read next, as far as that can be seen.

use std::collections::{HashMap, HashSet, VecDeque};

use super::stream::{Called, Stream, Verified};
use super::unrolled::LimbId;
use crate::error::VerifyError;

/// The calls of a program, of which the next `window` are known. Of a program that is no longer than that everything is.
pub struct Ahead<'p> {
    stream: Stream<'p>,
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

impl<'p> Ahead<'p> {
    /// # Errors
    /// None for a program that was verified.
    pub fn new(program: &'p Verified, window: usize) -> Result<Self, VerifyError> {
        Self::after(program, program.stream(), window)
    }

    /// What is left of a program's stream.
    ///
    /// # Errors
    /// None for a program that was verified.
    pub fn after(
        program: &'p Verified,
        stream: Stream<'p>,
        window: usize,
    ) -> Result<Self, VerifyError> {
        let mut made = Self {
            stream,
            window,
            inputs: program.program().inputs.len() as u64,
            calls: VecDeque::new(),
            reads: HashMap::new(),
            ended: HashSet::new(),
            outputs: None,
            is_output: HashSet::new(),
        };
        made.fill()?;
        Ok(made)
    }

    fn fill(&mut self) -> Result<(), VerifyError> {
        while self.outputs.is_none() && self.calls.len() <= self.window {
            let Some(called) = self.stream.next_call()? else {
                let outputs = self.stream.outputs()?;
                self.is_output = outputs.iter().copied().collect();
                self.outputs = Some(outputs);
                break;
            };
            for &limb in &called.call.args {
                let reads = self.reads.entry(limb).or_default();
                if reads.back() != Some(&called.number) {
                    reads.push_back(called.number);
                }
            }
            self.ended.extend(called.dies.iter().copied());
            self.calls.push_back(called);
        }
        Ok(())
    }

    /// Takes the next call; what is said from then on is of what comes after it.
    ///
    /// # Errors
    /// None for a program that was verified.
    pub fn next_call(&mut self) -> Result<Option<Called>, VerifyError> {
        let Some(called) = self.calls.pop_front() else {
            return Ok(None);
        };
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
        self.fill()?;
        Ok(Some(called))
    }

    /// Whether there is another call.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
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
