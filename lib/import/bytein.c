// SPDX-License-Identifier: MIT
#include "import/bytein.h"

#include <unistd.h>

struct ww_bytein *ww_bytein_new(const char *name, struct ww_bytein *from)
{
	struct ww_bytein *in = calloc(1, sizeof(*in));

	if (!in)
		return NULL;
	in->fd = -1;
	in->name = strdup(name);
	in->buf = malloc(WW_BYTEIN_PIECE);
	if (!in->name || !in->buf) {
		ww_bytein_free(in);
		return NULL;
	}
	in->from = from;
	return in;
}

void ww_bytein_free(struct ww_bytein *in)
{
	while (in) {
		struct ww_bytein *from = in->from;

		if (in->drop)
			in->drop(in);
		if (in->owned)
			close(in->fd);
		free(in->name);
		free(in->buf);
		free(in);
		in = from;
	}
}

/* One piece more behind what is there. */
static void more(struct ww_bytein *in)
{
	int64_t got = in->fill(in, in->buf + in->n, WW_BYTEIN_PIECE - in->n, &in->why);

	if (got < 0)
		in->failed = (int)got;
	in->eof = got <= 0;
	if (got > 0)
		in->n += (size_t)got;
}

static int tell(const struct ww_bytein *in, struct ww_error *err)
{
	return in->failed < 0 ? ww_fail(err, in->failed, "%s", in->why.text) : 0;
}

int ww_bytein_peek(struct ww_bytein *in, size_t want, struct ww_error *err)
{
	if (in->at > 0) {
		memmove(in->buf, in->buf + in->at, in->n - in->at);
		in->n -= in->at;
		in->at = 0;
	}
	while (in->n < want && !in->eof)
		more(in);
	return in->n > 0 ? 0 : tell(in, err);
}

int ww_bytein_next(struct ww_bytein *in, const uint8_t **p, size_t *n, struct ww_error *err)
{
	if (in->at == in->n) {
		in->at = in->n = 0;
		if (!in->eof)
			more(in);
	}
	*p = in->buf + in->at;
	*n = in->n - in->at;
	in->at = in->n;
	in->taken += *n;
	return *n > 0 ? 1 : tell(in, err);
}
