/* SPDX-License-Identifier: MIT */
/*
 * One HTML page of many suspend/resume cycles: figures, distribution, a time line of each
 * cycle, tables. Made in two steps: a model of what is shown (page_model.c, page_series.c), then
 * markup, static pictures and the data for the page's script from it.
 */
#ifndef WW_REPORT_PAGE_H
#define WW_REPORT_PAGE_H

#include "analysis/resume.h"
#include "report/format.h"
#include "report/kernlog.h"

/* The page of a recording, and that of kernel logs: reads all their cycles. */
int ww_page_resume(const struct ww_resume *r, struct ww_trace *t, const struct ww_page_options *opt,
		   int fd, struct ww_error *err);
int64_t ww_page_kernlog(struct ww_kernlog *k, const struct ww_page_options *opt, int fd,
			struct ww_error *err);

/* Script and style, made from page*.js and page.css by the Makefile. */
extern const char ww_page_js[], ww_page_css[];

/* ------------------------------------------------------------------ strings */

/* Texts, each once, by number: page_names.c. Zero-initialise. */
struct ww_names {
	char **text;
	size_t n, cap;
	uint32_t *slot; /* index + 1, 0 free */
	size_t slots;
	bool bad;
};
uint32_t ww_names_index(struct ww_names *t, const char *text);
void ww_names_free(struct ww_names *t);

/* -------------------------------------------------------------------- a cycle */

/*
 * From time to place: 0 at `lo`, 1 at `hi`. The sleep between f0 and f1, which may be hours
 * long or, by a clock that stops, nothing, takes a small part of the width.
 */
struct ww_page_axis {
	int64_t lo, hi;
	int64_t f0, f1;
	bool folded;
	int64_t zero;	/* the time from which others are told */
	int64_t asleep; /* the same for what lies before a folded sleep */
	const char *zero_is;
};
#define WW_PAGE_FOLD 0.04
double ww_page_u(const struct ww_page_axis *a, int64_t t);
int64_t ww_page_t(const struct ww_page_axis *a, double u);

/* What was read in an equal part of the axis: bytes counted, or least and greatest watts. */
#define WW_PAGE_BINS 480
struct ww_page_point {
	unsigned bin;
	double lo, hi;
};
struct ww_page_series {
	const char *name, *unit; /* lent by the trace; unit "" counts bytes */
	struct ww_page_point *point;
	size_t n;
};
#define WW_PAGE_SERIES 6

/* Durations and moments that a cycle has and that are summarised over all. */
enum {
	WW_PAGE_SUSPEND = WW_LAT_COUNT,
	WW_PAGE_RESUME,
	WW_PAGE_SUSPEND_CORRECTED,
	WW_PAGE_RESUME_CORRECTED,
	WW_PAGE_SLEPT,
	WW_PAGE_FW_RESUME,
	WW_PAGE_STORAGE,
	WW_PAGE_NETWORK,
	WW_PAGE_FIGURES
};

struct ww_page_cycle {
	uint32_t n;
	const char *result;
	char *reason;
	bool good, bad;			/* neither: not judged */
	const struct ww_cycle_out *out; /* of a recording; NULL none */
	struct ww_pm_cycle *pm;		/* the kernel's view, with few devices; NULL none */
	uint64_t left_out;
	bool placed; /* pm's times are on the axis */
	struct ww_page_axis axis;
	int64_t *start, *end; /* of pm's devices on the axis */
	uint16_t *lane;	      /* of each device; UINT16_MAX: it has no place */
	size_t lanes;
	struct ww_interval value[WW_PAGE_FIGURES];
	struct ww_page_series series[WW_PAGE_SERIES];
	size_t serieses;
};

struct ww_page_figure {
	const char *key, *head, *words;
	bool used;
	struct ww_latency_summary sum;
};

/* What a phase drew, summed over the cycles in which a meter tells. */
struct ww_page_energy {
	uint64_t n;
	double J, u, seconds;
};

struct ww_page {
	const struct ww_resume *r; /* NULL: kernel logs */
	struct ww_trace *t;	   /* NULL none */
	const char *title, *what;
	size_t devices; /* at most, in a cycle */
	struct ww_page_cycle *cycle;
	size_t cycles, cap;
	struct ww_page_figure figure[WW_PAGE_FIGURES];
	int main; /* figure whose distribution is drawn; -1 none */
	uint64_t good, bad;
	double fail_ci[2];
	size_t chosen[4]; /* drawn without a script: the typical one, then the worst */
	size_t chosens;
	bool has_typical;
	struct ww_names names;
	struct ww_ksum sum; /* devices and phases over all cycles */
	struct ww_page_energy energy[WW_PM_PHASES];
	struct ww_notes notes, inputs;
};

/* page.c: before the first cycle, and after ww_page_finish(). */
void ww_page_begin(struct ww_page *p, const struct ww_page_options *opt);
int ww_page_write(struct ww_page *p, int fd, struct ww_error *err);

/* page_model.c: a cycle of a recording (pm may be NULL), or of a kernel log (o NULL). */
int ww_page_add(struct ww_page *p, size_t i, const struct ww_cycle_out *o,
		const struct ww_pm_cycle *pm, struct ww_error *err);
int ww_page_finish(struct ww_page *p, struct ww_error *err);
void ww_page_free(struct ww_page *p);
/* A time of the kernel's on the cycle's axis; false: nothing tells where. */
bool ww_page_place(const struct ww_page *p, size_t i, int64_t kernel_ns, int64_t *t);

/* page_axis.c */
void ww_page_axis_make(const struct ww_page *p, size_t i, struct ww_page_cycle *c);
bool ww_page_span(const struct ww_page *p, size_t i, const struct ww_pm_span *s, int64_t *from,
		  int64_t *to);
int ww_page_lanes(const struct ww_page *p, size_t i, struct ww_page_cycle *c, struct ww_error *err);

/* page_series.c */
int ww_page_read(struct ww_page *p, struct ww_page_cycle *c, struct ww_error *err);

/* page_data.c: what the script draws from. */
void ww_page_data(struct ww_str *s, struct ww_page *p);
/* page_html.c, page_tables.c, page_dots.c, page_bars.c */
void ww_page_html(struct ww_str *s, struct ww_page *p);
void ww_page_summary(struct ww_str *s, const struct ww_page *p);
void ww_page_cycle_table(struct ww_str *s, const struct ww_page *p);
void ww_page_device_table(struct ww_str *s, const struct ww_page *p);
void ww_page_phase_table(struct ww_str *s, const struct ww_page *p);
void ww_page_dots(struct ww_str *s, const struct ww_page *p);
void ww_page_bars(struct ww_str *s, const struct ww_page *p, size_t i);
/* A duration of figure f of a cycle; nothing where it is not known. */
void ww_page_value(struct ww_str *s, const struct ww_page_cycle *c, int f);
/* "resume_noirq"; never NULL */
const char *ww_page_phase(int phase);
/* On the way down or up, and every other one: a class of the style. */
void ww_page_phase_class(char *out, size_t n, const struct ww_pm_span *s);

#endif
