/* SPDX-License-Identifier: MIT */
/* A DUT's kernel: its printk clock, its console of finite pace, and what it says of suspends. */
#ifndef TESTS_KSIM_H
#define TESTS_KSIM_H

#include "cycles.h"

#define KSIM_LINES 4096

struct ksim_line {
	int64_t stamp, t; /* the kernel's, and the truth */
	size_t sleeps;	  /* before it */
	char text[120];
};

struct ksim {
	struct sim *dut;
	struct sim con; /* its bytes */
	int64_t t;	/* now */
	int asleep;	/* the console is suspended */
	size_t sleeps;
	uint32_t rng;
	struct ksim_line line[KSIM_LINES];
	size_t n, sent;
};

static inline int64_t ksim_clock(const struct ksim *k, int64_t t)
{
	double slept = 0;

	for (size_t i = 0; i < k->dut->sleeps; i++) {
		const struct sim_sleep *z = &k->dut->sleep[i];

		if (z->asleep && t > z->sleep)
			slept += (double)((t < z->wake ? t : z->wake) - z->sleep);
	}
	return (int64_t)(((double)(t - k->dut->start) - slept) / (1 + k->dut->skew) + 4.8e9);
}

static inline void ksim_flush(struct ksim *k)
{
	for (; k->sent < k->n; k->sent++) {
		const struct ksim_line *l = &k->line[k->sent];
		char buf[200];
		int64_t t = k->t + 20000 + (int64_t)(sim_rnd(k->dut) % 40000);

		snprintf(buf, sizeof(buf), "[%5lld.%06lld] %s\r\n", (long long)(l->stamp / S),
			 (long long)(l->stamp % S / 1000), l->text);
		k->t = sim_text(&k->con, t, buf) + 5000;
	}
}

static inline void ksim_say(struct ksim *k, const char *fmt, ...)
{
	struct ksim_line *l = &k->line[k->n++];
	va_list ap;

	assert(k->n < KSIM_LINES);
	l->t = k->t;
	l->stamp = ksim_clock(k, k->t) / 1000 * 1000;
	l->sleeps = k->sleeps;
	va_start(ap, fmt);
	vsnprintf(l->text, sizeof(l->text), fmt, ap);
	va_end(ap);
	if (k->asleep)
		k->t += 4000;
	else
		ksim_flush(k);
}

/* Lines of a kernel that does other things. */
static inline void ksim_idle(struct ksim *k, int64_t to)
{
	for (int i = 0; k->t < to; i++) {
		ksim_say(k, "net0: link check %d of some length", i * 37);
		k->t += 700 * MS + (int64_t)(sim_rnd(k->dut) % 300) * MS;
	}
}

static inline void ksim_device(struct ksim *k, const char *what, const char *phase, int64_t took)
{
	int64_t t0;

	ksim_say(k, "lamp %s: PM: calling lamp_%s+0x0/0x40 @ 88, parent: platform", what, phase);
	t0 = k->t;
	k->t += took;
	ksim_say(k, "lamp %s: PM: lamp_%s+0x0/0x40 returned 0 after %lld usecs", what, phase,
		 (long long)(k->t - t0) / 1000);
}

static inline void ksim_enter(struct ksim *k, int64_t at, int console_sleeps)
{
	k->t = at;
	ksim_say(k, "PM: suspend entry (deep)");
	ksim_say(k, "Freezing user space processes");
	k->t += MS;
	ksim_say(k, "Freezing user space processes completed (elapsed 0.001 seconds)");
	ksim_say(k, "OOM killer disabled.");
	if (console_sleeps)
		ksim_say(k, "printk: Suspending console(s) (use no_console_suspend to debug)");
	k->asleep = console_sleeps;
	ksim_device(k, "lamp.0", "suspend", 20000);
	ksim_device(k, "lamp.1", "suspend", 300000);
	ksim_say(k, "Disabling non-boot CPUs ...");
}

static inline void ksim_return(struct ksim *k)
{
	ksim_say(k, "Enabling non-boot CPUs ...");
	ksim_say(k, "CPU1 is up");
	ksim_device(k, "lamp.1", "resume", 60 * MS);
	ksim_device(k, "lamp.0", "resume", 40000);
	if (k->asleep) {
		k->asleep = 0;
		ksim_flush(k);
	}
	ksim_say(k, "OOM killer enabled.");
	ksim_say(k, "Restarting tasks ... done.");
	ksim_say(k, "PM: suspend exit");
}

/* A suspend: entry at `at`, so many ms asleep. The kernel's time leads, the beat follows. */
static inline void ksim_suspend(struct ksim *k, int64_t at, int64_t ms, int console_sleeps)
{
	struct sim_sleep *z = &k->dut->sleep[k->dut->sleeps];
	size_t thaw;

	ksim_enter(k, at, console_sleeps);
	*z = (struct sim_sleep){.freeze = at + 12 * MS, .sleep = k->t + 3 * MS, .asleep = 1};
	z->wake = z->sleep + ms * MS;
	k->dut->sleeps++;
	z->uart_off = z->sleep - MS;
	k->t = z->wake + 2 * MS;
	k->sleeps++;
	z->uart_on = z->wake + 10 * MS;
	thaw = k->n;
	ksim_return(k);
	while (!strstr(k->line[thaw].text, "Restarting"))
		thaw++;
	z->thaw = k->line[thaw].t + MS;
}

static inline void ksim_init(struct ksim *k, struct sim *s)
{
	memset(k, 0, sizeof(*k));
	sim_init(s);
	k->dut = s;
	k->con.char_ns = s->char_ns;
	k->t = s->start;
}

/* The trace: a console beside the port. pace: the bench knows the line's. */
static inline void ksim_open(struct ksim *k, struct sim_trace *tr, int console, int pace)
{
	struct ww_source_info con = sim_source("console", WW_SERIAL, "unix:/y");
	struct sim_trace on;
	int id;

	sim_run(k->dut);
	sim_open(tr);
	sim_store(k->dut, tr);
	if (!console) {
		free(k->con.byte);
		return;
	}
	con.transport.char_ns = pace ? k->con.char_ns : 0;
	id = ww_writer_source(tr->w, &con, NULL);
	assert(id > 0);
	on = *tr;
	on.port = (uint32_t)id;
	sim_store(&k->con, &on);
}

#endif
