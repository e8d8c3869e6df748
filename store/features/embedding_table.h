/*
 * embedding_table - the rows of a learnable embedding that this process works with: in memory if
 * they fit the budget, else in a file of its own (row_file.h). The choice changes no bit.
 *
 *   row   value [width] | first [width] | second [width] | updates [1]     floats
 *
 * first, second and updates are the state of the optimizer; a part that the rule does not need is
 * left out. A row that was never stored has its initial values (common/nn/sparse_optimizer.h),
 * zeros for the rest, and takes no disk space. A reader that wants only values passes `rule`
 * SPARSE_SGD, which keeps no optimizer state.
 *
 * The caller has to know which version the rows have (stages/plan/embedding_state.h).
 */
#ifndef STORE_FEATURES_EMBEDDING_TABLE_H
#define STORE_FEATURES_EMBEDDING_TABLE_H

#include "common/base/error.h"
#include "common/nn/sparse_optimizer.h"
#include "common/parallel/thread_pool.h"
#include "store/objects/store.h"
#include "store/records/round/embedding_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct embedding_table;

struct embedding_table_config {
    struct store *store; /* its scratch may hold the file; borrowed */
    uint32_t node_count; /* one row for each node of the type */
    uint32_t width;
    enum sparse_rule rule; /* decides the optimizer state of a row */
    uint64_t seed;
    uint32_t type; /* node type, which the initial values depend on */
    uint64_t budget_bytes;
    struct thread_pool *pool; /* threads that change rows; NULL: the calling thread */
};

/* Opens a table in which every row has its initial values. Fails: ERROR_NO_MEMORY; ERROR_IO;
 * ERROR_NO_SPACE. */
MUST_CHECK enum error_code embedding_table_open(const struct embedding_table_config *config,
                                                struct embedding_table **out, struct error *err);
void embedding_table_close(struct embedding_table *table); /* NULL is fine */
/* Returns the bytes of a table with all rows in memory; a budget of that size keeps it there.
 * `config` needs neither store nor budget. */
uint64_t embedding_table_resident_bytes(const struct embedding_table_config *config);
bool embedding_table_is_resident(const struct embedding_table *table);
/* Returns how many bytes of memory the table uses at most. */
uint64_t embedding_table_bytes(const struct embedding_table *table);
/* Returns the number of floats in a row. */
size_t embedding_table_row_size(const struct embedding_table *table);

/* Copies the values of node [count], in any order: row i goes to out + i * stride [width]. Uses all
 * threads of `pool`. */
MUST_CHECK enum error_code embedding_table_values(const struct embedding_table *table,
                                                  const uint32_t *node, size_t count, float *out,
                                                  size_t stride, struct thread_pool *pool,
                                                  struct error *err);
/* Returns the rows themselves of a table in memory, valid until rows are changed or stored: the row
 * of node n begins at element n * *stride, where *stride is the row size. Nodes may repeat. Returns
 * NULL if the table is not in memory. */
const float *embedding_table_rows(struct embedding_table *table, const uint32_t *node, size_t count,
                                  size_t *stride, struct thread_pool *pool);
/* Changes the rows of node [count], ascending, and stores them: calls `change` with each row in
 * place, on all threads at once. After a failure, which may come from `change`, some rows are
 * changed and some are not. Fails: ERROR_IO; ERROR_NO_SPACE. */
struct embedding_change {
    enum error_code (*row)(void *context, size_t i, float *row, int thread, struct error *err);
    void *context;
};
MUST_CHECK enum error_code embedding_table_change(struct embedding_table *table,
                                                  const uint32_t *node, size_t count,
                                                  const struct embedding_change *change,
                                                  struct error *err);
/* Stores the rows of a record, without the optimizer state that the table does not keep. Fails:
 * ERROR_CORRUPT when width, nodes or optimizer state do not match the table's; ERROR_IO;
 * ERROR_NO_SPACE. */
MUST_CHECK enum error_code embedding_table_apply(struct embedding_table *table,
                                                 const struct embedding_rows *rows,
                                                 struct error *err);
/* Calls `visit` with the stored rows of nodes first .. end - 1, ascending; `row` [row size] is
 * borrowed. */
typedef enum error_code (*embedding_visitor)(void *context, uint32_t node, const float *row,
                                             struct error *err);
MUST_CHECK enum error_code embedding_table_scan(const struct embedding_table *table, uint32_t first,
                                                uint32_t end, embedding_visitor visit,
                                                void *context, struct error *err);
/* Resets every row to its initial values. */
MUST_CHECK enum error_code embedding_table_clear(struct embedding_table *table, struct error *err);

#endif
