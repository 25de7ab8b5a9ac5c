// SPDX-License-Identifier: Apache-2.0
//! Tracks which limbs lie in the vector machine's ciphertext buffer, and which addresses of distant memory are free.

use std::collections::VecDeque;

/// The number of a limb of the program. It stays the same while procedures name the limb by
/// different values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Held(pub u64);

/// The limb at a place of the ciphertext buffer between two procedures.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Content {
    pub limb: Held,
    /// The limb's address in distant memory, counted in limbs, or `None` if it has no copy there.
    pub distant: Option<u32>,
    /// The time of the limb's last use, by the buffer's clock. It only serves to compare uses.
    pub used: u64,
}

/// The places of the ciphertext buffer, each for one limb, and the free addresses of distant memory, counted in limbs.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub places: Vec<Option<Content>>,
    /// The free places of the buffer, the one that has been free longest first.
    free: VecDeque<u32>,
    /// For each channel of distant memory (HBM or DDR), the addresses of limbs that are free again, and the lowest
    /// address that was never used.
    distant_free: Vec<(Vec<u32>, u32)>,
    distant_limbs: u32,
    clock: u64,
}

impl Buffer {
    /// Makes an empty buffer of `places` places, each for one limb. Distant memory has room for `distant_limbs`
    /// limbs, of which the first `inputs` are the program's inputs. It has `channels` channels, and limbs with
    /// successive addresses lie in successive channels.
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

    /// Returns the limb at a place of the buffer, or `None` if the place is free.
    pub fn content(&self, place: u32) -> Option<Content> {
        self.places.get(place as usize).copied().flatten()
    }

    pub fn set_content(&mut self, place: u32, content: Content) {
        if let Some(at) = self.places.get_mut(place as usize) {
            *at = Some(content);
        }
    }

    /// Returns the number of places of the ciphertext buffer that are in use.
    pub fn live(&self) -> usize {
        self.places.len() - self.free.len()
    }

    pub fn has_room(&self) -> bool {
        !self.free.is_empty()
    }

    /// Counts one more use of a limb, and returns the new time of the clock, which only serves to compare uses.
    pub fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    /// Takes the place of the buffer that has been free longest, or returns `None` if no place is free. The caller
    /// must set its content before the next procedure.
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

    /// Frees a place of the ciphertext buffer.
    pub fn release(&mut self, place: u32) {
        if let Some(content) = self.places.get_mut(place as usize) {
            *content = None;
        }
        self.free.push_back(place);
    }

    /// Puts a limb into a free place of the buffer and returns the place, or `None` if no place is free.
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

    /// Renumbers the places of the buffer: those in use come first, the least recently used one leading, then the free
    /// ones in their order. Returns the new number of each old place, or `None` if no number changes.
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

    /// Sets the content of all places of the buffer. The first `live` places are in use, in the order of their last
    /// use.
    pub fn set(&mut self, places: Vec<Option<Content>>, live: u32) {
        self.places = places;
        self.free.clear();
        self.free.extend(live..self.places.len() as u32);
        self.clock = self.places.len() as u64;
    }

    pub fn channels(&self) -> u32 {
        self.distant_free.len().max(1) as u32
    }

    /// Takes the room of a free limb on channel `channel` of distant memory. Returns its address, counted in limbs,
    /// or `None` if the channel is full.
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

    /// Returns the number of limbs of distant memory, over all channels, up to the last one that
    /// was ever used. It is at least the number of inputs, rounded up to a multiple of the channels.
    pub fn most_distant(&self) -> u32 {
        let channels = self.channels();
        let ends = self.distant_free.iter().map(|&(_, next)| next);
        ends.max().unwrap_or(0).saturating_sub(channels - 1)
    }

    /// Frees the place of one limb in distant memory, at the address `at` in limbs.
    pub fn drop_distant(&mut self, at: u32) {
        let channels = self.distant_free.len() as u32;
        if let Some((free, _)) = self.distant_free.get_mut((at % channels.max(1)) as usize) {
            free.push(at);
        }
    }
}
