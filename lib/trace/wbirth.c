/* SPDX-License-Identifier: MIT */
/* A new trace's file. */
#include "trace/trace.h"
#include "base/str.h"

#include <fcntl.h>
#include <unistd.h>

static int write_all(int fd, const unsigned char *p, size_t n)
{
	while (n > 0) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k < 0 ? -errno : -EIO;
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

int ww_wfile_birth(const char *path, const unsigned char *bytes, size_t n)
{
	const char *slash = strrchr(path, '/');
	struct ww_str dir = {0}, self = {0};
	int fd = -1, rc = 0;

	ww_str_addn(&dir, slash ? path : ".", slash ? (size_t)(slash - path) + 1 : 1);
	if (dir.bad)
		return -ENOMEM;
	fd = open(dir.p, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	ww_str_free(&dir);
	if (fd < 0)
		return 1;
	rc = write_all(fd, bytes, n);
	ww_str_addf(&self, "/proc/self/fd/%d", fd);
	if (rc == 0 && self.bad)
		rc = -ENOMEM;
	if (rc == 0 && linkat(AT_FDCWD, self.p, AT_FDCWD, path, AT_SYMLINK_FOLLOW) < 0)
		rc = errno == EEXIST || errno == ENOSPC || errno == EDQUOT ? -errno : 1;
	ww_str_free(&self);
	close(fd);
	return rc;
}
