/*
 * row_file - rows of one size by number, in a private file that this process writes: the working
 * copy of a learnable embedding that does not fit into memory.
 *
 *   row i   bytes i * row_bytes .. (i + 1) * row_bytes - 1 of the file
 *
 * The file is in scratch and need not survive: after a crash it is built again from records
 * (embedding_table.h). So there is no log, and nothing is flushed. Rows are changed in place, so a
 * round writes only what it changed. The file is sparse: a row that was never stored takes no disk
 * space, unless it shares a page with one that was. The page cache keeps rows that are used again
 * soon, and the system reclaims it when it needs memory. This process holds one bit for each row.
 *
 * RocksDB holds the rows of features, which are sealed once and read by many and need its order and
 * checksums. It is not used here: with rows that change each round, a read was a search through its
 * tables, an allocation and two copies, and each compaction wrote the updates again, for a log and
 * an order that nothing needs.
 *
 * Threads: several may read at once, and several may write at once; only one may mark.
 */
#ifndef STORE_FEATURES_ROW_FILE_H
#define STORE_FEATURES_ROW_FILE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct row_file;

/* Makes a file at `path`, which must not exist, without rows. Fails: ERROR_IO, ERROR_NO_SPACE,
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code row_file_new(const char *path, size_t row_bytes, uint32_t row_count,
                                        struct row_file **out, struct error *err);
void row_file_close(struct row_file *file); /* NULL is allowed; the file stays */

/* Reads rows id [count]; fastest if ids ascend. Row i goes to out + i * stride bytes, and found[i]
 * says whether it was stored; if not, nothing is written there. Fails: ERROR_IO. */
MUST_CHECK enum error_code row_file_get(const struct row_file *file, const uint32_t *id,
                                        size_t count, char *out, size_t stride, bool *found,
                                        struct error *err);
/* Writes rows id [count], which are distinct, from row + i * row_bytes. They count as stored after
 * row_file_mark(). Threads: any number, with different rows. Fails: ERROR_IO, ERROR_NO_SPACE. */
MUST_CHECK enum error_code row_file_put(const struct row_file *file, const uint32_t *id,
                                        size_t count, const char *row, struct error *err);
void row_file_mark(struct row_file *file, const uint32_t *id, size_t count);

/* Calls `visit` with the stored rows among first .. end - 1, ascending. `row` is borrowed and may
 * be unaligned. */
typedef enum error_code (*row_visitor)(void *context, uint32_t id, const char *row,
                                       struct error *err);
MUST_CHECK enum error_code row_file_scan(const struct row_file *file, uint32_t first, uint32_t end,
                                         row_visitor visit, void *context, struct error *err);

#endif
