/* SPDX-License-Identifier: MIT */
/* Whole small files, and the numbers with units that options take. */
#ifndef TOOLS_SLURP_H
#define TOOLS_SLURP_H

#include "common.h"

/*
 * A text file, "-" for standard input, at most 256 MiB; malloc'ed, with a NUL behind it.
 * @return TOOL_OK, or TOOL_FAILED after it has said why
 */
int tool_slurp(const char *path, char **text, size_t *n);
/*
 * Is the file a trace and no table? One has bytes that no text has, or is a stream that
 * begins with its own name.
 */
bool tool_is_trace(const char *path);

/*
 * "1", "1±0.1", "1 W +- 0.1 W": *u is half of what stands behind the sign (k = 2), 0 where
 * there is none. @return 0, or TOOL_USAGE after it has said what is wrong with the option
 */
int tool_watts(const char *option, const char *text, double *value, double *u);
/* "0.0702", "$0.0702", "0.30 EUR": the text beside the number goes to `unit`. */
int tool_price(const char *option, const char *text, double *value, char *unit, size_t n);
/* A number within [lo, hi]. */
int tool_number(const char *option, const char *text, double lo, double hi, double *value);

#endif
