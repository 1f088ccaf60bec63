/* SPDX-License-Identifier: MIT */
#include "scpi.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const int64_t rates_ms[] = {100, 250, 500, 1000, 2000, 5000, 0};

int scpi_init(struct scpi *m, const struct emu_setup *s, const struct scpi_kind *kind)
{
	static const char *const items[] = {"U", "I", "P", "S", "FU", "LAMB", "Q", "FI"};

	if (emu_faults_known(s, SCPI_FAULTS) < 0)
		return -1;
	*m = (struct scpi){.s = *s,
			   .kind = kind,
			   .seed = s->seed,
			   .head = true,
			   .verb = true,
			   .period_ns = kind->period_ns,
			   .number = 3};
	for (unsigned i = 0; i < SCPI_ITEMS; i++)
		m->item[i] = (uint8_t)scpi_function(items[i % 8]);
	snprintf(m->range[0], sizeof(m->range[0]), "300.0E+00");
	snprintf(m->range[1], sizeof(m->range[1]), "AUTO");
	return 0;
}

static void error(struct scpi *m, const char *text)
{
	if (m->error_n < sizeof(m->errors) / sizeof(m->errors[0]))
		snprintf(m->errors[m->error_n++], sizeof(m->errors[0]), "%s", text);
}

/* Is `word` (n characters) the short or the long form of "NORMal"? Digits may follow. */
static bool is_word(const char *word, size_t n, const char *form, unsigned *number)
{
	size_t whole = strlen(form), brief = 0;

	while (form[brief] && !islower((unsigned char)form[brief]))
		brief++;
	*number = 0;
	while (n && isdigit((unsigned char)word[n - 1]))
		n--;
	if (isdigit((unsigned char)word[n]))
		*number = (unsigned)strtoul(word + n, NULL, 10);
	return (n == whole || n == brief) && strncasecmp(word, form, n) == 0;
}

/* "NUM:NORM:ITEM3" against "NUMeric:NORMal:ITEM". */
static bool is(const char *header, const char *form, unsigned *number)
{
	for (;;) {
		size_t n = strcspn(header, ":"), f = strcspn(form, ":");
		char one[24];

		if (f >= sizeof(one))
			return false;
		memcpy(one, form, f);
		one[f] = '\0';
		if (!is_word(header, n, one, number) || !header[n] != !form[f])
			return false;
		if (!header[n])
			return true;
		header += n + 1;
		form += f + 1;
	}
}

static bool is_on(const char *arg)
{
	return strcasecmp(arg, "ON") == 0 || strcmp(arg, "1") == 0;
}

/* The answer's header, as :COMM:HEAD and :COMM:VERB ask for it. */
static void head(struct scpi *m, const char *whole, const char *brief)
{
	if (!m->head)
		return;
	scpi_add(m, m->verb ? whole : brief);
	scpi_add(m, " ");
}

static void answer(struct scpi *m, const char *whole, const char *brief, const char *text)
{
	head(m, whole, brief);
	scpi_add(m, text);
}

/* ------------------------------------------------------------------ commands */

static void communicate(struct scpi *m, const char *h, const char *arg, bool ask)
{
	unsigned x;

	if (is(h, "COMMunicate:HEADer", &x) && ask) {
		answer(m, ":COMMUNICATE:HEADER", ":COMM:HEAD", m->head ? "1" : "0");
	} else if (is(h, "COMMunicate:HEADer", &x)) {
		if (scpi_has(m, "nohead"))
			error(m, "113,\"Undefined header\"");
		else
			m->head = is_on(arg) || scpi_has(m, "headers");
	} else if (is(h, "COMMunicate:VERBose", &x) && !ask) {
		m->verb = is_on(arg);
	} else if (is(h, "COMMunicate:WAIT", &x) && !ask && !scpi_has(m, "nowait")) {
		m->waits = (unsigned)strtoul(arg, NULL, 10);
	} else if (is(h, "COMMunicate:REMote", &x) && !ask) {
		if (scpi_has(m, "refused"))
			error(m, "813,\"Invalid operation\"");
	} else {
		error(m, "113,\"Undefined header\"");
	}
}

static void columns(struct scpi *m)
{
	for (unsigned i = 0; i < m->number; i++) {
		scpi_add(m, i ? "," : "");
		scpi_add(m, scpi_function_name(m->item[i], true));
	}
}

static void item(struct scpi *m, unsigned x, const char *arg, bool ask)
{
	char whole[40], brief[24], text[24];
	int f = scpi_function(arg);

	if (x < 1 || x > SCPI_ITEMS) {
		error(m, "114,\"Header suffix out of range\"");
	} else if (ask) {
		snprintf(whole, sizeof(whole), ":NUMERIC:NORMAL:ITEM%u", x);
		snprintf(brief, sizeof(brief), ":NUM:NORM:ITEM%u", x);
		snprintf(text, sizeof(text), "%s%s", scpi_function_name(m->item[x - 1], false),
			 m->kind->elements ? ",1" : "");
		answer(m, whole, brief, text);
	} else if (f < 0) {
		error(m, "131,\"Invalid suffix\"");
	} else {
		m->item[x - 1] = (uint8_t)f;
	}
}

static void numeric(struct scpi *m, int64_t now, const char *h, const char *arg, bool ask)
{
	char text[16];
	unsigned x, n = (unsigned)strtoul(arg, NULL, 10);

	if (is(h, "NUMeric:FORMat", &x) && !ask) {
		m->as_float = strncasecmp(arg, "FLO", 3) == 0;
	} else if (is(h, "NUMeric:NORMal:NUMber", &x) || is(h, "NUMeric:NORMal:NUMB", &x)) {
		if (ask) {
			snprintf(text, sizeof(text), "%u", m->number);
			answer(m, ":NUMERIC:NORMAL:NUMBER", ":NUM:NORM:NUMB", text);
		} else if (n >= 1 && n <= SCPI_ITEMS) {
			m->number = n;
		} else {
			error(m, "222,\"Data out of range\"");
		}
	} else if (is(h, "NUMeric:NORMal:ITEM", &x)) {
		item(m, x, arg, ask);
	} else if (is(h, "NUMeric:NORMal:HEADer", &x) && ask) {
		columns(m);
	} else if (is(h, "NUMeric:NORMal:VALue", &x) && ask) {
		if (scpi_has(m, "headers"))
			scpi_add(m, ":NUMERIC:NORMAL:VALUE ");
		scpi_values(m, now);
	} else {
		error(m, "113,\"Undefined header\"");
	}
}

static void rate(struct scpi *m, int64_t now, const char *arg, bool ask)
{
	char text[24], *end;
	double v = strtod(arg, &end);
	int64_t ms = (int64_t)(v * (toupper((unsigned char)*end) == 'M' ? 1 : 1000) + 0.5);

	if (ask) {
		ms = m->period_ns / EMU_MS;
		snprintf(text, sizeof(text), ms < 1000 ? "%.1fE-03" : "%.1fE+00",
			 (double)ms / (ms < 1000 ? 1 : 1000));
		answer(m, ":RATE", ":RATE", text);
		return;
	}
	if (scpi_has(m, "norate")) {
		error(m, "813,\"Invalid operation\"");
		return;
	}
	for (unsigned i = 0; rates_ms[i]; i++) {
		if (rates_ms[i] != ms)
			continue;
		m->period_ns = ms * EMU_MS;
		m->rate_ns = now;
		m->seen = 0;
		return;
	}
	error(m, "222,\"Data out of range\"");
}

static void status(struct scpi *m, int64_t now, const char *h, const char *arg, bool ask)
{
	int64_t updates = scpi_updates(m, now);
	char text[24];
	unsigned x;

	if (is(h, "STATus:ERRor", &x) || is(h, "SYSTem:ERRor", &x)) {
		scpi_add(m, m->error_n ? m->errors[0] : "0,\"No error\"");
		if (m->error_n)
			memmove(m->errors[0], m->errors[1], --m->error_n * sizeof(m->errors[0]));
	} else if (is(h, "STATus:FILTer", &x) && !ask) {
		m->filter = x == 1 && strncasecmp(arg, "FALL", 4) == 0;
	} else if (is(h, "STATus:EESR", &x) && ask) {
		snprintf(text, sizeof(text), "%d", m->filter && updates > m->seen);
		scpi_add(m, text);
		m->seen = updates;
	} else {
		error(m, "113,\"Undefined header\"");
	}
}

static void integrate(struct scpi *m, int64_t now, const char *h, bool ask)
{
	unsigned x;

	if (is(h, "INTEGrate:STATe", &x) && ask)
		answer(m, ":INTEGRATE:STATE", ":INTEG:STAT",
		       m->running ? "STAR"
		       : m->used  ? "STOP"
				  : "RES");
	else if (is(h, "INTEGrate:STARt", &x))
		scpi_integrate(m, now, 'S');
	else if (is(h, "INTEGrate:STOP", &x))
		scpi_integrate(m, now, 'T');
	else if (is(h, "INTEGrate:RESet", &x))
		scpi_integrate(m, now, 'R');
	else if (!is(h, "INTEGrate:MODE", &x))
		error(m, "113,\"Undefined header\"");
}

static void input(struct scpi *m, const char *h, const char *arg, bool ask)
{
	bool current;
	unsigned x;

	current = is(h, "INPut:CURRent:RANGe", &x) || is(h, "INPut:CURRent:AUTO", &x);
	if (!current && !is(h, "INPut:VOLTage:RANGe", &x) && !is(h, "INPut:VOLTage:AUTO", &x)) {
		if (!is(h, "INPut:MODE", &x))
			error(m, "113,\"Undefined header\"");
	} else if (ask) {
		answer(m, current ? ":INPUT:CURRENT:RANGE" : ":INPUT:VOLTAGE:RANGE",
		       current ? ":INP:CURR:RANG" : ":INP:VOLT:RANG", m->range[current]);
	} else {
		snprintf(m->range[current], sizeof(m->range[0]), "%.15s", arg);
	}
}

static void common(struct scpi *m, const char *h, bool ask)
{
	char text[96];

	if (strcasecmp(h, "*IDN") == 0 && ask) {
		snprintf(text, sizeof(text), "%s,%s,%s,%s", m->kind->maker, m->kind->model,
			 m->s.serial ? m->s.serial : m->kind->serial, m->kind->firmware);
		scpi_add(m, scpi_has(m, "other") ? "KEYSIGHT TECHNOLOGIES,34461A,MY53201234,A.02.08"
						 : text);
	} else if (strcasecmp(h, "*OPC") == 0 && ask) {
		scpi_add(m, "1");
	} else if (strcasecmp(h, "*CLS") == 0) {
		m->error_n = 0;
	} else if (strcasecmp(h, "*RST") == 0) {
		m->head = m->verb = true;
		m->as_float = m->filter = false;
		m->number = 3;
	} else {
		error(m, "113,\"Undefined header\"");
	}
}

/* h without its '?', arg without blanks around it. */
static void carry_out(struct scpi *m, int64_t now, const char *h, const char *arg, bool ask)
{
	size_t before = m->out_n;

	if (m->answered)
		scpi_add(m, ";");
	if (h[0] == '*')
		common(m, h, ask);
	else if (strncasecmp(h, "COMM", 4) == 0)
		communicate(m, h, arg, ask);
	else if (strncasecmp(h, "NUM", 3) == 0)
		numeric(m, now, h, arg, ask);
	else if (strcasecmp(h, "RATE") == 0 || strcasecmp(h, "SAMP:RATE") == 0 ||
		 strcasecmp(h, "SAMPLE:RATE") == 0)
		rate(m, now, arg, ask);
	else if (strncasecmp(h, "STAT", 4) == 0 || strncasecmp(h, "SYST", 4) == 0)
		status(m, now, h, arg, ask);
	else if (strncasecmp(h, "INTEG", 5) == 0)
		integrate(m, now, h, ask);
	else if (strncasecmp(h, "INP", 3) == 0)
		input(m, h, arg, ask);
	else
		error(m, "113,\"Undefined header\"");
	if (m->out_n > before + (m->answered ? 1 : 0))
		m->answered = true;
	else
		m->out_n = before;
}

/* One program message unit: ":NUM:NORM:ITEM1 U,1", "FORM ASC" after it, "*IDN?". */
static void unit(struct scpi *m, int64_t now, char *text)
{
	char header[128], *arg, *colon;
	bool ask;

	text += strspn(text, " \t");
	if (!*text)
		return;
	arg = text + strcspn(text, " \t");
	if (*arg) {
		*arg++ = '\0';
		arg += strspn(arg, " \t");
	}
	for (size_t n = strlen(arg); n && isspace((unsigned char)arg[n - 1]);)
		arg[--n] = '\0';
	ask = strchr(text, '?') != NULL;
	text[strcspn(text, "?")] = '\0';
	if (text[0] == '*') {
		snprintf(header, sizeof(header), "%s", text);
	} else {
		/* Without a colon it goes on where the last one stood. */
		snprintf(header, sizeof(header), "%s%s", text[0] == ':' ? "" : m->path,
			 text[0] == ':' ? text + 1 : text);
		snprintf(m->path, sizeof(m->path), "%.63s", header);
		colon = strrchr(m->path, ':');
		m->path[colon ? colon + 1 - m->path : 0] = '\0';
	}
	carry_out(m, now, header, arg, ask);
}

/* ----------------------------------------------------------------- messages */

static void send_out(struct scpi *m, int64_t now, const struct emu_out *out)
{
	int64_t at = now + m->kind->answer_ns + (scpi_has(m, "slow") ? 1500 * EMU_MS : 0);
	static char flood[4096];

	if (!m->out_n)
		return;
	if (++m->queries % 16 == 0 && scpi_has(m, "drop")) {
		m->out_n = 0;
		return;
	}
	if (scpi_has(m, "garbage")) {
		for (size_t i = 0; i < m->out_n; i++)
			m->out[i] = (char)(0x80 | (emu_random(&m->seed) & 0x7f));
	}
	if (scpi_has(m, "endless")) {
		memset(flood, '9', sizeof(flood));
		for (int i = 0; i < 16; i++)
			out->send(out->ctx, at, flood, sizeof(flood));
		m->out_n = 0;
		return;
	}
	scpi_add(m, m->kind->end);
	out->send(out->ctx, at, m->out, m->out_n);
	m->out_n = 0;
	m->answered = false;
}

static bool waiting(const struct scpi *m, int64_t now)
{
	return m->waits && m->filter && scpi_updates(m, now) <= m->seen;
}

/* Carries out what is queued, as far as :COMM:WAIT lets it. */
static void work(struct scpi *m, int64_t now, const struct emu_out *out)
{
	while (m->todo_n && !waiting(m, now)) {
		char text[SCPI_LINE];
		size_t n = strcspn(m->todo, ";\n");
		char end = m->todo[n];

		m->waits = 0;
		memcpy(text, m->todo, n);
		text[n] = '\0';
		m->todo_n -= n + 1;
		memmove(m->todo, m->todo + n + 1, m->todo_n + 1);
		unit(m, now, text);
		if (end == '\n') {
			m->path[0] = '\0';
			send_out(m, now, out);
		}
	}
}

static void line_done(struct scpi *m)
{
	/* A meter's input buffer that is full drops the command. */
	if (m->line_n && m->todo_n + m->line_n + 2 < sizeof(m->todo)) {
		memcpy(m->todo + m->todo_n, m->line, m->line_n);
		m->todo_n += m->line_n;
		m->todo[m->todo_n++] = '\n';
		m->todo[m->todo_n] = '\0';
	}
	m->line_n = 0;
}

static void take(struct scpi *m, int64_t now, const uint8_t *p, size_t n, const struct emu_out *out)
{
	if (scpi_has(m, "echo") && !m->kind->message)
		out->send(out->ctx, now, p, n);
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\n')
			line_done(m);
		else if (p[i] != '\r' && p[i] && m->line_n < sizeof(m->line) - 1)
			m->line[m->line_n++] = (char)p[i];
	}
	if (m->kind->message)
		line_done(m);
}

void scpi_host(struct scpi *m, int64_t now, const uint8_t *p, size_t n, const struct emu_out *out)
{
	static const char old[] = "+1.0000E+00,+2.0000E+00,+3.0000E+00\n";

	if (!m->on) {
		m->on = true;
		m->on_ns = m->rate_ns = now - 7 * EMU_S;
		/* Left over from a program that was killed. */
		if (scpi_has(m, "stale"))
			out->send(out->ctx, now, old, sizeof(old) - 1);
		m->on_ns = now;
	}
	if (scpi_has(m, "mute") || (scpi_has(m, "silent") && now - m->on_ns > 3 * EMU_S))
		return;
	take(m, now, p, n, out);
	work(m, now, out);
}

int64_t scpi_due(const struct scpi *m)
{
	int64_t at = m->rate_ns + (m->seen + 1) * m->period_ns;

	if (!m->todo_n || !m->waits || (scpi_has(m, "hold") && at - m->on_ns > 3 * EMU_S))
		return EMU_NEVER;
	return at;
}

void scpi_tick(struct scpi *m, int64_t now, const struct emu_out *out)
{
	work(m, now, out);
}

void scpi_truth(const struct scpi *m, int64_t now, double out[4])
{
	out[0] = m->s.volts;
	out[1] = emu_amps(&m->s, now);
	out[2] = emu_watts(&m->s, now);
	out[3] = m->s.wh;
}
