// SPDX-License-Identifier: Apache-2.0
//! Tests the code that ring schemes share with a small scheme of its own, whose values have a factor as BGV's have.

use std::sync::Arc;

use ringmill_isa::Level;
use ringmill_isa::macros::Note;
use ringmill_schemes::file::{self, FileError, InsecureParams, Reader, Writer};
use ringmill_schemes::rlwe::{
    self, Annotation, Decryptor, Encryptor, KeyForm, KeyGenerator, RingParams, RlweError,
};
use ringmill_schemes::{ParameterSet, SchemeTag, ckks};

const TAG: SchemeTag = SchemeTag {
    name: "test",
    byte: 250,
};

/// The parameters of the test's scheme: those of every ring scheme, and a plaintext modulus.
struct Params {
    ring: Arc<rlwe::Params>,
}

impl Params {
    fn new(builder: rlwe::ParamsBuilder, t: u32) -> Result<Arc<Self>, RlweError> {
        let ring = builder
            .build(TAG)?
            .with_own(t.to_le_bytes().to_vec(), format!("t = {t}"));
        let ring = Arc::new(ring);
        Ok(Arc::new(Self { ring }))
    }

    fn read(bytes: &[u8]) -> Result<Arc<Self>, FileError> {
        let insecure = InsecureParams::AllowForTestsOnly;
        let read = file::read_ring_params::<4>(bytes, TAG, insecure.into())?;
        let params = Self::new(read.builder.clone(), u32::from_le_bytes(read.own))?;
        read.check(&params.ring)?;
        Ok(params)
    }
}

impl RingParams for Params {
    fn ring_params(&self) -> &Arc<rlwe::Params> {
        &self.ring
    }
}

#[derive(Clone, PartialEq, Debug)]
struct Factor(u16);

impl Annotation for Factor {
    type Error = RlweError;
    const FILE_BYTES: usize = 2;

    fn check(&self, _: &rlwe::Params, _: Level) -> Result<(), RlweError> {
        if self.0 > 0 {
            return Ok(());
        }
        Err(RlweError::Parameter {
            what: "factor",
            expected: "1 or more".into(),
            got: "0".into(),
        })
    }

    fn note(&self) -> Note {
        Note::Factor(self.0.into())
    }

    fn of_note(note: Note) -> Option<Self> {
        match note {
            Note::Factor(factor) => factor.try_into().ok().map(Self),
            Note::Bare | Note::Scale(_) => None,
        }
    }

    fn write(&self, to: &mut Writer) {
        to.bytes(&self.0.to_le_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, FileError> {
        Ok(Self(from.u16()?))
    }
}

fn builder() -> rlwe::ParamsBuilder {
    let builder = rlwe::Params::builder(5).prime_bits(&[40, 30], &[40]);
    builder.allow_insecure_parameters_for_tests_only()
}

#[test]
fn its_parameters_are_its_own() {
    let params = Params::new(builder(), 17).unwrap();
    let theirs = ckks::Params::builder(5).prime_bits(&[40, 30], &[40]);
    let theirs = theirs.allow_insecure_parameters_for_tests_only();
    let theirs = theirs.build().unwrap();
    assert_eq!((params.canonical()[10], theirs.canonical()[10]), (250, 0));
    assert_eq!(params.moduli(), theirs.moduli());
    let other = Params::new(builder(), 19).unwrap();
    assert!(params.id() != ParameterSet::id(&*theirs) && params.id() != other.id());

    let bytes = file::write_params(&*params);
    assert_eq!(Params::read(&bytes).unwrap().id(), params.id());
    let refused = ckks::file::read_params(&bytes, InsecureParams::AllowForTestsOnly);
    assert!(matches!(refused, Err(FileError::Scheme { got: 250, .. })));
    assert!(Params::read(&ckks::file::write_params(&theirs)).is_err());
    assert_eq!(file::peek_scheme(&bytes), Ok(250));
}

#[test]
fn its_values_are_encrypted_written_and_read_with_their_annotation() {
    let params = Params::new(builder(), 17).unwrap();
    let keygen = KeyGenerator::new(params.clone()).unwrap();
    let encryptor =
        Encryptor::with_public_key(params.clone(), &keygen.public_key().unwrap()).unwrap();
    let limbs = vec![1 << 20; 2 * 32];
    let plain = rlwe::Plaintext::<Factor>::new(&params.ring, Level(1), Factor(3), limbs).unwrap();
    let cipher = encryptor.encrypt(&plain).unwrap();
    assert_eq!(cipher.annotation(), &Factor(3));

    let bytes = file::write_ciphertext(&params.ring, &cipher).unwrap();
    let read = file::read_ciphertext::<Factor>(&bytes, &params.ring).unwrap();
    assert_eq!(read, cipher);
    let decryptor = Decryptor::new(params.clone(), keygen.secret_key().clone()).unwrap();
    let opened = decryptor.decrypt(&read).unwrap();
    assert_eq!(
        (opened.annotation(), opened.level()),
        (&Factor(3), Level(1))
    );
    let again = file::read_plaintext::<Factor>(&file::write_plaintext(&plain), &params.ring);
    assert_eq!(again, Ok(plain));

    // A factor that the annotation refuses, files that are cut, and a file of another scheme are refused.
    let polys = read.into_polys().into_iter();
    let polys = polys.map(ringmill_device::ResidueVec::into_wide).collect();
    let refused = rlwe::Ciphertext::<Factor>::new(&params.ring, Level(1), Factor(0), polys);
    assert!(matches!(refused, Err(RlweError::Parameter { .. })));
    for length in [0, 11, 12, 75, bytes.len() - 1] {
        assert!(file::read_ciphertext::<Factor>(&bytes[..length], &params.ring).is_err());
    }
    let relin = keygen.relin_key(KeyForm::Seeded).unwrap();
    let key = file::write_relin_key(&params.ring, &relin).unwrap();
    assert_eq!(file::read_relin_key(&key, &params.ring).unwrap(), relin);
    let theirs = ckks::Params::builder(5).prime_bits(&[40, 30], &[40]);
    let theirs = theirs.allow_insecure_parameters_for_tests_only();
    let theirs = theirs.build().unwrap();
    let refused = ckks::file::read_relin_key(&key, &theirs);
    assert!(matches!(refused, Err(FileError::Scheme { got: 250, .. })));
    let encryptor = Encryptor::with_public_key(theirs, &keygen.public_key().unwrap());
    assert!(encryptor.is_err());
}
