/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_WWTRACE_H
#define TOOLS_WWTRACE_H

int wwtrace_info(int argc, char **argv);
int wwtrace_dump(int argc, char **argv);
int wwtrace_export(int argc, char **argv);
int wwtrace_import(int argc, char **argv);
int wwtrace_redecode(int argc, char **argv);

#endif
