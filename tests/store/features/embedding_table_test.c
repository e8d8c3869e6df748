/* Tests that rows in memory and rows in a file have the same bits, whatever is done with them. */
#include "common/base/memory.h"
#include "store/features/embedding_table.h"

#include "tests/support/temp_store.h"
#include "tests/support/test.h"

enum {
    NODES = 5000,
    ALL_TWICE = 2 * NODES,
    WIDTH = 5,
    SEED = 11,
    IN_MEMORY = 1 << 20,
    ON_DISK = 64 << 10,
    MOST = 700
};

static struct embedding_table *open_table(struct temp_store *p, enum sparse_rule rule,
                                          uint64_t budget, struct thread_pool *pool)
{
    const struct embedding_table_config config = {.store = p->store,
                                                  .node_count = NODES,
                                                  .width = WIDTH,
                                                  .rule = rule,
                                                  .seed = SEED,
                                                  .budget_bytes = budget,
                                                  .pool = pool};
    struct embedding_table *table = NULL;
    assert_ok(embedding_table_open(&config, &table, &p->err), &p->err);
    assert_int_equal(embedding_table_is_resident(table), budget == IN_MEMORY);
    assert_true(embedding_table_bytes(table) <= budget);
    return table;
}

struct made_rows {
    struct embedding_rows rows;
    uint32_t node[MOST], updates[MOST];
    float value[MOST * WIDTH], first[MOST * WIDTH], second[MOST * WIDTH];
};

/* Makes rows of every `step`-th node from `from` on; the numbers depend on the round. */
static const struct embedding_rows *make_rows(struct made_rows *made, uint32_t from, uint32_t step,
                                              float round)
{
    uint64_t count = 0;
    for (uint32_t v = from; v < NODES && count < MOST; v += step, count++) {
        made->node[count] = v;
        made->updates[count] = (uint32_t)round + v;
        for (uint32_t i = 0; i < WIDTH; i++) {
            made->value[count * WIDTH + i] = (float)v + round / 8 + (float)i / 64;
            made->first[count * WIDTH + i] = -(float)v - round;
            made->second[count * WIDTH + i] = (float)v * round;
        }
    }
    made->rows = (struct embedding_rows){.width = WIDTH,
                                         .count = count,
                                         .node = made->node,
                                         .value = made->value,
                                         .first = made->first,
                                         .second = made->second,
                                         .updates = made->updates};
    return &made->rows;
}

/* Reads all values, in another order than that of the rows, and twice. */
static float *all_values(struct temp_store *p, const struct embedding_table *table,
                         struct thread_pool *pool)
{
    uint32_t *node = memory_alloc(ALL_TWICE, sizeof *node);
    float *value = memory_alloc((size_t)ALL_TWICE * WIDTH, sizeof *value);
    for (uint32_t i = 0; i < ALL_TWICE; i++)
        node[i] = (i * 1999) % NODES;
    assert_ok(embedding_table_values(table, node, ALL_TWICE, value, WIDTH, pool, &p->err), &p->err);
    memory_free(node);
    return value;
}

/* A change of every third node from the first on: all numbers of a row change, depending on its
 * position. */
struct changed {
    const uint32_t *node;
    size_t size;
    bool fails;
};

static enum error_code change_row(void *context, size_t i, float *row, int thread,
                                  struct error *err)
{
    const struct changed *changed = context;
    (void)thread;
    for (size_t c = 0; c < changed->size; c++)
        row[c] = row[c] / 2 + (float)(changed->node[i] + c);
    return changed->fails && i == 300 ? error_set(err, ERROR_INPUT, "row 300") : ERROR_NONE;
}

static enum error_code change_some(struct embedding_table *table, bool fails, struct error *err)
{
    uint32_t *node = memory_alloc(NODES, sizeof *node);
    size_t count = 0;
    for (uint32_t v = 0; v < NODES; v += 3)
        node[count++] = v;
    struct changed changed = {node, embedding_table_row_size(table), fails};
    const struct embedding_change change = {change_row, &changed};
    const enum error_code rc = embedding_table_change(table, node, count, &change, err);
    memory_free(node);
    return rc;
}

struct seen {
    uint32_t count, last;
    size_t size; /* numbers in a row */
    double sum;
};

static enum error_code see(void *context, uint32_t node, const float *row, struct error *err)
{
    struct seen *seen = context;
    (void)err;
    assert_true(seen->count == 0 || node > seen->last);
    seen->last = node;
    seen->count++;
    for (size_t i = 0; i < seen->size; i++)
        seen->sum += (double)row[i] / (double)(i + 1);
    return ERROR_NONE;
}

static enum error_code see_updates(void *context, uint32_t node, const float *row,
                                   struct error *err)
{
    (void)node, (void)err;
    memcpy(context, row + (size_t)3 * WIDTH, sizeof(uint32_t));
    return ERROR_NONE;
}

static void apply_some(struct temp_store *p, struct embedding_table *table)
{
    struct made_rows *made = memory_alloc(1, sizeof *made);
    assert_ok(embedding_table_apply(table, make_rows(made, 3, 7, 1), &p->err), &p->err);
    assert_ok(embedding_table_apply(table, make_rows(made, 1, 11, 2), &p->err), &p->err);
    assert_ok(embedding_table_apply(table, make_rows(made, 0, NODES, 3), &p->err), &p->err);
    memory_free(made);
}

static void rows_on_disk_have_the_bits_of_those_in_memory(void **state)
{
    struct temp_store *p = *state;
    struct thread_pool *pool = NULL;
    assert_ok(thread_pool_new(3, &pool, &p->err), &p->err);
    for (enum sparse_rule rule = 0; rule < SPARSE_RULE_COUNT; rule++) {
        struct embedding_table *memory = open_table(p, rule, IN_MEMORY, NULL),
                               *disk = open_table(p, rule, ON_DISK, pool);
        for (int filled = 0; filled < 3; filled++) {
            float *one = all_values(p, memory, NULL), *other = all_values(p, disk, pool);
            assert_memory_equal(one, other, (size_t)ALL_TWICE * WIDTH * sizeof *one);
            memory_free(one);
            memory_free(other);
            apply_some(p, memory);
            apply_some(p, disk);
            assert_ok(change_some(memory, false, &p->err), &p->err);
            assert_ok(change_some(disk, false, &p->err), &p->err);
        }
        struct seen in_memory = {.size = embedding_table_row_size(memory)}, on_disk = in_memory;
        assert_ok(embedding_table_scan(memory, 100, 3000, see, &in_memory, &p->err), &p->err);
        assert_ok(embedding_table_scan(disk, 100, 3000, see, &on_disk, &p->err), &p->err);
        assert_int_equal(in_memory.count, on_disk.count);
        assert_true(in_memory.count > 600 && in_memory.sum == on_disk.sum);
        embedding_table_close(memory);
        embedding_table_close(disk);
    }
    thread_pool_free(pool);
}

static void a_row_is_what_was_stored_last_or_its_first_values(void **state)
{
    struct temp_store *p = *state;
    const uint64_t budgets[] = {IN_MEMORY, ON_DISK};
    for (int b = 0; b < 2; b++) {
        struct embedding_table *table = open_table(p, SPARSE_ADAM, budgets[b], NULL);
        float first[WIDTH], found[2 * 8];
        const uint32_t node[2] = {10, 2}; /* 3 + 7 was stored, 2 was not */
        uint32_t updates = 0;
        apply_some(p, table);
        assert_ok(embedding_table_values(table, node, 2, found, 8, NULL, &p->err), &p->err);
        sparse_first_values(SEED, 0, 2, WIDTH, first);
        assert_memory_equal(found + 8, first, sizeof first);
        assert_true(found[0] == 10.125F && found[4] == 10.125F + 4.0F / 64);
        struct seen one = {.size = (size_t)3 * WIDTH};
        assert_ok(embedding_table_scan(table, 10, 11, see, &one, &p->err), &p->err);
        assert_ok(embedding_table_scan(table, 10, 11, see_updates, &updates, &p->err), &p->err);
        assert_true(one.count == 1 && updates == 11);
        assert_fails(change_some(table, true, &p->err), ERROR_INPUT, "row 300", &p->err);
        assert_ok(embedding_table_clear(table, &p->err), &p->err);
        assert_ok(embedding_table_values(table, node + 1, 1, found, 8, NULL, &p->err), &p->err);
        assert_memory_equal(found, first, sizeof first);
        struct seen seen = {0};
        assert_ok(embedding_table_scan(table, 0, NODES, see, &seen, &p->err), &p->err);
        assert_int_equal(seen.count, 0);
        embedding_table_close(table);
    }
}

static void rows_where_they_are_have_the_bits_of_their_copies(void **state)
{
    struct temp_store *p = *state;
    struct thread_pool *pool = NULL;
    size_t stride = 0;
    uint32_t *node = memory_alloc(ALL_TWICE, sizeof *node);
    for (uint32_t i = 0; i < ALL_TWICE; i++)
        node[i] = (i * 1999) % NODES;
    assert_ok(thread_pool_new(3, &pool, &p->err), &p->err);
    struct embedding_table *table = open_table(p, SPARSE_ADAM, IN_MEMORY, pool),
                           *other = open_table(p, SPARSE_ADAM, ON_DISK, pool);
    assert_null(embedding_table_rows(other, node, ALL_TWICE, &stride, pool));
    for (int filled = 0; filled < 3; filled++) {
        const float *row = embedding_table_rows(table, node, ALL_TWICE, &stride, pool);
        float *copy = all_values(p, other, pool);
        assert_int_equal(stride, embedding_table_row_size(table));
        for (uint32_t i = 0; i < ALL_TWICE; i++)
            assert_memory_equal(row + node[i] * stride, copy + (size_t)i * WIDTH,
                                WIDTH * sizeof *row);
        memory_free(copy);
        struct seen seen = {0}, stored = {0}; /* reading a row does not store it */
        assert_ok(embedding_table_scan(table, 0, NODES, see, &seen, &p->err), &p->err);
        assert_ok(embedding_table_scan(other, 0, NODES, see, &stored, &p->err), &p->err);
        assert_int_equal(seen.count, stored.count);
        assert_ok(change_some(table, false, &p->err), &p->err);
        assert_ok(change_some(other, false, &p->err), &p->err);
        if (filled == 1) {
            assert_ok(embedding_table_clear(table, &p->err), &p->err);
            assert_ok(embedding_table_clear(other, &p->err), &p->err);
        }
    }
    embedding_table_close(table);
    embedding_table_close(other);
    thread_pool_free(pool);
    memory_free(node);
}

static void rows_of_another_table_are_corrupt(void **state)
{
    struct temp_store *p = *state;
    struct made_rows *made = memory_alloc(1, sizeof *made);
    struct embedding_table *table = open_table(p, SPARSE_ADAM, ON_DISK, NULL);
    struct embedding_rows rows = *make_rows(made, 3, 7, 1);
    rows.width = WIDTH - 1;
    assert_fails(embedding_table_apply(table, &rows, &p->err), ERROR_CORRUPT,
                 "rows of 4 values, expected 5", &p->err);
    rows = *make_rows(made, 3, 7, 1);
    made->node[rows.count - 1] = NODES;
    assert_fails(embedding_table_apply(table, &rows, &p->err), ERROR_CORRUPT,
                 "node 5000, expected below 5000", &p->err);
    rows = *make_rows(made, 3, 7, 1);
    rows.second = NULL;
    assert_fails(embedding_table_apply(table, &rows, &p->err), ERROR_CORRUPT, "optimizer state",
                 &p->err);
    embedding_table_close(table);
    memory_free(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(rows_on_disk_have_the_bits_of_those_in_memory),
        test_with_store(a_row_is_what_was_stored_last_or_its_first_values),
        test_with_store(rows_where_they_are_have_the_bits_of_their_copies),
        test_with_store(rows_of_another_table_are_corrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
