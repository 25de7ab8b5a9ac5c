//! The data a program runs on: input limbs and seeds, validated before anything runs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ringmill_isa::mid::{Program, TableModulus};
use ringmill_limits::{Halt, room};
use ringmill_math::{Modulus, Ring, RingKind, expand_uniform};

use crate::DeviceError;

#[derive(Clone)]
enum Data<'a> {
    Borrowed(&'a [u64]),
    Shared(Arc<[u64]>),
}

/// Residues that are known to be below their modulus: scanned once when made, never again.
#[derive(Clone)]
pub struct Limb<'a> {
    data: Data<'a>,
    modulus: TableModulus,
}

impl<'a> Limb<'a> {
    /// Borrows residues, each of which must be below `modulus`; otherwise [`DeviceError::Residue`].
    pub fn borrowed(
        data: &'a [u64],
        modulus: impl Into<TableModulus>,
    ) -> Result<Self, DeviceError> {
        let modulus = modulus.into();
        check_residues(data, modulus)?;
        Ok(Self {
            data: Data::Borrowed(data),
            modulus,
        })
    }

    /// Shares residues, each of which must be below `modulus`; otherwise [`DeviceError::Residue`].
    pub fn shared(data: Arc<[u64]>, modulus: impl Into<TableModulus>) -> Result<Self, DeviceError> {
        let modulus = modulus.into();
        check_residues(&data, modulus)?;
        Ok(Self {
            data: Data::Shared(data),
            modulus,
        })
    }

    /// Borrows residues that this crate has scanned before (keys, at every run of a session).
    pub(crate) fn scanned(data: &'a [u64], modulus: TableModulus) -> Self {
        debug_assert!(check_residues(data, modulus).is_ok());
        Self {
            data: Data::Borrowed(data),
            modulus,
        }
    }

    pub fn residues(&self) -> &[u64] {
        match &self.data {
            Data::Borrowed(d) => d,
            Data::Shared(d) => d,
        }
    }

    pub fn modulus(&self) -> TableModulus {
        self.modulus
    }

    pub(crate) fn value(&self) -> crate::cpu::Value<'a> {
        match &self.data {
            Data::Borrowed(d) => crate::cpu::Value::Bound(d),
            Data::Shared(d) => crate::cpu::Value::Shared(d.clone()),
        }
    }
}

/// Refuses residues at or above `modulus`, naming the first. One pass without branches for the common case.
pub(crate) fn check_residues(data: &[u64], modulus: TableModulus) -> Result<(), DeviceError> {
    let top = modulus.top();
    if top >> 63 == 0 {
        // Bit 63 is set exactly when x >= 2^63 or top - x wraps (top < 2^63, so top - x of a small x never has it).
        let bad = data
            .iter()
            .fold(0u64, |bad, &x| bad | x | top.wrapping_sub(x));
        if bad >> 63 == 0 && modulus.value() != 0 {
            return Ok(());
        }
    } else if data.iter().fold(0, |most, &x| x.max(most)) <= top {
        return Ok(());
    }
    let above = |&x: &u64| u128::from(x) >= modulus.value();
    match data.iter().position(above) {
        Some(position) => Err(DeviceError::Residue {
            position,
            value: data[position],
            modulus,
        }),
        None => Ok(()),
    }
}

/// Expands a seed's limbs on first use and keeps them: a seeded key costs its expansion once, then its memory.
pub struct SeedExpansion {
    seed: [u8; 32],
    limbs: Mutex<HashMap<Wanted, Expanded>>,
}

/// A limb that one thread expands while others that want it wait.
type Expanded = Arc<OnceLock<Arc<[u64]>>>;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Wanted {
    stream: u64,
    modulus: u64,
    ring: Ring,
}

impl SeedExpansion {
    pub fn new(seed: [u8; 32]) -> Self {
        Self {
            seed,
            limbs: Mutex::default(),
        }
    }

    pub fn seed(&self) -> &[u8; 32] {
        &self.seed
    }

    /// The evaluation-form limb of `PRNG`: the keystream's words of `stream`, each reduced mod `modulus`; on a half ring
    /// those of the positions of that half (roots psi^e with e = 1 mod 4 are the first half of the bit-reversed order).
    ///
    /// # Errors
    /// [`Halt::NoMemory`] where there is none for it.
    pub fn limb(&self, stream: u64, modulus: Modulus, ring: Ring) -> Result<Arc<[u64]>, Halt> {
        let cell = {
            let mut limbs = self.limbs.lock().unwrap_or_else(PoisonError::into_inner);
            limbs
                .entry(Wanted {
                    stream,
                    modulus: modulus.value(),
                    ring,
                })
                .or_default()
                .clone()
        };
        if cell.get().is_none() {
            room(
                "a limb of a key",
                2 * size_of::<u64>() as u64 * ring.parent().len() as u64,
            )?;
        }
        // The map is not held while expanding: threads expand different limbs side by side, and wait only for their own.
        let limb = cell.get_or_init(|| {
            let mut full = vec![0; ring.parent().len()];
            expand_uniform(&self.seed, stream, modulus, &mut full);
            let half = full.len() / 2;
            match ring.kind {
                RingKind::Full => full.into(),
                RingKind::HalfPlus => full[..half].into(),
                RingKind::HalfMinus => full[half..].into(),
            }
        });
        Ok(limb.clone())
    }

    /// Bytes of expanded limbs held.
    pub fn bytes(&self) -> u64 {
        let limbs = self.limbs.lock().unwrap_or_else(PoisonError::into_inner);
        limbs
            .values()
            .filter_map(|c| c.get())
            .map(|l| size_of_val(&l[..]) as u64)
            .sum()
    }
}

/// One limb for each of [`Program::inputs`] and one seed for each of [`Program::seeds`], in order.
#[derive(Clone, Default)]
pub struct Bindings<'a> {
    pub limbs: Vec<Limb<'a>>,
    pub seeds: Vec<Arc<SeedExpansion>>,
}

impl Bindings<'_> {
    /// Refuses bindings that do not fit: counts, lengths, moduli (residues were checked when each [`Limb`] was made).
    pub fn check(&self, program: &Program) -> Result<(), DeviceError> {
        if let Some(missing) = program.inputs.get(self.limbs.len()) {
            let (expected, got) = (program.inputs.len(), self.limbs.len());
            return Err(DeviceError::MissingBinding {
                name: missing.name.clone(),
                expected,
                got,
            });
        }
        if self.limbs.len() > program.inputs.len() {
            return Err(DeviceError::ExtraBindings {
                expected: program.inputs.len(),
                got: self.limbs.len(),
            });
        }
        if self.seeds.len() != program.seeds.len() {
            return Err(DeviceError::SeedCount {
                expected: program.seeds.len(),
                got: self.seeds.len(),
            });
        }
        for (input, limb) in program.inputs.iter().zip(&self.limbs) {
            let missing =
                || DeviceError::Malformed(format!("input `{}` has no modulus", input.name));
            let ty = input.ty.limb().ok_or_else(missing)?;
            let modulus = *program
                .moduli
                .get(usize::from(ty.modulus.0))
                .ok_or_else(missing)?;
            if limb.residues().len() != ty.ring.len() {
                let (expected, got) = (ty.ring.len(), limb.residues().len());
                return Err(DeviceError::LimbLength {
                    name: input.name.clone(),
                    expected,
                    got,
                });
            }
            // Residues below a value are what they are, whatever kind their modulus was called.
            if limb.modulus.value() != modulus.value() {
                let (expected, got) = (modulus, limb.modulus);
                return Err(DeviceError::LimbModulus {
                    name: input.name.clone(),
                    expected,
                    got,
                });
            }
        }
        Ok(())
    }
}
