/*
 * directory - a store in a folder on local or shared storage: "dir:PATH", the default.
 *
 *   PATH/<key>.record       a record
 *   PATH/<key>              an artifact: a file, or a folder that holds an empty file ".artifact"
 *   PATH/switch/<key>       a switch
 *   PATH/logs/<name>        a note
 *   PATH/tmp/<digits>/  what a live process writes (scratch_space.h)
 *
 * Nothing is ever written under its final name. A record is written to tmp/, then link()ed to its name:
 * the first one wins, whoever else writes it, and a kill leaves the whole record or none. Where there are no hard
 * links (SMB, exFAT) a rename that refuses to replace (RENAME_NOREPLACE) does it. Folders cannot
 * be linked; rename() refuses a name where a folder with something in it stands, which is the same rule.
 * What a network has left unsaid (the answer to a link or a rename was lost) is looked up.
 * On a file system that is not of this host (file_system.h) nothing is mapped, no pages are made ahead and none are sent or
 * given up early.
 *
 * Folders that become empty are removed, so a writer makes its folders again when they vanish between
 * its mkdir and its link.
 */
#ifndef STORE_BACKENDS_DIRECTORY_H
#define STORE_BACKENDS_DIRECTORY_H

#include "store/objects/object_store.h"

extern const struct object_backend directory_backend;

#endif
