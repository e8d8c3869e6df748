/*
 * directory - a store in a folder on local or shared storage: "dir:PATH", the default.
 *
 *   PATH/<key>.record       a record
 *   PATH/<key>              an artifact: a file, or a folder that holds an empty file ".artifact"
 *   PATH/switch/<key>       a ref
 *   PATH/logs/<name>        a note
 *   PATH/tmp/<digits>/      files that a live process is writing (scratch_space.h)
 *
 * Nothing is ever written under its final name. A record is written in tmp/, then link()ed to its
 * name. The first link wins, whoever else writes the record, and a killed process leaves the whole
 * record or none. Where there are no hard links (SMB, exFAT), a rename that refuses to replace
 * (RENAME_NOREPLACE) is used instead. Folders cannot be linked, but rename() refuses to replace a
 * folder that is not empty, which is the same rule.
 *
 * If the answer to a link or a rename was lost on a network, the store looks whether it was done.
 * On a file system of another host (file_system.h) no file is mapped, and pages are neither
 * prepared, written back nor dropped early.
 *
 * Folders that become empty are removed. A writer therefore makes its folders again if they vanish
 * between its mkdir and its link.
 */
#ifndef STORE_BACKENDS_DIRECTORY_DIRECTORY_H
#define STORE_BACKENDS_DIRECTORY_DIRECTORY_H

#include "store/objects/object_store.h"

extern const struct object_backend directory_backend;

#endif
