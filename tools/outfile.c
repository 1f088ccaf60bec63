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

/* A new file beside the old one, which takes its name when it is complete. */
static int beside(struct tool_out *o, const char *path, mode_t mode)
{
	int rc;

	o->real = strdup(path);
	if (!o->real || asprintf(&o->temporary, "%s.XXXXXX", path) < 0) {
		o->temporary = NULL;
		return -ENOMEM;
	}
	o->fd = mkostemp(o->temporary, O_CLOEXEC);
	if (o->fd >= 0 && fchmod(o->fd, mode) == 0)
		return 0;
	rc = -errno;
	if (o->fd < 0) {
		free(o->temporary);
		o->temporary = NULL;
	}
	return rc;
}

static int open_out(struct tool_out *o, const char *path)
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
		return beside(o, path, 0666 & ~mask);
	}
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode)) {
		/* A pipe, a device: opening one never makes a file of it. */
		o->fd = open(path, O_WRONLY | O_CLOEXEC);
		return o->fd < 0 ? -errno : 0;
	}
	/* A file that may not be written to is not to be replaced either. */
	if (access(path, W_OK) < 0)
		return -errno;
	real = realpath(path, NULL); /* through a link, not over it */
	if (!real)
		return -errno;
	rc = beside(o, real, st.st_mode & 07777);
	free(real);
	return rc;
}

int tool_out_open(struct tool_out *o, const char *path)
{
	int rc;

	*o = (struct tool_out){.fd = -1};
	rc = open_out(o, path);
	if (rc < 0)
		tool_out_close(o, false);
	return rc;
}

int tool_out_close(struct tool_out *o, bool good)
{
	int rc = 0;

	if (o->fd >= 0 && close(o->fd) < 0 && good)
		rc = -errno;
	if (rc == 0 && good && o->temporary && rename(o->temporary, o->real) < 0)
		rc = -errno;
	if (o->temporary && (rc < 0 || !good))
		unlink(o->temporary);
	free(o->temporary);
	free(o->real);
	*o = (struct tool_out){.fd = -1};
	return rc;
}

int tool_out_failed(const char *path, int rc, const struct ww_error *err)
{
	static const char output[] = "output: ";

	if (!err)
		tool_say("%s: cannot be written: %s", path, strerror(-rc));
	else if (strncmp(err->text, output, sizeof(output) - 1) == 0)
		tool_say("%s: %s", path, err->text + sizeof(output) - 1);
	else
		return tool_fail(err);
	return TOOL_FAILED;
}

static int to_file(const char *path, const char *text)
{
	struct tool_out o;
	int rc = tool_out_open(&o, path), closed;

	if (rc < 0)
		return rc;
	rc = write_all(o.fd, text);
	closed = tool_out_close(&o, rc == 0);
	return rc < 0 ? rc : closed;
}

int tool_write_file(const char *path, char *text)
{
	int rc = to_file(path, text);

	ww_free(text);
	if (rc == 0)
		return TOOL_OK;
	return tool_out_failed(path, rc, NULL);
}

bool tool_same_output(const char *a, const char *b)
{
	const char *name[2] = {a, b};
	struct stat in[2];

	if (strcmp(a, b) == 0 || tool_same_file(a, b))
		return true;
	/* Neither may be there yet: the same name in the same folder. */
	for (int i = 0; i < 2; i++) {
		const char *slash = strrchr(name[i], '/');
		char *folder =
			slash ? strndup(name[i], (size_t)(slash - name[i]) + 1) : strdup(".");
		bool known = folder && stat(folder, &in[i]) == 0;

		free(folder);
		if (!known)
			return false;
		name[i] = slash ? slash + 1 : name[i];
	}
	return in[0].st_dev == in[1].st_dev && in[0].st_ino == in[1].st_ino &&
	       strcmp(name[0], name[1]) == 0;
}

bool tool_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}
