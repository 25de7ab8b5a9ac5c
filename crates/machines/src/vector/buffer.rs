// SPDX-License-Identifier: Apache-2.0
//! What lies in the ciphertext buffer, and what is free in distant memory.

use std::collections::VecDeque;

/// A limb of a program, whatever it is called in a procedure.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Held(pub u64);

/// What a place of the buffer holds between procedures.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Content {
    pub limb: Held,
    /// Distant memory has it, too: where, in limbs.
    pub distant: Option<u32>,
    /// When it was used last, counted in uses.
    pub used: u64,
}

/// The buffer's places, and distant memory's that are free.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub places: Vec<Option<Content>>,
    /// Free places, the one that has been free longest first.
    free: VecDeque<u32>,
    /// Of each channel of distant memory: limbs that are free again, and the next one that never held anything.
    distant_free: Vec<(Vec<u32>, u32)>,
    distant_limbs: u32,
    clock: u64,
}

impl Buffer {
    /// With distant memory of so many limbs, of which the first hold the program's inputs, on so many channels: limb after
    /// limb in the next channel.
    pub fn new(places: u32, distant_limbs: u32, inputs: u32, channels: usize) -> Self {
        let channels = channels as u32;
        let next = |channel| inputs.next_multiple_of(channels) + channel;
        Self {
            places: vec![None; places as usize],
            free: (0..places).collect(),
            distant_free: (0..channels).map(|c| (Vec::new(), next(c))).collect(),
            distant_limbs,
            clock: 0,
        }
    }

    /// What a place holds.
    pub fn content(&self, place: u32) -> Option<Content> {
        self.places.get(place as usize).copied().flatten()
    }

    pub fn set_content(&mut self, place: u32, content: Content) {
        if let Some(at) = self.places.get_mut(place as usize) {
            *at = Some(content);
        }
    }

    /// Places in use.
    pub fn live(&self) -> usize {
        self.places.len() - self.free.len()
    }

    pub fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    /// Counts a use.
    pub fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Takes a free place; who is in it is said between procedures.
    pub fn take(&mut self) -> Option<u32> {
        let place = self.free.pop_front()?;
        let nobody = Content {
            limb: Held(u64::MAX),
            distant: None,
            used: 0,
        };
        self.set_content(place, nobody);
        Some(place)
    }

    /// Nothing is in a place any more.
    pub fn release(&mut self, place: u32) {
        if let Some(content) = self.places.get_mut(place as usize) {
            *content = None;
        }
        self.free.push_back(place);
    }

    /// Puts a limb into a free place, as before the first procedure.
    pub fn put(&mut self, limb: Held, distant: Option<u32>) -> Option<u32> {
        let place = self.take()?;
        let used = self.tick();
        let content = Content {
            limb,
            distant,
            used,
        };
        self.set_content(place, content);
        Some(place)
    }

    /// Renames places: those in use first, the one that was used longest ago leading, then the free ones in their order. The
    /// new number of each old place; `None` where all keep theirs.
    pub fn rename(&mut self) -> Option<Vec<u32>> {
        let mut used: Vec<(u64, u32)> = Vec::with_capacity(self.live());
        for (at, content) in (0..).zip(&self.places) {
            if let Some(content) = content {
                used.push((content.used, at));
            }
        }
        if !used.is_sorted() {
            used.sort_unstable();
        }
        let order = used
            .iter()
            .map(|&(_, at)| at)
            .chain(self.free.iter().copied());
        let mut new = vec![0; self.places.len()];
        let mut places = vec![None; self.places.len()];
        let mut same = true;
        for (to, from) in (0u32..).zip(order) {
            same &= to == from;
            if let Some(new) = new.get_mut(from as usize) {
                *new = to;
            }
            if let Some(place) = places.get_mut(to as usize) {
                *place = self.content(from).map(|content| Content {
                    used: u64::from(to),
                    ..content
                });
            }
        }
        self.set(places, used.len() as u32);
        (!same).then_some(new)
    }

    /// Sets what all places hold, the first of them something, in the order of their use.
    pub fn set(&mut self, places: Vec<Option<Content>>, live: u32) {
        self.places = places;
        self.free.clear();
        self.free.extend(live..self.places.len() as u32);
        self.clock = self.places.len() as u64;
    }

    pub fn channels(&self) -> u32 {
        self.distant_free.len().max(1) as u32
    }

    /// A limb of distant memory that nothing is in, on a channel; `None` where all are full.
    pub fn take_distant(&mut self, channel: u32) -> Option<u32> {
        let channels = self.distant_free.len() as u32;
        let (free, next) = self.distant_free.get_mut(channel as usize)?;
        if let Some(at) = free.pop() {
            return Some(at);
        }
        (*next < self.distant_limbs).then(|| {
            *next += channels;
            *next - channels
        })
    }

    /// Limbs of distant memory up to the last one that ever held something.
    pub fn most_distant(&self) -> u32 {
        let channels = self.channels();
        let ends = self.distant_free.iter().map(|&(_, next)| next);
        ends.max().unwrap_or(0).saturating_sub(channels - 1)
    }

    /// A limb of distant memory that is free again.
    pub fn drop_distant(&mut self, at: u32) {
        let channels = self.distant_free.len() as u32;
        if let Some((free, _)) = self.distant_free.get_mut((at % channels.max(1)) as usize) {
            free.push(at);
        }
    }
}
