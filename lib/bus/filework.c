/* SPDX-License-Identifier: MIT */
#include "bus/filework.h"
#include "base/str.h"

#include <dirent.h>
#include <fnmatch.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SHARED	 128
#define GRACE_MS 100 /* for putting back what was written */
#define LIST_NS	 (200 * WW_NS_PER_MS)
#define LIST_MAX 65536

int ww_files_start(struct ww_files *f, const char *folder, struct ww_error *err)
{
	struct ww_worker_setup s = {.name = "ww-files", .run = ww_files_child_run};
	int rc;

	f->worker = (struct ww_worker){.fd = -1, .pid_fd = -1};
	snprintf(f->folder, sizeof(f->folder), "%s", folder);
	f->answer = malloc(sizeof(struct ww_files_head) + WW_FILES_ANSWER + 1);
	f->shared = mmap(NULL, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (f->shared == MAP_FAILED)
		f->shared = NULL;
	s.ctx = f->shared ? ww_files_child_new(folder, f->shared) : NULL;
	if (!f->answer || !s.ctx)
		rc = ww_fail_nomem(err);
	else
		rc = ww_worker_start(&f->worker, &s, err);
	free(s.ctx);
	if (rc < 0)
		ww_files_end(f);
	return rc;
}

void ww_files_end(struct ww_files *f)
{
	ww_worker_end(&f->worker, f->wrote ? GRACE_MS : 0);
	for (size_t i = 0; i < f->asks; i++)
		free(f->ask[i].text);
	f->asks = 0;
	free(f->answer);
	f->answer = NULL;
	if (f->shared)
		munmap(f->shared, SHARED);
	f->shared = NULL;
}

static void hand_on(struct ww_files *f, int64_t now_ns)
{
	char buf[WW_FILES_ASK + 8];
	size_t n;

	if (!f->asks || f->ask[0].sent_ns)
		return;
	n = strlen(f->ask[0].text);
	memcpy(buf, &f->ask[0].seq, sizeof(f->ask[0].seq));
	memcpy(buf + sizeof(f->ask[0].seq), f->ask[0].text, n);
	/* The worker waits for it: one is under way at a time. */
	if (ww_worker_send(&f->worker, buf, sizeof(f->ask[0].seq) + n) == 0)
		f->ask[0].sent_ns = now_ns;
}

int ww_files_ask(struct ww_files *f, const void *text, size_t n, int64_t now_ns,
		 struct ww_error *err)
{
	char *copy;

	if (!n || n >= WW_FILES_ASK)
		return ww_fail(err, -EMSGSIZE, "%s: a request of %zu bytes", f->folder, n);
	for (size_t i = 0; i < f->asks; i++)
		if (strlen(f->ask[i].text) == n && memcmp(f->ask[i].text, text, n) == 0)
			return 0;
	if (f->asks == WW_FILES_WAIT)
		return ww_fail(err, -EBUSY, "%s: %s does not return", f->folder,
			       f->shared[0] ? f->shared : "a file");
	copy = strndup(text, n);
	if (!copy)
		return ww_fail_nomem(err);
	f->wrote |= strstr(copy, ":=") != NULL;
	f->ask[f->asks].text = copy;
	f->ask[f->asks].seq = ++f->seq;
	f->ask[f->asks].sent_ns = 0;
	f->ask[f->asks++].told = false;
	hand_on(f, now_ns);
	return 0;
}

int ww_files_next(struct ww_files *f, int64_t now_ns, struct ww_files_head *head, const char **text,
		  size_t *n)
{
	ssize_t k = ww_worker_recv(&f->worker, f->answer, sizeof(*head) + WW_FILES_ANSWER);

	if (k == -EAGAIN)
		return 0;
	if (k < (ssize_t)sizeof(*head))
		return -EPIPE;
	memcpy(head, f->answer, sizeof(*head));
	f->answer[k] = '\0';
	if (f->asks && f->ask[0].seq == head->seq) {
		free(f->ask[0].text);
		memmove(&f->ask[0], &f->ask[1], (--f->asks) * sizeof(f->ask[0]));
	}
	hand_on(f, now_ns);
	*text = (const char *)f->answer + sizeof(*head);
	*n = (size_t)k - sizeof(*head);
	return head->gone ? -ENODEV : 1;
}

const char *ww_files_slow(struct ww_files *f, int64_t now_ns, struct ww_interval *t)
{
	if (!f->asks || !f->ask[0].sent_ns || f->ask[0].told ||
	    now_ns - f->ask[0].sent_ns < WW_FILES_SLOW)
		return NULL;
	f->ask[0].told = true;
	*t = (struct ww_interval){f->ask[0].sent_ns, now_ns};
	f->shared[SHARED - 1] = '\0';
	return f->shared[0] ? f->shared : f->ask[0].text;
}

/* ----------------------------------------------------------------- the listing */

/*
 * Files that describe: those that the kernel has in its memory first, then those for
 * which it may have to ask the chip. Others measure something when they are read.
 */
static int describes(const char *name)
{
	static const char *const memory[] = {"name",	 "label",
					     "type",	 "scope",
					     "*_label",	 "*_scale",
					     "*_offset", "*_type",
					     "*_index",	 "*_en",
					     "*/name",	 "*max_energy_range_uj",
					     "buffer/*", "current_timestamp_clock"};
	static const char *const chip[] = {"update_interval", "*shunt_resistor",
					   "*integration_time", "*oversampling_ratio",
					   "*sampling_frequency"};

	for (size_t i = 0; i < WW_COUNTOF(memory); i++)
		if (fnmatch(memory[i], name, 0) == 0)
			return 1;
	for (size_t i = 0; i < WW_COUNTOF(chip); i++)
		if (fnmatch(chip[i], name, 0) == 0)
			return 2;
	return 0;
}

struct names {
	char *name[512];
	size_t n;
	bool nomem;
};

static void add_name(struct names *l, const char *sub, const char *name, bool folder)
{
	char text[2 * NAME_MAX + 4];

	if (l->n == WW_COUNTOF(l->name))
		return;
	snprintf(text, sizeof(text), "%s%s%s%s", sub, *sub ? "/" : "", name, folder ? "/" : "");
	if (strchr(text, '\n') || strchr(text, '='))
		return;
	l->name[l->n] = strdup(text);
	if (l->name[l->n])
		l->n++;
	else
		l->nomem = true;
}

/* Of the folder and of those right in it; links lead elsewhere. */
static void names_of(struct names *l, const char *folder, const char *sub)
{
	char path[PATH_MAX], at[PATH_MAX];
	struct dirent *e;
	struct stat st;
	DIR *d;

	snprintf(path, sizeof(path), "%.1000s%s%.255s", folder, *sub ? "/" : "", sub);
	d = opendir(path);
	if (!d)
		return;
	while ((e = readdir(d))) {
		int k = snprintf(at, sizeof(at), "%s/%s", path, e->d_name);

		if (e->d_name[0] == '.' || k < 0 || (size_t)k >= sizeof(at) || lstat(at, &st) < 0)
			continue;
		if (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode)) {
			add_name(l, sub, e->d_name, false);
		} else if (S_ISDIR(st.st_mode) && !*sub && strcmp(e->d_name, "power") != 0) {
			add_name(l, sub, e->d_name, true);
			names_of(l, folder, e->d_name);
		}
	}
	closedir(d);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The answer to a request, waited for; false: it has not come in time. */
static bool answered(struct ww_files *f, const char *ask, int64_t for_ns, struct ww_str *s)
{
	struct pollfd p = {.fd = f->worker.fd, .events = POLLIN};
	int64_t now = ww_clock_ns(CLOCK_BOOTTIME), until = now + for_ns;
	struct ww_files_head head;
	const char *text;
	size_t n;

	if (!*ask)
		return true;
	/* What came too late before is still under way: it would have to be waited for, too. */
	if (f->asks || ww_files_ask(f, ask, strlen(ask), now, NULL) < 0)
		return false;
	while ((now = ww_clock_ns(CLOCK_BOOTTIME)) < until) {
		poll(&p, 1, 1 + (int)((until - now) / WW_NS_PER_MS));
		switch (ww_files_next(f, now, &head, &text, &n)) {
		case 1:
			ww_str_addn(s, text, n);
			return true;
		case 0:
			break;
		default:
			return false;
		}
	}
	return false;
}

/* Values of files of a kind, in as many requests as are needed. */
static void values_of(struct ww_files *f, const struct names *l, int kind, struct ww_str *s)
{
	char ask[WW_FILES_ASK];
	bool late = false;

	for (size_t i = 0; i < l->n;) {
		size_t from = i, k = 0;

		for (ask[0] = '\0'; i < l->n && k + strlen(l->name[i]) + 2 < sizeof(ask); i++)
			if (describes(l->name[i]) == kind)
				k += (size_t)snprintf(ask + k, sizeof(ask) - k, "%s%s",
						      k ? "\n" : "", l->name[i]);
		if (!late && answered(f, ask, LIST_NS, s))
			continue;
		late = true;
		for (size_t j = from; j < i; j++)
			if (describes(l->name[j]) == kind)
				ww_str_addf(s, "%s!ETIMEDOUT\n", l->name[j]);
	}
}

static bool is_folder(const char *name)
{
	return name[strlen(name) - 1] == '/';
}

int ww_files_list(struct ww_files *f, char **out, size_t *n, struct ww_error *err)
{
	struct ww_str s = {0};
	struct names l = {0};
	int rc;

	names_of(&l, f->folder, "");
	qsort(l.name, l.n, sizeof(*l.name), by_name);
	/* "" where there are none: never NULL. */
	ww_str_addn(&s, "", 0);
	for (size_t i = 0; i < l.n && s.n < LIST_MAX; i++)
		if (is_folder(l.name[i]))
			ww_str_addf(&s, "%s\n", l.name[i]);
		else if (!describes(l.name[i]))
			ww_str_addf(&s, "%s=\n", l.name[i]);
	values_of(f, &l, 1, &s);
	values_of(f, &l, 2, &s);
	for (size_t i = 0; i < l.n; i++)
		free(l.name[i]);
	if (l.nomem)
		s.bad = true;
	*n = s.n;
	rc = ww_str_take(&s, out, err);
	return rc;
}
