// SPDX-License-Identifier: Apache-2.0
//! Times the client's operations of CKKS: encode, encrypt, decrypt, decode.

use std::path::Path;

use ringmill_schemes::ckks::{Decryptor, Encoder, Encryptor};
use ringmill_schemes::seal::{self, SealContext};

use crate::Result;
use crate::ckks::{Material, TOLERANCE, close, file};
use crate::group::Group;

/// The largest difference of decoded values that count as equal. Two encoders round coefficients of about 2^54 each in
/// its own double arithmetic. The coefficients may differ by a few hundred units, and a decoded value of size 1 by
/// about 2^-45.
const ENCODING_TOLERANCE: f64 = 1e-12;

/// Adds the client's rows to a group. Encrypted values must decrypt to the same values, and our encoding must decode to
/// them. With SEAL's files, our decryption must equal SEAL's bit for bit, and SEAL's encoding must decode to the
/// values, too.
///
/// # Errors
/// Fails if a file of SEAL's is missing or refused, or if a computation fails.
pub fn rows(group: &mut Group, material: &'static Material, folder: Option<&Path>) -> Result<()> {
    let params = &material.params;
    let (level, scale, slots) = (params.max_level(), params.default_scale(), params.slots());
    let values: Vec<f64> = (0..slots)
        .map(|i| (i % 1009) as f64 / 1009.0 - 0.5)
        .collect();
    let encoder = Encoder::new(params.clone());
    let decryptor = Decryptor::new(params.clone(), material.secret.clone())?;
    let by_public = Encryptor::with_public_key(params.clone(), &material.public)?;
    let by_secret = Encryptor::with_secret_key(params.clone(), material.secret.clone())?;
    let plain = encoder.encode_real(&values, level, scale)?;
    let cipher = by_public.encrypt(&plain)?;

    let opened = |cipher| -> Result<bool> {
        let found = encoder.decode_real(&decryptor.decrypt(cipher)?, slots)?;
        Ok(close(&found, &values, TOLERANCE))
    };
    group.equal("encrypt", opened(&cipher)?);
    group.equal("encrypt_symmetric", opened(&by_secret.encrypt(&plain)?)?);
    let decoded = encoder.decode_real(&plain, slots)?;
    let mut encoded_equal = close(&decoded, &values, ENCODING_TOLERANCE);
    let mut decrypted_equal = true;
    if let Some(folder) = folder {
        let context = SealContext::new(params.clone())?;
        let theirs = seal::read_plaintext(&context, &file(folder, "plain")?)?;
        encoded_equal &= close(
            &encoder.decode_real(&theirs, slots)?,
            &values,
            ENCODING_TOLERANCE,
        );
        let theirs = seal::read_plaintext(&context, &file(folder, "decrypted")?)?;
        let ours = decryptor.decrypt(&seal::read_ciphertext(&context, &file(folder, "a")?)?)?;
        decrypted_equal = ours.limbs() == theirs.limbs();
    }
    group.equal("encode", encoded_equal);
    group.equal("decode", encoded_equal);
    group.equal("decrypt", decrypted_equal);

    let encoder = std::rc::Rc::new(encoder);
    let (decoder, to_encrypt, to_sign) = (encoder.clone(), plain.clone(), plain.clone());
    group.row("encode", move || {
        drop(encoder.encode_real(&values, level, scale)?);
        Ok(())
    });
    group.row("encrypt", move || {
        drop(by_public.encrypt(&to_encrypt)?);
        Ok(())
    });
    group.row("encrypt_symmetric", move || {
        drop(by_secret.encrypt(&to_sign)?);
        Ok(())
    });
    group.row("decrypt", move || {
        drop(decryptor.decrypt(&cipher)?);
        Ok(())
    });
    group.row("decode", move || {
        drop(decoder.decode_real(&plain, slots)?);
        Ok(())
    });
    Ok(())
}
