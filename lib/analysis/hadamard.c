/* SPDX-License-Identifier: MIT */
/*
 * Hadamard matrices: Sylvester (1867); Paley, J. Math. Phys. 12, 311 (1933). Of the orders
 * up to 100 these miss 52, 92 and 100 for want of fields of prime powers.
 */
#include "analysis/plan.h"

static bool is_prime(size_t q)
{
	for (size_t d = 2; d * d <= q; d++)
		if (q % d == 0)
			return false;
	return q > 1;
}

/* 1 a square, -1 none, 0 zero, modulo the prime q. */
static int character(size_t a, size_t q)
{
	a %= q;
	if (a == 0)
		return 0;
	for (size_t x = 1; x <= q / 2; x++)
		if (x * x % q == a)
			return 1;
	return -1;
}

/* Entry of Q: chi(i - j). */
static int jacobsthal(size_t i, size_t j, size_t q)
{
	return character(i + q - j, q);
}

/* q = 3 mod 4: order q + 1; H = I + S, S with the border 1, -1'. */
static int paley_one(size_t n, size_t i, size_t j)
{
	size_t q = n - 1;

	if (i == 0 || j == 0)
		return i == 0 ? 1 : -1;
	return i == j ? 1 : jacobsthal(i - 1, j - 1, q);
}

/* q = 1 mod 4: order 2(q + 1); zeros of the symmetric core and its ones become 2x2 blocks. */
static int paley_two(size_t n, size_t i, size_t j)
{
	size_t q = n / 2 - 1, a = i / 2, b = j / 2;
	int core = a == b ? 0 : a == 0 || b == 0 ? 1 : jacobsthal(a - 1, b - 1, q);
	bool both = i % 2 && j % 2;

	if (core == 0)
		return (i % 2 == 0 && j % 2 == 0) ? 1 : -1;
	return both ? -core : core;
}

/* Rows and columns are negated until the first of both is 0 throughout. */
static void normalise(size_t n, uint8_t *bit)
{
	for (size_t j = 0; j < n; j++)
		for (size_t i = n; i-- > 0;)
			bit[i * n + j] ^= bit[j];
	for (size_t i = 0; i < n; i++)
		for (size_t j = n; j-- > 0;)
			bit[i * n + j] ^= bit[i * n];
}

static bool direct(size_t n, uint8_t *bit)
{
	bool one = n >= 4 && n % 4 == 0 && is_prime(n - 1),
	     two = n >= 12 && n % 4 == 0 && is_prime(n / 2 - 1) && (n / 2 - 1) % 4 == 1;

	if (!one && !two)
		return false;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			bit[i * n + j] = (one ? paley_one(n, i, j) : paley_two(n, i, j)) < 0;
	return true;
}

int ww_hadamard(size_t n, uint8_t *bit)
{
	size_t half = n / 2;

	if (n == 0)
		return -ENOENT;
	if (n == 1) {
		*bit = 0;
		return 0;
	}
	if (direct(n, bit)) {
		normalise(n, bit);
		return 0;
	}
	if (n % 2 || (half > 2 && half % 4) || ww_hadamard(half, bit) < 0)
		return -ENOENT;
	/* Doubling, from the end so that nothing is overwritten before it was read. */
	for (size_t i = half; i-- > 0;) {
		for (size_t j = half; j-- > 0;) {
			uint8_t b = bit[i * half + j];

			bit[(half + i) * n + half + j] = !b;
			bit[(half + i) * n + j] = b;
			bit[i * n + half + j] = b;
			bit[i * n + j] = b;
		}
	}
	return 0;
}
