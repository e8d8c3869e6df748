#include "stages/ingest/build/given_negatives.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/bytes/usual_advice.h"
#include "stages/ingest/build/edge_holdout.h"
#include "store/records/dataset/dataset_types.h"

#include <inttypes.h>
#include <string.h>

static const char what[] = "given negatives";

static const char *const split_name[SPLIT_COUNT] = {
    [SPLIT_TRAIN] = "training", [SPLIT_VALID] = "valid", [SPLIT_TEST] = "test"};

void given_negatives_release(struct given_negatives *given)
{
    for (int s = 0; s < SPLIT_COUNT; s++) {
        struct negative_list *list = &given->of[s];
        edge_index_release(&list->index);
        memory_free(list->where);
        memory_free(list->source);
        memory_free(list->target);
        memory_free(list->type);
        memory_free(list->line);
        memory_free(list->start);
        memory_free(list->node);
    }
    *given = (struct given_negatives){0};
}

static enum error_code check_room(const struct given_negatives *given, struct error *err)
{
    uint64_t bytes = 0;
    char have[32], want[32];
    for (int s = 0; s < SPLIT_COUNT; s++) {
        const struct negative_list *list = &given->of[s];
        bytes += 26 * (uint64_t)list->count + 4 * (list->start ? list->start[list->count] : 0);
    }
    if (!given->memory_bytes || bytes <= given->memory_bytes / 4)
        return ERROR_NONE;
    return error_set(err, ERROR_NO_MEMORY,
                     "the given negatives take more than %s: expected at most a quarter of the "
                     "memory budget of %s; " ADVICE "give more --memory",
                     text_size(bytes, want), text_size(given->memory_bytes, have));
}

static enum error_code check_node(const struct dataset_schema *schema,
                                  const struct given_edge *edge, const char *name, int64_t node,
                                  struct error *err)
{
    if (node >= 0 && node < schema->node_count)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": %s %" PRId64
                     " is out of range: expected a node id from 0 to %" PRId64 ADVISE_NODE,
                     edge->where, edge->line, name, node, (int64_t)schema->node_count - 1);
}

/* Checks the types of the nodes in a line, in a graph with relations. All nodes replace the same
 * end, so all must have its type. */
static enum error_code check_types(const struct dataset_schema *schema,
                                   const struct given_edge *edge, const int64_t *node, size_t count,
                                   struct error *err)
{
    if (!schema->has_relations || count == 0)
        return ERROR_NONE;
    const struct edge_type *relation = &schema->edge_type[edge->type];
    const uint32_t first = dataset_type_of(schema, (uint32_t)node[0]);
    if (first != relation->source_type && first != relation->target_type)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": negative %" PRId64
                         " of relation %s: expected a node of type %s, or of type %s as another "
                         "source, found one of type %s",
                         edge->where, edge->line, node[0], relation->name,
                         schema->node_type[relation->target_type].name,
                         schema->node_type[relation->source_type].name,
                         schema->node_type[first].name);
    for (size_t i = 1; i < count; i++) {
        const uint32_t found = dataset_type_of(schema, (uint32_t)node[i]);
        if (found != first)
            return error_set(err, ERROR_INPUT,
                             "%s:%" PRId64 ": negative %" PRId64
                             ": expected a node of type %s as the first of the line, found one of "
                             "type %s",
                             edge->where, edge->line, node[i], schema->node_type[first].name,
                             schema->node_type[found].name);
    }
    return ERROR_NONE;
}

static enum error_code grow(struct negative_list *list, size_t ends, struct error *err)
{
    const size_t lines = list->count + 1;
    const bool is_first = !list->start;
    enum error_code rc = memory_grow(&list->source, &list->source_capacity, lines, what, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&list->target, &list->target_capacity, lines, what, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&list->type, &list->type_capacity, lines, what, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&list->line, &list->line_capacity, lines, what, err);
    if (rc == ERROR_NONE)
        rc = memory_grow(&list->start, &list->start_capacity, lines + 1, what, err);
    if (rc != ERROR_NONE)
        return rc;
    if (is_first)
        list->start[0] = 0;
    return memory_grow(&list->node, &list->node_capacity, (size_t)list->start[list->count] + ends,
                       what, err);
}

static enum error_code keep_name(struct negative_list *list, const char *where, struct error *err)
{
    const size_t size = strlen(where) + 1;
    if (list->where)
        return ERROR_NONE;
    const enum error_code rc = memory_new(&list->where, size, "the name of a file", err);
    if (rc == ERROR_NONE)
        memcpy(list->where, where, size);
    return rc;
}

enum error_code given_negatives_add(struct given_negatives *given, enum split split,
                                    const struct dataset_schema *schema,
                                    const struct given_edge *edge, const int64_t *node,
                                    size_t count, struct error *err)
{
    struct negative_list *list = &given->of[split];
    enum error_code rc = check_node(schema, edge, "source", edge->source, err);
    if (rc == ERROR_NONE)
        rc = check_node(schema, edge, "target", edge->target, err);
    for (size_t i = 0; rc == ERROR_NONE && i < count; i++)
        rc = check_node(schema, edge, "negative", node[i], err);
    if (rc == ERROR_NONE && count == 0)
        rc = error_set(
            err, ERROR_INPUT,
            "%s:%" PRId64
            ": expected nodes after the edge, which form negatives with it, found nothing",
            edge->where, edge->line);
    if (rc == ERROR_NONE)
        rc = check_types(schema, edge, node, count, err);
    if (rc == ERROR_NONE)
        rc = keep_name(list, edge->where, err);
    if (rc == ERROR_NONE)
        rc = grow(list, count, err);
    if (rc != ERROR_NONE)
        return rc;
    list->source[list->count] = (uint32_t)edge->source;
    list->target[list->count] = (uint32_t)edge->target;
    list->type[list->count] = edge->type;
    list->line[list->count] = edge->line;
    const uint64_t first = list->start[list->count];
    for (size_t i = 0; i < count; i++)
        list->node[first + i] = (uint32_t)node[i];
    list->start[++list->count] = first + count;
    return check_room(given, err);
}

static enum error_code refuse(const struct negative_list *list, uint64_t line,
                              const struct node_ids *ids, const char *why, struct error *err)
{
    static const struct node_ids none;
    char source[NODE_ID_TEXT_SIZE], target[NODE_ID_TEXT_SIZE];
    const int64_t number = list->line[line];
    return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": the edge from %s to %s %s", list->where,
                     number < 0 ? -number : number,
                     node_ids_text(ids ? ids : &none, list->source[line], source),
                     node_ids_text(ids ? ids : &none, list->target[line], target), why);
}

enum error_code given_negatives_sort(struct given_negatives *given,
                                     const struct dataset_schema *schema,
                                     const struct node_ids *ids, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++) {
        struct negative_list *list = &given->of[s];
        uint64_t first = 0, second = 0;
        list->index = (struct edge_index){.source = list->source,
                                          .target = list->target,
                                          .type = list->type,
                                          .count = list->count,
                                          .undirected = schema->undirected && s != SPLIT_TRAIN};
        rc = edge_index_sort(&list->index, err);
        if (rc == ERROR_NONE && edge_index_repeated(&list->index, &first, &second))
            rc = refuse(list, second, ids,
                        "has an earlier line: expected one line with all its negatives", err);
    }
    return rc;
}

void given_negatives_see(struct given_negatives *given, uint32_t source, uint32_t target,
                         uint16_t type)
{
    struct negative_list *list = &given->of[SPLIT_TRAIN];
    const uint64_t line = edge_index_find(&list->index, source, target, type);
    if (line != EDGE_INDEX_NONE && list->line[line] > 0)
        list->line[line] = -list->line[line];
}

/* Reorders the lists: list i becomes that of line order[i]. */
static enum error_code reorder(struct negative_list *list, const uint64_t *order, struct error *err)
{
    uint64_t *start = NULL;
    uint32_t *node = NULL;
    enum error_code rc = memory_new(&start, list->count + 1, what, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&node, (size_t)list->start[list->count], what, err);
    for (size_t i = 0; rc == ERROR_NONE && i < list->count; i++) {
        const uint64_t from = list->start[order[i]], count = list->start[order[i] + 1] - from;
        memcpy(node + start[i], list->node + from, count * sizeof *node);
        start[i + 1] = start[i] + count;
    }
    if (rc != ERROR_NONE) {
        memory_free(start);
        memory_free(node);
        return rc;
    }
    memory_free(list->start);
    memory_free(list->node);
    list->start = start;
    list->node = node;
    return ERROR_NONE;
}

/* Finds the line of each held-out edge, and gives the edge the direction that its line has. */
static enum error_code find_lines(struct negative_list *list, int split, const struct node_ids *ids,
                                  struct held_edges *held, uint64_t *order, struct error *err)
{
    static const struct node_ids none;
    for (size_t i = 0; i < held->count; i++) {
        char from[NODE_ID_TEXT_SIZE], to[NODE_ID_TEXT_SIZE];
        const uint64_t line =
            edge_index_find(&list->index, held->source[i], held->target[i], held->type[i]);
        if (line == EDGE_INDEX_NONE)
            return error_set(err, ERROR_INPUT,
                             "%s: the %s edge from %s to %s has no line: expected one with its "
                             "negatives for each edge of the split",
                             list->where, split_name[split],
                             node_ids_text(ids ? ids : &none, held->source[i], from),
                             node_ids_text(ids ? ids : &none, held->target[i], to));
        held->source[i] = list->source[line];
        held->target[i] = list->target[line];
        order[i] = line;
        list->line[line] = -list->line[line];
    }
    return ERROR_NONE;
}

/* Checks that the edge of each line was seen, which a negative line number marks. */
static enum error_code check_seen(const struct negative_list *list, const struct node_ids *ids,
                                  const char *why, struct error *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->line[i] > 0)
            return refuse(list, i, ids, why, err);
    return ERROR_NONE;
}

static enum error_code match_held(struct negative_list *list, int split, const struct node_ids *ids,
                                  struct held_edges *held, struct error *err)
{
    uint64_t *order = NULL;
    enum error_code rc = memory_new(&order, held->count, what, err);
    if (rc == ERROR_NONE)
        rc = find_lines(list, split, ids, held, order, err);
    if (rc == ERROR_NONE)
        rc = check_seen(list, ids,
                        split == SPLIT_VALID ? "is not in the valid split: expected a held-out edge"
                                             : "is not in the test split: expected a held-out edge",
                        err);
    if (rc == ERROR_NONE)
        rc = reorder(list, order, err);
    memory_free(order);
    return rc;
}

enum error_code given_negatives_match(struct given_negatives *given, const struct node_ids *ids,
                                      struct held_edges *held, struct edge_splits *splits,
                                      struct error *err)
{
    struct negative_list *train = &given->of[SPLIT_TRAIN];
    enum error_code rc =
        check_seen(train, ids, "is no training edge: expected an edge of ingest.path", err);
    splits->trained = (struct trained_negatives){
        .count = train->count,
        .source = train->source,
        .target = train->target,
        .type = train->type,
        .ends = {train->start, train->node},
    };
    for (int s = 0; rc == ERROR_NONE && s < HELD_OUT_COUNT; s++) {
        const int split = s == HELD_OUT_VALID ? SPLIT_VALID : SPLIT_TEST;
        struct negative_list *list = &given->of[split];
        if (!list->where)
            continue;
        rc = match_held(list, split, ids, &held[s], err);
        splits->negative[s] = (struct negative_ends){list->start, list->node};
    }
    return rc;
}
