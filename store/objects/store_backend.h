/*
 * store_backend - what a place to keep records must be able to do.
 *
 * One table of functions for each backend, in store/backends/. A backend moves bytes; what they mean
 * (hashes, equal or different, replay) is decided once, in store.c, so that every backend behaves the
 * same. Keys reach a backend checked. Functions may be called by several threads at once.
 */
#ifndef STORE_OBJECTS_STORE_BACKEND_H
#define STORE_OBJECTS_STORE_BACKEND_H

#include "common/base/error.h"
#include "common/base/file.h"
#include "store/objects/store.h"
#include "store/objects/stored_bytes.h"

#include <stdbool.h>
#include <stddef.h>

/* A record to be written is a list of pieces, put down one after the other. */
struct store_piece {
    const void *data;
    size_t size;
};

struct store_backend {
    const char *scheme; /* "dir" of "dir:PATH" */

    /* Opens `place`, what stands behind the scheme. With `make` it is made when missing. The state is
     * handed to every function below and ends with close(). */
    enum error_code (*open)(const char *place, bool make, void **state, struct error *err);
    void (*close)(void *state);
    /* The local folder, or NULL. Borrowed until close. */
    const char *(*root)(const void *state);

    /* Puts a record that is not there yet, whole or not at all, also against other processes and a kill
     * at any moment. *existed: one of that key is there already; it is unchanged. */
    enum error_code (*put)(void *state, const char *key, const struct store_piece *piece,
                           size_t piece_count, enum store_durability durability, bool *existed,
                           struct error *err);
    /* Makes sure that a record which is there survives a power cut. */
    enum error_code (*flush)(void *state, const char *key, struct error *err);
    /* All bytes of a record; release with stored_bytes_release(). Fails: ERROR_NOT_FOUND. */
    enum error_code (*get)(void *state, const char *key, struct stored_bytes *out,
                           struct error *err);
    /* Removes a record if its bytes are still `seen`; else leaves whatever is there. */
    enum error_code (*discard)(void *state, const char *key, const struct stored_bytes *seen,
                               struct error *err);

    /* As the functions of store.h. A switch lies apart from records: list does not show it. */
    enum error_code (*has)(void *state, const char *key, bool *found, struct error *err);
    enum error_code (*remove)(void *state, const char *key, struct error *err);
    enum error_code (*list)(void *state, const char *prefix, store_visitor visit, void *context,
                            struct error *err);
    enum error_code (*scratch)(void *state, char path[FILE_PATH_SIZE], struct error *err);
    enum error_code (*publish)(void *state, const char *path, const char *key, struct error *err);
    enum error_code (*artifact)(void *state, const char *key, char path[FILE_PATH_SIZE],
                                struct error *err);
    enum error_code (*sweep)(void *state, struct error *err);
    /* NULL, for each of these: there is nothing to gain. */
    void (*send)(void *state);
    void (*prepare)(void *state);
    void (*let_go)(void *state, const char *key);
    /* `text` is the whole of a switch, one line with its checksum (store/objects/switch_text.h), under 8 KiB. */
    enum error_code (*switch_set)(void *state, const char *key, const char *text,
                                  struct error *err);
    /* Fails: ERROR_NOT_FOUND; ERROR_CORRUPT for what is no text of that size. */
    enum error_code (*switch_get)(void *state, const char *key, char *text, size_t size,
                                  struct error *err);
    enum error_code (*switch_remove)(void *state, const char *key, struct error *err);
    enum error_code (*switch_list)(void *state, store_visitor visit, void *context,
                                   struct error *err);
};

/* store_open() on a backend that no scheme names: tests have some of their own. */
MUST_CHECK enum error_code store_open_on(const struct store_backend *backend, const char *place,
                                         unsigned flags, struct store **out, struct error *err);

#endif
