/* SPDX-License-Identifier: MIT */
/* pwrlog run: baselines and runs, one after the other, while the recorder works. */
#include "pwrlog-run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define S 1000000000LL

#define BASELINE_NS	  (10 * S) /* default */
#define BASELINE_READINGS 5
#define SETTLE_NS	  (2 * S)
#define READINGS_NS	  (30 * S) /* longest wait for a reading */
#define TERM_NS		  (3 * S)  /* from Ctrl-C to SIGTERM */
#define KILL_NS		  (6 * S)
#define OUTPUT_NS	  (1 * S) /* for output after the end */

struct runner {
	struct recording *r;
	const struct run_options *o;
	const struct run_plan *plan;
	int sig_fd, log_fd;
	struct ww_work *work;
	struct run_child child;
	int64_t stop_ns; /* the end was asked for then, 0 not yet */
	bool ended;	 /* all sources have */
	bool wrong;	 /* the command line asks for what is not there */
	size_t said;
	uint32_t n, failed;
	uint32_t begun; /* runs whose command was started */
	struct ww_error err;
};

/* A terminal's Ctrl-C went to the command too, unless that leads its own group. */
static void take_signal(struct runner *x)
{
	struct signalfd_siginfo s;

	if (read(x->sig_fd, &s, sizeof(s)) != (ssize_t)sizeof(s))
		return;
	if (s.ssi_code <= 0 || x->child.group)
		run_child_signal(&x->child, (int)s.ssi_signo);
	x->r->interrupted = true;
	if (!x->stop_ns)
		x->stop_ns = ww_clock_now_ns();
}

/* One that does not heed Ctrl-C. */
static void press(const struct runner *x, int64_t now)
{
	if (x->stop_ns && x->child.pid > 0 && now - x->stop_ns > KILL_NS)
		run_child_signal(&x->child, SIGKILL);
	else if (x->stop_ns && x->child.pid > 0 && now - x->stop_ns > TERM_NS)
		run_child_signal(&x->child, SIGTERM);
}

/* One turn of the loop, `until` at the latest. @return negative: recording cannot go on */
static int turn(struct runner *x, int64_t until)
{
	int64_t now = ww_clock_now_ns(), left = (until - now + 999999) / 1000000;
	struct pollfd p[3] = {
		{.fd = x->ended ? -1 : ww_recorder_fd(x->r->rec), .events = POLLIN},
		{.fd = x->sig_fd, .events = POLLIN},
		{.fd = x->child.pid > 0 ? x->child.pid_fd : -1, .events = POLLIN},
	};
	const char *text;
	int rc;

	if (x->child.pid > 0 && left > run_child_wait_ms(&x->child, now))
		left = run_child_wait_ms(&x->child, now);
	poll(p, 3, left < 0 ? 0 : left > 1000 ? 1000 : (int)left);
	rc = ww_recorder_dispatch(x->r->rec, &x->err);
	x->ended = rc == 0;
	if (p[1].revents)
		take_signal(x);
	press(x, ww_clock_now_ns());
	while ((text = ww_recorder_warning(x->r->rec, x->said)) != NULL) {
		tool_say("warning: %s", text);
		x->said++;
	}
	return rc < 0 ? rc : 0;
}

/* Readings of that meter which has the fewest. */
static uint64_t readings(const struct runner *x)
{
	uint64_t least = UINT64_MAX;
	struct ww_live l;

	for (size_t i = 0; ww_recorder_live(x->r->rec, i, &l) == 1; i++)
		if (l.kind == WW_METER && l.n < least)
			least = l.n;
	return least == UINT64_MAX ? 0 : least;
}

static int no_reading(struct runner *x)
{
	x->err.code = -ETIMEDOUT;
	snprintf(x->err.text, sizeof(x->err.text), "%s: no reading in %lld s: nothing more is run",
		 x->o->uri[0], READINGS_NS / S);
	return -ETIMEDOUT;
}

/* Until so long has passed and so many readings came. @return 1, 0 the end, negative */
static int stay(struct runner *x, int64_t ns, uint64_t more)
{
	int64_t from = ww_clock_now_ns(), now = from, last = from;
	uint64_t n = readings(x), until = n + more;
	int rc = 0;

	while (rc == 0 && !x->stop_ns && !x->ended && (now - from < ns || n < until)) {
		rc = turn(x, now - from < ns ? from + ns : now + S / 10);
		now = ww_clock_now_ns();
		last = readings(x) > n ? now : last;
		n = readings(x);
		if (now - last > READINGS_NS && now - from >= ns)
			return no_reading(x);
	}
	return rc < 0 ? rc : !x->stop_ns && !x->ended;
}

static int mark(struct runner *x, struct ww_interval t, const char *kind, const char *text)
{
	struct ww_mark m = {.t = t, .cycle = x->n, .kind = kind, .text = text ? text : ""};

	if (!text) {
		x->err.code = -ENOMEM;
		return -ENOMEM;
	}
	return ww_recorder_mark(x->r->rec, &m, &x->err);
}

static void narrate(const char *what, const struct runner *x, const char *label)
{
	uint32_t all = x->o->n * (uint32_t)x->plan->variants;

	if (!isatty(STDERR_FILENO))
		return;
	if (x->n)
		tool_say("%s %u of %u%s%s", what, x->n, all, *label ? ": " : "", label);
	else
		tool_say("%s", what);
}

static int baseline(struct runner *x)
{
	struct ww_interval now = {0, 0};
	int64_t ns = x->o->baseline_ns < 0 ? BASELINE_NS : x->o->baseline_ns;
	int rc;

	if (ns == 0)
		return 1;
	if (x->n == 0)
		narrate("measuring the baseline", x, "");
	rc = mark(x, now, WW_MARK_BASELINE, "");
	if (rc >= 0)
		rc = stay(x, ns, BASELINE_READINGS);
	/* What was measured until an end by hand counts. */
	if (rc >= 0 && mark(x, now, WW_MARK_BASELINE_END, "") < 0)
		rc = -EIO;
	return rc;
}

/* ---- one run ---- */

static char *text_of_start(const struct runner *x, const struct run_variant *v, uint32_t round,
			   bool warmup)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return NULL;
	fprintf(f, "run=%u round=%u place=%u variant=", x->n, round + 1, v->place);
	for (const char *p = v->label; *p; p++)
		if (*p == ' ' || *p == '%' || (unsigned char)*p < ' ')
			fprintf(f, "%%%02X", (unsigned)(unsigned char)*p);
		else
			fputc(*p, f);
	fprintf(f, " repeat=%u%s command=%s", x->o->repeat, warmup ? " warmup=1" : "", v->text);
	return fclose(f) == 0 ? text : NULL;
}

static int mark_end(struct runner *x, struct ww_interval end, int status, double cpu)
{
	char text[96];

	if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "run=%u signal=%d cpu_s=%.6f", x->n, WTERMSIG(status),
			 cpu);
	else
		snprintf(text, sizeof(text), "run=%u exit=%d cpu_s=%.6f", x->n, WEXITSTATUS(status),
			 cpu);
	return mark(x, end, WW_MARK_RUN_END, text);
}

static int mark_work(struct runner *x)
{
	struct ww_work_found w;
	struct ww_interval now = {0, 0};
	char text[384], why[256];
	size_t n = 0;

	ww_work_get(x->work, &w);
	if (w.kind != WW_WORK_NONE) {
		snprintf(text, sizeof(text), "run=%u %s=%.17g u=%.17g unit=%s", x->n,
			 w.kind == WW_WORK_RATE ? "rate" : "amount", w.value, w.u, w.unit);
	} else {
		for (const char *p = w.why; *p && n + 4 < sizeof(why); p++)
			n += (size_t)snprintf(why + n, sizeof(why) - n,
					      *p == ' ' || *p == '%' ? "%%%02X" : "%c",
					      (unsigned)(unsigned char)*p);
		why[n] = '\0';
		snprintf(text, sizeof(text), "run=%u why=%s", x->n, why);
	}
	return mark(x, now, WW_MARK_RUN_WORK, text);
}

/* The command once, to its end. @return 0, or negative */
static int once(struct runner *x, const struct run_variant *v, int out)
{
	int rc = run_child_start(&x->child, v, out);

	if (rc != 0) {
		x->err.code = -rc;
		snprintf(x->err.text, sizeof(x->err.text), "%s: %s", v->argv[0], strerror(rc));
		return -rc;
	}
	while (!run_child_ended(&x->child)) {
		rc = turn(x, ww_clock_now_ns() + S);
		if (rc < 0 && x->child.pid > 0) {
			/* Without its meter it is run for nothing. */
			run_child_signal(&x->child, SIGTERM);
			waitpid(x->child.pid, NULL, 0);
			return rc;
		}
	}
	return 0;
}

/* As often as asked, in one run, and the marks that tell of it. */
static int repeat(struct runner *x, const struct run_variant *v, char *start_text, int out)
{
	struct ww_interval start = {0, 0};
	double cpu = 0;
	int rc = 0, status = 0;

	for (uint32_t i = 0; i < x->o->repeat && rc == 0 && status == 0 && !x->stop_ns; i++) {
		rc = once(x, v, out);
		if (i == 0)
			start = x->child.start;
		if (i == 0 && rc == 0)
			rc = mark(x, start, WW_MARK_RUN_START, start_text);
		x->begun += i == 0 && rc == 0;
		cpu += x->child.cpu_s;
		status = rc == 0 ? x->child.status : 0;
	}
	if (rc == 0)
		rc = mark_end(x, x->child.end, status, cpu);
	x->failed += status != 0;
	return rc;
}

/* What it printed last may still be in the pipe; what it left behind may hold that open. */
static int hear_out(struct runner *x, struct run_tee *tee)
{
	int64_t end = ww_clock_now_ns() + OUTPUT_NS;
	int rc = 0;

	while (rc == 0 && !run_tee_done(tee) && ww_clock_now_ns() < end)
		rc = turn(x, ww_clock_now_ns() + S / 500);
	return rc;
}

static int one_run(struct runner *x, const struct run_variant *v, uint32_t round, bool warmup)
{
	struct run_tee tee = {.running = false};
	int out = x->log_fd, rc;
	char *text;

	x->n++;
	narrate(warmup ? "warm-up" : "run", x, v->label);
	text = text_of_start(x, v, round, warmup);
	if (x->work) {
		ww_work_reset(x->work);
		out = run_tee_open(&tee, x->log_fd, x->work);
		if (out < 0) {
			x->err.code = -errno;
			snprintf(x->err.text, sizeof(x->err.text), "a pipe for the output: %s",
				 strerror(errno));
		}
	}
	rc = out < 0 ? x->err.code : repeat(x, v, text, out);
	if (x->work && out >= 0) {
		close(out);
		if (rc == 0)
			rc = hear_out(x, &tee);
		run_tee_close(&tee);
		if (rc == 0)
			rc = mark_work(x);
	}
	free(text);
	return rc < 0 ? rc : !x->stop_ns && !x->ended;
}

/* Every variant once, in its order. */
static int round_of(struct runner *x, uint32_t k, bool warmup)
{
	size_t order[RUN_VARIANTS];
	int64_t settle = x->o->settle_ns < 0 ? SETTLE_NS : x->o->settle_ns;
	int rc = 1;

	run_plan_round(x->plan, x->o, k, order);
	for (size_t i = 0; i < x->plan->variants && rc > 0; i++) {
		rc = one_run(x, &x->plan->variant[order[i]], k, warmup);
		if (rc > 0)
			rc = stay(x, settle, 2);
		if (rc > 0 && !warmup)
			rc = baseline(x);
	}
	return rc;
}

/* "meter.watts", "watts" or "meter" mean this one. */
static bool named(const char *name, const struct ww_live *l)
{
	size_t n = strlen(l->source);

	return !name || strcmp(name, l->channel) == 0 || strcmp(name, l->source) == 0 ||
	       (strncmp(name, l->source, n) == 0 && name[n] == '.' &&
		strcmp(name + n + 1, l->channel) == 0);
}

static bool of_watts(const struct ww_live *l)
{
	size_t n = strlen(l->unit);

	return l->kind == WW_METER && n > 0 && n <= 2 && l->unit[n - 1] == 'W';
}

/* One channel that the report can go by, or nothing is run for it. */
static int check_channel(struct runner *x)
{
	const char *name = x->o->channel;
	char all[400] = "";
	size_t n = 0, hits = 0, k = 0;
	struct ww_live l;

	for (size_t i = 0; ww_recorder_live(x->r->rec, i, &l) == 1; i++) {
		if (!of_watts(&l))
			continue;
		n++;
		hits += named(name, &l);
		if (k < sizeof(all))
			k += (size_t)snprintf(all + k, sizeof(all) - k, "%s%s.%s", k ? ", " : "",
					      l.source, l.channel);
	}
	if (hits == 1)
		return 1;
	x->wrong = true;
	x->err.code = -EINVAL;
	if (n == 0)
		snprintf(x->err.text, sizeof(x->err.text), "no channel of this meter is in W");
	else
		snprintf(x->err.text, sizeof(x->err.text),
			 "%s%s%s of power: %s; name one with --channel",
			 hits > 1 ? "several channels" : "no channel '", hits > 1 ? "" : name,
			 hits > 1 ? "" : "'", all);
	return -EINVAL;
}

static int rounds(struct runner *x)
{
	int rc = stay(x, 0, 1);

	if (rc > 0)
		rc = check_channel(x);

	for (uint32_t k = 0; k < x->o->warmup && rc > 0; k++)
		rc = round_of(x, k, true);
	if (rc > 0)
		rc = baseline(x);
	for (uint32_t k = 0; k < x->o->n && rc > 0; k++)
		rc = round_of(x, k, false);
	return rc;
}

/* The last readings of a run that was stopped still have to come. */
static void drain(struct runner *x)
{
	uint64_t until = readings(x) + 2;
	int64_t end = ww_clock_now_ns() + 3 * S;

	while (!x->ended && readings(x) < until && ww_clock_now_ns() < end &&
	       turn(x, ww_clock_now_ns() + S / 10) == 0)
		;
}

static int open_parts(struct runner *x)
{
	x->log_fd = STDERR_FILENO;
	x->sig_fd = tool_signals(false);
	if (x->o->log) {
		x->log_fd = open(x->o->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		if (x->log_fd < 0) {
			tool_say("%s: %s", x->o->log, strerror(errno));
			return TOOL_FAILED;
		}
	}
	if (x->o->per && ww_work_new(x->o->per, &x->work, &x->err) < 0)
		return tool_fail(&x->err);
	if (ww_recorder_start(x->r->rec, &x->err) < 0)
		return tool_fail(&x->err);
	x->r->started = true;
	x->r->start_ns = ww_clock_now_ns();
	return TOOL_OK;
}

int run_all(struct recording *r, const struct run_options *o, const struct run_plan *p,
	    uint32_t *runs)
{
	struct runner x = {.r = r, .o = o, .plan = p, .child = {.pid_fd = -1}};
	int rc = open_parts(&x), done = 0;

	if (rc == TOOL_OK) {
		done = rounds(&x);
		if (done == 0 && !x.ended)
			drain(&x);
		if (done == 0)
			tool_say(x.ended ? "the meter ended before the last run"
					 : "stopped before the last run");
		if (ww_recorder_stop(r->rec, &x.err) < 0)
			done = -EIO;
		if (done < 0 && x.wrong)
			tool_usage_error("%s", x.err.text);
		else if (done < 0)
			tool_fail(&x.err);
		rc = x.wrong					     ? TOOL_USAGE
		     : done <= 0 || (x.failed && !o->ignore_failure) ? TOOL_FAILED
								     : TOOL_OK;
	}
	*runs = x.begun;
	if (x.log_fd >= 0 && x.log_fd != STDERR_FILENO)
		close(x.log_fd);
	if (x.sig_fd >= 0)
		close(x.sig_fd);
	ww_work_free(x.work);
	return rc;
}
