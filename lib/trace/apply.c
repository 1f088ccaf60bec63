/* SPDX-License-Identifier: MIT */
/*
 * What a stream says, into a writer over a database in memory, so that a stream and
 * a file have one reader. JSON is taken apart by SQLite.
 */
#include "trace/trace.h"

#include <math.h>

struct ww_apply {
	struct ww_writer *w;
	sqlite3 *db;
	char *path;
	bool started;
	sqlite3_stmt *object; /* ?1: text; columns by the list below */
	sqlite3_stmt *array;  /* ?1: text, ?2: path */
	struct ww_rows rows;  /* of the last block */
	struct ww_codec *codec;
	uint8_t *data;
	size_t data_cap;
};

/* Members of all objects in one statement: SQLite parses the text once. */
/* clang-format off */
#define MEMBERS(X)                                                                                 \
	X(type) X(format) X(id) X(kind) X(name) X(uri) X(driver) X(model) X(serial) X(firmware)    \
	X(notes) X(role) X(period_ns) X(window_ns) X(delay_min_ns) X(delay_max_ns) X(transport)    \
	X(transport_delay_min_ns) X(transport_delay_max_ns) X(transport_char_ns)                   \
	X(transport_settings) X(source) X(quantity) X(unit) X(semantics) X(scale) X(offset)        \
	X(resolution) X(acc_abs) X(acc_rel) X(wrap) X(cycle) X(text) X(lost) X(reason) X(boot_ns)  \
	X(mono_ns) X(real_ns) X(width_ns) X(adj_state) X(adj_freq_ppb) X(adj_maxerror_ns) X(key)   \
	X(value) X(hex)

#define ROW(name) M_##name,
enum { MEMBERS(ROW) M_lo, M_hi };
#undef ROW

#define ROW(name) "json_extract(?1,'$." #name "'),"
static const char object_sql[] =
	"SELECT " MEMBERS(ROW) "json_extract(?1,'$.t[0]'), json_extract(?1,'$.t[1]')";
#undef ROW
/* clang-format on */

int ww_apply_new(sqlite3 *db, const char *path, struct ww_apply **out, struct ww_error *err)
{
	struct ww_apply *a = calloc(1, sizeof(*a));
	int rc;

	if (!a)
		return ww_fail_nomem(err);
	a->db = db;
	a->path = strdup(path);
	rc = a->path ? ww_writer_open_db(db, path, &a->w, err) : ww_fail_nomem(err);
	if (rc == 0)
		rc = ww_codec_new(&a->codec, err);
	if (rc == 0)
		rc = ww_db_prepare(db, path, object_sql, &a->object, err);
	if (rc == 0)
		rc = ww_db_prepare(db, path, "SELECT value FROM json_each(?1, ?2)", &a->array, err);
	if (rc < 0) {
		ww_apply_free(a);
		return rc;
	}
	*out = a;
	return 0;
}

void ww_apply_free(struct ww_apply *a)
{
	if (!a)
		return;
	sqlite3_finalize(a->object);
	sqlite3_finalize(a->array);
	ww_writer_close(a->w, NULL);
	ww_rows_free(&a->rows);
	ww_codec_free(a->codec);
	free(a->data);
	free(a->path);
	free(a);
}

int ww_apply_commit(struct ww_apply *a, struct ww_error *err)
{
	return ww_writer_commit(a->w, err);
}

static const char *text(struct ww_apply *a, int m)
{
	return ww_db_text(a->object, m);
}

static int64_t integer(struct ww_apply *a, int m, int64_t dflt)
{
	return sqlite3_column_type(a->object, m) == SQLITE_NULL
		       ? dflt
		       : sqlite3_column_int64(a->object, m);
}

static double number(struct ww_apply *a, int m)
{
	return sqlite3_column_type(a->object, m) == SQLITE_NULL
		       ? (double)NAN
		       : sqlite3_column_double(a->object, m);
}

static struct ww_interval interval(struct ww_apply *a)
{
	return (struct ww_interval){integer(a, M_lo, WW_TIME_MIN), integer(a, M_hi, WW_TIME_MAX)};
}

/* Numbers count up from 1 in the order of their first appearance. */
static int check_id(struct ww_apply *a, int rc, struct ww_error *err)
{
	if (rc < 0 || rc == integer(a, M_id, rc))
		return rc < 0 ? rc : 0;
	return ww_fail(err, -EBADMSG, "%s %lld comes where %d is due", text(a, M_type),
		       (long long)integer(a, M_id, 0), rc);
}

static int apply_source(struct ww_apply *a, struct ww_error *err)
{
	struct ww_source_info s = {.id = (uint32_t)integer(a, M_id, 0),
				   .kind = (int32_t)integer(a, M_kind, WW_METER),
				   .name = text(a, M_name),
				   .uri = text(a, M_uri),
				   .driver = text(a, M_driver),
				   .model = text(a, M_model),
				   .serial = text(a, M_serial),
				   .firmware = text(a, M_firmware),
				   .notes = text(a, M_notes),
				   .role = text(a, M_role)};

	s.period_ns = integer(a, M_period_ns, 0);
	s.window_ns = integer(a, M_window_ns, 0);
	s.delay_min_ns = integer(a, M_delay_min_ns, 0);
	s.delay_max_ns = integer(a, M_delay_max_ns, 0);
	s.transport.name = text(a, M_transport);
	s.transport.delay_min_ns = integer(a, M_transport_delay_min_ns, 0);
	s.transport.delay_max_ns = integer(a, M_transport_delay_max_ns, 0);
	s.transport.char_ns = integer(a, M_transport_char_ns, 0);
	s.transport.settings = text(a, M_transport_settings);
	if (s.id >= 1 && s.id <= a->w->sources)
		return ww_writer_update_source(a->w, &s, err);
	return check_id(a, ww_writer_source(a->w, &s, err), err);
}

static int apply_channel(struct ww_apply *a, struct ww_error *err)
{
	struct ww_channel_info c = {.id = (uint32_t)integer(a, M_id, 0),
				    .source = (uint32_t)integer(a, M_source, 0),
				    .name = text(a, M_name),
				    .quantity = text(a, M_quantity),
				    .unit = text(a, M_unit),
				    .semantics = (int32_t)integer(a, M_semantics, 0),
				    .scale = number(a, M_scale),
				    .offset = number(a, M_offset),
				    .resolution = number(a, M_resolution),
				    .acc_abs = number(a, M_acc_abs),
				    .acc_rel = number(a, M_acc_rel),
				    .wrap = number(a, M_wrap)};

	if (isnan(c.scale))
		c.scale = 1;
	if (isnan(c.offset))
		c.offset = 0;
	if (c.id >= 1 && c.id <= a->w->channels)
		return ww_writer_refine(a->w, &c, err);
	return check_id(a, ww_writer_channel(a->w, &c, err), err);
}

static int apply_mark(struct ww_apply *a, struct ww_error *err)
{
	struct ww_mark m = {.t = interval(a),
			    .source = (uint32_t)integer(a, M_source, 0),
			    .cycle = (uint32_t)integer(a, M_cycle, 0),
			    .kind = text(a, M_kind),
			    .text = text(a, M_text)};

	return ww_writer_mark(a->w, &m, err);
}

static int apply_gap(struct ww_apply *a, struct ww_error *err)
{
	struct ww_gap g = {.t = interval(a),
			   .source = (uint32_t)integer(a, M_source, 0),
			   .lost = integer(a, M_lost, -1),
			   .reason = text(a, M_reason)};

	return ww_writer_gap(a->w, &g, err);
}

static int apply_anchor(struct ww_apply *a, struct ww_error *err)
{
	struct ww_anchor n = {.boot_ns = integer(a, M_boot_ns, 0),
			      .mono_ns = integer(a, M_mono_ns, 0),
			      .real_ns = integer(a, M_real_ns, 0),
			      .width_ns = integer(a, M_width_ns, 0),
			      .adj_state = (int32_t)integer(a, M_adj_state, -1),
			      .adj_freq_ppb = (int32_t)integer(a, M_adj_freq_ppb, 0),
			      .adj_maxerror_ns = integer(a, M_adj_maxerror_ns, -1)};

	return ww_writer_anchor(a->w, &n, err);
}

static int apply_meta(struct ww_apply *a, struct ww_error *err)
{
	return ww_writer_meta(a->w, text(a, M_key), text(a, M_value), err);
}

static int apply_sample(struct ww_apply *a, struct ww_error *err)
{
	int64_t codes[WW_CHANNELS_MAX], source = integer(a, M_source, 0);
	struct ww_interval t = interval(a);
	size_t n = 0;
	int code;

	sqlite3_bind_text(a->array, 2, "$.codes", -1, SQLITE_STATIC);
	while ((code = sqlite3_step(a->array)) == SQLITE_ROW && n < WW_CHANNELS_MAX)
		codes[n++] = sqlite3_column_type(a->array, 0) == SQLITE_NULL
				     ? WW_MISSING
				     : sqlite3_column_int64(a->array, 0);
	sqlite3_reset(a->array);
	if (code != SQLITE_DONE && code != SQLITE_ROW)
		return ww_db_fail(a->db, a->path, err);
	if (source < 1 || (uint64_t)source > a->w->sources || code == SQLITE_ROW ||
	    n != a->w->source[source - 1]->channels)
		return ww_fail(err, -EBADMSG, "a sample of %zu codes does not fit source %lld", n,
			       (long long)source);
	return ww_writer_samples(a->w, (uint32_t)source, 1, &t.lo_ns, &t.hi_ns, codes, err);
}

static int nibble(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int apply_bytes(struct ww_apply *a, struct ww_error *err)
{
	const char *hex = text(a, M_hex);
	size_t n = strlen(hex) / 2;
	uint8_t *p = realloc(a->data, n + 1);

	if (!p)
		return ww_fail_nomem(err);
	a->data = p;
	for (size_t i = 0; i < n; i++) {
		int hi = nibble(hex[2 * i]), lo = nibble(hex[2 * i + 1]);

		if (hi < 0 || lo < 0)
			return ww_fail(err, -EBADMSG, "bytes that are no hexadecimal digits");
		p[i] = (uint8_t)(hi << 4 | lo);
	}
	if (hex[2 * n] != '\0')
		return ww_fail(err, -EBADMSG, "half a byte");
	return ww_writer_bytes(a->w, (uint32_t)integer(a, M_source, 0), interval(a), p, n, err);
}

static int apply_header(struct ww_apply *a, struct ww_error *err)
{
	int64_t format = integer(a, M_format, 0);

	a->started = true;
	if (format >= 1 && format <= WW_STREAM_FORMAT)
		return 0;
	return ww_fail(err, -EINVAL,
		       "a stream of form %lld; this is libwakewatt %s, which reads up to form %d",
		       (long long)format, ww_version(), WW_STREAM_FORMAT);
}

static int apply_end(struct ww_apply *a, struct ww_error *err)
{
	(void)a;
	(void)err;
	return 1;
}

/* Objects of other types are passed over: a later version may have more. */
static int dispatch(struct ww_apply *a, struct ww_error *err)
{
	static const struct {
		const char *type;
		int (*apply)(struct ww_apply *a, struct ww_error *err);
	} types[] = {{"sample", apply_sample},	 {"bytes", apply_bytes}, {"mark", apply_mark},
		     {"gap", apply_gap},	 {"meta", apply_meta},	 {"source", apply_source},
		     {"channel", apply_channel}, {"end", apply_end},	 {"anchor", apply_anchor},
		     {"wakewatt", apply_header}};
	const char *type = text(a, M_type);

	if (!a->started && strcmp(type, "wakewatt") != 0)
		return ww_fail(err, -EINVAL,
			       "not a stream of wakewatt: its first line must be "
			       "{\"type\":\"wakewatt\",...}");
	for (size_t i = 0; i < WW_COUNTOF(types); i++)
		if (strcmp(types[i].type, type) == 0)
			return types[i].apply(a, err);
	return 0;
}

int ww_apply_json(struct ww_apply *a, const char *json, size_t n, struct ww_error *err)
{
	int code, rc;

	if (n > WW_FRAME_MAX)
		return ww_fail(err, -EBADMSG, "object too long");
	sqlite3_bind_text(a->object, 1, json, (int)n, SQLITE_STATIC);
	sqlite3_bind_text(a->array, 1, json, (int)n, SQLITE_STATIC);
	code = sqlite3_step(a->object);
	if (code == SQLITE_ROW)
		rc = dispatch(a, err);
	else if ((code & 0xff) == SQLITE_NOMEM)
		rc = ww_fail_nomem(err);
	else
		rc = ww_fail(err, -EBADMSG, "not valid JSON: %.*s", n < 60 ? (int)n : 60, json);
	sqlite3_reset(a->object);
	sqlite3_clear_bindings(a->object);
	sqlite3_clear_bindings(a->array);
	return rc;
}

int ww_apply_block(struct ww_apply *a, const uint8_t *p, size_t n, struct ww_error *err)
{
	uint32_t id = n < WW_BLOCK_FRAME_FIX ? 0
					     : (uint32_t)p[0] | (uint32_t)p[1] << 8 |
						       (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
	struct ww_wsource *s;
	int rc;

	if (!a->started || id < 1 || id > a->w->sources)
		return ww_fail(err, -EBADMSG, "a block of source %u, which is not described", id);
	s = a->w->source[id - 1];
	ww_rows_free(&a->rows);
	rc = ww_rows_init(&a->rows, s->kind == WW_SERIAL, s->channels, err);
	if (rc == 0)
		rc = ww_block_decode(a->codec, p + WW_BLOCK_FRAME_FIX, n - WW_BLOCK_FRAME_FIX,
				     &a->rows, err);
	return rc < 0 ? rc : ww_writer_rows(a->w, id, &a->rows, err);
}
