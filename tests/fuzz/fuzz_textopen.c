/* SPDX-License-Identifier: MIT */
/*
 * A file of any bytes, plain, packed or of trace-cmd: a sentence, or text to its end, and
 * lines that are lines.
 */
#include "text/textin.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST ((size_t)256 << 20)

static void read_all(struct ww_text *t)
{
	struct ww_error err = {0};
	const uint8_t *p;
	const int64_t *lo, *hi;
	size_t n, total = 0;
	int rc;

	while ((rc = t->next(t, &p, &n, &lo, &hi, &err)) == 1) {
		if (n == 0 || lo || hi)
			abort();
		total += p[0] + p[n - 1] > 0 ? n : n; /* both ends can be read */
		if (total > MOST)
			break;
	}
	if (rc < 0 && (err.code != rc || !*err.text))
		abort();
	ww_text_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ww_error err = {0};
	struct ww_text *t;
	char path[40];
	int fd = memfd_create("fuzz", 0);

	if (fd < 0)
		return 0;
	if (write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (ww_text_open(path, &t, &err) == 0)
		read_all(t);
	else if (err.code == 0 || !*err.text)
		abort();
	close(fd);
	return 0;
}
