/* SPDX-License-Identifier: MIT */
/*
 * qmp SOCKET COMMAND: one command to a virtual machine's management socket, as fast as a
 * button: the time of a wake-up is known only as well as its command is quick.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Lines until one has `word` (0) or "error" (1). */
static int answer(FILE *f, const char *word)
{
	char line[4096];

	while (fgets(line, sizeof(line), f)) {
		if (strstr(line, "\"error\"")) {
			fprintf(stderr, "qmp: %s", line);
			return 1;
		}
		if (strstr(line, word))
			return 0;
	}
	fprintf(stderr, "qmp: the virtual machine is gone\n");
	return 1;
}

int main(int argc, char **argv)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	FILE *f;

	if (argc != 3 || strlen(argv[1]) >= sizeof(sa.sun_path)) {
		fputs("Usage: qmp SOCKET COMMAND\n", stderr);
		return 2;
	}
	strcpy(sa.sun_path, argv[1]);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa))) {
		perror(argv[1]);
		return 1;
	}
	f = fdopen(fd, "r");
	if (!f || answer(f, "\"QMP\""))
		return 1;
	dprintf(fd, "{\"execute\":\"qmp_capabilities\"}\n");
	if (answer(f, "\"return\""))
		return 1;
	dprintf(fd, "{\"execute\":\"%s\"}\n", argv[2]);
	return answer(f, "\"return\"");
}
