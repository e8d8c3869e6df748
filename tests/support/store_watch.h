/*
 * store_watch - a store that says how many of its reads were under way at once.
 *
 * A backend in front of another one. Reads are ranges of artifacts and records; those of one get_many() are under way
 * together. To be sure that reads which may meet do, each can be held until others are there. One such store at a time.
 */
#ifndef TESTS_SUPPORT_STORE_WATCH_H
#define TESTS_SUPPORT_STORE_WATCH_H

#include "store/objects/object_store.h"

/* Opens `place` of the backend `inner`. Close with store_close(). Aborts when that fails. */
struct store *store_watch_open(const struct object_backend *inner, const char *place);
/* Counts anew. Until `together` reads were under way at once each is held, for 10 s at most. */
void store_watch_begin(int together);
/* Since store_watch_begin(): reads, calls that made them, and the most that were under way at once. */
struct store_watch_count {
    int reads, calls, most;
};
struct store_watch_count store_watch_end(void);

#endif
