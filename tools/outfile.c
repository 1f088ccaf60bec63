/* SPDX-License-Identifier: MIT */
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int fd, const char *text)
{
	size_t n = strlen(text);

	while (n) {
		ssize_t k = write(fd, text, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k < 0 ? -errno : -EIO;
		text += k;
		n -= (size_t)k;
	}
	return 0;
}

/* Into what is there: a pipe, a device. Opening one never makes a file of it. */
static int write_into(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = write_all(fd, text);
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	return rc;
}

/* A new file beside the old one, which takes its name when it is complete. */
static int replace(const char *path, const char *text, mode_t mode)
{
	char *temporary = NULL;
	int fd, rc;

	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0) {
		rc = -errno;
		free(temporary);
		return rc;
	}
	rc = write_all(fd, text);
	if (rc == 0 && fchmod(fd, mode) < 0)
		rc = -errno;
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && rename(temporary, path) < 0)
		rc = -errno;
	if (rc < 0)
		unlink(temporary);
	free(temporary);
	return rc;
}

static int to_file(const char *path, const char *text)
{
	struct stat st;
	mode_t mask;
	char *real;
	int rc;

	if (stat(path, &st) < 0) {
		if (errno != ENOENT)
			return -errno;
		mask = umask(0);
		umask(mask);
		return replace(path, text, 0666 & ~mask);
	}
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return write_into(path, text);
	/* A file that may not be written to is not to be replaced either. */
	if (access(path, W_OK) < 0)
		return -errno;
	real = realpath(path, NULL); /* through a link, not over it */
	if (!real)
		return -errno;
	rc = replace(real, text, st.st_mode & 07777);
	free(real);
	return rc;
}

int tool_write_file(const char *path, char *text)
{
	int rc = to_file(path, text);

	ww_free(text);
	if (rc == 0)
		return TOOL_OK;
	tool_say("%s: cannot be written: %s", path, strerror(-rc));
	return TOOL_FAILED;
}

bool tool_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}
