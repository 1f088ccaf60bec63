/* SPDX-License-Identifier: MIT */
/* The inside of the list of what is plugged in. */
#ifndef WW_LIST_H
#define WW_LIST_H

#include "base/base.h"

struct ww_list_entry {
	struct ww_found f; /* points into text */
	char *text[4];
	char *ask; /* a port that may be any meter's: its place; NULL none */
};

struct ww_list {
	struct ww_list_entry *e;
	size_t n;
	size_t cap;
};

#define WW_UDEV_HINT                                                                               \
	"no permission: install wakewatt's udev rules (`sudo make install`) and plug it in again"

int ww_list_add(struct ww_list *l, const char *uri, const char *what, const char *detail,
		const char *hint);
/* The entry added last may be asked, at this place. */
int ww_list_may_ask(struct ww_list *l, const char *place);
/* Say something else of an entry; NULL: as it was. */
int ww_list_change(struct ww_list_entry *e, const char *uri, const char *what, const char *detail,
		   const char *hint);
/* "FTDI FT232R, serial A7005IDU" */
void ww_list_ids(char *out, size_t n, const char *maker, const char *product, const char *serial);
/*
 * Names of a folder that begin with prefix, sorted as a person counts, so that two calls
 * say the same. A folder that is not there is empty.
 */
int ww_list_names(const char *dir, const char *prefix, char ***out, size_t *n);
void ww_list_names_free(char **list, size_t n);

/* listusb.c, listsys.c */
int ww_list_usb(struct ww_list *l);
int ww_list_kernel(struct ww_list *l);

#endif
