/* SPDX-License-Identifier: MIT */
/*
 * Every cut of a stream, every second of a day: all of them in the plain build, each fifth
 * where the sanitizers make it five times slower.
 */
#ifndef PART_H
#define PART_H

#if defined(__SANITIZE_ADDRESS__)
#define TEST_PART 5u
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEST_PART 5u
#endif
#endif
#ifndef TEST_PART
#define TEST_PART 1u
#endif

#endif
