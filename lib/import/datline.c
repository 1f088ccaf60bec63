// SPDX-License-Identifier: MIT
/*
 * A record of the ring buffer as the line that `trace-cmd report -t` prints. What suspend and
 * resume need is told in the kernel's own words, of other events what their fields hold.
 */
#include "import/dat.h"
#include "text/pmev.h"

#include <inttypes.h>

enum {
	K_OTHER,
	K_SUSPEND_RESUME,
	K_START,
	K_END,
	K_WAKEUP,
	K_PRINT,
	K_GRAPH_ENTRY,
	K_GRAPH_EXIT,
	K_CPUHP_ENTER,
	K_CPUHP_EXIT,
	K_FUNCTION
};

struct rec {
	struct ww_dat *d;
	const struct ww_dat_event *e;
	const uint8_t *p;
	size_t n;
	struct ww_str *s;
};

/* Fields of its own behind the task's number, which stands first for all. */
static const struct {
	const char *name;
	int kind;
	const char *field[WW_DAT_SLOTS - 1];
} kinds[] = {
	{"suspend_resume", K_SUSPEND_RESUME, {"action", "val", "start"}},
	{"device_pm_callback_start", K_START, {"driver", "device", "parent", "pm_ops", "event"}},
	{"device_pm_callback_end", K_END, {"driver", "device", "error"}},
	{"wakeup_source_activate", K_WAKEUP, {"name", "state"}},
	{"wakeup_source_deactivate", K_WAKEUP, {"name", "state"}},
	{"print", K_PRINT, {"ip", "buf"}},
	{"funcgraph_entry", K_GRAPH_ENTRY, {"func", "depth"}},
	{"funcgraph_exit", K_GRAPH_EXIT, {"func", "depth", "calltime", "rettime"}},
	{"cpuhp_enter", K_CPUHP_ENTER, {"cpu", "target", "idx", "fun"}},
	{"cpuhp_multi_enter", K_CPUHP_ENTER, {"cpu", "target", "idx", "fun"}},
	{"cpuhp_exit", K_CPUHP_EXIT, {"cpu", "state", "idx", "ret"}},
	{"function", K_FUNCTION, {"ip", "parent_ip"}},
	{NULL, K_OTHER, {"__probe_ip", "__probe_func", "__probe_ret_ip"}},
};

static uint8_t slot_of(const struct ww_dat_event *e, const char *name)
{
	size_t n = name ? strlen(name) : 0;

	for (size_t i = 0; i < e->fields && n > 0; i++)
		if (e->field[i].name_n == n && memcmp(e->field[i].name, name, n) == 0)
			return (uint8_t)(i + 1);
	return 0;
}

void ww_dat_kind(struct ww_dat_event *e)
{
	size_t i = 0;

	while (kinds[i].name && (strlen(kinds[i].name) != e->name_n ||
				 memcmp(kinds[i].name, e->name, e->name_n) != 0))
		i++;
	e->kind = (uint8_t)kinds[i].kind;
	e->slot[0] = slot_of(e, "common_pid");
	for (size_t k = 1; k < WW_DAT_SLOTS; k++)
		e->slot[k] = slot_of(e, kinds[i].field[k - 1]);
	e->needs_names = e->kind >= K_PRINT || (e->kind == K_OTHER && (e->slot[1] || e->slot[2]));
}

static const struct ww_dat_field *field(const struct rec *r, int slot)
{
	return r->e->slot[slot] ? &r->e->field[r->e->slot[slot] - 1] : NULL;
}

static uint64_t value(const struct rec *r, const struct ww_dat_field *f)
{
	uint64_t v;
	unsigned bits;

	if (!f || f->size == 0 || (size_t)f->offset + f->size > r->n)
		return 0;
	v = ww_dat_num(r->d, r->p + f->offset, f->size);
	bits = 64 - 8u * f->size;
	if (f->is_signed && bits > 0)
		v = (uint64_t)((int64_t)(v << bits) >> bits);
	return v;
}

static uint64_t number(const struct rec *r, int slot)
{
	return value(r, field(r, slot));
}

/* At least `digits` of them: what printf does, and cheaper. */
static void add_number(struct ww_str *s, uint64_t v, int digits, char pad)
{
	char buf[24];
	int i = sizeof(buf);

	do {
		buf[--i] = (char)('0' + v % 10);
		v /= 10;
	} while (v > 0);
	while (i > 0 && (int)sizeof(buf) - i < digits)
		buf[--i] = pad;
	ww_str_addn(s, buf + i, sizeof(buf) - (size_t)i);
}

static void add_signed(struct ww_str *s, int64_t v)
{
	if (v < 0)
		ww_str_addn(s, "-", 1);
	add_number(s, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 1, ' ');
}

/* A string: of its own place in the record, of fixed length, or up to the record's end. */
static struct ww_slice string(const struct rec *r, const struct ww_dat_field *f)
{
	size_t at, n;

	if (!f || f->offset > r->n)
		return (struct ww_slice){"", 0};
	at = f->offset;
	n = f->array ? f->array : r->n - at;
	if (f->loc) {
		uint32_t loc = (uint32_t)value(r, f);

		at = (loc & 0xffff) + (f->loc == 2 ? f->offset + 4u : 0);
		n = loc >> 16;
	}
	if (at > r->n)
		return (struct ww_slice){"", 0};
	if (n > r->n - at)
		n = r->n - at;
	n = strnlen((const char *)r->p + at, n);
	while (n > 0 && r->p[at + n - 1] == '\n')
		n--;
	return (struct ww_slice){(const char *)r->p + at, n};
}

/* A line stays one, whatever the text holds. */
static void add_text(struct ww_str *s, struct ww_slice t)
{
	while (t.n > 0) {
		const char *stop = memchr(t.p, '\n', t.n);
		size_t n = stop ? (size_t)(stop - t.p) : t.n;

		ww_str_addn(s, t.p, n);
		if (!stop)
			return;
		ww_str_addn(s, " ", 1);
		t.p += n + 1;
		t.n -= n + 1;
	}
}

static void add_string(const struct rec *r, int slot)
{
	add_text(r->s, string(r, field(r, slot)));
}

static struct ww_slice name_of(const struct ww_dat_table *t, const struct ww_dat_symbol *sym)
{
	return (struct ww_slice){t->text + sym->at, sym->n};
}

/* The name of a function; its address where it has none. */
static void add_function(const struct rec *r, uint64_t addr, bool offset)
{
	const struct ww_dat_symbol *sym = ww_dat_find(&r->d->syms, addr, false);

	if (!sym || addr - sym->addr > (1u << 24)) {
		ww_str_addf(r->s, "0x%" PRIx64, addr);
		return;
	}
	add_text(r->s, name_of(&r->d->syms, sym));
	if (offset)
		ww_str_addf(r->s, "+0x%" PRIx64, addr - sym->addr);
}

static void suspend_resume(const struct rec *r)
{
	uint64_t action = number(r, 1);
	const struct ww_dat_symbol *sym = ww_dat_find(&r->d->printk, action, true);

	if (sym)
		add_text(r->s, name_of(&r->d->printk, sym));
	else
		ww_str_addf(r->s, "0x%" PRIx64, action);
	ww_str_addn(r->s, "[", 1);
	add_number(r->s, (uint32_t)number(r, 2), 1, ' ');
	ww_str_add(r->s, number(r, 3) ? "] begin" : "] end");
}

static void callback_start(const struct rec *r)
{
	static const struct {
		unsigned event;
		const char *word;
	} words[] = {{0x02, "suspend"},	  {0x10, "resume"}, {0x01, "freeze"},  {0x08, "quiesce"},
		     {0x04, "hibernate"}, {0x20, "thaw"},   {0x40, "restore"}, {0x80, "recover"}};
	uint64_t event = number(r, 5);
	const char *word = NULL;

	add_string(r, 1);
	ww_str_add(r->s, " ");
	add_string(r, 2);
	ww_str_add(r->s, ", parent: ");
	add_string(r, 3);
	ww_str_add(r->s, ", ");
	add_string(r, 4);
	for (size_t i = 0; i < WW_COUNTOF(words); i++)
		if (words[i].event == event)
			word = words[i].word;
	ww_str_addn(r->s, "[", 1);
	if (word)
		ww_str_add(r->s, word);
	else
		ww_str_addf(r->s, "0x%" PRIx64, event);
	ww_str_addn(r->s, "]", 1);
}

static void callback_end(const struct rec *r)
{
	add_string(r, 1);
	ww_str_add(r->s, " ");
	add_string(r, 2);
	ww_str_add(r->s, ", err=");
	add_signed(r->s, (int32_t)number(r, 3));
}

/* By trace_marker, which is nearly all of it, or by trace_printk in a function. */
static void print(const struct rec *r)
{
	const struct ww_dat_symbol *sym = ww_dat_find(&r->d->syms, number(r, 1), false);

	if (sym)
		add_text(r->s, name_of(&r->d->syms, sym));
	else
		ww_str_add(r->s, "tracing_mark_write");
	ww_str_add(r->s, ": ");
	add_string(r, 2);
}

static void indent(const struct rec *r)
{
	int64_t depth = (int64_t)number(r, 2);

	ww_str_addf(r->s, "%*s", (int)(2 + 2 * (depth < 0 ? 0 : depth > 100 ? 100 : depth)), "");
}

static void graph_entry(const struct rec *r)
{
	ww_str_add(r->s, "                  |");
	indent(r);
	add_function(r, number(r, 1), false);
	ww_str_add(r->s, "() {");
}

static void graph_exit(const struct rec *r)
{
	const struct ww_dat_field *ret = field(r, 4), *call = field(r, 3);
	uint64_t ns = 0;

	if (ret && call && ww_dat_ns(r->d, value(r, ret) - value(r, call), &ns))
		ww_str_addf(r->s, "%c %6" PRIu64 ".%03u us |",
			    ns > 1000000000  ? '$'
			    : ns > 100000000 ? '@'
			    : ns > 10000000  ? '*'
			    : ns > 1000000   ? '#'
			    : ns > 100000    ? '!'
			    : ns > 10000     ? '+'
					     : ' ',
			    ns / 1000, (unsigned)(ns % 1000));
	else
		ww_str_add(r->s, "                  |");
	indent(r);
	ww_str_add(r->s, "} /* ");
	add_function(r, number(r, 1), false);
	ww_str_add(r->s, " */");
}

static void cpuhp_enter(const struct rec *r)
{
	ww_str_addf(r->s, "cpu: %04u target: %3d step: %3d (", (unsigned)number(r, 1),
		    (int)number(r, 2), (int)number(r, 3));
	add_function(r, number(r, 4), false);
	ww_str_add(r->s, ")");
}

static void cpuhp_exit(const struct rec *r)
{
	ww_str_addf(r->s, " cpu: %04u  state: %3d step: %3d ret: %d", (unsigned)number(r, 1),
		    (int)number(r, 2), (int)number(r, 3), (int)number(r, 4));
}

/* "(func+0x0)", "(caller+0x1f <- func)" of a probe; the rest as "name=value". */
static void fields(const struct rec *r)
{
	const struct ww_dat_field *ip = field(r, 1), *func = field(r, 2);
	const struct ww_dat_field *ret = field(r, 3);
	const char *space = "";

	if (ip || (func && ret)) {
		ww_str_add(r->s, "(");
		add_function(r, value(r, ip ? ip : ret), true);
		if (!ip) {
			ww_str_add(r->s, " <- ");
			add_function(r, value(r, func), false);
		}
		ww_str_add(r->s, ")");
		space = " ";
	}
	for (size_t i = 0; r->e->field && i < r->e->fields; i++) {
		const struct ww_dat_field *f = &r->e->field[i];

		if (f->name_n > 7 &&
		    (memcmp(f->name, "common_", 7) == 0 || memcmp(f->name, "__probe", 7) == 0))
			continue;
		if (f->size == 0 && !f->is_string)
			continue;
		ww_str_add(r->s, space);
		ww_str_addn(r->s, f->name, f->name_n);
		ww_str_add(r->s, "=");
		if (f->is_string)
			add_text(r->s, string(r, f));
		else if (f->is_pointer)
			ww_str_addf(r->s, "0x%" PRIx64, value(r, f));
		else if (f->is_signed)
			add_signed(r->s, (int64_t)value(r, f));
		else
			add_number(r->s, value(r, f), 1, ' ');
		space = " ";
	}
}

static void add_args(const struct rec *r)
{
	switch (r->e->kind) {
	case K_SUSPEND_RESUME:
		suspend_resume(r);
		break;
	case K_START:
		callback_start(r);
		break;
	case K_END:
		callback_end(r);
		break;
	case K_WAKEUP:
		add_string(r, 1);
		ww_str_addf(r->s, " state=0x%" PRIx64, number(r, 2));
		break;
	case K_PRINT:
		print(r);
		break;
	case K_GRAPH_ENTRY:
		graph_entry(r);
		break;
	case K_GRAPH_EXIT:
		graph_exit(r);
		break;
	case K_CPUHP_ENTER:
		cpuhp_enter(r);
		break;
	case K_CPUHP_EXIT:
		cpuhp_exit(r);
		break;
	case K_FUNCTION:
		add_function(r, number(r, 1), false);
		ww_str_add(r->s, " <-- ");
		add_function(r, number(r, 2), false);
		break;
	default:
		fields(r);
		break;
	}
}

/* "          rtcwake-115   [000]     5.149640524: " */
static void add_head(const struct rec *r, const struct ww_dat_cpu *c)
{
	static const char blanks[] = "                ";
	int32_t pid = (int32_t)number(r, 0);
	const struct ww_dat_symbol *sym = ww_dat_find(&r->d->comm, (uint64_t)(int64_t)pid, true);
	struct ww_slice comm = sym ? name_of(&r->d->comm, sym) : (struct ww_slice){"<...>", 5};
	struct ww_str *s = r->s;
	size_t from;
	uint64_t ns;

	if (pid == 0)
		comm = (struct ww_slice){"<idle>", 6};
	if (comm.n < 16)
		ww_str_addn(s, blanks, 16 - comm.n);
	ww_str_addn(s, comm.p, comm.n);
	ww_str_addn(s, "-", 1);
	from = s->n;
	add_signed(s, pid);
	if (s->n - from < 5)
		ww_str_addn(s, blanks, 5 - (s->n - from));
	ww_str_addn(s, " [", 2);
	add_number(s, c->cpu, 3, '0');
	ww_str_addn(s, "] ", 2);
	if (ww_dat_ns(r->d, c->data_ts, &ns)) {
		add_number(s, ns / 1000000000, 5, ' ');
		ww_str_addn(s, ".", 1);
		add_number(s, ns % 1000000000, 9, '0');
	} else {
		add_number(s, ns, 12, ' ');
	}
	ww_str_addn(s, ": ", 2);
	ww_str_addn(s, r->e->name, r->e->name_n);
	ww_str_addn(s, ":", 1);
	ww_str_addn(s, "                      ", r->e->name_n < 20 ? 21u - r->e->name_n : 1);
}

int ww_dat_line(struct ww_dat *d, const struct ww_dat_cpu *c, struct ww_str *s,
		struct ww_error *err)
{
	struct rec r = {.d = d, .p = c->data, .n = c->data_n, .s = s};
	uint32_t index = c->data_n >= 2 ? d->by_id[ww_dat_num(d, c->data, 2)] : 0;
	int rc = 0;

	if (c->data_lost < 0)
		ww_str_addf(s, "CPU:%u [EVENTS DROPPED]\n", (unsigned)c->cpu);
	else if (c->data_lost > 0)
		ww_str_addf(s, "CPU:%u [%" PRId64 " EVENTS DROPPED]\n", (unsigned)c->cpu,
			    c->data_lost);
	if (index == 0)
		return 0;
	r.e = &d->event[index - 1];
	if (r.e->needs_names)
		rc = ww_dat_symbols(d, err);
	if (rc < 0)
		return rc;
	add_head(&r, c);
	add_args(&r);
	ww_str_add(s, "\n");
	return s->bad ? ww_fail_nomem(err) : 0;
}
