// SPDX-License-Identifier: Apache-2.0
//! Times the client's operations of BFV and BGV under SEAL's keys: encode, encrypt, decrypt, decode.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use ringmill_schemes::Scheme;
use ringmill_schemes::exact::{
    BatchEncoder, Decryptor, Encryptor, ExactError, ExactParams, ExactScheme, Integers,
};
use ringmill_schemes::rlwe::{Annotation, Ciphertext, RlweError};
use ringmill_schemes::seal::{self, SealContext, SealParams};

use crate::Result;
use crate::group::Group;
use crate::integers::file;

/// Adds the client's rows to a group. Our plaintext and our decryption of SEAL's ciphertext must equal SEAL's
/// plaintext, and our encryption must decrypt to our plaintext.
///
/// # Errors
/// Fails if a file of SEAL's is missing or refused, or if a computation fails.
pub fn rows<S, A>(
    group: &mut Group,
    context: &SealContext<S::Params>,
    cipher: &'static Ciphertext<A>,
    folder: &Path,
) -> Result<()>
where
    S: ExactScheme + Scheme<Annotation = A, Ciphertext = Ciphertext<A>> + 'static,
    S::Params: ExactParams + SealParams + Send + Sync + 'static,
    S::Error: From<RlweError> + From<ExactError> + std::error::Error + 'static,
    A: Annotation,
{
    let params: &Arc<S::Params> = context.params();
    let secret = seal::read_secret_key(context, &file(folder, "secret")?)?;
    let public = seal::read_public_key(context, &file(folder, "public")?)?;
    let decryptor = Decryptor::<S>::new(params.clone(), secret)?;
    let encryptor = Encryptor::<S>::with_public_key(params.clone(), &public)?;
    let encoder = Rc::new(BatchEncoder::new(params.clone())?);

    let values: Vec<i64> = (0..encoder.slots() as i64).map(|i| i * 3 % 65537).collect();
    let plain = encoder.encode(&values, Integers::Signed)?;
    let theirs = seal::read_integers(context, &file(folder, "plain")?)?;
    group.equal("encode", plain == theirs);
    group.equal("decode", encoder.decode_signed(&theirs)? == values);
    group.equal("decrypt", decryptor.decrypt(cipher)? == theirs);
    let encrypted = encryptor.encrypt(&plain)?;
    group.equal("encrypt", decryptor.decrypt(&encrypted)? == plain);

    let (decoder, to_encrypt) = (encoder.clone(), plain.clone());
    group.row("encode", move || {
        drop(encoder.encode(&values, Integers::Signed)?);
        Ok(())
    });
    group.row("encrypt", move || {
        drop(encryptor.encrypt(&to_encrypt)?);
        Ok(())
    });
    group.row("decrypt", move || {
        drop(decryptor.decrypt(cipher)?);
        Ok(())
    });
    group.row("decode", move || {
        drop(decoder.decode_signed(&plain)?);
        Ok(())
    });
    Ok(())
}
