/* SPDX-License-Identifier: MIT */
#include "reading.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BLANK " \t"
#define SEPAR " \t,;"

static const char *const units[] = {"W",  "kW", "mW",  "VA",  "kVA", "V",   "mV",  "A",
				    "mA", "Wh", "mWh", "kWh", "Hz",  "kHz", "var", NULL};

enum word_kind {
	WORD_PLAIN,	 /* no number */
	WORD_NUMBER,	 /* a number, perhaps with the meter's unit behind it */
	WORD_OTHER_UNIT, /* a number in another unit */
	WORD_THOUSANDS,	 /* 1,234: a comma that may stand for either */
	WORD_DOUBTFUL	 /* begins like a number and goes on otherwise: 0x10, 1e3, 12:30 */
};

static bool is_unit(const char *s)
{
	for (size_t i = 0; units[i]; i++)
		if (strcmp(units[i], s) == 0)
			return true;
	return false;
}

static bool same_unit(const char *s, const char *unit)
{
	return strcmp(unit, "1") != 0 && strcasecmp(s, unit) == 0;
}

static bool looks_numeric(const char *s)
{
	if (*s == '+' || *s == '-')
		s++;
	return isdigit((unsigned char)*s) ||
	       ((*s == '.' || *s == ',') && isdigit((unsigned char)s[1]));
}

/* What one word is; its value where it is a number. */
static enum word_kind word_kind(const char *word, const char *unit, double *value)
{
	char text[64];
	size_t whole, part = 0, n;
	const char *p = word + (*word == '-');
	bool comma = false;

	if (!looks_numeric(word))
		return WORD_PLAIN;
	whole = strspn(p, "0123456789");
	n = whole;
	if (p[n] == '.' || p[n] == ',') {
		comma = p[n] == ',';
		part = strspn(p + n + 1, "0123456789");
		n += 1 + part;
	}
	n += (size_t)(p - word);
	if (whole + part == 0 || n >= sizeof(text))
		return WORD_DOUBTFUL;
	if (word[n] && !same_unit(word + n, unit))
		return is_unit(word + n) ? WORD_OTHER_UNIT : WORD_DOUBTFUL;
	if (comma && part == 3 && whole >= 1 && whole <= 3 && *p != '0')
		return WORD_THOUSANDS;
	memcpy(text, word, n);
	text[n] = '\0';
	if (comma)
		*strchr(text, ',') = '.';
	*value = strtod(text, NULL);
	return WORD_NUMBER;
}

static enum reading_kind refuse(struct reading *r, enum word_kind kind, const char *word,
				const char *unit)
{
	size_t n = sizeof(r->why);

	if (kind == WORD_OTHER_UNIT)
		snprintf(r->why, n, "'%.40s' is not in %s, which this meter is read in", word,
			 unit);
	else if (kind == WORD_THOUSANDS)
		snprintf(r->why, n,
			 "'%.40s' has a comma of thousands or of decimals: type '.' for decimals "
			 "and nothing for thousands",
			 word);
	else
		snprintf(r->why, n,
			 "'%.40s' is no plain number such as 40.5; begin the line with ':' where "
			 "all of it is a label",
			 word);
	return READING_REFUSED;
}

/* A label must be one: without a letter it is more likely a second number. */
static enum reading_kind accept(struct reading *r, const char *label, const char *unit)
{
	char first[16];
	bool letter = false;
	size_t n = strcspn(label, SEPAR);

	r->label = label;
	if (!*label)
		return READING_VALUE;
	snprintf(first, sizeof(first), "%.*s", n < sizeof(first) ? (int)n : 0, label);
	for (const char *p = label; *p; p++)
		letter = letter || isalpha((unsigned char)*p) || (unsigned char)*p >= 0x80;
	if (is_unit(first))
		return refuse(r, WORD_OTHER_UNIT, label, unit);
	if (letter)
		return READING_VALUE;
	snprintf(r->why, sizeof(r->why),
		 "'%.40s' is no label for a reading: one reading a line, and a label with a letter "
		 "in it",
		 label);
	return READING_REFUSED;
}

/* The number comes first: what follows is its label. */
static enum reading_kind number_first(char *line, const char *unit, struct reading *r)
{
	char word[64], *rest;
	size_t n = strcspn(line, BLANK ";"), k;
	enum word_kind kind;

	/* A comma behind the number, not inside it, parts it from its label. */
	for (k = 0; k < n; k++)
		if (line[k] == ',' && !isdigit((unsigned char)line[k + 1]))
			n = k;
	if (n >= sizeof(word))
		return refuse(r, WORD_DOUBTFUL, line, unit);
	memcpy(word, line, n);
	word[n] = '\0';
	kind = word_kind(word, unit, &r->value);
	if (kind != WORD_NUMBER)
		return refuse(r, kind, word, unit);
	rest = line + n + strspn(line + n, BLANK);
	k = strcspn(rest, SEPAR);
	if (k < sizeof(word)) {
		memcpy(word, rest, k);
		word[k] = '\0';
		if (k && same_unit(word, unit))
			rest += k;
	}
	return accept(r, rest + strspn(rest, SEPAR), unit);
}

/* A comma between digits is inside a number; every other one parts words. */
static bool parts(const char *line, size_t i)
{
	if (line[i] != ',')
		return strchr(BLANK ";", line[i]) != NULL;
	return i == 0 || !isdigit((unsigned char)line[i - 1]) ||
	       !isdigit((unsigned char)line[i + 1]);
}

/* Where the word that ends at `end` begins. */
static size_t word_at(const char *line, size_t end)
{
	while (end > 0 && !parts(line, end - 1))
		end--;
	return end;
}

static enum reading_kind two_ways(struct reading *r, const char *line)
{
	snprintf(r->why, sizeof(r->why),
		 "'%.40s' can be read in two ways: put ';' between label and reading, or begin the "
		 "line with ':' where all of it is a label",
		 line);
	return READING_REFUSED;
}

/* The label comes first, a reading perhaps last. */
static enum reading_kind number_last(char *line, const char *unit, struct reading *r)
{
	size_t end = strlen(line), at = word_at(line, end), stop;
	bool sign = strchr("+-=", line[0]) != NULL, parted = false;
	enum word_kind kind;
	char word[64];

	if (at > 0 && same_unit(line + at, unit)) {
		for (end = at; end > 0 && strchr(BLANK, line[end - 1]);)
			end--;
		at = word_at(line, end);
	}
	if (end - at >= sizeof(word))
		return READING_MARK;
	memcpy(word, line + at, end - at);
	word[end - at] = '\0';
	kind = word_kind(word, unit, &r->value);
	for (stop = at; stop > 0 && strchr(SEPAR, line[stop - 1]); stop--)
		parted = parted || !strchr(BLANK, line[stop - 1]);
	if (kind == WORD_PLAIN) {
		for (size_t i = 1; word[0] && word[i]; i++)
			if (word[i] == ',')
				return two_ways(r, line);
		return READING_MARK;
	}
	if (!sign && !parted)
		return strchr(word, ',') ? two_ways(r, line) : READING_MARK;
	if (kind != WORD_NUMBER)
		return refuse(r, kind, word, unit);
	line[stop] = '\0';
	return accept(r, line, unit);
}

enum reading_kind reading_parse(char *line, const char *unit, struct reading *r)
{
	r->label = line;
	if (line[0] == ':') {
		r->label = line + 1 + strspn(line + 1, BLANK);
		return READING_MARK;
	}
	return looks_numeric(line) ? number_first(line, unit, r) : number_last(line, unit, r);
}
