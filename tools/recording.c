/* SPDX-License-Identifier: MIT */
#include "keys.h"
#include "live.h"
#include "place.h"
#include "recording.h"
#include "typed.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LIVE_NS INT64_C(250000000)
/* Ended by hand before this: no meter needs to have said anything. */
#define EARLY_NS INT64_C(2000000000)

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

bool recording_duration(const char *option, const char *text, int64_t *ns)
{
	struct ww_error err = {0};

	if (ww_duration_parse(text, ns, &err) < 0)
		tool_usage_error("--%s: %s", option, err.text);
	else if (*ns <= 0)
		tool_usage_error("--%s: a duration longer than nothing", option);
	else
		return true;
	return false;
}

int recording_check(const struct recording *r)
{
	if (r->form && (!r->out || strcmp(r->out, "-") != 0))
		return tool_usage_error("--stream is the form of a stream: it needs '-o -'%s",
					r->out ? ", not a file" : "");
	return -1;
}

bool recording_is_line(const char *uri)
{
	if (strncmp(uri, "gpio:", 5) == 0 || strncmp(uri, "modem:", 6) == 0 ||
	    strncmp(uri, "ftdipin:", 8) == 0)
		return true;
	tool_usage_error("-g takes a GPIO line such as gpio:gpiochip0/17, not '%s' (a meter is "
			 "named with -m)",
			 uri);
	return false;
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/*
 * pwrlog-20260131-142500.wwt, in the folder one is in; -2 and so on for those of the
 * same second. The folder is locked until the file is there; who finds it locked does
 * not wait, but takes a name that nobody else can have.
 */
static void default_name(struct recording *r)
{
	char stem[64], when[32];
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
	snprintf(stem, sizeof(stem), "%.*s-%s", (int)strcspn(r->program, " "), r->program, when);
	snprintf(r->path, sizeof(r->path), "%s.wwt", stem);
	r->name_lock = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->name_lock >= 0 && flock(r->name_lock, LOCK_EX | LOCK_NB) < 0)
		snprintf(r->path, sizeof(r->path), "%s-%d.wwt", stem, (int)getpid());
	for (int i = 2; i < 1000 && exists(r->path); i++)
		snprintf(r->path, sizeof(r->path), "%s-%d.wwt", stem, i);
}

static void unlock_name(struct recording *r)
{
	if (r->name_lock >= 0)
		close(r->name_lock);
	r->name_lock = -1;
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
					  .raw = r->raw,
					  .append = r->append};
	struct ww_error err = {0};

	r->name_lock = -1;
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

/* A file is no meter: what may have been meant instead. */
static bool is_file(const char *uri)
{
	struct stat st;
	size_t n = strlen(uri);

	if (stat(uri, &st) == 0 ? !S_ISREG(st.st_mode)
				: n < 4 || strcmp(uri + n - 4, ".wwt") != 0 || strchr(uri, ':'))
		return false;
	tool_say("%s: a file, not a port; the records of a trace are played again with replay:%s, "
		 "and a report of it is printed by pwrlog stat",
		 uri, uri);
	return true;
}

int recording_add(struct recording *r, const char *uri, const char *name, uint32_t *id)
{
	struct ww_error err = {0};
	int rc;

	if (is_file(uri))
		return TOOL_USAGE;
	rc = name ? place_port(uri, "-m") : place_meter(uri);
	if (rc != TOOL_OK)
		return rc;
	rc = ww_recorder_add(r->rec, uri, name, &err);
	if (rc < 0)
		return tool_refused(&err);
	if (strncmp(uri, "manual:", 7) == 0 && r->manuals < RECORDING_SOURCES)
		r->manual[r->manuals++] = (uint32_t)rc;
	if (id)
		*id = (uint32_t)rc;
	return TOOL_OK;
}

/* ------------------------------------------------------------------- the run */

/* As Ctrl-Z does it, so that a group that nobody could continue is not stopped. */
static void stand_still(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* @return true: the end was asked for */
static bool take_signal(int fd, struct keys *keys)
{
	struct signalfd_siginfo s;

	if (read(fd, &s, sizeof(s)) != (ssize_t)sizeof(s))
		return false;
	if (s.ssi_signo != SIGTSTP && s.ssi_signo != SIGCONT)
		return true;
	if (s.ssi_signo == SIGTSTP) {
		live_wipe();
		keys_close(keys);
		stand_still();
	}
	keys_resumed(keys);
	return false;
}

static bool only_manual(const struct recording *r)
{
	struct ww_live l;

	for (size_t i = 0; ww_recorder_live(r->rec, i, &l) == 1; i++)
		if (l.kind != WW_MANUAL)
			return false;
	return r->manuals != 0;
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

/* Milliseconds until something is due by the clock alone. */
static int wait_ms(const struct recording *r, bool live, int64_t now)
{
	int64_t wait = live ? LIVE_NS : 1000000000, left = r->start_ns + r->for_ns - now;

	if (r->for_ns && left < wait)
		wait = left > 0 ? left : 0;
	return (int)((wait + 999999) / 1000000);
}

/* One turn. @return 1 going on, 0 the end, negative an error */
static int turn(struct recording *r, int sig_fd, struct keys *keys, struct ww_error *err)
{
	bool live = live_here();
	struct pollfd p[4] = {
		{.fd = ww_recorder_fd(r->rec), .events = POLLIN},
		{.fd = sig_fd, .events = POLLIN},
		{.fd = keys_fd(keys), .events = POLLIN},
		{.fd = r->campaign ? ww_campaign_fd(r->campaign) : -1, .events = POLLIN},
	};
	int rc;

	poll(p, 4, wait_ms(r, live, ww_clock_now_ns()));
	rc = dispatch(r, err);
	if (p[1].revents && take_signal(sig_fd, keys)) {
		r->interrupted = true;
		return rc < 0 ? rc : 0;
	}
	if (p[2].revents && !keys_take(keys, typed_take, r) && only_manual(r))
		return rc < 0 ? rc : 0;
	if (live && p[2].revents)
		live_draw(r, r->start_ns, keys->line, keys->n);
	return rc > 0 && r->for_ns && ww_clock_now_ns() - r->start_ns >= r->for_ns ? 0 : rc;
}

static int run(struct recording *r, int sig_fd, struct ww_error *err)
{
	struct keys keys;
	int64_t next = r->start_ns;
	size_t said = 0;
	int rc = 1;

	keys_open(&keys, r->manuals > 0, isatty(STDERR_FILENO) != 0);
	while (rc > 0) {
		rc = turn(r, sig_fd, &keys, err);
		say_warnings(r, &said);
		if (rc > 0 && r->enough && r->enough(r->enough_ctx))
			rc = 0;
		if (rc > 0 && ww_clock_now_ns() >= next && live_here()) {
			live_draw(r, r->start_ns, keys.line, keys.echo ? keys.n : 0);
			next = ww_clock_now_ns() + LIVE_NS;
		}
	}
	live_wipe();
	keys_close(&keys);
	return rc;
}

static void say_stats(const struct recording *r, const struct ww_recorder_stats *s)
{
	char bytes[96] = "";
	struct ww_live l;
	bool serial = false;

	for (size_t i = 0; ww_recorder_live(r->rec, i, &l) == 1; i++)
		serial = serial || l.kind == WW_SERIAL;
	if (serial)
		snprintf(bytes, sizeof(bytes), ", %llu byte%s of serial data",
			 (unsigned long long)s->bytes, s->bytes == 1 ? "" : "s");
	if (r->raw)
		snprintf(bytes + strlen(bytes), sizeof(bytes) - strlen(bytes),
			 ", %llu raw byte%s of meters", (unsigned long long)s->raw,
			 s->raw == 1 ? "" : "s");
	if (r->path[0])
		tool_say("%s: %llu sample%s%s, %llu gap%s; %.1f kB", r->path,
			 (unsigned long long)s->samples, s->samples == 1 ? "" : "s", bytes,
			 (unsigned long long)s->gaps, s->gaps == 1 ? "" : "s",
			 (double)s->stored / 1e3);
	if (s->lost)
		tool_say("warning: %llu items lost because the queue was full (see the gaps)",
			 (unsigned long long)s->lost);
	if (s->late_max_ns >= 0)
		tool_say("lateness of the stamping timer: 99 %% under %.2f ms, at most %.2f ms",
			 (double)s->late_p99_ns / 1e6, (double)s->late_max_ns / 1e6);
}

/*
 * Nothing came, nobody typed anything, no campaign did anything: a trace of it would only
 * be in the way of the next try. A line without an edge and a port that stayed silent are
 * facts, and a port's modem inputs are counted nowhere here.
 */
static void forget_nothing(struct recording *r, const struct ww_recorder_stats *s)
{
	struct ww_live l;

	if (!r->path[0] || r->append || r->typed || r->campaign_ran || s->samples || s->bytes ||
	    s->raw || s->lost)
		return;
	for (size_t i = 0; ww_recorder_live(r->rec, i, &l) == 1; i++)
		if (l.n || l.kind != WW_METER)
			return;
	if (unlink(r->path) < 0)
		return;
	tool_say("%s: nothing came, so it was removed again", r->path);
	r->started = false;
}

/*
 * A meter that gave no reading, a port that gave no byte: said of each, and a
 * failure where none gave anything, unless it was ended by hand at once. A line
 * without an edge is a fact like any other.
 */
static int say_nothing(const struct recording *r, int64_t lasted_ns)
{
	int64_t early = 2 * r->every_ns > EARLY_NS ? 2 * r->every_ns : EARLY_NS;
	const char *last = "";
	bool some = false, asked = false;
	struct ww_live l;

	for (size_t i = 0; ww_recorder_live(r->rec, i, &l) == 1; i++) {
		bool again = strcmp(last, l.source) == 0;

		last = l.source;
		if (l.kind == WW_LINE || again)
			continue;
		asked = true;
		some = some || l.n > 0;
		if (l.n == 0)
			tool_say("%s: no %s came in %.1f s", l.source,
				 l.kind == WW_SERIAL ? "byte" : "reading", (double)lasted_ns / 1e9);
	}
	if (some || !asked || (r->interrupted && lasted_ns < early))
		return TOOL_OK;
	tool_say("nothing was recorded");
	return TOOL_FAILED;
}

int recording_run(struct recording *r)
{
	struct ww_error err = {0};
	struct ww_campaign_state how;
	struct ww_recorder_stats stats;
	int sig_fd = tool_signals(true), rc;
	int64_t lasted;

	rc = ww_recorder_start(r->rec, &err);
	unlock_name(r);
	if (rc < 0) {
		close(sig_fd);
		return tool_fail(&err);
	}
	r->started = true;
	r->start_ns = ww_clock_now_ns();
	if (isatty(STDERR_FILENO))
		tool_say("recording%s%s; Ctrl-C ends it, a label and Enter sets a mark",
			 r->path[0] ? " to " : "", r->path);
	typed_say_several(r);
	rc = run(r, sig_fd, &err);
	lasted = ww_clock_now_ns() - r->start_ns;
	if (r->campaign) {
		ww_campaign_state(r->campaign, &how);
		snprintf(r->ended, sizeof(r->ended), "%s", how.end);
		r->campaign_ran = true;
	}
	ww_campaign_free(r->campaign);
	r->campaign = NULL;
	if (ww_recorder_stop(r->rec, &err) < 0)
		rc = err.code;
	close(sig_fd);
	ww_recorder_stats(r->rec, &stats);
	say_stats(r, &stats);
	if (r->ended[0])
		tool_say("%s", r->ended);
	rc = rc < 0 ? tool_fail(&err) : say_nothing(r, lasted);
	forget_nothing(r, &stats);
	return rc;
}

void recording_free(struct recording *r)
{
	unlock_name(r);
	ww_campaign_free(r->campaign);
	ww_recorder_free(r->rec);
	free(r->command);
}
