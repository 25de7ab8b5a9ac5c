// SPDX-License-Identifier: Apache-2.0
//! What an RPAU is elaborated for.

use ringmill_machines::MachineError;
use ringmill_machines::ring::{Description, built};

use crate::{Param, Top};

/// Parameters of `rm_ring_rpau`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// log2 of the native ring degree.
    pub log_n: u32,
    pub log_row: u32,
    /// log2 of the dyadic cores.
    pub log_lanes: u32,
    /// Slots that share one port each way; those that follow have their own.
    pub shared: usize,
    pub singles: usize,
    /// Slots of one memory behind them whose ports take so many cycles for a row, or none.
    pub narrow: usize,
    pub log_parts: u32,
    pub word_bits: u32,
    /// Stages of a transform in one pass; with one twiddles are generated from so many first ones.
    pub stages: u32,
    pub first_values: u64,
    pub multiplier: u64,
    /// Cycles to a generator's first residue, and those of its last part, the fold.
    pub generator: u64,
    pub fold: u64,
    /// Whether the ring reduces what arrives, in so many stages.
    pub reduces: bool,
    pub reducer: u64,
    pub rpaus: usize,
    pub key_slots: usize,
    /// Residues of a word of key memory.
    pub key_group: usize,
    pub key_stripes: usize,
    /// Depths of tables.
    pub constants: usize,
    pub streams: usize,
    pub seeds: usize,
    pub galois: usize,
    /// Its primes, of which there are so many.
    primes: [u64; MAX_MODULI],
    moduli: usize,
    /// Of these, the ones that have twiddles at a time.
    layers: usize,
}

/// Primes that an RPAU can be built for.
pub(super) const MAX_MODULI: usize = 8;

impl Shape {
    /// The RPAU of a description for its primes, at most eight.
    ///
    /// # Errors
    /// The field that forbids it ([`built`]).
    pub fn new(d: &Description, primes: &[u64]) -> Result<Self, MachineError> {
        built::check(d)?;
        for &prime in primes {
            built::check_prime(d, prime)?;
        }
        if !(1..=MAX_MODULI).contains(&primes.len()) {
            return Err(MachineError::Field {
                field: "rpaus",
                got: format!("{} primes on one of them", primes.len()),
                expected: format!("1 to {MAX_MODULI} in RTL"),
            });
        }
        let own = primes.iter().chain(std::iter::repeat(&primes[0]));
        let mut all = [0; MAX_MODULI];
        all.iter_mut().zip(own).for_each(|(to, &prime)| *to = prime);
        let shared = d.memory.first().map_or(0, |first| first.slots);
        let (wide, narrow) = built::memory(d);
        let parts = narrow.and_then(|g| g.residues).map_or(2, |r| d.row / r);
        Ok(Self {
            log_n: d.log_n.into(),
            log_row: d.row.ilog2(),
            log_lanes: d.cores.dyadic.ilog2(),
            shared,
            singles: wide.len().saturating_sub(1),
            narrow: narrow.map_or(0, |g| g.slots),
            log_parts: parts.ilog2(),
            word_bits: d.word_bits,
            stages: d.main.stages as u32,
            first_values: d.first_values(),
            multiplier: d.pipeline.multiplier,
            generator: d.generator.latency + d.generator.fold,
            fold: d.generator.fold,
            reduces: d.ring.reduces,
            reducer: d.ring.reducer,
            rpaus: d.rpaus,
            key_slots: d.keys.slots,
            key_group: d.keys.group,
            key_stripes: d.keys.stripes,
            constants: d.tables.constants,
            streams: d.tables.streams,
            seeds: d.tables.seeds,
            galois: d.tables.galois,
            primes: all,
            moduli: primes.len(),
            layers: primes.len(),
        })
    }

    pub fn primes(&self) -> &[u64] {
        &self.primes[..self.moduli]
    }

    pub fn row(&self) -> usize {
        1 << self.log_row
    }

    pub fn slots(&self) -> usize {
        self.shared + self.singles + self.narrow
    }

    /// Port groups of polynomial memory.
    pub fn groups(&self) -> usize {
        1 + self.singles + usize::from(self.narrow > 0)
    }

    /// `rm_ring_rpau`.
    pub fn top(&self) -> Top {
        self.parameters(Top::new("rm_ring_rpau"))
            .int("QWidth", self.q_width().into())
            .int("Layers", self.layers as u64)
            .ints("Q", self.primes())
    }

    /// The same with twiddles for so many primes at a time.
    pub(super) fn of_layers(self, layers: usize) -> Self {
        Self {
            layers: layers.min(self.moduli),
            ..self
        }
    }

    pub fn layers(&self) -> usize {
        self.layers
    }

    /// Bits of a residue: its own primes', and where the ring does not reduce, those of what arrives.
    pub(super) fn width(&self) -> u32 {
        if self.reduces {
            self.q_width()
        } else {
            self.word_bits
        }
    }

    /// `rm_ring_rpau` as `rm_ring` has it, with residues no wider than they have to be.
    pub fn in_ring(&self) -> Top {
        let mut top = self.top();
        for (name, value) in &mut top.params {
            if name == "Width" {
                *value = Param::Int(self.width().into());
            }
        }
        top.int("RingWidth", self.word_bits.into())
    }

    /// Bits of its primes.
    pub fn bits(&self) -> Vec<u32> {
        let primes = self.primes().iter();
        primes.map(|q| 64 - q.leading_zeros()).collect()
    }

    /// Bits of the widest of them.
    pub fn q_width(&self) -> u32 {
        self.bits().into_iter().max().unwrap_or(0)
    }

    /// The same without the primes that stand again in the place of those that others have more, as `rm_ring` builds it.
    pub(super) fn own(mut self) -> Self {
        let others = (1..self.moduli).filter(|&m| self.primes[m] != self.primes[0]);
        self.moduli = others.max().map_or(1, |last| last + 1);
        self.layers = self.layers.min(self.moduli);
        self
    }

    /// Parameters of a module that works on rows of limbs.
    pub(super) fn sized(&self, top: Top) -> Top {
        top.int("LogN", self.log_n.into())
            .int("LogRow", self.log_row.into())
    }

    /// The parameter that says which slots are where, `memory_t` of `rm_ring_pkg`.
    pub(super) fn memory(&self, top: Top) -> Top {
        let pair = |high: u64, low: u64| high << 32 | low;
        let words = [
            pair(self.log_row.into(), self.log_parts.into()),
            pair(self.singles as u64, self.narrow as u64),
            self.shared as u64,
        ];
        top.ints("Memory", &words)
    }

    /// Parameters that the machine has as its RPAUs have them.
    pub(super) fn parameters(&self, top: Top) -> Top {
        top.int("LogN", self.log_n.into())
            .int("LogRow", self.log_row.into())
            .int("LogLanes", self.log_lanes.into())
            .int("Shared", self.shared as u64)
            .int("Singles", self.singles as u64)
            .int("Narrow", self.narrow as u64)
            .int("LogParts", self.log_parts.into())
            .int("Width", self.word_bits.into())
            .int("Stages", self.stages.into())
            .int("MulLatency", self.multiplier)
            .int("GenLatency", self.generator)
            .int("Fold", self.fold)
            .int("Reduces", self.reduces.into())
            .int("Reducer", self.reducer)
            .int("Moduli", self.moduli as u64)
            .int("Rpaus", self.rpaus as u64)
            .int("KeySlots", self.key_slots as u64)
            .int("KeyLogGroup", self.key_group.ilog2().into())
            .int("KeyStripes", self.key_stripes as u64)
            .int("Constants", self.constants as u64)
            .int("StreamRows", self.streams as u64)
            .int("Seeds", self.seeds as u64)
            .int("GaloisRows", self.galois as u64)
    }
}
