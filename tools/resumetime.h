/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_RESUMETIME_H
#define TOOLS_RESUMETIME_H

#include "common.h"

int resumetime_act(int argc, char **argv);
int resumetime_beat(int argc, char **argv);
int resumetime_bisect_step(int argc, char **argv);
int resumetime_compare(int argc, char **argv);
int resumetime_kernlog(int argc, char **argv);
int resumetime_loopback(int argc, char **argv);
int resumetime_record(int argc, char **argv);
int resumetime_report(int argc, char **argv);
int resumetime_vet(int argc, char **argv);

#endif
