/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_PWRLOG_H
#define TOOLS_PWRLOG_H

#include "common.h"

int pwrlog_attribute(int argc, char **argv);
int pwrlog_calibrate(int argc, char **argv);
int pwrlog_compare(int argc, char **argv);
int pwrlog_list(int argc, char **argv);
int pwrlog_record(int argc, char **argv);
int pwrlog_run(int argc, char **argv);
int pwrlog_runtime(int argc, char **argv);
int pwrlog_standby(int argc, char **argv);
int pwrlog_stat(int argc, char **argv);
int pwrlog_suspend_model(int argc, char **argv);
int pwrlog_steps(int argc, char **argv);

#endif
