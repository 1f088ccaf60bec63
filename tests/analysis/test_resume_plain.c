/* SPDX-License-Identifier: MIT */
/* Plain beats: what a byte without a stamp leaves open is not claimed. */
#include "cycles.h"

static void no_latency_is_negative(const struct ww_cycle *c)
{
	for (int l = 0; l < WW_LAT_COUNT; l++)
		if (seen(c->latency[l]))
			assert_true(c->latency[l].lo_ns >= 0);
}

/* The UART sends what it has for 300 ms, tasks never thaw: silent for long thereafter. */
static void hung_stream(void **state)
{
	(void)state;
	for (int marked = 0; marked < 2; marked++) {
		struct sim s;
		struct sim_trace tr;
		struct sim_sleep *z;
		struct found f;
		const struct ww_cycle *c;

		sim_init(&s);
		s.plain = 1;
		s.mode = SIM_STREAM;
		z = sim_suspend(&s, s.start + 5 * S, 1300, 10);
		z->thaw = WW_TIME_MAX / 2;
		z->never = 1;
		sim_run(&s);
		sim_open(&tr);
		sim_store(&s, &tr);
		sim_mark(&tr, s.start + 5 * S, WW_MARK_REQUEST, 1, "systemctl suspend");
		sim_mark(&tr, s.start + 5 * S + MS, WW_MARK_REQUEST_END, 1, "exit 0");
		if (marked) {
			sim_mark(&tr, z->wake, WW_MARK_WAKE, 1, "etherwake");
			sim_mark(&tr, z->wake + MS / 2, WW_MARK_WAKE_END, 1, "exit 0");
		}
		sim_mark(&tr, z->wake + 5 * S, WW_MARK_CYCLE_END, 1, "timeout");
		f = analyse(&tr, NULL);
		c = only(&f);
		assert_int_equal(c->result, WW_RES_HUNG);
		assert_non_null(strstr(c->reason, "its UART sent what was buffered"));
		holds("last_beat", c->event[WW_EV_LAST_BEAT], z->uart_off, 2 * MS);
		holds("uart", c->event[WW_EV_UART], z->uart_on + 86806, 2 * MS);
		if (marked)
			holds("resume_to_uart", c->latency[WW_LAT_RESUME_TO_UART], 20 * MS + 86806,
			      3 * MS);
		assert_false(seen(c->event[WW_EV_FIRST_BEAT]));
		no_latency_is_negative(c);
		done(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hung_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
