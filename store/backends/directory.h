/*
 * directory - a store in a folder on local or shared storage: "dir:PATH", the default.
 *
 *   PATH/<key>.record       a record
 *   PATH/<key>              an artifact: a file, or a folder that holds an empty file ".artifact"
 *   PATH/switch/<key>       a switch
 *   PATH/tmp/<host>-<pid>-<n>  what a live process writes: a scratch folder, or one file
 *
 * Nothing is ever written under its final name. A record is written to tmp/, then link()ed to its name:
 * the first one wins, whoever else writes it, and a kill leaves the whole record or none. Folders cannot
 * be linked; rename() refuses a name where a folder with something in it stands, which is the same rule.
 * Folders that become empty are removed, so a writer makes its folders again when they vanish between
 * its mkdir and its link.
 */
#ifndef STORE_BACKENDS_DIRECTORY_H
#define STORE_BACKENDS_DIRECTORY_H

#include "store/store_backend.h"

extern const struct store_backend directory_backend;

#endif
