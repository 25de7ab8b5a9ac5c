// SPDX-License-Identifier: Apache-2.0
// The ChaCha20 block function (RFC 8439, section 2.3): stages and latency of rm_chacha20.
package rm_chacha_pkg;

  // Rounds of the block function; a quarter round is four steps, each a sum, an exclusive or and a
  // rotation.
  localparam int unsigned AllRounds = 20;
  localparam int unsigned StepsOfRound = 4;

  // Returns words 0 to 3 of a state: "expand 32-byte k". This is a function and not a parameter,
  // because a module that synthesis maps by itself takes only parameters that fit a number of 64
  // bits.
  function automatic logic [3:0][31:0] constants();
    return {32'h6b20_6574, 32'h7962_2d32, 32'h3320_646e, 32'h6170_7865};
  endfunction

  // Returns the stages of the block function with `steps` steps in each stage.
  function automatic int unsigned stages(int unsigned steps);
    return AllRounds * StepsOfRound / steps;
  endfunction

  // Returns the cycles from a block's position to its words.
  function automatic int unsigned latency(int unsigned steps);
    return stages(steps) + 1;
  endfunction

endpackage
