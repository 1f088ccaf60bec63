/* SPDX-License-Identifier: MIT */
/*
 * Attribution against worked figures: designs that cannot be told apart, covariances,
 * another order, a supply that does not add, what contradicts.
 */
#include "attrtable.h"

/* Proposal i is this state, as 0 and 1 of the devices in their order. */
static void next_is(size_t i, const char *state, unsigned gain)
{
	const struct ww_device_next *n = ww_attribute_next(a, i);
	char have[32];
	size_t len = strlen(state);

	assert_non_null(n);
	memset(have, '0', len);
	have[len] = '\0';
	for (size_t k = 0; k < n->on; k++)
		have[n->device[k]] = '1';
	assert_string_equal(have, state);
	assert_int_equal(n->rank_gain, gain);
}

/* Vector S14, as a table with its times and uncertainties: the drift is found by itself. */
static void test_s14(void **state)
{
	static const char *const on[14] = {"0,0,0,0,0", "1,0,0,0,0", "1,1,0,0,0", "1,1,0,1,1",
					   "1,1,0,0,0", "0,1,0,0,0", "1,1,0,0,0", "1,1,1,0,0",
					   "1,1,0,0,0", "1,1,1,0,0", "1,1,0,0,0", "0,1,0,0,0",
					   "0,1,0,1,1", "0,0,0,1,1"};
	static const char *const y[14] = {"1.0",  "15.6", "38.4", "49.0", "38.5", "23.9", "38.5",
					  "44.9", "38.5", "45.0", "38.6", "24.0", "34.5", "11.8"};
	static const double beta[3] = {14.601557093425448, 22.7848519800079, 6.410880430603761},
			    se[3] = {0.024530187602345994, 0.026740574244136173,
				     0.030023486043637453};
	const struct ww_attribute_info *i;
	const struct ww_device_group *g;
	struct ww_str text = {0};
	char name[8];

	(void)state;
	ww_str_add(&text, "t_s,d0,d1,d2,d3,d4,W,u\n");
	/* The last line is the state that proposals start from: that of 720 s. */
	for (int k = 0; k < 14; k++) {
		int at = k < 12 ? k : 25 - k;

		ww_str_addf(&text, "%d,%s,%s,0.035118845842842465\n", 60 * at, on[at], y[at]);
	}
	solve(NULL, text.p, NULL);
	i = ww_attribute_get(a);
	NEAR(i->offset.value, 1.1240484429064148, 1e-11);
	NEAR(i->offset.u, 0.024410288167016455, 1e-12);
	for (int k = 0; k < 3; k++) {
		snprintf(name, sizeof(name), "d%d", k);
		NEAR(dev(name)->watts.value, beta[k], 1e-11);
		NEAR(dev(name)->watts.u, se[k], 1e-12);
		assert_true(dev(name)->estimable);
	}
	NEAR(i->drift.value, 0.0003184672561826543 * 3600, 1e-10);
	NEAR(i->drift.u, 4.936335538288662e-05 * 3600, 1e-12);
	assert_false(dev("d3")->estimable);
	assert_true(isnan(dev("d4")->watts.value));
	assert_int_equal(i->rank, 6);
	assert_int_equal(i->dof, 8);
	NEAR(i->chi2, 8.013030331369041, 1e-9);
	NEAR(i->birge, 1.0008140643601737, 1e-10);
	NEAR(i->scale, 1, 0);
	g = ww_attribute_group(a, 0);
	assert_non_null(g);
	assert_null(ww_attribute_group(a, 1));
	assert_int_equal(g->count, 2);
	assert_int_equal(g->device[0], 3);
	assert_int_equal(g->device[1], 4);
	NEAR(g->sum.value, 10.53139177239542, 1e-11);
	NEAR(g->sum.u, 0.026459813832406698, 1e-12);
	next_is(0, "01001", 1);
	next_is(1, "01010", 1);
	next_is(2, "01111", 0);
	assert_int_equal(ww_attribute_next(a, 0)->separates, 2);
	assert_int_equal(ww_attribute_next(a, 0)->flips, 1);
	ww_str_free(&text);
}

/* Worked: two devices that were always together, and the two readings that would tell. */
static void test_inseparable(void **state)
{
	struct ww_attribute_options o = {.size = sizeof(o)};
	const struct ww_device_group *g;

	(void)state;
	solve(&o,
	      "d0,d1,d2,d3,W,u\n0,0,0,0,1,0.1\n1,0,0,0,26,0.1\n1,1,1,0,49.4,0.1\n"
	      "1,1,1,1,63.4,0.1\n1,0,0,1,40.0,0.1\n",
	      NULL);
	NEAR(ww_attribute_get(a)->offset.value, 1, 1e-12);
	NEAR(dev("d0")->watts.value, 25, 1e-12);
	NEAR(dev("d3")->watts.value, 14, 1e-12);
	assert_int_equal(ww_attribute_get(a)->rank, 4);
	g = ww_attribute_group(a, 0);
	assert_non_null(g);
	assert_int_equal(g->count, 2);
	assert_int_equal(g->device[0], 1);
	assert_int_equal(g->device[1], 2);
	assert_false(g->with_offset);
	NEAR(g->sum.value, 23.4, 1e-12);
	next_is(0, "1101", 1);
	next_is(1, "1011", 1);
}

/* One by one: each change has u sqrt 2, neighbours covary by -u^2, the sum has u sqrt 2. */
static void test_one_by_one(void **state)
{
	const double u = 0.1;
	double c[4] = {0, 1, 1, 0};

	(void)state;
	solve(NULL, "what,W,u\nall unplugged,1,0.1\n+a,3,0.1\n+b,7,0.1\n+c,12,0.1\n", NULL);
	NEAR(dev("a")->watts.u, u * sqrt(2), 1e-12);
	NEAR(dev("c")->watts.u, u * sqrt(2), 1e-12);
	NEAR(a->fit.cov[1 * 4 + 2], -u * u, 1e-12);
	NEAR(a->fit.cov[1 * 4 + 3], 0, 1e-12);
	NEAR(ww_lsq_cov(&a->fit, c, c), 2 * u * u, 1e-12);
	NEAR(ww_attribute_get(a)->total.value, 11, 1e-12);
	NEAR(ww_attribute_get(a)->total.u, u * sqrt(2), 1e-12);
	/* Three in four states {000, 011, 101, 110}: u each. */
	solve(NULL, "a,b,c,W,u\n0,0,0,1,0.1\n0,1,1,10,0.1\n1,0,1,8,0.1\n1,1,0,7,0.1\n", NULL);
	NEAR(dev("a")->watts.u, u, 1e-12);
	NEAR(dev("b")->watts.u, u, 1e-12);
	NEAR(dev("c")->watts.value, 5, 1e-12);
}

/* Worked: an observed level minus base has 2 u^2, one that skips a device 4 u^2. */
static void test_order(void **state)
{
	const double u = 0.2886751345948129;
	struct ww_attribute_options o = {.size = sizeof(o), .order = "d1,d3"};

	(void)state;
	solve(&o, "all unplugged, 1\n+d1, 4\n+d2, 9\n+d3, 21\n", NULL);
	assert_false(ww_attribute_level(a, 0)->synthetic);
	NEAR(ww_attribute_level(a, 0)->watts.u, u * sqrt(2), 1e-12);
	assert_true(ww_attribute_level(a, 1)->synthetic);
	NEAR(ww_attribute_level(a, 1)->watts.value, 15, 1e-12);
	NEAR(ww_attribute_level(a, 1)->watts.u, 0.5773502691896258, 1e-12);
	NEAR(ww_attribute_level(a, 1)->added.value, 12, 1e-12);
	assert_null(ww_attribute_level(a, 2));
	assert_true(noted("synthetic"));
	o.order = "d2,nothing";
	assert_int_equal(attempt(&o, "all unplugged, 1\n+d2, 4\n", NULL), -EINVAL);
	assert_string_equal(e.text, "--order: no device 'nothing' in the readings");
	o.order = "d2,d2";
	assert_int_equal(attempt(&o, "all unplugged, 1\n+d2, 4\n", NULL), -EINVAL);
}

/* Worked: P = 3 + 1.1 p + .002 p^2. 2 W more cost 2.368 W at 20 W and 2.528 W at 40 W. */
static void test_supply(void **state)
{
	static const char table[] = "board,usb,disk,W,u\n0,0,0,0,0.004\n1,0,0,25.8,0.004\n"
				    "1,1,0,28.168,0.004\n1,0,1,50.2,0.004\n"
				    "1,1,1,52.728,0.004\n";
	struct ww_attribute_options o = {.size = sizeof(o)};
	const struct ww_device_pair *p;
	size_t found = 0;

	(void)state;
	solve(&o, table, NULL);
	assert_true(ww_attribute_get(a)->p < 1e-6);
	assert_true(ww_attribute_get(a)->scale > 5);
	assert_true(noted("'usb' and 'disk' together draw 0.16 W more than their sum"));
	o.interactions = 1;
	solve(&o, table, NULL);
	NEAR(dev("board")->watts.value, 25.8, 1e-9);
	NEAR(20 / dev("board")->watts.value, 0.7751937984496123, 1e-9);
	NEAR(dev("usb")->watts.value, 2.368000000000002, 1e-9);
	for (size_t i = 0; (p = ww_attribute_pair(a, i)); i++) {
		if (strcmp(ww_attribute_device(a, p->a)->name, "usb") == 0) {
			NEAR(p->extra.value, 0.1599999999999966, 1e-9);
			NEAR(dev("usb")->watts.value + p->extra.value, 2.5279999999999987, 1e-9);
			found++;
		}
	}
	assert_int_equal(found, 1);
	NEAR(ww_attribute_get(a)->total.value, 52.728, 1e-9);
}

/* Volt-amperes are those that were read: 25 W and 35 VA twice are 50 W and not 70 VA. */
static void test_va(void **state)
{
	(void)state;
	solve(NULL, "what;W;VA;PF\nall off;0;0\n+a;25;35;.71\n+b;50;50;1\n-a;25;35;.71\n", NULL);
	NEAR(dev("a")->va, 35, 0);
	NEAR(dev("b")->va, 35, 0);
	NEAR(dev("a")->pf, .71, 0);
	NEAR(ww_attribute_get(a)->total_va, 50, 0);
	assert_true(noted("those of several devices do not add"));
	solve(NULL, "what;W;VA\nall off;0;\n+a;25;\n+b;50;50\n", NULL);
	assert_true(isnan(dev("a")->va));
	assert_true(isnan(dev("a")->pf));
	assert_false(noted("cannot be") || noted("do not have"));
	/* 25 W that are 30 % apart from VA: 32.5 VA at .77 or 35.7 VA at .70; both can be. */
	solve(NULL, "what;W;VA;PF\n+a;25;32,5;.77\nsame;25;35,7;.70\n", NULL);
	assert_false(noted("cannot be") || noted("do not have"));
	solve(NULL, "what;W;VA;PF\n+a;25;35;.95\n", NULL);
	assert_true(noted("1 reading has a power factor that its watts and volt-amperes do not"));
	solve(NULL, "what;W;VA\n+a;35;25\n", NULL);
	assert_true(noted("more watts than volt-amperes, which cannot be"));
}

/* Readings that contradict: errors are scaled, and the worst line is named. */
static void test_misfit(void **state)
{
	(void)state;
	solve(NULL,
	      "a,b,W,u\n0,0,1,0.1\n1,0,11,0.1\n0,1,21,0.1\n1,1,31,0.1\n1,1,35,0.1\n0,1,21,0.1\n",
	      NULL);
	assert_true(ww_attribute_get(a)->scale > 10);
	NEAR(ww_attribute_get(a)->scale, ww_attribute_get(a)->birge, 1e-12);
	assert_true(noted("uncertainties are multiplied by"));
	assert_true(noted("now:6 fits worst"));
}

static void test_small(void **state)
{
	(void)state;
	solve(NULL, "all off, 1\n+a, 1\n+b, 11\n", NULL);
	assert_true(noted("'a': at or below one step of the display"));
	solve(NULL, "all off, 10\n+a, 5\n", NULL);
	assert_true(noted("'a': below zero"));
	solve(NULL, "+a, 5\n", NULL);
	assert_true(noted("the meter's offset is not known"));
	assert_int_equal(attempt(NULL, "all off, 1\n", NULL), 0);
	assert_null(ww_attribute_device(a, 0));
	NEAR(ww_attribute_get(a)->offset.value, 1, 0);
}

static void test_drift_needs_times(void **state)
{
	struct ww_attribute_options o = {.size = sizeof(o), .drift = 1};

	(void)state;
	assert_int_equal(attempt(&o, "all off, 1\n+a, 5\n", NULL), -EINVAL);
	assert_non_null(strstr(e.text, "give the table a column 'time'"));
	solve(&o, "time,what,W\n14:00,all off,1\n14:10,+a,11.5\n14:20,-a,2\n14:30,+a,12.5\n", NULL);
	NEAR(ww_attribute_get(a)->drift.value, 3, 1e-9);
	NEAR(dev("a")->watts.value, 10, 1e-9);
}

static void test_wrong_options(void **state)
{
	struct ww_attribute_options o = {.size = sizeof(o), .spec_rel = 1.5};
	struct ww_attribute_options none = {0};

	(void)state;
	assert_int_equal(attempt(&o, "+a, 1\n", NULL), -EINVAL);
	assert_int_equal(attempt(&none, "+a, 1\n", NULL), -EINVAL);
	o = (struct ww_attribute_options){.size = sizeof(o), .offset_known = 1, .offset = {NAN, 0}};
	assert_int_equal(attempt(&o, "+a, 1\n", NULL), -EINVAL);
	solve(NULL, "+a, 1\n", NULL);
	assert_int_equal(ww_attribute_solve(a, NULL), -EINVAL);
	assert_int_equal(ww_attribute_table(a, 0, "x", "+b, 1\n", 6, NULL), -EINVAL);
}

/* Two inputs of one meter share its offset; of two meters each has its own. */
static void test_two_inputs(void **state)
{
	struct ww_attribute_options o = {.size = sizeof(o)};

	(void)state;
	for (int own = 0; own < 2; own++) {
		o.own_offsets = own;
		ww_attribute_free(a);
		assert_int_equal(ww_attribute_new(&o, &a, &e), 0);
		assert_int_equal(ww_attribute_table(a, 0, "x", "all off, 1.0\n+a, 11\n", 20, &e),
				 0);
		assert_int_equal(ww_attribute_table(a, 0, "y", "+b, 21\n", 7, &e), 0);
		assert_int_equal(ww_attribute_solve(a, &e), 0);
		NEAR(dev("a")->watts.value, 10, 1e-12);
		assert_int_equal(dev("b")->estimable, !own);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_s14),
		cmocka_unit_test(test_inseparable),
		cmocka_unit_test(test_one_by_one),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_supply),
		cmocka_unit_test(test_va),
		cmocka_unit_test(test_misfit),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_drift_needs_times),
		cmocka_unit_test(test_wrong_options),
		cmocka_unit_test(test_two_inputs),
	};

	return cmocka_run_group_tests(tests, NULL, attr_end);
}
