// SPDX-License-Identifier: Apache-2.0
//! The parameters for which an RPAU of the ring machine is elaborated.

use ringmill_machines::MachineError;
use ringmill_machines::ring::{Description, built};

use crate::{Param, Top};

/// The parameters of the RTL module `rm_ring_rpau`, one RPAU of the ring machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// log2 of the machine's native ring degree, the largest without half rings. `log_row` is log2
    /// of the number of coefficients in a memory row.
    pub log_n: u32,
    pub log_row: u32,
    /// log2 of the number of dyadic cores of the RPAU, which add and multiply position by position.
    pub log_lanes: u32,
    /// The number of memory slots, each for one limb, that share one read port and one write port.
    /// `singles` is the number of slots that have both ports for themselves.
    pub shared: usize,
    pub singles: usize,
    /// The number of narrow memory slots, each for one limb, or 0 if there are none. They share one memory, whose ports
    /// take 2^`log_parts` cycles for a memory row.
    pub narrow: usize,
    pub log_parts: u32,
    /// The number of bits of a residue on the ring network and the host link.
    pub word_bits: u32,
    /// The number of a transform's butterfly stages that one pass over a limb computes. With one
    /// stage in a pass, only the first `first_values` twiddles of a pass are stored, and the
    /// machine generates the others.
    pub stages: u32,
    pub first_values: u64,
    /// The latency of a modular multiplication, in cycles.
    pub multiplier: u64,
    /// The cycles that the generator of key masks (uniform limbs) takes to its first residue. In
    /// the last `fold` of them it reduces 128 random bits to a residue.
    pub generator: u64,
    pub fold: u64,
    /// Whether the RPAU reduces residues that come from other RPAUs modulo its own prime. That
    /// takes `reducer` cycles.
    pub reduces: bool,
    pub reducer: u64,
    pub rpaus: usize,
    pub key_slots: usize,
    /// The number of residues in one word of the RPAU's key memory. Consecutive words lie in `key_stripes` memories in
    /// turn.
    pub key_group: usize,
    pub key_stripes: usize,
    /// The number of entries in the RPAU's table of constants. `streams`, `seeds` and `galois` are
    /// those of its tables of generator streams, seeds and Galois elements.
    pub constants: usize,
    pub streams: usize,
    pub seeds: usize,
    pub galois: usize,
    /// The primes for which the RPAU is built, of which only the first `moduli` count.
    primes: [u64; MAX_MODULI],
    moduli: usize,
    /// The number of layers: the primes that the RPAU serves at a time, with their twiddles loaded.
    layers: usize,
}

/// The most primes for which an RPAU can be built.
pub(super) const MAX_MODULI: usize = 8;

impl Shape {
    /// Returns the parameters of a description's RPAU for its primes, one to eight.
    ///
    /// # Errors
    /// [`MachineError::Field`] with the field that the RTL does not support ([`built`]), or for a wrong number of
    /// primes.
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

    /// Returns the number of port groups of the RPAU's polynomial memory. A port group is a set of
    /// slots with one read port and one write port together.
    pub fn groups(&self) -> usize {
        1 + self.singles + usize::from(self.narrow > 0)
    }

    /// Returns the RTL module `rm_ring_rpau` with these parameters.
    pub fn top(&self) -> Top {
        self.parameters(Top::new("rm_ring_rpau"))
            .int("QWidth", self.q_width().into())
            .int("Layers", self.layers as u64)
            .ints("Q", self.primes())
    }

    /// Returns the parameters with `layers` as the number of primes that the RPAU serves at a time,
    /// or all its primes if it has fewer.
    pub(super) fn of_layers(self, layers: usize) -> Self {
        Self {
            layers: layers.min(self.moduli),
            ..self
        }
    }

    pub fn layers(&self) -> usize {
        self.layers
    }

    /// Returns the number of bits of a residue in the RPAU. An RPAU that reduces residues from
    /// other RPAUs has the bits of its own widest prime, another RPAU the bits of the machine's
    /// word.
    pub(super) fn width(&self) -> u32 {
        if self.reduces {
            self.q_width()
        } else {
            self.word_bits
        }
    }

    /// Returns `rm_ring_rpau` with the parameters that `rm_ring` gives it: residues have the bits of its widest prime
    /// if it reduces residues from other RPAUs, else those of the machine's word.
    pub fn in_ring(&self) -> Top {
        let mut top = self.top();
        for (name, value) in &mut top.params {
            if name == "Width" {
                *value = Param::Int(self.width().into());
            }
        }
        top.int("RingWidth", self.word_bits.into())
    }

    /// Returns the number of bits of each of the RPAU's primes.
    pub fn bits(&self) -> Vec<u32> {
        let primes = self.primes().iter();
        primes.map(|q| 64 - q.leading_zeros()).collect()
    }

    /// Returns the number of bits of the RPAU's widest prime.
    pub fn q_width(&self) -> u32 {
        self.bits().into_iter().max().unwrap_or(0)
    }

    /// Returns the parameters without the repetitions of a prime by which `rm_ring` fills the list
    /// of an RPAU with few primes.
    pub(super) fn own(mut self) -> Self {
        let others = (1..self.moduli).filter(|&m| self.primes[m] != self.primes[0]);
        self.moduli = others.max().map_or(1, |last| last + 1);
        self.layers = self.layers.min(self.moduli);
        self
    }

    /// Sets the parameters `LogN` and `LogRow` of a module: log2 of the ring degree and of the number of coefficients
    /// in a memory row.
    pub(super) fn sized(&self, top: Top) -> Top {
        top.int("LogN", self.log_n.into())
            .int("LogRow", self.log_row.into())
    }

    /// Sets the parameter `Memory` of a module, of the type `memory_t` in `rm_ring_pkg`: how the slots of polynomial
    /// memory share ports.
    pub(super) fn memory(&self, top: Top) -> Top {
        let pair = |high: u64, low: u64| high << 32 | low;
        let words = [
            pair(self.log_row.into(), self.log_parts.into()),
            pair(self.singles as u64, self.narrow as u64),
            self.shared as u64,
        ];
        top.ints("Memory", &words)
    }

    /// Sets the parameters that the modules `rm_ring`, the whole machine, and `rm_ring_rpau`, one
    /// RPAU, have in common.
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
