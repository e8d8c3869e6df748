#include "tests/support/small_dataset.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "store/objects/keys.h"
#include "store/records/dataset/edge_chunk.h"
#include "store/records/dataset/feature_chunk.h"
#include "store/records/dataset/node_labels.h"
#include "store/records/dataset/node_splits.h"

#include "tests/support/karate_graph.h"

#include <stdio.h>
#include <stdlib.h>

static void demand(enum error_code rc, const struct error *err)
{
    if (rc != ERROR_NONE)
        (void)fprintf(stderr, "%s\n", err->message);
    must(rc == ERROR_NONE);
}

static void *need(size_t count, size_t size)
{
    void *p = memory_alloc(count, size);
    must(p);
    return p;
}

float small_dataset_feature(uint32_t node, uint32_t column)
{
    return (float)node + (float)column / 1024.0F;
}

float small_dataset_multi_label(uint32_t node, uint32_t class_count, uint32_t c)
{
    return node % class_count == c || node % 3 == c % 3 ? 1.0F : 0.0F;
}

/* Writes the chunk of nodes [first, end), slowly and simply, with a pass over all edges for each
 * row and source. */
static void write_chunk(struct store *store, const struct small_dataset *d, int64_t chunk,
                        uint32_t first, uint32_t end)
{
    struct error err = {0};
    uint64_t *row_start = need((size_t)(end - first) + 1, sizeof *row_start);
    uint32_t *neighbor = need((size_t)d->edge_count, sizeof *neighbor);
    uint64_t *order = need((size_t)d->edge_count, sizeof *order);
    struct edge_columns columns;
    demand(edge_columns_new(&columns, &d->columns.width, d->edge_count, "edges", &err), &err);
    uint64_t at = 0;
    for (uint32_t node = first; node < end; node++) {
        const uint64_t from = at;
        for (uint64_t e = 0; e < d->edge_count; e++) {
            if (d->target[e] != node)
                continue;
            uint64_t place = at++;
            for (; place > from && neighbor[place - 1] > d->source[e]; place--) {
                neighbor[place] = neighbor[place - 1];
                order[place] = order[place - 1];
            }
            neighbor[place] = d->source[e];
            order[place] = e;
        }
        row_start[node - first + 1] = at;
    }
    edge_columns_gather(&columns, 0, &d->columns, order, at);
    const struct edge_chunk edges = {
        .first_node = first,
        .node_count = end - first,
        .edge_count = at,
        .row_start = row_start,
        .neighbor = neighbor,
        .columns = edge_columns_read(&columns, 0),
    };
    demand(edge_chunk_put(store, d->id, chunk, &edges, &err), &err);
    edge_columns_release(&columns);
    memory_free(order);
    memory_free(neighbor);
    memory_free(row_start);
}

static uint64_t write_edges(struct store *store, const struct small_dataset *d)
{
    const uint32_t step = d->nodes_per_chunk ? d->nodes_per_chunk : d->node_count;
    int64_t chunk = 0;
    for (uint32_t first = 0; first < d->node_count; first += step)
        write_chunk(store, d, chunk++, first,
                    d->node_count - first < step ? d->node_count : first + step);
    return (uint64_t)chunk;
}

static uint32_t name_of(const struct small_dataset *d, uint32_t node)
{
    return d->named ? d->named[node] : node;
}

static uint64_t write_features(struct store *store, const struct small_dataset *d, uint32_t dim)
{
    struct error err = {0};
    const uint32_t step = feature_chunk_rows(dim);
    int64_t chunk = 0;
    for (uint32_t first = 0; first < d->node_count; first += step) {
        const uint32_t count = d->node_count - first < step ? d->node_count - first : step;
        float *row = need((size_t)count * dim, sizeof *row);
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t c = 0; c < dim; c++)
                row[(size_t)i * dim + c] = small_dataset_feature(name_of(d, first + i), c);
        const struct feature_chunk rows = {
            .first_node = first, .node_count = count, .dim = dim, .row = row};
        demand(feature_chunk_put(store, d->id, chunk++, &rows, &err), &err);
        memory_free(row);
    }
    return (uint64_t)chunk;
}

static void write_labels(struct store *store, const struct small_dataset *d)
{
    struct error err = {0};
    const uint32_t classes = d->class_count;
    int32_t *label = need(d->node_count, sizeof *label);
    float *multi = need((size_t)d->node_count * (classes + 1), sizeof *multi);
    for (uint32_t v = 0; v < d->node_count; v++) {
        label[v] = classes ? (int32_t)(name_of(d, v) % classes) : -1;
        for (uint32_t c = 0; c < classes; c++)
            multi[(size_t)v * classes + c] = small_dataset_multi_label(name_of(d, v), classes, c);
    }
    const bool several = d->task == TASK_MULTI_LABEL;
    const struct node_labels labels = {
        .node_count = d->node_count,
        .task = d->task,
        .class_count = classes,
        .row = several ? (const void *)multi : label,
    };
    demand(node_labels_put(store, d->id, &labels, &err), &err);
    memory_free(multi);
    memory_free(label);
}

static struct node_splits write_splits(struct store *store, const struct small_dataset *d)
{
    struct error err = {0};
    struct node_splits splits = {0};
    uint32_t *node[SPLIT_COUNT];
    for (int s = 0; s < SPLIT_COUNT; s++)
        splits.node[s] = node[s] = need(d->node_count, sizeof *node[s]);
    for (uint32_t v = 0; v < d->node_count; v++) {
        const uint32_t split = name_of(d, v) % 4;
        if (split < SPLIT_COUNT)
            node[split][splits.count[split]++] = v;
    }
    demand(node_splits_put(store, key_dataset(d->id, "splits").text, d->id, &splits, &err), &err);
    for (int s = 0; s < SPLIT_COUNT; s++)
        memory_free(node[s]);
    return splits;
}

static void fill_types(const struct small_dataset *d, struct dataset_schema *schema)
{
    schema->node_type_count = 1;
    must(text_copy(schema->node_type[0].name, TYPE_NAME_SIZE, "node"));
    schema->node_type[0].node_count = d->node_count;
    const uint16_t *type = d->columns.data[EDGE_TYPE];
    schema->edge_type_count = type ? 2 : 1;
    must(text_copy(schema->edge_type[0].name, TYPE_NAME_SIZE, "edge"));
    must(text_copy(schema->edge_type[1].name, TYPE_NAME_SIZE, "other"));
    for (uint64_t e = 0; e < d->edge_count; e++) {
        schema->edge_type[type ? type[e] : 0].edge_count++;
        schema->self_loop_count += d->source[e] == d->target[e];
    }
}

void small_dataset_write(struct store *store, const struct small_dataset *d)
{
    struct error err = {0};
    const uint32_t dim = d->feature_dim ? d->feature_dim : 3;
    struct dataset_schema schema = {
        .node_count = d->node_count,
        .edge_count = d->edge_count,
        .input_edge_rows = d->edge_count,
        .undirected = d->undirected,
        .edge_width = d->columns.width,
        .feature_dim = dim,
        .feature_origin = "given",
        .task = d->task ? d->task : TASK_NONE,
        .class_count = task_of(d->task) ? d->class_count : 0,
        .node_id_form = NODE_ID_CONSECUTIVE,
    };
    must(text_copy(schema.id, sizeof schema.id, d->id));
    must(text_copy(schema.name, sizeof schema.name, d->name));
    fill_types(d, &schema);
    schema.edge_chunk_count = write_edges(store, d);
    schema.feature_chunk_count = write_features(store, d, dim);
    if (task_of(d->task))
        write_labels(store, d);
    const struct node_splits splits = write_splits(store, d);
    schema.train_count = splits.count[SPLIT_TRAIN];
    schema.valid_count = splits.count[SPLIT_VALID];
    schema.test_count = splits.count[SPLIT_TEST];
    demand(dataset_schema_put(store, &schema, &err), &err);
}

struct small_dataset small_dataset_karate(uint32_t *source, uint32_t *target)
{
    for (size_t e = 0; e < KARATE_EDGE_COUNT; e++) {
        source[2 * e] = target[2 * e + 1] = karate_edge[e][0];
        target[2 * e] = source[2 * e + 1] = karate_edge[e][1];
    }
    return (struct small_dataset){
        .id = "karate-1",
        .name = "karate",
        .node_count = KARATE_NODE_COUNT,
        .edge_count = 2ULL * KARATE_EDGE_COUNT,
        .source = source,
        .target = target,
        .undirected = true,
        .task = TASK_SINGLE_LABEL,
        .class_count = 2,
    };
}
