/* SPDX-License-Identifier: MIT */
/* What the columns of a table are: from its header, or from what stands in them. */
#include "import/csv.h"

#include <math.h>
#include <stdio.h>

#define DC_VOLTS 60.0 /* more is a mains line, where volts times amperes are no watts */
#define EPOCH_LO 1e8  /* seconds since 1970: 1973 to 2103 */
#define EPOCH_HI 4.2e9

/* What stands in a column of the first rows. */
struct look {
	bool stamps, dated, clocked, numbers, some, empty, rises;
	double first, last, most;
	struct ww_field cell; /* the first with something in it */
	size_t line;
};

static struct look look_at(const struct ww_plan *p, const struct ww_head *h, size_t first, size_t k)
{
	struct look l = {.stamps = true,
			 .dated = true,
			 .clocked = true,
			 .numbers = true,
			 .empty = true,
			 .rises = true};
	struct ww_field f[WW_CSV_FIELDS];
	struct ww_stamp s;
	struct ww_num v;
	size_t numbers = 0, texts = 0, stamps = 0, cells = 0;
	bool any = false;

	for (size_t i = first; i < h->lines; i++) {
		size_t n = ww_csv_split(&p->dialect, h->line[i], h->n[i], f, WW_CSV_FIELDS);
		int kind;

		if (n > p->fields || k >= n || f[k].n == 0)
			continue;
		if (l.empty)
			l.cell = f[k], l.line = h->number[i];
		l.empty = false;
		kind = ww_num_read(f[k].p, f[k].n, p->dialect.comma, &v);
		if (ww_is_stamp(&f[k], &s)) {
			stamps++;
			l.dated &= s.dated;
			l.clocked &= s.clocked;
		}
		cells++;
		if (kind == WW_NUM_TEXT || (kind == WW_NUM_OK && v.unit_n > 8))
			texts++;
		if (kind != WW_NUM_OK)
			continue;
		l.rises &= !any || v.value >= l.last;
		l.first = any ? l.first : v.value;
		l.last = v.value;
		l.most = fmax(l.most, fabs(v.value));
		any = true;
		numbers++;
	}
	l.some = any;
	l.numbers = numbers > texts; /* a few words among them are rubbish */
	l.stamps = 2 * stamps > cells;
	l.rises &= any && l.last > l.first;
	return l;
}

static bool is_open(const struct ww_plan_column *c, const struct look *l)
{
	if (c->head.kind == WW_HEAD_LABEL)
		return false;
	return l->empty || (c->head.kind == WW_HEAD_VALUE && !l->some);
}

/* What is empty in the first rows may begin at any later one. */
static void look_on(struct ww_import *im, const struct ww_plan *p, struct look *look)
{
	struct ww_lines l = ww_import_lines(im);
	struct ww_field f[WW_CSV_FIELDS];
	size_t len, open = 0;
	const char *line;
	struct ww_num v;

	for (size_t k = 0; k < p->fields; k++)
		open += is_open(&p->col[k], &look[k]);
	im->line = 0;
	while (open > 0 && ww_import_line(im, &l, &line, &len, NULL) > 0) {
		size_t n;

		if (im->line <= p->skip || ww_csv_blank(line, len))
			continue;
		n = ww_csv_split(&p->dialect, line, len, f, WW_CSV_FIELDS);
		for (size_t k = 0; k < n && n <= p->fields; k++) {
			if (f[k].n == 0 || !is_open(&p->col[k], &look[k]))
				continue;
			look[k].empty = false;
			if (ww_num_read(f[k].p, f[k].n, p->dialect.comma, &v) == WW_NUM_OK) {
				look[k].some = true;
				look[k].first = look[k].last = v.value;
				look[k].most = fabs(v.value);
			}
			open -= !is_open(&p->col[k], &look[k]);
		}
	}
	im->line = 0;
}

/* Exponent of a number that counts from 1970: of seconds 0, ms -3, ...; 1: it does not. */
static int epoch_exponent(double v)
{
	for (int e = 0; e >= -9; e -= 3)
		if (v * pow(10, e) >= EPOCH_LO && v * pow(10, e) < EPOCH_HI)
			return e;
	return 1;
}

/* How good a time a column is: stamps before epochs before counts from a start. */
static int time_rank(const struct ww_plan_column *c, const struct look *l)
{
	int named = c->head.kind == WW_HEAD_TIME ? c->head.wide ? 1 : 2 : 0;

	if (l->stamps && l->clocked && l->dated)
		return 40 + named;
	if (l->stamps && l->clocked && c->head.kind != WW_HEAD_VALUE)
		return 30 + named;
	if (!l->some || named == 0)
		return 0;
	return (epoch_exponent(l->first) <= 0 ? 20 : 10) + named;
}

static void choose_time(struct ww_plan *p, const struct look *look)
{
	int best = 0;
	size_t at = 0;

	for (size_t i = 0; i < p->fields; i++) {
		int rank = time_rank(&p->col[i], &look[i]);

		if (rank > best) {
			best = rank;
			at = i;
		}
	}
	if (best == 0)
		return;
	p->col[at].role = WW_ROLE_TIME;
	/* A time of day needs its date beside it. */
	for (size_t i = 0; i < p->fields && best < 40 && best >= 30; i++)
		if (i != at && look[i].stamps && look[i].dated && !look[i].clocked) {
			p->col[i].role = WW_ROLE_DATE;
			break;
		}
}

/* Without a header: a time in front, then readings. */
static int headless(struct ww_import *im, struct ww_plan *p, const struct look *look,
		    struct ww_error *err)
{
	size_t values = 0, at = 0;

	choose_time(p, look);
	for (size_t i = 0; i < p->fields; i++)
		values += p->col[i].role == WW_ROLE_NONE && !look[i].empty;
	if (p->col[0].role == WW_ROLE_NONE && values > 1 && im->rate_hz <= 0 && look[0].numbers &&
	    (look[0].rises || epoch_exponent(look[0].first) <= 0)) {
		p->col[0].role = WW_ROLE_TIME;
		values--;
	}
	for (size_t i = 0; i < p->fields; i++)
		if (p->col[i].role == WW_ROLE_NONE && !look[i].empty)
			at = i;
	if (values != 1 || !look[at].numbers)
		return ww_import_fail(im, err,
				      "no header, and %zu columns of which nothing tells what they "
				      "are: name them (--columns time_s,V,A for example; an empty "
				      "name passes a column over)",
				      p->fields);
	ww_heading_read("power", &p->col[at].head);
	p->col[at].role = WW_ROLE_VALUE;
	return 0;
}

static void headed(struct ww_plan *p, const struct look *look)
{
	bool timed = false;

	choose_time(p, look);
	for (size_t i = 0; i < p->fields; i++)
		timed |= p->col[i].role == WW_ROLE_TIME;
	for (size_t i = 0; i < p->fields; i++) {
		struct ww_plan_column *c = &p->col[i];

		if (c->role != WW_ROLE_NONE)
			continue;
		if (c->head.kind == WW_HEAD_STEP && !timed && look[i].numbers) {
			c->role = WW_ROLE_STEP;
			timed = true;
		} else if (c->head.kind == WW_HEAD_LABEL) {
			c->role = WW_ROLE_LABEL;
		} else if (c->head.kind == WW_HEAD_VALUE && look[i].some) {
			c->role = WW_ROLE_VALUE;
		}
	}
}

static size_t count_of(const struct ww_plan *p, const char *quantity, size_t *at)
{
	size_t n = 0;

	for (size_t i = 0; i < p->fields; i++)
		if (p->col[i].role == WW_ROLE_VALUE &&
		    strcmp(p->col[i].head.quantity, quantity) == 0 && n++ == 0)
			*at = i;
	return n;
}

/* Volts times amperes are watts where the current is direct. */
static void plan_power(struct ww_import *im, struct ww_plan *p, const struct look *look)
{
	size_t v = 0, a = 0, other = 0;

	if (p->fixed.code) {
		p->dc_power = p->col[p->amps].role == WW_ROLE_VALUE &&
			      strcmp(p->col[p->amps].head.quantity, "current") == 0;
		p->volts = SIZE_MAX;
		if (!p->dc_power)
			ww_note(&im->notes,
				"column %zu is no current: the volts behind its name "
				"are not used",
				p->amps + 1);
		return;
	}
	if (count_of(p, "power", &other) || count_of(p, "voltage", &v) != 1 ||
	    count_of(p, "current", &a) != 1)
		return;
	if (count_of(p, "apparent_power", &other) || count_of(p, "power_factor", &other) ||
	    count_of(p, "frequency", &other) ||
	    look[v].most * pow(10, p->col[v].head.exponent) > DC_VOLTS) {
		ww_note(&im->notes, "volts times amperes of an AC line are no watts: there is no "
				    "channel of power");
		return;
	}
	p->dc_power = true;
	p->volts = v;
	p->amps = a;
}

static const char *called(const struct ww_plan *p, size_t i)
{
	const struct ww_heading *h = &p->col[i].head;

	return !p->has_header		 ? "no name"
	       : *h->name		 ? h->name
	       : *h->quantity		 ? h->quantity
	       : h->kind == WW_HEAD_TIME ? "time"
					 : "no name";
}

static void say_columns(struct ww_import *im, const struct ww_plan *p, const struct look *look)
{
	struct ww_str left = {0};
	size_t n = 0;

	for (size_t i = 0; i < p->fields; i++) {
		const struct ww_plan_column *c = &p->col[i];

		if (c->role == WW_ROLE_VALUE && !c->head.has_unit && *c->head.unit != '1')
			ww_note(&im->notes, "column %zu (%s) tells no unit: taken as %s", i + 1,
				called(p, i), c->head.unit);
		if (c->head.kind == WW_HEAD_VALUE && !look[i].some)
			ww_note(&im->notes, "column %zu (%s): no row has a value there", i + 1,
				called(p, i));
		else if (im->columns && c->head.kind == WW_HEAD_UNKNOWN && !*c->head.name)
			continue; /* passed over on purpose */
		else if (c->role == WW_ROLE_NONE && !look[i].empty && n++ < 8)
			ww_str_addf(&left, "%s%s", n > 1 ? ", " : "", called(p, i));
	}
	if (n > 8)
		ww_str_addf(&left, " and %zu more", n - 8);
	if (n > 0)
		ww_note(&im->notes, "column%s not read: %s", n == 1 ? "" : "s",
			left.p ? left.p : "");
	im->notes.bad |= left.bad;
	ww_str_free(&left);
}

/* A column that is called time, and what stands there is none. */
static bool bad_time(struct ww_import *im, const struct ww_plan *p, const struct look *look,
		     struct ww_error *err)
{
	for (size_t i = 0; i < p->fields; i++) {
		struct ww_str s = {0};

		if (p->col[i].head.kind != WW_HEAD_TIME || look[i].empty)
			continue;
		im->line = look[i].line;
		ww_field_text(&look[i].cell, &s);
		ww_import_fail(im, err,
			       "column %zu (%s): '%.40s' is no time: a number of seconds or an ISO "
			       "8601 time would be, see wakewatt-formats(7); --rate 10 tells the "
			       "rows a second instead",
			       i + 1, called(p, i), s.p ? s.p : "");
		ww_str_free(&s);
		return true;
	}
	return false;
}

static int check_columns(struct ww_import *im, const struct ww_plan *p, const struct look *look,
			 struct ww_error *err)
{
	struct ww_str names = {0};
	bool timed = false, value = false;
	size_t hollow = 0;
	int rc = 0;

	for (size_t i = 0; i < p->fields; i++) {
		timed |= p->col[i].role == WW_ROLE_TIME || p->col[i].role == WW_ROLE_STEP;
		value |= p->col[i].role == WW_ROLE_VALUE;
		if (p->col[i].head.kind == WW_HEAD_VALUE && !look[i].some && !hollow)
			hollow = i + 1;
		if (i < 8)
			ww_str_addf(&names, "%s%s", i ? ", " : "", called(p, i));
	}
	if (!value && hollow)
		rc = ww_import_fail(im, err,
				    "column %zu (%s) holds readings, but no row has a value there",
				    hollow, called(p, hollow - 1));
	else if (!value)
		rc = ww_import_fail(im, err,
				    "none of the %zu columns (%s) is known to be watts, volts, "
				    "amperes or energy: name them (--columns time_s,W for example; "
				    "an empty name passes a column over)",
				    p->fields, names.p ? names.p : "");
	else if (!timed && im->rate_hz <= 0 && bad_time(im, p, look, err))
		rc = -EINVAL;
	else if (!timed && im->rate_hz <= 0)
		rc = ww_import_fail(im, err,
				    "no column tells the time: say how many rows a second there "
				    "are (--rate 10), or which column it is (--columns)");
	if (rc == 0 && timed && im->rate_hz > 0)
		ww_note(&im->notes, "the file tells its times: the rate given is not used");
	ww_str_free(&names);
	return rc;
}

/* The unit of a time that is a number, and whether it counts from 1970. */
static void plan_number_time(struct ww_import *im, struct ww_plan *p, size_t k, double first)
{
	const struct ww_heading *head = &p->col[k].head;
	double seconds = first * pow(10, head->exponent) * head->seconds;
	int e = epoch_exponent(first);

	p->time_exponent = head->exponent;
	p->time_seconds = head->seconds;
	im->clock = WW_CLOCK_RELATIVE;
	if (p->col[k].role == WW_ROLE_STEP)
		return;
	p->epoch = seconds >= EPOCH_LO && seconds < EPOCH_HI;
	if (!p->epoch && e <= 0 && (!head->has_unit || seconds >= EPOCH_HI)) {
		p->epoch = true;
		p->time_exponent = e;
		p->time_seconds = 1;
	}
	if (p->epoch)
		im->clock = WW_CLOCK_UTC;
	else if (!head->has_unit)
		ww_note(&im->notes, "column %zu, the time, tells no unit: taken as seconds", k + 1);
}

/* Which of a date's parts is the day: one that is over 12, wherever it stands. */
static void plan_stamps(struct ww_import *im, struct ww_plan *p, size_t k)
{
	struct ww_lines l = ww_import_lines(im);
	struct ww_field f[WW_CSV_FIELDS];
	bool dmy = false, mdy = false, noon = false, either = false;
	const char *line;
	size_t len;
	struct ww_stamp s;

	im->line = 0;
	while (!dmy && !mdy && ww_import_line(im, &l, &line, &len, NULL) > 0) {
		if (ww_csv_split(&p->dialect, line, len, f, WW_CSV_FIELDS) != p->fields ||
		    !ww_is_stamp(&f[k], &s) || !s.dated)
			continue;
		if (!s.first)
			break; /* the year is in front */
		dmy = s.first > 12;
		mdy = s.second > 12;
		noon |= s.noon;
		either = true;
	}
	im->line = 0;
	p->date_order = mdy || (!dmy && noon) ? WW_DATE_MDY : WW_DATE_DMY;
	if (either && !dmy && !mdy)
		ww_note(&im->notes, "the dates may be day/month or month/day: taken as %s",
			noon ? "month/day, as is usual beside AM and PM" : "day/month");
}

static void plan_times(struct ww_import *im, struct ww_plan *p, const struct look *look)
{
	im->clock = WW_CLOCK_NONE;
	for (size_t i = 0; i < p->fields; i++) {
		if (p->col[i].role == WW_ROLE_DATE)
			plan_stamps(im, p, i);
		if (p->col[i].role != WW_ROLE_TIME && p->col[i].role != WW_ROLE_STEP)
			continue;
		p->stamped = p->col[i].role == WW_ROLE_TIME && look[i].stamps && look[i].clocked;
		if (p->stamped && look[i].dated)
			plan_stamps(im, p, i);
		if (!p->stamped)
			plan_number_time(im, p, i, look[i].first);
	}
}

/* The first row of numbers, and how many columns there are. */
static int find_table(struct ww_import *im, struct ww_plan *p, struct ww_head *h, size_t *first,
		      struct ww_error *err)
{
	p->dialect = ww_csv_guess(im->text, im->n < WW_IMPORT_SAMPLE ? im->n : WW_IMPORT_SAMPLE);
	ww_head_read(im, h);
	*first = ww_head_first(h, &p->dialect);
	if (h->lines == 0 && im->n > WW_IMPORT_SAMPLE)
		return ww_import_fail(im, err, "its first line is longer than %u bytes",
				      WW_IMPORT_SAMPLE);
	for (size_t i = 0; *first == h->lines && i < h->lines; i++) {
		size_t n = ww_csv_split(&p->dialect, h->line[i], h->n[i], NULL, 0);

		im->line = h->number[i];
		if (n > WW_CSV_FIELDS)
			return ww_import_fail(im, err,
					      "%zu columns; at most %d are taken: leave out those "
					      "that are no readings",
					      n, WW_CSV_FIELDS);
	}
	im->line = 0;
	if (*first == h->lines)
		return ww_import_fail(im, err,
				      "no rows of numbers at its beginning: no table of readings, "
				      "and none of the logs of wakewatt-formats(7)");
	if (!im->columns && ww_head_typed(h, &p->dialect))
		return ww_import_fail(im, err,
				      "this is a table of readings that were typed, not a trace: "
				      "'pwrlog attribute --table' reads it");
	p->skip = h->number[*first] - 1;
	p->fields = ww_csv_split(&p->dialect, h->line[*first], h->n[*first], NULL, 0);
	return im->columns ? 0 : ww_head_width(im, p, h, *first, err);
}

/* Where no column can be a time, what the head of the file says of it is taken. */
static void rate_of_head(struct ww_import *im, const struct ww_plan *p, const struct ww_head *h)
{
	char hz[350];

	for (size_t i = 0; i < p->fields; i++)
		if (p->col[i].head.kind == WW_HEAD_TIME || p->col[i].head.kind == WW_HEAD_STEP)
			return;
	if (im->rate_hz > 0 || h->rate_hz <= 0)
		return;
	im->rate_hz = h->rate_hz;
	ww_fixed_text(hz, sizeof(hz), h->rate_hz, h->rate_hz < 10 ? 3 : 0);
	ww_note(&im->notes, "the head of the file tells %s rows a second", hz);
}

int ww_plan_make(struct ww_import *im, struct ww_plan *p, struct ww_error *err)
{
	struct look look[WW_CSV_FIELDS] = {0};
	struct ww_head h;
	size_t first;
	int rc;

	memset(p, 0, sizeof(*p));
	rc = find_table(im, p, &h, &first, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < p->fields; i++)
		ww_heading_read("", &p->col[i].head);
	rc = ww_head_names(im, p, &h, first, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < p->fields; i++)
		look[i] = look_at(p, &h, first, i);
	look_on(im, p, look);
	im->line = h.number[first];
	rate_of_head(im, p, &h);
	if (p->has_header)
		headed(p, look);
	else
		rc = headless(im, p, look, err);
	if (rc == 0)
		rc = check_columns(im, p, look, err);
	if (rc < 0)
		return rc;
	plan_power(im, p, look);
	say_columns(im, p, look);
	plan_times(im, p, look);
	return 0;
}
