#include "stages/plan/run/promised_records.h"

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/chain/chosen_base.h"
#include "stages/plan/chain/retention_rule.h"
#include "stages/plan/chain/unit_records.h"
#include "stages/plan/chain/unit_row.h"
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/partition/topology_seal.h"
#include "store/records/round/snapshot.h"

#include <string.h>

enum { LOOKS_MAX = 10, LOOK_AGAIN_MS = 300 };

struct search {
    struct store *store;
    missing_visitor visit;
    void *context;
};

static enum error_code expect(const struct search *search, struct key key, struct error *err)
{
    bool found = false;
    const enum error_code rc = store_has(search->store, key.text, &found, err);
    if (rc == ERROR_NONE && !found)
        search->visit(search->context, key.text);
    return rc;
}

/* --- datasets and partitions --- */

/* Expects the records that a merged version has of its own, and sets *is_merged. The versions that
 * it is merged from promise their records themselves. */
static enum error_code expect_of_merged(const struct search *search, const char *dataset_id,
                                        bool *is_merged, struct error *err)
{
    const enum error_code rc =
        store_has(search->store, key_dataset(dataset_id, "merge").text, is_merged, err);
    return rc == ERROR_NONE && *is_merged ? expect(search, key_dataset(dataset_id, "delta"), err)
                                          : rc;
}

static enum error_code expect_of_schema(const struct search *search,
                                        const struct dataset_schema *schema, struct error *err)
{
    static const struct {
        const char *name;
        unsigned traits; /* the tasks whose datasets have the record */
    } of_task[] = {{"labels", TASK_LABELS_NODES | TASK_HAS_GRAPHS},
                   {"graphs", TASK_HAS_GRAPHS},
                   {"edge_splits", TASK_HOLDS_OUT_EDGES}};
    bool is_merged = false;
    enum error_code rc = expect_of_merged(search, schema->id, &is_merged, err);
    if (rc != ERROR_NONE || is_merged)
        return rc;
    rc = expect(search, key_dataset(schema->id, "splits"), err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < schema->edge_chunk_count; i++)
        rc = expect(search, key_edge_chunk(schema->id, (int64_t)i), err);
    for (uint64_t i = 0; rc == ERROR_NONE && i < schema->feature_chunk_count; i++)
        rc = expect(search, key_feature_chunk(schema->id, (int64_t)i), err);
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof of_task / sizeof *of_task; i++)
        if (task_has(schema->task, of_task[i].traits))
            rc = expect(search, key_dataset(schema->id, of_task[i].name), err);
    if (rc == ERROR_NONE && schema->node_id_form != NODE_ID_CONSECUTIVE)
        rc = expect(search, key_dataset(schema->id, "node_ids"), err);
    return rc;
}

enum error_code promised_by_dataset(struct store *store, const char *dataset_id, bool needed,
                                    missing_visitor visit, void *context, bool *whole,
                                    struct error *err)
{
    const struct search search = {store, visit, context};
    struct dataset_schema *schema = NULL;
    enum error_code rc = memory_new(&schema, 1, "a schema", err);
    if (rc == ERROR_NONE)
        rc = store_has(store, key_dataset(dataset_id, "schema").text, whole, err);
    if (rc == ERROR_NONE && !*whole && needed)
        visit(context, key_dataset(dataset_id, "schema").text);
    if (rc == ERROR_NONE && *whole &&
        dataset_schema_get(store, dataset_id, schema, NULL) == ERROR_NONE)
        rc = expect_of_schema(&search, schema, err);
    memory_free(schema);
    return rc;
}

static enum error_code expect_shards(const struct search *search, const struct partition_book *book,
                                     uint32_t type, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int part = 0; rc == ERROR_NONE && part < book->part_count; part++) {
        rc = expect(search, key_part_type(book->id, part, type, "shard"), err);
        if (rc == ERROR_NONE)
            rc = expect(search, key_part_type(book->id, part, type, "shard_seal"), err);
    }
    return rc;
}

/* Expects the assignment and the splits of a partition. A partition whose files are a delta derives
 * them from another partition, unless they are written whole. */
static enum error_code expect_nodes(const struct search *search, const struct partition_book *book,
                                    struct error *err)
{
    static const char *const wholes[] = {"assignment", "permutation", "splits"};
    struct topology_seal seal;
    bool is_delta = false, is_whole = true;
    enum error_code rc = ERROR_NONE;
    if (topology_seal_get(search->store, book->id, 0, &seal, NULL) == ERROR_NONE)
        is_delta = seal.is_delta;
    if (is_delta)
        rc = expect(search, key_partition(book->id, "delta"), err);
    if (rc == ERROR_NONE && is_delta)
        rc = store_has(search->store, key_partition(book->id, "splits").text, &is_whole, err);
    if (rc == ERROR_NONE && !is_whole)
        return expect(search, key_partition(book->id, "placement"), err);
    for (size_t i = 0; rc == ERROR_NONE && i < sizeof wholes / sizeof *wholes; i++)
        rc = expect(search, key_partition(book->id, wholes[i]), err);
    return rc == ERROR_NONE && task_has(book->task, TASK_HOLDS_OUT_EDGES)
               ? expect(search, key_partition(book->id, "edge_splits"), err)
               : rc;
}

static enum error_code expect_of_book(const struct search *search,
                                      const struct partition_book *book, struct error *err)
{
    static const char *const pieces[] = {"topology", "topology_seal"};
    enum error_code rc = expect_nodes(search, book, err);
    if (rc == ERROR_NONE)
        rc = expect(search, key_partition(book->id, "report"), err);
    if (rc == ERROR_NONE && book->graph_count > 0)
        rc = expect(search, key_partition(book->id, "graphs"), err);
    for (int part = 0; part < book->part_count; part++)
        for (size_t i = 0; rc == ERROR_NONE && i < sizeof pieces / sizeof *pieces; i++)
            rc = expect(search, key_part(book->id, part, pieces[i]), err);
    for (uint32_t type = 0; type < partition_book_types(book); type++)
        if (rc == ERROR_NONE && partition_book_has_shard(book, type))
            rc = expect_shards(search, book, type, err);
    return rc;
}

enum error_code promised_by_partition(struct store *store, const char *partition_id, bool needed,
                                      missing_visitor visit, void *context, bool *whole,
                                      struct error *err)
{
    const struct search search = {store, visit, context};
    struct partition_book book = {0};
    enum error_code rc = store_has(store, key_partition(partition_id, "book").text, whole, err);
    if (rc == ERROR_NONE && !*whole && needed)
        visit(context, key_partition(partition_id, "book").text);
    if (rc == ERROR_NONE && *whole &&
        partition_book_get(store, partition_id, &book, NULL) == ERROR_NONE)
        rc = expect_of_book(&search, &book, err);
    store_release_record(&book.view);
    return rc;
}

/* --- runs --- */

enum error_code kept_rounds_read(struct store *store, const struct run_binding *run,
                                 struct kept_rounds *out, struct error *err)
{
    const char *id = run->plan.id;
    struct snapshot_position position = {0};
    struct snapshot snapshot = {0};
    *out = (struct kept_rounds){0};
    enum error_code rc = snapshot_position_get(store, id, &position, err);
    out->is_named = rc == ERROR_NONE || rc == ERROR_CORRUPT; /* a damaged ref is found as damaged */
    const bool is_known = rc == ERROR_NONE, says_start = is_known && position.version == 0;
    if (rc == ERROR_NONE || rc == ERROR_NOT_FOUND || rc == ERROR_CORRUPT)
        rc = says_start ? ERROR_NOT_FOUND : snapshot_get_current(store, id, &snapshot, err);
    if (rc == ERROR_NONE) {
        out->version = snapshot.version;
        out->stopped = snapshot.stop;
    }
    store_release_record(&snapshot.view);
    if (rc != ERROR_NONE && rc != ERROR_NOT_FOUND)
        return rc;
    if (position.version >
        out->version) /* the snapshot that the ref names is lost; it may have ended training */
        *out = (struct kept_rounds){.version = position.version, .stopped = true, .is_named = true};
    /* The ref says what was pruned. checkpoint.keep may have changed since then. */
    out->oldest = position.kept_from;
    if (is_known && position.version < out->version) /* as chain_state_mend() will set it */
        out->oldest = out->version;
    if (!is_known)
        out->oldest =
            retention_rule_of(&run->schedule, out->version, run->settings.checkpoint.keep, 0)
                .oldest_version;
    return ERROR_NONE;
}

static enum error_code expect_of_unit(const struct search *search, const struct run_binding *run,
                                      const struct unit *unit, struct error *err)
{
    struct key keys[UNIT_KEYS_MAX];
    const int count = unit_keys(&run->schedule, run->plan.id, unit, keys);
    enum error_code rc = ERROR_NONE;
    for (int i = 0; i < count && rc == ERROR_NONE; i++)
        rc = expect(search, keys[i], err);
    return rc;
}

static enum error_code expect_slots(const struct search *search, const struct run_binding *run,
                                    enum unit_kind kind, int64_t number, struct error *err)
{
    const int32_t count = unit_count_at(&run->schedule, kind, number);
    enum error_code rc = ERROR_NONE;
    for (int32_t slot = 0; slot < count && rc == ERROR_NONE; slot++) {
        const struct unit unit = unit_at(&run->schedule, kind, number, slot);
        rc = expect_of_unit(search, run, &unit, err);
    }
    return rc;
}

/* Returns the newest number whose records exist. Round r leads to version r + 1, so the round of
 * the newest version has no records yet. */
static int64_t newest_number(const struct unit_row *row, const struct kept_rounds *kept)
{
    const bool is_of_round = row->line == LINE_ROUNDS && row->begun_by == UNIT_UNKNOWN;
    return is_of_round ? kept->version - 1 : kept->version;
}

/* Expects companions that are kept longer than the records they were written with. Choices are not
 * expected here: only a run that is set back reads older ones. */
static enum error_code expect_companions(const struct search *search, const struct run_binding *run,
                                         const struct unit_row *row, enum unit_kind kind,
                                         int64_t oldest, struct error *err)
{
    const struct schedule *s = &run->schedule;
    enum error_code rc = ERROR_NONE;
    if (!row->companion_oldest || unit_companion_is_chosen(row, s))
        return rc;
    for (int64_t number = row->companion_oldest(s, oldest); number < oldest; number++)
        for (int32_t slot = unit_count_at(s, kind, number) - 1; slot >= 0 && rc == ERROR_NONE;
             slot--) {
            const struct unit unit = unit_at(s, kind, number, slot);
            rc = expect(search, row->companion(s, run->plan.id, &unit), err);
        }
    return rc;
}

static enum error_code expect_kind(const struct search *search, const struct run_binding *run,
                                   const struct kept_rounds *kept, enum unit_kind kind,
                                   struct error *err)
{
    const struct schedule *s = &run->schedule;
    const struct unit_row *row = unit_row_of(kind);
    const bool serves_later = row->retention == RETAINED_PASSES && !kept->stopped;
    int64_t oldest = serves_later ? schedule_oldest_needed(s, kept->oldest) : kept->oldest;
    if (row->retention == RETAINED_BASES)
        oldest = schedule_base(s, kept->oldest);
    enum error_code rc = ERROR_NONE;
    if (row->line == LINE_NONE) /* initialise makes version 0 of aggregate's line */
        return row->retention == RETAINED_TO_THE_END ? expect_slots(search, run, kind, 0, err)
                                                     : ERROR_NONE;
    for (int64_t number = unit_number_after(s, kind, oldest - 1);
         number <= newest_number(row, kept) && rc == ERROR_NONE;
         number = unit_number_after(s, kind, number))
        rc = expect_slots(search, run, kind, number, err);
    return rc == ERROR_NONE ? expect_companions(search, run, row, kind, oldest, err) : rc;
}

enum error_code promised_beside_snapshot(struct store *store, const struct run_binding *run,
                                         int64_t version, missing_visitor visit, void *context,
                                         struct error *err)
{
    const struct schedule *s = &run->schedule;
    const struct search search = {store, visit, context};
    enum error_code rc = ERROR_NONE;
    for (enum unit_kind kind = UNIT_UNKNOWN + 1; kind < UNIT_KIND_COUNT; kind++) {
        const struct unit_row *row = unit_row_of(kind);
        int64_t number = row->retention == RETAINED_BASES ? schedule_base(s, version) : version;
        for (; number < version && rc == ERROR_NONE; number++)
            rc = expect_slots(&search, run, kind, number, err);
        if (rc == ERROR_NONE)
            rc = expect_companions(&search, run, row, kind, version, err);
    }
    return rc;
}

/* Expects the records of training. expect_end() handles those of inference. */
static enum error_code expect_training(const struct search *search, const struct run_binding *run,
                                       const struct kept_rounds *kept, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (enum unit_kind kind = UNIT_UNKNOWN + 1; kind < UNIT_KIND_COUNT; kind++) {
        const struct unit_row *row = unit_row_of(kind);
        if (rc == ERROR_NONE && row->output && row->line != LINE_WEIGHTS)
            rc = expect_kind(search, run, kept, kind, err);
    }
    return rc;
}

static enum error_code note_any(void *context, const char *key, bool is_artifact, struct error *err)
{
    (void)key, (void)is_artifact, (void)err;
    *(bool *)context = true;
    return ERROR_NONE;
}

/* Expects the end of training if there are outputs, because outputs are made from a snapshot that
 * ended training. Expects the layers if all wanted outputs are there. */
static enum error_code expect_end(const struct search *search, const struct run_binding *run,
                                  const struct kept_rounds *kept, bool *whole, struct error *err)
{
    const struct schedule *s = &run->schedule;
    const char *id = run->plan.id;
    const struct key folder = key_run(id, "outputs");
    struct chain_state state = {0};
    struct unit_list layers = {0};
    bool has_outputs = false;
    enum error_code rc = store_list(search->store, folder.text, note_any, &has_outputs, err);
    if (rc == ERROR_NONE && has_outputs && !kept->stopped && kept->version < s->round_count)
        search->visit(search->context, key_snapshot(id, s->round_count).text);
    if (rc == ERROR_NONE)
        rc = chain_state_read(s, search->store, id, &state, err);
    *whole = state.finished;
    for (int32_t layer = schedule_first_layer(s);
         rc == ERROR_NONE && state.finished && layer <= s->layer_count; layer++)
        rc = unit_list_add_layer(&layers, s, state.weights_version, layer, err);
    for (int64_t i = 0; rc == ERROR_NONE && i < layers.count; i++)
        rc = expect_of_unit(search, run, &layers.unit[i], err);
    unit_list_release(&layers);
    return rc;
}

/* Expects the choices without which the run cannot go on, because records were made from them. */
static enum error_code expect_choices(const struct search *search, const struct run_binding *run,
                                      const struct kept_rounds *kept, struct error *err)
{
    int64_t round = -1;
    const enum error_code rc = chosen_base_first_lost(&run->schedule, search->store, run->plan.id,
                                                      kept->version, &round, err);
    if (rc == ERROR_NONE && round >= 0)
        search->visit(search->context, key_round_base(run->plan.id, round).text);
    return rc;
}

static enum error_code expect_of_run(const struct search *search, const struct run_binding *run,
                                     const struct kept_rounds *kept, bool *whole, struct error *err)
{
    enum error_code rc = expect_end(search, run, kept, whole, err);
    if (rc == ERROR_NONE && kept->version > 0 && !kept->is_named)
        search->visit(search->context, key_current_snapshot(run->plan.id).text);
    if (rc == ERROR_NONE)
        rc = expect_choices(search, run, kept, err);
    return rc == ERROR_NONE && kept->version > 0 ? expect_training(search, run, kept, err) : rc;
}

static void count_missing(void *context, const char *key)
{
    (void)key;
    ++*(int64_t *)context;
}

static bool same_kept(const struct kept_rounds *a, const struct kept_rounds *b)
{
    return a->version == b->version && a->oldest == b->oldest && a->is_named == b->is_named;
}

enum error_code promised_by_run(struct store *store, const struct run_binding *run,
                                missing_visitor visit, void *context, bool *whole,
                                struct error *err)
{
    int64_t missing = 0;
    struct kept_rounds kept = {0}, later = {0};
    const struct search count = {store, count_missing, &missing}, tell = {store, visit, context};
    enum error_code rc = kept_rounds_read(store, run, &kept, err);
    for (int look = 0; rc == ERROR_NONE && look < LOOKS_MAX; look++) {
        missing = 0;
        rc = expect_of_run(&count, run, &kept, whole, err);
        if (rc != ERROR_NONE || missing == 0)
            return rc;
        clock_sleep_ms(LOOK_AGAIN_MS);
        rc = kept_rounds_read(store, run, &later, err);
        if (rc == ERROR_NONE && same_kept(&kept, &later))
            break;
        kept = later;
    }
    return rc == ERROR_NONE ? expect_of_run(&tell, run, &kept, whole, err) : rc;
}
