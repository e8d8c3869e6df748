/*
 * topology_file - the LMDB file that holds the arrays of a part; topology.h describes its content.
 *
 * It handles files and arrays, not seals or the store: the caller hashes a file before opening it,
 * and publishes a file that was written. Errors of LMDB therefore count as faults of the host.
 */
#ifndef STORE_TOPOLOGY_TOPOLOGY_FILE_H
#define STORE_TOPOLOGY_TOPOLOGY_FILE_H

#include "common/base/error.h"
#include "store/topology/topology_array.h"

struct MDB_env;
struct MDB_txn;

/* An open file. The transaction stays open as long as pointers into the map are used. */
struct topology_file { /* {0} is closed */
    struct MDB_env *environment;
    struct MDB_txn *transaction;
    unsigned database;
};

/* Writes a new file. Equal arrays give equal bytes. Fails: ERROR_NO_SPACE; ERROR_NO_MEMORY;
 * ERROR_IO. */
MUST_CHECK enum error_code topology_file_write(const char *path, const struct topology_array *array,
                                               int array_count, struct error *err);

/* Maps an existing file for reading. Fails: ERROR_IO; ERROR_NO_MEMORY; *out may be closed in any
 * case. */
MUST_CHECK enum error_code topology_file_open(const char *path, struct topology_file *out,
                                              struct error *err);
void topology_file_close(struct topology_file *file);
/* Allocates a list of the addresses of an array's chunks in the map. `out` is the address of the
 * pointer to that list, which the caller frees. Fails: ERROR_CORRUPT for an array that is missing
 * or has another size; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code topology_file_chunks(const struct topology_file *file,
                                                const struct topology_array *array, void *out,
                                                struct error *err);

#endif
