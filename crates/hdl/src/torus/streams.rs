// SPDX-License-Identifier: Apache-2.0
//! The streams that go into a bootstrapping engine with a command.

use crate::{HdlError, In, Model, Out};

/// A beat of the bootstrapping key's stream: its words, and whether the beat is marked as the last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyBeat {
    pub words: Vec<u64>,
    pub last: bool,
}

/// The words of a stream into the bootstrapping engine. The word with index `last` - 1 is marked as
/// the last one. No word is marked if there is no word with this index.
#[derive(Clone, Copy, Default, Debug)]
pub struct Words<'a> {
    pub words: &'a [u32],
    pub last: usize,
}

impl<'a> Words<'a> {
    /// Makes a stream of all words, with the last one marked.
    pub fn all(words: &'a [u32]) -> Self {
        let last = words.len();
        Self { words, last }
    }
}

/// The streams that go into the bootstrapping engine with a command. A stream without words is not
/// sent.
#[derive(Default)]
pub struct Streams<'a> {
    pub input: Words<'a>,
    /// A function that returns the beat of the bootstrapping key with an index, or `None` after the last.
    pub key: Option<&'a mut dyn FnMut(u64) -> Option<KeyBeat>>,
    pub switching_key: Words<'a>,
}

/// Returns the words of a switching key: the seed of its masks as eight little-endian words, then the bodies of its
/// rows.
pub fn switching_key(seed: &[u8; 32], bodies: &[u32]) -> Vec<u32> {
    let seed = seed.as_chunks::<4>().0.iter();
    let seed = seed.map(|word| u32::from_le_bytes(*word));
    seed.chain(bodies.iter().copied()).collect()
}

/// The pins of the engine's simulation model by which a stream of words enters.
pub(super) struct WordPorts {
    pub valid: In,
    ready: Out,
    data: In,
    last: In,
}

impl WordPorts {
    pub fn new(model: &Model, name: &str) -> Result<Self, HdlError> {
        let input = |pin: &str| model.input(&format!("{name}_{pin}_i"));
        Ok(Self {
            valid: input("valid")?,
            ready: model.output(&format!("{name}_ready_o"))?,
            data: input("data")?,
            last: input("last")?,
        })
    }
}

/// A stream of words on its way into the bootstrapping engine, and the number of words that the
/// engine has taken.
pub(super) struct Sending<'a> {
    words: Words<'a>,
    sent: usize,
    offered: bool,
}

impl<'a> Sending<'a> {
    pub fn new(words: Words<'a>) -> Self {
        Self {
            words,
            sent: 0,
            offered: false,
        }
    }

    pub fn left(&self) -> usize {
        self.words.words.len() - self.sent
    }

    /// Drives the stream's pins in one cycle. A word that is on the pins stays there until the engine
    /// takes it. If there is none, the next word is put there if `comes` returns true. Returns whether
    /// the engine takes a word in this cycle.
    pub fn offer(
        &mut self,
        model: &mut Model,
        ports: &WordPorts,
        comes: impl FnOnce() -> bool,
    ) -> Result<bool, HdlError> {
        if self.left() > 0 && !self.offered && comes() {
            self.offered = true;
            model.set(ports.data, u64::from(self.words.words[self.sent]))?;
            let last = self.sent + 1 == self.words.last;
            model.set(ports.last, u64::from(last))?;
        }
        model.set(ports.valid, u64::from(self.offered))?;
        Ok(self.offered && model.get(ports.ready)? == 1)
    }

    /// Moves on to the next word after the clock edge, if the engine took the word on offer.
    pub fn moved(&mut self, taken: bool) {
        if taken {
            self.sent += 1;
            self.offered = false;
        }
    }
}
