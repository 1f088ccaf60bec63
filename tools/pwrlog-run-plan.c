/* SPDX-License-Identifier: MIT */
/* pwrlog run: commands and variables become variants, and these an order. */
#include "pwrlog-run.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* One value of each variable. */
struct values {
	const char *name[RUN_SETS];
	size_t name_n[RUN_SETS];
	const char *value[RUN_SETS];
	size_t value_n[RUN_SETS];
	size_t n;
};

/* ---- words ---- */

/* {name} becomes its value. NULL without memory. */
static char *substitute(const char *text, const struct values *v)
{
	char *out = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&out, &size);

	if (!f)
		return NULL;
	while (*text) {
		size_t k = 0;

		for (k = 0; *text == '{' && k < v->n; k++)
			if (strncmp(text + 1, v->name[k], v->name_n[k]) == 0 &&
			    text[1 + v->name_n[k]] == '}')
				break;
		if (*text == '{' && k < v->n) {
			fwrite(v->value[k], 1, v->value_n[k], f);
			text += v->name_n[k] + 2;
		} else {
			fputc(*text++, f);
		}
	}
	if (fclose(f) != 0) {
		free(out);
		return NULL;
	}
	return out;
}

static void free_words(char **w)
{
	for (size_t i = 0; w && w[i]; i++)
		free(w[i]);
	free(w);
}

/* sh -c TEXT, or its words where no shell is needed to tell them. */
static char **words_of(const char *text)
{
	const char *first = text + strspn(text, " \t"), *sign = strchr(first, '=');
	bool shell = strpbrk(text, "|&;<>()$`\\\"'*?[]#~!{}\n") != NULL ||
		     (sign && strcspn(first, " \t") > (size_t)(sign - first));
	char **w = calloc(strlen(text) / 2 + 5, sizeof(*w));
	size_t n = 0;

	if (!w)
		return NULL;
	if (shell) {
		w[n++] = strdup("sh");
		w[n++] = strdup("-c");
		w[n++] = strdup(text);
	}
	while (!shell && *text) {
		size_t len;

		text += strspn(text, " \t");
		len = strcspn(text, " \t");
		if (len)
			w[n++] = strndup(text, len);
		text += len;
	}
	for (size_t i = 0; i < n; i++) {
		if (!w[i]) {
			free_words(w);
			return NULL;
		}
	}
	return w;
}

static char **copy_words(char **argv, const struct values *v)
{
	size_t n = 0;
	char **w;

	while (argv[n])
		n++;
	w = calloc(n + 1, sizeof(*w));
	for (size_t i = 0; w && i < n; i++) {
		w[i] = substitute(argv[i], v);
		if (!w[i]) {
			free_words(w);
			return NULL;
		}
	}
	return w;
}

/* As one would type it. */
static char *quoted(char **argv)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_-+=./,:@%^";
	char *text = NULL;
	size_t n = 0;
	FILE *f;

	/* What needs the shell was typed as one text. */
	if (strcmp(argv[0], "sh") == 0 && argv[1] && strcmp(argv[1], "-c") == 0 && argv[2] &&
	    !argv[3])
		return strdup(argv[2]);
	f = open_memstream(&text, &n);
	for (size_t i = 0; f && argv[i]; i++) {
		if (i)
			fputc(' ', f);
		if (*argv[i] && strspn(argv[i], safe) == strlen(argv[i])) {
			fputs(argv[i], f);
			continue;
		}
		fputc('\'', f);
		for (const char *a = argv[i]; *a; a++)
			fputs(*a == '\'' ? "'\\''" : (char[]){*a, '\0'}, f);
		fputc('\'', f);
	}
	if (!f || fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* The environment with each variable set to its value. */
static char **environment(const struct values *v)
{
	size_t n = 0, k = 0;
	char **env;

	while (environ[n])
		n++;
	env = calloc(n + v->n + 1, sizeof(*env));
	for (size_t i = 0; env && i < n; i++) {
		bool ours = false;

		for (size_t j = 0; j < v->n; j++)
			ours = ours || (strncmp(environ[i], v->name[j], v->name_n[j]) == 0 &&
					environ[i][v->name_n[j]] == '=');
		if (!ours && !(env[k++] = strdup(environ[i])))
			goto bad;
	}
	for (size_t j = 0; env && j < v->n; j++) {
		if (asprintf(&env[k], "%.*s=%.*s", (int)v->name_n[j], v->name[j],
			     (int)v->value_n[j], v->value[j]) < 0) {
			env[k] = NULL;
			goto bad;
		}
		k++;
	}
	return env;
bad:
	free_words(env);
	return NULL;
}

/* ---- variants ---- */

static char *label_of(size_t command, size_t commands, const struct values *v)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return NULL;
	if (commands > 1)
		fprintf(f, "%c%s", (char)('A' + (int)command), v->n ? " " : "");
	for (size_t j = 0; j < v->n; j++)
		fprintf(f, "%s%.*s=%.*s", j ? "," : "", (int)v->name_n[j], v->name[j],
			(int)v->value_n[j], v->value[j]);
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static int add_variant(struct run_plan *p, const struct run_options *o, size_t command,
		       const struct values *v)
{
	struct run_variant *x = &p->variant[p->variants];
	char *text = NULL;

	if (p->variants == RUN_VARIANTS)
		return tool_usage_error("more than %d variants", RUN_VARIANTS);
	p->variants++;
	if (command == 0 && o->argv[1]) {
		x->argv = copy_words(o->argv, v);
	} else {
		text = substitute(command ? o->command[command - 1] : o->argv[0], v);
		x->argv = text ? words_of(text) : NULL;
		free(text);
	}
	x->env = environment(v);
	x->place = (uint32_t)p->variants;
	x->label = label_of(command, o->commands + 1, v);
	x->text = x->argv && x->argv[0] ? quoted(x->argv) : NULL;
	if (x->argv && !x->argv[0])
		return tool_usage_error("an empty command");
	if (x->text && x->label && x->env)
		return 0;
	tool_say("out of memory");
	return TOOL_FAILED;
}

/* Two variants of one name would be taken for one. */
static int check_values(const char *text, const char *values)
{
	for (const char *a = values;; a++) {
		size_t n = strcspn(a, ",");

		for (const char *b = a + n; *b;) {
			size_t m = strcspn(++b, ",");

			if (m == n && strncmp(a, b, n) == 0)
				return tool_usage_error(
					"--vary %s: '%.*s' stands there twice; more runs of it "
					"are -n",
					text, (int)n, a);
			b += m;
		}
		a += n;
		if (!*a)
			return 0;
	}
}

static int check_names(const struct run_options *o)
{
	for (size_t i = 0; i < o->varied; i++)
		for (size_t k = 0; k < i; k++) {
			size_t n = strcspn(o->vary[i], "=");

			if (strncmp(o->vary[i], o->vary[k], n + 1) == 0)
				return tool_usage_error("--vary %s: %.*s varies already",
							o->vary[i], (int)n, o->vary[i]);
		}
	return 0;
}

/* NAME=a,b,c with a name that an environment can hold. */
static int check_vary(const char *text)
{
	size_t n = strcspn(text, "=");
	bool good = n > 0 && text[n] == '=' && text[n + 1] && !isdigit((unsigned char)*text);

	for (size_t i = 0; i < n; i++)
		good = good && (isalnum((unsigned char)text[i]) || text[i] == '_');
	if (!good)
		return tool_usage_error("--vary %s: expected a name and its values, name=a,b",
					text);
	return check_values(text, text + n + 1);
}

/* All values of variable k and those after it. */
static int vary(struct run_plan *p, const struct run_options *o, size_t command, size_t k,
		struct values *v)
{
	const char *at;
	int rc = 0;

	if (k == o->varied)
		return add_variant(p, o, command, v);
	v->name[k] = o->vary[k];
	v->name_n[k] = strcspn(o->vary[k], "=");
	v->n = k + 1;
	at = o->vary[k] + v->name_n[k] + 1;
	while (rc == 0) {
		v->value[k] = at;
		v->value_n[k] = strcspn(at, ",");
		rc = vary(p, o, command, k + 1, v);
		v->n = k + 1;
		at += v->value_n[k];
		if (!*at++)
			break;
	}
	return rc;
}

/* A file that may be run. @return 0, or an errno */
static int not_program(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return access(path, X_OK) == 0 ? 0 : errno;
}

/* Better said before ten seconds of a baseline than after them. */
static int check_there(const struct run_variant *v)
{
	const char *name = v->argv[0], *path = getenv("PATH");
	char full[4096];
	int rc;

	if (strchr(name, '/')) {
		rc = not_program(name);
		if (rc == 0)
			return 0;
		tool_say("%s: %s", name, strerror(rc));
		return TOOL_FAILED;
	}
	for (path = path ? path : "/bin:/usr/bin"; *path;) {
		size_t n = strcspn(path, ":");

		snprintf(full, sizeof(full), "%.*s/%s", (int)n, n ? path : ".", name);
		if (not_program(full) == 0)
			return 0;
		path += n + (path[n] == ':');
	}
	tool_say("%s: no such command", name);
	return TOOL_FAILED;
}

int run_plan_make(struct run_plan *p, const struct run_options *o)
{
	struct values v = {.n = 0};
	int rc = 0;

	for (size_t k = 0; k < o->varied && rc == 0; k++)
		rc = check_vary(o->vary[k]);
	if (rc == 0)
		rc = check_names(o);
	for (size_t c = 0; c <= o->commands && rc == 0; c++) {
		v.n = 0;
		rc = vary(p, o, c, 0, &v);
	}
	for (size_t i = 0; i < p->variants && rc == 0; i++)
		rc = check_there(&p->variant[i]);
	return rc;
}

void run_plan_free(struct run_plan *p)
{
	for (size_t i = 0; i < p->variants; i++) {
		free(p->variant[i].label);
		free(p->variant[i].text);
		free_words(p->variant[i].argv);
		free_words(p->variant[i].env);
	}
	p->variants = 0;
}

/* splitmix64 (Steele, Lea & Flood 2014), for round k of a seed. */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void run_plan_round(const struct run_plan *p, const struct run_options *o, uint32_t k,
		    size_t *order)
{
	uint64_t state = o->seed + k;
	size_t n = p->variants;

	for (size_t i = 0; i < n; i++)
		order[i] = k % 2 && !o->shuffle ? n - 1 - i : i;
	for (size_t i = n; o->shuffle && i > 1; i--) {
		size_t j = (size_t)(draw(&state) % i), swap = order[j];

		order[j] = order[i - 1];
		order[i - 1] = swap;
	}
}
