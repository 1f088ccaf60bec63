/* SPDX-License-Identifier: MIT */
#include "source/simload.h"
#include "base/str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

bool ww_sim_pair(const char *text, int64_t *at_ns, const char **rest)
{
	const char *colon = strchr(text, ':');
	char buf[64];

	if (!colon || colon == text || (size_t)(colon - text) >= sizeof(buf))
		return false;
	memcpy(buf, text, (size_t)(colon - text));
	buf[colon - text] = '\0';
	*rest = colon + 1;
	return ww_duration_parse(buf, at_ns, NULL) == 0;
}

static int add_step(struct ww_simload *l, const char *text, struct ww_error *err)
{
	const char *rest, *end;
	int64_t at;
	double w;
	size_t i;

	if (!ww_sim_pair(text, &at, &rest))
		goto bad;
	w = ww_strtod(rest, &end);
	if (end == rest || *end || !(w > -1e9 && w < 1e9))
		goto bad;
	for (i = l->steps++; i > 0 && l->step[i - 1].at_ns > at; i--)
		l->step[i] = l->step[i - 1];
	l->step[i].at_ns = at;
	l->step[i].watts = w;
	return 0;
bad:
	return ww_fail(err, -EINVAL, "sim: option step=%s: expected a time and watts, 10s:+12.5",
		       text);
}

int ww_simload_init(struct ww_simload *l, struct ww_uri *uri, struct ww_error *err)
{
	double per_hour = 0;

	*l = (struct ww_simload){.level = 25};
	if (ww_uri_num(uri, "watts", -1e9, 1e9, &l->level, err) < 0 ||
	    ww_uri_num(uri, "drift", -1e9, 1e9, &per_hour, err) < 0)
		return -EINVAL;
	l->drift = per_hour / 3600.0;
	for (size_t i = 0; i < uri->options; i++) {
		if (strcmp(uri->option[i].key, "step") != 0)
			continue;
		uri->option[i].used = true;
		if (add_step(l, uri->option[i].value, err) < 0)
			return -EINVAL;
	}
	return 0;
}

static double stretch(struct ww_simload *l, int64_t t_ns)
{
	double a = (double)l->t_ns / 1e9, dt = (double)(t_ns - l->t_ns) / 1e9;

	l->t_ns = t_ns;
	/* The mean of a line is its value in the middle. */
	return dt * (l->level + l->drift * (a + dt / 2));
}

double ww_simload_to(struct ww_simload *l, int64_t t_ns)
{
	double j = 0;

	while (l->next < l->steps && l->step[l->next].at_ns <= t_ns) {
		if (l->step[l->next].at_ns > l->t_ns)
			j += stretch(l, l->step[l->next].at_ns);
		l->level += l->step[l->next++].watts;
	}
	if (t_ns > l->t_ns)
		j += stretch(l, t_ns);
	l->joules += j;
	return j;
}

double ww_simload_watts(const struct ww_simload *l)
{
	return l->level + l->drift * ((double)l->t_ns / 1e9);
}

/* ---------------------------------------------------------------- following */

struct ww_simfollow {
	char *path;
	int fd; /* inotify on the folder: the file may be missing or be replaced */
	struct ww_watch *watch;
	ww_simfollow_fn fn;
	void *ctx;
	double watts;
	size_t words;
	struct {
		char word[32];
		double watts;
	} word[WW_URI_OPTIONS];
};

/* False where the file is missing, half written or says something unknown. */
static bool read_state(const struct ww_simfollow *f, double *watts)
{
	char buf[64];
	const char *end;
	ssize_t n;
	int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	buf[strcspn(buf, " \t\r\n")] = '\0';
	for (size_t i = 0; i < f->words; i++) {
		if (strcmp(f->word[i].word, buf) == 0) {
			*watts = f->word[i].watts;
			return true;
		}
	}
	*watts = ww_strtod(buf, &end);
	return end != buf && !*end && *watts > -1e9 && *watts < 1e9;
}

static void on_change(void *ctx, uint32_t events)
{
	struct ww_simfollow *f = ctx;
	char buf[4096];
	double w, was = f->watts;

	(void)events;
	while (read(f->fd, buf, sizeof(buf)) > 0)
		;
	if (!read_state(f, &w) || (w >= was && w <= was))
		return;
	f->watts = w;
	f->fn(f->ctx, w - was);
}

static int read_words(struct ww_simfollow *f, struct ww_uri *uri, struct ww_error *err)
{
	for (size_t i = 0; i < uri->options; i++) {
		if (uri->option[i].used)
			continue;
		if (strlen(uri->option[i].key) >= sizeof(f->word[0].word))
			return ww_fail(err, -EINVAL, "sim: the word %s is too long",
				       uri->option[i].key);
		if (ww_uri_num(uri, uri->option[i].key, -1e9, 1e9, &f->word[f->words].watts, err) <
		    0)
			return -EINVAL;
		snprintf(f->word[f->words].word, sizeof(f->word[0].word), "%s", uri->option[i].key);
		f->words++;
	}
	return 0;
}

static int watch_folder(struct ww_simfollow *f, struct ww_loop *l, struct ww_error *err)
{
	char dir[PATH_MAX];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", f->path);
	slash = strrchr(dir, '/');
	if (slash)
		slash[slash == dir] = '\0';
	f->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (f->fd < 0 ||
	    inotify_add_watch(f->fd, slash ? dir : ".",
			      IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE) < 0)
		return ww_fail(err, -errno, "sim: follow=%s: its folder cannot be watched: %s",
			       f->path, strerror(errno));
	return ww_loop_watch(l, f->fd, EPOLLIN, on_change, f, &f->watch, err);
}

int ww_simfollow_open(struct ww_loop *l, const char *path, struct ww_uri *uri, ww_simfollow_fn fn,
		      void *ctx, double *watts, struct ww_simfollow **out, struct ww_error *err)
{
	struct ww_simfollow *f = calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return ww_fail_nomem(err);
	f->fd = -1;
	f->fn = fn;
	f->ctx = ctx;
	f->path = strdup(path);
	rc = f->path ? read_words(f, uri, err) : ww_fail_nomem(err);
	if (rc >= 0)
		rc = watch_folder(f, l, err);
	if (rc < 0) {
		ww_simfollow_close(f);
		return rc;
	}
	read_state(f, watts);
	f->watts = *watts;
	*out = f;
	return 0;
}

void ww_simfollow_close(struct ww_simfollow *f)
{
	if (!f)
		return;
	ww_watch_free(f->watch);
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	free(f);
}
