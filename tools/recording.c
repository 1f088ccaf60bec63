/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LIVE_NS INT64_C(250000000)

struct keys {
	bool on;
	bool typed; /* a terminal: nothing is read while the program is in the background */
	size_t n;
	char line[512];
};

bool recording_form(struct recording *r, const char *word)
{
	if (strcmp(word, "jsonl") == 0)
		r->form = WW_FORM_JSONL;
	else if (strcmp(word, "binary") == 0)
		r->form = WW_FORM_BINARY;
	else
		return false;
	return true;
}

FILE *recording_report_to(const struct recording *r)
{
	return r->path[0] ? stdout : stderr;
}

/* pwrlog-20260131-142500.wwt, in the folder one is in. */
static void default_name(struct recording *r)
{
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	snprintf(r->path, sizeof(r->path), "%.*s-", (int)strcspn(r->program, " "), r->program);
	strftime(r->path + strlen(r->path), sizeof(r->path) - strlen(r->path), "%Y%m%d-%H%M%S.wwt",
		 &tm);
}

/*
 * The thread that stamps runs before the others where that is allowed; children and
 * the writer's thread do not inherit it. The trace says what was in force.
 */
static void raise_priority(void)
{
	struct sched_param p = {.sched_priority = 1};

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &p) < 0)
		return; /* not allowed: lateness is measured and stated in any case */
}

int recording_open(struct recording *r)
{
	struct ww_recorder_options opt = {.size = sizeof(opt),
					  .program = r->program,
					  .command = r->command,
					  .every_ns = r->every_ns,
					  .raw = r->raw};
	struct ww_error err = {0};

	if (r->out && strcmp(r->out, "-") == 0) {
		opt.form = r->form ? r->form : WW_FORM_JSONL;
		opt.fd = STDOUT_FILENO;
		if (isatty(STDOUT_FILENO) && opt.form == WW_FORM_BINARY)
			return tool_usage_error("a binary stream is not for a terminal");
	} else {
		if (!r->out)
			default_name(r);
		else if (strlen(r->out) < sizeof(r->path))
			memcpy(r->path, r->out, strlen(r->out) + 1);
		else
			return tool_usage_error("the name of the trace is too long");
		opt.path = r->path;
	}
	if (!r->no_realtime)
		raise_priority();
	return ww_recorder_new(&opt, &r->rec, &err) < 0 ? tool_fail(&err) : TOOL_OK;
}

uint32_t recording_add(struct recording *r, const char *uri, const char *name)
{
	struct ww_error err = {0};
	int id = ww_recorder_add(r->rec, uri, name, &err);

	if (id < 0) {
		tool_fail(&err);
		return 0;
	}
	if (strncmp(uri, "manual:", 7) == 0 && !r->manual)
		r->manual = (uint32_t)id;
	return (uint32_t)id;
}

/* -------------------------------------------------------------- the live line */

static void live_value(char *buf, size_t n, const struct ww_live *l)
{
	static const char *const state[] = {"waiting", "", "silent", "unplugged", "ended"};
	int decimals = l->resolution > 0 && l->resolution < 1
			       ? (int)ceil(-log10(l->resolution) - 1e-9)
			       : (l->resolution >= 1 ? 0 : 3);

	if (l->kind == WW_SERIAL)
		snprintf(buf, n, "  %s %llu B%s%s", l->source, (unsigned long long)l->n,
			 l->state == 1 ? "" : " ", state[l->state]);
	else if (isnan(l->value))
		snprintf(buf, n, "  %s %s %s", l->source, l->channel,
			 l->state == 1 ? "-" : state[l->state]);
	else if (strcmp(l->unit, "1") == 0)
		snprintf(buf, n, "  %s %s %.*f", l->source, l->channel, decimals, l->value);
	else
		snprintf(buf, n, "  %s %.*f %s", l->source, decimals, l->value, l->unit);
}

static void live_line(const struct recording *r, int64_t start)
{
	struct ww_live l;
	const char *phase;
	char piece[96];
	size_t width = 12;

	fprintf(stderr, "\r%8.1f s", (double)(ww_clock_now_ns() - start) / 1e9);
	if (r->campaign) {
		uint32_t n = ww_campaign_progress(r->campaign, &phase);

		fprintf(stderr, "  cycle %u %s", n, phase);
		width += 10 + strlen(phase);
	}
	for (size_t i = 0; ww_recorder_live(r->rec, i, &l) == 1; i++) {
		live_value(piece, sizeof(piece), &l);
		if (width + strlen(piece) > 100)
			break;
		width += strlen(piece);
		fputs(piece, stderr);
	}
	fputs("  \033[K", stderr);
}

/* ------------------------------------------------------------------- keys */

/* A number that ends where the word ends. */
static bool number(const char *s, double *v)
{
	char *end;

	*v = strtod(s, &end);
	while (isspace((unsigned char)*end))
		end++;
	return end != s && *end == '\0' && isfinite(*v);
}

/*
 * What a person types for a meter with only a display: "READING", "READING LABEL",
 * "LABEL, READING" or "LABEL READING". @return false if there is no number in it
 */
static bool split_reading(char *line, double *value, const char **label)
{
	char *cut = line + strcspn(line, " \t,;"), *last;
	char keep = *cut;

	*label = "";
	if (number(line, value))
		return true;
	*cut = '\0';
	if (number(line, value)) {
		cut++;
		*label = cut + strspn(cut, " \t,;");
		return true;
	}
	*cut = keep;
	last = line + strlen(line);
	while (last > line && !strchr(" \t,;", last[-1]))
		last--;
	if (last == line || !number(last, value))
		return false;
	for (cut = last; cut > line && strchr(" \t,;", cut[-1]); cut--)
		;
	*cut = '\0';
	*label = line;
	return true;
}

static void take_line(struct recording *r, char *line)
{
	struct ww_mark m = {.kind = WW_MARK_LABEL, .text = line};
	struct ww_error err = {0};
	const char *label;
	double value;
	size_t n = strlen(line);

	while (n > 0 && isspace((unsigned char)line[n - 1]))
		line[--n] = '\0';
	line += strspn(line, " \t");
	m.text = line;
	if (!*line)
		return;
	if (r->manual && split_reading(line, &value, &label)) {
		if (ww_recorder_type(r->rec, r->manual, value, label, &err) < 0)
			tool_fail(&err);
		else
			tool_say("reading %g%s%s", value, *label ? ", " : "", label);
		return;
	}
	if (ww_recorder_mark(r->rec, &m, &err) < 0)
		tool_fail(&err);
	else
		tool_say("mark '%s'", line);
}

/* @return false at the end of the input */
static bool take_keys(struct recording *r, struct keys *k)
{
	char buf[256];
	ssize_t n = read(STDIN_FILENO, buf, sizeof(buf));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n <= 0) {
		k->line[k->n] = '\0';
		take_line(r, k->line);
		return false;
	}
	for (ssize_t i = 0; i < n; i++) {
		if (buf[i] == '\n') {
			k->line[k->n] = '\0';
			k->n = 0;
			take_line(r, k->line);
		} else if (k->n < sizeof(k->line) - 1) {
			k->line[k->n++] = buf[i];
		}
	}
	return true;
}

/* Marks come from a terminal or a pipe; a file or /dev/null is somebody else's. */
static struct keys keys_open(const struct recording *r)
{
	struct keys k = {.typed = isatty(STDIN_FILENO) != 0};
	struct stat st;

	k.on = k.typed || r->manual ||
	       (fstat(STDIN_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)));
	return k;
}

static bool keys_ready(const struct keys *k)
{
	return k->on && (!k->typed || tcgetpgrp(STDIN_FILENO) == getpgrp());
}

/* ------------------------------------------------------------------- the run */

static int signals_open(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static bool only_manual(const struct recording *r)
{
	struct ww_live l;

	for (size_t i = 0; ww_recorder_live(r->rec, i, &l) == 1; i++)
		if (l.kind != WW_MANUAL)
			return false;
	return r->manual != 0;
}

static void say_warnings(const struct recording *r, size_t *said)
{
	const char *text;

	while ((text = ww_recorder_warning(r->rec, *said)) != NULL) {
		tool_say("warning: %s", text);
		(*said)++;
	}
}

/* @return 1 going on, 0 the end, negative an error */
static int dispatch(struct recording *r, struct ww_error *err)
{
	int rc = ww_recorder_dispatch(r->rec, err);

	if (rc > 0 && r->campaign)
		rc = ww_campaign_dispatch(r->campaign, err);
	return rc;
}

static int run(struct recording *r, int sig_fd, struct ww_error *err)
{
	struct keys keys = keys_open(r);
	bool live = isatty(STDERR_FILENO) != 0;
	int64_t start = ww_clock_now_ns(), next = start;
	size_t said = 0;
	int rc = 1;

	while (rc > 0) {
		int64_t now = ww_clock_now_ns();
		struct pollfd p[4] = {
			{.fd = ww_recorder_fd(r->rec), .events = POLLIN},
			{.fd = sig_fd, .events = POLLIN},
			{.fd = keys_ready(&keys) ? STDIN_FILENO : -1, .events = POLLIN},
			{.fd = r->campaign ? ww_campaign_fd(r->campaign) : -1, .events = POLLIN},
		};
		int wait = live ? (int)(LIVE_NS / 1000000) : 1000;

		if (r->for_ns && start + r->for_ns - now < (int64_t)wait * 1000000)
			wait = start + r->for_ns > now
				       ? (int)((start + r->for_ns - now + 999999) / 1000000)
				       : 0;
		poll(p, 4, wait);
		rc = dispatch(r, err);
		if (p[1].revents) {
			r->interrupted = true;
			break;
		}
		if (p[2].revents && !take_keys(r, &keys)) {
			keys.on = false;
			if (only_manual(r))
				break;
		}
		say_warnings(r, &said);
		now = ww_clock_now_ns();
		if (live && now >= next) {
			live_line(r, start);
			next = now + LIVE_NS;
		}
		if (r->for_ns && now - start >= r->for_ns)
			break;
	}
	if (live)
		fputs("\r\033[K", stderr);
	return rc;
}

static void say_stats(const struct recording *r)
{
	struct ww_recorder_stats s;

	ww_recorder_stats(r->rec, &s);
	if (r->path[0])
		tool_say("%s: %llu samples, %llu bytes of serial data, %llu gaps; %.1f kB", r->path,
			 (unsigned long long)s.samples, (unsigned long long)s.bytes,
			 (unsigned long long)s.gaps, (double)s.stored / 1e3);
	if (s.lost)
		tool_say("warning: %llu items lost because the queue was full (see the gaps)",
			 (unsigned long long)s.lost);
	if (s.late_max_ns >= 0)
		tool_say("lateness of the stamping timer: 99 %% under %.2f ms, at most %.2f ms",
			 (double)s.late_p99_ns / 1e6, (double)s.late_max_ns / 1e6);
}

int recording_run(struct recording *r)
{
	struct ww_error err = {0};
	int sig_fd = signals_open(), rc;

	rc = ww_recorder_start(r->rec, &err);
	if (rc >= 0) {
		if (isatty(STDERR_FILENO))
			tool_say("recording%s%s; Ctrl-C ends it, a label and Enter sets a mark",
				 r->path[0] ? " to " : "", r->path);
		rc = run(r, sig_fd, &err);
	}
	ww_campaign_free(r->campaign);
	r->campaign = NULL;
	if (ww_recorder_stop(r->rec, &err) < 0)
		rc = err.code;
	close(sig_fd);
	say_stats(r);
	return rc < 0 ? tool_fail(&err) : TOOL_OK;
}

void recording_free(struct recording *r)
{
	ww_campaign_free(r->campaign);
	ww_recorder_free(r->rec);
	free(r->command);
}
