// SPDX-License-Identifier: Apache-2.0
//! A global allocator for programs that compute on limbs. It starts long blocks at cache lines, and puts blocks of many
//! megabytes into large pages if the system has them.
//!
//! A SIMD load of 64 bytes that crosses a cache line costs two accesses, and the system starts half
//! of all long blocks 16 bytes after the start of a line. Limbs stay in plain `Vec<u64>`, because a
//! program chooses its allocator once:
//!
//! ```
//! #[global_allocator]
//! static ALLOCATOR: ringmill_math::LineAllocator = ringmill_math::LineAllocator;
//! ```

use std::alloc::{GlobalAlloc, Layout, System};

/// The bytes of a cache line, which are also those of the longest SIMD vectors.
const LINE: usize = 64;
/// The alignment, in bytes, that the system's allocator gives every block.
const SYSTEM: usize = 16;
/// The length in bytes from which on blocks start at a cache line. Shorter blocks stay as the system aligns them, because
/// none holds a limb of a secure ring.
const LONG: usize = 4096;

/// The bytes of a large page of memory, 2 MiB, on the processors in use.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;
/// The length in bytes from which on blocks ask for large pages, such as blocks of keys. Keys are read from their first word
/// to their last. A page of 4 KiB ends after 64 cache lines, and the processor's prefetching ends with it.
#[cfg(target_os = "linux")]
const LARGE: usize = 4 * PAGE;

/// A global allocator that starts blocks of 4 KiB and more at a cache line. Each of these takes 64 bytes more from the
/// system, unless its own alignment is above 64 bytes. The system places such a block, and shorter blocks, itself. For
/// the blocks of 8 MiB and more that it places, it asks Linux for pages of 2 MiB, which the system may grant.
///
/// It does not ask the system for aligned blocks. The system copies such a block when it grows, and
/// fills a zeroed one with zeros even if its memory is zero already. It also cannot reuse the place
/// of a freed aligned block for one of the same size.
#[derive(Clone, Copy, Default, Debug)]
pub struct LineAllocator;

/// Returns the layout of the system's block that contains a long block, or `None` for a block that the system places
/// itself. Between the starts of the two blocks are 16 to 64 bytes; the last eight of them hold this distance.
fn around(layout: Layout) -> Option<Layout> {
    let long = layout.size() >= LONG && layout.align() <= LINE;
    let size = layout.size().checked_add(LINE).filter(|_| long)?;
    Layout::from_size_align(size, SYSTEM).ok()
}

/// Returns the bytes from the start of a system's block to the long block inside it.
fn offset(base: *mut u8) -> usize {
    LINE - base.addr() % LINE
}

/// Asks Linux for large pages if a block has at least 8 MiB, for the part of the block that fills whole large pages.
/// Otherwise does nothing.
///
/// # Safety
///
/// `base` is null or the start of a block of that many bytes.
#[cfg_attr(not(target_os = "linux"), expect(unused_variables))]
unsafe fn in_large_pages(base: *mut u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    if bytes >= LARGE && !base.is_null() {
        let before = base.addr().next_multiple_of(PAGE) - base.addr();
        let whole = (bytes - before) / PAGE * PAGE;
        // SAFETY: the range lies in the block, and the advice leaves its content as it is. Where the system refuses, pages are
        // as they were.
        let _ = unsafe {
            let start = base.add(before).cast();
            rustix::mm::madvise(start, whole, rustix::mm::Advice::LinuxHugepage)
        };
    }
}

/// Returns the long block inside the system's block at `base`, and writes their distance before it.
///
/// # Safety
///
/// `base` is null or the start of a writable block that [`around`] gave the layout of.
unsafe fn inside(base: *mut u8) -> *mut u8 {
    if base.is_null() {
        return base;
    }
    let offset = offset(base);
    // SAFETY: `base` is a multiple of 16, so the offset is at least 16, and 64 at most, which the block is longer by; the
    // count before the long block is in the system's and at a multiple of 8.
    unsafe {
        let block = base.add(offset);
        block.cast::<usize>().sub(1).write(offset);
        block
    }
}

/// Returns the start of the system's block that contains a long block.
///
/// # Safety
///
/// `block` came from [`inside`], and the eight bytes before it are unchanged since.
unsafe fn outside(block: *mut u8) -> *mut u8 {
    // SAFETY: `inside` wrote the count there, and it leads back to the same block's start.
    unsafe { block.sub(block.cast::<usize>().sub(1).read()) }
}

// SAFETY: every block is the system's, or lies in one that is 64 bytes longer; which of the two depends on its layout
// alone, which the caller gives again. A long block is a multiple of 64, no less than its layout's alignment. Nothing here
// panics.
unsafe impl GlobalAlloc for LineAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's layout is not empty, nor is a longer one; the block is of that layout.
        match around(layout) {
            Some(around) => unsafe {
                let base = System.alloc(around);
                in_large_pages(base, around.size());
                inside(base)
            },
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as for `alloc`; the count is written before the block, whose zeros stay.
        match around(layout) {
            Some(around) => unsafe {
                let base = System.alloc_zeroed(around);
                in_large_pages(base, around.size());
                inside(base)
            },
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block was given for this layout, so it is the system's, or `inside` made it, by the same rule.
        match around(layout) {
            Some(around) => unsafe { System.dealloc(outside(block), around) },
            None => unsafe { System.dealloc(block, layout) },
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that `size` fits a layout of this alignment.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (around(layout), around(wanted)) {
            // SAFETY: the system's own, before and after.
            (None, None) => unsafe { System.realloc(block, layout, size) },
            // SAFETY: the system moves its block with all that is in it, or leaves it as it was and gives null. The content
            // then lies as far from the start as before, and goes where a long block starts now: both places hold as
            // much as the shorter of the two sizes. The count is written after it, since it may lie where content lay.
            (Some(before), Some(after)) => unsafe {
                let base = outside(block);
                let old = block.addr() - base.addr();
                let base = System.realloc(base, before, after.size());
                in_large_pages(base, after.size());
                if !base.is_null() && offset(base) != old {
                    let kept = layout.size().min(size);
                    base.add(old).copy_to(base.add(offset(base)), kept);
                }
                inside(base)
            },
            // SAFETY: two blocks that do not overlap, each as long as what is copied; the old one is not used again.
            (Some(_), None) | (None, Some(_)) => unsafe {
                let moved = self.alloc(wanted);
                if !moved.is_null() {
                    block.copy_to_nonoverlapping(moved, layout.size().min(size));
                    self.dealloc(block, layout);
                }
                moved
            },
        }
    }
}
