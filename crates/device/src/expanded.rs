// SPDX-License-Identifier: Apache-2.0
//! A cache of the limbs that seeds and plaintext constants expand to, under a budget of bytes.
//!
//! A limb is computed when a step first reads it. One [`Expanded`] holds limbs of keys and encoded constants alike, for
//! all runs of one server. To keep the budget, it drops the least recently read item that no step holds. An item that a
//! step holds lives until the step releases it, and other steps can read it meanwhile. So the bytes alive are at most
//! the budget, or the bytes that steps hold if these are more. The cache is not locked while an item is computed:
//! threads compute different items side by side. Two threads that need one item compute it once.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::Limbed;
use ringmill_isa::Poly;
use ringmill_math::{Residues, Ring};
use serde::Serialize;

use crate::DeviceError;

/// The name of an item of the cache [`Expanded`]: one limb of a seed, or all limbs of a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Item {
    /// One limb of a seed, named by the numbers of the seed and of the keystream, the modulus and the
    /// ring.
    Limb {
        seed: u32,
        stream: u64,
        modulus: u64,
        ring: Ring,
    },
    /// All limbs of the constant with this number, which one encoding computes together.
    Constant(u32),
}

/// The content of an item in the cache: the residues of one limb, or all limbs of a constant.
pub enum Form {
    Limb(Box<[u64]>),
    Constant(Box<dyn Limbed + Send + Sync>),
}

/// An item of the cache [`Expanded`] (a limb of a seed, or the limbs of a constant) with its
/// residues. Its bytes count as alive until its last reference is dropped.
pub struct Made {
    form: Form,
    bytes: u64,
    alive: Arc<AtomicU64>,
}

impl Made {
    /// Returns the residues of a seed's limb, or the residues of a constant modulo modulus number `modulus`. They are
    /// empty if the constant has no such modulus.
    pub fn limb(&self, modulus: usize) -> Residues<'_> {
        match &self.form {
            Form::Limb(residues) => Residues::Wide(residues),
            Form::Constant(plain) => {
                let limb = plain.limb(Poly::FIRST, modulus);
                limb.unwrap_or(Residues::Wide(&[]))
            }
        }
    }

    /// Returns the limb of a constant modulo modulus number `modulus` as one value for each of its blocks of equal
    /// residues, or `None` if the constant does not hold it so.
    pub fn spread(&self, modulus: usize) -> Option<&[u64]> {
        match &self.form {
            Form::Limb(_) => None,
            Form::Constant(plain) => plain.spread(Poly::FIRST, modulus),
        }
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        self.alive.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The cell into which a thread puts the limbs that it computes for the cache [`Expanded`]. Other
/// threads that need these limbs wait at the cell, which is locked during the computation.
type Cell = Arc<Mutex<Option<Arc<Made>>>>;

#[derive(Default)]
struct Slot {
    kept: Option<Arc<Made>>,
    /// The number of the last read of this entry's limbs, which is their key in `order`. It is
    /// valid while the cache keeps the limbs.
    at: u64,
    /// A weak reference to the limbs as they were last computed. It finds limbs that steps still hold after the cache
    /// dropped them.
    loose: Weak<Made>,
    making: Option<Cell>,
    /// Whether the limbs were computed before, so that computing them again counts as a repetition.
    once: bool,
}

/// A run that reads from the cache [`Expanded`], with its number and its budget in bytes.
struct Reader {
    number: u64,
    budget: u64,
    peak: u64,
}

#[derive(Default)]
struct Held {
    slots: HashMap<Item, Slot>,
    /// The limbs of seeds and constants that the cache keeps, by the number of their last read, the
    /// least recently read first.
    order: BTreeMap<u64, Item>,
    clock: u64,
    kept: u64,
    readers: Vec<Reader>,
    runs: u64,
}

/// A cache of expanded key limbs and encoded constants under one budget. It keeps everything until a run sets a budget.
#[derive(Default)]
pub struct Expanded {
    held: Mutex<Held>,
    /// The bytes of all limbs of seeds and constants that the cache keeps, that steps hold, or that
    /// are being computed.
    alive: Arc<AtomicU64>,
    seeds: AtomicU32,
}

impl Held {
    /// Returns the budget in bytes that holds now: the least budget of all runs that read from the cache, or `u64::MAX`
    /// without runs.
    fn budget(&self) -> u64 {
        let budgets = self.readers.iter().map(|reader| reader.budget);
        budgets.min().unwrap_or(u64::MAX)
    }

    fn keep(&mut self, item: Item, made: &Arc<Made>) {
        self.clock += 1;
        let slot = self.slots.entry(item).or_default();
        match slot.kept {
            Some(_) => {
                self.order.remove(&slot.at);
            }
            None => {
                slot.kept = Some(Arc::clone(made));
                self.kept += made.bytes;
            }
        }
        slot.at = self.clock;
        self.order.insert(self.clock, item);
    }

    fn drop_kept(&mut self, item: Item) {
        let Some(slot) = self.slots.get_mut(&item) else {
            return;
        };
        if let Some(made) = slot.kept.take() {
            self.order.remove(&slot.at);
            self.kept -= made.bytes;
        }
    }

    /// Drops limbs that no step holds from the cache, the least recently read first, until `over`
    /// bytes are freed or none is left.
    fn free(&mut self, over: u64) {
        let (mut freed, mut gone) = (0, Vec::new());
        for item in self.order.values() {
            if freed >= over {
                break;
            }
            let kept = self.slots.get(item).and_then(|slot| slot.kept.as_ref());
            // References are made under this lock only, so a single reference stays single.
            if let Some(made) = kept.filter(|made| Arc::strong_count(made) == 1) {
                freed += made.bytes;
                gone.push(*item);
            }
        }
        for item in gone {
            self.drop_kept(item);
        }
    }
}

impl Expanded {
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the bytes of all limbs of seeds and constants that the cache keeps, that steps hold,
    /// or that are being computed.
    pub fn bytes(&self) -> u64 {
        self.alive.load(Ordering::Relaxed)
    }

    pub fn next_seed(&self) -> u32 {
        self.seeds.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns a limb of a seed, or all limbs of a constant, of `bytes` bytes. If neither the cache nor a step holds
    /// them, the function `make` computes them, and `usage` counts them for the run.
    ///
    /// # Errors
    /// The errors of `make`.
    pub fn get(
        &self,
        item: Item,
        bytes: u64,
        usage: &Usage,
        make: impl Fn() -> Result<Form, DeviceError>,
    ) -> Result<Arc<Made>, DeviceError> {
        let cell = Cell::default();
        loop {
            let mut held = self.lock();
            let budget = held.budget();
            let slot = held.slots.entry(item).or_default();
            let there = slot.kept.clone().or_else(|| slot.loose.upgrade());
            if let Some(made) = there {
                if slot.kept.is_some() || self.bytes() <= budget {
                    held.keep(item, &made);
                }
                return Ok(made);
            }
            if let Some(cell) = slot.making.clone() {
                drop(held);
                let made = cell.lock().unwrap_or_else(PoisonError::into_inner);
                match &*made {
                    Some(made) => return Ok(Arc::clone(made)),
                    // The thread that made it failed, perhaps because it was asked to stop; this thread was not.
                    None => continue,
                }
            }
            slot.making = Some(Arc::clone(&cell));
            let mut inside = cell.lock().unwrap_or_else(PoisonError::into_inner);
            held.free(self.bytes().saturating_add(bytes).saturating_sub(budget));
            let alive = self.alive.fetch_add(bytes, Ordering::Relaxed) + bytes;
            for reader in &mut held.readers {
                reader.peak = reader.peak.max(alive);
            }
            drop(held);
            // Counts the bytes until the finished item does, and lets other threads try if the item fails.
            let mut making = Making {
                of: self,
                item,
                bytes,
            };
            let form = make()?;
            let made = Arc::new(Made {
                form,
                bytes: std::mem::take(&mut making.bytes),
                alive: Arc::clone(&self.alive),
            });
            *inside = Some(Arc::clone(&made));
            let mut held = self.lock();
            let slot = held.slots.entry(item).or_default();
            usage.count(item, std::mem::replace(&mut slot.once, true));
            slot.loose = Arc::downgrade(&made);
            if self.bytes() <= held.budget() {
                held.keep(item, &made);
            }
            drop(held);
            drop(making);
            return Ok(made);
        }
    }

    /// Registers a run that begins to read from the cache, with its budget in bytes. Returns the
    /// number of the registration.
    fn enter(&self, budget: u64) -> u64 {
        let mut held = self.lock();
        // Items above the budget are dropped now. An item that a step holds lives until the step releases it.
        while held.kept > budget {
            let Some(oldest) = held.order.values().next().copied() else {
                break;
            };
            held.drop_kept(oldest);
        }
        held.runs += 1;
        let number = held.runs;
        held.readers.push(Reader {
            number,
            budget,
            peak: self.bytes(),
        });
        number
    }

    fn peak(&self, run: u64) -> u64 {
        let held = self.lock();
        let found = held.readers.iter().find(|reader| reader.number == run);
        found.map_or(0, |reader| reader.peak)
    }

    fn leave(&self, run: u64) {
        self.lock().readers.retain(|reader| reader.number != run);
    }
}

/// A guard for limbs of a seed or a constant that a thread is computing for the cache. Its drop
/// marks the end, whether the computation succeeded or failed.
struct Making<'c> {
    of: &'c Expanded,
    item: Item,
    /// The bytes that the cache counts as alive for these limbs until they are finished.
    bytes: u64,
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        self.of.alive.fetch_sub(self.bytes, Ordering::Relaxed);
        if let Some(slot) = self.of.lock().slots.get_mut(&self.item) {
            slot.making = None;
        }
    }
}

/// The counts and bytes of the key limbs and constants that a run expanded, all measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct ExpandedStats {
    /// The most bytes that expanded key limbs and encoded constants were allowed to take. It is the budget of the
    /// request ([`crate::Request::expanded_bytes`]). Without one it is the number of bytes that the memory limit
    /// leaves, if all do not fit there but the largest does. `None` means that there was no budget.
    pub budget_bytes: Option<u64>,
    /// The most bytes of expanded key limbs and encoded constants at one time in the run's cache, whether the cache
    /// kept them or steps held them. Those of other runs count too, and the peaks of several caches are added.
    pub peak_bytes: u64,
    /// The number of limbs to which seeds were expanded. `limbs_again` counts those among them that had been expanded
    /// before and dropped.
    pub limbs: u64,
    pub limbs_again: u64,
    /// The number of constants that were encoded. `constants_again` counts those among them that had been encoded
    /// before and dropped.
    pub constants: u64,
    pub constants_again: u64,
}

/// One run's registration with the caches of expanded limbs from which it reads. It ends when this value is dropped.
pub struct Usage {
    budget: Option<u64>,
    readers: Vec<(Arc<Expanded>, u64)>,
    limbs: [AtomicU64; 2],
    constants: [AtomicU64; 2],
}

impl Usage {
    /// Registers a run with the caches `places`, all under `budget` bytes if there is a budget.
    /// `least` is the size in bytes of the run's largest expanded key limb or encoded constant.
    ///
    /// # Errors
    /// [`DeviceError::SmallBudget`] for a budget below `least`; [`DeviceError::SeveralBudgets`] for a
    /// budget and more than one cache.
    pub fn begin(
        places: Vec<Arc<Expanded>>,
        budget: Option<u64>,
        least: u64,
    ) -> Result<Self, DeviceError> {
        if let Some(budget) = budget.filter(|&budget| budget < least) {
            return Err(DeviceError::SmallBudget { budget, least });
        }
        if budget.is_some() && places.len() > 1 {
            let places = places.len();
            return Err(DeviceError::SeveralBudgets { places });
        }
        let enter = |place: Arc<Expanded>| {
            let number = place.enter(budget.unwrap_or(u64::MAX));
            (place, number)
        };
        Ok(Self {
            budget,
            readers: places.into_iter().map(enter).collect(),
            limbs: Default::default(),
            constants: Default::default(),
        })
    }

    fn count(&self, item: Item, again: bool) {
        let [all, repeated] = match item {
            Item::Limb { .. } => &self.limbs,
            Item::Constant(_) => &self.constants,
        };
        all.fetch_add(1, Ordering::Relaxed);
        repeated.fetch_add(u64::from(again), Ordering::Relaxed);
    }

    pub fn stats(&self) -> ExpandedStats {
        let peaks = self.readers.iter().map(|(place, run)| place.peak(*run));
        let [limbs, limbs_again] = &self.limbs;
        let [constants, constants_again] = &self.constants;
        ExpandedStats {
            budget_bytes: self.budget,
            peak_bytes: peaks.sum(),
            limbs: limbs.load(Ordering::Relaxed),
            limbs_again: limbs_again.load(Ordering::Relaxed),
            constants: constants.load(Ordering::Relaxed),
            constants_again: constants_again.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Usage {
    fn drop(&mut self) {
        for (place, run) in &self.readers {
            place.leave(*run);
        }
    }
}
