/* SPDX-License-Identifier: MIT */
/* Patterns of messages against a text. */
#include "text/kmsg_in.h"

struct cursor {
	const char *p, *end;
	const char *pat;
	struct ww_pmev *out;
	int info; /* 'n', 'l', 'e', 's': of %i and %I */
	bool may_end;
	bool ran_out; /* the text ended between two words of the pattern */
	bool touched; /* out holds something */
};

static bool number(struct cursor *c, int64_t scale, int unit)
{
	int64_t whole, part = 0, each = scale;
	size_t k = ww_km_int(c->p, (size_t)(c->end - c->p), &whole);

	if (!k || whole < 0 || whole > 1000000000)
		return false;
	c->p += k;
	if (c->p < c->end && *c->p == '.') {
		for (c->p++; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++) {
			each /= 10;
			part += (*c->p - '0') * each;
		}
	}
	c->out->dur_ns = whole * scale + part;
	c->out->unit = unit;
	return true;
}

static bool integer(struct cursor *c, char what)
{
	int64_t v;
	size_t k = ww_km_int(c->p, (size_t)(c->end - c->p), &v);

	if (!k || v > INT32_MAX || v < INT32_MIN)
		return false;
	if (what == 'n')
		c->out->count = v;
	else if (what == 'e')
		c->out->err = (int32_t)v;
	else if (what == 'p')
		c->out->pid = (int32_t)v;
	c->p += k;
	return true;
}

static size_t literal(const char *pat)
{
	size_t k = 0;

	while (pat[k] && pat[k] != '%')
		k++;
	return k;
}

/* The text ends with the first words of what should follow. */
static bool first_words(const struct cursor *c, size_t k)
{
	size_t left = (size_t)(c->end - c->p);

	for (size_t j = 1; j < k && j < left; j++)
		if (c->pat[j] == ' ' && memcmp(c->end - j, c->pat, j) == 0)
			return true;
	return false;
}

static bool capture(struct cursor *c, char what)
{
	size_t k = literal(c->pat), left = (size_t)(c->end - c->p);
	const char *to = k ? ww_km_last(c->p, left, c->pat, k) : c->end;
	struct ww_slice s;

	if (!to || (to == c->p && what != 'D')) {
		c->ran_out = !to && first_words(c, k);
		return false;
	}
	s = (struct ww_slice){c->p, (size_t)(to - c->p)};
	if (what == 'd')
		c->out->device = s;
	else if (what == 'D')
		c->out->driver = s;
	else if (what == 'k')
		c->out->wakeup = s;
	else if (what == 't')
		c->out->task = s;
	else if (what == 'a')
		c->out->text = s;
	else
		ww_km_func(s.p, s.n, c->out);
	c->p = to;
	return true;
}

struct word {
	const char *text;
	int value;
};

static bool word(struct cursor *c, const struct word *w, size_t n, int *value)
{
	for (size_t i = 0; i < n; i++) {
		size_t k = strlen(w[i].text);

		if ((size_t)(c->end - c->p) >= k && memcmp(c->p, w[i].text, k) == 0) {
			c->p += k;
			*value = w[i].value;
			return true;
		}
	}
	return false;
}

static bool verb(struct cursor *c)
{
	static const struct word verbs[] = {
		{"suspend", WW_PM_V_SUSPEND},	  {"resume", WW_PM_V_RESUME},
		{"freeze", WW_PM_V_FREEZE},	  {"thaw", WW_PM_V_THAW},
		{"restore", WW_PM_V_RESTORE},	  {"recover", WW_PM_V_RECOVER},
		{"quiesce", WW_PM_V_QUIESCE},	  {"hibernate", WW_PM_V_HIBERNATE},
		{"prethaw", WW_PM_V_QUIESCE},	  {"power down", WW_PM_V_SUSPEND},
		{"power off", WW_PM_V_HIBERNATE},
	};

	return word(c, verbs, sizeof(verbs) / sizeof(verbs[0]), &c->out->verb);
}

static bool mode(struct cursor *c)
{
	static const struct word modes[] = {
		{"mem", WW_PM_MODE_MEM},	 {"deep", WW_PM_MODE_MEM},
		{"s2idle", WW_PM_MODE_S2IDLE},	 {"freeze", WW_PM_MODE_S2IDLE},
		{"standby", WW_PM_MODE_STANDBY}, {"shallow", WW_PM_MODE_SHALLOW},
		{"disk", WW_PM_MODE_DISK},	 {"suspend-to-idle", WW_PM_MODE_S2IDLE},
	};

	return word(c, modes, sizeof(modes) / sizeof(modes[0]), &c->out->mode);
}

static bool acpi_state(struct cursor *c)
{
	static const struct word states[] = {{"1", WW_PM_MODE_STANDBY},
					     {"2", WW_PM_MODE_STANDBY},
					     {"3", WW_PM_MODE_MEM},
					     {"4", WW_PM_MODE_DISK}};

	return word(c, states, sizeof(states) / sizeof(states[0]), &c->out->mode);
}

static void info(struct cursor *c, bool after)
{
	static const struct word before[] = {{"noirq ", 'n'},
					     {"late ", 'l'},
					     {"early ", 'e'},
					     {"start ", 's'}};
	static const struct word behind[] = {{" noirq", 'n'},
					     {" late", 'l'},
					     {" early", 'e'},
					     {" async", 'a'}};
	int v;

	while (word(c, after ? behind : before, 4, &v)) {
		if (v == 'a')
			c->out->async = true;
		else
			c->info = v;
	}
}

/* One of "{a|b}". */
static bool choice(struct cursor *c)
{
	for (const char *a = c->pat;;) {
		size_t k = strcspn(a, "|}");

		if ((size_t)(c->end - c->p) >= k && memcmp(c->p, a, k) == 0) {
			c->out->text = (struct ww_slice){c->p, k};
			c->p += k;
			c->pat = strchr(a, '}') + 1;
			return true;
		}
		if (a[k] == '}')
			return false;
		a += k + 1;
	}
}

static bool digits(struct cursor *c, int k, int64_t *v)
{
	*v = 0;
	for (; k; k--, c->p++) {
		if (c->p == c->end || *c->p < '0' || *c->p > '9')
			return false;
		*v = *v * 10 + (*c->p - '0');
	}
	return true;
}

static bool sign(struct cursor *c, char what)
{
	return c->p < c->end && *c->p++ == what;
}

/* Days since 1970 in the Gregorian calendar. */
static int64_t days(int64_t y, int64_t m, int64_t d)
{
	y -= m <= 2;
	m += m <= 2 ? 9 : -3;
	return y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + d - 1 - 719468;
}

/* "2013-01-18 08:51:07.058334719" */
static bool date(struct cursor *c)
{
	int64_t y, mo, d, h, mi, s, each = 1000000000, ns = 0;

	if (!digits(c, 4, &y) || !sign(c, '-') || !digits(c, 2, &mo) || !sign(c, '-') ||
	    !digits(c, 2, &d))
		return false;
	c->ran_out |= c->p == c->end;
	if (!sign(c, ' ') || !digits(c, 2, &h) || !sign(c, ':') || !digits(c, 2, &mi) ||
	    !sign(c, ':') || !digits(c, 2, &s) || y < 1970 || y > 2200 || mo < 1 || mo > 12 ||
	    d < 1 || d > 31)
		return false;
	if (c->p < c->end && *c->p == '.')
		for (c->p++; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++) {
			each /= 10;
			ns += (*c->p - '0') * each;
		}
	c->out->utc_ns = (((days(y, mo, d) * 24 + h) * 60 + mi) * 60 + s) * 1000000000 + ns;
	return true;
}

static bool some(struct cursor *c, char what)
{
	bool numeric = what == 'g';
	const char *from = c->p;

	for (; c->p < c->end && *c->p != ' '; c->p++)
		if (numeric && (*c->p < '0' || *c->p > '9') && *c->p != '.')
			break;
	if (what == 'o')
		c->out->text = (struct ww_slice){from, (size_t)(c->p - from)};
	return c->p > from;
}

/* What a letter stands for. c->pat is behind it. */
static bool letter(struct cursor *c, char what)
{
	switch (what) {
	case 's':
		return number(c, 1000000000, WW_PM_UNIT_SECONDS);
	case 'm':
		return number(c, 1000000, WW_PM_UNIT_MSECS);
	case 'u':
		return number(c, 1000, WW_PM_UNIT_USECS);
	case 'n':
	case 'e':
	case 'p':
		return integer(c, what);
	case 'g':
	case 'w':
	case 'o':
		return some(c, what);
	case 'M':
		return mode(c);
	case 'S':
		return acpi_state(c);
	case 'v':
		return verb(c);
	case 'i':
	case 'I':
		info(c, what == 'I');
		c->ran_out = what == 'I' && c->p == c->end;
		return true;
	case 'z':
		return date(c);
	case '{':
		return choice(c);
	case '|':
		return c->may_end = true;
	case '_':
		while (c->p < c->end && *c->p == ' ')
			c->p++;
		return true;
	case '*':
		c->p = c->end;
		return true;
	case 'x':
		c->out->text = (struct ww_slice){c->p, (size_t)(c->end - c->p)};
		c->p = c->end;
		return true;
	default:
		return capture(c, what);
	}
}

/* true: the whole pattern; or its beginning, and the text is over. */
static bool walk(struct cursor *c)
{
	while (*c->pat) {
		if (*c->pat == '%') {
			char what = c->pat[1];

			c->pat += 2;
			if (c->p == c->end && c->may_end)
				return true;
			c->touched = true;
			if (!letter(c, what))
				return false;
		} else if (c->p == c->end) {
			c->ran_out |= *c->pat == ' ';
			return c->may_end;
		} else if (*c->pat++ != *c->p++) {
			return false;
		}
	}
	return c->p == c->end;
}

static int phase_of(int v, int info)
{
	bool down = v == WW_PM_V_SUSPEND || v == WW_PM_V_FREEZE || v == WW_PM_V_HIBERNATE ||
		    v == WW_PM_V_QUIESCE;

	switch (info) {
	case 'n':
		return down ? WW_PM_SUSPEND_NOIRQ : WW_PM_RESUME_NOIRQ;
	case 'l':
		return down ? WW_PM_SUSPEND_LATE : WW_PM_NO_PHASE;
	case 'e':
		return down ? WW_PM_NO_PHASE : WW_PM_RESUME_EARLY;
	default:
		return down ? WW_PM_SUSPEND : WW_PM_RESUME;
	}
}

static void meaning(const struct ww_km_rule *r, const struct cursor *c)
{
	struct ww_pmev *out = c->out;

	out->kind = r->kind;
	out->fw = r->fw;
	if (r->mode)
		out->mode = r->mode;
	if (r->verb)
		out->verb = r->verb;
	if (r->count >= 0)
		out->count = (unsigned char)r->count; /* not negative here */
	out->phase = r->phase;
	if (!r->phase && out->verb && r->kind != WW_PMEV_FIRMWARE_TIME)
		out->phase = phase_of(out->verb, c->info);
	if (c->info == 's') {
		out->count = r->kind == WW_PMEV_ABORT;
		out->kind = WW_PMEV_SUM;
	}
}

int ww_km_match(const struct ww_km_rule *r, const char *p, size_t n, struct ww_pmev *out)
{
	const char *lit = r->pattern;
	struct cursor c = {.p = p, .end = p + n, .pat = lit, .out = out};
	bool partial = out->partial;

	/* Most rules fail in their first letters. */
	if (n && *lit != '%' && (*lit != *p || (n > 1 && lit[1] != '%' && lit[1] != p[1])))
		return 0;
	if (walk(&c)) {
		/* A whole sentence: which longer ones it begins does not matter. */
		out->partial = c.ran_out || (partial && lit[strlen(lit) - 1] == '*');
		meaning(r, &c);
		return 1;
	}
	if (c.touched)
		ww_pmev_clear(out);
	out->partial = partial || (c.ran_out && memchr(p, ' ', n));
	return 0;
}

bool ww_km_try(struct ww_km_group g, unsigned have, const char *p, size_t n, struct ww_pmev *out)
{
	for (size_t i = 0; i < g.n; i++)
		if ((g.rule[i].need & ~have) == 0 && ww_km_match(&g.rule[i], p, n, out))
			return true;
	return false;
}
