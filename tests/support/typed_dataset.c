#include "tests/support/typed_dataset.h"

#include "common/base/text.h"
#include "common/numbers/random.h"
#include "store/objects/keys.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/feature_chunk.h"
#include "store/records/dataset/node_labels.h"
#include "store/records/dataset/node_splits.h"
#include "store/topology/topology.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *name;
    uint32_t first, count, dim;
} type[] = {{"author", 0, TYPED_AUTHORS, 0},
            {"paper", TYPED_AUTHORS, TYPED_PAPERS, TYPED_PAPER_DIM},
            {"venue", TYPED_AUTHORS + TYPED_PAPERS, TYPED_VENUES, TYPED_VENUE_DIM}};

static const struct {
    const char *name;
    uint16_t source, target;
} relation[TYPED_RELATIONS] = {
    {"writes", 0, 1}, {"cites", 1, 1}, {"in", 1, 2}, {"rev_writes", 1, 0}};

static void demand(enum error_code rc, const struct error *err)
{
    if (rc == ERROR_NONE)
        return;
    (void)fprintf(stderr, "typed_dataset: %s\n", err->message);
    abort();
}

/* Compares target, source and relation, packed into 20 bits each. */
static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void typed_edges_fill(struct typed_edges *edges)
{
    const struct random_stream stream = random_stream_of(5, RANDOM_GENERATOR, 0, 0, 0);
    static uint64_t key[TYPED_EDGES];
    uint64_t item = 0;
    for (uint32_t e = 0; e < TYPED_EDGES;) {
        uint32_t word[4];
        random_block(&stream, item++, 0, word);
        const uint64_t r = random_below(word[0], TYPED_RELATIONS);
        const uint64_t s =
            type[relation[r].source].first + random_below(word[1], type[relation[r].source].count);
        const uint64_t t =
            type[relation[r].target].first + random_below(word[2], type[relation[r].target].count);
        bool is_new = true;
        key[e] = t << 40 | s << 20 | r;
        for (uint32_t other = 0; other < e; other++)
            is_new &= key[other] != key[e];
        e += is_new;
    }
    qsort(key, TYPED_EDGES, sizeof *key, ascending);
    for (uint32_t e = 0; e < TYPED_EDGES; e++) {
        edges->target[e] = (uint32_t)(key[e] >> 40);
        edges->source[e] = (uint32_t)(key[e] >> 20 & 0xFFFFF);
        edges->relation[e] = (uint16_t)(key[e] & 0xFFFFF);
        edges->weight[e] = (float)e;
        edges->time[e] = (int64_t)(e * 37 % 100);
    }
}

float typed_dataset_feature(uint32_t node, uint32_t column)
{
    return (float)node + (float)column / 1024;
}

struct dataset_schema typed_dataset_schema(const struct typed_edges *edges)
{
    struct dataset_schema schema = {
        .id = "typed-1",
        .name = "typed",
        .node_count = TYPED_NODES,
        .edge_count = TYPED_EDGES,
        .input_edge_rows = TYPED_EDGES,
        .edge_width = {{[EDGE_WEIGHT] = 1, [EDGE_TYPE] = 1}},
        .feature_dim = TYPED_PAPER_DIM,
        .feature_origin = "given",
        .task = TASK_SINGLE_LABEL,
        .class_count = 3,
        .node_id_form = NODE_ID_CONSECUTIVE,
        .edge_chunk_count = 1,
        .feature_chunk_count = 2,
        .has_relations = true,
        .target_type = 1,
        .node_type_count = 3,
        .edge_type_count = TYPED_RELATIONS,
    };
    for (uint32_t t = 0; t < 3; t++) {
        must(text_copy(schema.node_type[t].name, TYPE_NAME_SIZE, type[t].name));
        schema.node_type[t].first_node = type[t].first;
        schema.node_type[t].node_count = type[t].count;
        schema.node_type[t].feature_dim = type[t].dim;
    }
    for (uint32_t r = 0; r < TYPED_RELATIONS; r++) {
        must(text_copy(schema.edge_type[r].name, TYPE_NAME_SIZE, relation[r].name));
        schema.edge_type[r].source_type = relation[r].source;
        schema.edge_type[r].target_type = relation[r].target;
    }
    for (uint32_t e = 0; e < TYPED_EDGES; e++) {
        schema.edge_type[edges->relation[e]].edge_count++;
        schema.self_loop_count += edges->source[e] == edges->target[e];
    }
    return schema;
}

static void write_edges(struct store *store, const char *id, const struct typed_edges *edges)
{
    static uint64_t row_start[TYPED_NODES + 1];
    struct error err = {0};
    for (uint32_t v = 0, e = 0; v < TYPED_NODES; v++) {
        while (e < TYPED_EDGES && edges->target[e] == v)
            e++;
        row_start[v + 1] = e;
    }
    const struct edge_chunk chunk = {
        .node_count = TYPED_NODES,
        .edge_count = TYPED_EDGES,
        .row_start = row_start,
        .neighbor = edges->source,
        .columns = {{{[EDGE_WEIGHT] = 1, [EDGE_TYPE] = 1}},
                    {[EDGE_WEIGHT] = edges->weight, [EDGE_TYPE] = edges->relation}}};
    demand(edge_chunk_put(store, id, 0, &chunk, &err), &err);
}

static void write_features(struct store *store, const char *id)
{
    static float row[TYPED_NODES * TYPED_PAPER_DIM];
    struct error err = {0};
    int64_t number = 0;
    for (uint32_t t = 0; t < 3; t++) {
        if (type[t].dim == 0)
            continue;
        for (uint32_t i = 0; i < type[t].count; i++)
            for (uint32_t c = 0; c < type[t].dim; c++)
                row[i * type[t].dim + c] = typed_dataset_feature(type[t].first + i, c);
        const struct feature_chunk chunk = {.first_node = type[t].first,
                                            .node_count = type[t].count,
                                            .dim = type[t].dim,
                                            .row = row};
        demand(feature_chunk_put(store, id, number++, &chunk, &err), &err);
    }
}

void typed_dataset_write(struct store *store)
{
    static struct typed_edges edges;
    static int32_t label[TYPED_NODES];
    static uint32_t node[SPLIT_COUNT][TYPED_NODES];
    struct error err = {0};
    struct node_splits splits = {0};
    typed_edges_fill(&edges);
    struct dataset_schema schema = typed_dataset_schema(&edges);
    for (uint32_t v = 0; v < TYPED_NODES; v++) {
        const bool is_paper = v >= TYPED_AUTHORS && v < TYPED_AUTHORS + TYPED_PAPERS;
        label[v] = is_paper ? (int32_t)(v % 3) : -1;
        if (is_paper && v % 4 < SPLIT_COUNT)
            node[v % 4][splits.count[v % 4]++] = v;
    }
    for (int s = 0; s < SPLIT_COUNT; s++)
        splits.node[s] = node[s];
    schema.train_count = splits.count[SPLIT_TRAIN];
    schema.valid_count = splits.count[SPLIT_VALID];
    schema.test_count = splits.count[SPLIT_TEST];
    const struct node_labels labels = {
        .task = TASK_SINGLE_LABEL, .node_count = TYPED_NODES, .class_count = 3, .row = label};
    write_edges(store, schema.id, &edges);
    write_features(store, schema.id);
    demand(node_labels_put(store, schema.id, &labels, &err), &err);
    demand(node_splits_put(store, key_dataset(schema.id, "splits").text, schema.id, &splits, &err),
           &err);
    demand(dataset_schema_put(store, &schema, &err), &err);
}

/* Returns the rows of a relation; the arrays have room for all edges. */
static struct topology_arrays rows_of(const struct typed_edges *edges, uint32_t r,
                                      uint64_t *row_start, uint32_t *neighbor, float *weight,
                                      int64_t *time)
{
    const uint32_t first = type[relation[r].target].first, count = type[relation[r].target].count;
    uint64_t at = 0;
    uint32_t e = 0;
    for (uint32_t v = first; v < first + count; v++) {
        row_start[v - first] = at;
        for (; e < TYPED_EDGES && edges->target[e] <= v; e++)
            if (edges->relation[e] == r && edges->target[e] == v) {
                neighbor[at] = edges->source[e];
                time[at] = edges->time[e];
                weight[at++] = edges->weight[e];
            }
    }
    row_start[count] = at;
    return (struct topology_arrays){.first_node = first,
                                    .node_count = count,
                                    .edge_count = at,
                                    .row_start = row_start,
                                    .neighbor = neighbor,
                                    .columns = {{{[EDGE_WEIGHT] = 1, [EDGE_TIME] = 1}},
                                                {[EDGE_WEIGHT] = weight, [EDGE_TIME] = time}}};
}

void typed_topology_write(struct store *store, const char *partition_id,
                          const struct typed_edges *edges)
{
    static uint32_t neighbor[TYPED_RELATIONS][TYPED_EDGES];
    static float weight[TYPED_RELATIONS][TYPED_EDGES];
    static int64_t time[TYPED_RELATIONS][TYPED_EDGES];
    static uint64_t row_start[TYPED_RELATIONS][TYPED_NODES + 1];
    struct topology_arrays rows[TYPED_RELATIONS];
    struct error err = {0};
    for (uint32_t r = 0; r < TYPED_RELATIONS; r++)
        rows[r] = rows_of(edges, r, row_start[r], neighbor[r], weight[r], time[r]);
    demand(topology_write_relations(store, partition_id, 0, 0, TYPED_NODES, rows, TYPED_RELATIONS,
                                    &err),
           &err);
}

struct partition_book typed_book(const char *partition_id)
{
    static const uint32_t parts[] = {0, TYPED_NODES};
    static uint32_t start[4], dim[3];
    static char name[3][RELATION_NAME_SIZE];
    static struct relation relations[TYPED_RELATIONS];
    for (uint32_t t = 0; t < 3; t++) {
        start[t + 1] = type[t].first + type[t].count;
        dim[t] = type[t].dim;
        must(text_copy(name[t], sizeof name[t], type[t].name));
    }
    for (uint32_t r = 0; r < TYPED_RELATIONS; r++) {
        must(text_copy(relations[r].name, sizeof relations[r].name, relation[r].name));
        relations[r].source_type = relation[r].source;
        relations[r].target_type = relation[r].target;
    }
    struct partition_book book = {.part_count = 1,
                                  .node_count = TYPED_NODES,
                                  .edge_count = TYPED_EDGES,
                                  .self_loop_count = 1,
                                  .feature_dim = TYPED_PAPER_DIM,
                                  .class_count = 3,
                                  .task = TASK_SINGLE_LABEL,
                                  .edge_width = {{[EDGE_WEIGHT] = 1, [EDGE_TIME] = 1}},
                                  .book = parts,
                                  .type_count = 3,
                                  .relation_count = TYPED_RELATIONS,
                                  .target_type = 1,
                                  .type_start = start,
                                  .type_name = (const char(*)[RELATION_NAME_SIZE])name,
                                  .type_dim = dim,
                                  .relation = relations};
    must(text_copy(book.id, sizeof book.id, partition_id));
    return book;
}
