//! SEAL's modulus chain: the names (`parms_id`) of the levels of one set of CKKS parameters.

use super::blake::hash_words;

/// SEAL's number for the CKKS scheme.
pub(super) const CKKS: u8 = 2;

/// The name SEAL gives to one level: BLAKE2b-256 of scheme, ring degree, primes and plain modulus, each a 64-bit word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ParmsId(pub [u8; 32]);

impl ParmsId {
    /// The name of CKKS parameters with these primes (the plain modulus of CKKS is 0).
    fn of(n: usize, primes: &[u64]) -> Self {
        let mut words = vec![u64::from(CKKS), n as u64];
        words.extend_from_slice(primes);
        words.push(0);
        ParmsId(hash_words(&words))
    }

    /// Hexadecimal, in file order.
    pub fn hex(&self) -> String {
        self.0.iter().map(|b| format!("{b:02x}")).collect()
    }
}

/// Ring degree, primes in SEAL's order (the special prime last) and the names of all levels.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    n: usize,
    moduli: Vec<u64>,
    /// `ids[k]` names the level with the first k + 1 primes; the last one names the key level.
    ids: Vec<ParmsId>,
}

impl Chain {
    pub(super) fn new(n: usize, moduli: &[u64]) -> Self {
        let ids = (1..=moduli.len())
            .filter_map(|k| moduli.get(..k))
            .map(|primes| ParmsId::of(n, primes))
            .collect();
        Self {
            n,
            moduli: moduli.to_vec(),
            ids,
        }
    }

    pub(super) fn n(&self) -> usize {
        self.n
    }

    pub(super) fn moduli(&self) -> &[u64] {
        &self.moduli
    }

    /// Number of primes of the level of this name.
    pub(super) fn primes_of(&self, id: &ParmsId) -> Option<usize> {
        self.ids.iter().position(|known| known == id).map(|k| k + 1)
    }

    /// The name of the level with the first `primes` primes.
    pub(super) fn id(&self, primes: usize) -> Option<ParmsId> {
        self.ids.get(primes.checked_sub(1)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers from SEAL: `CoeffModulus.Create(4096, [40, 30, 39])`, names of the key and first data level.
    #[test]
    fn names_are_seals() {
        let chain = Chain::new(4096, &[1_099_511_480_321, 1_073_692_673, 549_755_731_969]);
        let words = |primes| -> Vec<u64> {
            let id: ParmsId = chain.id(primes).unwrap();
            id.0.chunks(8)
                .map(|c| u64::from_le_bytes(c.try_into().unwrap()))
                .collect()
        };
        assert_eq!(
            words(3),
            [
                0x95a5_212c_2675_aa09,
                0x7f90_4a43_4d04_37b3,
                0x71c8_dd07_8ca6_48f9,
                0x9f17_e7f7_44b1_81ef
            ]
        );
        assert_eq!(
            words(2),
            [
                0x2050_ebf3_d7fb_5fbd,
                0x4845_767f_5d86_b67a,
                0xf40d_51e5_b45e_795f,
                0xc546_b9e4_a0ab_2855
            ]
        );
        assert_eq!(chain.primes_of(&chain.id(1).unwrap()), Some(1));
        assert_eq!(chain.primes_of(&ParmsId([0; 32])), None);
        assert_eq!(chain.id(0), None);
        assert_eq!(chain.id(4), None);
    }
}
