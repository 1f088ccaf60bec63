/* SPDX-License-Identifier: MIT */
/*
 * ww_samples('SOURCE'): the rows of a source in SQL, one for each channel. Also an
 * extension for the sqlite3 shell: .load libwakewatt.so
 */
#include "trace/db.h"

/* The structure only, not the macros that would send every call through it. */
#define SQLITE_CORE 1
#include <sqlite3ext.h>

enum { C_T, C_LO, C_HI, C_CHANNEL, C_VALUE, C_UNIT, C_CODE, C_SOURCE };

#define DECLARATION                                                                                \
	"CREATE TABLE x(t INTEGER, lo INTEGER, hi INTEGER, channel TEXT, value REAL, unit TEXT,"   \
	" code INTEGER, source TEXT HIDDEN)"

struct table {
	sqlite3_vtab base;
	sqlite3 *db;
};

struct channel {
	char *name;
	char *unit;
	struct ww_scale scale;
};

struct cursor {
	sqlite3_vtab_cursor base;
	sqlite3_stmt *fetch;
	struct ww_codec *codec;
	struct ww_rows rows;
	struct ww_block_head head;
	char *name;
	uint32_t source;
	size_t channels;
	struct channel *channel;
	size_t row, k; /* within the block */
	int64_t number;
	bool end;
};

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
		   char **message)
{
	struct table *t;
	int rc = sqlite3_declare_vtab(db, DECLARATION);

	(void)aux;
	(void)argc;
	(void)argv;
	(void)message;
	if (rc != SQLITE_OK)
		return rc;
	t = calloc(1, sizeof(*t));
	if (!t)
		return SQLITE_NOMEM;
	t->db = db;
	*out = &t->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *v)
{
	free(v);
	return SQLITE_OK;
}

/* The name of the source is the one argument, and it must be given. */
static int best_index(sqlite3_vtab *v, sqlite3_index_info *info)
{
	(void)v;
	for (int i = 0; i < info->nConstraint; i++) {
		if (info->aConstraint[i].iColumn != C_SOURCE || !info->aConstraint[i].usable ||
		    info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		info->aConstraintUsage[i].argvIndex = 1;
		info->aConstraintUsage[i].omit = 1;
		info->idxNum = 1;
		info->estimatedCost = 1000;
		return SQLITE_OK;
	}
	info->estimatedCost = 1e12;
	return SQLITE_OK;
}

static int fail(sqlite3_vtab_cursor *c, int code, const char *text)
{
	sqlite3_free(c->pVtab->zErrMsg);
	c->pVtab->zErrMsg = sqlite3_mprintf("%s", text);
	return code;
}

static int open_cursor(sqlite3_vtab *v, sqlite3_vtab_cursor **out)
{
	struct cursor *c = calloc(1, sizeof(*c));

	(void)v;
	if (!c || ww_codec_new(&c->codec, NULL) < 0) {
		free(c);
		return SQLITE_NOMEM;
	}
	*out = &c->base;
	return SQLITE_OK;
}

static void forget(struct cursor *c)
{
	sqlite3_finalize(c->fetch);
	c->fetch = NULL;
	ww_rows_free(&c->rows);
	for (size_t i = 0; i < c->channels; i++) {
		sqlite3_free(c->channel[i].name);
		sqlite3_free(c->channel[i].unit);
	}
	free(c->channel);
	sqlite3_free(c->name);
	c->channel = NULL;
	c->name = NULL;
	c->channels = 0;
	c->row = c->k = 0;
	c->number = 0;
	c->head = (struct ww_block_head){0};
	c->end = true;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct cursor *c = (struct cursor *)base;

	forget(c);
	ww_codec_free(c->codec);
	free(c);
	return SQLITE_OK;
}

/* One row in the place of all those that cannot be read: their time, and no value. */
static void stand_in(struct cursor *c)
{
	c->rows.n = 1;
	c->rows.lo[0] = c->head.lo;
	c->rows.hi[0] = c->head.hi;
	for (size_t k = 0; k < c->rows.columns; k++)
		c->rows.col[k][0] = WW_MISSING;
}

/* Load the block with row `pos`, or come to the end. */
static int load(struct cursor *c, int64_t pos)
{
	struct ww_error why = {0};
	int rc = ww_fetch_block(c->fetch, "ww_samples", c->codec, c->source, pos, &c->head,
				&c->rows, &why);

	if (rc == -EBADMSG && c->head.n >= 1 && c->head.n <= WW_BLOCK_ROWS &&
	    pos == c->head.first) {
		stand_in(c);
		rc = 1;
	}
	c->end = rc <= 0;
	c->row = (size_t)(pos - c->head.first);
	return rc < 0 ? fail(&c->base, SQLITE_CORRUPT_VTAB, why.text) : SQLITE_OK;
}

static int add_channel(struct cursor *c, sqlite3_stmt *st)
{
	struct channel *list = realloc(c->channel, (c->channels + 1) * sizeof(*list));
	struct channel *n;

	if (!list)
		return SQLITE_NOMEM;
	c->channel = list;
	n = &list[c->channels++];
	n->name = sqlite3_mprintf("%s", ww_db_text(st, 0));
	n->unit = sqlite3_mprintf("%s", ww_db_text(st, 1));
	n->scale = ww_scale_of(sqlite3_column_double(st, 2), sqlite3_column_double(st, 3));
	return n->name && n->unit ? SQLITE_OK : SQLITE_NOMEM;
}

/* Everything about the source that is named. */
static int find_source(struct cursor *c, sqlite3 *db)
{
	sqlite3_stmt *st = NULL;
	int kind = -1, rc;

	rc = sqlite3_prepare_v2(db, "SELECT id, kind FROM source WHERE name = ?", -1, &st, NULL);
	if (rc == SQLITE_OK) {
		sqlite3_bind_text(st, 1, c->name, -1, SQLITE_STATIC);
		if (sqlite3_step(st) == SQLITE_ROW) {
			c->source = (uint32_t)sqlite3_column_int64(st, 0);
			kind = sqlite3_column_int(st, 1);
		}
	}
	sqlite3_finalize(st);
	st = NULL;
	if (rc != SQLITE_OK)
		return fail(&c->base, SQLITE_ERROR, "ww_samples: this is no trace");
	if (kind < 0 || kind == WW_SERIAL)
		return fail(&c->base, SQLITE_ERROR,
			    kind < 0 ? "ww_samples: there is no source of that name"
				     : "ww_samples: that source gives bytes, not samples");
	rc = sqlite3_prepare_v2(db,
				"SELECT name, unit, scale, offset FROM channel WHERE source = ?"
				" ORDER BY id",
				-1, &st, NULL);
	if (rc == SQLITE_OK) {
		sqlite3_bind_int64(st, 1, c->source);
		while (rc == SQLITE_OK && c->channels < WW_CHANNELS_MAX &&
		       sqlite3_step(st) == SQLITE_ROW)
			rc = add_channel(c, st);
	}
	sqlite3_finalize(st);
	return rc;
}

static int filter(sqlite3_vtab_cursor *base, int index, const char *text, int argc,
		  sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	sqlite3 *db = ((struct table *)base->pVtab)->db;
	int rc;

	(void)text;
	forget(c);
	if (index != 1 || argc != 1 || !sqlite3_value_text(argv[0]))
		return fail(base, SQLITE_ERROR, "ww_samples: name a source: ww_samples('meter')");
	c->name = sqlite3_mprintf("%s", sqlite3_value_text(argv[0]));
	rc = c->name ? find_source(c, db) : SQLITE_NOMEM;
	if (rc == SQLITE_OK && c->channels == 0)
		return SQLITE_OK;
	if (rc == SQLITE_OK && ww_rows_init(&c->rows, false, c->channels, NULL) < 0)
		rc = SQLITE_NOMEM;
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(db, WW_FETCH_SQL, -1, &c->fetch, NULL);
	return rc == SQLITE_OK ? load(c, 0) : rc;
}

static int next(sqlite3_vtab_cursor *base)
{
	struct cursor *c = (struct cursor *)base;

	c->number++;
	if (++c->k < c->channels)
		return SQLITE_OK;
	c->k = 0;
	if (++c->row < c->rows.n)
		return SQLITE_OK;
	return load(c, c->head.first + c->head.n);
}

static int eof(sqlite3_vtab_cursor *base)
{
	return ((struct cursor *)base)->end;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int i)
{
	struct cursor *c = (struct cursor *)base;
	const struct channel *n = &c->channel[c->k];
	int64_t lo = c->rows.lo[c->row], hi = c->rows.hi[c->row], code = c->rows.col[c->k][c->row];

	if (i == C_T)
		sqlite3_result_int64(ctx, ww_iv_mid((struct ww_interval){lo, hi}));
	else if (i == C_LO)
		sqlite3_result_int64(ctx, lo);
	else if (i == C_HI)
		sqlite3_result_int64(ctx, hi);
	else if (i == C_CHANNEL)
		sqlite3_result_text(ctx, n->name, -1, SQLITE_TRANSIENT);
	else if (i == C_VALUE)
		sqlite3_result_double(ctx, ww_code_value(&n->scale, code)); /* NaN: NULL */
	else if (i == C_UNIT)
		sqlite3_result_text(ctx, n->unit, -1, SQLITE_TRANSIENT);
	else if (i == C_CODE)
		sqlite3_result_int64(ctx, code);
	else
		sqlite3_result_text(ctx, c->name, -1, SQLITE_TRANSIENT);
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
	*out = ((struct cursor *)base)->number;
	return SQLITE_OK;
}

static const sqlite3_module module = {.xConnect = connect,
				      .xBestIndex = best_index,
				      .xDisconnect = disconnect,
				      .xOpen = open_cursor,
				      .xClose = close_cursor,
				      .xFilter = filter,
				      .xNext = next,
				      .xEof = eof,
				      .xColumn = column,
				      .xRowid = rowid};

int ww_sql_register(sqlite3 *db)
{
	return sqlite3_create_module_v2(db, "ww_samples", &module, NULL, NULL);
}

/*
 * Entry point of the extension. The calls above go to the shared SQLite; a program
 * with a copy of its own inside would mix two, so it is refused: each copy has its
 * own text of its version.
 */
WW_API int sqlite3_wakewatt_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);
int sqlite3_wakewatt_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
	if (api->libversion() == sqlite3_libversion())
		return ww_sql_register(db);
	if (message)
		*message =
			api->mprintf("wakewatt: this program does not use the shared libsqlite3");
	return SQLITE_ERROR;
}
