/*
 * store_watch - a store that counts how many of its reads were in progress at once.
 *
 * It is a backend in front of another one. Reads are ranges of artifacts and records; those of one
 * get_many() are in progress together. To make sure that reads which may overlap do, each can be
 * held until others have begun. There is one such store at a time.
 */
#ifndef TESTS_SUPPORT_STORE_WATCH_H
#define TESTS_SUPPORT_STORE_WATCH_H

#include "store/objects/object_store.h"

/* Opens `place` of the backend `inner`. Close with store_close(). Aborts when that fails. */
struct store *store_watch_open(const struct object_backend *inner, const char *place);
/* Restarts the counts. Until `together` reads were in progress at once, each is held, for 10 s at
 * most. */
void store_watch_begin(int together);
/* Returns the counts since store_watch_begin(): reads, calls that made them, and the most that were
 * in progress at once. */
struct store_watch_count {
    int reads, calls, most;
};
struct store_watch_count store_watch_end(void);

#endif
