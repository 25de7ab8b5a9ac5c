//! The TFHE bootstrapping engine (torus paper).

pub mod keyswitch;
