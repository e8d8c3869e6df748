/*
 * dataset schema ──┐
 * edge chunks ─────┼─> assign ─> renumber ─> topologies, shards, splits, report ─> check ─> book
 * feature chunks ──┤
 * labels, splits ──┘
 *
 * assign is a method of methods/; renumber brings neighbours close together in a part; topologies,
 * shards and splits are written part by part; check reads them back; the book is the commit.
 *
 * For a version of a dataset, topologies and shards may hold only what has changed since another
 * partition (version_delta.h).
 *
 * A partition is one unit of work, whole or not at all: it exists once its book is there, and the
 * book of its base if it is a delta. A run that was killed goes on where it was: it reads the
 * assignment from its record, and keeps parts whose topology or shard is sealed. Programs that work
 * on the same partition side by side keep each other's parts in the same way, and the threads of
 * one program share the topologies. Parts are no units of a queue, because a queue belongs to a
 * run, and a partition comes before any run and serves many.
 *
 * Memory: a few words a node, and as much of edges and features at a time as the budget allows.
 */
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/engine/stage.h"
#include "stages/partition/check/partition_check.h"
#include "stages/partition/check/sealed_quality.h"
#include "stages/partition/kept_assignment.h"
#include "stages/partition/layout/graph_ranges.h"
#include "stages/partition/layout/part_writer.h"
#include "stages/partition/layout/partition_quality.h"
#include "stages/partition/layout/renumbering.h"
#include "stages/partition/partition_input.h"
#include "stages/partition/partition_trial.h"
#include "stages/partition/version_assignment.h"
#include "stages/partition/version_delta.h"
#include "stages/partition/version_numbering.h"
#include "stages/partition/version_placement.h"
#include "stages/plan/model/identity.h"
#include "stages/plan/run/run_binding.h"
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_types.h"
#include "store/records/partition/node_permutation.h"
#include "store/records/partition/partition_report.h"
#include "store/topology/topology.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME_ATTEMPTS = 100 };

/* The node types and relations in the form of the book. */
struct graph_types {
    char name[NODE_TYPE_COUNT_MAX][RELATION_NAME_SIZE];
    uint32_t dim[NODE_TYPE_COUNT_MAX];
    struct relation relation[RELATION_COUNT_MAX];
    uint16_t back_plus[RELATION_COUNT_MAX];
};

struct partition_job { /* {0} is empty; used for one unit */
    const struct stage_context *context;
    struct partition_input input;
    struct kept_assignment kept;
    struct renumbering renumbering;
    struct delta_base base; /* the base of a version; without ids there is none */
    bool is_delta;
    /* Assignment, permutation and splits follow from the base (version_placement.h). */
    bool is_placed;
    struct part_delta delta;
    uint32_t *graph_first; /* [graphs + 1] for a task of graphs */
    struct graph_sizes graph_sizes;
    struct graph_types types;
    struct partition_book book; /* borrows all other arrays */
    bool *standing;             /* [parts]: topologies that were there before; owned */
    struct partition_quality quality;
};

static enum error_code assign_and_renumber(struct partition_job *job, struct error *err)
{
    const enum error_code rc = kept_assignment_find(&job->input, &job->kept, err);
    return rc == ERROR_NONE ? version_numbering(&job->input, job->kept.part, job->kept.method,
                                                &job->renumbering, err)
                            : rc;
}

/* Puts the nodes of each graph side by side, for a task of graphs. */
static enum error_code order_graphs(struct partition_job *job, struct error *err)
{
    const struct graph_index *graphs = &job->input.graphs;
    if (!graphs->graph_count)
        return ERROR_NONE;
    enum error_code rc =
        memory_new(&job->graph_first, (size_t)graphs->graph_count + 1, "the nodes of graphs", err);
    if (rc == ERROR_NONE)
        rc = graph_ranges_order(&job->renumbering, graphs, job->graph_first, err);
    return rc == ERROR_NONE
               ? graph_ranges_measure(graphs, job->input.in_degree, &job->graph_sizes, err)
               : rc;
}

static enum tensor_type feature_type_of(const struct partition_job *job)
{
    static const enum tensor_type by_setting[] = {
        [FEATURE_F32] = TENSOR_F32, [FEATURE_F16] = TENSOR_F16, [FEATURE_BF16] = TENSOR_BF16};
    return by_setting[job->context->settings->partition.feature_type];
}

/* Decides whether a version is written as a delta. */
static enum error_code plan_delta(struct partition_job *job, const struct numbering *numbering,
                                  struct error *err)
{
    const bool keeps = version_assignment_is_placed(job->kept.method);
    if (!job->base.partition_id[0] || !(keeps || job->base.is_chosen))
        return ERROR_NONE;
    const enum error_code rc =
        version_delta_plan(&job->input, &job->base, numbering, feature_type_of(job), false,
                           &job->delta, &job->is_delta, err);
    return rc == ERROR_NONE && job->is_delta
               ? version_placement_is_wanted(&job->input, &job->kept, &job->is_placed, err)
               : rc;
}

/* Stores the records that say the form. They go before the files, so that an attempt after a crash
 * finds the same form. */
static enum error_code put_form(struct partition_job *job, const struct numbering *numbering,
                                struct error *err)
{
    enum error_code rc =
        job->is_placed ? version_placement_put(&job->input, &job->kept, &job->delta, numbering, err)
                       : kept_assignment_put(&job->input, &job->kept, err);
    if (rc == ERROR_NONE && job->is_delta)
        rc = partition_delta_put(job->context->store, job->input.id, &job->delta.record, err);
    memory_free(job->kept.part);
    job->kept.part = NULL;
    return rc;
}

static enum error_code write_topologies(struct partition_job *job, const struct part_writer *writer,
                                        struct error *err)
{
    const enum error_code rc =
        job->is_delta ? part_delta_topologies(writer, &job->delta, err)
                      : part_writer_topologies(writer, &job->quality, job->standing, err);
    /* All parts of a delta are measured as readers will see them, merged with the base. */
    for (int p = 0; job->is_delta && p < writer->numbering->part_count; p++)
        job->standing[p] = true;
    return rc == ERROR_NONE
               ? sealed_quality_add(writer, &job->book, job->standing, &job->quality, err)
               : rc;
}

static enum error_code write_parts(struct partition_job *job, struct error *err)
{
    const struct numbering numbering = renumbering_view(&job->renumbering);
    const struct part_writer writer = {
        .store = job->context->store,
        .partition_id = job->input.id,
        .schema = &job->input.schema,
        .numbering = &numbering,
        .in_degree = job->input.in_degree,
        .split_marks = job->input.split_marks,
        .edge_part = job->kept.edge_part,
        .feature_type = feature_type_of(job),
        .budget_bytes = job->input.budget_bytes,
        .keeps_standing = !job->context->is_replay,
        .pool = job->context->pool,
    };
    enum error_code rc = plan_delta(job, &numbering, err);
    if (rc == ERROR_NONE)
        rc = put_form(job, &numbering, err);
    if (rc == ERROR_NONE)
        rc = partition_quality_init(&job->quality, job->input.id, &job->input.schema,
                                    numbering.part_count, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&job->standing, (size_t)numbering.part_count, "the parts that stand", err);
    if (rc == ERROR_NONE)
        rc = write_topologies(job, &writer, err);
    if (rc == ERROR_NONE)
        rc = job->is_delta ? part_delta_shards(&writer, &job->delta, err)
                           : part_writer_shards(&writer, err);
    if (rc == ERROR_NONE && job->graph_first)
        rc = graph_ranges_put(writer.store, job->input.id, job->input.schema.id, &job->input.graphs,
                              job->graph_first, err);
    else if (rc == ERROR_NONE && !job->is_placed)
        rc = part_writer_splits(&writer, err);
    if (rc == ERROR_NONE && !job->is_placed)
        rc = part_writer_edge_splits(&writer, err);
    if (rc == ERROR_NONE && job->kept.method)
        must(text_copy(job->quality.report.method, sizeof job->quality.report.method,
                       job->kept.method));
    if (rc == ERROR_NONE)
        rc = partition_report_put(writer.store, partition_quality_finish(&job->quality), err);
    return rc;
}

/* Fills in the book's types and relations, if they have names. */
static void describe_types(const struct partition_job *job, struct graph_types *types,
                           struct partition_book *book)
{
    const struct dataset_schema *schema = &job->input.schema;
    book->edge_width = dataset_edge_widths(schema);
    if (!dataset_type(schema, 0).name[0])
        return;
    for (uint32_t t = 0; t < dataset_type_count(schema); t++) {
        const struct node_type type = dataset_type(schema, t);
        memcpy(types->name[t], type.name, RELATION_NAME_SIZE);
        types->dim[t] = type.feature_dim;
    }
    for (uint32_t r = 0; r < dataset_relation_count(schema); r++) {
        types->relation[r] = dataset_relation(schema, r);
        types->back_plus[r] = schema->back_plus[r];
        book->back_plus = types->back_plus[r] ? types->back_plus : book->back_plus;
    }
    book->type_count = schema->node_type_count;
    book->relation_count = schema->edge_type_count;
    book->target_type = schema->target_type;
    book->type_start = job->renumbering.type_start;
    book->type_name = (const char(*)[RELATION_NAME_SIZE])types->name;
    book->type_dim = types->dim;
    book->relation = types->relation;
}

/* Returns the number of edge types for a task of pairs; of relations only those that are learnt
 * count, not their reverses. */
static uint32_t pair_types(const struct dataset_schema *schema)
{
    struct relation_reverses reverses;
    if (!task_has(schema->task, TASK_HOLDS_OUT_EDGES) || !schema->edge_width.of[EDGE_TYPE])
        return 0;
    dataset_reverses(schema, &reverses);
    return reverses.count > 1 ? relation_forward_end(&reverses) : schema->edge_type_count;
}

static void describe_book(struct partition_job *job)
{
    const struct dataset_schema *schema = &job->input.schema;
    job->book = (struct partition_book){
        .part_count = job->renumbering.part_count,
        .node_count = schema->node_count,
        .edge_count = schema->edge_count,
        .self_loop_count = schema->self_loop_count,
        .feature_dim = schema->feature_dim,
        .class_count = schema->class_count,
        .task = schema->task,
        .pair_type_count = pair_types(schema),
        .pair_count = dataset_pair_count(schema),
        .train_count = schema->train_count,
        .valid_count = schema->valid_count,
        .test_count = schema->test_count,
        .graph_count = job->graph_sizes.graph_count,
        .graph_nodes_most = job->graph_sizes.most_nodes,
        .graph_edges_most = job->graph_sizes.most_edges,
        .book = job->renumbering.book,
    };
    describe_types(job, &job->types, &job->book);
    must(text_copy(job->book.id, sizeof job->book.id, job->input.id));
    must(text_copy(job->book.dataset_id, sizeof job->book.dataset_id, schema->id));
}

static enum error_code check_and_commit(struct partition_job *job, struct error *err)
{
    const struct stage_context *context = job->context;
    const struct dataset_schema *schema = &job->input.schema;
    const struct node_permutation permutation = {
        .node_count = schema->node_count,
        .to_dataset = job->renumbering.to_dataset,
        .to_partition = job->renumbering.to_partition,
    };
    const struct partition_check check = {
        .store = context->store,
        .schema = schema,
        .book = &job->book,
        .permutation = &permutation,
        .is_placed = job->is_placed,
        .feature_type = feature_type_of(job),
    };
    enum error_code rc = partition_check(&check, err);
    if (rc == ERROR_NONE && !job->is_placed)
        rc = node_permutation_put(context->store, job->input.id, &permutation, err);
    return rc == ERROR_NONE ? partition_book_put(context->store, &job->book, err) : rc;
}

static enum error_code build_of(const struct stage_context *context, const char *dataset_id,
                                struct error *err);

/* Finds the base that the parts may be a delta of, and makes it first if a part of it was lost. A
 * dataset of graphs has no base: it is written anew, range by range. */
static enum error_code find_base(struct partition_job *job, struct error *err)
{
    const struct stage_context *context = job->context;
    if (job->input.graphs.graph_count)
        return ERROR_NONE;
    const enum error_code rc =
        delta_base_find(context, job->input.schema.id, job->input.id, &job->base, err);
    if (rc != ERROR_NONE || !job->base.partition_id[0] || job->base.is_there || context->is_replay)
        return rc;
    return build_of(context, job->base.dataset_id, err);
}

static enum error_code build(struct partition_job *job, struct error *err)
{
    enum error_code rc = job->input.graphs.graph_count
                             ? ERROR_NONE
                             : version_assignment_prepare(job->context, job->input.schema.id, err);
    if (rc == ERROR_NONE)
        rc = find_base(job, err);
    if (rc == ERROR_NONE)
        rc = partition_input_measure(&job->input, err);
    if (rc == ERROR_NONE)
        rc = assign_and_renumber(job, err);
    if (rc == ERROR_NONE)
        rc = order_graphs(job, err);
    if (rc == ERROR_NONE)
        describe_book(job);
    if (rc == ERROR_NONE)
        rc = write_parts(job, err);
    if (rc == ERROR_NONE)
        rc = check_and_commit(job, err);
    return rc;
}

static void job_release(struct partition_job *job)
{
    partition_quality_release(&job->quality);
    memory_free(job->standing);
    memory_free(job->graph_first);
    kept_assignment_release(&job->kept);
    part_delta_release(&job->delta);
    renumbering_release(&job->renumbering);
    partition_input_release(&job->input);
}

/* Makes the whole partition of an older version. */
static enum error_code build_of(const struct stage_context *context, const char *dataset_id,
                                struct error *err)
{
    struct partition_job *job = NULL;
    enum error_code rc = memory_new(&job, 1, "a partition", err);
    if (rc != ERROR_NONE)
        return rc;
    job->context = context;
    rc = partition_input_of(&job->input, context, dataset_id, err);
    if (rc == ERROR_NONE)
        log_info("the parts of %s, over which a version is written as a delta, are made again",
                 dataset_id);
    if (rc == ERROR_NONE)
        rc = build(job, err);
    job_release(job);
    memory_free(job);
    return rc;
}

/* Prints the program's answer, and logs how much a round of this pipeline reads from other
 * parts. */
static enum error_code print_report(const struct partition_job *job, bool unchanged,
                                    struct error *err)
{
    const struct pipeline_settings *settings = job->context->settings;
    struct partition_report report = {0};
    char size[32];
    const enum error_code rc =
        partition_report_get(job->context->store, job->input.id, &report, err);
    if (rc != ERROR_NONE)
        return rc;
    const uint64_t round_bytes = partition_report_round_bytes(
        &report, settings->sample.fanouts.value, settings->sample.fanouts.count,
        settings->sample.batch_size * settings->sample.batches_per_round);
    log_info("partition parts=%d cut_share=%.4f node_variation=%.4f edge_variation=%.4f "
             "train_variation=%.4f node_efficiency=%.4f edge_efficiency=%.4f train_efficiency=%.4f "
             "remote_features_a_round=%s",
             report.part_count, report.cut_share, report.nodes.variation, report.edges.variation,
             report.train.variation, partition_report_efficiency(&report, &report.nodes),
             partition_report_efficiency(&report, &report.edges),
             partition_report_efficiency(&report, &report.train), text_size(round_bytes, size));
    (void)printf("%spartition=%s parts=%d cut=%" PRIu64
                 " balance=%.4f replication=%.4f halo=%" PRIu64 " round_bytes=%" PRIu64 "\n",
                 unchanged ? "unchanged " : "", job->input.id, report.part_count, report.cut_edges,
                 report.nodes.ratio, report.replication_factor, report.halo, round_bytes);
    partition_report_release(&report);
    return rc;
}

static enum error_code partition_open(const struct stage_context *context, void **state,
                                      struct error *err)
{
    struct partition_job *job = NULL;
    const enum error_code rc = memory_new(&job, 1, "partition", err);
    if (rc == ERROR_NONE)
        job->context = context;
    *state = job;
    return rc;
}

static void partition_close(void *state)
{
    struct partition_job *job = state;
    if (!job)
        return;
    job_release(job);
    memory_free(job);
}

/* Sets the ref that names the partition, by compare-and-set. If another process has set it
 * meanwhile, the partition of the dataset that is newest now stays: a slower process must not
 * replace it by that of an older version. */
static enum error_code name_partition(const struct partition_job *job, const struct key *key,
                                      const char *before, struct error *err)
{
    struct store *store = job->context->store;
    char now[ID_SIZE], dataset_id[ID_SIZE];
    bool matched = false;
    (void)text_copy(now, sizeof now, before);
    for (int i = 0; i < NAME_ATTEMPTS; i++) {
        enum error_code rc = store_switch_exchange(store, key->text, now[0] ? now : NULL,
                                                   job->input.id, &matched, err);
        if (rc != ERROR_NONE || matched)
            return rc;
        rc = identity_named(store, key, now, err);
        if (rc != ERROR_NONE || strcmp(now, job->input.id) == 0)
            return rc;
        rc = partition_input_dataset(job->context, dataset_id, err);
        if (rc == ERROR_NONE && strcmp(dataset_id, job->input.schema.id) != 0)
            rc = error_set(err, ERROR_BUSY,
                           "while dataset %s was cut, another process named dataset %s and its "
                           "partition %s: that dataset must be partitioned",
                           job->input.schema.id, dataset_id, now);
        if (rc != ERROR_NONE)
            return rc;
    }
    return error_set(err, ERROR_BUSY, "the ref %s changed each time it was read", key->text);
}

static enum error_code partition_work(const struct stage_context *context, void *state,
                                      const struct unit *unit, struct error *err)
{
    struct partition_job *job = state;
    struct key newest;
    char before[ID_SIZE] = "";
    bool found = false;
    (void)unit;
    enum error_code rc = run_input_switch(context->settings, "partition", &newest, err);
    if (rc == ERROR_NONE)
        rc = identity_named(context->store, &newest, before, err);
    if (rc == ERROR_NONE)
        rc = partition_input_read(&job->input, context, err);
    if (context->trial_path)
        return rc == ERROR_NONE ? partition_trial(&job->input, err) : rc;
    if (rc == ERROR_NONE)
        rc = store_has(context->store, key_partition(job->input.id, "book").text, &found, err);
    if (rc == ERROR_NONE && found && !context->is_replay) {
        log_info("partition %s is unchanged", job->input.id);
        rc = find_base(job, err);
    } else if (rc == ERROR_NONE) {
        rc = build(job, err);
    }
    if (rc != ERROR_NONE || context->is_replay)
        return rc;
    rc = name_partition(job, &newest, before, err);
    if (rc == ERROR_NONE)
        rc = identity_note(context->store, job->input.id, err);
    return rc == ERROR_NONE ? print_report(job, found, err) : rc;
}

const struct stage stage = {
    .name = "partition",
    .summary = "cuts the graph into parts and lays out their topology and features",
    .reads = "dataset_schema, edge_chunk, feature_chunk, node_labels, node_splits, edge_splits, "
             "graph_index, dataset_delta, dataset_merge, partition_delta, node_placement",
    .writes = "assignment, topology_seal, shard_seal, node_splits, edge_splits, graph_index, "
              "partition_report, node_permutation, partition_book, partition_delta, node_placement",
    .form = STAGE_ONCE,
    .open = partition_open,
    .work = partition_work,
    .close = partition_close,
};
