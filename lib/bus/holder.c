/* SPDX-License-Identifier: MIT */
/*
 * Who uses a device that we cannot have. Several processes may have it open, also the
 * one that made a pseudo-terminal and stands at its other end; the lock tells which one
 * is in the way.
 */
#include "bus/sysfs.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/*
 * "1: FLOCK  ADVISORY  WRITE 123 00:1a:4 0 EOF": the process, and the file by device and
 * inode; a lock that waits has "->" before its kind. @return the process, 0 another lock
 */
static long lock_of(char *line, const struct stat *dev)
{
	char *word[8] = {0}, *rest = line, *end;
	unsigned maj, min;
	unsigned long long inode;

	for (size_t i = 0; i < WW_COUNTOF(word); i++)
		word[i] = strtok_r(NULL, " \n", &rest);
	if (!word[5] || strcmp(word[1], "FLOCK") != 0)
		return 0;
	maj = (unsigned)strtoul(word[5], &end, 16);
	min = *end == ':' ? (unsigned)strtoul(end + 1, &end, 16) : 0;
	inode = *end == ':' ? strtoull(end + 1, NULL, 10) : 0;
	return makedev(maj, min) == dev->st_dev && inode == dev->st_ino ? strtol(word[4], NULL, 10)
									: 0;
}

/* Process that holds a flock on the file, 0 or less: unseen. proc_locks(5) */
static long lock_holder(const struct stat *dev)
{
	FILE *f = fopen("/proc/locks", "re");
	char line[256];
	long holder = 0;

	while (f && holder <= 0 && fgets(line, sizeof(line), f))
		holder = lock_of(line, dev);
	if (f)
		fclose(f);
	return holder;
}

/* Pseudo-terminals have numbers of their own in each container. */
static bool is_device(const char *path, const struct stat *dev)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == dev->st_rdev &&
	       (!ww_is_pty(st.st_rdev) || st.st_dev == dev->st_dev);
}

/* Is it the near end of the pseudo-terminal? Its fdinfo tells the number of the far end. */
static bool is_near_end(const char *fdinfo, const struct stat *dev)
{
	FILE *f = ww_is_pty(dev->st_rdev) ? fopen(fdinfo, "re") : NULL;
	char line[128];
	static const char key[] = "tty-index:";
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = strncmp(line, key, sizeof(key) - 1) == 0 &&
			strtoul(line + sizeof(key) - 1, NULL, 10) ==
				(major(dev->st_rdev) - 136) * 256 + minor(dev->st_rdev);
	if (f)
		fclose(f);
	return found;
}

/* 0: does not have it open; 1: also has the near end; 2: has it open */
static int has_open(const char *pid, const struct stat *dev)
{
	char dir[64], path[384];
	bool open = false, near = false;
	struct dirent *e;
	DIR *d;

	snprintf(dir, sizeof(dir), "/proc/%.20s/fd", pid);
	d = opendir(dir);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		open |= is_device(path, dev);
		snprintf(path, sizeof(path), "/proc/%.20s/fdinfo/%s", pid, e->d_name);
		near |= !near && is_near_end(path, dev);
	}
	if (d)
		closedir(d);
	return open ? near ? 1 : 2 : 0;
}

static long open_holder(const struct stat *dev)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	long holder = 0;
	int best = 0;

	while (d && best < 2 && (e = readdir(d))) {
		char *end;
		long pid = strtol(e->d_name, &end, 10);
		int how = *end || pid <= 0 || pid == (long)getpid() ? 0 : has_open(e->d_name, dev);

		if (how > best) {
			best = how;
			holder = pid;
		}
	}
	if (d)
		closedir(d);
	return holder;
}

bool ww_holder(const char *path, char *out, size_t n)
{
	char dir[64], comm[64];
	struct stat st;
	long pid;

	if (stat(path, &st) != 0 || !S_ISCHR(st.st_mode))
		return false;
	pid = lock_holder(&st);
	if (pid == (long)getpid()) {
		snprintf(out, n, "this command itself: it is named twice");
		return true;
	}
	if (pid <= 0)
		pid = open_holder(&st);
	if (pid <= 0)
		return false;
	snprintf(dir, sizeof(dir), "/proc/%ld", pid);
	ww_sysfs_read(dir, "comm", comm, sizeof(comm));
	snprintf(out, n, "process %ld (%s)", pid, comm);
	return true;
}
