/* SPDX-License-Identifier: MIT */
/* The queue keeps order and content, says when it is full, and never tears an item. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "capture/ring.h"

#include <pthread.h>
#include <sched.h>

static void test_order_over_many_wraps(void **state)
{
	struct ww_ring r;
	uint32_t in = 0, out = 0;

	(void)state;
	assert_int_equal(ww_ring_init(&r, 1024), 0);
	for (int round = 0; round < 5000; round++) {
		size_t n = (size_t)(round * 7 % 200);
		uint8_t *p = ww_ring_reserve(&r, (uint16_t)(in & 0xff), 3, n + 4);
		const struct ww_ring_item *it;

		if (p) {
			memcpy(p, &in, 4);
			memset(p + 4, (int)(in & 0xff), n);
			ww_ring_commit(&r);
			in++;
			if (round % 3)
				continue;
		}
		while ((it = ww_ring_peek(&r)) != NULL) {
			const uint8_t *q = (const uint8_t *)(it + 1);

			assert_memory_equal(q, &out, 4);
			for (size_t k = 4; k < it->size - sizeof(*it) - 7 && k < 5; k++)
				assert_int_equal(q[k], out & 0xff);
			assert_int_equal(it->type, out & 0xff);
			ww_ring_pop(&r, it);
			out++;
		}
	}
	assert_true(in > 3000);
	assert_int_equal(ww_ring_used(&r) == 0, in == out);
	ww_ring_free(&r);
}

static void test_full_is_said(void **state)
{
	struct ww_ring r;
	int n = 0;

	(void)state;
	assert_int_equal(ww_ring_init(&r, 1024), 0);
	assert_null(ww_ring_reserve(&r, 1, 1, 600)); /* more than half can never be promised */
	while (ww_ring_reserve(&r, 1, 1, 120)) {
		ww_ring_commit(&r);
		n++;
	}
	assert_int_equal(n, 8);
	ww_ring_pop(&r, ww_ring_peek(&r));
	assert_non_null(ww_ring_reserve(&r, 1, 1, 120));
	ww_ring_free(&r);
}

#define ITEMS 300000u

static void *produce(void *arg)
{
	struct ww_ring *r = arg;

	for (uint32_t i = 0; i < ITEMS;) {
		uint32_t *p = ww_ring_reserve(r, 9, 1, 4 * (1 + i % 13));

		if (!p) {
			sched_yield();
			continue;
		}
		for (uint32_t k = 0; k <= i % 13; k++)
			p[k] = i;
		ww_ring_commit(r);
		i++;
	}
	return NULL;
}

static void test_two_threads(void **state)
{
	struct ww_ring r;
	pthread_t t;

	(void)state;
	assert_int_equal(ww_ring_init(&r, 4096), 0);
	assert_int_equal(pthread_create(&t, NULL, produce, &r), 0);
	for (uint32_t i = 0; i < ITEMS;) {
		const struct ww_ring_item *it = ww_ring_peek(&r);
		const uint32_t *p;

		if (!it) {
			sched_yield();
			continue;
		}
		p = (const uint32_t *)(const void *)(it + 1);
		for (uint32_t k = 0; k <= i % 13; k++)
			assert_int_equal(p[k], i);
		ww_ring_pop(&r, it);
		i++;
	}
	pthread_join(t, NULL);
	assert_null(ww_ring_peek(&r));
	ww_ring_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_over_many_wraps),
		cmocka_unit_test(test_full_is_said),
		cmocka_unit_test(test_two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
