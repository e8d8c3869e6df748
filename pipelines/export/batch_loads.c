#include "pipelines/export/batch_loads.h"

#include "common/base/memory.h"
#include "stages/plan/run/promised_records.h"
#include "store/objects/keys.h"
#include "store/records/batch/batch_form.h"
#include "store/records/batch/mini_batch.h"
#include "store/records/partition/node_permutation.h"
#include "store/versions/merged_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define READ_FOR_NONE UINT32_MAX

struct counting { /* {0} is empty */
    const struct run_folder *folder;
    struct load_figures *figures;
    struct type_ranges ranges;
    struct node_permutation permutation;
    struct node_loads *loads;
    struct mini_batch batch;
    /* for each node of the batch, the part of the seed that it is read for; owned */
    uint32_t *home;
    size_t home_capacity;
};

static uint32_t part_of(const struct counting *c, uint32_t node)
{
    return (uint32_t)type_ranges_part(&c->ranges, node);
}

/* Passes the part of `reader` on to `source`, unless the source already has one. */
static void pass_on(uint32_t *home, uint32_t reader, uint32_t source)
{
    if (home[source] == READ_FOR_NONE)
        home[source] = reader;
}

/* --- the seeds that nodes are read for --- */

/* Does so for the edges of a relation that end in nodes known after hop `hop`. */
static void pass_on_relation(struct counting *c, uint32_t relation, int hop)
{
    const struct mini_batch *batch = &c->batch;
    const uint32_t type = mini_batch_target_type(batch, relation);
    const uint32_t *home = c->home + mini_batch_node_begin(batch, type);
    uint32_t *of_sources =
        c->home + mini_batch_node_begin(batch, mini_batch_source_type(batch, relation));
    const uint32_t *start = mini_batch_row_starts(batch, relation);
    const uint32_t *neighbor = batch->neighbor + mini_batch_edge_begin(batch, relation);
    const uint32_t rows =
        mini_batch_row_begin(batch, relation + 1) - mini_batch_row_begin(batch, relation);
    for (uint32_t row = 0; row < rows; row++) {
        const uint32_t node = batch_form_node_of_row(batch, relation, row);
        if (node >= mini_batch_known(batch, type, hop))
            continue;
        for (uint32_t e = start[row]; e < start[row + 1]; e++)
            pass_on(of_sources, home[node], neighbor[e]);
    }
}

/* Finds the part for which each node is read. The rows of one relation are in the order of
 * discovery, so one pass is enough. In a subgraph it takes as many passes as there are layers,
 * because a seed may be that many hops away; several relations discover nodes together, hop by
 * hop. */
static void find_homes(struct counting *c)
{
    const struct mini_batch *batch = &c->batch;
    const bool by_hop = batch->form == BATCH_NESTED && mini_batch_relations(batch) > 1;
    const int passes = by_hop || batch->form == BATCH_SUBGRAPH ? batch->hop_count : 1;
    memset(c->home, 0xff, batch->node_count * sizeof *c->home);
    for (uint32_t i = 0; batch->seed_of && i < batch->node_count; i++)
        c->home[i] = part_of(c, batch->node[mini_batch_seed_place(batch, batch->seed_of[i])]);
    for (uint32_t seed = 0; seed < batch->seed_count; seed++) {
        const uint32_t at = mini_batch_seed_place(batch, seed);
        c->home[at] = part_of(c, batch->node[at]);
    }
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t relation = 0; relation < mini_batch_relations(batch); relation++)
            pass_on_relation(c, relation, by_hop ? pass : batch->hop_count);
}

/* --- what a batch adds --- */

static void add_reads(struct counting *c, const uint32_t *node, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t own = part_of(c, node[i]), number = c->permutation.to_dataset[node[i]];
        const uint32_t reader = c->home[i] == READ_FOR_NONE ? own : c->home[i];
        const bool is_remote = reader != own;
        c->loads->reads[number]++;
        c->loads->remote[number] += is_remote;
        c->figures->reads[own]++;
        c->figures->remote[own] += is_remote;
        c->figures->from[(size_t)reader * (size_t)c->figures->part_count + own]++;
    }
}

static void add_edges(struct counting *c, uint32_t node, uint32_t count)
{
    c->loads->edges[c->permutation.to_dataset[node]] += count;
}

static enum error_code check_nodes(const struct counting *c, const char *key, const uint32_t *node,
                                   uint32_t count, struct error *err)
{
    for (uint32_t i = 0; i < count; i++)
        if (node[i] >= c->permutation.node_count)
            return error_set(err, ERROR_CORRUPT,
                             "record %s: node %" PRIu32 ", expected less than %" PRIu32, key,
                             node[i], c->permutation.node_count);
    return ERROR_NONE;
}

static void add_relation(struct counting *c, uint32_t relation)
{
    const struct mini_batch *batch = &c->batch;
    const uint32_t *start = mini_batch_row_starts(batch, relation);
    const uint32_t *node =
        batch->node + mini_batch_node_begin(batch, mini_batch_target_type(batch, relation));
    const uint32_t rows =
        mini_batch_row_begin(batch, relation + 1) - mini_batch_row_begin(batch, relation);
    for (uint32_t row = 0; row < rows; row++)
        add_edges(c, node[batch_form_node_of_row(batch, relation, row)],
                  start[row + 1] - start[row]);
}

/* Adds a batch; *found says whether it is still stored. */
static enum error_code add_batch(struct counting *c, int64_t round, int32_t slot, bool *found,
                                 struct error *err)
{
    const char *run_id = c->folder->run.plan.id;
    const struct key key = key_mini_batch(run_id, round, slot);
    enum error_code rc = mini_batch_get(c->folder->store, key.text, run_id, &c->batch, err);
    *found = rc == ERROR_NONE;
    if (rc == ERROR_NOT_FOUND)
        return ERROR_NONE;
    if (rc == ERROR_NONE)
        rc = check_nodes(c, key.text, c->batch.node, c->batch.node_count, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&c->home, &c->home_capacity, c->batch.node_count,
                         "the seeds that nodes are read for", err);
    if (rc != ERROR_NONE)
        return rc;
    find_homes(c);
    for (uint32_t relation = 0; relation < mini_batch_relations(&c->batch); relation++)
        add_relation(c, relation);
    add_reads(c, c->batch.node, c->batch.node_count);
    return ERROR_NONE;
}

/* --- the rounds --- */

static enum error_code add_round(struct counting *c, int64_t round, bool *any, struct error *err)
{
    struct load_figures *figures = c->figures;
    const int32_t slots = schedule_slot_count(&c->folder->run.schedule, round);
    enum error_code rc = ERROR_NONE;
    *any = false;
    for (int32_t slot = 0; rc == ERROR_NONE && slot < slots; slot++) {
        bool found = false;
        rc = add_batch(c, round, slot, &found, err);
        if (!found)
            continue;
        if (figures->batches++ == 0)
            figures->first_round = round;
        figures->last_round = round;
        *any = true;
    }
    return rc;
}

/* Adds all rounds. Sampling is ahead of training without gaps, so after the newest weights the
 * first round without batches is the end. */
static enum error_code add_rounds(struct counting *c, struct error *err)
{
    const struct run_binding *run = &c->folder->run;
    const struct schedule *schedule = &run->schedule;
    struct kept_rounds kept = {0};
    bool any = true;
    enum error_code rc = kept_rounds_read(c->folder->store, run, &kept, err);
    if (rc != ERROR_NONE)
        return rc;
    for (int64_t round = schedule_oldest_needed(schedule, kept.oldest);
         rc == ERROR_NONE && round < schedule->round_count && (any || round <= kept.version);
         round++)
        if (schedule_samples(schedule, round))
            rc = add_round(c, round, &any, err);
    if (rc == ERROR_NONE && c->figures->batches == 0)
        rc = error_set(err, ERROR_NOT_FOUND,
                       "run %s keeps no mini-batch any more (checkpoint.keep: 0 keeps every one)",
                       run->plan.id);
    return rc;
}

static enum error_code count(struct counting *c, struct error *err)
{
    const struct partition_book *book = &c->folder->run.book;
    const size_t parts = (size_t)book->part_count;
    c->ranges = partition_book_ranges(book);
    c->figures->part_count = book->part_count;
    enum error_code rc = memory_new(&c->figures->reads, parts, "the reads of parts", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&c->figures->remote, parts, "the reads of parts", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&c->figures->from, parts * parts, "the reads of parts", err);
    if (rc == ERROR_NONE)
        rc = node_loads_init(c->loads, book->node_count, err);
    if (rc == ERROR_NONE)
        rc = merged_permutation_get(c->folder->store, book->id, book->node_count, &c->permutation,
                                    err);
    return rc == ERROR_NONE ? add_rounds(c, err) : rc;
}

enum error_code batch_loads_count(const struct run_folder *folder, struct node_loads *loads,
                                  struct load_figures *figures, struct error *err)
{
    struct counting c = {.folder = folder, .figures = figures, .loads = loads};
    *figures = (struct load_figures){0};
    *loads = (struct node_loads){0};
    const enum error_code rc = count(&c, err);
    store_release_record(&c.permutation.view);
    mini_batch_release(&c.batch);
    memory_free(c.home);
    return rc;
}

/* --- the figures --- */

struct sums {
    uint64_t reads, remote, most; /* rows; most: the greatest sum of a part */
};

static struct sums add_up(const struct load_figures *figures)
{
    struct sums sums = {0};
    for (int p = 0; p < figures->part_count; p++) {
        sums.reads += figures->reads[p];
        sums.remote += figures->remote[p];
        sums.most = figures->reads[p] > sums.most ? figures->reads[p] : sums.most;
    }
    return sums;
}

static double times_mean(const struct load_figures *figures, const struct sums *sums)
{
    return (double)sums->most * figures->part_count / (double)sums->reads;
}

void load_figures_say(const struct load_figures *figures)
{
    const struct sums sums = add_up(figures);
    (void)fprintf(stderr,
                  "%" PRId64 " mini-batches of rounds %" PRId64 " to %" PRId64 ": %" PRIu64
                  " rows read, %" PRIu64 " (%.1f %%) for seeds of another part; most of a part: "
                  "%.3f times the mean\n",
                  figures->batches, figures->first_round, figures->last_round, sums.reads,
                  sums.remote, 100.0 * (double)sums.remote / (double)sums.reads,
                  times_mean(figures, &sums));
}

void load_figures_put(const struct load_figures *figures, struct json_writer *json)
{
    const struct sums sums = add_up(figures);
    json_put_int64(json, "batches", figures->batches);
    json_put_int64(json, "first_round", figures->first_round);
    json_put_int64(json, "last_round", figures->last_round);
    json_put_int64(json, "reads", (int64_t)sums.reads);
    json_put_int64(json, "remote", (int64_t)sums.remote);
    json_put_double(json, "most_by_mean", times_mean(figures, &sums));
    json_open_array(json, "parts");
    for (int p = 0; p < figures->part_count; p++) {
        json_open_object(json, NULL);
        json_put_int64(json, "reads", (int64_t)figures->reads[p]);
        json_put_int64(json, "remote", (int64_t)figures->remote[p]);
        json_close_object(json);
    }
    json_close_array(json);
}

void load_figures_release(struct load_figures *figures)
{
    memory_free(figures->reads);
    memory_free(figures->remote);
    memory_free(figures->from);
    *figures = (struct load_figures){0};
}
