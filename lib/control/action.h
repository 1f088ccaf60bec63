/* SPDX-License-Identifier: MIT */
/* The inside of actions, for campaigns: on a loop that is not theirs, with ports in use. */
#ifndef WW_CONTROL_ACTION_H
#define WW_CONTROL_ACTION_H

#include "bus/loop.h"
#include "control/aim.h"

struct ww_action_setup {
	struct ww_loop *loop; /* NULL: one of its own */
	struct ww_open_ports ports;
	const char *setting; /* "NAME=value" more for a command, NULL none; lent */
	/* When it took effect is known now, or it is over. May be NULL. */
	void (*changed)(void *ctx);
	void *ctx;
};

int ww_action_new_setup(const char *text, const struct ww_action_setup *s, struct ww_action **out,
			struct ww_error *err);
bool ww_action_is_command(const struct ww_action *a);
bool ww_action_running(const struct ww_action *a);
/* What was asked for. Lent. */
const struct ww_act *ww_action_form(const struct ww_action *a);
/* Least and greatest time that a line was driven; none (lo > hi) for everything else. */
struct ww_interval ww_action_length(const struct ww_action *a);
/* Seconds of an alarm of the DUT's own, 0 for every other action. */
int64_t ww_action_alarm_s(const struct ww_action *a);
/* The alarm was set in t. */
void ww_action_alarm_set(struct ww_action *a, struct ww_interval t);
/* Other words of the same kind: a command with another number, an alarm of other seconds. */
int ww_action_retext(struct ww_action *a, const char *text, struct ww_error *err);
/* Is the device there that it drives? @return 0, or why not */
int ww_action_there(const struct ww_action *a, struct ww_error *err);
/* What went wrong, code 0 if nothing; forgotten at the next start. Lent. */
const struct ww_error *ww_action_error(const struct ww_action *a);
/* At once: a command is killed, a pulse cut short. */
void ww_action_stop(struct ww_action *a);

#endif
