/* SPDX-License-Identifier: MIT */
#include "pwrlog.h"

static const struct tool_command commands[] = {
	{"attribute", pwrlog_attribute, "watts of each device, from readings of on and off"},
	{"calibrate", pwrlog_calibrate, "offset and gain of a meter, from known loads"},
	{"compare", pwrlog_compare, "two sets of runs beside each other, with what can be told"},
	{"list", pwrlog_list, "what is plugged in, and the drivers of this build"},
	{"record", pwrlog_record, "record wattmeters into a trace"},
	{"run", pwrlog_run, "what a command costs in joules, and a unit of its work"},
	{"runtime", pwrlog_runtime, "how long a battery lasts, and what a runtime takes"},
	{"standby", pwrlog_standby, "power in a standby mode by the standard's procedures"},
	{"stat", pwrlog_stat, "mean watts and energy of a trace, with uncertainties"},
	{"steps", pwrlog_steps, "when the power of a trace changed, and by how much"},
	{"suspend-model", pwrlog_suspend_model, "what suspending in idle gaps saves"},
	{NULL, NULL, NULL},
};

int main(int argc, char **argv)
{
	return tool_main(argc, argv, "pwrlog", "how many watts a machine draws", commands);
}
