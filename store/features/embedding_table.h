/*
 * embedding_table - the rows of a learnable embedding as this process works with them: in memory when they fit the budget,
 * else in a file of its own (row_file.h). Which of the two changes no bit.
 *
 *   row   value [width] | first [width] | second [width] | updates [1]     floats; what the rule does not keep is left out
 *
 * A row that nobody stored has its first values (common/nn/sparse_optimizer.h), zeros for the rest, and takes no room on
 * disk. A reader that wants values alone keeps no optimizer state: `rule` SPARSE_SGD.
 *
 * What version the rows are of is the caller's to know (stages/plan/embedding_state.h).
 */
#ifndef STORE_FEATURES_EMBEDDING_TABLE_H
#define STORE_FEATURES_EMBEDDING_TABLE_H

#include "common/base/error.h"
#include "common/nn/sparse_optimizer.h"
#include "common/parallel/thread_pool.h"
#include "store/objects/store.h"
#include "store/records/embedding_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct embedding_table;

struct embedding_table_config {
    struct store *store; /* whose scratch it may lie in; borrowed */
    uint32_t node_count; /* rows: one for each node of the type */
    uint32_t width;
    enum sparse_rule rule; /* what is kept beside the values */
    uint64_t seed;
    uint32_t type; /* of nodes, for first values */
    uint64_t budget_bytes;
    struct thread_pool *pool; /* what changes rows; NULL: the calling thread */
};

/* Every row has its first values. Fails: ERROR_NO_MEMORY; ERROR_IO; ERROR_NO_SPACE. */
MUST_CHECK enum error_code embedding_table_open(const struct embedding_table_config *config,
                                                struct embedding_table **out, struct error *err);
void embedding_table_close(struct embedding_table *table); /* NULL is fine */
/* What a table that holds all rows takes; `config` needs neither store nor budget. One with that budget is in memory. */
uint64_t embedding_table_resident_bytes(const struct embedding_table_config *config);
bool embedding_table_is_resident(const struct embedding_table *table);
/* What it takes of memory, whatever it does. */
uint64_t embedding_table_bytes(const struct embedding_table *table);
/* Floats of a row. */
size_t embedding_table_row_size(const struct embedding_table *table);

/* The values of node [count], in any order: row i to out + i * stride [width]. On all threads of `pool`. */
MUST_CHECK enum error_code embedding_table_values(const struct embedding_table *table,
                                                  const uint32_t *node, size_t count, float *out,
                                                  size_t stride, struct thread_pool *pool,
                                                  struct error *err);
/* The same where they are, of a table in memory, until rows are changed or stored: row of node n from element n * *stride of the
 * answer on, with *stride the row size. Nodes may stand several times. NULL: it is not in memory. */
const float *embedding_table_rows(struct embedding_table *table, const uint32_t *node, size_t count,
                                  size_t *stride, struct thread_pool *pool);
/* Changes the rows node [count], ascending: `change` is called with each of them, in place, on all threads side by side, and
 * they are stored. After a failure, which may be its own, the table has rows of both kinds. Fails: ERROR_IO; ERROR_NO_SPACE. */
struct embedding_change {
    enum error_code (*row)(void *context, size_t i, float *row, int thread, struct error *err);
    void *context;
};
MUST_CHECK enum error_code embedding_table_change(struct embedding_table *table,
                                                  const uint32_t *node, size_t count,
                                                  const struct embedding_change *change,
                                                  struct error *err);
/* Stores the rows of a record, as far as the table keeps what they have. Fails: ERROR_CORRUPT when width, nodes or
 * optimizer state are not the table's; ERROR_IO; ERROR_NO_SPACE. */
MUST_CHECK enum error_code embedding_table_apply(struct embedding_table *table,
                                                 const struct embedding_rows *rows,
                                                 struct error *err);
/* Calls `visit` with the stored rows of the nodes first .. end - 1, ascending; `row` [row size] is borrowed. */
typedef enum error_code (*embedding_visitor)(void *context, uint32_t node, const float *row,
                                             struct error *err);
MUST_CHECK enum error_code embedding_table_scan(const struct embedding_table *table, uint32_t first,
                                                uint32_t end, embedding_visitor visit,
                                                void *context, struct error *err);
/* Every row has its first values again. */
MUST_CHECK enum error_code embedding_table_clear(struct embedding_table *table, struct error *err);

#endif
