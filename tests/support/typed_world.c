#include "tests/support/typed_world.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/numbers/random.h"
#include "store/objects/keys.h"
#include "store/records/dataset/dataset_delta.h"
#include "store/records/dataset/dataset_schema.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/feature_chunk.h"
#include "store/records/dataset/node_labels.h"
#include "store/records/dataset/node_splits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NODES_MAX = WORLD_TYPES * WORLD_NAMES,
    DIM_MAX = 9,
    CHUNK_NODES = 300,
    SAME_LABEL = 7 * 4 * WORLD_CLASSES, /* adding it to an alias changes neither label nor split */
};

static const struct {
    const char *name;
    /* number of nodes of the first version, and of those added and removed by each version */
    uint32_t first, step, dim;
} type[WORLD_TYPES] = {{"author", 420, 5, 0},
                       {"paper", 700, 8, DIM_MAX},
                       {"venue", 40, 1, 3},
                       {"tag", 9, 1, 2},
                       {"ghost", 1, 0, 0}};

static const struct {
    const char *name;
    uint16_t source, target;
    uint32_t edges;
} relation[WORLD_RELATIONS] = {
    {"writes", 0, 1, 900}, {"rev_writes", 1, 0, 900}, {"cites", 1, 1, 1500}, {"in", 1, 2, 600},
    {"labels", 3, 1, 500}, {"near", 2, 2, 60},        {"never", 4, 3, 0}};

static void demand(enum error_code rc, const struct error *err)
{
    if (rc == ERROR_NONE)
        return;
    (void)fprintf(stderr, "typed_world: %s\n", err->message);
    abort();
}

void typed_world_id(int version, char id[WORLD_ID_SIZE])
{
    (void)snprintf(id, WORLD_ID_SIZE, "typed-%d", version);
}

/* ---- how it changes
 * ----------------------------------------------------------------------------- */

static uint32_t draw(struct typed_world *w, uint32_t below)
{
    const struct random_stream stream = random_stream_of(17, RANDOM_GENERATOR, 0, 0, 0);
    uint32_t word[4];
    random_block(&stream, w->drawn++, 0, word);
    return random_below(word[0], below);
}

static uint32_t draw_node(struct typed_world *w, uint32_t t)
{
    for (;;) {
        const uint32_t name = draw(w, w->names[t]);
        if (w->is_there[t][name])
            return name;
    }
}

static bool is_linked(const struct typed_world *w, uint32_t r, uint32_t from, uint32_t to)
{
    for (uint32_t e = 0; e < w->edge_count; e++)
        if (w->relation[e] == r && w->from[e] == from && w->to[e] == to)
            return true;
    return false;
}

static void link_nodes(struct typed_world *w, uint32_t r, uint32_t from, uint32_t to)
{
    const uint32_t e = w->edge_count;
    if (is_linked(w, r, from, to))
        return;
    must(e < WORLD_EDGES);
    w->relation[e] = (uint16_t)r;
    w->from[e] = from;
    w->to[e] = to;
    w->weight[e] = (float)(w->drawn % 4096) * 0.5F;
    w->edge_count++;
}

/* Connects nodes with close names, so that a partitioner finds something to cut. */
static void link_at_random(struct typed_world *w, uint32_t r)
{
    const uint32_t source = relation[r].source, target = relation[r].target;
    const uint32_t to = draw_node(w, target);
    const uint32_t middle = to * w->names[source] / w->names[target];
    const uint32_t from = (middle + draw(w, 5)) % w->names[source];
    link_nodes(w, r, w->is_there[source][from] ? from : draw_node(w, source), to);
}

void typed_world_begin(struct typed_world *w)
{
    memset(w, 0, sizeof *w);
    for (uint32_t t = 0; t < WORLD_TYPES; t++) {
        w->names[t] = type[t].first;
        for (uint32_t name = 0; name < WORLD_NAMES; name++)
            w->alias[t][name] = name;
        for (uint32_t name = 0; name < type[t].first; name++)
            w->is_there[t][name] = true;
    }
    for (uint32_t r = 0; r < WORLD_RELATIONS; r++)
        for (uint32_t i = 0; i < relation[r].edges; i++)
            link_at_random(w, r);
}

static void remove_edge(struct typed_world *w, uint32_t e)
{
    const size_t behind = w->edge_count - e - 1;
    memmove(&w->from[e], &w->from[e + 1], behind * sizeof *w->from);
    memmove(&w->to[e], &w->to[e + 1], behind * sizeof *w->to);
    memmove(&w->relation[e], &w->relation[e + 1], behind * sizeof *w->relation);
    memmove(&w->weight[e], &w->weight[e + 1], behind * sizeof *w->weight);
    w->edge_count--;
}

void typed_world_remove(struct typed_world *w, uint32_t t, uint32_t name)
{
    w->is_there[t][name] = false;
    for (uint32_t e = w->edge_count; e-- > 0;)
        if ((relation[w->relation[e]].source == t && w->from[e] == name) ||
            (relation[w->relation[e]].target == t && w->to[e] == name))
            remove_edge(w, e);
}

void typed_world_change(struct typed_world *w, uint32_t rate)
{
    w->version++;
    for (uint32_t i = 0; i < 6 * rate; i++)
        remove_edge(w, draw(w, w->edge_count));
    for (uint32_t t = 0; t < WORLD_TYPES; t++) {
        for (uint32_t i = 0; i < type[t].step; i++)
            typed_world_remove(w, t, draw_node(w, t));
        for (uint32_t i = 0; i < type[t].step; i++)
            w->is_there[t][w->names[t]++] = true;
        must(w->names[t] <= WORLD_NAMES);
    }
    for (uint32_t r = 0; r + 1 < WORLD_RELATIONS; r++)
        for (uint32_t i = 0; i < 5 * rate; i++)
            link_at_random(w, r);
    for (uint32_t t = 0; t < WORLD_TYPES; t++) /* one of the new nodes remains without an edge */
        for (uint32_t i = 1; i < type[t].step; i++)
            for (uint32_t r = 0; r + 1 < WORLD_RELATIONS; r++)
                if (relation[r].target == t)
                    link_nodes(w, r, draw_node(w, relation[r].source), w->names[t] - i);
    for (uint32_t i = 0; i < 10 * rate; i++)
        w->alias[1][draw_node(w, 1)] += SAME_LABEL;
    w->alias[2][draw_node(w, 2)] += SAME_LABEL;
}

/* ---- what is written of it
 * ------------------------------------------------------------------------- */

uint32_t typed_world_count(const struct typed_world *w, uint32_t t)
{
    uint32_t count = 0;
    for (uint32_t name = 0; name < w->names[t]; name++)
        count += w->is_there[t][name];
    return count;
}

/* The numbers of nodes in the dataset of a version. */
struct numbers {
    uint32_t first[WORLD_TYPES + 1];
    uint32_t of[WORLD_TYPES][WORLD_NAMES]; /* of the existing nodes */
};

static void number_nodes(const struct typed_world *w, struct numbers *out)
{
    uint32_t next = 0;
    for (uint32_t t = 0; t < WORLD_TYPES; t++) {
        out->first[t] = next;
        for (uint32_t name = 0; name < w->names[t]; name++)
            if (w->is_there[t][name])
                out->of[t][name] = next++;
    }
    out->first[WORLD_TYPES] = next;
}

static float feature_of(const struct typed_world *w, uint32_t t, uint32_t name, uint32_t column)
{
    return (float)(w->alias[t][name] + 3 * t) + (float)column / 1024;
}

/* An edge with its numbers, for sorting. */
struct row_edge {
    uint32_t target, source, edge;
    uint16_t relation;
};

static int by_row(const void *a, const void *b)
{
    const struct row_edge *x = a, *y = b;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (x->relation > y->relation) - (x->relation < y->relation);
}

static void sort_edges(const struct typed_world *w, const struct numbers *n, struct row_edge *out)
{
    for (uint32_t e = 0; e < w->edge_count; e++)
        out[e] = (struct row_edge){.target = n->of[relation[w->relation[e]].target][w->to[e]],
                                   .source = n->of[relation[w->relation[e]].source][w->from[e]],
                                   .edge = e,
                                   .relation = w->relation[e]};
    qsort(out, w->edge_count, sizeof *out, by_row);
}

static uint64_t write_edges(const struct typed_world *w, const struct numbers *n, const char *id,
                            struct store *store)
{
    static struct row_edge sorted[WORLD_EDGES];
    static uint64_t row_start[CHUNK_NODES + 1];
    static uint32_t neighbor[WORLD_EDGES];
    static uint16_t kind[WORLD_EDGES];
    static float weight[WORLD_EDGES];
    struct error err = {0};
    int64_t chunk = 0;
    uint32_t e = 0;
    sort_edges(w, n, sorted);
    for (uint32_t first = 0; first < n->first[WORLD_TYPES]; first += CHUNK_NODES) {
        const uint32_t left = n->first[WORLD_TYPES] - first;
        const uint32_t count = left < CHUNK_NODES ? left : CHUNK_NODES;
        uint64_t at = 0;
        for (uint32_t row = 0; row < count; row++) {
            for (; e < w->edge_count && sorted[e].target == first + row; e++, at++) {
                neighbor[at] = sorted[e].source;
                kind[at] = sorted[e].relation;
                weight[at] = w->weight[sorted[e].edge];
            }
            row_start[row + 1] = at;
        }
        const struct edge_chunk edges = {.first_node = first,
                                         .node_count = count,
                                         .edge_count = at,
                                         .row_start = row_start,
                                         .neighbor = neighbor,
                                         .columns = {{{[EDGE_WEIGHT] = 1, [EDGE_TYPE] = 1}},
                                                     {[EDGE_WEIGHT] = weight, [EDGE_TYPE] = kind}}};
        demand(edge_chunk_put(store, id, chunk++, &edges, &err), &err);
    }
    return (uint64_t)chunk;
}

static uint64_t write_features(const struct typed_world *w, const struct numbers *n, const char *id,
                               struct store *store)
{
    static float row[WORLD_NAMES * DIM_MAX];
    struct error err = {0};
    int64_t chunk = 0;
    for (uint32_t t = 0; t < WORLD_TYPES; t++) {
        size_t at = 0;
        for (uint32_t name = 0; name < w->names[t]; name++)
            for (uint32_t c = 0; w->is_there[t][name] && c < type[t].dim; c++)
                row[at++] = feature_of(w, t, name, c);
        const struct feature_chunk rows = {.first_node = n->first[t],
                                           .node_count = n->first[t + 1] - n->first[t],
                                           .dim = type[t].dim,
                                           .row = row};
        if (type[t].dim)
            demand(feature_chunk_put(store, id, chunk++, &rows, &err), &err);
    }
    return (uint64_t)chunk;
}

static void write_labels(const struct typed_world *w, const struct numbers *n,
                         struct dataset_schema *schema, struct store *store)
{
    static int32_t label[NODES_MAX];
    static uint32_t node[SPLIT_COUNT][NODES_MAX];
    struct error err = {0};
    struct node_splits splits = {0};
    memset(label, 0xff, sizeof label);
    for (uint32_t name = 0; name < w->names[WORLD_TARGET]; name++) {
        const uint32_t v = n->of[WORLD_TARGET][name], alias = w->alias[WORLD_TARGET][name];
        if (!w->is_there[WORLD_TARGET][name])
            continue;
        label[v] = (int32_t)(alias % WORLD_CLASSES);
        if (alias % 4 < SPLIT_COUNT)
            node[alias % 4][splits.count[alias % 4]++] = v;
    }
    for (int s = 0; s < SPLIT_COUNT; s++)
        splits.node[s] = node[s];
    schema->train_count = splits.count[SPLIT_TRAIN];
    schema->valid_count = splits.count[SPLIT_VALID];
    schema->test_count = splits.count[SPLIT_TEST];
    const struct node_labels labels = {.task = TASK_SINGLE_LABEL,
                                       .node_count = schema->node_count,
                                       .class_count = WORLD_CLASSES,
                                       .row = label};
    demand(node_labels_put(store, schema->id, &labels, &err), &err);
    demand(
        node_splits_put(store, key_dataset(schema->id, "splits").text, schema->id, &splits, &err),
        &err);
}

static void describe(const struct typed_world *w, const struct numbers *n,
                     struct dataset_schema *schema)
{
    *schema = (struct dataset_schema){.name = "typed",
                                      .node_count = n->first[WORLD_TYPES],
                                      .edge_count = w->edge_count,
                                      .input_edge_rows = w->edge_count,
                                      .edge_width = {{[EDGE_WEIGHT] = 1, [EDGE_TYPE] = 1}},
                                      .feature_dim = type[WORLD_TARGET].dim,
                                      .feature_origin = "given",
                                      .task = TASK_SINGLE_LABEL,
                                      .class_count = WORLD_CLASSES,
                                      .node_id_form = NODE_ID_CONSECUTIVE,
                                      .has_relations = true,
                                      .target_type = WORLD_TARGET,
                                      .node_type_count = WORLD_TYPES,
                                      .edge_type_count = WORLD_RELATIONS};
    typed_world_id(w->version, schema->id);
    for (uint32_t t = 0; t < WORLD_TYPES; t++) {
        must(text_copy(schema->node_type[t].name, TYPE_NAME_SIZE, type[t].name));
        schema->node_type[t].first_node = n->first[t];
        schema->node_type[t].node_count = n->first[t + 1] - n->first[t];
        schema->node_type[t].feature_dim = type[t].dim;
        must(text_copy(schema->type_origin[t], FEATURE_ORIGIN_SIZE, type[t].dim ? "given" : ""));
    }
    for (uint32_t r = 0; r < WORLD_RELATIONS; r++) {
        must(text_copy(schema->edge_type[r].name, TYPE_NAME_SIZE, relation[r].name));
        schema->edge_type[r].source_type = relation[r].source;
        schema->edge_type[r].target_type = relation[r].target;
    }
    for (uint32_t e = 0; e < w->edge_count; e++) {
        const uint32_t r = w->relation[e];
        schema->edge_type[r].edge_count++;
        schema->self_loop_count +=
            relation[r].source == relation[r].target && w->from[e] == w->to[e];
    }
}

/* ---- the delta
 * ---------------------------------------------------------------------------------------- */

/* Numbers the nodes of a version as the delta does: like the base, with added nodes at the end,
 * type by type. */
static void number_own(const struct typed_world *w, const struct typed_world *before,
                       const struct numbers *base, struct numbers *own, uint32_t *added)
{
    uint32_t next = base->first[WORLD_TYPES];
    *own = *base;
    for (uint32_t t = 0; t < WORLD_TYPES; t++) {
        added[t] = 0;
        for (uint32_t name = before->names[t]; name < w->names[t]; name++)
            if (w->is_there[t][name]) {
                own->of[t][name] = next++;
                added[t]++;
            }
    }
}

static bool had_edge(const struct typed_world *before, const struct typed_world *w, uint32_t e)
{
    return is_linked(before, w->relation[e], w->from[e], w->to[e]);
}

/* Lists removed edges, except those of removed nodes, and added edges. */
static void list_edges(const struct typed_world *w, const struct typed_world *before,
                       const struct numbers *base, const struct numbers *own,
                       struct dataset_delta *delta)
{
    static struct row_edge sorted[WORLD_EDGES];
    static uint32_t gone[2][WORLD_EDGES], end[2][WORLD_EDGES];
    static uint16_t gone_relation[WORLD_EDGES], kind[WORLD_EDGES];
    static float weight[WORLD_EDGES];
    sort_edges(before, base, sorted);
    for (uint32_t i = 0; i < before->edge_count; i++) {
        const uint32_t e = sorted[i].edge, r = before->relation[e];
        if (had_edge(w, before, e) || !w->is_there[relation[r].source][before->from[e]] ||
            !w->is_there[relation[r].target][before->to[e]])
            continue;
        gone[0][delta->gone_edges] = sorted[i].source;
        gone[1][delta->gone_edges] = sorted[i].target;
        gone_relation[delta->gone_edges++] = (uint16_t)r;
    }
    for (uint32_t e = 0; e < w->edge_count; e++) {
        const uint32_t r = w->relation[e];
        if (had_edge(before, w, e))
            continue;
        end[0][delta->added_edges] = own->of[relation[r].source][w->from[e]];
        end[1][delta->added_edges] = own->of[relation[r].target][w->to[e]];
        weight[delta->added_edges] = w->weight[e];
        kind[delta->added_edges++] = (uint16_t)r;
    }
    delta->gone_source = gone[0];
    delta->gone_target = gone[1];
    delta->gone_relation = gone_relation;
    delta->source = end[0];
    delta->target = end[1];
    delta->columns = (struct edge_columns_view){{{[EDGE_WEIGHT] = 1, [EDGE_TYPE] = 1}},
                                                {[EDGE_WEIGHT] = weight, [EDGE_TYPE] = kind}};
}

/* Lists the rows of added nodes, and of nodes whose features changed. */
static void list_rows(const struct typed_world *w, const struct typed_world *before,
                      const struct numbers *own, struct dataset_delta *delta)
{
    static uint32_t row_node[NODES_MAX];
    static float row[NODES_MAX * DIM_MAX];
    size_t at = 0;
    for (int is_added = 0; is_added < 2; is_added++)
        for (uint32_t t = 0; t < WORLD_TYPES; t++)
            for (uint32_t name = is_added ? before->names[t] : 0;
                 type[t].dim && name < (is_added ? w->names[t] : before->names[t]); name++) {
                if (!w->is_there[t][name] ||
                    (!is_added && w->alias[t][name] == before->alias[t][name]))
                    continue;
                row_node[delta->rows++] = own->of[t][name];
                for (uint32_t c = 0; c < type[t].dim; c++)
                    row[at++] = feature_of(w, t, name, c);
            }
    delta->row_node = row_node;
    delta->row = row;
}

static void write_delta(const struct typed_world *w, const struct typed_world *before,
                        const char *id, struct store *store)
{
    static struct numbers base, own;
    static uint32_t gone[NODES_MAX], new_label[NODES_MAX];
    static int64_t new_id[NODES_MAX];
    static uint8_t new_split[NODES_MAX];
    uint32_t base_of_type[WORLD_TYPES], added[WORLD_TYPES], columns[WORLD_TYPES];
    struct error err = {0};
    number_nodes(before, &base);
    number_own(w, before, &base, &own, added);
    struct dataset_delta delta = {.root = "typed-0",
                                  .depth = (uint64_t)w->version,
                                  .base_nodes = base.first[WORLD_TYPES],
                                  .label_width = 1,
                                  .feature_dim = type[WORLD_TARGET].dim,
                                  .gone_node = gone,
                                  .new_label = new_label,
                                  .new_split = new_split,
                                  .new_ids = {.integer = new_id},
                                  .type_count = WORLD_TYPES,
                                  .base_of_type = base_of_type,
                                  .added_of_type = added,
                                  .columns_of_type = columns,
                                  .relation_count = WORLD_RELATIONS};
    typed_world_id(before->version, delta.base);
    for (uint32_t t = 0; t < WORLD_TYPES; t++) {
        base_of_type[t] = base.first[t + 1] - base.first[t];
        columns[t] = type[t].dim;
        for (uint32_t name = 0; name < before->names[t]; name++)
            if (before->is_there[t][name] && !w->is_there[t][name])
                gone[delta.gone_nodes++] = base.of[t][name];
        for (uint32_t i = 0; i < added[t]; i++, delta.added_nodes++) {
            const uint32_t alias = before->names[t] + i;
            new_id[delta.added_nodes] = (int64_t)delta.base_nodes + delta.added_nodes;
            new_label[delta.added_nodes] = t == WORLD_TARGET ? alias % WORLD_CLASSES : UINT32_MAX;
            new_split[delta.added_nodes] =
                t == WORLD_TARGET && alias % 4 < SPLIT_COUNT ? (uint8_t)(alias % 4 + 1) : 0;
        }
    }
    delta.new_ids.node_count = delta.added_nodes;
    list_edges(w, before, &base, &own, &delta);
    list_rows(w, before, &own, &delta);
    demand(dataset_delta_put(store, id, &delta, &err), &err);
}

void typed_world_write(const struct typed_world *w, const struct typed_world *before,
                       struct store *store)
{
    static struct numbers n;
    static struct dataset_schema schema;
    struct error err = {0};
    number_nodes(w, &n);
    describe(w, &n, &schema);
    schema.edge_chunk_count = write_edges(w, &n, schema.id, store);
    schema.feature_chunk_count = write_features(w, &n, schema.id, store);
    write_labels(w, &n, &schema, store);
    if (before)
        write_delta(w, before, schema.id, store);
    demand(dataset_schema_put(store, &schema, &err), &err);
}
