// SPDX-License-Identifier: MIT
/* The container of trace-cmd, and its version 6: one thing after the other. */
#include "import/datfile.h"

#include <sys/stat.h>
#include <unistd.h>

#define FORMAT_MOST  (1u << 20)	  /* bytes of an event's format */
#define FORMATS_MOST 16384u	  /* events */
#define TABLE_MOST   (32u << 20)  /* names of functions: 4 MB of a usual kernel */
#define PAGES_MOST   (256u << 20) /* bytes of one page of each CPU */

static int check(const struct ww_dat_cursor *c, const char *what, struct ww_error *err)
{
	return c->bad ? ww_dat_broken(c->d, what, err) : 0;
}

int ww_dat_read_header_info(struct ww_dat *d, struct ww_dat_cursor *c, struct ww_error *err)
{
	char word[16], *text;
	int rc;

	if (!ww_dat_string(c, word, sizeof(word)) || strcmp(word, "header_page") != 0)
		return ww_dat_broken(d, "it has no header_page", err);
	text = ww_dat_blob(c, ww_dat_read(c, 8), FORMAT_MOST);
	if (!text)
		return ww_dat_no_blob(c, "it ends in its header", err);
	rc = ww_dat_header_page(d, text, err);
	free(text);
	if (rc == 0 && (!ww_dat_string(c, word, sizeof(word)) || strcmp(word, "header_event") != 0))
		rc = ww_dat_broken(d, "it has no header_event", err);
	if (rc == 0)
		ww_dat_skip(c, ww_dat_read(c, 8));
	return rc < 0 ? rc : check(c, "it ends in its header", err);
}

/* `count` formats of events. */
static int read_formats(struct ww_dat *d, struct ww_dat_cursor *c, uint64_t count,
			struct ww_error *err)
{
	int rc = 0;

	if (count > FORMATS_MOST)
		return ww_dat_broken(d, "too many kinds of events", err);
	for (uint64_t i = 0; i < count && rc == 0; i++) {
		char *text = ww_dat_blob(c, ww_dat_read(c, 8), FORMAT_MOST);

		if (!text)
			return ww_dat_no_blob(c, "it ends among the formats of its events", err);
		rc = ww_dat_format(d, text, err);
	}
	return rc;
}

int ww_dat_read_ftrace(struct ww_dat *d, struct ww_dat_cursor *c, struct ww_error *err)
{
	return read_formats(d, c, ww_dat_read(c, 4), err);
}

int ww_dat_read_events(struct ww_dat *d, struct ww_dat_cursor *c, struct ww_error *err)
{
	uint64_t systems = ww_dat_read(c, 4);
	char name[256];
	int rc = check(c, "it ends among the formats of its events", err);

	if (rc == 0 && systems > FORMATS_MOST)
		rc = ww_dat_broken(d, "too many systems of events", err);
	for (uint64_t i = 0; i < systems && rc == 0; i++) {
		if (!ww_dat_string(c, name, sizeof(name)))
			return ww_dat_broken(d, "a name of a system of events", err);
		rc = read_formats(d, c, ww_dat_read(c, 4), err);
		if (rc == 0 && d->events > FORMATS_MOST)
			rc = ww_dat_broken(d, "too many kinds of events", err);
	}
	return rc;
}

int ww_dat_read_table(struct ww_dat_cursor *c, struct ww_dat_table *t, int base, uint64_t n,
		      struct ww_error *err)
{
	char *text = ww_dat_blob(c, n, TABLE_MOST);

	if (!text)
		return ww_dat_no_blob(c, "it ends in a table of names", err);
	return ww_dat_table(t, text, (size_t)n, base, err);
}

/* "local [boot] mono" or the name alone. */
void ww_dat_set_clock(struct ww_dat *d, const char *text, size_t n)
{
	const char *open = memchr(text, '[', n);
	const char *close = open ? memchr(open, ']', (size_t)(text + n - open)) : NULL;

	if (close) {
		text = open + 1;
		n = (size_t)(close - text);
	}
	n = strnlen(text, n);
	if (n >= sizeof(d->clock))
		n = sizeof(d->clock) - 1;
	memcpy(d->clock, text, n);
	d->clock[n] = '\0';
}

void ww_dat_set_tsc(struct ww_dat *d, const uint8_t *p)
{
	uint64_t shift = ww_dat_num(d, p + 4, 4);

	if (shift > 63)
		return;
	d->tsc_mult = (uint32_t)ww_dat_num(d, p, 4);
	d->tsc_shift = (uint32_t)shift;
}

int ww_dat_add_cpu(struct ww_dat *d, uint32_t number, uint32_t page_size, uint64_t at, uint64_t n,
		   bool packed, struct ww_error *err)
{
	struct ww_dat_cpu *p;

	if (n == 0)
		return 0;
	if (page_size < 512 || page_size > (16u << 20) || (page_size & (page_size - 1)))
		return ww_dat_broken(d, "the size of its pages", err);
	if (d->cpus == WW_DAT_CPUS || (d->cpus + 1) * page_size > PAGES_MOST)
		return ww_dat_broken(d, "too many CPUs", err);
	/* Cut off: what is there is read. */
	if (at > d->size)
		at = d->size;
	/* The size of packed data may leave out the number in front of them. */
	if (packed && n < UINT64_MAX - 4)
		n += 4;
	if (n > d->size - at)
		n = d->size - at;
	d->cpu_bytes += n;
	if (d->cpu_bytes / (packed ? 64 : 1) > d->size)
		return ww_dat_broken(d, "data of one CPU within those of another", err);
	p = realloc(d->cpu, (d->cpus + 1) * sizeof(*p));
	if (!p)
		return ww_fail_nomem(err);
	d->cpu = p;
	p[d->cpus++] = (struct ww_dat_cpu){
		.cpu = number, .page_size = page_size, .at = at, .end = at + n, .packed = packed};
	return 0;
}

/* Options up to their end: what matters here is the clock. */
static int read_options6(struct ww_dat *d, struct ww_dat_cursor *c, struct ww_error *err)
{
	for (unsigned i = 0; i < WW_DAT_OPTIONS; i++) {
		uint64_t id = ww_dat_read(c, 2), n;
		uint8_t buf[256] = {0};
		size_t take;

		if (id == OPT_DONE)
			return check(c, "it ends among its options", err);
		n = ww_dat_read(c, 4);
		take = n < sizeof(buf) ? (size_t)n : sizeof(buf);
		ww_dat_get(c, buf, take);
		ww_dat_skip(c, n - take);
		if (c->bad)
			break;
		if (id == OPT_CLOCK)
			ww_dat_set_clock(d, (const char *)buf, take);
		else if (id == OPT_TSC && take >= 16)
			ww_dat_set_tsc(d, buf);
	}
	return ww_dat_broken(d, "its options have no end", err);
}

static int read_cpus6(struct ww_dat *d, struct ww_dat_cursor *c, struct ww_error *err)
{
	uint64_t cpus = ww_dat_read(c, 4);
	char word[10];
	int rc = 0;

	ww_dat_get(c, word, sizeof(word));
	if (!c->bad && memcmp(word, "options  ", 10) == 0) {
		rc = read_options6(d, c, err);
		ww_dat_get(c, word, sizeof(word));
	}
	if (rc == 0)
		rc = check(c, "it ends in front of its data", err);
	if (rc == 0 && memcmp(word, "latency  ", 10) == 0) {
		d->text_at = c->at;
		return 0;
	}
	if (rc == 0 && (memcmp(word, "flyrecord", 10) != 0 || cpus > WW_DAT_CPUS))
		rc = ww_dat_broken(d, "neither records nor text", err);
	for (uint32_t i = 0; i < cpus && rc == 0; i++) {
		uint64_t at = ww_dat_read(c, 8), n = ww_dat_read(c, 8);

		rc = check(c, "it ends among the places of its data", err);
		if (rc == 0)
			rc = ww_dat_add_cpu(d, i, d->page_size, at, n, false, err);
	}
	return rc;
}

static int read_version6(struct ww_dat *d, struct ww_dat_cursor *c, struct ww_error *err)
{
	int rc = ww_dat_read_header_info(d, c, err);

	if (rc == 0)
		rc = ww_dat_read_ftrace(d, c, err);
	if (rc == 0)
		rc = ww_dat_read_events(d, c, err);
	if (rc < 0)
		return rc;
	d->syms_n = (uint32_t)ww_dat_read(c, 4);
	d->syms_at = c->at;
	ww_dat_skip(c, d->syms_n);
	rc = check(c, "it ends in the names of functions", err);
	if (rc == 0)
		rc = ww_dat_read_table(c, &d->printk, 16, ww_dat_read(c, 4), err);
	if (rc == 0)
		rc = ww_dat_read_table(c, &d->comm, 10, ww_dat_read(c, 8), err);
	return rc < 0 ? rc : read_cpus6(d, c, err);
}

static int read_file(struct ww_dat *d, struct ww_error *err)
{
	struct ww_dat_cursor c = ww_dat_at(d, 10);
	char version[16];
	uint64_t long_size;

	ww_dat_string(&c, version, sizeof(version));
	d->version = version[0] >= '0' && version[1] == '\0' ? version[0] - '0' : 0;
	d->big = ww_dat_read(&c, 1) == 1;
	long_size = ww_dat_read(&c, 1);
	d->page_size = (uint32_t)ww_dat_read(&c, 4);
	if (c.bad || (long_size != 4 && long_size != 8))
		return ww_dat_broken(d, "it ends in its header", err);
	if (d->version == 6)
		return read_version6(d, &c, err);
	if (d->version == 7)
		return ww_dat_version7(d, &c, err);
	return ww_fail(
		err, -ENOTSUP,
		"%s: a trace of trace-cmd in version '%.15s' of its form; 6 and 7 are known: "
		"`trace-cmd report %s > trace.txt` makes text of it",
		d->name, version, d->name);
}

int ww_dat_open(const char *name, int fd, bool owned, struct ww_dat **out, struct ww_error *err)
{
	struct ww_dat *d = calloc(1, sizeof(*d));
	struct stat st;
	int rc = 0;

	if (!d) {
		if (owned)
			close(fd);
		return ww_fail_nomem(err);
	}
	d->fd = fd;
	d->owned = owned;
	d->commit_at = d->commit_size = 8;
	d->data_at = 16;
	d->name = strdup(name);
	d->by_id = calloc(UINT16_MAX + 1, sizeof(*d->by_id));
	if (!d->name || !d->by_id)
		rc = ww_fail_nomem(err);
	else if (fstat(fd, &st) != 0)
		rc = ww_fail(err, -errno, "%s: %s", name, strerror(errno));
	else
		d->size = (uint64_t)st.st_size;
	if (rc == 0)
		rc = read_file(d, err);
	if (rc < 0) {
		ww_dat_free(d);
		return rc;
	}
	*out = d;
	return 0;
}

void ww_dat_free(struct ww_dat *d)
{
	struct ww_dat_table *const tables[] = {&d->printk, &d->comm, &d->syms};

	for (size_t i = 0; i < d->events; i++) {
		free(d->event[i].text);
		free(d->event[i].field);
	}
	for (size_t i = 0; i < WW_COUNTOF(tables); i++) {
		free(tables[i]->text);
		free(tables[i]->sym);
	}
	for (size_t i = 0; i < d->cpus; i++) {
		free(d->cpu[i].page);
		free(d->cpu[i].chunk);
	}
	if (d->owned)
		close(d->fd);
	free(d->event);
	free(d->cpu);
	free(d->by_id);
	free(d->name);
	free(d);
}
