// The ChaCha20 block function (RFC 8439, section 2.3): stages and latency of rm_chacha20.
package rm_chacha_pkg;

  // Rounds of the block function; a quarter round is four steps, each a sum, an exclusive or and a
  // rotation.
  localparam int unsigned AllRounds = 20;
  localparam int unsigned StepsOfRound = 4;

  // Stages of a block function with so many steps a stage.
  function automatic int unsigned stages(int unsigned steps);
    return AllRounds * StepsOfRound / steps;
  endfunction

  // Cycles from a block's position to its words.
  function automatic int unsigned latency(int unsigned steps);
    return stages(steps) + 1;
  endfunction

endpackage
