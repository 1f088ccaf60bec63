/* SPDX-License-Identifier: MIT */
/*
 * Messages of the kernel and of firmware around suspend and resume, from 2.6 to now. Pure:
 * no state, no allocation, no clock. Most lines are none of them and are told so from their
 * first bytes.
 */
#ifndef WW_TEXT_KMSG_H
#define WW_TEXT_KMSG_H

#include "text/pmev.h"

/* @param text  a message without framing, as struct ww_kline has it. @return out->kind */
int ww_kmsg_parse(const char *text, size_t n, struct ww_pmev *out);

#endif
