/* SPDX-License-Identifier: MIT */
/*
 * Where tests put their traces: in memory where that is possible. A trace is synced to its
 * disk again and again, and what a disk does with that is not what they test.
 */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <unistd.h>

static inline const char *scratch(void)
{
	return access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
}

#endif
