/* SPDX-License-Identifier: MIT */
#include "control/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void forget(struct ww_child *c)
{
	ww_watch_free(c->end_watch);
	ww_watch_free(c->out_watch);
	c->end_watch = c->out_watch = NULL;
	if (c->pid_fd >= 0)
		close(c->pid_fd);
	if (c->out_fd >= 0)
		close(c->out_fd);
	c->pid_fd = c->out_fd = -1;
	c->pid = 0;
}

/* Keeps the last line that has something in it. */
static void hear(struct ww_child *c, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char ch = (unsigned char)p[i];

		if (ch == '\n' || ch == '\r') {
			c->n = c->n ? WW_CHILD_WORDS : 0;
			continue;
		}
		if (c->n >= WW_CHILD_WORDS) /* a line was complete: a new one begins */
			c->n = 0;
		if (c->n < WW_CHILD_WORDS - 1) {
			c->words[c->n++] = (char)(ch < 0x20 ? ' ' : ch);
			c->words[c->n] = '\0';
		}
	}
}

/* Nobody who reads it: nothing is shown, and the command goes on. */
static void show(const struct ww_child *c, const char *p, size_t n)
{
	ssize_t k;

	for (; c->show_fd > 0 && n; p += k, n -= (size_t)k) {
		k = write(c->show_fd, p, n);
		if (k <= 0)
			return;
	}
}

static void on_output(void *ctx, uint32_t events)
{
	struct ww_child *c = ctx;
	char buf[1024];
	ssize_t n;

	(void)events;
	while ((n = read(c->out_fd, buf, sizeof(buf))) > 0) {
		hear(c, buf, (size_t)n);
		show(c, buf, (size_t)n);
	}
	if (n == 0) {
		ww_watch_free(c->out_watch);
		c->out_watch = NULL;
	}
}

static void on_end(void *ctx, uint32_t events)
{
	struct ww_child *c = ctx;

	(void)events;
	if (waitpid(c->pid, &c->status, WNOHANG) != c->pid)
		return;
	on_output(c, 0);
	forget(c);
	c->ended(c->ctx);
}

/* Ours, and one more before it; the strings are lent. NULL: no memory. */
static char **environment(const char *setting)
{
	size_t n = 0;
	char **env;

	while (environ && environ[n])
		n++;
	env = calloc(n + 2, sizeof(*env));
	if (!env)
		return NULL;
	n = 0;
	if (setting)
		env[n++] = (char *)(uintptr_t)setting;
	for (char **e = environ; e && *e; e++)
		env[n++] = *e;
	return env;
}

static int spawn(struct ww_child *c, const char *command, const char *setting, int out,
		 struct ww_error *err)
{
	char shell[] = "sh", option[] = "-c";
	char *argv[] = {shell, option, (char *)(uintptr_t)command, NULL};
	char **env = environment(setting);
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	sigset_t none, dflt;
	int rc;

	if (!env)
		return ww_fail_nomem(err);
	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&at);
	sigemptyset(&none);
	sigemptyset(&dflt);
	sigaddset(&dflt, SIGINT);
	sigaddset(&dflt, SIGTERM);
	sigaddset(&dflt, SIGPIPE);
	posix_spawnattr_setflags(&at, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
					      POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&at, &none);
	posix_spawnattr_setsigdefault(&at, &dflt);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, out, 1);
	posix_spawn_file_actions_adddup2(&fa, out, 2);
	rc = posix_spawn(&c->pid, "/bin/sh", &fa, &at, argv, env);
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&at);
	free(env);
	if (rc != 0) {
		c->pid = 0;
		return ww_fail(err, -rc, "'%s' cannot be started: %s", command, strerror(rc));
	}
	return 0;
}

int ww_child_start(struct ww_child *c, struct ww_loop *loop, const char *command,
		   const char *setting, void (*ended)(void *ctx), void *ctx, struct ww_error *err)
{
	int pipes[2], rc;

	*c = (struct ww_child){
		.loop = loop, .pid_fd = -1, .out_fd = -1, .ended = ended, .ctx = ctx};
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return ww_fail(err, -errno, "pipe: %s", strerror(errno));
	c->out_fd = pipes[0];
	fcntl(pipes[0], F_SETFL, O_NONBLOCK);
	rc = spawn(c, command, setting, pipes[1], err);
	close(pipes[1]);
	if (rc < 0)
		goto fail;
	c->pid_fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->pid_fd < 0) {
		rc = ww_fail(err, -errno, "pidfd_open (Linux 5.3 or newer): %s", strerror(errno));
		goto fail;
	}
	fcntl(c->pid_fd, F_SETFD, FD_CLOEXEC);
	rc = ww_loop_watch(loop, c->pid_fd, EPOLLIN, on_end, c, &c->end_watch, err);
	if (rc == 0)
		rc = ww_loop_watch(loop, c->out_fd, EPOLLIN, on_output, c, &c->out_watch, err);
	if (rc == 0)
		return 0;
fail:
	ww_child_end(c);
	return rc;
}

void ww_child_how(const struct ww_child *c, char *buf, size_t n)
{
	if (WIFSIGNALED(c->status))
		snprintf(buf, n, "signal %d", WTERMSIG(c->status));
	else if (c->words[0] && WEXITSTATUS(c->status) != 0)
		snprintf(buf, n, "exit %d: %s", WEXITSTATUS(c->status), c->words);
	else
		snprintf(buf, n, "exit %d", WEXITSTATUS(c->status));
}

void ww_child_end(struct ww_child *c)
{
	struct pollfd p = {.fd = c->pid_fd, .events = POLLIN};

	if (c->pid > 0) {
		kill(-c->pid, SIGTERM);
		/* Some grace, at the end of a cycle or of the recording, then by force. */
		if (c->pid_fd < 0 || poll(&p, 1, 200) <= 0)
			kill(-c->pid, SIGKILL);
		waitpid(c->pid, &c->status, 0);
		/* What it started and left behind. */
		kill(-c->pid, SIGKILL);
	}
	forget(c);
}
