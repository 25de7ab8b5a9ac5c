// SPDX-License-Identifier: Apache-2.0
// Types of the butterfly and its parents in number-theoretic transforms.
package rm_ntt_pkg;

  // What a butterfly computes; the formulas are in rm_butterfly.
  typedef enum logic [1:0] {
    BfCt = 2'd0,
    BfGs = 2'd1,
    BfMul = 2'd2,
    BfSum = 2'd3
  } bf_mode_e;

endpackage
