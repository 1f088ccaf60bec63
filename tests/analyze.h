/* SPDX-License-Identifier: MIT */
/*
 * Put before every file that clang-tidy reads. It sees one file at a time: without this it
 * follows paths on which a failure returned success.
 */
#include "base/base.h"

#define ww_fail(err, code, ...)                                                                    \
	((void)ww_fail((err), (code), __VA_ARGS__), (code) < 0 ? (code) : -EINVAL)
#define ww_fail_nomem(err) ((void)ww_fail_nomem(err), -ENOMEM)
