#include "stages/infer/outputs/link_outputs.h"

#include "common/base/memory.h"
#include "common/base/stop_signal.h"
#include "common/base/text.h"
#include "common/files/file.h"
#include "common/nn/links/link_loss.h"
#include "common/nn/links/pair_pass.h"
#include "stages/infer/outputs/event_results.h"
#include "stages/infer/outputs/event_rows.h"
#include "stages/infer/outputs/link_ranks.h"
#include "stages/infer/outputs/prediction_table.h"
#include "stages/plan/model/link_rows.h"
#include "stages/plan/run/node_appearance.h"
#include "stages/sampling/pairs/pair_drawer.h"
#include "stages/sampling/pairs/pair_sides.h"
#include "stages/sampling/samplers/sampler.h"
#include "store/objects/keys.h"
#include "store/versions/merged_links.h"
#include "store/versions/merged_parts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    EDGES_MOST = 4096, /* edges of a block; a multiple of PIECE_EDGES */
    /* the loss of a piece is summed before it is added, so the sum is the same for blocks of any
     * size */
    PIECE_EDGES = 64,
    BLOCK_SHARE = 8,  /* share of the memory for the rows of a block */
    SCORE_SHARE = 8,  /* share of the memory for all scores */
    SCORE_BYTES = 18, /* bytes of a score while its array grows and is sorted */
    LINES_BYTES = 1 << 20
};

struct link_outputs { /* the state of one run */
    const struct link_outputs_config *config;
    const struct stage_context *context;
    struct decoder decoder;
    struct edge_splits splits;
    struct topology topology;
    int64_t *node_time; /* of the graph's nodes; NULL: they are always visible */
    struct known_pairs known;
    struct pair_ends ends;
    struct pair_sides sides; /* in a bipartite graph without relations */
    struct link_rows rows;
    struct node_permutation permutation; /* if it is read here */
    struct arena arena;                  /* memory of a block */
    struct link_ranks ranks;
    /* For events that see earlier held-out ones (infer.history); otherwise NULL. */
    struct event_rows_config events_config;
    struct event_rows *events;
    struct event_results results; /* of the current split */
    struct prediction_lines lines;
    int fd_plus_one;
};

/* Edges first .. first + count - 1 of a split. */
struct block {
    int split;
    uint64_t first;
    uint32_t count;
    const uint32_t *source, *target; /* [count] nodes */
    const uint16_t *type;            /* [count]; NULL: edges have none */
    struct edge_times time;          /* [count]; {0}: edges have none */
    struct pair_rows pairs;
    float *score;              /* [pairs, outputs] */
    struct link_rank *rank[2]; /* [count] ranks of targets and of sources; NULL: not ranked */
    float *label; /* [count] label rows in the form of the task; NULL: links have none */
};

static uint32_t negatives_of(const struct link_outputs *o)
{
    return (uint32_t)pipeline_evaluation_negatives(o->context->settings);
}

/* Returns the task of labelled edges; NULL for links. */
static const struct task *task_of_labels(const struct link_outputs *o)
{
    const enum task_kind kind = o->context->book->task;
    return task_has(kind, TASK_LABELS_EDGES) ? task_of(kind) : NULL;
}

static enum corrupted_end corrupted(const struct link_outputs *o)
{
    return (enum corrupted_end)o->context->settings->sample.corrupt;
}

/* Returns whether that end of held-out edges is ranked. */
static bool ranks_end(const struct link_outputs *o, enum pair_end end)
{
    const int64_t ranked = o->context->settings->infer.ranked_end;
    return o->context->settings->infer.ranking != RANKING_NONE &&
           (ranked == CORRUPT_BOTH || (ranked == CORRUPT_SOURCE) == (end == PAIR_SOURCE));
}

/* Returns whether the edges of the split have candidates to rank them among. */
static bool has_candidates(const struct link_outputs *o, int split)
{
    return o->context->settings->infer.ranking != RANKING_GIVEN ||
           o->splits.negative[split].start != NULL;
}

static struct tally *tally_of(const struct link_outputs *o, const struct block *block)
{
    return &o->config->tally[block->split == HELD_OUT_VALID ? SPLIT_VALID : SPLIT_TEST];
}

/* --- opening --- */

static enum error_code open_events(struct link_outputs *o, struct error *err)
{
    const struct stage_context *context = o->context;
    o->events_config = (struct event_rows_config){.context = context,
                                                  .model = o->config->request->model,
                                                  .weights = o->config->request->weights,
                                                  .identity = o->config->request->identity,
                                                  .training = &o->topology,
                                                  .splits = &o->splits,
                                                  .budget_bytes = context->memory_bytes / 2};
    o->rows =
        (struct link_rows){.ends = &o->ends, .dim = o->decoder.dim, .compute = event_rows_fetch};
    const enum error_code rc = event_rows_new(&o->events_config, &o->events, err);
    o->rows.context = o->events;
    return rc;
}

static enum error_code open_rows(struct link_outputs *o, struct error *err)
{
    const struct stage_context *context = o->context;
    if (context->schedule->shows_history)
        return open_events(o, err);
    const struct link_rows_config config = {
        .store = context->store,
        .run_id = context->run_id,
        .layer = o->config->request->model->config.layer_count,
        .dim = o->decoder.dim,
        .weights = o->config->request->identity,
        .ends = &o->ends,
        .budget_bytes = context->memory_bytes / 2,
        .sharers = context->sharers,
        .pool = context->pool,
    };
    return link_rows_open(&o->rows, &config, err);
}

/* Checks that all scores fit in memory. They are all held, because their metrics are exact. */
static enum error_code check_scores(const struct link_outputs *o, struct error *err)
{
    const uint64_t *count = o->splits.count;
    const struct task *task = task_of_labels(o);
    const uint64_t scores = task ? task_score_columns(task, o->context->book->class_count)
                                 : 1 + (uint64_t)negatives_of(o);
    const uint64_t pairs = (count[HELD_OUT_VALID] + count[HELD_OUT_TEST]) * scores;
    const uint64_t budget = o->context->memory_bytes / SCORE_SHARE;
    char want[32], have[32];
    if (budget == 0 || pairs * SCORE_BYTES <= budget)
        return ERROR_NONE;
    return error_set(err, ERROR_NO_MEMORY,
                     "the scores of %" PRIu64 " pairs want %s, the budget for them is %s; " ADVICE
                     "give "
                     "more --memory%s",
                     pairs, text_size(pairs * SCORE_BYTES, want), text_size(budget, have),
                     task ? "" : ", or set sample.evaluation_negatives lower");
}

static enum error_code open_topology(struct link_outputs *o, struct error *err)
{
    const struct stage_context *context = o->context;
    if (task_of_labels(o) && !context->schedule->shows_history)
        return ERROR_NONE;
    enum error_code rc = topology_open(context->store, context->book, &o->topology, err);
    if (rc == ERROR_NONE)
        rc = node_appearance_open(context->settings, context->store, context->book, &o->topology,
                                  &o->node_time, err);
    return rc == ERROR_NONE ? topology_open_parts(&o->topology, context->pool, err) : rc;
}

/* Opens the known pairs, which are not drawn as negatives. */
static enum error_code open_known(struct link_outputs *o, struct error *err)
{
    const struct stage_context *context = o->context;
    const struct known_pairs_config known = {
        .topology = &o->topology,
        .splits = &o->splits,
        .type_count = context->book->pair_type_count,
        .is_timed = sampler_goes_by_time(pipeline_sampler(context->settings)),
        .budget_bytes = context->memory_bytes / BLOCK_SHARE};
    const enum error_code rc = known_pairs_init(&o->known, &known, err);
    return rc == ERROR_NONE ? pair_sides_init(&o->sides, &o->topology, &o->splits, err) : rc;
}

/* Returns whether the graph is a knowledge graph: several types of edges between nodes of one
 * type. Its ranks count every entity. */
static bool is_knowledge_graph(const struct link_outputs *o)
{
    return o->ends.ranges.type_count == 1 && o->context->book->pair_type_count > 1;
}

static enum error_code open_all(struct link_outputs *o, struct error *err)
{
    const struct stage_context *context = o->context;
    const struct partition_book *book = context->book;
    o->decoder = model_decoder(o->config->request->model, o->config->request->weights);
    o->arena.limit = context->memory_bytes / BLOCK_SHARE;
    enum error_code rc = merged_part_links_get(context->store, book, &o->splits, err);
    if (rc == ERROR_NONE)
        rc = check_scores(o, err);
    if (rc == ERROR_NONE && task_of_labels(o) && !o->splits.is_labelled)
        rc = error_set(err, ERROR_CORRUPT, "%s: expected labels of edges, found none",
                       o->splits.view.key);
    if (rc == ERROR_NONE)
        rc = open_topology(o, err);
    if (rc == ERROR_NONE && !task_of_labels(o))
        rc = open_known(o, err);
    if (rc == ERROR_NONE)
        rc = pair_ends_init(&o->ends, book, err);
    if (rc == ERROR_NONE)
        rc = open_rows(o, err);
    if (rc == ERROR_NONE && !o->config->permutation)
        rc = merged_permutation_get(context->store, book->id, book->node_count, &o->permutation,
                                    err);
    if (rc == ERROR_NONE && o->config->path) {
        const int fd = open(o->config->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0)
            return error_set_errno(err, ERROR_IO, "%s cannot be created", o->config->path);
        o->fd_plus_one = fd + 1;
        const bool has_types = book->pair_type_count > 0;
        const char *header = task_of_labels(o)
                                 ? prediction_edge_header(has_types)
                                 : prediction_link_header(has_types, ranks_end(o, PAIR_SOURCE));
        rc = file_write_all(fd, header, strlen(header), o->config->path, err);
    }
    o->ranks = (struct link_ranks){.decoder = &o->decoder,
                                   .known = context->settings->infer.filtered ? &o->known : NULL,
                                   .leaves_out_other = !is_knowledge_graph(o),
                                   .sides = pair_sides_are_known(&o->sides) ? &o->sides : NULL,
                                   .rows = &o->rows,
                                   .seed = context->schedule->seed,
                                   .candidates = (uint32_t)context->settings->infer.candidates,
                                   .arena = &o->arena,
                                   .pool = context->pool};
    return rc;
}

static enum error_code close_all(struct link_outputs *o, enum error_code rc, struct error *err)
{
    if (o->fd_plus_one && close(o->fd_plus_one - 1) != 0 && rc == ERROR_NONE)
        rc = error_set_errno(err, ERROR_IO, "%s cannot be written", o->config->path);
    prediction_lines_release(&o->lines);
    arena_release(&o->arena);
    link_rows_close(&o->rows);
    event_results_release(&o->results);
    event_rows_free(o->events);
    pair_ends_release(&o->ends);
    store_release_record(&o->permutation.view);
    known_pairs_release(&o->known);
    pair_sides_release(&o->sides);
    topology_close(&o->topology);
    memory_free(o->node_time);
    store_release_record(&o->splits.view);
    return rc;
}

/* --- a block --- */

static uint32_t block_edges(const struct link_outputs *o)
{
    const uint64_t each = ((4 + (uint64_t)negatives_of(o)) * (o->decoder.dim + 4) +
                           (1 + (uint64_t)negatives_of(o)) * (o->decoder.outputs - 1)) *
                          sizeof(float);
    const uint64_t fit = o->arena.limit ? o->arena.limit / 2 / each : EDGES_MOST;
    if (fit < 2 * (uint64_t)PIECE_EDGES)
        return PIECE_EDGES;
    return fit < EDGES_MOST ? (uint32_t)fit / PIECE_EDGES * PIECE_EDGES : EDGES_MOST;
}

/* Returns the pairs of a split. */
static struct pair_request request_of(const struct link_outputs *o, int split)
{
    return (struct pair_request){
        .seed = o->context->schedule->seed,
        .use = PAIRS_OF_TEST,
        .round = (uint32_t)split,
        .negative = NEGATIVE_UNIFORM,
        .negatives = negatives_of(o),
        .known = &o->known,
        .positive_count = (uint32_t)o->splits.count[split],
        .source = o->splits.source[split],
        .target = o->splits.target[split],
        .type = o->splits.type[split],
        .time = o->splits.time[split],
        .ends = pair_ends_have_types(&o->ends) ? &o->ends : NULL,
        .sides = pair_sides_are_known(&o->sides) ? &o->sides : NULL,
        .corrupt = corrupted(o),
    };
}

/* Lists the nodes of all pairs: sources, targets, and the negatives of each edge. */
static void list_nodes(const struct link_outputs *o, const struct block *block, uint32_t *node)
{
    const uint32_t negatives = negatives_of(o);
    const struct pair_request request = request_of(o, block->split);
    memcpy(node, block->source, block->count * sizeof *node);
    memcpy(node + block->count, block->target, block->count * sizeof *node);
    node += 2 * (size_t)block->count;
    for (uint32_t i = 0; i < block->count; i++)
        for (uint32_t k = 0; k < negatives; k++)
            *node++ = pair_drawer_negative(&request, o->topology.node_count,
                                           (uint32_t)(block->first + i), k);
}

static enum error_code fill_block(struct link_outputs *o, struct block *block, struct error *err)
{
    const size_t count = block->count, negatives = negatives_of(o), all = count * (2 + negatives);
    uint32_t *node = NULL, *place = NULL;
    float *row = NULL;
    enum error_code rc = arena_new(&o->arena, &node, all, "the ends of pairs", err);
    if (rc == ERROR_NONE)
        rc = arena_new(&o->arena, &place, all, "the places of pairs", err);
    if (rc == ERROR_NONE)
        rc = arena_new(&o->arena, &row, all * o->decoder.dim, "the rows of pairs", err);
    if (rc != ERROR_NONE)
        return rc;
    list_nodes(o, block, node);
    rc = link_rows_fetch(&o->rows, node, all, row, err);
    if (rc != ERROR_NONE)
        return rc;
    for (size_t i = 0; i < all; i++)
        place[i] = (uint32_t)i;
    block->pairs = (struct pair_rows){.row = row,
                                      .positive_count = block->count,
                                      .negatives_each = (uint32_t)negatives,
                                      .row_count = (uint32_t)all,
                                      .source = place,
                                      .target = place + count,
                                      .relation = block->type,
                                      .corrupt = corrupted(o)};
    return ERROR_NONE;
}

/* Adds edges first .. first + count - 1 of the block to the tally. `score` and `truth` [pairs of
 * a piece] are scratch. */
static enum error_code add_piece(struct link_outputs *o, const struct block *block, uint32_t first,
                                 uint32_t count, float *score, uint8_t *truth, struct error *err)
{
    const struct pipeline_settings *settings = o->context->settings;
    const struct link_loss loss = {.kind = settings->train_step.link_loss,
                                   .margin = (float)settings->train_step.link_margin};
    const size_t negatives = negatives_of(o), pairs = count * (1 + negatives);
    memcpy(score, block->score + first, count * sizeof *score);
    memcpy(score + count, block->score + block->count + first * negatives,
           count * negatives * sizeof *score);
    memset(truth, 0, pairs);
    memset(truth, 1, count);
    const struct loss_result result =
        link_loss_compute(&loss, score, count, (uint32_t)negatives, NULL);
    return tally_add_pairs(tally_of(o, block), &result, score, truth, pairs, err);
}

/* Returns the number of scores of an edge, with its negatives. */
static size_t scores_each(const struct link_outputs *o)
{
    return task_of_labels(o) ? o->decoder.outputs : 1 + (size_t)negatives_of(o);
}

static enum error_code score_block(struct link_outputs *o, struct block *block, struct error *err)
{
    const enum error_code rc =
        arena_new(&o->arena, &block->score, block->count * scores_each(o), "scores", err);
    return rc == ERROR_NONE ? pair_pass_scores(&o->decoder, &block->pairs, &o->arena,
                                               o->context->pool, block->score, err)
                            : rc;
}

/* Counts labelled edges, in the same pieces as links. */
static enum error_code count_labelled(struct link_outputs *o, struct block *block,
                                      struct error *err)
{
    const struct task *task = task_of_labels(o);
    const size_t outputs = o->decoder.outputs;
    enum error_code rc = arena_new(&o->arena, &block->label, block->count, "labels of edges", err);
    if (rc == ERROR_NONE)
        rc = task_take_labels(task, o->splits.label[block->split] + block->first, block->count,
                              o->decoder.outputs, block->label, err);
    for (uint32_t first = 0; rc == ERROR_NONE && first < block->count; first += PIECE_EDGES) {
        const uint32_t left = block->count - first;
        rc = tally_add(tally_of(o, block), block->score + first * outputs, block->label + first,
                       left < PIECE_EDGES ? left : PIECE_EDGES, err);
    }
    return rc;
}

static enum error_code count_pairs(struct link_outputs *o, const struct block *block,
                                   struct error *err)
{
    const size_t each = scores_each(o);
    float *score = NULL;
    uint8_t *truth = NULL;
    enum error_code rc = arena_new(&o->arena, &score, PIECE_EDGES * each, "scores", err);
    if (rc == ERROR_NONE)
        rc = arena_new(&o->arena, &truth, PIECE_EDGES * each, "which pairs are edges", err);
    for (uint32_t first = 0; rc == ERROR_NONE && first < block->count; first += PIECE_EDGES) {
        const uint32_t left = block->count - first;
        rc = add_piece(o, block, first, left < PIECE_EDGES ? left : PIECE_EDGES, score, truth, err);
    }
    return rc;
}

/* Ranks one end of the edges of a block. */
static enum error_code rank_end(struct link_outputs *o, struct block *block, enum pair_end end,
                                struct error *err)
{
    const float *source_row = block->pairs.row;
    const float *target_row = source_row + (size_t)block->count * o->decoder.dim;
    struct link_rank **rank = &block->rank[end == PAIR_SOURCE];
    const struct ranked_edges edges = {.split = (uint32_t)block->split,
                                       .first = block->first,
                                       .count = block->count,
                                       .ranked = end,
                                       .source = block->source,
                                       .target = block->target,
                                       .type = block->type,
                                       .time = block->time,
                                       .row = end == PAIR_TARGET ? source_row : target_row,
                                       .own_row = end == PAIR_TARGET ? target_row : source_row};
    const enum error_code rc = arena_new(&o->arena, rank, block->count, "ranks", err);
    if (rc != ERROR_NONE)
        return rc;
    if (o->context->settings->infer.ranking == RANKING_GIVEN)
        return link_ranks_given(&o->ranks, &edges, &o->splits.negative[block->split], *rank, err);
    return o->context->settings->infer.ranking == RANKING_ALL
               ? link_ranks_all(&o->ranks, &edges, *rank, err)
               : link_ranks_sampled(&o->ranks, &edges, *rank, err);
}

static enum error_code rank_block(struct link_outputs *o, struct block *block, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (!has_candidates(o, block->split))
        return ERROR_NONE;
    if (ranks_end(o, PAIR_TARGET))
        rc = rank_end(o, block, PAIR_TARGET, err);
    if (rc == ERROR_NONE && ranks_end(o, PAIR_SOURCE))
        rc = rank_end(o, block, PAIR_SOURCE, err);
    return rc;
}

/* Counts the ranks. The counts are integers, so the sum is the same for any blocks. */
static void count_ranks(const struct link_outputs *o, const struct block *block)
{
    for (uint32_t i = 0; i < block->count; i++)
        for (int end = 0; end < 2; end++)
            if (block->rank[end])
                tally_add_rank(tally_of(o, block), block->rank[end][i].above,
                               block->rank[end][i].equal);
}

/* Returns the rank of edge `i`; 0 if it was not ranked. */
static double mean_rank(const struct link_rank *rank, uint32_t i)
{
    return rank ? 1 + (double)rank[i].above + (double)rank[i].equal / 2 : 0;
}

static enum error_code add_line(struct link_outputs *o, const struct block *block, uint32_t i,
                                const struct prediction_table *table, struct error *err)
{
    const uint32_t *to_dataset =
        (o->config->permutation ? o->config->permutation : &o->permutation)->to_dataset;
    char type[8];
    if (block->type)
        (void)snprintf(type, sizeof type, "%u", block->type[i]);
    const struct prediction_link link = {
        .source = to_dataset[block->source[i]],
        .target = to_dataset[block->target[i]],
        .split = held_out_name[block->split],
        .type = block->type ? type : NULL,
        .score = block->score[i],
        .rank = {mean_rank(block->rank[0], i), mean_rank(block->rank[1], i)},
        .ranks_source = ranks_end(o, PAIR_SOURCE),
    };
    if (!block->label)
        return prediction_lines_add_link(&o->lines, table, &link, err);
    return prediction_lines_add_edge(&o->lines, table, &link,
                                     block->score + (size_t)i * o->decoder.outputs,
                                     block->label + i, err);
}

static enum error_code write_lines(struct link_outputs *o, const struct block *block, bool is_last,
                                   struct error *err)
{
    const struct prediction_table table = {
        .ids = o->config->ids, .task = task_of_labels(o), .class_count = o->decoder.outputs};
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && o->config->path && i < block->count; i++)
        rc = add_line(o, block, i, &table, err);
    if (rc != ERROR_NONE || !o->lines.size || (o->lines.size < LINES_BYTES && !is_last))
        return rc;
    rc = file_write_all(o->fd_plus_one - 1, o->lines.text, o->lines.size, o->config->path, err);
    o->lines.size = 0;
    return rc;
}

/* Computes scores and ranks of the edges of a block. */
static enum error_code compute_block(struct link_outputs *o, struct block *block, struct error *err)
{
    enum error_code rc = fill_block(o, block, err);
    if (rc == ERROR_NONE)
        rc = score_block(o, block, err);
    return rc == ERROR_NONE && !task_of_labels(o) ? rank_block(o, block, err) : rc;
}

/* Copies the scores of events, which were computed in the order of time. */
static enum error_code recall_block(struct link_outputs *o, struct block *block, struct error *err)
{
    const enum error_code rc =
        arena_new(&o->arena, &block->score, block->count * scores_each(o), "scores", err);
    if (rc == ERROR_NONE)
        event_results_take(&o->results, block->first, block->count, block->score, block->rank);
    return rc;
}

static enum error_code measure_block(struct link_outputs *o, struct block *block, bool is_last,
                                     struct error *err)
{
    arena_reset(&o->arena);
    enum error_code rc = o->events ? recall_block(o, block, err) : compute_block(o, block, err);
    if (rc == ERROR_NONE && task_of_labels(o))
        rc = count_labelled(o, block, err);
    else if (rc == ERROR_NONE)
        rc = count_pairs(o, block, err);
    if (rc == ERROR_NONE)
        count_ranks(o, block);
    return rc == ERROR_NONE ? write_lines(o, block, is_last, err) : rc;
}

static struct block block_at(const struct link_outputs *o, int split, uint64_t first,
                             uint32_t count)
{
    const uint16_t *type = o->splits.type[split];
    return (struct block){.split = split,
                          .first = first,
                          .count = count,
                          .source = o->splits.source[split] + first,
                          .target = o->splits.target[split] + first,
                          .type = type ? type + first : NULL,
                          .time = edge_times_from(o->splits.time[split], first)};
}

/* Computes the events of a split one by one, each from the rows at its time. */
static enum error_code compute_events(struct link_outputs *o, int split, struct error *err)
{
    const uint32_t negatives = task_of_labels(o) ? 0 : negatives_of(o);
    const struct event_results_form form = {.count = o->splits.count[split],
                                            .time = o->splits.time[split],
                                            .outputs = task_of_labels(o) ? o->decoder.outputs : 1,
                                            .negatives = negatives};
    must(form.time.word || form.count == 0);
    enum error_code rc = event_results_begin(&o->results, &form, err);
    for (uint64_t k = 0; rc == ERROR_NONE && k < form.count; k++) {
        const uint64_t i = event_results_at(&o->results, k);
        struct block block = block_at(o, split, i, 1);
        if (stop_signal_seen())
            return error_set(err, ERROR_UNAVAILABLE, "stopped inside the events of a split");
        arena_reset(&o->arena);
        rc = event_rows_advance(o->events, edge_time_at(form.time, i), err);
        if (rc == ERROR_NONE)
            rc = compute_block(o, &block, err);
        if (rc == ERROR_NONE)
            event_results_keep(&o->results, i, block.score, block.rank);
    }
    return rc;
}

static enum error_code measure_split(struct link_outputs *o, int split, struct error *err)
{
    const uint64_t count = o->splits.count[split];
    const uint32_t step = block_edges(o);
    enum error_code rc = o->events ? compute_events(o, split, err) : ERROR_NONE;
    for (uint64_t first = 0; rc == ERROR_NONE && first < count; first += step) {
        struct block block =
            block_at(o, split, first, count - first < step ? (uint32_t)(count - first) : step);
        rc = measure_block(o, &block, first + step >= count, err);
    }
    return rc;
}

static enum error_code measure_edge_bank(const struct link_outputs *o, struct error *err)
{
    const struct pipeline_settings *settings = o->context->settings;
    const struct pair_request valid = request_of(o, HELD_OUT_VALID);
    const struct pair_request test = request_of(o, HELD_OUT_TEST);
    if (!edge_bank_is_wanted(settings))
        return ERROR_NONE;
    const struct edge_bank_config config = {.topology = &o->topology,
                                            .splits = &o->splits,
                                            .history = pipeline_history(settings),
                                            .request = {&valid, &test},
                                            .budget_bytes = o->context->memory_bytes / SCORE_SHARE};
    return edge_bank_measure(&config, o->config->edge_bank, err);
}

enum error_code link_outputs_run(const struct link_outputs_config *config, struct error *err)
{
    struct link_outputs o = {.config = config, .context = config->request->context};
    enum error_code rc = open_all(&o, err);
    for (int split = 0; rc == ERROR_NONE && split < HELD_OUT_COUNT; split++) {
        rc = measure_split(&o, split, err);
        config->split_counts[split == HELD_OUT_VALID ? SPLIT_VALID : SPLIT_TEST] =
            o.splits.count[split];
    }
    if (rc == ERROR_NONE)
        rc = measure_edge_bank(&o, err);
    return close_all(&o, rc, err);
}
