/* SPDX-License-Identifier: MIT */
/* What a file is, and who reads it. */
#include "import/import.h"
#include "trace/trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES_MOST (INT64_C(1) << 32) /* of a file */
#define PIPE_MOST  ((size_t)1 << 30)  /* that come from elsewhere, and lie in memory */
#define HEAD_BYTES 64u		      /* tell a trace from anything else */

/* The surest wins. */
static const struct ww_importer *const importers[] = {&ww_import_own_csv,   &ww_import_own_jsonl,
						      &ww_import_ptd,	    &ww_import_tracebase,
						      &ww_import_tc66,	    &ww_import_gmt,
						      &ww_import_pmt,	    &ww_import_olpc,
						      &ww_import_turbostat, &ww_import_wattsup,
						      &ww_import_hass,	    &ww_import_csv};

const struct ww_import_format *ww_import_format_at(size_t i)
{
	return i < WW_COUNTOF(importers) ? &importers[i]->format : NULL;
}

/* The content: mapped, or read into memory. */
struct content {
	int fd;
	char *p;
	size_t n, cap;
	bool mapped;
	bool eof;
};

static void content_free(struct content *c)
{
	if (c->mapped && c->p)
		munmap(c->p, c->n);
	else
		free(c->p);
	if (c->fd > 0)
		close(c->fd);
}

/* Read on, until there are `want` bytes or the end. */
static int content_read(struct content *c, const char *path, size_t want, struct ww_error *err)
{
	while (c->n < want && !c->eof) {
		ssize_t got;

		if (c->cap == c->n) {
			size_t cap = c->cap ? 2 * c->cap : WW_IMPORT_SAMPLE;
			char *p = realloc(c->p, cap);

			if (!p)
				return ww_fail_nomem(err);
			c->p = p;
			c->cap = cap;
		}
		got = read(c->fd, c->p + c->n,
			   want - c->n < c->cap - c->n ? want - c->n : c->cap - c->n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ww_fail(err, -errno, "%s: %s", path, strerror(errno));
		c->eof = got == 0;
		c->n += (size_t)got;
	}
	return 0;
}

static int content_open(struct content *c, const char *path, bool *regular, struct ww_error *err)
{
	struct stat st;

	*regular = false;
	if (strcmp(path, "-") == 0) {
		c->fd = STDIN_FILENO;
		return 0;
	}
	if (stat(path, &st) != 0)
		return ww_fail(err, -errno, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return ww_fail(err, -EISDIR, "%s: a folder, not a trace", path);
	c->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (c->fd < 0)
		return ww_fail(err, -errno, "%s: %s", path, strerror(errno));
	*regular = S_ISREG(st.st_mode);
	if (!*regular)
		return 0;
	if (st.st_size > BYTES_MOST)
		return ww_fail(err, -EFBIG, "%s: %lld MB; at most 4096 MB are imported at once",
			       path, (long long)(st.st_size >> 20));
	if (st.st_size == 0)
		return 0;
	c->p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, c->fd, 0);
	if (c->p == MAP_FAILED) {
		c->p = NULL;
		return ww_fail(err, -errno, "%s: %s", path, strerror(errno));
	}
	c->mapped = true;
	c->n = (size_t)st.st_size;
	return 0;
}

static bool starts(const struct content *c, const char *text, size_t n)
{
	return c->n >= n && memcmp(c->p, text, n) == 0;
}

/* A trace, or the stream form of one. */
static bool is_trace(const struct content *c)
{
	static const char sqlite[] = "SQLite format 3";
	static const char stream[] = "{\"type\":\"wakewatt\"";

	return c->n == 0 || starts(c, sqlite, sizeof(sqlite)) ||
	       starts(c, WW_STREAM_MAGIC, WW_STREAM_MAGIC_N) ||
	       starts(c, stream, sizeof(stream) - 1);
}

/* What a file that cannot be a text of numbers looks like. */
static const char *kind_of(const struct content *c)
{
	static const struct {
		const char *magic;
		size_t n;
		const char *what;
	} kinds[] = {
		{"\x1f\x8b", 2, "compressed (gzip): unpack it first, or zcat it into -"},
		{"\x28\xb5\x2f\xfd", 4, "compressed (zstd): unpack it first, or zstdcat it into -"},
		{"\xfd"
		 "7zXZ",
		 5, "compressed (xz): unpack it first, or xzcat it into -"},
		{"BZh", 3, "compressed (bzip2): unpack it first, or bzcat it into -"},
		{"PK\x03\x04", 4,
		 "a ZIP archive or an office document: unpack it, or save it as CSV"},
		{"\xff\xfe", 2, "text in UTF-16: save it as UTF-8 (iconv -f UTF-16 -t UTF-8)"},
		{"\xfe\xff", 2, "text in UTF-16: save it as UTF-8 (iconv -f UTF-16 -t UTF-8)"},
		{"%PDF", 4, "a PDF"},
		{"\x7f"
		 "ELF",
		 4, "a program"},
		{"\x1b\x1b\x1b\x1b\x01\x01\x01\x01", 8,
		 "telegrams of an electricity meter (SML), which are no text"},
		{"\x89HDF", 4, "an HDF5 file: export it as CSV"},
		{"<", 1, "HTML or XML"},
	};
	size_t head = c->n < WW_IMPORT_SAMPLE ? c->n : WW_IMPORT_SAMPLE;

	if (ww_olpc_data(c->p, head))
		return NULL;
	for (size_t i = 0; i < WW_COUNTOF(kinds); i++)
		if (starts(c, kinds[i].magic, kinds[i].n))
			return kinds[i].what;
	return memchr(c->p, '\0', head) ? "binary data" : NULL;
}

static int fail_kind(const char *path, const char *what, struct ww_error *err)
{
	return ww_fail(
		err, -EINVAL,
		"%s looks like %s; a trace of wakewatt is taken, a table of values (CSV) or a "
		"log of another program: see wakewatt-formats(7)",
		path, what);
}

static const struct ww_importer *choose(const struct ww_import *im, struct ww_error *err)
{
	size_t n = im->n < WW_IMPORT_SAMPLE ? im->n : WW_IMPORT_SAMPLE;
	const struct ww_importer *best = NULL;
	int most = 0;

	for (size_t i = 0; i < WW_COUNTOF(importers); i++) {
		const struct ww_importer *f = importers[i];
		int sure;

		if (im->format && strcmp(im->format, f->format.name) == 0)
			return f;
		sure = im->format ? 0 : f->looks(im->text, n);
		if (sure > most) {
			most = sure;
			best = f;
		}
	}
	/* Two entities in one column are no table of readings. */
	if (im->columns && !im->format && best != &ww_import_hass)
		return &ww_import_csv; /* they are told, whatever it looks like */
	if (im->format)
		ww_fail(err, -EINVAL, "there is no format '%s'; wakewatt-formats(7) lists them",
			im->format);
	return best;
}

/* Sentences on the clock that hold for all formats. */
static void say_clock(struct ww_import *im)
{
	if (im->clock == WW_CLOCK_LOCAL && !im->has_offset)
		ww_note(&im->notes, "the times tell no zone: taken as UTC (--zone +01:00 says "
				    "otherwise)");
	if (im->clock != WW_CLOCK_LOCAL && im->has_offset && im->zoned)
		ww_note(&im->notes, "the times tell their zone: the one given is not used");
}

static int import_text(struct ww_import *im, struct ww_trace **out, struct ww_error *err)
{
	const struct ww_importer *f = choose(im, err);
	int rc;

	if (!f)
		return im->format ? -EINVAL
				  : fail_kind(im->path,
					      "JSON, what a plug or a program replies once: one "
					      "state, not readings over time",
					      err);
	im->format = f->format.name;
	rc = f->read(im, err);
	for (size_t i = 0; rc == 0 && i < im->tables; i++)
		rc = ww_import_times(im, &im->table[i], err);
	say_clock(im);
	if (rc == 0)
		rc = ww_import_build(im, out, err);
	return rc;
}

static int import_content(const char *path, const struct ww_import_options *opt, struct content *c,
			  struct ww_trace **out, struct ww_error *err)
{
	struct ww_import im = {.path = path,
			       .text = c->p,
			       .n = c->n,
			       .format = WW_OPT(opt, format, NULL),
			       .rate_hz = WW_OPT(opt, rate_hz, 0),
			       .resolution = WW_OPT(opt, resolution, 0),
			       .columns = WW_OPT(opt, columns, NULL),
			       .offset_s = WW_OPT(opt, offset_s, 0),
			       .has_offset = WW_OPT(opt, has_offset, 0) != 0};
	const char *kind = kind_of(c);
	int rc = kind ? fail_kind(path, kind, err) : import_text(&im, out, err);

	ww_import_free(&im);
	return rc;
}

static int check_options(const struct ww_import_options *opt, struct ww_error *err)
{
	double rate = WW_OPT(opt, rate_hz, 0), step = WW_OPT(opt, resolution, 0);
	int32_t zone = WW_OPT(opt, offset_s, 0);
	int rc = WW_OPT_CHECK(opt, err);

	if (rc == 0 && !(rate >= 0 && rate <= 1e9))
		rc = ww_fail(err, -EINVAL, "a rate lies between 0 and 1e9 rows a second");
	if (rc == 0 && !(step >= 0 && step <= 1e6))
		rc = ww_fail(err, -EINVAL, "a resolution lies between 0 and 1e6");
	if (rc == 0 && (zone < -50400 || zone > 50400))
		rc = ww_fail(err, -EINVAL, "a zone lies within 14 hours of UTC");
	return rc;
}

int ww_import_open(const char *path, const struct ww_import_options *opt, struct ww_trace **out,
		   struct ww_error *err)
{
	struct content c = {.fd = -1};
	bool regular = false, trace;
	int rc = check_options(opt, err);

	if (rc == 0)
		rc = content_open(&c, path, &regular, err);
	if (rc == 0 && !c.mapped)
		rc = content_read(&c, path, HEAD_BYTES, err);
	trace = rc == 0 && is_trace(&c);
	if (trace && regular) {
		content_free(&c);
		return ww_trace_open(path, out, err);
	}
	if (trace) {
		int fd = c.fd;

		c.fd = -1;
		rc = ww_trace_open_fd(path, fd, fd != STDIN_FILENO, (uint8_t *)c.p, c.n, out, err);
	} else if (rc == 0) {
		if (!c.mapped)
			rc = content_read(&c, path, WW_IMPORT_SAMPLE, err);
		if (rc == 0 && !c.mapped && !kind_of(&c))
			rc = content_read(&c, path, PIPE_MOST, err);
		if (rc == 0 && !c.mapped && !c.eof && !kind_of(&c))
			rc = ww_fail(err, -EFBIG,
				     "%s: more than 1024 MB came; store it in a file first", path);
		if (rc == 0)
			rc = import_content(path, opt, &c, out, err);
	}
	content_free(&c);
	return rc;
}
