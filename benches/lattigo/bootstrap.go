// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"math"

	"github.com/tuneinsight/lattigo/v6/circuits/ckks/bootstrapping"
	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
)

// openBootstrap makes the row of a bootstrap ready: Lattigo's own parameters with a dense ternary secret and an
// encapsulated one of weight 32, which are secure by the bounds that ours obey. All slots have real numbers up to 1.
func openBootstrap(r request) (*group, error) {
	preset := bootstrapping.N16QP1767H32768H32
	params, err := ckks.NewParametersFromLiteral(preset.SchemeParams)
	if err != nil {
		return nil, err
	}
	if params.MaxSlots() != r.Slots {
		return nil, fmt.Errorf("a set of %d slots, not %d", params.MaxSlots(), r.Slots)
	}
	all, err := bootstrapping.NewParametersFromLiteral(params, preset.BootstrappingParams)
	if err != nil {
		return nil, err
	}
	keygen := rlwe.NewKeyGenerator(params)
	secret := keygen.GenSecretKeyNew()
	keys, _, err := all.GenEvaluationKeys(secret)
	if err != nil {
		return nil, err
	}
	evaluator, err := bootstrapping.NewEvaluator(all, keys)
	if err != nil {
		return nil, err
	}
	values := make([]float64, r.Slots)
	for i := range values {
		values[i] = float64(i%201)/100 - 1
	}
	encoder, decryptor := ckks.NewEncoder(params, 53), rlwe.NewDecryptor(params, secret)
	plain := ckks.NewPlaintext(params, 0)
	if err := encoder.Encode(values, plain); err != nil {
		return nil, err
	}
	low, err := rlwe.NewEncryptor(params, secret).EncryptNew(plain)
	if err != nil {
		return nil, err
	}
	g := &group{Equal: map[string]bool{}, Facts: map[string]any{}, runs: map[string]func() error{}}
	var result *rlwe.Ciphertext
	run := func() error {
		// A bootstrap consumes its operand.
		var err error
		result, err = evaluator.Bootstrap(low.CopyNew())
		return err
	}
	right := func() (bool, error) {
		found := make([]float64, r.Slots)
		if err := encoder.Decode(decryptor.DecryptNew(result), found); err != nil {
			return false, err
		}
		worst := 0.0
		for i := range found {
			worst = max(worst, math.Abs(found[i]-values[i]))
		}
		g.Facts["least_bits"] = math.Floor(-math.Log2(worst)*10) / 10
		g.Facts["levels"] = result.Level()
		return worst < bootstrapTolerance, nil
	}
	return g, g.add("real", run, right)
}

// A bootstrapped number may differ from the plaintext's by this much; better precision is a fact of the row.
const bootstrapTolerance = 1e-3
