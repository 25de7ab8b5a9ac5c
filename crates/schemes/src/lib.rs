//! CKKS: parameters, keys, encodings, encryption, and homomorphic operations as mid-level programs.

pub mod ckks;
pub mod interpret;
pub mod seal;
pub mod whole_file;
