/* SPDX-License-Identifier: MIT */
#include "web.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DELAY	(40 * EMU_MS)
#define SLOW	(4 * EMU_S)
#define HUGE	(3 << 20)
#define DEEP	200000
#define REFRESH EMU_S

int web_init(struct web *w, const struct emu_setup *s, const char *faults)
{
	*w = (struct web){.s = *s, .wh = s->wh};
	return emu_faults_known(s, faults);
}

void web_request(struct web *w, int64_t now_ns)
{
	double v[4];

	if (!w->begun)
		w->t0_ns = w->last_ns = now_ns;
	w->begun = true;
	web_truth(w, now_ns, v);
	w->wh = v[3];
	w->last_ns = now_ns;
}

void web_truth(const struct web *w, int64_t now_ns, double out[4])
{
	struct emu_setup then = w->s;

	then.wh = w->wh;
	out[0] = w->s.volts;
	out[1] = emu_amps(&w->s, now_ns);
	out[2] = emu_watts(&w->s, now_ns);
	out[3] = w->begun ? emu_energy(&then, w->last_ns, now_ns) : w->wh;
}

void web_shown(const struct web *w, int64_t now_ns, double out[4])
{
	int64_t step = web_fault(w, "repeats") ? 2 * REFRESH : REFRESH;
	int64_t since = now_ns - w->t0_ns;
	int64_t k = since > 0 ? since / step : 0;

	web_truth(w, w->t0_ns + k * step, out);
	if (out[2] < 5 && web_fault(w, "low"))
		out[1] = out[2] = 0;
	if (out[2] < 5 && web_fault(w, "spike") && k % 10 == 7)
		out[2] = 9134;
	if (web_fault(w, "reset") && k >= 5)
		out[3] = 0;
}

/* Chips and firmware print what is no JSON: nan; or all numbers as texts. */
static void spoil_numbers(struct web *w, char *body, size_t size)
{
	char *copy = strdup(body), *to = body;
	const char *p = copy;

	while (copy && *p && (size_t)(to - body) + 40 < size) {
		char *end = NULL;
		bool number = p > copy && (p[-1] == ':' || p[-1] == '[' || p[-1] == ',') &&
			      strchr("-0123456789", *p);

		if (number)
			strtod(p, &end);
		if (!number || end == p)
			*to++ = *p++;
		else if (web_fault(w, "nan"))
			to += sprintf(to, "nan"), p = end;
		else
			to += sprintf(to, "\"%.*s\"", (int)(end - p), p), p = end;
	}
	*to = '\0';
	free(copy);
}

static void send_big(const struct emu_out *out, int64_t at, const char *begin, char fill, size_t n)
{
	size_t k = strlen(begin);
	char *p = malloc(k + n);

	if (!p)
		return;
	memcpy(p, begin, k);
	memset(p + k, fill, n);
	out->send(out->ctx, at, p, k + n);
	free(p);
}

void web_answer(struct web *w, int64_t now_ns, const struct emu_out *out, int status,
		const char *body)
{
	static const char html[] = "200\n<!DOCTYPE html><html><head><title>Login</title></head>"
				   "<body><form action=\"/login\"></form></body></html>";
	int64_t at = now_ns + (web_fault(w, "slow") ? SLOW : DELAY);
	char text[8192];
	int n;

	if (web_fault(w, "silent"))
		return;
	n = snprintf(text, sizeof(text), "%d\n%s", status, body);
	if (web_fault(w, "401"))
		n = snprintf(text, sizeof(text), "401\n401 Unauthorized");
	else if (web_fault(w, "500"))
		n = snprintf(text, sizeof(text), "500\nInternal Server Error");
	else if (web_fault(w, "html"))
		n = snprintf(text, sizeof(text), "%s", html);
	else if (web_fault(w, "empty"))
		n = snprintf(text, sizeof(text), "200\n");
	else if (web_fault(w, "truncated"))
		n = n * 2 / 3;
	if (web_fault(w, "nan") || web_fault(w, "strings")) {
		spoil_numbers(w, text + 4, sizeof(text) - 4);
		n = (int)strlen(text);
	}
	if (web_fault(w, "huge"))
		send_big(out, at, "200\n{\"a\":\"", 'x', HUGE);
	else if (web_fault(w, "deep"))
		send_big(out, at, "200\n", '[', DEEP);
	else
		out->send(out->ctx, at, text, (size_t)n);
}

static int hex(char c)
{
	const char *d = "0123456789abcdef", *at = strchr(d, c | 32);

	return c && at ? (int)(at - d) : -1;
}

void web_path(const uint8_t *p, size_t n, char *path, size_t size, char *post, size_t post_size)
{
	const char *s = (const char *)p, *end = s + n, *line = memchr(p, '\n', n);
	const char *stop = line ? line : end;
	size_t k = 0;

	*path = *post = '\0';
	while (s < stop && *s != ' ')
		s++;
	for (s += s < stop; s < stop && k + 1 < size; s++) {
		char c = *s == '+' ? ' ' : *s;

		if (c == '%' && end - s > 2 && hex(s[1]) >= 0 && hex(s[2]) >= 0) {
			c = (char)(hex(s[1]) * 16 + hex(s[2]));
			s += 2;
		}
		path[k++] = c;
	}
	path[k] = '\0';
	if (line)
		snprintf(post, post_size, "%.*s", (int)(end - line - 1), line + 1);
}
