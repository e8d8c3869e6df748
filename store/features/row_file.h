/*
 * row_file - rows of one size by number, in a private file of this process that may be written: the working copy of a
 * learnable embedding that does not fit into memory.
 *
 *   row i   bytes i * row_bytes .. (i + 1) * row_bytes - 1 of the file
 *
 * It lies in scratch and holds nothing that is worth keeping: what dies with it is put together again from records
 * (embedding_table.h). So there is no log, and nothing is flushed. Rows are changed where they stand, so a round writes what
 * it changed and nothing else; the file is sparse, and a row that was never stored takes no disk but for its neighbours in a
 * page. What is read and written soon again lies in the page cache, which the system takes back when it wants memory. This
 * process holds a bit for each row.
 *
 * Not RocksDB, which has the rows of features: sealed once and read by many, these want its order and its checksums. Rows that
 * each round changes were in it at first; a read was then a search through its tables, an allocation and two copies, and an
 * update was written again by every compaction, for a log and an order that nobody asks for here.
 *
 * Threads: reads may run side by side, and so may writes; marking alone.
 */
#ifndef STORE_FEATURES_ROW_FILE_H
#define STORE_FEATURES_ROW_FILE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct row_file;

/* A new one at `path`, of which nothing is there yet, without rows. Fails: ERROR_IO, ERROR_NO_SPACE, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code row_file_new(const char *path, size_t row_bytes, uint32_t row_count,
                                        struct row_file **out, struct error *err);
void row_file_close(struct row_file *file); /* NULL is fine; the file stays */

/* Rows id [count]; quickest where they ascend. Row i goes to out + i * stride bytes, and found[i] says whether there is one;
 * else nothing is written there. Fails: ERROR_IO. */
MUST_CHECK enum error_code row_file_get(const struct row_file *file, const uint32_t *id,
                                        size_t count, char *out, size_t stride, bool *found,
                                        struct error *err);
/* Rows id [count], distinct: row i is at row + i * row_bytes. They are there once row_file_mark() says so. Threads: any
 * number, of other rows each. Fails: ERROR_IO, ERROR_NO_SPACE. */
MUST_CHECK enum error_code row_file_put(const struct row_file *file, const uint32_t *id,
                                        size_t count, const char *row, struct error *err);
void row_file_mark(struct row_file *file, const uint32_t *id, size_t count);

/* Calls `visit` with the rows of first .. end - 1 that there are, ascending; `row` is borrowed, at any address. */
typedef enum error_code (*row_visitor)(void *context, uint32_t id, const char *row,
                                       struct error *err);
MUST_CHECK enum error_code row_file_scan(const struct row_file *file, uint32_t first, uint32_t end,
                                         row_visitor visit, void *context, struct error *err);

#endif
