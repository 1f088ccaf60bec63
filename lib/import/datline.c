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

int ww_dat_kind(const char *name, size_t n)
{
	static const struct {
		const char *name;
		int kind;
	} kinds[] = {{"suspend_resume", K_SUSPEND_RESUME},   {"device_pm_callback_start", K_START},
		     {"device_pm_callback_end", K_END},	     {"wakeup_source_activate", K_WAKEUP},
		     {"wakeup_source_deactivate", K_WAKEUP}, {"print", K_PRINT},
		     {"funcgraph_entry", K_GRAPH_ENTRY},     {"funcgraph_exit", K_GRAPH_EXIT},
		     {"cpuhp_enter", K_CPUHP_ENTER},	     {"cpuhp_multi_enter", K_CPUHP_ENTER},
		     {"cpuhp_exit", K_CPUHP_EXIT},	     {"function", K_FUNCTION}};

	for (size_t i = 0; i < WW_COUNTOF(kinds); i++)
		if (strlen(kinds[i].name) == n && memcmp(kinds[i].name, name, n) == 0)
			return kinds[i].kind;
	return K_OTHER;
}

static const struct ww_dat_field *field(const struct rec *r, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < r->e->fields; i++) {
		const struct ww_dat_field *f = &r->e->field[i];

		if (f->name_n == n && memcmp(f->name, name, n) == 0)
			return f;
	}
	return NULL;
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

static uint64_t number(const struct rec *r, const char *name)
{
	return value(r, field(r, name));
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

static void add_string(const struct rec *r, const char *name)
{
	add_text(r->s, string(r, field(r, name)));
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
	uint64_t action = number(r, "action");
	const struct ww_dat_symbol *sym = ww_dat_find(&r->d->printk, action, true);

	if (sym)
		add_text(r->s, name_of(&r->d->printk, sym));
	else
		ww_str_addf(r->s, "0x%" PRIx64, action);
	ww_str_addf(r->s, "[%u] %s", (unsigned)number(r, "val"),
		    number(r, "start") ? "begin" : "end");
}

static void callback_start(const struct rec *r)
{
	static const struct {
		unsigned event;
		const char *word;
	} words[] = {{0x02, "suspend"},	  {0x10, "resume"}, {0x01, "freeze"},  {0x08, "quiesce"},
		     {0x04, "hibernate"}, {0x20, "thaw"},   {0x40, "restore"}, {0x80, "recover"}};
	uint64_t event = number(r, "event");
	const char *word = NULL;

	add_string(r, "driver");
	ww_str_add(r->s, " ");
	add_string(r, "device");
	ww_str_add(r->s, ", parent: ");
	add_string(r, "parent");
	ww_str_add(r->s, ", ");
	add_string(r, "pm_ops");
	for (size_t i = 0; i < WW_COUNTOF(words); i++)
		if (words[i].event == event)
			word = words[i].word;
	if (word)
		ww_str_addf(r->s, "[%s]", word);
	else
		ww_str_addf(r->s, "[0x%" PRIx64 "]", event);
}

static void callback_end(const struct rec *r)
{
	add_string(r, "driver");
	ww_str_add(r->s, " ");
	add_string(r, "device");
	ww_str_addf(r->s, ", err=%d", (int)number(r, "error"));
}

/* By trace_marker, which is nearly all of it, or by trace_printk in a function. */
static void print(const struct rec *r)
{
	const struct ww_dat_symbol *sym = ww_dat_find(&r->d->syms, number(r, "ip"), false);

	if (sym)
		add_text(r->s, name_of(&r->d->syms, sym));
	else
		ww_str_add(r->s, "tracing_mark_write");
	ww_str_add(r->s, ": ");
	add_string(r, "buf");
}

static void indent(const struct rec *r)
{
	int64_t depth = (int64_t)number(r, "depth");

	ww_str_addf(r->s, "%*s", (int)(2 + 2 * (depth < 0 ? 0 : depth > 100 ? 100 : depth)), "");
}

static void graph_entry(const struct rec *r)
{
	ww_str_add(r->s, "                  |");
	indent(r);
	add_function(r, number(r, "func"), false);
	ww_str_add(r->s, "() {");
}

static void graph_exit(const struct rec *r)
{
	const struct ww_dat_field *ret = field(r, "rettime"), *call = field(r, "calltime");
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
	add_function(r, number(r, "func"), false);
	ww_str_add(r->s, " */");
}

static void cpuhp_enter(const struct rec *r)
{
	ww_str_addf(r->s, "cpu: %04u target: %3d step: %3d (", (unsigned)number(r, "cpu"),
		    (int)number(r, "target"), (int)number(r, "idx"));
	add_function(r, number(r, "fun"), false);
	ww_str_add(r->s, ")");
}

static void cpuhp_exit(const struct rec *r)
{
	ww_str_addf(r->s, " cpu: %04u  state: %3d step: %3d ret: %d", (unsigned)number(r, "cpu"),
		    (int)number(r, "state"), (int)number(r, "idx"), (int)number(r, "ret"));
}

/* "(func+0x0)", "(caller+0x1f <- func)" of a probe; the rest as "name=value". */
static void fields(const struct rec *r)
{
	const struct ww_dat_field *ip = field(r, "__probe_ip"), *func = field(r, "__probe_func");
	const struct ww_dat_field *ret = field(r, "__probe_ret_ip");
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
	for (size_t i = 0; i < r->e->fields; i++) {
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
			ww_str_addf(r->s, "%" PRId64, (int64_t)value(r, f));
		else
			ww_str_addf(r->s, "%" PRIu64, value(r, f));
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
		add_string(r, "name");
		ww_str_addf(r->s, " state=0x%" PRIx64, number(r, "state"));
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
		add_function(r, number(r, "ip"), false);
		ww_str_add(r->s, " <-- ");
		add_function(r, number(r, "parent_ip"), false);
		break;
	default:
		fields(r);
		break;
	}
}

/* "          rtcwake-115   [000]     5.149640524: " */
static void add_head(const struct rec *r, const struct ww_dat_cpu *c)
{
	int pid = (int)number(r, "common_pid");
	const struct ww_dat_symbol *sym = ww_dat_find(&r->d->comm, (uint64_t)(int64_t)pid, true);
	struct ww_slice comm = sym ? name_of(&r->d->comm, sym) : (struct ww_slice){"<...>", 5};
	uint64_t ns;

	if (pid == 0)
		comm = (struct ww_slice){"<idle>", 6};
	ww_str_addf(r->s, "%*s%.*s-%-5d [%03u] ", comm.n < 16 ? (int)(16 - comm.n) : 0, "",
		    (int)comm.n, comm.p, pid, (unsigned)c->cpu);
	if (ww_dat_ns(r->d, c->data_ts, &ns))
		ww_str_addf(r->s, "%5" PRIu64 ".%09u: ", ns / 1000000000,
			    (unsigned)(ns % 1000000000));
	else
		ww_str_addf(r->s, "%12" PRIu64 ": ", ns);
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
	if (r.e->kind >= K_PRINT || field(&r, "__probe_ip") || field(&r, "__probe_func"))
		rc = ww_dat_symbols(d, err);
	if (rc < 0)
		return rc;
	add_head(&r, c);
	ww_str_addf(s, "%.*s:%*s", (int)r.e->name_n, r.e->name,
		    r.e->name_n < 20 ? 21 - (int)r.e->name_n : 1, "");
	add_args(&r);
	ww_str_add(s, "\n");
	return s->bad ? ww_fail_nomem(err) : 0;
}
