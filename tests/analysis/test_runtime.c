/* SPDX-License-Identifier: MIT */
/*
 * Runtimes of batteries: the worked numbers of the method (a maker's table of four UPSes,
 * Peukert's law, a measured runtime, a day), and what must not be done with them.
 */
#include "analysis/runtime.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const char APC[] = "VA,420,650,1000,1400\n"
			  "50,41,90,167,306\n"
			  "75,27,64,125,236\n"
			  "100,21,49,98,190\n"
			  "150,14,29,64,133\n"
			  "200,10,22,47,99\n"
			  "250,7.5,17,35,74\n"
			  "300,6.2,14,27,60\n";

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.17g, want %.17g", got, want);
}

static struct ww_runtime *ask(const struct ww_runtime_options *o)
{
	struct ww_runtime *r = NULL;
	struct ww_error err = {0};

	if (ww_runtime_new(o, &r, &err) < 0)
		fail_msg("%s", err.text);
	return r;
}

static void refused(const struct ww_runtime_options *o, const char *part)
{
	struct ww_runtime *r = NULL;
	struct ww_error err = {0};

	assert_true(ww_runtime_new(o, &r, &err) < 0);
	assert_null(r);
	if (!strstr(err.text, part))
		fail_msg("'%s' does not say '%s'", err.text, part);
}

static struct ww_runtime_table *apc(void)
{
	struct ww_runtime_table *t = NULL;
	struct ww_error err = {0};

	if (ww_runtime_table_parse(APC, sizeof(APC) - 1, "apc.csv", NULL, &t, &err) < 0)
		fail_msg("%s", err.text);
	return t;
}

static bool says(const struct ww_runtime *r, const char *part)
{
	const char *n;

	for (size_t i = 0; (n = ww_runtime_note(r, i)); i++)
		if (strstr(n, part))
			return true;
	return false;
}

#define Q(v, s) ((struct ww_quantity){(v), (s)})
#define BASE	.size = sizeof(struct ww_runtime_options)

static void test_table(void **state)
{
	struct ww_runtime_table *t = apc();
	struct ww_runtime_options o = {BASE, .table = t, .va = Q(35, 0)};
	struct ww_runtime *r = ask(&o);
	const struct ww_runtime_case *c = ww_runtime_at(r, 0);

	(void)state;
	assert_string_equal(ww_runtime_table_unit(t), "VA");
	assert_string_equal(c->model, "420");
	near(c->minutes.value, 59.20705022387244, 1e-10);
	near(c->exponent, 1.0302617718428713, 1e-12);
	assert_int_equal(c->extrapolated, -1);
	/* It cannot be less than at the lightest load, nor more than without own losses. */
	near(c->bounds_min[0], 41, 1e-12);
	near(c->bounds_min[1], 41 * pow(50.0 / 35, 1.2), 1e-10);
	assert_true(c->minutes.u > 1);
	assert_true(says(r, "extrapolated"));
	near(r->error_log, 0.02477760258761062, 1e-14);
	near(r->error_linear, 0.08308534302107982, 1e-14);
	assert_non_null(ww_runtime_at(r, 3));
	assert_null(ww_runtime_at(r, 4));
	ww_runtime_free(r);
	ww_runtime_table_free(t);
}

/* At the stated points it gives what is stated, uncertain by its last digit alone. */
static void test_table_points(void **state)
{
	static const double va[] = {50, 75, 100, 150, 200, 250, 300};
	static const double want[] = {90, 64, 49, 29, 22, 17, 14};
	struct ww_runtime_table *t = apc();

	(void)state;
	for (size_t i = 0; i < 7; i++) {
		struct ww_runtime_options o = {BASE, .table = t, .model = "650", .va = Q(va[i], 0)};
		struct ww_runtime *r = ask(&o);
		const struct ww_runtime_case *c = ww_runtime_at(r, 0);

		near(c->minutes.value, want[i], 1e-10);
		near(c->minutes.u, 1 / sqrt(12), 1e-6);
		assert_int_equal(c->extrapolated, 0);
		assert_false(says(r, "extrapolated"));
		ww_runtime_free(r);
	}
	ww_runtime_table_free(t);
}

/* VA are never made of W; a power factor that is given may do it, with its uncertainty. */
static void test_va(void **state)
{
	struct ww_runtime_table *t = apc();
	struct ww_runtime_options o = {BASE, .table = t, .model = "420", .watts = Q(70, 0)};
	struct ww_runtime *r;
	const struct ww_runtime_case *c;
	const char *name;
	double u;

	(void)state;
	refused(&o, "give --va, or the power factor");
	o.pf = Q(0.7, 0.07);
	r = ask(&o);
	c = ww_runtime_at(r, 0);
	near(c->load, 100, 1e-12);
	near(c->minutes.value, 21, 1e-10);
	/* 10 % of load at an exponent of about one. */
	assert_int_equal(ww_runtime_budget(r, 0, 0, &name, &u), 1);
	assert_string_equal(name, "load");
	assert_true(u > 1.6 && u < 2.6);
	ww_runtime_free(r);
	o.pf = Q(0, 0);
	o.model = "421";
	o.va = Q(100, 0);
	refused(&o, "no model '421'; there are 420, 650, 1000, 1400");
	ww_runtime_table_free(t);
}

/* A battery with 80 % of its capacity lasts .8^k as long; the heaviest load shrinks. */
static void test_table_aged(void **state)
{
	struct ww_runtime_table *t = apc();
	struct ww_runtime_options o = {BASE,
				       .table = t,
				       .model = "650",
				       .va = Q(100, 0),
				       .ageing = Q(0.8, 0),
				       .wanted_h = Q(49 / 60.0, 0)};
	struct ww_runtime *r = ask(&o);
	const struct ww_runtime_case *c = ww_runtime_at(r, 0);

	(void)state;
	near(c->minutes.value, 49 * pow(0.8, 1.2), 1e-10);
	assert_true(c->heaviest < 100 && c->heaviest > 50);
	assert_false(says(r, "new batteries"));
	/* Who chooses from a table is not told how to build a battery. */
	assert_null(ww_runtime_need(r));
	ww_runtime_free(r);
	o.ageing = Q(0, 0);
	r = ask(&o);
	near(ww_runtime_at(r, 0)->heaviest, 100, 1e-9);
	assert_true(says(r, "new batteries"));
	ww_runtime_free(r);
	ww_runtime_table_free(t);
}

static void test_peukert(void **state)
{
	struct ww_battery b = {.strings = 1, .series = 1, .rated_h = 20};

	(void)state;
	b.in[WW_IN_CAPACITY] = 7;
	b.in[WW_IN_PEUKERT] = 1.2;
	b.in[WW_IN_AGEING] = b.in[WW_IN_TEMPERATURE] = b.in[WW_IN_DEPTH] = 1;
	near(ww_battery_hours(&b, 3), 1.5183298953902944, 1e-13);
	near(60 * ww_battery_hours(&b, 3), 91.09979372341766, 1e-11);
	near(ww_battery_amps(&b, ww_battery_hours(&b, 3)), 3, 1e-12);
	/* At the rated current it is the rated time; below it nothing is credited. */
	near(ww_battery_hours(&b, 0.35), 20, 1e-12);
	near(ww_battery_hours(&b, 0.1), 70, 1e-12);
	near(ww_battery_amps(&b, 70), 0.1, 1e-15);
}

/* 48 minutes at 25 W: what it says of the battery, for four capacities. */
static void test_seed(void **state)
{
	static const struct {
		double ah, amps, watts, eta, used;
	} want[] = {
		{3.5, 2.558515520936258, 30.702186251235098, 0.8142742603222366,
		 0.47619047619047616},
		{4.5, 3.289519955489475, 39.4742394658737, 0.6333244246950728, 0.37037037037037035},
		{5, 3.655022172766083, 43.860266073192996, 0.5699919822255656, 0.3333333333333333},
		{7, 5.117031041872516, 61.404372502470196, 0.4071371301611183, 0.23809523809523808},
	};
	struct ww_runtime_point p = {Q(25, 0), Q(48, 0)};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct ww_runtime_options o = {BASE, .watts = Q(25, 0), .measured = &p, .points = 1,
					       .capacity_Ah = Q(want[i].ah, 0)};
		struct ww_runtime *r = ask(&o);
		const struct ww_runtime_case *c = ww_runtime_at(r, 0);

		near(c->minutes.value, 48, 1e-9);
		near(c->delivered_Wh.value, 20, 1e-9);
		near(c->battery_A.value, want[i].amps, 1e-10);
		near(c->battery_W.value, want[i].watts, 1e-9);
		near(25 / c->battery_W.value, want[i].eta, 1e-11);
		near(c->nameplate, want[i].used, 1e-11);
		ww_runtime_free(r);
	}
}

/*
 * Half the load does not last twice as long: part of the loss is fixed. What is told lies
 * between all of it fixed and none, and the interval holds it.
 */
static void test_lighter(void **state)
{
	struct ww_runtime_point p = {Q(25, 0), Q(48, 0)};
	struct ww_runtime_options o = {BASE, .watts = Q(12.5, 0), .measured = &p, .points = 1,
				       .capacity_Ah = Q(4.5, 0)};
	struct ww_runtime *r = ask(&o);
	const struct ww_runtime_case *c = ww_runtime_at(r, 0);
	double pb = 39.4742394658737, own = pb - 25 / 0.85;

	(void)state;
	near(c->own_W.value, own, 1e-9);
	near(c->efficiency.value, 0.85, 1e-12);
	near(c->battery_W.value, own + 12.5 / 0.85, 1e-9);
	near(c->minutes.value, 48 * pow(pb / (own + 12.5 / 0.85), 1.2), 1e-8);
	assert_true(c->minutes.value < 2 * 48);
	near(c->bounds_min[0], 48 * pow(pb / (pb - 12.5), 1.2), 1e-8);
	near(c->bounds_min[1], 48 * pow(2, 1.2), 1e-8);
	assert_true(c->bounds_min[0] < c->minutes.value && c->minutes.value < c->bounds_min[1]);
	ww_runtime_free(r);

	/* An own loss that is given leaves the efficiency to be found. */
	o.own_W = Q(5, 0);
	r = ask(&o);
	c = ww_runtime_at(r, 0);
	near(c->efficiency.value, 25 / (pb - 5), 1e-10);
	ww_runtime_free(r);

	/* Without a capacity no number is given, only its bounds. */
	o = (struct ww_runtime_options){BASE, .watts = Q(12.5, 0), .measured = &p, .points = 1};
	r = ask(&o);
	c = ww_runtime_at(r, 0);
	assert_true(isnan(c->minutes.value));
	assert_non_null(strstr(c->why, "--capacity"));
	near(c->bounds_min[0], 48, 1e-12);
	near(c->bounds_min[1], 48 * pow(2, 1.2), 1e-9);
	ww_runtime_free(r);
}

/* A battery that is too small for what it gave. */
static void test_impossible(void **state)
{
	struct ww_runtime_point p = {Q(25, 0), Q(48, 0)};
	struct ww_runtime_options o = {BASE, .watts = Q(25, 0), .measured = &p, .points = 1,
				       .capacity_Ah = Q(1, 0)};
	struct ww_runtime *r;

	(void)state;
	refused(&o, "less than the load took");
	/* With something else to tell, it is a line of the report. */
	o.wanted_h = Q(1, 0);
	r = ask(&o);
	assert_true(isnan(ww_runtime_at(r, 0)->minutes.value));
	assert_non_null(strstr(ww_runtime_at(r, 0)->why, "less than the load took"));
	ww_runtime_free(r);
	/* Too large for it: told, not hidden in an efficiency. */
	o.capacity_Ah = Q(70, 0);
	r = ask(&o);
	assert_true(says(r, "is the battery worn"));
	assert_true(ww_runtime_at(r, 0)->minutes.u == 0);
	ww_runtime_free(r);
}

static void test_two_points(void **state)
{
	struct ww_runtime_point p[] = {{Q(50, 0), Q(20, 0)}, {Q(25, 0), Q(48, 2)}};
	struct ww_runtime_options o = {BASE, .watts = Q(35, 0), .measured = p, .points = 2};
	struct ww_runtime *r = ask(&o);
	const struct ww_runtime_case *c = ww_runtime_at(r, 0);
	double n = log(48 / 20.0) / log(2);

	(void)state;
	near(c->exponent, n, 1e-12);
	near(c->minutes.value, 48 * pow(25 / 35.0, n), 1e-10);
	assert_int_equal(c->method, WW_RUNTIME_MEASURED);
	assert_true(c->minutes.u > 0.5);
	ww_runtime_free(r);
}

static double ah(const struct ww_runtime_options *o, double *u)
{
	struct ww_runtime *r = ask(o);
	const struct ww_runtime_need *n = ww_runtime_need(r);
	double v = n->Ah.value;

	*u = n->Ah.u;
	near(n->energy_Wh.value, 600, 1e-12);
	near(n->ideal_Ah, 50, 1e-12);
	ww_runtime_free(r);
	return v;
}

/* A day of 25 W: 50 Ah on paper, three times as much in life. */
static void test_day(void **state)
{
	struct ww_runtime_options o = {BASE, .watts = Q(25, 0), .wanted_h = Q(24, 0)};
	double u;

	(void)state;
	near(ah(&o, &u), 147.05882352941177, 1e-10);
	near(u, 147.0588 * 0.04 / 0.85, 0.05);
	o.temperature = Q(0.9, 0);
	near(ah(&o, &u), 163.39869281045748, 1e-10);
	o.temperature = Q(0, 0);
	o.direct = 1;
	o.chemistry = WW_LIFEPO4;
	near(ah(&o, &u), 84.91847826086955, 1e-10);
}

/* What it takes is what lasts as long: forward and back agree, with every loss. */
static void test_inverse(void **state)
{
	(void)state;
	for (double h = 0.1; h < 100; h *= 1.7) {
		struct ww_runtime_options o = {
			BASE,
			.watts = Q(40, 0),
			.wanted_h = Q(h, 0),
			.own_W = Q(8, 0),
			.depth = Q(0.7, 0),
			.ageing = Q(0.9, 0),
			.celsius = Q(5, 0),
			.has_celsius = 1,
			.peukert = Q(1.25, 0),
			.volts = Q(6, 0),
			.series = 2,
			.efficiency = Q(0.8, 0),
			.rated_h = 10,
		};
		struct ww_runtime *r = ask(&o);
		const struct ww_runtime_need *n = ww_runtime_need(r);

		near(n->volts, 12, 0);
		o.capacity_Ah = Q(n->Ah.value, 0);
		assert_int_equal(n->strings, 0);
		ww_runtime_free(r);
		r = ask(&o);
		near(ww_runtime_at(r, 0)->minutes.value / 60, h, h * 1e-9);
		near(ww_runtime_at(r, 0)->heaviest, 40, 1e-6);
		assert_int_equal(ww_runtime_need(r)->strings, 1);
		ww_runtime_free(r);
	}
}

/* The contributions add up in squares, and match the derivative by hand. */
static void test_budget(void **state)
{
	struct ww_runtime_options o = {BASE, .watts = Q(25, 0.5), .capacity_Ah = Q(7, 0.35),
				       .efficiency = Q(0.85, 1e-9), .peukert = Q(1.2, 1e-9)};
	struct ww_runtime *r = ask(&o);
	const struct ww_runtime_case *c = ww_runtime_at(r, 0);
	double sum = 0, u;
	const char *name;
	size_t k;

	(void)state;
	for (k = 0; ww_runtime_budget(r, 0, k, &name, &u); k++)
		sum += u * u;
	near(c->minutes.u, sqrt(sum), 1e-9);
	assert_int_equal(ww_runtime_budget(r, 0, 0, &name, &u), 1);
	assert_string_equal(name, "capacity");
	/* t ~ (C/I)^1.2: five per cent of C are six of t. */
	near(u / c->minutes.value, 0.06, 0.0005);
	assert_int_equal(ww_runtime_budget(r, 0, 1, &name, &u), 1);
	assert_string_equal(name, "load");
	near(u / c->minutes.value, 1.2 * 0.02, 0.0005);
	assert_int_equal(ww_runtime_budget(r, 1, 0, &name, &u), 0);
	ww_runtime_free(r);
}

/* Cold takes capacity, warmth gives none. */
static void test_temperature(void **state)
{
	struct ww_runtime_options o = {BASE, .watts = Q(100, 0), .capacity_Ah = Q(100, 0),
				       .peukert = Q(1, 0), .has_celsius = 1};
	static const double celsius[] = {-10, 0, 25, 40}, part[] = {0.72, 0.8, 1, 1};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct ww_runtime *r;

		o.celsius = Q(celsius[i], 0);
		r = ask(&o);
		near(ww_runtime_at(r, 0)->minutes.value, 60 * part[i] * 100 / (100 / 0.85 / 12),
		     1e-9);
		ww_runtime_free(r);
	}
}

static void test_rating(void **state)
{
	struct ww_runtime_options o = {BASE, .watts = Q(200, 0), .capacity_Ah = Q(7, 0),
				       .rating_W = 250, .peak_W = 320};
	struct ww_runtime *r = ask(&o);

	(void)state;
	assert_true(says(r, "overload: the load reaches 320 W"));
	assert_true(says(r, "not steady"));
	ww_runtime_free(r);
	o.peak_W = 210;
	r = ask(&o);
	assert_false(says(r, "overload"));
	ww_runtime_free(r);
	o.rating_W = 0;
	o.rating_VA = 420;
	r = ask(&o);
	assert_true(says(r, "VA are not"));
	ww_runtime_free(r);
	o.rating_VA = 180;
	r = ask(&o);
	assert_true(says(r, "at least as many VA"));
	ww_runtime_free(r);
}

static void test_refusals(void **state)
{
	struct ww_runtime_options o = {BASE};

	(void)state;
	refused(&o, "the load is not given");
	o.watts = Q(25, 0);
	refused(&o, "nothing tells how long");
	o.capacity_Ah = Q(7, 0);
	o.efficiency = Q(1.3, 0);
	refused(&o, "efficiency: 1.3 is not above 0 and at most 1");
	o.efficiency = Q(0, 0);
	o.peukert = Q(0.5, 0);
	refused(&o, "Peukert");
	o.peukert = Q(0, 0);
	o.watts = Q(-3, 0);
	refused(&o, "load");
	o.watts = Q(25, NAN);
	refused(&o, "load");
	o.watts = Q(25, 0);
	o.chemistry = 9;
	refused(&o, "chemistry");
	o.chemistry = 0;
	o.rated_h = -1;
	refused(&o, "rated");
	o = (struct ww_runtime_options){BASE, .va = Q(35, 0), .wanted_h = Q(1, 0)};
	refused(&o, "never derived from VA");
	o = (struct ww_runtime_options){.size = 0};
	refused(&o, "size");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),	    cmocka_unit_test(test_table_points),
		cmocka_unit_test(test_va),	    cmocka_unit_test(test_table_aged),
		cmocka_unit_test(test_peukert),	    cmocka_unit_test(test_seed),
		cmocka_unit_test(test_lighter),	    cmocka_unit_test(test_impossible),
		cmocka_unit_test(test_two_points),  cmocka_unit_test(test_day),
		cmocka_unit_test(test_inverse),	    cmocka_unit_test(test_budget),
		cmocka_unit_test(test_temperature), cmocka_unit_test(test_rating),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
