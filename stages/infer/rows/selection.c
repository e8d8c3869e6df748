#include "stages/infer/rows/selection.h"

#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/nn/layers/layer.h"
#include "stages/infer/rows/chosen_rows.h"
#include "stages/infer/rows/layer_reads.h"
#include "stages/plan/model/sparse_features.h"
#include "stages/sampling/rows/graph_row.h"
#include "store/features/feature_source.h"

#include <inttypes.h>
#include <string.h>

static const uint32_t nobody = UINT32_MAX; /* the number of a node that is not needed */

static const struct partition_book *book_of(const struct selection *s)
{
    return s->of->context->book;
}

/* --- the needed nodes --- */

static enum error_code enter(struct selection *s, uint32_t node, struct error *err)
{
    const struct topology *topology = s->of->topology;
    if (node >= topology->node_count)
        return error_set(err, ERROR_CORRUPT, "node %" PRIu32 ": expected below %" PRIu32, node,
                         topology->node_count);
    if (s->number[node] != nobody)
        return ERROR_NONE;
    const int part = topology_part_of(topology, node);
    struct selected_type *own = &s->type[type_ranges_type(&s->ranges, part, node)];
    enum error_code rc = memory_grow(&own->node, &own->capacity, own->count + 1, "nodes", err);
    if (rc == ERROR_NONE && !s->is_open[part])
        rc = topology_open_part(topology, part, err);
    if (rc != ERROR_NONE)
        return rc;
    s->is_open[part] = true;
    s->number[node] = (uint32_t)own->count;
    own->node[own->count++] = node;
    return ERROR_NONE;
}

static enum error_code enter_neighbors(struct selection *s, uint32_t relation, uint32_t node,
                                       struct error *err)
{
    struct graph_row row;
    enum error_code rc = graph_row_of_relation(s->of->topology, relation, node, &row, err);
    for (uint32_t k = 0; rc == ERROR_NONE && k < row.length; k++) {
        uint32_t neighbor = 0;
        rc = graph_row_neighbor(s->of->topology, &row, k, &neighbor, err);
        if (rc == ERROR_NONE)
            rc = enter(s, neighbor, err);
    }
    return rc;
}

/* Adds the sources of nodes `first` to `end` - 1 of a type, in all relations. */
static enum error_code expand(struct selection *s, uint32_t type, uint32_t first, uint32_t end,
                              struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t r = 0; rc == ERROR_NONE && r < partition_book_relations(book_of(s)); r++)
        if (partition_book_relation(book_of(s), r)->target_type == type)
            for (uint32_t i = first; rc == ERROR_NONE && i < end; i++)
                rc = enter_neighbors(s, r, s->type[type].node[i], err);
    return rc;
}

static void end_layer(struct selection *s, int layer)
{
    for (uint32_t t = 0; t < s->ranges.type_count; t++)
        s->type[t].end[layer] = (uint32_t)s->type[t].count;
}

static enum error_code find_nodes(struct selection *s, struct error *err)
{
    const struct model *model = s->of->model;
    /* for each type, nodes whose neighbours were added */
    uint32_t expanded[RELATION_TYPE_COUNT_MAX] = {0};
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < s->config.count; i++)
        rc = enter(s, s->config.node[i], err);
    for (int layer = model->config.layer_count; rc == ERROR_NONE && layer > 0; layer--) {
        end_layer(s, layer);
        for (uint32_t t = 0; model->layer[layer - 1].type->uses_edges && rc == ERROR_NONE &&
                             t < s->ranges.type_count;
             t++) {
            rc = expand(s, t, expanded[t], s->type[t].end[layer], err);
            expanded[t] = s->type[t].end[layer];
        }
    }
    end_layer(s, 0);
    return rc;
}

enum error_code selection_find(const struct selection_config *config, struct selection *out,
                               struct error *err)
{
    const struct inference_tiles_config *of = inference_tiles_config_of(config->tiles);
    const struct topology *topology = of->topology;
    *out = (struct selection){
        .config = *config, .of = of, .ranges = partition_book_ranges(of->context->book)};
    enum error_code rc = memory_new(&out->number, topology->node_count, "numbers of nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&out->is_open, (size_t)topology->part_count, "parts", err);
    for (uint32_t i = 0; rc == ERROR_NONE && i < topology->node_count; i++)
        out->number[i] = nobody;
    return rc == ERROR_NONE ? find_nodes(out, err) : rc;
}

void selection_number(const struct selection *selection, uint32_t type, int layer,
                      const uint32_t *node, uint32_t count, uint32_t *out)
{
    const uint32_t end = selection->type[type].end[layer];
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = selection->number[node[i]];
        out[i] = number < end ? number : 0;
    }
}

/* --- the features --- */

/* Finds the first number of each part in the type. */
static enum error_code book_of_type(const struct selection *s, uint32_t type, uint32_t **out,
                                    struct error *err)
{
    const enum error_code rc =
        memory_new(out, (size_t)s->ranges.part_count + 1, "the ranges of a node type", err);
    if (rc == ERROR_NONE)
        type_ranges_book(&s->ranges, type, *out);
    return rc;
}

/* Opens the features of a type, to be read by number and not held. */
static enum error_code open_type(struct selection *s, uint32_t type, struct feature_source **out,
                                 struct error *err)
{
    const struct stage_context *context = s->of->context;
    struct selected_type *own = &s->type[type];
    uint32_t *book = NULL;
    enum error_code rc = book_of_type(s, type, &book, err);
    const struct feature_source_config config = {
        .store = context->store,
        .origin = FEATURES_OF_PARTITION,
        .id = context->book->id,
        .node_type = type,
        .part_count = s->ranges.part_count,
        .book = book,
        .tensor = "features",
        .only_read = true,
    };
    if (rc == ERROR_NONE)
        rc = feature_source_open(&config, out, err);
    if (rc == ERROR_NONE)
        own->width[0] = feature_source_dim(*out);
    if (rc == ERROR_NONE && layer_reads_zeros(s->of->model, 0))
        rc = sparse_features_detect(*out, book[config.part_count], &own->mostly_zero, err);
    memory_free(book);
    return rc;
}

/* Sets the widths of the rows, and returns the bytes of all rows. */
static uint64_t size_rows(struct selection *s)
{
    const struct model *model = s->of->model;
    uint64_t bytes = 0;
    for (int layer = 0; layer <= model->config.layer_count; layer++)
        for (uint32_t t = 0; t < s->ranges.type_count; t++) {
            struct selected_type *own = &s->type[t];
            if (layer > 0)
                own->width[layer] = model_layer_output_dim(model, layer - 1);
            bytes += own->end[layer] * (uint64_t)own->width[layer] * sizeof(float);
        }
    return bytes;
}

static uint64_t count_nodes(const struct selection *s)
{
    uint64_t count = 0;
    for (uint32_t t = 0; t < s->ranges.type_count; t++)
        count += s->type[t].count;
    return count;
}

/* Allocates the rows of all layers. Nodes of a tile that nobody needs may read rows of a type
 * without needed nodes, so each type has at least one row. */
static enum error_code new_rows(struct selection *s, struct error *err)
{
    const int layers = s->of->model->config.layer_count;
    const uint64_t budget = s->config.budget_bytes, bytes = size_rows(s);
    char wanted[32], had[32];
    if (budget && bytes > budget)
        return error_set(
            err, ERROR_NO_MEMORY,
            "the neighbourhood of %" PRIu32 " nodes is %" PRIu64
            " nodes, whose rows take %s, of %s that there are: " ADVICE "give more --memory, "
            "fewer --nodes, or infer all nodes, which takes as little as it is given",
            s->config.count, count_nodes(s), text_size(bytes, wanted), text_size(budget, had));
    enum error_code rc = ERROR_NONE;
    for (int layer = 0; layer <= layers; layer++)
        for (uint32_t t = 0; rc == ERROR_NONE && t < s->ranges.type_count; t++) {
            struct selected_type *own = &s->type[t];
            const size_t count = own->end[layer] ? own->end[layer] : 1;
            rc = memory_new(&own->row[layer], count * own->width[layer], "rows of a layer", err);
        }
    return rc;
}

static enum error_code read_type(struct selection *s, uint32_t type,
                                 struct feature_source *features, struct error *err)
{
    const struct selected_type *own = &s->type[type];
    uint32_t *book = NULL, *number = NULL;
    enum error_code rc = book_of_type(s, type, &book, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&number, own->count, "numbers of nodes", err);
    for (size_t i = 0; rc == ERROR_NONE && i < own->count; i++)
        number[i] = type_ranges_number(&s->ranges, book, type, own->node[i]);
    if (rc == ERROR_NONE)
        rc = chosen_rows_read(features, number, own->count, own->row[0], err);
    memory_free(number);
    memory_free(book);
    return rc;
}

/* Opens the features of the types that the logits need. */
static enum error_code open_types(struct selection *s, struct feature_source **source,
                                  struct error *err)
{
    bool needed[RELATION_TYPE_COUNT_MAX];
    enum error_code rc = ERROR_NONE;
    model_needs(s->of->model, -1, needed);
    for (uint32_t t = 0; rc == ERROR_NONE && t < s->ranges.type_count; t++)
        if (needed[t])
            rc = open_type(s, t, &source[t], err);
    return rc;
}

enum error_code selection_read(struct selection *selection, struct error *err)
{
    struct selection *s = selection;
    struct feature_source *source[RELATION_TYPE_COUNT_MAX] = {NULL};
    enum error_code rc = open_types(s, source, err);
    if (rc == ERROR_NONE)
        rc = new_rows(s, err);
    for (uint32_t t = 0; t < s->ranges.type_count; t++) {
        if (rc == ERROR_NONE && source[t])
            rc = read_type(s, t, source[t], err);
        feature_source_close(source[t]);
    }
    if (rc == ERROR_NONE)
        log_info("%" PRIu32 " nodes, of whose neighbourhood %" PRIu64 " of %" PRIu32
                 " nodes are read",
                 s->config.count, count_nodes(s), s->of->topology->node_count);
    return rc;
}

void selection_release(struct selection *selection)
{
    struct selection *s = selection;
    for (uint32_t t = 0; t < s->ranges.type_count; t++) {
        memory_free(s->type[t].node);
        for (int layer = 0; layer <= LAYER_COUNT_MAX; layer++)
            memory_free(s->type[t].row[layer]);
    }
    memory_free(s->number);
    memory_free(s->is_open);
    *s = (struct selection){.of = NULL};
}
