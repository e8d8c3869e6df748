#include "pipelines/questions/link_scorer.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/plan/model/run_model.h"
#include "store/objects/keys.h"
#include "store/topology/topology.h"
#include "store/versions/merged_links.h"
#include "store/versions/merged_parts.h"

#include <string.h>

enum { TILE_NODES = 2048, PIECE_LINKS = 4096, SHARE_OF_MEMORY = 4 };

/* ---- opening
 * ---------------------------------------------------------------------------------- */

static enum error_code open_rows(struct link_scorer *s, uint64_t budget_bytes, struct error *err)
{
    const struct run_binding *run = &s->folder->run;
    const float *value = NULL;
    const struct weights_identity identity =
        weights_identity_of(&s->snapshot, run->schedule.infers_best, &value);
    if (chain_weights_version(&run->schedule, &s->snapshot) < 0)
        return error_set(err, ERROR_NOT_FOUND, "run %s has not ended: nothing is inferred yet",
                         run->plan.id);
    if (s->snapshot.value_count != s->model->value_count)
        return error_set(err, ERROR_CORRUPT, "the snapshot does not fit the model of run %s",
                         run->plan.id);
    s->decoder = model_decoder(s->model, value);
    const struct link_rows_config config = {.store = s->folder->store,
                                            .run_id = run->plan.id,
                                            .layer = run->schedule.layer_count,
                                            .dim = s->decoder.dim,
                                            .weights = &identity,
                                            .ends = &s->ends,
                                            .budget_bytes = budget_bytes,
                                            .pool = s->pool};
    const enum error_code rc = pair_ends_init(&s->ends, &run->book, err);
    return rc == ERROR_NONE ? link_rows_open(&s->rows, &config, err) : rc;
}

static enum error_code open_known(struct link_scorer *s, uint64_t budget_bytes, struct error *err)
{
    const struct partition_book *book = &s->folder->run.book;
    enum error_code rc = merged_part_links_get(s->folder->store, book, &s->splits, err);
    if (rc == ERROR_NONE)
        rc = topology_open(s->folder->store, book, &s->topology, err);
    if (rc == ERROR_NONE)
        rc = topology_open_parts(&s->topology, s->pool, err);
    const struct known_pairs_config known = {.topology = &s->topology,
                                             .splits = &s->splits,
                                             .type_count = book->pair_type_count,
                                             .budget_bytes = budget_bytes};
    if (rc == ERROR_NONE)
        rc = known_pairs_init(&s->known, &known, err);
    s->leaves_known_out = rc == ERROR_NONE;
    return rc;
}

enum error_code link_scorer_open(struct link_scorer *scorer, const struct run_folder *folder,
                                 bool new_only, uint64_t memory_bytes, int threads,
                                 struct error *err)
{
    const struct run_binding *run = &folder->run;
    const uint64_t share = memory_bytes / SHARE_OF_MEMORY;
    *scorer = (struct link_scorer){.folder = folder, .arena = {.limit = share}};
    if (!task_has(run->book.task, TASK_RANKS))
        return error_set(err, ERROR_INVALID,
                         "run %s learns %s, not links: expected a run with `task: link_prediction` "
                         "below `ingest:`",
                         run->plan.id, task_name(run->book.task));
    enum error_code rc = memory_new(&scorer->model, 1, "a model", err);
    if (rc == ERROR_NONE)
        rc = run_model_init(scorer->model, &run->settings, &run->book, err);
    if (rc == ERROR_NONE)
        rc = thread_pool_new(threads, &scorer->pool, err);
    if (rc == ERROR_NONE)
        rc = snapshot_get_current(folder->store, run->plan.id, &scorer->snapshot, err);
    if (rc == ERROR_NONE)
        rc = merged_permutation_get(folder->store, run->book.id, run->book.node_count,
                                    &scorer->permutation, err);
    if (rc == ERROR_NONE)
        rc = open_rows(scorer, 2 * share, err);
    return rc == ERROR_NONE && new_only ? open_known(scorer, share, err) : rc;
}

void link_scorer_close(struct link_scorer *scorer)
{
    arena_release(&scorer->arena);
    known_pairs_release(&scorer->known);
    topology_close(&scorer->topology);
    store_release_record(&scorer->splits.view);
    link_rows_close(&scorer->rows);
    pair_ends_release(&scorer->ends);
    store_release_record(&scorer->permutation.view);
    store_release_record(&scorer->snapshot.view);
    thread_pool_free(scorer->pool);
    memory_free(scorer->model);
    *scorer = (struct link_scorer){0};
}

/* Reads the rows of one end of some links into the arena; `node` [count] receives the partition
 * nodes. */
static enum error_code fetch_end(struct link_scorer *s, const struct asked_link *link, size_t count,
                                 enum pair_end end, uint32_t **node, float **row, struct error *err)
{
    enum error_code rc = arena_new(&s->arena, node, count, "the ends of links", err);
    if (rc == ERROR_NONE)
        rc = arena_new(&s->arena, row, count * s->decoder.dim, "the rows of links", err);
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++)
        (*node)[i] =
            s->permutation.to_partition[end == PAIR_SOURCE ? link[i].source : link[i].target];
    return rc == ERROR_NONE ? link_rows_fetch(&s->rows, *node, count, *row, err) : rc;
}

/* ---- scores
 * ----------------------------------------------------------------------------------- */

static enum error_code score_piece(struct link_scorer *s, const struct asked_link *link,
                                   size_t count, float *score, struct error *err)
{
    const struct decoder *decoder = &s->decoder;
    const size_t dim = decoder->dim;
    uint32_t *source = NULL, *target = NULL;
    float *source_row = NULL, *target_row = NULL, *room = NULL;
    arena_reset(&s->arena);
    enum error_code rc = fetch_end(s, link, count, PAIR_SOURCE, &source, &source_row, err);
    if (rc == ERROR_NONE)
        rc = fetch_end(s, link, count, PAIR_TARGET, &target, &target_row, err);
    if (rc == ERROR_NONE)
        rc = arena_new(&s->arena, &room, dim + decoder_scratch(decoder->dim), "a query", err);
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++) {
        decoder->type->prepare(decoder, PAIR_SOURCE, link[i].type, source_row + i * dim, room);
        decoder->type->score(decoder, PAIR_SOURCE, room, target_row + i * dim, NULL, 1, &score[i],
                             room + dim);
    }
    return rc;
}

enum error_code link_scorer_scores(struct link_scorer *scorer, const struct asked_link *link,
                                   size_t count, float *score, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (size_t first = 0; rc == ERROR_NONE && first < count; first += PIECE_LINKS) {
        const size_t left = count - first;
        rc = score_piece(scorer, link + first, left < PIECE_LINKS ? left : PIECE_LINKS,
                         score + first, err);
    }
    return rc;
}

/* ---- partners
 * --------------------------------------------------------------------------------- */

struct search { /* state of the search for the partners of a block of nodes */
    struct link_scorer *scorer;
    const struct asked_link *link;
    enum pair_end stays;
    uint32_t best;
    const uint32_t *node;             /* [count], the fixed ends, as partition nodes */
    const float *stays_row;           /* [count, dim] */
    float *query;                     /* [count, dim] */
    float *room;                      /* [threads, tile and scratch] */
    float *row;                       /* [tile, dim], rows of candidates */
    uint32_t type, first, tile_count; /* the candidates, by number in their type */
    struct link_partner *partner; /* [count, best], a heap with the worst on top; partition nodes */
    uint32_t *found;              /* [count] */
};

static size_t room_of(const struct link_scorer *s)
{
    return TILE_NODES + decoder_scratch(s->decoder.dim);
}

/* Returns whether `a` ranks after `b`: by score, and of equal scores the later node. */
static bool is_worse(const struct link_partner *a, const struct link_partner *b)
{
    return a->score < b->score || (a->score <= b->score && a->node > b->node);
}

static void sift_down(struct link_partner *heap, uint32_t count)
{
    uint32_t at = 0;
    for (;;) {
        uint32_t worst = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            worst = is_worse(&heap[child], &heap[worst]) ? child : worst;
        if (worst == at)
            return;
        const struct link_partner moved = heap[at];
        heap[at] = heap[worst];
        heap[worst] = moved;
        at = worst;
    }
}

static void sift_up(struct link_partner *heap, uint32_t at)
{
    while (at > 0 && is_worse(&heap[at], &heap[(at - 1) / 2])) {
        const struct link_partner moved = heap[at];
        heap[at] = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = moved;
        at = (at - 1) / 2;
    }
}

static bool is_partner(const struct search *search, size_t i, uint32_t node)
{
    const struct link_scorer *s = search->scorer;
    const uint32_t own = search->node[i];
    if (node == own)
        return false;
    if (!s->leaves_known_out)
        return true;
    return search->stays == PAIR_SOURCE
               ? !known_pairs_has(&s->known, own, node, search->link[i].type, 0)
               : !known_pairs_has(&s->known, node, own, search->link[i].type, 0);
}

static void offer(const struct search *search, size_t i, uint32_t node, float score)
{
    struct link_partner *heap = search->partner + i * search->best;
    uint32_t *found = &search->found[i];
    const struct link_partner offered = {node, score};
    const bool is_full = *found == search->best;
    if ((is_full && !is_worse(&heap[0], &offered)) || !is_partner(search, i, node))
        return;
    if (is_full) {
        heap[0] = offered;
        sift_down(heap, *found);
    } else {
        heap[*found] = offered;
        sift_up(heap, (*found)++);
    }
}

static void prepare_query(void *context, int64_t i, int thread)
{
    const struct search *search = context;
    const struct decoder *decoder = &search->scorer->decoder;
    const size_t at = (size_t)i * decoder->dim;
    (void)thread;
    decoder->type->prepare(decoder, search->stays, search->link[i].type, search->stays_row + at,
                           search->query + at);
}

/* Returns the type of the partners of link i. */
static uint32_t type_of_partners(const struct search *search, size_t i)
{
    return pair_ends_type(&search->scorer->ends, search->link[i].type,
                          search->stays == PAIR_SOURCE ? PAIR_TARGET : PAIR_SOURCE);
}

static void search_tile(void *context, int64_t i, int thread)
{
    const struct search *search = context;
    const struct decoder *decoder = &search->scorer->decoder;
    if (type_of_partners(search, (size_t)i) != search->type)
        return;
    float *score = search->room + (size_t)thread * room_of(search->scorer);
    decoder->type->score(decoder, search->stays, search->query + (size_t)i * decoder->dim,
                         search->row, NULL, search->tile_count, score, score + TILE_NODES);
    for (uint32_t k = 0; k < search->tile_count; k++)
        offer(search, (size_t)i,
              pair_ends_node(&search->scorer->ends, search->type, search->first + k), score[k]);
}

/* Sorts the heap into a list, best first, and converts it to nodes of the dataset. */
static void settle(void *context, int64_t i, int thread)
{
    const struct search *search = context;
    struct link_partner *heap = search->partner + (size_t)i * search->best;
    (void)thread;
    for (uint32_t count = search->found[i]; count > 1; count--) {
        const struct link_partner worst = heap[0];
        heap[0] = heap[count - 1];
        heap[count - 1] = worst;
        sift_down(heap, count - 1);
    }
    for (uint32_t k = 0; k < search->found[i]; k++)
        heap[k].node = search->scorer->permutation.to_dataset[heap[k].node];
}

/* Scores all nodes of a type. */
static enum error_code search_type(struct search *search, uint32_t type, size_t count,
                                   struct error *err)
{
    struct link_scorer *s = search->scorer;
    const uint32_t nodes = pair_ends_count(&s->ends, type);
    enum error_code rc = ERROR_NONE;
    search->type = type;
    for (uint32_t first = 0; rc == ERROR_NONE && first < nodes; first += search->tile_count) {
        search->first = first;
        search->tile_count = nodes - first < TILE_NODES ? nodes - first : TILE_NODES;
        rc = link_rows_read(&s->rows, type, first, first + search->tile_count, search->row, err);
        if (rc == ERROR_NONE)
            thread_pool_run(s->pool, (int64_t)count, search_tile, search);
    }
    return rc;
}

static enum error_code search_block(struct search *search, size_t count, struct error *err)
{
    struct link_scorer *s = search->scorer;
    const size_t dim = s->decoder.dim;
    bool wanted[RELATION_TYPE_COUNT_MAX] = {false};
    uint32_t *node = NULL;
    float *stays_row = NULL;
    arena_reset(&s->arena);
    enum error_code rc = fetch_end(s, search->link, count, search->stays, &node, &stays_row, err);
    if (rc == ERROR_NONE)
        rc = arena_new(&s->arena, &search->query, count * dim, "queries", err);
    if (rc == ERROR_NONE)
        rc = arena_new(&s->arena, &search->room, (size_t)thread_pool_size(s->pool) * room_of(s),
                       "scores", err);
    if (rc == ERROR_NONE)
        rc = arena_new(&s->arena, &search->row, TILE_NODES * dim, "rows of candidates", err);
    if (rc != ERROR_NONE)
        return rc;
    search->node = node;
    search->stays_row = stays_row;
    memset(search->found, 0, count * sizeof *search->found);
    thread_pool_run(s->pool, (int64_t)count, prepare_query, search);
    for (size_t i = 0; i < count; i++)
        wanted[type_of_partners(search, i)] = true;
    for (uint32_t t = 0; rc == ERROR_NONE && t < s->ends.ranges.type_count; t++)
        if (wanted[t])
            rc = search_type(search, t, count, err);
    if (rc == ERROR_NONE)
        thread_pool_run(s->pool, (int64_t)count, settle, search);
    return rc;
}

/* Returns how many nodes fit in the budget at once, next to a tile of candidates and the scores of
 * each thread. */
static size_t block_links(const struct link_scorer *s)
{
    const size_t dim = s->decoder.dim, each = (2 * dim + 1) * sizeof(float);
    const size_t fixed =
        (TILE_NODES * dim + (size_t)thread_pool_size(s->pool) * room_of(s)) * sizeof(float);
    if (!s->arena.limit)
        return PIECE_LINKS;
    const size_t fit = s->arena.limit > 2 * fixed ? (s->arena.limit - 2 * fixed) / 2 / each : 1;
    return fit < 1 ? 1 : fit < PIECE_LINKS ? fit : PIECE_LINKS;
}

/* Threads write to `found`. NOLINTBEGIN(readability-non-const-parameter) */
enum error_code link_scorer_partners(struct link_scorer *scorer, const struct asked_link *link,
                                     size_t count, enum pair_end end, uint32_t best,
                                     struct link_partner *partner, uint32_t *found,
                                     struct error *err)
{
    const size_t step = block_links(scorer);
    enum error_code rc = ERROR_NONE;
    for (size_t first = 0; rc == ERROR_NONE && first < count; first += step) {
        struct search search = {.scorer = scorer,
                                .link = link + first,
                                .stays = end == PAIR_TARGET ? PAIR_SOURCE : PAIR_TARGET,
                                .best = best,
                                .partner = partner + first * best,
                                .found = found + first};
        rc = search_block(&search, count - first < step ? count - first : step, err);
    }
    return rc;
}
/* NOLINTEND(readability-non-const-parameter) */
