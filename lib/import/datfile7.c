// SPDX-License-Identifier: MIT
/* The container of trace-cmd, version 7: sections, whose places options tell. */
#include "import/datfile.h"

#define SECTION_MOST  (64u << 20)
#define SECTIONS_MOST 64u /* that are read: about 10 */

static int check(const struct ww_dat_cursor *c, const char *what, struct ww_error *err)
{
	return c->bad ? ww_dat_broken(c->d, what, err) : 0;
}

/* What a section holds, unpacked. *c is to be closed. */
static int open_section(struct ww_dat *d, uint64_t at, uint64_t id, struct ww_dat_cursor *c,
			struct ww_error *err)
{
	uint64_t got, flags, n, packed_n, plain_n;
	char *packed;
	int rc;

	*c = ww_dat_at(d, at);
	if (d->sections++ == SECTIONS_MOST)
		return ww_dat_broken(d, "too many sections", err);
	got = ww_dat_read(c, 2);
	flags = ww_dat_read(c, 2);
	ww_dat_skip(c, 4);
	n = ww_dat_read(c, 8);
	if (c->bad)
		return ww_dat_broken(d, "it ends before a section that it tells of: it was cut off",
				     err);
	if (got != id)
		return ww_dat_broken(d, "a section is not where it should be", err);
	if (n < c->end - c->at)
		c->end = c->at + n;
	if (!(flags & 1))
		return 0;
	packed_n = ww_dat_read(c, 4);
	plain_n = ww_dat_read(c, 4);
	packed = ww_dat_blob(c, packed_n, SECTION_MOST);
	if (!packed || plain_n > SECTION_MOST) {
		free(packed);
		return ww_dat_no_blob(c, "a packed section", err);
	}
	c->owned = malloc((size_t)plain_n + 1);
	if (!c->owned) {
		free(packed);
		return ww_fail_nomem(err);
	}
	rc = ww_dat_unpack(d, (uint8_t *)packed, (size_t)packed_n, c->owned, (size_t)plain_n, err);
	free(packed);
	c->mem = c->owned;
	c->at = 0;
	c->end = plain_n;
	return rc;
}

/* Is what the buffer's section holds packed? */
static int buffer_packed(struct ww_dat *d, uint64_t at, bool *packed, struct ww_error *err)
{
	struct ww_dat_cursor c = ww_dat_at(d, at);
	uint64_t id = ww_dat_read(&c, 2);

	*packed = ww_dat_read(&c, 2) & 1;
	if (c.bad || id != OPT_BUFFER)
		return ww_dat_broken(d, "a buffer is not where it should be", err);
	return 0;
}

static int read_buffer7(struct ww_dat *d, struct ww_dat_cursor *c, struct ww_error *err)
{
	uint64_t at = ww_dat_read(c, 8), page_size, cpus;
	char name[256], clock[256];
	bool packed = false;
	int rc;

	ww_dat_string(c, name, sizeof(name));
	ww_dat_string(c, clock, sizeof(clock));
	page_size = ww_dat_read(c, 4);
	cpus = ww_dat_read(c, 4);
	rc = check(c, "a description of its data", err);
	if (rc == 0 && (page_size > UINT32_MAX / 2 || cpus > WW_DAT_CPUS))
		rc = ww_dat_broken(d, "a description of its data", err);
	if (rc == 0 && cpus > 0)
		rc = buffer_packed(d, at, &packed, err);
	if (rc == 0 && (name[0] == '\0' || d->clock[0] == '\0'))
		ww_dat_set_clock(d, clock, strlen(clock));
	for (uint64_t i = 0; i < cpus && rc == 0; i++) {
		uint64_t number = ww_dat_read(c, 4), from = ww_dat_read(c, 8);
		uint64_t n = ww_dat_read(c, 8);

		rc = check(c, "a description of its data", err);
		if (rc == 0)
			rc = ww_dat_add_cpu(d, (uint32_t)number, (uint32_t)page_size, from, n,
					    packed, err);
	}
	return rc;
}

/* A section that an option tells the place of. */
static int read_section7(struct ww_dat *d, uint64_t id, uint64_t at, struct ww_error *err)
{
	struct ww_dat_cursor c;
	int rc;

	if (id == OPT_KALLSYMS) {
		d->syms_at = at;
		return 0;
	}
	rc = open_section(d, at, id, &c, err);
	if (rc == 0 && id == OPT_HEADER)
		rc = ww_dat_read_header_info(d, &c, err);
	else if (rc == 0 && id == OPT_FTRACE)
		rc = ww_dat_read_ftrace(d, &c, err);
	else if (rc == 0 && id == OPT_EVENTS)
		rc = ww_dat_read_events(d, &c, err);
	else if (rc == 0 && id == OPT_PRINTK)
		rc = ww_dat_read_table(&c, &d->printk, 16, ww_dat_read(&c, 4), err);
	else if (rc == 0 && id == OPT_CMDLINES)
		rc = ww_dat_read_table(&c, &d->comm, 10, ww_dat_read(&c, 8), err);
	ww_dat_close(&c);
	return rc;
}

static int read_option7(struct ww_dat *d, uint64_t id, const char *data, size_t n,
			struct ww_error *err)
{
	struct ww_dat_cursor c = {.d = d, .mem = (const uint8_t *)data, .end = n};

	switch (id) {
	case OPT_BUFFER:
		return read_buffer7(d, &c, err);
	case OPT_CLOCK:
		if (d->clock[0] == '\0')
			ww_dat_set_clock(d, data, n);
		return 0;
	case OPT_TSC:
		if (n >= 16)
			ww_dat_set_tsc(d, c.mem);
		return 0;
	case OPT_HEADER:
	case OPT_FTRACE:
	case OPT_EVENTS:
	case OPT_KALLSYMS:
	case OPT_PRINTK:
	case OPT_CMDLINES:
		return n < 8 ? 0 : read_section7(d, id, ww_dat_read(&c, 8), err);
	case OPT_TEXT:
		return ww_fail(err, -ENOTSUP,
			       "%s: holds the text of a latency tracer: `trace-cmd report %s > "
			       "trace.txt` brings it out",
			       d->name, d->name);
	default:
		return 0;
	}
}

/* One section of options. *next: where the next one is, 0 no more. */
static int read_options7(struct ww_dat *d, uint64_t at, uint64_t *next, struct ww_error *err)
{
	struct ww_dat_cursor c;
	int rc = open_section(d, at, OPT_DONE, &c, err);

	*next = 0;
	for (unsigned i = 0; i < WW_DAT_OPTIONS && rc == 0; i++) {
		uint64_t id = ww_dat_read(&c, 2), n = ww_dat_read(&c, 4);
		char *data = ww_dat_blob(&c, n, SECTION_MOST);

		if (!data) {
			rc = ww_dat_no_blob(&c, "it ends among its options", err);
			break;
		}
		if (id == OPT_DONE) {
			if (n >= 8)
				*next = ww_dat_num(d, (const uint8_t *)data, 8);
			free(data);
			break;
		}
		rc = read_option7(d, id, data, (size_t)n, err);
		free(data);
	}
	ww_dat_close(&c);
	return rc;
}

int ww_dat_version7(struct ww_dat *d, struct ww_dat_cursor *c, struct ww_error *err)
{
	char name[32], version[32];
	uint64_t at;
	int rc = 0;

	ww_dat_string(c, name, sizeof(name));
	ww_dat_string(c, version, sizeof(version));
	at = ww_dat_read(c, 8);
	if (c->bad)
		return ww_dat_broken(d, "it ends in its header", err);
	if (strcmp(name, "zstd") == 0)
		d->packing = WW_DAT_ZSTD;
	else if (strcmp(name, "zlib") == 0)
		d->packing = WW_DAT_ZLIB;
	else if (strcmp(name, "none") != 0)
		return ww_fail(err, -ENOTSUP, "%s: its parts are packed by %.31s, which is unknown",
			       d->name, name);
	for (unsigned i = 0; at != 0 && rc == 0; i++) {
		if (i == 256)
			return ww_dat_broken(d, "its options have no end", err);
		rc = read_options7(d, at, &at, err);
	}
	return rc;
}

int ww_dat_symbols(struct ww_dat *d, struct ww_error *err)
{
	struct ww_dat_cursor c;
	uint64_t n = d->syms_n;
	int rc = 0;

	if (d->syms.loaded)
		return 0;
	d->syms.loaded = true;
	if (d->syms_at == 0)
		return 0;
	if (d->version == 6)
		c = ww_dat_at(d, d->syms_at);
	else
		rc = open_section(d, d->syms_at, OPT_KALLSYMS, &c, err);
	if (rc == 0 && d->version == 7)
		n = ww_dat_read(&c, 4);
	if (rc == 0)
		rc = ww_dat_read_table(&c, &d->syms, 16, n, err);
	ww_dat_close(&c);
	return rc;
}
