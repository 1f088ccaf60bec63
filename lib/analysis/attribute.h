/* SPDX-License-Identifier: MIT */
/* Inside of `struct ww_attribute`: from readings to watts of each device. */
#ifndef WW_ANALYSIS_ATTRIBUTE_H
#define WW_ANALYSIS_ATTRIBUTE_H

#include "analysis/wall.h"
#include "base/lsq.h"
#include "base/notes.h"
#include "text/onoff.h"

/* A drift is kept where it is this many of its standard uncertainties. */
#define WW_ATTR_DRIFT_U 4
#define WW_ATTR_NEXT	8 /* proposals kept */
/* How a step down without a mark and without a rise of its size is called. */
#define WW_ATTR_FALL "fall"

/* In a trace: from the reading before to this one; 0 and unused at the first. */
struct ww_attr_change {
	double y, var;		   /* W at the moment of the change, and its variance */
	double cov;		   /* of both ends of this reading's level */
	double own_begin, own_end; /* of the level's figure and its ends */
	double t_from, t_to;	   /* s: when the two ends of the change held */
};

/* A text or a trace: a stretch of the readings of its set. */
struct ww_attr_file {
	char *name;
	int set;
	size_t first, count; /* readings */
	bool trace;
	bool base; /* nobody said that all was unplugged: other loads may have been on */
	double q;  /* smallest step shown, W; 0 unknown */
	struct ww_attr_change *change; /* [count] of a trace; NULL: readings stand alone */
	size_t row;		       /* its first one */
	bool chained;		       /* rows are one level, that of the anchor, and changes */
	size_t anchor;
	double *factor; /* [3 count] of their covariance: diagonal, one and two before it */
};

enum ww_attr_kind { WW_COL_OFFSET, WW_COL_DEVICE, WW_COL_PAIR, WW_COL_DRIFT };

/* A column of the design. */
struct ww_attr_col {
	enum ww_attr_kind kind;
	int set;
	size_t device[2]; /* of the set */
	uint8_t state[2];
	size_t file; /* of a drift, or of an offset of its own */
};

/* A reading, or all of one state that a coarse display gave. */
struct ww_attr_row {
	size_t file;
	const struct ww_onoff_reading *r; /* the first of them */
	double y, u, t_s;
	size_t n;
};

/* What a meter does to watts, beyond each reading's own noise. */
struct ww_attr_meter {
	double gain;	  /* indication = offset + gain * power */
	double gain_u;	  /* relative to gain */
	double cov;	  /* of offset and gain, W */
	bool prior;	  /* the offset is known from elsewhere: */
	double offset, u; /* W; u 0: exactly */
};

struct ww_attribute {
	/* options */
	bool own_offsets, interactions;
	int32_t drift;
	double resolution, spec_abs, spec_rel;
	struct ww_quantity known_offset;
	bool offset_known, calibrated;
	struct ww_calibration_info cal;
	char *channel, *order, *currency; /* NULL: none */
	int64_t spike_ns;
	double hours, price, cost;

	/* input */
	struct ww_onoff set[2];
	struct ww_attr_file *file;
	size_t files;
	struct ww_wall wall;	     /* of the first trace */
	bool has_wall, solved, base; /* base: of any file */

	/* design and fit */
	struct ww_attr_meter meter;
	bool skip_empty; /* readings without a load are off the calibration's line */
	struct ww_attr_row *row;
	size_t rows;
	struct ww_attr_col *col;
	size_t cols;
	double *x, *y, *u; /* [rows + priors][cols] */
	size_t priors;
	double *drift_zero; /* [files] time about which a file's drift turns */
	struct ww_lsq fit;
	double *influence; /* [cols] of the offset's prior on each column; NULL none */
	double scale;

	/* figures */
	struct ww_attribute_info info;
	struct ww_device *device;
	size_t devices, *device_col; /* column of each */
	struct ww_device_group *group;
	size_t groups;
	struct ww_device_pair *pair;
	size_t pairs;
	struct ww_device_next next[WW_ATTR_NEXT];
	size_t nexts;
	struct ww_device_level *level;
	size_t levels;
	struct ww_saving saving;
	bool has_saving;
	uint32_t *index; /* what groups and proposals point into */
	size_t indices, index_cap;
	struct ww_notes notes;
};

/* attribute.c: a new input, its readings to come. NULL after an error. */
struct ww_attr_file *ww_attr_file_add(struct ww_attribute *a, int set, const char *name,
				      struct ww_error *err);

/* attribute_design.c: rows, columns and the meter; x, y and u. */
int ww_attr_rows(struct ww_attribute *a, bool merge, struct ww_error *err);
int ww_attr_columns(struct ww_attribute *a, bool drift, struct ww_error *err);
int ww_attr_matrix(struct ww_attribute *a, struct ww_error *err);
/* The state of a set's device in a row; 0 off, and where the row is of the other set. */
uint8_t ww_attr_on(const struct ww_attribute *a, const struct ww_attr_row *r, int set,
		   size_t device);
/* Value of a column in a state `on` of a set (NULL: of no device). */
double ww_attr_cell(const struct ww_attr_col *c, int set, const uint8_t *on, size_t devices);

/* A column's value in a row of readings. */
double ww_attr_row_cell(const struct ww_attribute *a, size_t row, const struct ww_attr_col *c);

/* attribute_change.c: how a trace's readings hang together, once its rows are made. */
int ww_attr_chain(struct ww_attribute *a, struct ww_attr_file *f, struct ww_error *err);
/* A column over all rows, and the figures and their u, as the fit takes them. */
void ww_attr_column(const struct ww_attribute *a, const struct ww_attr_col *c, double *out);
void ww_attr_numbers(const struct ww_attribute *a, double shift, double *y, double *u);

/* attribute_fit.c */
int ww_attr_fit(struct ww_attribute *a, struct ww_error *err);
/* c' beta as power: with the gain's uncertainty; NaN where not estimable. */
struct ww_quantity ww_attr_power(const struct ww_attribute *a, const double *c);
/* The same as the meter would show it: without the gain's. */
struct ww_quantity ww_attr_shown(const struct ww_attribute *a, const double *c);
bool ww_attr_has_offset(const struct ww_attribute *a); /* a column of it */

/* attribute_figures.c, attribute_next.c, attribute_order.c, attribute_remarks.c */
int ww_attr_figures(struct ww_attribute *a, struct ww_error *err);
int ww_attr_next(struct ww_attribute *a, struct ww_error *err);
int ww_attr_order(struct ww_attribute *a, struct ww_error *err);
void ww_attr_remarks(struct ww_attribute *a);
/* A list that figures may point into. */
const uint32_t *ww_attr_index(struct ww_attribute *a, const uint32_t *list, size_t n);
/* "box", or "monitor (standby)" where it has several states or one of another name. */
const char *ww_attr_label(const struct ww_attribute *a, size_t device, char *buf, size_t n);

#endif
