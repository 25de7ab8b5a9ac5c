// SPDX-License-Identifier: Apache-2.0
// Lattigo's side of `make bench`: the same CKKS operations on the same ring and primes, with keys of its own, measured
// in this process. Every result is decrypted and compared with the plaintext before it may be timed. Results are written
// to objects made beforehand, its fastest documented way. `benches/README.md` has the protocol.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/tuneinsight/lattigo/v6/core/rlwe"
	"github.com/tuneinsight/lattigo/v6/schemes/ckks"
	"golang.org/x/sys/unix"
)

// A decrypted result may differ from the plaintext's by this much.
const tolerance = 1e-6

type request struct {
	Do        string
	LogN      int      `json:"log_n"`
	Moduli    []uint64 // ciphertext primes, then the special one
	Log2Scale float64  `json:"log2_scale"`
	Slots     int      // of a bootstrap; absent for other rows
	Row       string
	Count     int
	Calls     int
}

type group struct {
	Rows  []string        `json:"rows"`
	Equal map[string]bool `json:"equal"`
	Facts map[string]any  `json:"facts,omitempty"`
	runs  map[string]func() error
}

func (g *group) add(name string, run func() error, equal func() (bool, error)) error {
	if err := run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	ok, err := equal()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	g.Rows = append(g.Rows, name)
	g.Equal[name] = ok
	g.runs[name] = run
	return nil
}

// processorSeconds is what all threads of this process have used, the garbage collector's too.
func processorSeconds() float64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &now); err != nil {
		panic(err)
	}
	return float64(now.Nano()) * 1e-9
}

// time gives wall and processor seconds a call.
func (g *group) time(row string, count, calls int) ([][2]float64, error) {
	run, found := g.runs[row]
	if !found {
		return nil, fmt.Errorf("no row %s", row)
	}
	if err := run(); err != nil {
		return nil, err
	}
	times := make([][2]float64, count)
	for i := range times {
		wall, processor := time.Now(), processorSeconds()
		for range calls {
			if err := run(); err != nil {
				return nil, err
			}
		}
		used := processorSeconds() - processor
		times[i] = [2]float64{time.Since(wall).Seconds() / float64(calls), used / float64(calls)}
	}
	return times, nil
}

// open makes keys and operands and the rows on them.
func open(r request) (*group, error) {
	last := len(r.Moduli) - 1
	params, err := ckks.NewParametersFromLiteral(ckks.ParametersLiteral{
		LogN: r.LogN, Q: r.Moduli[:last], P: r.Moduli[last:], LogDefaultScale: int(math.Round(r.Log2Scale)),
	})
	if err != nil {
		return nil, err
	}
	keygen := rlwe.NewKeyGenerator(params)
	secret := keygen.GenSecretKeyNew()
	public := keygen.GenPublicKeyNew(secret)
	keys := rlwe.NewMemEvaluationKeySet(
		keygen.GenRelinearizationKeyNew(secret), keygen.GenGaloisKeyNew(params.GaloisElement(1), secret))
	// 53 bits: its complex128 encoder; more would choose its slower arbitrary precision.
	encoder := ckks.NewEncoder(params, 53)
	byPublic, bySecret := rlwe.NewEncryptor(params, public), rlwe.NewEncryptor(params, secret)
	decryptor := rlwe.NewDecryptor(params, secret)
	evaluator := ckks.NewEvaluator(params, keys)

	slots, level := params.MaxSlots(), params.MaxLevel()
	a, b, sum, product, rotated := make([]float64, slots), make([]float64, slots), make([]float64, slots),
		make([]float64, slots), make([]float64, slots)
	for i := range slots {
		a[i], b[i] = float64(i%17)/17-0.5, float64(i%23)/23
		sum[i], product[i] = a[i]+b[i], a[i]*b[i]
	}
	for i := range slots {
		rotated[i] = a[(i+1)%slots]
	}
	encrypt := func(values []float64) (*rlwe.Ciphertext, error) {
		plain := ckks.NewPlaintext(params, level)
		if err := encoder.Encode(values, plain); err != nil {
			return nil, err
		}
		return byPublic.EncryptNew(plain)
	}
	ca, err := encrypt(a)
	if err != nil {
		return nil, err
	}
	cb, err := encrypt(b)
	if err != nil {
		return nil, err
	}

	g := &group{Equal: map[string]bool{}, runs: map[string]func() error{}}
	decoded := make([]float64, slots)
	plain, opened := ckks.NewPlaintext(params, level), ckks.NewPlaintext(params, level)
	is := func(cipher *rlwe.Ciphertext, expected []float64) func() (bool, error) {
		return func() (bool, error) {
			if err := encoder.Decode(decryptor.DecryptNew(cipher), decoded); err != nil {
				return false, err
			}
			return close(decoded, expected), nil
		}
	}
	one, two := ckks.NewCiphertext(params, 1, level), ckks.NewCiphertext(params, 2, level)
	rescaled := ckks.NewCiphertext(params, 1, level)
	// Rescaling is timed on a product: a fresh ciphertext would have no precision left to compare.
	multiplied, err := evaluator.MulRelinNew(ca, cb)
	if err != nil {
		return nil, err
	}
	rows := []struct {
		name  string
		run   func() error
		equal func() (bool, error)
	}{
		{"add", func() error { return evaluator.Add(ca, cb, one) }, is(one, sum)},
		{"multiply", func() error { return evaluator.Mul(ca, cb, two) }, is(two, product)},
		{"multiply_relinearise", func() error { return evaluator.MulRelin(ca, cb, one) }, is(one, product)},
		{"rescale", func() error { return evaluator.Rescale(multiplied, rescaled) }, is(rescaled, product)},
		{"multiply_relinearise_rescale", func() error {
			if err := evaluator.MulRelin(ca, cb, one); err != nil {
				return err
			}
			return evaluator.Rescale(one, rescaled)
		}, is(rescaled, product)},
		{"rotate", func() error { return evaluator.Rotate(ca, 1, one) }, is(one, rotated)},
		{"encode", func() error { return encoder.Encode(a, plain) }, func() (bool, error) {
			err := encoder.Decode(plain, decoded)
			return close(decoded, a), err
		}},
		{"encrypt", func() error { return byPublic.Encrypt(plain, one) }, is(one, a)},
		{"encrypt_symmetric", func() error { return bySecret.Encrypt(plain, one) }, is(one, a)},
		{"decrypt", func() error { decryptor.Decrypt(ca, opened); return nil }, func() (bool, error) {
			err := encoder.Decode(opened, decoded)
			return close(decoded, a), err
		}},
		{"decode", func() error { return encoder.Decode(opened, decoded) }, func() (bool, error) {
			return close(decoded, a), nil
		}},
	}
	for _, row := range rows {
		if err := g.add(row.name, row.run, row.equal); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func close(found, expected []float64) bool {
	for i := range expected {
		if !(math.Abs(found[i]-expected[i]) < tolerance) {
			return false
		}
	}
	return true
}

func serve() error {
	lines := bufio.NewScanner(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	var current *group
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return err
		}
		var answer any
		var err error
		switch r.Do {
		case "open":
			if r.Slots > 0 {
				current, err = openBootstrap(r)
			} else {
				current, err = open(r)
			}
			answer = current
		case "time":
			answer, err = current.time(r.Row, r.Count, r.Calls)
		default:
			err = fmt.Errorf("unknown request %q", r.Do)
		}
		if err == nil {
			err = answers.Encode(answer)
		}
		if err != nil {
			return err
		}
	}
	return lines.Err()
}

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "lattigo side:", err)
		os.Exit(1)
	}
}
