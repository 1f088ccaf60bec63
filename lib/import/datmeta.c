// SPDX-License-Identifier: MIT
/* What a trace of trace-cmd says of its events, functions and tasks: texts of tracefs. */
#include "import/dat.h"

#define FORMATS_MOST (64u << 20) /* bytes of all of them */

/* "KEY:NUMBER;" in a field's line. */
static bool number_of(const char *line, const char *end, const char *key, int64_t *out)
{
	size_t n = strlen(key);
	const char *p = memmem(line, (size_t)(end - line), key, n);
	int64_t v = 0;

	if (!p)
		return false;
	for (p += n; p < end && ww_is_digit(*p) && v < 1000000; p++)
		v = v * 10 + (*p - '0');
	*out = v;
	return p[-1] != ':';
}

/* Where each of the page's parts begins: "field: local_t commit; offset:8; size:8; signed:1;" */
int ww_dat_header_page(struct ww_dat *d, const char *text, struct ww_error *err)
{
	const char *commit = strstr(text, " commit;"), *data = strstr(text, " data;");
	int64_t at = 8, size = 8, begin = 16;

	/* Kernels before 2.6.31 have none, and no trace-cmd of version 6 either. */
	if (commit && data &&
	    (!number_of(commit, strchrnul(commit, '\n'), "offset:", &at) ||
	     !number_of(commit, strchrnul(commit, '\n'), "size:", &size) ||
	     !number_of(data, strchrnul(data, '\n'), "offset:", &begin)))
		return ww_dat_broken(d, "its header_page", err);
	if ((size != 4 && size != 8) || at < 8 || at > 64 || begin < at + size || begin > 128)
		return ww_dat_broken(d, "its header_page", err);
	d->commit_at = (uint32_t)at;
	d->commit_size = (uint32_t)size;
	d->data_at = (uint32_t)begin;
	return 0;
}

/* "\tfield:__data_loc char[] device;\toffset:8;\tsize:4;\tsigned:1;" */
static bool read_field(const char *p, const char *end, struct ww_dat_field *f)
{
	const char *semi = memchr(p, ';', (size_t)(end - p)), *name, *stop;
	int64_t offset, size, sign = 0;

	if (!semi || !number_of(semi, end, "offset:", &offset) ||
	    !number_of(semi, end, "size:", &size) || offset > UINT16_MAX || size > UINT16_MAX)
		return false;
	number_of(semi, end, "signed:", &sign);
	stop = semi;
	if (stop > p && stop[-1] == ']') {
		stop = memrchr(p, '[', (size_t)(stop - p));
		if (!stop)
			return false;
	}
	for (name = stop; name > p && name[-1] != ' ' && name[-1] != '*';)
		name--;
	if (name == stop || stop - name > UINT8_MAX)
		return false;
	*f = (struct ww_dat_field){.name = name,
				   .name_n = (uint8_t)(stop - name),
				   .offset = (uint16_t)offset,
				   .is_signed = sign != 0};
	f->is_pointer = memchr(p, '*', (size_t)(name - p)) != NULL;
	f->loc = memmem(p, (size_t)(name - p), "__data_loc", 10) ? 1
		 : memmem(p, (size_t)(name - p), "__rel_loc", 9) ? 2
								 : 0;
	f->is_string = memmem(p, (size_t)(name - p), "char", 4) && (f->loc || stop != semi);
	if (size == 1 || size == 2 || size == 4 || size == 8)
		f->size = (uint8_t)size;
	if (stop != semi && !f->loc)
		f->array = (uint16_t)size;
	return true;
}

static int read_fields(struct ww_dat_event *e, const char *p, struct ww_error *err)
{
	struct ww_dat_field f[WW_DAT_FIELDS];

	while (e->fields < WW_DAT_FIELDS) {
		const char *line = strstr(p, "field:"), *end;

		if (!line)
			break;
		end = strchrnul(line, '\n');
		e->fields += read_field(line + 6, end, &f[e->fields]);
		p = end;
	}
	if (e->fields == 0)
		return 0;
	e->field = malloc(e->fields * sizeof(f[0]));
	if (!e->field)
		return ww_fail_nomem(err);
	memcpy(e->field, f, e->fields * sizeof(f[0]));
	return 0;
}

int ww_dat_format(struct ww_dat *d, char *text, struct ww_error *err)
{
	struct ww_dat_event e = {.text = text};
	const char *name = strstr(text, "name: "), *id = strstr(text, "\nID: ");
	char *print = strstr(text, "\nprint fmt:");
	int64_t number = 0;
	int rc;

	d->format_bytes += strlen(text);
	if (d->format_bytes > FORMATS_MOST) {
		free(text);
		return ww_dat_broken(d, "too much text on events", err);
	}
	if (!name || !id || !number_of(id, strchrnul(id + 1, '\n'), "ID: ", &number) ||
	    number > UINT16_MAX || d->by_id[number]) {
		free(text);
		return 0; /* an event less */
	}
	if (print)
		*print = '\0'; /* it may speak of a "field:", too */
	e.name = name + 6;
	e.name_n = (uint16_t)strnlen(e.name, (size_t)(strchrnul(e.name, '\n') - e.name));
	e.id = (uint16_t)number;
	rc = read_fields(&e, id, err);
	if (rc == 0)
		ww_dat_kind(&e);
	if (rc == 0 && d->events == d->event_cap) {
		size_t cap = d->event_cap ? 2 * d->event_cap : 256;
		void *p = realloc(d->event, cap * sizeof(e));

		if (!p) {
			rc = ww_fail_nomem(err);
		} else {
			d->event = p;
			d->event_cap = cap;
		}
	}
	if (rc < 0) {
		free(e.field);
		free(text);
		return rc;
	}
	d->event[d->events++] = e;
	d->by_id[number] = (uint32_t)d->events;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct ww_dat_symbol *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr ? 1 : x->at < y->at ? -1 : x->at > y->at;
}

static const char *read_value(const char *p, const char *end, int base, uint64_t *out)
{
	uint64_t v = 0;

	if (end - p > 2 && p[0] == '0' && p[1] == 'x')
		p += 2;
	for (; p < end; p++) {
		unsigned char c = (unsigned char)*p;
		unsigned digit = ww_is_digit(*p) ? c - 48u : c >= 'a' && c <= 'f' ? c - 87u : 99u;

		if (digit >= (unsigned)base)
			break;
		v = v * (unsigned)base + digit;
	}
	*out = v;
	return p;
}

/* The name in a line behind its number: in quotes, behind a letter, or all the rest. */
static bool read_name(const char *p, const char *end, int base, const char **name, size_t *n)
{
	const char *q;

	while (p < end && *p == ' ')
		p++;
	q = p < end ? memchr(p, '"', (size_t)(end - p)) : NULL;
	if (base == 16 && q) {
		const char *last = memrchr(p, '"', (size_t)(end - p));

		*name = q + 1;
		*n = last > q ? (size_t)(last - q - 1) : 0;
		return last > q;
	}
	if (base == 16 && end - p > 2 && p[1] == ' ') {
		p += 2;
		for (q = p; q < end && *q != ' ' && *q != '\t';)
			q++;
		end = q;
	}
	*name = p;
	*n = (size_t)(end - p);
	return *n > 0;
}

/* Of several names of a number: the first. */
static void drop_doubles(struct ww_dat_table *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n; i++)
		if (kept == 0 || t->sym[kept - 1].addr != t->sym[i].addr)
			t->sym[kept++] = t->sym[i];
	t->n = kept;
}

int ww_dat_table(struct ww_dat_table *t, char *text, size_t n, int base, struct ww_error *err)
{
	size_t lines = 1;
	const char *p = text, *end = text + n;

	free(t->text);
	free(t->sym);
	*t = (struct ww_dat_table){.text = text, .text_n = n, .loaded = true};
	/* "1 a" is the shortest of use. */
	for (const char *q = text, *s; (s = memchr(q, '\n', (size_t)(end - q))) != NULL; q = s + 1)
		lines += s - q >= 3;
	t->sym = malloc(lines * sizeof(*t->sym));
	if (!t->sym)
		return ww_fail_nomem(err);
	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p)), *name;
		struct ww_dat_symbol s;
		size_t len;

		if (!stop)
			stop = end;
		name = read_value(p, stop, base, &s.addr);
		if (stop - p >= 3 && name > p && read_name(name, stop, base, &name, &len)) {
			s.at = (uint32_t)(name - text);
			s.n = (uint32_t)len;
			if (s.addr != 0 || base == 10)
				t->sym[t->n++] = s;
		}
		p = stop + 1;
	}
	qsort(t->sym, t->n, sizeof(*t->sym), compare);
	drop_doubles(t);
	return 0;
}

const struct ww_dat_symbol *ww_dat_find(const struct ww_dat_table *t, uint64_t v, bool exact)
{
	size_t lo = 0, hi = t->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->sym[mid].addr <= v)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0 || (exact && t->sym[lo - 1].addr != v))
		return NULL;
	return &t->sym[lo - 1];
}
