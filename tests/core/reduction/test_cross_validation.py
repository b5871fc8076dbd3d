"""Cross-validation along the path, against refitting everything, and what it keeps."""

import numpy as np

from basepar_core.reduction.cross_validation import fewest, held_out_errors


def refitted(W, tau, folds):
    """The same by a whole least-squares fit of each candidate of each step of each fold."""
    total = np.zeros(W.shape[1] + 1)
    for fold in set(folds):
        seen, out = folds != fold, folds == fold
        left = list(range(W.shape[1]))
        while True:
            phi = np.linalg.lstsq(W[seen][:, left], tau[seen], rcond=None)[0]
            total[W.shape[1] - len(left)] += np.sum((tau[out] - W[out][:, left] @ phi) ** 2)
            if not left:
                break
            without = [[k for k in left if k != gone] for gone in left]
            left = min(without, key=lambda kept: misfit(W[seen][:, kept], tau[seen]))
    return np.sqrt(total / np.sum(tau**2))


def misfit(W, tau):
    return np.sum((tau - W @ np.linalg.lstsq(W, tau, rcond=None)[0]) ** 2)


def made(seed, phi, noise, rows=90):
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((rows, len(phi))) @ rng.standard_normal((len(phi), len(phi)))
    return W, W @ phi + noise * rng.standard_normal(rows)


def test_errors_are_those_of_refitted_models():
    W, tau = made(1, np.array([3.0, 0, -2.0, 0.1, 0, 1.0]), 0.4)
    folds = np.arange(90) // 18
    # Two orthogonal factorisations of six columns: rounding, a thousand times over.
    np.testing.assert_allclose(held_out_errors(W, tau, folds), refitted(W, tau, folds), rtol=1e-12)


def test_the_fewest_within_the_tolerance():
    # The last is of no parameter at all; of 0.1 1.021 is too much, 1.019 is not.
    assert fewest(np.array([0.11, 0.1, 0.1019, 0.1021, 0.4, 1.0])) == 3
    assert fewest(np.array([0.11, 0.1, 0.1021, 0.1019, 0.4, 1.0])) == 2
    assert fewest(np.array([0.1, 0.2, 1.0])) == 2
    # All parameters overfit: they are no measure.
    assert fewest(np.array([0.5, 0.1, 0.2, 0.4, 1.0])) == 3


def test_parameters_that_are_nothing_are_found_out():
    """Twelve columns of 600 rows, five of which are in the torque."""
    phi = np.zeros(12)
    phi[[1, 4, 5, 8, 11]] = (2.0, -1.0, 3.0, 1.5, -2.0)
    sizes = []
    for seed in range(10):
        W, tau = made(seed, phi, 3.0, rows=600)
        sizes.append(fewest(held_out_errors(W, tau, np.arange(600) // 60)))
    assert min(sizes) >= 3
    assert np.median(sizes) == 5
