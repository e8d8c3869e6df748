/*
 * file_system - tells local file systems from those of a network.
 *
 * A file on a local disk may be mapped: it stays readable after it is removed, and its pages come
 * from this host's memory. Over a network, a mapped read ends with SIGBUS if another host removes
 * the file, and pages that are written ahead to save page faults are sent over the network.
 */
#ifndef STORE_BACKENDS_DIRECTORY_FILE_SYSTEM_H
#define STORE_BACKENDS_DIRECTORY_FILE_SYSTEM_H

#include <stdbool.h>

/* Returns whether `path` is on a file system of this host. Returns false if this cannot be found
 * out. */
bool file_system_is_local(const char *path);
/* Returns the same for the f_type of statfs(2). A type that is not a known network file system
 * counts as local. */
bool file_system_type_is_local(unsigned long type);

#endif
