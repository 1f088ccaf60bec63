/* SPDX-License-Identifier: MIT */
/*
 * Serves a model of a meter: on a pseudo-terminal, a socket, or as a web server. What it
 * takes is in help[] below; tests read "port N" and "ready" from it, and "ok" after each
 * order.
 */
#include "wwemu.h"

/* ------------------------------------------------------------- setup and orders */

static void fresh(void)
{
	free(e.meter);
	e.meter = calloc(1, e.model->state_size);
	if (!e.meter || e.model->init(e.meter, &e.setup) < 0) {
		fprintf(stderr, "wwemu: %s has no fault '%s'; there are: %s\n", e.model->name,
			e.setup.fault, e.model->faults);
		exit(2);
	}
}

static void set_amps(double amps)
{
	bool inside = e.model->state_size >= sizeof(e.setup) &&
		      memcmp(e.meter, &e.setup.volts, sizeof(double)) == 0 &&
		      memcmp((char *)e.meter + offsetof(struct emu_setup, amps), &e.setup.amps,
			     sizeof(double)) == 0;
	double truth[4];

	e.model->truth(e.meter, now_ns(), truth);
	e.setup.amps = amps;
	if (inside) {
		memcpy((char *)e.meter + offsetof(struct emu_setup, amps), &amps, sizeof(amps));
		return;
	}
	e.setup.wh = truth[3];
	fresh();
}

static void tell_truth(void)
{
	double v[4];

	e.model->truth(e.meter, now_ns(), v);
	printf("truth %.9g %.9g %.9g %.9g\n", v[0], v[1], v[2], v[3]);
}

static bool order(char *s)
{
	s[strcspn(s, "\n")] = '\0';
	if (strcmp(s, "unplug") == 0) {
		unplug();
	} else if (strcmp(s, "replug") == 0) {
		if (e.unplugged)
			plug();
	} else if (strcmp(s, "silence on") == 0) {
		e.silent = true;
	} else if (strcmp(s, "silence off") == 0) {
		e.silent = false;
	} else if (strncmp(s, "amps ", 5) == 0) {
		set_amps(strtod(s + 5, NULL));
	} else if (strncmp(s, "fault", 5) == 0) {
		e.setup.fault = s[5] ? strdup(s + 6) : "";
		fresh();
	} else if (strcmp(s, "truth") == 0) {
		tell_truth();
	} else if (strcmp(s, "quit") == 0) {
		return false;
	} else {
		printf("unknown order: %s\n", s);
	}
	printf("ok\n");
	fflush(stdout);
	return true;
}

static int list(void)
{
	for (size_t i = 0; emu_models[i]; i++)
		printf("%s: %s\n", emu_models[i]->name, emu_models[i]->faults);
	return 0;
}

static const char usage_text[] =
	"usage: wwemu MODEL --pty LINK | --tcp [ADDR:]PORT | --unix PATH | --http [ADDR:]PORT "
	"[OPTION...]\n"
	"       wwemu --list\n";

static const char help[] =
	"\n"
	"Serves a model of a meter, for trying a driver without the device. Says 'ready' once it\n"
	"can be opened, and before that 'port N' where it has one.\n"
	"\n"
	"  --list              models, and the faults of each\n"
	"  --pty LINK          a pseudo-terminal, found at this symbolic link\n"
	"  --tcp [ADDR:]PORT   a socket; 127.0.0.1 without ADDR, any free port for 0\n"
	"  --unix PATH         a UNIX socket\n"
	"  --http [ADDR:]PORT  a web server, of the models that are one\n"
	"  --volts V --amps A --pf X --hz HZ\n"
	"                      the load: 230 V, 0.1 A, power factor 1, 50 Hz\n"
	"  --amps-per-s A      so much more each second\n"
	"  --wh WH             in its register at the beginning\n"
	"  --fault NAME        what is wrong with it\n"
	"  --serial TEXT       its serial number\n"
	"  --address N         on Modbus; 1\n"
	"  --seed N            of what happens at random\n"
	"  --echo              tell what the host sends, as 'got HEX'\n"
	"\n"
	"Orders come on standard input, a line each, and are answered by 'ok':\n"
	"  unplug, replug      the port goes away, and comes back\n"
	"  silence on|off      nothing leaves the meter\n"
	"  amps A              another load\n"
	"  fault [NAME]        a fresh meter with this fault, or with none\n"
	"  truth               tell 'truth VOLTS AMPS WATTS WH'\n"
	"  quit\n"
	"\n"
	"It ends when its standard input does. To have it in the background:\n"
	"  tail -f /dev/null | wwemu pzem004t --pty /tmp/meter &\n"
	"  pwrlog record -m pzem004t:/tmp/meter --for 10s\n"
	"\n"
	"What the meter says leaves at the pace of its line. What the host does not fetch is\n"
	"dropped, a message at a time, once 64 KiB of it wait.\n";

static int usage(void)
{
	fputs(usage_text, stderr);
	return 2;
}

static bool number(const char *name, const char *v)
{
	struct {
		const char *name;
		double *to;
	} const list_of[] = {{"--volts", &e.setup.volts}, {"--amps", &e.setup.amps},
			     {"--pf", &e.setup.pf},	  {"--hz", &e.setup.hz},
			     {"--wh", &e.setup.wh},	  {"--amps-per-s", &e.setup.amps_per_s}};

	for (size_t i = 0; i < sizeof(list_of) / sizeof(*list_of); i++) {
		if (strcmp(list_of[i].name, name) != 0)
			continue;
		*list_of[i].to = strtod(v, NULL);
		return true;
	}
	return false;
}

static bool option(const char *name, const char *v)
{
	static const char *const kinds[] = {"--pty", "--tcp", "--unix", "--http"};

	for (int i = 0; i < 4; i++) {
		if (strcmp(kinds[i], name) != 0)
			continue;
		e.kind = (enum kind)i;
		e.place = v;
		return true;
	}
	if (strcmp(name, "--fault") == 0)
		e.setup.fault = v;
	else if (strcmp(name, "--serial") == 0)
		e.setup.serial = v;
	else if (strcmp(name, "--address") == 0)
		e.setup.address = (unsigned)strtoul(v, NULL, 0);
	else if (strcmp(name, "--seed") == 0)
		e.setup.seed = (uint32_t)strtoul(v, NULL, 0);
	else
		return number(name, v);
	return true;
}

static int options(int argc, char **argv)
{
	if (argc > 1)
		e.model = emu_find(argv[1]);
	if (!e.model)
		return usage();
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--echo") == 0)
			e.echo = true;
		else if (i + 1 == argc || !option(argv[i], argv[i + 1]))
			return usage();
		else
			i++;
	}
	if (!e.place || (e.kind == HTTP) != (e.model->wire == EMU_HTTP) ||
	    (e.model->wire != EMU_HTTP && e.model->wire != EMU_STREAM)) {
		fprintf(stderr, "wwemu: %s is served by %s\n", e.model->name,
			e.model->wire == EMU_HTTP     ? "--http"
			: e.model->wire == EMU_STREAM ? "--pty, --tcp or --unix"
						      : "a virtual machine, as a USB device");
		return 2;
	}
	return 0;
}

/* ------------------------------------------------------------------- the loop */

static int64_t next_due(int64_t now)
{
	int64_t t = e.model->due ? e.model->due(e.meter) : EMU_NEVER;

	if (e.first) {
		int64_t q = e.first->at > now ? e.first->at : now + EMU_MS;

		t = q < t ? q : t;
	}
	return t;
}

static bool turn(void)
{
	struct pollfd f[3 + CLIENTS] = {{.fd = 0, .events = POLLIN},
					{.fd = e.master, .events = POLLIN},
					{.fd = e.listener, .events = POLLIN}};
	int64_t now = now_ns(), due = next_due(now);
	int64_t wait = due == EMU_NEVER ? 3600 * EMU_S : due > now ? due - now : 0;
	const struct timespec ts = {.tv_sec = wait / EMU_S, .tv_nsec = wait % EMU_S};
	char line[1024];

	for (int i = 0; i < CLIENTS; i++)
		f[3 + i] = (struct pollfd){.fd = e.client[i].fd, .events = POLLIN};
	if (ppoll(f, 3 + CLIENTS, &ts, NULL) < 0 && errno != EINTR)
		die("poll");
	for (int i = 0; i < CLIENTS; i++)
		if (f[3 + i].fd >= 0 && f[3 + i].revents)
			read_client(&e.client[i]);
	if (f[1].fd >= 0 && f[1].revents & POLLIN)
		read_pty();
	if (f[2].fd >= 0 && f[2].revents)
		new_client();
	now = now_ns();
	if (e.model->due && e.model->due(e.meter) <= now)
		e.model->tick(e.meter, now, &out);
	deliver(now);
	return !f[0].revents || (fgets(line, sizeof(line), stdin) && order(line));
}

int main(int argc, char **argv)
{
	int rc;

	if (argc == 2 && strcmp(argv[1], "--list") == 0)
		return list();
	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		printf("%s%s", usage_text, help);
		return 0;
	}
	rc = options(argc, argv);
	if (rc)
		return rc;
	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdin, NULL, _IONBF, 0);
	for (int i = 0; i < CLIENTS; i++)
		e.client[i].fd = -1;
	e.began = now_ns();
	fresh();
	plug();
	if (e.port)
		printf("port %d\n", e.port);
	printf("ready\n");
	fflush(stdout);
	while (turn())
		;
	unplug();
	free(e.meter);
	return 0;
}
