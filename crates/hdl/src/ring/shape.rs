//! What an RPAU is elaborated for.

use ringmill_machines::ring::Description;

use crate::Top;

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
    pub word_bits: u32,
    pub multiplier: u64,
    /// Cycles to a generator's first residue, and those of its last part, the fold.
    pub generator: u64,
    pub fold: u64,
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
    pub prime: u64,
}

impl Shape {
    /// The RPAU of a description for a prime; `None` for what the RTL does not build: other than stored twiddles and two
    /// stages a pass, a first port group that is not the one that is shared, narrow slots, a ring that does not reduce, a
    /// generator that is not as fast as the dyadic cores.
    pub fn new(d: &Description, prime: u64) -> Option<Self> {
        let (first, singles) = d.memory.split_first()?;
        let fits = d.main.stages == 2
            && d.cores.generator == 0
            && d.row.is_power_of_two()
            && d.cores.dyadic.is_power_of_two()
            && 2 * d.cores.dyadic <= d.row
            && d.row >= 4
            && d.ring.reduces
            && d.ring.lanes == d.row
            && d.generator.residues_per_cycle == d.cores.dyadic
            && d.cores.dyadic <= 4
            && d.keys.group.is_power_of_two()
            && d.keys.group > 1
            && d.keys.slots > 0
            && d.keys.rotate == 1
            && singles.iter().all(|g| g.slots == 1 && g.residues.is_none())
            && first.residues.is_none()
            && 64 - prime.leading_zeros() <= d.word_bits;
        fits.then(|| Self {
            log_n: d.log_n.into(),
            log_row: d.row.ilog2(),
            log_lanes: d.cores.dyadic.ilog2(),
            shared: first.slots,
            singles: singles.len(),
            word_bits: d.word_bits,
            multiplier: d.pipeline.multiplier,
            generator: d.generator.latency + d.generator.fold,
            fold: d.generator.fold,
            reducer: d.ring.reducer,
            rpaus: d.rpaus,
            key_slots: d.keys.slots,
            key_group: d.keys.group,
            key_stripes: d.keys.stripes,
            constants: d.tables.constants,
            streams: d.tables.streams,
            seeds: d.tables.seeds,
            galois: d.tables.galois,
            prime,
        })
    }

    pub fn row(&self) -> usize {
        1 << self.log_row
    }

    pub fn slots(&self) -> usize {
        self.shared + self.singles
    }

    /// `rm_ring_rpau`.
    pub fn top(&self) -> Top {
        self.parameters(Top::new("rm_ring_rpau"))
            .int("QWidth", (64 - self.prime.leading_zeros()).into())
            .int("Q", self.prime)
    }

    /// Parameters that the machine has as its RPAUs have them.
    pub(super) fn parameters(&self, top: Top) -> Top {
        top.int("LogN", self.log_n.into())
            .int("LogRow", self.log_row.into())
            .int("LogLanes", self.log_lanes.into())
            .int("Shared", self.shared as u64)
            .int("Singles", self.singles as u64)
            .int("Width", self.word_bits.into())
            .int("MulLatency", self.multiplier)
            .int("GenLatency", self.generator)
            .int("Fold", self.fold)
            .int("Reducer", self.reducer)
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
