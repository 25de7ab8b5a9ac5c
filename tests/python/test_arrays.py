# SPDX-License-Identifier: Apache-2.0
"""Programs of arrays in numpy's language: results, shapes and kinds are numpy's."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import ringmill as rm

RNG = np.random.default_rng(7)
X = RNG.uniform(-1, 1, (5, 6))
V = RNG.uniform(-1, 1, 13)
CUBE = RNG.uniform(-1, 1, (2, 3, 4))
WEIGHTS = RNG.uniform(-1, 1, (6, 3))
SMALL = {"log_n": 10, "bits": [60, *[50] * 6, 60], "allow_insecure_parameters_for_tests_only": True}


def in_the_clear(function, array):
    """Computes a function of an encrypted array as a program in the clear."""
    kind = rm.real[np.shape(array)]
    source = lambda a, b: function(a)  # noqa: E731
    # The second argument has two dimensions, so that the first is no vector of slots.
    source.__annotations__ = {"a": rm.Encrypted[kind], "b": rm.Plain[rm.real[1, 1]]}
    return rm.program(source)(array, np.ones((1, 1)))


def run(program, inputs, plain=None, **options):
    """Compiles and runs a program, and returns what it decrypts to."""
    compiled = program.compile(**options)
    client = compiled.keygen()
    return client.decrypt(compiled.run(client.encrypt(**inputs), plain=plain or {}, progress=False))


FUNCTIONS = {
    "operators": lambda x: 2 - x * x / 4 + 3 * x - -x,
    "power": lambda x: x**3,
    "constants": lambda x: (x + np.arange(6)) * np.arange(5)[:, None] - X,
    "broadcast": lambda x: x - x[0] + x[:, :1],
    "sum": lambda x: np.sum(x, axis=0),
    "sum keepdims": lambda x: x - x.sum(axis=1, keepdims=True),
    "sum of all": lambda x: x.sum(),
    "sum of both axes": lambda x: np.sum(x, axis=(0, 1), keepdims=True),
    "mean": lambda x: np.mean(x, axis=0),
    "var": lambda x: np.var(x, axis=1, ddof=1),
    "prod": lambda x: np.prod(x, axis=1),
    "average": lambda x: np.average(x, axis=0, weights=np.arange(1, 6)),
    "cumsum": lambda x: np.cumsum(x, axis=1),
    "slices": lambda x: x[::-2, 1:5:3],
    "fancy": lambda x: x[[3, 3, 0]][:, [True, False] * 3],
    "newaxis": lambda x: x[:, None, ..., None],
    "reshape": lambda x: x.reshape(3, -1).T.ravel(),
    "transpose": lambda x: np.swapaxes(x[None], 0, 2),
    "concatenate": lambda x: np.concatenate((x, x[:2] ** 2, np.ones((1, 6)))),
    "stack": lambda x: np.stack([x[0], x[1] * 2, x[:, 0].sum() + x[2]], axis=1),
    "block": lambda x: np.block([[x, x], [x, np.zeros((5, 6))]]),
    "pad": lambda x: np.pad(x, ((1, 0), (2, 1)), constant_values=3) + np.pad(x, ((1, 0), (2, 1)), mode="edge"),
    "roll": lambda x: np.roll(x, (1, -2), (0, 1)) + np.flip(x) + np.rot90(x.T),
    "tile": lambda x: np.tile(x, (2, 2)) * np.repeat(np.repeat(x, 2, axis=0), 2, axis=1),
    "where": lambda x: np.where(X > 0, x, -x * x) + np.where(X > 0, 0.5, x),
    "diagonal": lambda x: np.diagonal(x, 1) * np.trace(x),
    "triangles": lambda x: np.tril(x) + np.triu(x, 1),
    "split": lambda x: np.split(x, 3, axis=1)[1] + np.array_split(x, 2, axis=1)[0][:, 1:],
    "rows": lambda x: sum(row * n for n, row in enumerate(x)),
    "matmul": lambda x: x @ WEIGHTS,
    "rmatmul": lambda x: WEIGHTS.T @ x.T,
    "matrix and vector": lambda x: (x @ WEIGHTS[:, 0], X[0] @ x.T),
    "encrypted matmul": lambda x: x @ x.T,
    "squares of squares": lambda x: (x[:, :5] @ x[:, :5]) @ (x[:, :5] @ x[:, :5]),
    "outer": lambda x: np.outer(x[0], x[1]) + np.outer(x[0], WEIGHTS[:, 0]),
    "inner": lambda x: np.inner(x, x) * np.vdot(x, X),
    "dot": lambda x: np.dot(x[0], x[1]) + np.dot(x, WEIGHTS)[0, 0],
    "tensordot": lambda x: np.tensordot(x, x, axes=((0,), (0,))),
    "einsum": lambda x: np.einsum("ij,kj,jl->ikl", x, x, WEIGHTS),
    "einsum of one": lambda x: np.einsum("ii->i", x[:, :5]) + np.einsum("ij->i", x),
    "kron": lambda x: np.kron(x[:2, :2], np.eye(2)),
    "diff": lambda x: np.diff(x, axis=0),
    "convolve": lambda x: np.convolve(x[0], [1, 2, 3], "same") + np.correlate(x[1], [3, 1.0, 2], "same"),
    "convolve encrypted": lambda x: np.convolve(x[0], x[1, :3]),
    "convolve short": lambda x: np.convolve([1.0, 2], x[0], "valid") + np.correlate([2.0], x[0, :5], "full"),
    "ufuncs": lambda x: np.add.reduce(np.square(x)) + np.multiply.outer(x[0], x[0])[0] + np.matmul(x.T, x)[0],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numpys_functions_give_numpys_results(name):
    found, expected = in_the_clear(FUNCTIONS[name], X), FUNCTIONS[name](X)
    if not isinstance(expected, tuple):
        found, expected = (found,), (expected,)
    for one, other in zip(found, expected, strict=True):
        assert np.shape(one) == np.shape(other)
        assert np.asarray(one).dtype == np.asarray(other).dtype
        assert np.allclose(one, other, atol=1e-9)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (7,), (3, 1, 5), (64,), (65,), (13, 11), (2, 2, 2, 2, 2)])
def test_any_shape_goes_in_and_comes_out(shape):
    x = RNG.uniform(-1, 1, shape)
    for function in (lambda x: x * x + 1, lambda x: x.sum(), lambda x: x.T * x.mean(), lambda x: x.ravel()[::-1]):
        found = in_the_clear(function, x)
        assert np.shape(found) == np.shape(function(x))
        assert np.allclose(found, function(x), atol=1e-12)


def test_the_variance_of_1000_values_counts_no_padding():
    @rm.program
    def variance(x: rm.Encrypted[rm.real[1000]]):
        return np.mean((x - np.mean(x)) ** 2), np.var(x), x - x.mean()

    x = RNG.uniform(0, 1, 1000) + 3
    by_hand, own, centred = run(variance, {"x": x}, ranges={"x": (0, 4)})
    assert by_hand.shape == own.shape == ()
    assert abs(by_hand - x.var()) < 1e-4 > abs(own - x.var())
    assert centred.shape == (1000,)
    assert np.allclose(centred, x - x.mean(), atol=1e-4)


def test_the_sum_of_declared_values_is_numpys():
    @rm.program
    def mean(x: rm.Encrypted[rm.real[1000]]):
        return np.sum(x) / 1000

    x = RNG.uniform(0, 1, 1000)
    assert abs(run(mean, {"x": x}, input_bound=1) - x.mean()) < 1e-4


def test_a_convolution_mixes_no_edges():
    image, kernel = RNG.uniform(-1, 1, (9, 8)), RNG.uniform(-1, 1, (3, 3))
    expected = np.array([[(image[i : i + 3, j : j + 3] * kernel).sum() for j in range(6)] for i in range(7)])

    @rm.program
    def filtered(x: rm.Encrypted[rm.real[9, 8]], k: rm.Plain[rm.real[3, 3]]):
        return rm.conv2d(x, k), rm.conv2d(x, kernel, padding=1), rm.conv2d(x, kernel, stride=(2, 3))

    valid, padded, strided = run(filtered, {"x": image}, {"k": kernel}, params=rm.params(**SMALL), input_bound=1)
    assert np.allclose(valid, expected, atol=1e-4)
    assert padded.shape == (9, 8)
    assert np.allclose(padded[1:-1, 1:-1], expected, atol=1e-4)
    assert np.allclose(strided, expected[::2, ::3], atol=1e-4)


def test_convolutions_of_channels_are_those_of_networks():
    x, w = RNG.uniform(-1, 1, (2, 4, 6, 5)), RNG.uniform(-1, 1, (6, 2, 3, 2))
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 2), axis=(2, 3))[:, :, ::2]
    parts = [np.einsum("ncxyhw,fchw->nfxy", windows[:, 2 * g : 2 * g + 2], w[3 * g : 3 * g + 3]) for g in range(2)]
    expected = np.concatenate(parts, axis=1)
    found = in_the_clear(lambda x: rm.conv2d(x, w, stride=(2, 1), padding=(1, 0), groups=2), x)
    assert found.shape == expected.shape
    assert np.allclose(found, expected)
    signal, taps = RNG.uniform(-1, 1, (2, 9)), RNG.uniform(-1, 1, (3, 2, 4))
    windows = np.lib.stride_tricks.sliding_window_view(signal, 4, axis=1)
    assert np.allclose(in_the_clear(lambda x: rm.conv1d(x, taps), signal), np.einsum("cxk,fck->fx", windows, taps))
    image = RNG.uniform(-1, 1, (4, 6))
    pooled = image.reshape(2, 2, 3, 2).mean(axis=(1, 3))
    assert np.allclose(in_the_clear(lambda x: rm.avg_pool2d(x, 2), image), pooled)


def test_a_linear_model_runs_encrypted():
    @rm.program
    def model(x: rm.Encrypted[rm.real[100, 30]], w: rm.Plain[rm.real[30, 3]], b: rm.Plain[rm.real[3]]):
        return x @ w + b

    x, w, b = RNG.uniform(-1, 1, (100, 30)), RNG.uniform(-1, 1, (30, 3)), RNG.uniform(-1, 1, 3)
    compiled = model.compile(input_bound=1)
    client = compiled.keygen()
    run = compiled.run(client.encrypt(x=x), plain={"w": w, "b": b})
    found = client.decrypt(run)
    assert found.shape == (100, 3)
    assert found.dtype == np.float64
    assert np.allclose(found, x @ w + b, atol=1e-4)
    precision = client.measure(run, x=x, w=w, b=b)["out"]
    assert precision.measured_bits >= precision.predicted_bits == compiled.predicted_bits["out"]
    assert np.allclose(model(x, w, b), x @ w + b)


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_whole_numbers_stay_exact(scheme):
    @rm.program
    def counted(x: rm.Encrypted[rm.uint(4)[3, 5]], w: rm.Plain[rm.uint(2)[5, 2]]):
        return {
            "product": x @ w,
            "gram": x @ x.T,
            "mean": np.mean(x, axis=0),
            "variance": x.var(),
            "same": rm.equal(x[0], np.array([3, 1, 4, 1, 5])),
            "half": (x[:, ::2] + 1) / 2,
        }

    x, w = RNG.integers(0, 16, (3, 5)), RNG.integers(0, 4, (5, 2)).astype(np.uint8)
    found = run(counted, {"x": x}, {"w": w}, scheme=scheme)
    assert np.array_equal(found["product"], x @ w)
    assert found["product"].dtype == np.int64
    assert np.array_equal(found["gram"], x @ x.T)
    assert found["mean"].tolist() == [Fraction(int(n), 3) for n in x.sum(axis=0)]
    assert found["variance"] == Fraction(int(15 * (x**2).sum() - x.sum() ** 2), 225)
    assert found["same"].tolist() == [int(n) for n in x[0] == [3, 1, 4, 1, 5]]
    assert np.array_equal(found["half"].astype(float), (x[:, ::2] + 1) / 2)


def test_rows_that_cross_ciphertexts_are_added_up():
    @rm.program
    def means(x: rm.Encrypted[rm.real[200, 400]]):
        return x.mean(axis=1)

    x = RNG.uniform(-1, 1, (200, 400))
    assert np.allclose(means(x=x), x.mean(axis=1))
    compiled = means.compile(input_bound=1)
    assert "13 ciphertexts" in compiled.layouts["x"]


def test_predictions_go_by_result():
    @rm.program
    def halves(x: rm.Encrypted[rm.real[100, 100]]):
        return {"left": x[:, :50] * 2, "right": x[:, 50:] + 1}

    compiled = halves.compile(slots=2048, input_bound=1)
    for predicted in (compiled.predicted_bits, compiled.predicted_digits):
        assert list(predicted) == ["left", "right"]
    assert min(compiled.predicted_digits.values()) >= 6


def test_arrays_larger_than_the_slots_take_several_ciphertexts():
    @rm.program
    def large(x: rm.Encrypted[rm.real[40, 30]], y: rm.Encrypted[rm.real[30]]):
        return x * y - x.mean(axis=0), x.sum(), (x @ y)[::3]

    x, y = RNG.uniform(-1, 1, (40, 30)), RNG.uniform(-1, 1, 30)
    compiled = large.compile(rm.params(**SMALL), input_bound=1)
    client = compiled.keygen()
    inputs = client.encrypt(x=x, y=y)
    assert len(inputs.ciphertexts) >= 4
    run = compiled.run(inputs, progress=False)
    first, total, product = client.decrypt(run)
    assert np.allclose(first, x * y - x.mean(axis=0), atol=1e-4)
    assert np.allclose(total, x.sum(), atol=1e-3)
    assert np.allclose(product, (x @ y)[::3], atol=1e-3)
    assert set(client.measure(run, x=x, y=y)) == set(compiled.predicted_bits) == {"out0", "out1", "out2"}


def test_complex_constants_give_complex_results():
    @rm.program
    def turned(x: rm.Encrypted[rm.real[2, 3]]):
        return x * 1j + np.array([1, 2j, 3]), (x @ np.array([1j, 1, 0])).conj()

    x = RNG.uniform(-1, 1, (2, 3))
    first, second = run(turned, {"x": x}, params=rm.params(**SMALL), input_bound=1)
    assert np.allclose(first, x * 1j + np.array([1, 2j, 3]), atol=1e-4)
    assert np.allclose(second, (x @ np.array([1j, 1, 0])).conj(), atol=1e-4)


def test_functions_of_slots_work_on_arrays():
    @rm.procedure
    def halved(x, by):
        return x / by

    @rm.program
    def inner(x: rm.Encrypted[rm.real[2, 3]]):
        return x + 1

    @rm.program
    def outer(x: rm.Encrypted[rm.real[2, 3]]):
        return (
            rm.polynomial(x, [1, 0, 2]),
            rm.bounded(x, -1, 1) ** 2,
            rm.repeat(2, lambda y, z: (y * y, z + y), x, x),
            inner(halved(x, 2)),
            rm.mean(x),
        )

    x = RNG.uniform(-1, 1, (2, 3))
    first, second, repeated, called, mean = outer(x)
    pairs = [(first, 1 + 2 * x * x), (second, x * x), (called, x / 2 + 1), (mean, x.mean())]
    for found, expected in [*pairs, *zip(repeated, (x**4, x + x + x * x), strict=True)]:
        assert np.allclose(found, expected)


REFUSED = {
    "comparison": (lambda x: x > 0, "cannot be compared"),
    "encrypted index": (lambda x: x[x], "an index must be known"),
    "std": (lambda x: np.std(x), "x.var\\(\\)"),
    "method std": (lambda x: x.std(), "x.var\\(\\)"),
    "norm": (lambda x: np.linalg.norm(x), "sqrt of what is decrypted"),
    "division": (lambda x: 1 / x, "division by an encrypted array"),
    "division of both": (lambda x: x / x, "division is by numbers only"),
    "shapes": (lambda x: x + np.ones(4), r"shapes \(5, 6\) and \(4,\) do not meet"),
    "matmul": (lambda x: x @ np.ones(5), r"shapes \(5, 6\) and \(5,\) do not multiply"),
    "matmul of number": (lambda x: x @ 3, "`@` needs arrays"),
    "reshape": (lambda x: x.reshape(7, -1), "numpy.reshape refuses"),
    "axis": (lambda x: x.sum(axis=2), "axis=2 does not fit"),
    "index": (lambda x: x[9], "out of bounds"),
    "set": (lambda x: x.__setitem__(0, 1), "cannot be set"),
    "maximum": (lambda x: np.maximum(x, 0), "do not|does not work"),
    "sort": (lambda x: np.sort(x), "cannot be compared while"),
    "attribute": (lambda x: x.astype(int), "has no attribute `astype`"),
    "truth": (lambda x: x if x else -x, "no truth value"),
    "nan": (lambda x: x * np.nan, "must be finite"),
    "text": (lambda x: x + "a", "a constant"),
    "power": (lambda x: x**-1, "exponent"),
    "exp": (lambda x: np.exp(x), "rm.polynomial"),
    "shift": (lambda x: x << 1, "np.roll"),
    "rotate": (lambda x: rm.rotate(x, 1), "np.roll"),
    "matrix": (lambda x: rm.Matrix(x, (5, 6)), "arrays, which have @"),
    "window": (lambda x: rm.sum(x, 3), "np.convolve"),
    "tile": (lambda x: x + rm.tile(1), "np.tile"),
    "mask": (lambda x: np.where(x, 1, 2), "mask"),
    "out": (lambda x: np.add(x, 1, out=np.zeros((5, 6))), "no array can take in"),
    "numpy array": (lambda x: np.array([x]), "cannot become a numpy array"),
    "empty": (lambda x: x[:0], "holds no value"),
    "dtype": (lambda x: x.sum(dtype=float), "does not take these arguments here"),
    "weights": (lambda x: np.average(x, axis=0, weights=[1, 2]), "do not meet|does not take"),
    "reduction": (lambda x: np.add.reduce(x, initial=3), "does not take"),
    "mean of nothing": (lambda x: x[:0].mean(), "division by zero"),
    "a number beside results": (lambda x: [x, [1]], "output out1_0 of f must be an encrypted array"),
    "nothing in a list": (lambda x: [x, []], "returns an empty list"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_at_its_line(name):
    function, said = REFUSED[name]

    @rm.program
    def f(x: rm.Encrypted[rm.real[5, 6]]):
        return function(x)

    with pytest.raises(rm.CompileError, match=said) as caught:
        f.compile(input_bound=1)
    line = (
        f._line[1]
        if name in ("empty", "a number beside results", "nothing in a list")
        else function.__code__.co_firstlineno
    )
    assert f"test_arrays.py:{line}: " in str(caught.value)


def test_values_of_other_shapes_and_kinds_are_refused():
    @rm.program
    def f(x: rm.Encrypted[rm.real[2, 3]], w: rm.Plain[rm.uint(8)[2, 3]] = None):
        return x

    @rm.program
    def g(x: rm.Encrypted[rm.uint(8)[2, 3]], w: rm.Plain[rm.uint(8)[3, 1]]):
        return x @ w

    with pytest.raises(rm.CompileError, match="no scheme takes real and uint"):
        f.compile(input_bound=1)
    compiled = g.compile()
    client = compiled.keygen()
    for bad, said in (
        (np.ones((3, 2), dtype=int), r"an array of shape \(2, 3\), and has shape \(3, 2\); np.reshape"),
        (np.ones(6, dtype=int), "np.reshape"),
        (np.ones((2, 3)), "takes whole numbers"),
        (np.full((2, 3), 256), "from 0 to 255"),
        (1, r"has shape \(\)"),
    ):
        with pytest.raises(rm.DataError, match=said):
            client.encrypt(x=bad)
    inputs = client.encrypt(x=np.ones((2, 3), dtype=int))
    with pytest.raises(rm.DataError, match="no value was given for plain input `w`"):
        compiled.run(inputs)
    with pytest.raises(rm.DataError, match=r"input w .* has shape"):
        compiled.run(inputs, plain={"w": [1, 2, 3]})
    with pytest.raises(rm.DataError, match="the program has no input `v`"):
        compiled.run(inputs, plain={"v": [1, 2, 3]})
    with pytest.raises(rm.DataError, match="input `w` is plain"):
        client.encrypt(x=np.ones((2, 3), dtype=int), w=np.ones((3, 1), dtype=int))
    with pytest.raises(rm.DataError, match="no value was given for encrypted input `x`"):
        client.encrypt()


def test_saved_programs_keep_their_shapes(tmp_path):
    @rm.program
    def kept(x: rm.Encrypted[rm.uint(4)[3, 5]], w: rm.Plain[rm.uint(2)[5, 2]]):
        return {"product": x @ w, "mean": x.mean(axis=1), "padded": np.pad(x[0], 1, constant_values=3)}

    x, w = RNG.integers(0, 16, (3, 5)), RNG.integers(0, 4, (5, 2))
    compiled = kept.compile()
    compiled.save(tmp_path / "kept.rmac")
    for loaded in (rm.load(tmp_path / "kept.rmac"), rm.load(tmp_path / "kept.rmac", ranges={"x": (0, 15)})):
        client = loaded.keygen()
        found = client.decrypt(loaded.run(client.encrypt(x=x), plain={"w": w}))
        assert np.array_equal(found["product"], x @ w)
        assert found["mean"].tolist() == [Fraction(int(n), 5) for n in x.sum(axis=1)]
        assert found["padded"].tolist() == [3, *x[0], 3]
        assert loaded.ranges == {"x": (0, 15), "w": (0, 3)}
        assert set(loaded.predicted_budget) == {"product", "mean", "padded"}
    text = (tmp_path / "kept.rmac").read_text()
    mark = text.index(";ringmill arrays")
    for altered in (
        text[:mark] + ";ringmill arrays {}\n",
        text[:mark] + text[mark:].replace('"slots": ', '"slots": 1'),
        text[:mark] + text[mark:].replace('"places": "', '"places": "AAAA'),
        text[:mark] + text[mark:].replace('"shape": [3, 2]', '"shape": [3, 3]'),
        text[:mark] + text[mark:].replace('"uint"', '"text"'),
        text[:mark] + text[mark:].replace('"name": "x"', '"name": ["x"]').replace('"x": "', '"q": "'),
    ):
        (tmp_path / "altered.rmac").write_text(altered)
        with pytest.raises(rm.FileError, match=r"altered|another program"):
            rm.load(tmp_path / "altered.rmac")


def test_a_sample_and_ranges_are_arrays():
    @rm.program
    def f(x: rm.Encrypted[rm.real[3, 5]]):
        return x @ x.T

    x = RNG.uniform(1, 2, (3, 5))
    by_sample = f.compile(sample={"x": x})
    assert by_sample.ranges == {"x": (0.0, 4.0)}
    assert f.compile(ranges={"x": (1, 2)}).ranges["x"][1] == 2.0
    for wrong in ({"ranges": {"y": 1}}, {"sample": {"x": x.T}}, {"sample": {}}, {"ranges": {"x": "a"}}):
        with pytest.raises(rm.DataError):
            f.compile(**wrong)


def test_a_batch_of_inputs_shares_ciphertexts():
    @rm.program
    def network(x: rm.Encrypted[rm.real[7]], w: rm.Plain[rm.real[7, 3]], y: rm.Encrypted[rm.real]):
        hidden = (x @ w + np.arange(3)) ** 2 * y
        return hidden, x.sum(), np.concatenate((x[::-1], hidden * [1, 0, 2])), np.outer(x, x)[0] - x.mean()

    x, w, y = RNG.uniform(-1, 1, (9, 7)), RNG.uniform(-1, 1, (7, 3)), RNG.uniform(-1, 1, 9)
    compiled = network.compile(rm.params(**SMALL), batch=9, input_bound=1)
    client = compiled.keygen()
    inputs = client.encrypt(x=x, y=y)
    assert len(inputs.ciphertexts) == 2
    found = client.decrypt(compiled.run(inputs, plain={"w": w}))
    hidden = (x @ w + np.arange(3)) ** 2 * y[:, None]
    wanted = (
        hidden,
        x.sum(axis=1),
        np.concatenate((x[:, ::-1], hidden * [1, 0, 2]), axis=1),
        x[:, :1] * x - x.mean(axis=1, keepdims=True),
    )
    for result, expected in zip(found, wanted, strict=True):
        assert result.shape == expected.shape
        assert np.allclose(result, expected, atol=1e-3)

    @rm.program
    def slots(x: rm.Encrypted):
        return x

    with pytest.raises(rm.CompileError, match="batch=3 is about arrays"):
        slots.compile(slots=16, batch=3)
    with pytest.raises(rm.CompileError, match="batch must be a whole number"):
        network.compile(batch=0)


def test_other_programs_take_no_arrays_of_several_dimensions():
    @rm.circuit
    def added(x: rm.Encrypted[rm.uint(8)[2, 3]]):
        return x[0]

    @rm.program
    def inner(x: rm.Encrypted[rm.real[2, 2]]):
        return x

    @rm.program
    def of_slots(x: rm.Encrypted):
        return inner(x)

    with pytest.raises(rm.CompileError, match=r"circuits take arrays of one dimension; declare rm.uint\(8\)\[6\]"):
        added.compile()
    with pytest.raises(rm.CompileError, match="this program is of vectors of slots"):
        of_slots.compile(slots=16, input_bound=1)
