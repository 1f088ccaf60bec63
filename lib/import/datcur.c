// SPDX-License-Identifier: MIT
/* Bytes of trace-cmd's files, and of their packed sections. */
#include "import/dat.h"
#include "base/bytes.h"

#include <unistd.h>
#include <zstd.h>
#if WW_WITH_ZLIB
#include <zlib.h>
#endif

int ww_dat_broken(const struct ww_dat *d, const char *what, struct ww_error *err)
{
	return ww_fail(err, -EBADMSG, "%s: a trace of trace-cmd that is broken: %s", d->name, what);
}

int ww_dat_no_blob(const struct ww_dat_cursor *c, const char *what, struct ww_error *err)
{
	return c->nomem ? ww_fail_nomem(err) : ww_dat_broken(c->d, what, err);
}

uint64_t ww_dat_num(const struct ww_dat *d, const uint8_t *p, unsigned bytes)
{
	struct ww_rd r = ww_rd_of(p, bytes);

	return d->big ? ww_rd_be(&r, bytes) : ww_rd_le(&r, bytes);
}

struct ww_dat_cursor ww_dat_at(const struct ww_dat *d, uint64_t at)
{
	return (struct ww_dat_cursor){.d = d, .at = at, .end = d->size, .bad = at > d->size};
}

bool ww_dat_get(struct ww_dat_cursor *c, void *to, size_t n)
{
	size_t done = 0;

	if (c->bad || n > c->end - c->at) {
		c->bad = true;
		memset(to, 0, n);
		return false;
	}
	if (c->mem) {
		memcpy(to, c->mem + c->at, n);
		done = n;
	}
	while (done < n) {
		ssize_t got =
			pread(c->d->fd, (uint8_t *)to + done, n - done, (off_t)(c->at + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			c->bad = true;
			memset(to, 0, n);
			return false;
		}
		done += (size_t)got;
	}
	c->at += n;
	return true;
}

uint64_t ww_dat_read(struct ww_dat_cursor *c, unsigned bytes)
{
	uint8_t b[8];

	return ww_dat_get(c, b, bytes) ? ww_dat_num(c->d, b, bytes) : 0;
}

bool ww_dat_string(struct ww_dat_cursor *c, char *to, size_t cap)
{
	for (size_t i = 0; i < cap; i++) {
		if (!ww_dat_get(c, to + i, 1))
			break;
		if (to[i] == '\0')
			return true;
	}
	c->bad = true;
	to[0] = '\0';
	return false;
}

char *ww_dat_blob(struct ww_dat_cursor *c, uint64_t n, uint64_t most)
{
	char *p;

	if (c->bad || n > most || n > c->end - c->at) {
		c->bad = true;
		return NULL;
	}
	p = malloc((size_t)n + 1);
	c->nomem = !p;
	if (!p || !ww_dat_get(c, p, (size_t)n)) {
		free(p);
		c->bad = true;
		return NULL;
	}
	p[n] = '\0';
	return p;
}

void ww_dat_skip(struct ww_dat_cursor *c, uint64_t n)
{
	if (c->bad || n > c->end - c->at)
		c->bad = true;
	else
		c->at += n;
}

void ww_dat_close(struct ww_dat_cursor *c)
{
	free(c->owned);
	c->owned = NULL;
}

int ww_dat_unpack(const struct ww_dat *d, const uint8_t *src, size_t src_n, uint8_t *to, size_t n,
		  struct ww_error *err)
{
	size_t got = 0;

	if (d->packing == WW_DAT_ZSTD) {
		got = ZSTD_decompress(to, n, src, src_n);
		if (ZSTD_isError(got))
			return ww_dat_broken(d, ZSTD_getErrorName(got), err);
	} else if (d->packing == WW_DAT_ZLIB) {
#if WW_WITH_ZLIB
		uLongf len = n;

		if (uncompress(to, &len, src, src_n) != Z_OK)
			return ww_dat_broken(d, "zlib cannot unpack it", err);
		got = len;
#else
		return ww_fail(err, -ENOTSUP,
			       "%s: its parts are packed by zlib, which this build lacks "
			       "(zlib1g-dev): `trace-cmd report %s > trace.txt` makes text of it",
			       d->name, d->name);
#endif
	}
	return got == n ? 0 : ww_dat_broken(d, "a packed part has another size than told", err);
}
