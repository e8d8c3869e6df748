/*
 * row_database - rows of one size by id, in a private RocksDB of this process that may be written: the working copy of a
 * learnable embedding that does not fit into memory.
 *
 * It lies in scratch and holds nothing that is worth keeping: what dies with it is put together again from records
 * (embedding_table.h). So there is no log, and nothing is flushed. Memory is bounded: half of `budget_bytes` are blocks
 * that were read, with indexes and filters among them, a quarter rows that were written and are not in a table yet.
 *
 * Threads: reads may run side by side; a write alone.
 */
#ifndef STORE_FEATURES_ROW_DATABASE_H
#define STORE_FEATURES_ROW_DATABASE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct row_database;

/* A new one in the folder `path`, which is not there yet. Fails: ERROR_IO, ERROR_NO_SPACE, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code row_database_new(const char *path, size_t row_bytes,
                                            uint64_t budget_bytes, struct row_database **out,
                                            struct error *err);
void row_database_close(struct row_database *database); /* NULL is fine */

enum { ROW_DATABASE_BATCH = 256 };

/* Rows of id [count], at most ROW_DATABASE_BATCH; quickest where they ascend. Row i goes to out + i * stride bytes, and
 * found[i] says whether there is one; else nothing is written there. */
MUST_CHECK enum error_code row_database_get(const struct row_database *database, const uint32_t *id,
                                            size_t count, char *out, size_t stride, bool *found,
                                            struct error *err);
/* Rows of id [count], distinct: row i is at row + i * row_bytes. */
MUST_CHECK enum error_code row_database_put(struct row_database *database, const uint32_t *id,
                                            size_t count, const char *row, struct error *err);

/* Calls `visit` with the rows of first .. end - 1 that there are, ascending; `row` is borrowed, at any address. */
typedef enum error_code (*row_visitor)(void *context, uint32_t id, const char *row,
                                       struct error *err);
MUST_CHECK enum error_code row_database_scan(const struct row_database *database, uint32_t first,
                                             uint32_t end, row_visitor visit, void *context,
                                             struct error *err);

#endif
