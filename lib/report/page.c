/* SPDX-License-Identifier: MIT */
/* The page as a file: policy, style, markup, data, script, in one document. */
#include "report/page.h"
#include "base/sha256.h"
#include "report/plot.h"
#include "trace/output.h"

#define DEVICES 60

/* "sha256-BASE64", as a content security policy names a script. */
static void put_hash(struct ww_str *s, const char *text)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct ww_sha256 k;
	char hex[65], out[45];
	uint8_t b[33] = {0};

	ww_sha256_init(&k);
	ww_sha256_add(&k, text, strlen(text));
	ww_sha256_end(&k, hex);
	for (size_t i = 0; i < 64; i++) {
		unsigned v = (unsigned)(hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10);

		b[i / 2] = (uint8_t)((unsigned)b[i / 2] << 4 | v);
	}
	for (size_t i = 0; i < 11; i++) {
		unsigned v = (unsigned)b[3 * i] << 16 | (unsigned)b[3 * i + 1] << 8 | b[3 * i + 2];

		for (size_t n = 0; n < 4; n++)
			out[4 * i + n] = digit[v >> (18 - 6 * n) & 63];
	}
	out[43] = '='; /* 32 bytes are one short of eleven groups of three */
	out[44] = '\0';
	ww_str_addf(s, "'sha256-%s'", out);
}

static void put_head(struct ww_str *s, const struct ww_page *p)
{
	ww_str_add(s, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		      "script-src ");
	put_hash(s, ww_page_js);
	ww_str_add(s, "; style-src ");
	put_hash(s, ww_page_css);
	ww_str_add(s, "; base-uri 'none'; form-action 'none'\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
		      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	ww_str_markup(s, p->title);
	ww_str_add(s, ": ");
	ww_page_summary(s, p);
	ww_str_addf(s, "</title>\n<style>%s</style>\n</head>\n<body>\n", ww_page_css);
}

/* A '<' stands in texts only, and none may end the element or open a comment. */
static void put_data(struct ww_str *s, struct ww_page *p)
{
	struct ww_str data = {0};
	const char *from, *lt;

	ww_page_data(&data, p);
	ww_str_add(s, "<script type=\"application/json\" id=\"data\">");
	for (from = data.p ? data.p : ""; (lt = strchr(from, '<')) != NULL; from = lt + 1) {
		ww_str_addn(s, from, (size_t)(lt - from));
		ww_str_add(s, "\\u003c");
	}
	ww_str_add(s, from);
	ww_str_add(s, "</script>\n");
	s->bad = s->bad || data.bad;
	ww_str_free(&data);
}

/* What turns the direction of the text around it could make a name look like another one. */
static void no_turning(struct ww_str *s)
{
	for (size_t i = 0; i + 2 < s->n; i++) {
		unsigned char *c = (unsigned char *)s->p + i;

		if (c[0] == 0xe2 && ((c[1] == 0x80 && c[2] >= 0xaa && c[2] <= 0xae) ||
				     (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9)))
			c[0] = 0xef, c[1] = 0xbf, c[2] = 0xbd; /* U+FFFD */
	}
}

int ww_page_write(struct ww_page *p, int fd, struct ww_error *err)
{
	struct ww_str s = {0};
	int rc;

	put_head(&s, p);
	ww_page_html(&s, p);
	put_data(&s, p);
	no_turning(&s);
	ww_str_addf(&s, "<script>%s</script>\n</body>\n</html>\n", ww_page_js);
	rc = s.bad || p->names.bad ? ww_fail_nomem(err) : ww_write_all(fd, s.p, s.n, "output", err);
	ww_str_free(&s);
	return rc;
}

void ww_page_begin(struct ww_page *p, const struct ww_page_options *opt)
{
	const char *title = WW_OPT(opt, title, NULL);
	size_t devices = WW_OPT(opt, devices, 0);

	p->title = title;
	p->devices = devices ? devices : DEVICES;
	p->main = -1;
	/* Number 0 is no text, so that it costs nothing where there is none. */
	ww_names_index(&p->names, "");
}

/* A file's name without its folders. */
static const char *file_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

int ww_page_resume(const struct ww_resume *r, struct ww_trace *t, const struct ww_page_options *opt,
		   int fd, struct ww_error *err)
{
	struct ww_page p = {.r = r, .t = t, .what = "resumetime report"};
	const char *note;
	int rc = WW_OPT_CHECK(opt, err);

	if (rc < 0)
		return rc;
	ww_page_begin(&p, opt);
	if (!p.title)
		p.title = r->path && *r->path ? file_name(r->path) : "recording";
	for (size_t i = 0; i < r->cycles && rc >= 0; i++)
		rc = ww_page_add(&p, i, &r->cycle[i], ww_resume_kernel(r, i), err);
	for (size_t i = 0; (note = ww_resume_note(r, i)) != NULL; i++)
		ww_note(&p.notes, "%s", note);
	if (rc >= 0)
		rc = ww_page_finish(&p, err);
	if (rc >= 0)
		rc = ww_page_write(&p, fd, err);
	ww_page_free(&p);
	return rc < 0 ? rc : 0;
}

int64_t ww_page_kernlog(struct ww_kernlog *k, const struct ww_page_options *opt, int fd,
			struct ww_error *err)
{
	struct ww_page p = {.what = "resumetime kernlog"};
	const struct ww_pm_cycle *c;
	const char *text;
	struct ww_error why = {0};
	int64_t n = 0;
	int rc = WW_OPT_CHECK(opt, err), read = 0;

	if (rc < 0)
		return rc;
	ww_page_begin(&p, opt);
	if (!p.title)
		p.title = "kernel log";
	while (rc >= 0 && (read = ww_kernlog_next(k, &c, &why)) > 0)
		rc = ww_page_add(&p, p.cycles, NULL, c, err);
	for (size_t i = 0; (text = ww_kernlog_note(k, i)) != NULL; i++)
		ww_note(&p.notes, "%s", text);
	for (size_t i = 0; (text = ww_kernlog_input(k, i)) != NULL; i++)
		ww_note(&p.inputs, "%s", text);
	/* What was read is shown, and that it is not all. */
	if (read < 0)
		ww_note(&p.notes, "not all could be read: %s", why.text);
	if (rc >= 0)
		rc = ww_page_finish(&p, err);
	if (rc >= 0)
		rc = ww_page_write(&p, fd, err);
	if (rc >= 0 && read < 0)
		rc = ww_fail(err, read, "%s", why.text);
	n = (int64_t)p.cycles;
	ww_page_free(&p);
	return rc < 0 ? rc : n;
}
