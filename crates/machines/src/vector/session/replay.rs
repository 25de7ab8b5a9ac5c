// SPDX-License-Identifier: Apache-2.0
//! Replays a call that a vector machine has run before in the same state. The module has the key on which a call's
//! times depend, and the call's effect on the state.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use ringmill_isa::mid::{Called, LimbId};

use super::super::buffer::{Content, Held};
use super::super::place::Placed;
use super::super::states::State;
use super::super::tally::Ran;
use super::{Running, full};
use crate::MachineError;

/// A limb of the program as a call names it: the argument or result with this index, or another limb.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Who {
    Param(usize),
    Result(usize),
    /// A limb that is no argument and no result, by its place in the buffer before the call.
    Other(usize),
}

/// All that a call's times depend on, as words:
///
/// - its procedure and the machine's state, with the places of the items in the pipelines,
/// - for each place in use, whether its limb has a copy in distant memory, and on which channel,
/// - for each argument, the first argument with the same limb, its place, and whether a later call needs it,
/// - for each argument, the channel of its copy in distant memory, and whether it belongs to an input ciphertext or
///   plaintext,
/// - the limbs that die with the call, in their order: arguments and results by their index, others by their place.
#[derive(Clone, PartialEq, Eq, Default)]
pub(super) struct Key(Vec<u64>);

impl Hash for Key {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.iter().for_each(|&word| hasher.write_u64(word));
    }
}

/// The effect of a call on the state of the machine. Limbs are named as the call's arguments and results, or by their
/// places before the call. The lists `places` and `left` leave out limbs that die with the call.
pub(super) struct Replay {
    /// The limbs in the first places of the buffer after the call, each with whether it has a copy in distant
    /// memory.
    places: Vec<(Who, bool)>,
    /// The limbs that the call removed from the buffer, without those that died.
    left: Vec<Who>,
    /// The limbs that the call stored to distant memory, each with its channel.
    distant: Vec<(Who, u32)>,
    state: State,
    pub(super) ran: Ran,
}

impl Running<'_> {
    /// Writes the call's key into `key`. Notes for each argument the first argument with the same limb.
    pub(super) fn look(&mut self, called: &Called) {
        let channels = self.d.distant.channels as u32;
        let channel = |at: Option<u32>| at.map_or(0, |at| u64::from(at % channels) + 1);
        let words = &mut self.key.0;
        words.clear();
        let both = |a: u32, b: u32| u64::from(a) | u64::from(b) << 32;
        words.push(both(called.call.proc, self.state.number));
        words.push(both(
            self.state.places.len() as u32,
            self.buffer.live() as u32,
        ));
        words.extend(self.state.places.iter().map(|&place| u64::from(place)));
        // There are at most 64 channels.
        for places in self.buffer.places.chunks(8) {
            let of = places.iter().flatten().map(|c| channel(c.distant));
            words.push(of.fold(0, |word, channel| word << 8 | channel));
        }
        for (at, &limb) in (0..).zip(&called.call.args) {
            let known = self.limbs.entry(limb);
            if known.call != self.calls {
                (known.call, known.first) = (self.calls, at);
            }
            let place = known.place.map_or(0, |place| u64::from(place) + 1);
            let later = u64::from(known.dies != self.calls);
            let operand = self.operands.get(limb.0 as usize);
            let operand = u64::from(operand.is_some_and(Option::is_some));
            let rest = operand << 31 | place << 8 | later << 7 | channel(known.distant);
            words.push(u64::from(known.first) | rest << 32);
        }
        // A result's number is behind those of the arguments. Other limbs are known by their places.
        let (args, results) = (called.call.args.len() as u64, &called.call.results);
        let first = results.first().map_or(u64::MAX, |limb| limb.0);
        for &limb in &called.dies {
            let known = self.limbs.entry(limb);
            let result = limb.0.checked_sub(first);
            let result = result.filter(|&number| number < results.len() as u64);
            words.push(match (known.call == self.calls, result) {
                (true, _) => known.first.into(),
                (false, Some(number)) => args + number,
                (false, None) => 1 << 63 | known.place.map_or(0, |place| u64::from(place) + 1),
            });
        }
    }

    /// Returns the effect of a call that has just run. `before` has the contents of the buffer's places before the
    /// call, and `placed` the limbs that the call stored to distant memory.
    pub(super) fn replay(
        &self,
        called: &Called,
        before: &[Option<Content>],
        placed: &Placed,
        ran: Ran,
    ) -> Result<Replay, MachineError> {
        // Parameters before results before other limbs, and among each the first.
        let mut known = HashMap::new();
        let (args, results) = (&called.call.args, &called.call.results);
        for (i, arg) in args.iter().enumerate() {
            known.entry(Held(arg.0)).or_insert(Who::Param(i));
        }
        for (i, result) in results.iter().enumerate() {
            known.entry(Held(result.0)).or_insert(Who::Result(i));
        }
        for (at, content) in before.iter().enumerate() {
            if let Some(content) = content {
                known.entry(content.limb).or_insert(Who::Other(at));
            }
        }
        let who = |limb: Held| known.get(&limb).copied().ok_or_else(malformed);
        let contents = self.buffer.places.iter().flatten();
        let places = contents.map(|c| Ok((who(c.limb)?, c.distant.is_some())));
        let channels = self.d.distant.channels as u32;
        let distant = placed.distant.iter();
        let distant = distant.map(|(&limb, &at)| Ok((who(limb)?, at % channels)));
        let gone = before.iter().flatten().filter(|content| {
            let known = self.limbs.get(LimbId(content.limb.0));
            known.is_some_and(|known| known.place.is_none())
        });
        let left = gone.map(|content| who(content.limb));
        Ok(Replay {
            left: left.collect::<Result<_, MachineError>>()?,
            places: places.collect::<Result<_, MachineError>>()?,
            distant: distant.collect::<Result<_, MachineError>>()?,
            state: self.state.clone(),
            ran,
        })
    }

    /// Applies the effect of an earlier equal call in the same state to the call `called`.
    pub(super) fn apply(&mut self, replay: &Replay, called: &Called) -> Result<(), MachineError> {
        let mut places = vec![None; self.buffer.places.len()];
        let (args, results) = (&called.call.args, &called.call.results);
        let before = &self.buffer.places;
        let limb = |who: Who| -> Result<LimbId, MachineError> {
            match who {
                Who::Param(at) => args.get(at).copied(),
                Who::Result(at) => results.get(at).copied(),
                Who::Other(at) => {
                    let content = before.get(at).copied().flatten();
                    content.map(|c| LimbId(c.limb.0))
                }
            }
            .ok_or_else(malformed)
        };
        let mut went = Vec::with_capacity(replay.distant.len());
        for &(who, channel) in &replay.distant {
            went.push((limb(who)?, channel));
        }
        for &who in &replay.left {
            self.limbs.entry(limb(who)?).place = None;
        }
        let mut kept = Vec::with_capacity(replay.places.len());
        for &(who, distant) in &replay.places {
            kept.push((limb(who)?, distant));
        }
        for (limb, channel) in went {
            let known = self.limbs.entry(limb);
            if known.distant.is_none() {
                let at = self.buffer.take_distant(channel).ok_or_else(full)?;
                known.distant = Some(at);
            }
        }
        for ((at, place), (limb, distant)) in (0..).zip(&mut places).zip(kept) {
            let known = self.limbs.entry(limb);
            known.place = Some(at);
            *place = Some(Content {
                limb: Held(limb.0),
                distant: known.distant.filter(|_| distant),
                used: at.into(),
            });
        }
        self.buffer.set(places, replay.places.len() as u32);
        self.state.clone_from(&replay.state);
        Ok(())
    }
}

fn malformed() -> MachineError {
    MachineError::Program("a replay does not fit its state".to_owned())
}
