// SPDX-License-Identifier: Apache-2.0
//! Requests to valgrind that mark bytes as secret, and ask whether something depended on them.
//!
//! Memcheck follows uninitialised bits through all computations, and reports each branch and each address that depends
//! on one. Secrets marked as uninitialised are followed in the same way. Memcheck does not report instructions that
//! take longer for some operands, as divisions do. Outside valgrind a request does nothing.

#![allow(unsafe_code)] // requests of valgrind are instructions

/// Requests of valgrind's core and of memcheck, with their numbers in `valgrind.h` and `memcheck.h`.
#[derive(Clone, Copy)]
enum Request {
    RunningOnValgrind = 0x1001,
    CountErrors = 0x1201,
    MakeMemUndefined = 0x4d43_0001,
    GetVbits = 0x4d43_0008,
}

/// Returns whether this process runs under valgrind.
pub fn running() -> bool {
    ask(Request::RunningOnValgrind, [0; 3]) != 0
}

/// Returns how many times so far a branch or an address depended on marked bytes, without the places that valgrind was
/// told to suppress (`exceptions.supp`). Returns 0 outside valgrind.
pub fn errors() -> usize {
    ask(Request::CountErrors, [0; 3])
}

/// Marks values on the heap as secret.
pub fn mark<T: Copy>(values: &[T]) {
    let bytes = size_of_val(values);
    ask(
        Request::MakeMemUndefined,
        [values.as_ptr() as usize, bytes, 0],
    );
}

/// Returns the value, marked as secret.
pub fn secret<T: Copy>(mut value: T) -> T {
    // The request gets a pointer that may write. Else the compiler would go on with the value that it knows.
    let place = &raw mut value as usize;
    ask(Request::MakeMemUndefined, [place, size_of::<T>(), 0]);
    value
}

/// Returns whether a bit of the values depends on marked bytes, or `None` if valgrind gives no answer, as outside it.
pub fn depends<T: Copy>(values: &[T]) -> Option<bool> {
    let mut bits = vec![0u8; size_of_val(values)];
    let place = bits.as_mut_ptr() as usize;
    let answer = ask(
        Request::GetVbits,
        [values.as_ptr() as usize, place, bits.len()],
    );
    (answer == 1).then(|| bits.iter().any(|&bits| bits != 0))
}

/// Sends a request to valgrind and returns its answer, or 0 outside valgrind.
fn ask(request: Request, [first, second, third]: [usize; 3]) -> usize {
    let words = [request as usize, first, second, third, 0, 0];
    #[allow(unused_mut)]
    let mut answer = 0;
    // SAFETY: the four rotations turn rdi by 128 bits in all and the exchange is of a register with itself, so that
    // they change nothing but flags. Valgrind, which knows the sequence, reads the six words and writes rdx, and of the
    // memory that the words name nothing but what `depends` gives it room for.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") words.as_ptr(),
            inout("rdx") answer,
            options(nostack),
        );
    }
    // SAFETY: the four rotations turn x12 by 128 bits in all and the last instruction moves a register to itself, so
    // that they change nothing. Valgrind, which knows the sequence, reads the six words and writes x3, and of the
    // memory that the words name nothing but what `depends` gives it room for.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!(
            "ror x12, x12, #3",
            "ror x12, x12, #13",
            "ror x12, x12, #51",
            "ror x12, x12, #61",
            "orr x10, x10, x10",
            in("x4") words.as_ptr(),
            inout("x3") answer,
            options(nostack),
        );
    }
    answer
}
