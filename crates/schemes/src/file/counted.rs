// SPDX-License-Identifier: Apache-2.0
//! Reads and writes files of secret keys with the count of decryptions that were shared under them.

use zeroize::Zeroizing;

use super::container::{Reader, Writer, file_bytes, open, peek};
use super::{FileError, Kind};
use crate::rlwe::SecretKey;
use crate::rlwe::ledger::Account;
use crate::size;

/// Returns the content of a file of a secret key with the account of the decryptions under it that were shared with
/// others. The payload is the key's residues modulo all primes, in evaluation form, then the account.
pub(crate) fn write_counted_secret_key(key: &SecretKey, account: Account) -> Zeroizing<Vec<u8>> {
    let limbs = key.expose_eval_limbs();
    let capacity = size::sum([size::of_words(limbs.len()), Account::BYTES]);
    let mut w = Writer::new(Kind::CountedSecretKey, key.origin(), capacity);
    w.residues(limbs);
    w.bytes(&account.to_bytes());
    Zeroizing::new(w.finish())
}

/// Returns the number of bytes of the longest file that can be written of a secret key.
pub(crate) fn secret_key_bytes(key: &SecretKey) -> usize {
    let words = size::of_words(key.expose_eval_limbs().len());
    file_bytes(size::sum([words, Account::BYTES]))
}

/// Returns the account of the decryptions shared with others from a file of this key, or `None` if the file has no
/// account.
///
/// # Errors
/// Fails for a damaged file, and for a file of another kind or of another secret key.
pub(crate) fn account_of(bytes: &[u8], key: &SecretKey) -> Result<Option<Account>, FileError> {
    let (_, kind) = peek(bytes)?;
    let counted = kind == Kind::CountedSecretKey;
    let expected = if counted { kind } else { Kind::SecretKey };
    let origin = key.origin();
    let (header, mut r) = open(bytes, expected, origin.scheme, Some(&origin.params_id))?;
    let limbs = Zeroizing::new(r.residues(key.expose_eval_limbs().len())?);
    if header.key_id != key.key_id() || limbs.as_slice() != key.expose_eval_limbs() {
        return Err(FileError::Refused(
            "the file holds another secret key now; put the right one back".into(),
        ));
    }
    let account = counted.then(|| read_account(&mut r)).transpose()?;
    r.end()?;
    Ok(account)
}

/// Reads the account of shared decryptions, which is at the end of a secret key file's payload.
pub(super) fn read_account(r: &mut Reader<'_>) -> Result<Account, FileError> {
    let bytes = r.array()?;
    Account::from_bytes(&bytes).ok_or_else(|| FileError::Field {
        what: "count of shared decryptions",
        expected: "nothing spent and promised where the count is 0, and both elsewhere".into(),
        got: format!("{bytes:?}"),
    })
}
