/*
 * Learnable rows, round after round, compared with the rule written out in double: by any worker,
 * from memory or from disk, after gradients were pruned, and again.
 */
#include "common/base/memory.h"
#include "stages/plan/run/run_binding.h"
#include "stages/train-step/rows/row_update.h"
#include "store/records/round/embedding_rows.h"
#include "store/records/round/gradient.h"

#include "tests/stages/small_run.h"

#include <math.h>

enum {
    NODES = 400,
    PARTS = 2,
    WIDTH = 6,
    ROUNDS = 6,
    MOST = NODES + 2,
    IN_MEMORY = 64 << 20,
    ON_DISK = 20 << 10
};

static const uint32_t parts[PARTS + 1] = {0, 150, NODES};
static const double rate = 0.05, venue_rate = 0.25;

/* Begins a run of 20 training nodes in batches of 6, 3 per round: two rounds per epoch, of three
 * slots and of one. */
static void begin(struct small_run *run, struct store *store, const char *rule)
{
    char optimizer[64];
    (void)snprintf(optimizer, sizeof optimizer, "aggregate.embedding_optimizer=%s", rule);
    const char *const settings[] = {"epochs=3",
                                    "sample.batch_size=6",
                                    "sample.batches_per_round=3",
                                    "train-step.embedding=6",
                                    "aggregate.embedding_rate=0.05",
                                    optimizer,
                                    NULL};
    small_run_init(run, store, 20, 0, settings);
    run->book.part_count = PARTS;
    run->book.node_count = NODES;
    run->book.book = parts;
    assert_ok(schedule_init(&run->schedule, &run->settings, 20, 0, PARTS, &run->err), &run->err);
    assert_int_equal(run->schedule.round_count, ROUNDS);
}

struct slot_rows {
    uint32_t node[MOST];
    float gradient[MOST * WIDTH];
    uint32_t count;
};

/* Chooses the rows that (round, slot) read: some twice in a round, many never. */
static void draw_rows(int64_t round, int32_t slot, struct slot_rows *out)
{
    out->count = 0;
    for (uint32_t v = 0; v < NODES; v++) {
        if ((v * 7 + (uint32_t)round * 3 + (uint32_t)slot) % 5 > 1 || v % 13 == 4)
            continue;
        for (uint32_t i = 0; i < WIDTH; i++)
            out->gradient[out->count * WIDTH + i] =
                sinf((float)(v + 1) * (float)(round + 2) + (float)slot + (float)i);
        out->node[out->count++] = v;
    }
}

static void put_gradients(struct small_run *run, int64_t round)
{
    struct slot_rows *rows = memory_alloc(1, sizeof *rows);
    for (int32_t slot = 0; slot < schedule_slot_count(&run->schedule, round); slot++) {
        float value[SMALL_VALUES];
        struct gradient gradient = small_run_gradient(run, round, slot, value);
        draw_rows(round, slot, rows);
        gradient.group_count = 1;
        gradient.group[0] = (struct gradient_rows){
            .width = WIDTH, .count = rows->count, .node = rows->node, .gradient = rows->gradient};
        assert_ok(gradient_put(run->store, SMALL_RUN_ID, round, slot, &gradient, NULL, &run->err),
                  &run->err);
    }
    memory_free(rows);
}

static struct embedding_state open_rows(struct small_run *run, uint64_t budget)
{
    struct embedding_state state;
    const struct embedding_state_config config = {
        .store = run->store,
        .run_id = SMALL_RUN_ID,
        .schedule = &run->schedule,
        .book = &run->book,
        .rule = (enum sparse_rule)run->settings.aggregate.embedding_optimizer,
        .budget_bytes = budget};
    assert_ok(embedding_state_open(&config, &state, &run->err), &run->err);
    return state;
}

static enum error_code advance(struct small_run *run, struct embedding_state *state,
                               int64_t version)
{
    struct arena arena = {0};
    const enum error_code rc =
        row_update_advance(&run->context, state, version, false, &arena, &run->err);
    arena_release(&arena);
    return rc;
}

static enum error_code seal(struct small_run *run, struct embedding_state *state, int64_t version,
                            int shard)
{
    struct arena arena = {0};
    const enum error_code rc =
        row_update_seal(&run->context, state, version, shard, &arena, &run->err);
    arena_release(&arena);
    return rc;
}

static void seal_all(struct small_run *run, struct embedding_state *state, int64_t version)
{
    for (int s = run->schedule.embedding_shards - 1; s >= 0; s--)
        assert_ok(seal(run, state, version, s), &run->err);
}

/* Computes all rounds, and writes seals at the snapshots. */
static void work_all(struct small_run *run)
{
    struct embedding_state state = open_rows(run, IN_MEMORY);
    for (int64_t round = 0; round < ROUNDS; round++) {
        put_gradients(run, round);
        assert_ok(advance(run, &state, round + 1), &run->err);
        if (schedule_has_snapshot(&run->schedule, round + 1))
            seal_all(run, &state, round + 1);
    }
    embedding_state_close(&state);
}

/* --- the rule, for all rows at once --- */

struct reference {
    double value[NODES][WIDTH], first[NODES][WIDTH], second[NODES][WIDTH];
    int updates[NODES];
};

static void reference_row(struct reference *r, enum sparse_rule rule, uint32_t v, const double *g)
{
    const int t = ++r->updates[v];
    for (int i = 0; i < WIDTH; i++) {
        double *m = &r->first[v][i], *s = &r->second[v][i];
        if (rule == SPARSE_SGD) {
            r->value[v][i] -= rate * g[i];
        } else if (rule == SPARSE_ADAGRAD) {
            *m += g[i] * g[i];
            r->value[v][i] -= rate * g[i] / (sqrt(*m) + 1e-10);
        } else {
            *m = 0.9 * *m + 0.1 * g[i];
            *s = 0.999 * *s + 0.001 * g[i] * g[i];
            r->value[v][i] -=
                rate * *m / (1 - pow(0.9, t)) / (sqrt(*s / (1 - pow(0.999, t))) + 1e-8);
        }
    }
}

static void reference_round(struct small_run *run, struct reference *r, enum sparse_rule rule,
                            int64_t round)
{
    static double sum[NODES][WIDTH];
    bool is_read[NODES] = {false};
    double seeds = 0;
    struct slot_rows *rows = memory_alloc(1, sizeof *rows);
    memset(sum, 0, sizeof sum);
    for (int32_t slot = 0; slot < schedule_slot_count(&run->schedule, round); slot++) {
        int64_t first = 0, count = 0;
        schedule_seed_range(&run->schedule, round, slot, &first, &count);
        draw_rows(round, slot, rows);
        seeds += (double)count;
        for (uint32_t k = 0; k < rows->count; k++) {
            is_read[rows->node[k]] = true;
            for (int i = 0; i < WIDTH; i++)
                sum[rows->node[k]][i] +=
                    (double)count * (double)rows->gradient[k * WIDTH + (uint32_t)i];
        }
    }
    for (uint32_t v = 0; v < NODES; v++) {
        for (int i = 0; i < WIDTH; i++)
            sum[v][i] /= seeds;
        if (is_read[v])
            reference_row(r, rule, v, sum[v]);
    }
    memory_free(rows);
}

static void check_seal(struct small_run *run, const struct reference *r, enum sparse_rule rule)
{
    for (int part = 0; part < PARTS; part++) {
        struct embedding_rows seal = {0};
        uint32_t expected = 0;
        assert_ok(embedding_rows_get(run->store, SMALL_RUN_ID, ROUNDS, part, &seal, &run->err),
                  &run->err);
        for (uint32_t v = parts[part]; v < parts[part + 1]; v++)
            expected += r->updates[v] > 0;
        assert_int_equal(seal.count, expected); /* rows that were never read are not in it */
        assert_true(expected < parts[part + 1] - parts[part]);
        for (uint64_t k = 0; k < seal.count; k++) {
            const uint32_t v = seal.node[k];
            assert_true(v >= parts[part] && v < parts[part + 1] && r->updates[v] > 0);
            if (rule == SPARSE_ADAM)
                assert_int_equal(seal.updates[k], r->updates[v]);
            for (uint64_t i = 0; i < WIDTH; i++)
                if (fabs((double)seal.value[k * WIDTH + i] - r->value[v][i]) > 1e-5)
                    fail_msg("node %u column %d is %.9g, expected %.9g", v, (int)i,
                             (double)seal.value[k * WIDTH + i], r->value[v][i]);
        }
        store_release_record(&seal.view);
    }
}

static void remove_record(struct small_run *run, struct key key)
{
    assert_ok(store_remove(run->store, key.text, &run->err), &run->err);
}

static void rounds_do_what_the_rule_says_to_all_rows(void **state)
{
    static const char *const names[] = {"adam", "adagrad", "sgd"};
    for (enum sparse_rule rule = 0; rule < SPARSE_RULE_COUNT; rule++) {
        struct temp_store *temp = *state;
        struct small_run run;
        struct reference *r = memory_alloc(1, sizeof *r);
        float first[WIDTH];
        begin(&run, temp->store, names[rule]);
        for (uint32_t v = 0; v < NODES; v++) {
            sparse_first_values(run.schedule.seed, 0, v, WIDTH, first);
            for (int i = 0; i < WIDTH; i++)
                r->value[v][i] = (double)first[i];
        }
        for (int64_t round = 0; round < ROUNDS; round++)
            reference_round(&run, r, rule, round);
        work_all(&run);
        check_seal(&run, r, rule);
        for (int64_t round = 0; round < ROUNDS; round++) {
            for (int32_t slot = 0; slot < schedule_slot_count(&run.schedule, round); slot++)
                remove_record(&run, key_gradient(SMALL_RUN_ID, round, slot));
            for (int part = 0; part < PARTS; part++)
                remove_record(&run, key_embedding_seal(SMALL_RUN_ID, round + 1, part));
        }
        memory_free(r);
    }
}

/* --- node types --- */

enum { TYPES = 3, PAPERS = 50, VENUES = 7, VENUE_WIDTH = 3, VENUE_SHARDS = 2 };

static const uint32_t typed_parts[PARTS + 1] = {0, 184, PAPERS + NODES + VENUES};
/* Papers have features. Authors, as many as the nodes above, and venues have learnable rows. */
static const uint32_t type_starts[PARTS * (TYPES + 1)] = {0, 30, 180, 184, 184, 204, 454, 457};
static const char type_names[TYPES][RELATION_NAME_SIZE] = {"paper", "author", "venue"};
static const uint32_t type_dims[TYPES] = {SMALL_FEATURES, 0, 0};
static const struct relation relations[] = {{"writes", 1, 0}};

static void begin_typed(struct small_run *run, struct store *store)
{
    static const char *const settings[] = {"ingest.relations=true",
                                           "train-step.type_embedding=venue: 3",
                                           "aggregate.type_embedding_rate=venue: 0.25",
                                           "aggregate.type_embedding_policy=venue: hash 2", NULL};
    begin(run, store, "sgd");
    for (const char *const *set = settings; *set; set++)
        assert_ok(pipeline_settings_override(&run->settings, *set, &run->err), &run->err);
    run->book.node_count = typed_parts[PARTS];
    run->book.book = typed_parts;
    run->book.type_count = TYPES;
    run->book.relation_count = 1;
    run->book.type_start = type_starts;
    run->book.type_name = type_names;
    run->book.type_dim = type_dims;
    run->book.relation = relations;
    assert_ok(run_schedule(&run->schedule, &run->settings, &run->book, &run->err), &run->err);
    assert_int_equal(run->schedule.embedding_shards, PARTS + VENUE_SHARDS);
}

/* Stores gradients. Slots read the same authors as above; slot 1 reads no venue, the others read
 * two. */
static void put_typed_gradients(struct small_run *run, int64_t round)
{
    struct slot_rows *rows = memory_alloc(1, sizeof *rows);
    for (int32_t slot = 0; slot < schedule_slot_count(&run->schedule, round); slot++) {
        float value[SMALL_VALUES];
        struct gradient gradient = small_run_gradient(run, round, slot, value);
        draw_rows(round, slot, rows);
        float *of_venue = rows->gradient + (size_t)rows->count * WIDTH;
        uint32_t *venue = rows->node + rows->count;
        venue[0] = 2, venue[1] = 5;
        for (int i = 0; i < 2 * VENUE_WIDTH; i++)
            of_venue[i] = (float)i - 2;
        gradient.group[0] =
            (struct gradient_rows){1, WIDTH, rows->count, rows->node, rows->gradient};
        gradient.group[1] = (struct gradient_rows){2, VENUE_WIDTH, 2, venue, of_venue};
        gradient.group_count = slot == 1 ? 1 : 2;
        assert_ok(gradient_put(run->store, SMALL_RUN_ID, round, slot, &gradient, NULL, &run->err),
                  &run->err);
    }
    memory_free(rows);
}

/* Returns the sum over all rounds of the share of seeds in slots that read venues. */
static double venue_share(const struct small_run *run)
{
    double share = 0;
    for (int64_t round = 0; round < ROUNDS; round++) {
        double all = 0, read = 0;
        for (int32_t slot = 0; slot < schedule_slot_count(&run->schedule, round); slot++) {
            int64_t first = 0, count = 0;
            schedule_seed_range(&run->schedule, round, slot, &first, &count);
            all += (double)count;
            read += slot == 1 ? 0 : (double)count;
        }
        share += read / all;
    }
    return share;
}

static void check_venues(struct small_run *run)
{
    static const uint32_t venue[VENUE_SHARDS] = {2, 5}; /* shards by hash: even nodes, odd nodes */
    for (int s = 0; s < VENUE_SHARDS; s++) {
        struct embedding_rows seal = {0};
        float first[VENUE_WIDTH];
        sparse_first_values(run->schedule.seed, 2, venue[s], VENUE_WIDTH, first);
        assert_ok(embedding_rows_get(run->store, SMALL_RUN_ID, ROUNDS, PARTS + s, &seal, &run->err),
                  &run->err);
        assert_true(seal.count == 1 && seal.width == VENUE_WIDTH && seal.node[0] == venue[s]);
        for (int i = 0; i < VENUE_WIDTH; i++) {
            const double gradient = (double)(s * VENUE_WIDTH + i - 2) * venue_share(run);
            assert_true(fabs((double)seal.value[i] - ((double)first[i] - venue_rate * gradient)) <
                        1e-5);
        }
        store_release_record(&seal.view);
    }
}

/* Each type with learnable rows has its own tensor, with its own width, policy and first values. */
static void node_types_have_rows_of_their_own(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    struct reference *r = memory_alloc(1, sizeof *r);
    float first[WIDTH];
    begin_typed(&run, temp->store);
    for (uint32_t v = 0; v < NODES; v++) {
        sparse_first_values(run.schedule.seed, 1, v, WIDTH, first);
        for (int i = 0; i < WIDTH; i++)
            r->value[v][i] = (double)first[i];
    }
    struct embedding_state state_of_rows = open_rows(&run, IN_MEMORY);
    for (int64_t round = 0; round < ROUNDS; round++) {
        reference_round(&run, r, SPARSE_SGD, round);
        put_typed_gradients(&run, round);
        if (schedule_has_snapshot(&run.schedule, round + 1))
            seal_all(&run, &state_of_rows, round + 1);
    }
    embedding_state_close(&state_of_rows);
    check_seal(&run, r, SPARSE_SGD);
    check_venues(&run);
    memory_free(r);
}

/* --- any worker, any storage --- */

static void rows_on_disk_and_workers_that_come_and_go_give_the_same_records(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run, other;
    struct temp_dir dir;
    struct store *store = NULL;
    temp_dir_make(&dir);
    begin(&run, temp->store, "adam");
    work_all(&run);
    assert_ok(store_open(dir.path, 0, &store, &run.err), &run.err);
    begin(&other, store, "adam");
    for (int64_t round = 0; round < ROUNDS; round++) {
        put_gradients(&other, round);
        for (int part = 0; schedule_has_snapshot(&other.schedule, round + 1) && part < PARTS;
             part++) { /* a new worker each time */
            struct embedding_state rows = open_rows(&other, part ? ON_DISK : IN_MEMORY);
            assert_int_equal(embedding_state_is_resident(&rows), part == 0);
            assert_ok(seal(&other, &rows, round + 1, part), &other.err);
            embedding_state_close(&rows);
            assert_same_record(&run, &other,
                               key_embedding_seal(SMALL_RUN_ID, round + 1, part).text);
        }
    }
    store_close(store);
    temp_dir_remove(&dir);
}

/* After a seal no older gradients are needed; without it all are. A worker that is ahead goes
 * back. */
static void pruned_gradients_are_not_missed_behind_a_seal(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    begin(&run, temp->store, "adam");
    work_all(&run);
    remove_record(&run, key_gradient(SMALL_RUN_ID, 1, 0));
    struct embedding_state rows = open_rows(&run, IN_MEMORY);
    assert_ok(advance(&run, &rows, 5), &run.err);
    assert_ok(advance(&run, &rows, 3), &run.err);
    assert_ok(advance(&run, &rows, 2), &run.err);
    assert_ok(seal(&run, &rows, 4, 1), &run.err);
    embedding_state_close(&rows);
    rows = open_rows(&run, IN_MEMORY);
    assert_ok(advance(&run, &rows, 1), &run.err);
    assert_fails(seal(&run, &rows, 2, 1), ERROR_NOT_FOUND, "gradient", &run.err);
    assert_ok(advance(&run, &rows, 2), &run.err); /* from the seals */
    remove_record(&run, key_embedding_seal(SMALL_RUN_ID, 2, 1));
    embedding_state_close(&rows);
    rows = open_rows(&run, IN_MEMORY);
    assert_fails(advance(&run, &rows, 2), ERROR_NOT_FOUND, "gradient", &run.err);
    assert_ok(advance(&run, &rows, 5), &run.err); /* from the seals of version 4 */
    embedding_state_close(&rows);
}

/* Only the next round is computed ahead, and only if the gradients of all slots are stored. */
static void rows_go_ahead_when_all_gradients_are_there(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    struct arena arena = {0};
    begin(&run, temp->store, "adagrad");
    struct embedding_state rows = open_rows(&run, IN_MEMORY);
    put_gradients(&run, 0);
    put_gradients(&run, 1);
    assert_int_equal(schedule_slot_count(&run.schedule, 0), 3);
    remove_record(&run, key_gradient(SMALL_RUN_ID, 0, 2));
    row_update_ahead(&run.context, &rows, 0, &arena);
    row_update_ahead(&run.context, &rows, 1, &arena);
    assert_int_equal(rows.version, 0);
    put_gradients(&run, 0);
    row_update_ahead(&run.context, &rows, 0, &arena);
    assert_int_equal(rows.version, 1);
    row_update_ahead(&run.context, &rows, 0, &arena);
    assert_int_equal(rows.version, 1);
    arena_release(&arena);
    embedding_state_close(&rows);
}

static void gradients_without_rows_or_of_other_rows_are_corrupt(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    begin(&run, temp->store, "sgd");
    struct embedding_state rows = open_rows(&run, IN_MEMORY);
    small_run_put_gradients(&run, 0);
    assert_fails(advance(&run, &rows, 1), ERROR_CORRUPT,
                 "0 rows of 0 values, expected rows of 6 of nodes below 400", &run.err);
    embedding_state_close(&rows);
}

/* Changes made before the failure are discarded. */
static void a_number_that_is_not_finite_ends_the_run(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    begin(&run, temp->store, "sgd");
    struct embedding_state rows = open_rows(&run, IN_MEMORY);
    put_gradients(&run, 0);
    put_gradients(&run, 1);
    assert_ok(advance(&run, &rows, 1), &run.err);
    run.schedule.embeddings.tensor[0].rate = 1e39;
    assert_fails(advance(&run, &rows, 2), ERROR_INPUT, "aggregate.embedding_rate", &run.err);
    assert_int_equal(rows.version, 0);
    run.schedule.embeddings.tensor[0].rate = rate;
    assert_ok(advance(&run, &rows, 2), &run.err);
    embedding_state_close(&rows);
}

static void too_many_rows_for_the_memory_are_named(void **state)
{
    struct temp_store *temp = *state;
    struct small_run run;
    struct arena arena = {.limit = 8 << 10};
    begin(&run, temp->store, "adam");
    struct embedding_state rows = open_rows(&run, IN_MEMORY);
    put_gradients(&run, 0);
    assert_fails(row_update_advance(&run.context, &rows, 1, false, &arena, &run.err),
                 ERROR_NO_MEMORY, "rows", &run.err);
    assert_ok(advance(&run, &rows, 1), &run.err);
    arena_release(&arena);
    embedding_state_close(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_store(rounds_do_what_the_rule_says_to_all_rows),
        test_with_store(node_types_have_rows_of_their_own),
        test_with_store(rows_on_disk_and_workers_that_come_and_go_give_the_same_records),
        test_with_store(pruned_gradients_are_not_missed_behind_a_seal),
        test_with_store(rows_go_ahead_when_all_gradients_are_there),
        test_with_store(gradients_without_rows_or_of_other_rows_are_corrupt),
        test_with_store(a_number_that_is_not_finite_ends_the_run),
        test_with_store(too_many_rows_for_the_memory_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
