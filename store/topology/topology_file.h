/*
 * topology_file - the LMDB file that holds the arrays of a part; topology.h says what is in it.
 *
 * It knows files and arrays, and neither seals nor the store: whoever opens one has hashed it, and whoever writes one
 * publishes it. LMDB's own complaints are troubles of the host, therefore.
 */
#ifndef STORE_TOPOLOGY_TOPOLOGY_FILE_H
#define STORE_TOPOLOGY_TOPOLOGY_FILE_H

#include "common/base/error.h"
#include "store/topology/topology_array.h"

struct MDB_env;
struct MDB_txn;

/* The transaction stays open as long as pointers into the map are used. */
struct topology_file { /* {0} is closed */
    struct MDB_env *environment;
    struct MDB_txn *transaction;
    unsigned database;
};

/* Writes a new file. Equal arrays give equal bytes. Fails: ERROR_NO_SPACE; ERROR_NO_MEMORY; ERROR_IO. */
MUST_CHECK enum error_code topology_file_write(const char *path, const struct topology_array *array,
                                               int array_count, struct error *err);

/* Maps a file that is there to be read. Fails: ERROR_IO; ERROR_NO_MEMORY; *out may be closed all the same. */
MUST_CHECK enum error_code topology_file_open(const char *path, struct topology_file *out,
                                              struct error *err);
void topology_file_close(struct topology_file *file);
/* The addresses of an array's chunks in the map: `out` is the address of the pointer to them, which the caller
 * frees. Fails: ERROR_CORRUPT for one that is not there in its size; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code topology_file_chunks(const struct topology_file *file,
                                                const struct topology_array *array, void *out,
                                                struct error *err);

#endif
