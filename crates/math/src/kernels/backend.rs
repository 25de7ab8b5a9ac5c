// SPDX-License-Identifier: Apache-2.0
//! Chooses the instruction set that the kernels use.

use std::cell::Cell;

use crate::MathError;
use crate::plans::policy;

/// The instruction set for which the kernels in use are written. All backends compute the same bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Backend {
    /// The kernels are plain Rust, for any processor and any modulus.
    Scalar,
    /// The kernels use AVX2 and FMA, for any modulus.
    Avx2,
    /// The kernels use AVX-512 F and DQ, for any modulus. Elementwise kernels whose results are in words of 32 bits,
    /// and the conversion of such words to 64 bits, use AVX2.
    Avx512,
    /// The kernels use AVX-512 with 52-bit multiply-add (IFMA) if it is faster for the modulus, otherwise those of
    /// [`Backend::Avx512`].
    Avx512Ifma,
}

thread_local! {
    static FORCED: Cell<Option<Backend>> = const { Cell::new(None) };
}

impl Backend {
    /// All backends in order. Each needs the instructions of all backends before it, and more.
    pub const ALL: [Backend; 4] = [Self::Scalar, Self::Avx2, Self::Avx512, Self::Avx512Ifma];

    /// Returns the name by which environment variables and reports call the backend.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Avx512Ifma => "avx512ifma",
        }
    }

    /// Returns the backend of this thread's kernels: inside [`with_backend`] the one that it forces, otherwise the best
    /// one that the environment allows ([`crate::plans`]). If the environment asks for random choices, each call draws
    /// one of the backends up to the best allowed one.
    #[inline]
    pub fn current() -> Backend {
        FORCED.get().unwrap_or_else(|| policy().level())
    }
}

/// Returns the backend that [`with_backend`] forces on this thread, or `None` outside of it.
#[inline]
pub(crate) fn forced_backend() -> Option<Backend> {
    FORCED.get()
}

/// Returns the best backend that this processor can run, whatever the environment allows.
pub(crate) fn best_backend() -> Backend {
    available_backends()
        .last()
        .copied()
        .unwrap_or(Backend::Scalar)
}

/// Returns the backends that this processor can run, slowest first.
pub fn available_backends() -> Vec<Backend> {
    #[cfg(target_arch = "x86_64")]
    {
        backends_with(
            is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq"),
            is_x86_feature_detected!("avx512ifma"),
        )
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        backends_with(false, false, false)
    }
}

/// Returns the backends of a processor that has AVX2, AVX-512 F and DQ (`avx512`), and IFMA, as the arguments
/// say, slowest first. Each backend needs the instructions of those before it.
pub fn backends_with(avx2: bool, avx512: bool, ifma: bool) -> Vec<Backend> {
    let mut list = vec![Backend::Scalar];
    if avx2 {
        list.push(Backend::Avx2);
        if avx512 {
            list.push(Backend::Avx512);
            if ifma {
                list.push(Backend::Avx512Ifma);
            }
        }
    }
    list
}

/// Runs `f` with this thread's kernels forced onto `backend`, for tests and measurements.
///
/// # Errors
/// [`MathError::BackendUnavailable`] if the processor cannot run this backend; then `f` is not called.
pub fn with_backend<T>(backend: Backend, f: impl FnOnce() -> T) -> Result<T, MathError> {
    struct Restore(Option<Backend>);
    impl Drop for Restore {
        fn drop(&mut self) {
            FORCED.set(self.0);
        }
    }
    let available = available_backends();
    if !available.contains(&backend) {
        return Err(MathError::BackendUnavailable {
            missing: backend,
            available,
        });
    }
    let _restore = Restore(FORCED.replace(Some(backend)));
    Ok(f())
}
