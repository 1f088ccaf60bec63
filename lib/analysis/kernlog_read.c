/* SPDX-License-Identifier: MIT */
/* Pieces of a text become lines. What the text is, its first lines tell. */
#include "analysis/kernlog.h"
#include "base/str.h"

#include <stdio.h>

/* A shorter read is of a writer that sends lines as they come. */
#define LIVE 4096
/* So many lines say surely what a text is. */
#define TELLING 8

int ww_kl_input_open(struct ww_kl_input *in, struct ww_text *text,
		     const struct ww_kernlog_options *opt, struct ww_error *err)
{
	in->text = text;
	in->state = malloc(sizeof(*in->state));
	in->carry = malloc(WW_KL_LINE_MAX);
	in->head = malloc(WW_KL_HEAD);
	if (in->state == NULL || in->carry == NULL || in->head == NULL)
		return ww_fail_nomem(err);
	ww_kline_init(in->state);
	in->ftrace = text->ftrace;
	in->decided = text->ftrace;
	/* Whichever it is, the builder is told once that is known. */
	return ww_pmbuild_new(text->ftrace, opt, &in->build, err);
}

void ww_kl_input_close(struct ww_kl_input *in)
{
	ww_pmbuild_free(in->build);
	free(in->state);
	free(in->carry);
	free(in->carry_lo);
	free(in->head);
	free(in->all);
}

static int keep_times(struct ww_kl_input *in, const int64_t *lo, size_t n, struct ww_error *err)
{
	if (lo == NULL) {
		in->carry_timed = in->carry_timed && in->carry_n > 0;
		return 0;
	}
	if (in->carry_lo == NULL)
		in->carry_lo = malloc(WW_KL_LINE_MAX * sizeof(*in->carry_lo));
	if (in->carry_lo == NULL)
		return ww_fail_nomem(err);
	memcpy(in->carry_lo + in->carry_n, lo, n * sizeof(*lo));
	in->carry_timed = true;
	return 0;
}

/* What is longer than any line is cut. */
static int keep(struct ww_kl_input *in, const char *p, size_t n, const int64_t *lo,
		struct ww_error *err)
{
	int rc;

	if (n > WW_KL_LINE_MAX - in->carry_n)
		n = WW_KL_LINE_MAX - in->carry_n;
	rc = keep_times(in, lo, n, err);
	if (rc < 0)
		return rc;
	memcpy(in->carry + in->carry_n, p, n);
	in->carry_n += n;
	return 0;
}

static int carried_line(struct ww_kl_input *in, int64_t end_lo, int64_t end_hi,
			struct ww_error *err)
{
	int rc = ww_kl_line(in, in->carry, in->carry_n, in->carry_timed ? in->carry_lo : NULL,
			    end_lo, end_hi, err);

	in->carry_n = 0;
	in->carry_timed = false;
	return rc;
}

static int piece(struct ww_kl_input *in, const char *p, size_t n, const int64_t *lo,
		 const int64_t *hi, struct ww_error *err)
{
	size_t at = 0, len;
	const char *nl;
	int rc;

	while (at < n) {
		nl = memchr(p + at, '\n', n - at);
		if (nl == NULL)
			return keep(in, p + at, n - at, lo != NULL ? lo + at : NULL, err);
		len = (size_t)(nl - (p + at));
		if (in->carry_n > 0) {
			rc = keep(in, p + at, len, lo != NULL ? lo + at : NULL, err);
			if (rc == 0)
				rc = carried_line(in, lo != NULL ? lo[at + len] : WW_NO_TIME,
						  hi != NULL ? hi[at + len] : WW_NO_TIME, err);
		} else {
			rc = ww_kl_line(in, p + at, len < WW_KL_LINE_MAX ? len : WW_KL_LINE_MAX,
					lo != NULL ? lo + at : NULL,
					lo != NULL ? lo[at + len] : WW_NO_TIME,
					hi != NULL ? hi[at + len] : WW_NO_TIME, err);
		}
		if (rc < 0)
			return rc;
		at += len + 1;
	}
	return 0;
}

static int rest(struct ww_kl_input *in, const char *p, size_t n, const int64_t *lo,
		const int64_t *hi, struct ww_error *err)
{
	return in->reverse ? ww_kl_reverse_keep(in, p, n, err) : piece(in, p, n, lo, hi, err);
}

/* least: decide only if so many lines say what it is. */
static int decide(struct ww_kl_input *in, size_t least, struct ww_error *err)
{
	size_t tell;
	int rc = ww_kl_looks_like_ftrace(in->head, in->head_n, &tell, err);

	if (rc < 0 || tell < least)
		return rc < 0 ? rc : 0;
	in->decided = true;
	in->ftrace = rc > 0;
	ww_pmbuild_of_ftrace(in->build, in->ftrace);
	in->reverse = !in->ftrace && ww_kl_runs_backwards(in->head, in->head_n, in->state);
	if (in->reverse)
		return ww_kl_reverse_keep(in, in->head, in->head_n, err);
	return piece(in, in->head, in->head_n, NULL, NULL, err);
}

/* @return 1, 0 the end */
static int head(struct ww_kl_input *in, const uint8_t *data, size_t n, struct ww_error *err)
{
	size_t some = n < WW_KL_HEAD - in->head_n ? n : WW_KL_HEAD - in->head_n;
	int rc;

	memcpy(in->head + in->head_n, data, some);
	in->head_n += some;
	if (in->head_n < WW_KL_HEAD) {
		/* A pipe that has no more for now: what comes live is told as it comes. */
		rc = n < LIVE && data[n - 1] == '\n' ? decide(in, TELLING, err) : 0;
		return rc < 0 ? rc : 1;
	}
	rc = decide(in, 0, err);
	if (rc == 0)
		rc = rest(in, (const char *)data + some, n - some, NULL, NULL, err);
	return rc < 0 ? rc : 1;
}

static int ending(struct ww_kl_input *in, struct ww_error *err)
{
	int rc = 0;

	in->ended = true;
	if (!in->decided)
		rc = decide(in, 0, err);
	if (rc == 0 && in->reverse)
		rc = ww_kl_reverse_feed(in, err);
	if (rc == 0 && in->carry_n > 0)
		rc = carried_line(in, in->carry_timed ? in->carry_lo[in->carry_n - 1] : WW_NO_TIME,
				  in->carry_timed ? in->carry_lo[in->carry_n - 1] : WW_NO_TIME,
				  err);
	if (rc == 0)
		rc = ww_kl_flush(in, err);
	if (rc == 0)
		rc = ww_pmbuild_end(in->build, err);
	return rc;
}

static int more(struct ww_kl_input *in, struct ww_error *err)
{
	const int64_t *lo = NULL, *hi = NULL;
	const uint8_t *data = NULL;
	size_t n = 0;
	struct ww_error why = {0};
	int rc = in->text->next(in->text, &data, &n, &lo, &hi, &why);

	/* Cut off or broken: what came before is told, and that it is not all. */
	if (rc == -EBADMSG && in->lines + in->head_n > 0) {
		in->cut = why;
		rc = 0;
	}
	if (rc < 0)
		return ww_fail(err, rc, "%s", why.text);
	if (rc == 0)
		return ending(in, err);
	if (!in->decided && lo != NULL)
		in->decided = true; /* a recording's console */
	if (!in->decided)
		return head(in, data, n, err);
	return rest(in, (const char *)data, n, lo, hi, err);
}

int ww_kl_input_cycle(struct ww_kl_input *in, struct ww_pm_work **out, struct ww_error *err)
{
	int rc;

	for (;;) {
		*out = ww_pmbuild_take(in->build);
		if (*out != NULL)
			return 1;
		if (in->ended)
			return 0;
		rc = more(in, err);
		if (rc < 0)
			return rc;
	}
}

static void resolution(char *to, size_t n, int64_t res)
{
	if (res >= WW_NS_PER_S)
		snprintf(to, n, "%lld s", (long long)(res / WW_NS_PER_S));
	else if (res >= WW_NS_PER_MS)
		snprintf(to, n, "%lld ms", (long long)(res / WW_NS_PER_MS));
	else
		snprintf(to, n, "%lld us",
			 (long long)(res / WW_NS_PER_US > 0 ? res / WW_NS_PER_US : 1));
}

const char *ww_kl_input_kind(struct ww_kl_input *in)
{
	char res[32] = "";

	if (in->ftrace) {
		snprintf(in->kind, sizeof(in->kind), "%s",
			 in->text->ftrace	      ? "ftrace, decoded from a binary trace"
			 : in->graphs > in->lines / 2 ? "ftrace text, function graph"
						      : "ftrace text");
		return in->kind;
	}
	if (in->host_stamps > 0)
		resolution(res, sizeof(res), in->host_res_ns);
	snprintf(in->kind, sizeof(in->kind), "kernel text%s, %s%s%s%s",
		 in->tagged > in->lines / 2 ? " of a journal or syslog" : "",
		 in->kernel_stamps > 0 ? "kernel stamps" : "no kernel stamps",
		 in->host_stamps > 0 ? ", stamps of " : "", res,
		 in->host_stamps > 0 ? " in front" : "");
	return in->kind;
}
