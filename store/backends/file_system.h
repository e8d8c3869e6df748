/*
 * file_system - what kind of file system a folder lies on.
 *
 * On a local disk a file may be mapped: it stays readable when somebody removes it, and its pages come from this host's own
 * memory. Over a network the removal by another host ends a mapped read with SIGBUS, and pages that are written
 * ahead to spare faults are written over the network.
 */
#ifndef STORE_BACKENDS_FILE_SYSTEM_H
#define STORE_BACKENDS_FILE_SYSTEM_H

#include <stdbool.h>

/* Whether `path` is on a file system of this host; false when it cannot be told. */
bool file_system_is_local(const char *path);
/* The same by the number that statfs(2) has for it. What is not known to be a network's is local. */
bool file_system_type_is_local(unsigned long type);

#endif
