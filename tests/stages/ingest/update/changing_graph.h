/*
 * changing_graph - a graph that changes at random, as its user knows it: what ingest makes of it, and the files of each update.
 *
 * Include it in one file of a test program.
 */
#ifndef TESTS_STAGES_INGEST_UPDATE_CHANGING_GRAPH_H
#define TESTS_STAGES_INGEST_UPDATE_CHANGING_GRAPH_H

#include "common/base/memory.h"
#include "common/base/random.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/update/dataset_versions.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

enum { CLASSES = 4, ROOMY = 1 << 28, TEXT_SIZE = 1 << 16, NAME_SIZE = 16, GONE_MAX = 4 };

/* A kind of graph. */
struct kind {
    uint32_t nodes, edges, dim;
    enum node_id_form ids;
    bool undirected, weighted, timed, links, keeps_nodes;
    enum edge_policy duplicates, self_loops;
    bool labelled; /* weights are labels, classes from 0 on */
};

struct node {
    char name[NAME_SIZE];
    int label, split;  /* 3: none */
    uint32_t features; /* what its row is made of */
    bool is_gone;
};

struct edge {
    uint32_t source, target; /* nodes, by their places in `node` */
    float weight;
    double time;
};

/* The graph, in the order of the input; nodes keep their places when others go. */
struct world {
    const struct kind *kind;
    struct node *node;
    uint32_t node_count;
    struct edge *edge;
    uint32_t edge_count;
    uint32_t *number; /* [node_count] in a dataset, once it is ingested */
};

static struct pipeline_settings settings;
static struct temp_dir dir;
static uint32_t drawn;

static inline uint32_t draw(uint32_t below)
{
    const struct random_stream stream = random_stream_of(5, RANDOM_GENERATOR, 0, 0, 0);
    uint32_t word[4];
    random_block(&stream, drawn++, 0, word);
    return random_below(word[0], below);
}

static inline float feature_of(uint32_t features, uint32_t column)
{
    return (float)((features * 31 + column) % 1009);
}

/* ---- the graph ----------------------------------------------------------------------------------- */

static inline void new_edge(struct world *w, uint32_t source, uint32_t target)
{
    w->edge[w->edge_count++] = (struct edge){.source = source,
                                             .target = target,
                                             .weight = (float)draw(9) - (float)!w->kind->labelled,
                                             .time = draw(3)};
}

static inline void world_begin(struct world *w, const struct kind *kind)
{
    const uint32_t room = kind->nodes + 64;
    *w = (struct world){.kind = kind, .node_count = kind->nodes};
    w->node = memory_alloc(room, sizeof *w->node);
    w->number = memory_alloc(room, sizeof *w->number);
    w->edge = memory_alloc(kind->edges + 256, sizeof *w->edge);
    for (uint32_t i = 0; i < kind->nodes; i++) {
        w->node[i] = (struct node){
            .label = (int)(i % CLASSES), .split = (int)(i % 5 < 3 ? i % 5 : 3), .features = i};
        (void)snprintf(w->node[i].name, NAME_SIZE, kind->ids == NODE_ID_STRING ? "n%u" : "%u",
                       kind->ids == NODE_ID_INTEGER ? 1000 + 7 * i : i);
    }
    for (uint32_t e = 0; e < kind->edges; e++)
        new_edge(w, draw(kind->nodes), draw(kind->nodes));
}

static inline void world_end(struct world *w)
{
    memory_free(w->node);
    memory_free(w->number);
    memory_free(w->edge);
}

/* ---- what ingest makes of it ------------------------------------------------------------------------ */

static inline uint32_t number_nodes(struct world *w)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->node_count; i++)
        w->number[i] = w->node[i].is_gone ? UINT32_MAX : count++;
    return count;
}

static inline void push_ids(struct dataset_builder *builder, const struct world *w, uint32_t count)
{
    struct error err = {0};
    struct node_ids ids = {.node_count = count};
    int64_t *integer = memory_alloc(count, sizeof *integer);
    uint64_t *offset = memory_alloc(count + 1, sizeof *offset);
    char *text = memory_alloc(count, NAME_SIZE);
    bool are_numbers = w->kind->ids != NODE_ID_STRING;
    uint32_t at = 0;
    for (uint32_t i = 0; i < w->node_count; i++) {
        if (w->node[i].is_gone)
            continue;
        integer[at] = strtoll(w->node[i].name, NULL, 10);
        are_numbers &= integer[at] == at;
        (void)memcpy(text + offset[at], w->node[i].name, strlen(w->node[i].name));
        offset[at + 1] = offset[at] + strlen(w->node[i].name);
        at++;
    }
    if (w->kind->ids != NODE_ID_STRING)
        ids.integer = integer;
    ids.offset = offset;
    ids.text = text;
    if (!are_numbers)
        assert_ok(dataset_builder_set_ids(builder, &ids, &err), &err);
    memory_free(integer);
    memory_free(offset);
    memory_free(text);
}

static inline void push_targets(struct dataset_builder *builder, const struct world *w,
                                uint32_t count)
{
    struct error err = {0};
    const char name[] = "single_label";
    int32_t *label = memory_alloc(count, sizeof *label);
    int64_t *node = memory_alloc(count, sizeof *node);
    for (uint32_t i = 0; i < w->node_count; i++)
        if (!w->node[i].is_gone)
            label[w->number[i]] = w->node[i].label;
    const struct label_rows labels = {
        .task = task_named(name, strlen(name)), .columns = 1, .count = count, .row = label};
    assert_ok(dataset_builder_set_labels(builder, "labels", 1, &labels, &err), &err);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        uint64_t nodes = 0;
        for (uint32_t i = 0; i < w->node_count; i++)
            if (!w->node[i].is_gone && w->node[i].split == s)
                node[nodes++] = w->number[i];
        assert_ok(dataset_builder_set_split(builder, (enum split)s, "split", 1, node, nodes, &err),
                  &err);
    }
    memory_free(label);
    memory_free(node);
}

static inline void push_rows(struct dataset_builder *builder, const struct world *w)
{
    struct error err = {0};
    const uint32_t dim = w->kind->dim;
    float *row = memory_alloc(dim, sizeof *row);
    for (uint32_t i = 0; i < w->node_count; i++) {
        for (uint32_t c = 0; c < dim; c++)
            row[c] = feature_of(w->node[i].features, c);
        if (!w->node[i].is_gone)
            assert_ok(dataset_builder_add_features(builder, "rows", row, 1, dim, &err), &err);
    }
    memory_free(row);
}

static inline void push_edges(struct dataset_builder *builder, const struct world *w)
{
    struct error err = {0};
    for (uint32_t e = 0; e < w->edge_count; e++) {
        const struct edge *edge = &w->edge[e];
        const int64_t source = w->number[edge->source], target = w->number[edge->target];
        struct edge_piece piece = {.where = "edges",
                                   .first_line = e + 1,
                                   .count = 1,
                                   .source = &source,
                                   .target = &target};
        if (w->kind->weighted) {
            piece.columns.width.of[EDGE_WEIGHT] = 1;
            piece.columns.data[EDGE_WEIGHT] = &edge->weight;
        }
        if (w->kind->timed) {
            piece.columns.width.of[EDGE_TIME] = 1;
            piece.columns.data[EDGE_TIME] = &edge->time;
        }
        assert_ok(dataset_builder_add_edges(builder, &piece, &err), &err);
    }
}

static inline void ingest(struct store *store, struct world *w, const char *id)
{
    struct error err = {0};
    struct dataset_builder *builder = NULL;
    const uint32_t count = number_nodes(w);
    const struct dataset_builder_config config = {.store = store,
                                                  .settings = &settings,
                                                  .dataset_id = id,
                                                  .name = "g",
                                                  .memory_bytes = ROOMY};
    assert_ok(dataset_builder_new(&config, &builder, &err), &err);
    assert_ok(dataset_builder_set_nodes(builder, count, STATED_DIRECTED, &err), &err);
    push_ids(builder, w, count);
    if (!w->kind->links)
        push_targets(builder, w, count);
    push_edges(builder, w);
    push_rows(builder, w);
    assert_ok(dataset_builder_finish(builder, NULL, &err), &err);
    dataset_builder_free(builder);
}

/* ---- an update at random -------------------------------------------------------------------------- */

struct texts {
    char gone_nodes[TEXT_SIZE], gone_edges[TEXT_SIZE], nodes[TEXT_SIZE], rows[TEXT_SIZE * 16],
        edges[TEXT_SIZE];
};

static inline void add(char *text, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);

static inline void add(char *text, size_t size, const char *format, ...)
{
    const size_t at = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    const int more = vsnprintf(text + at, size - at, format, arguments);
    va_end(arguments);
    assert_true(more >= 0 && (size_t)more < size - at);
}

static inline uint32_t draw_node(const struct world *w, uint32_t from)
{
    uint32_t node = 0;
    do {
        node = from + draw(w->node_count - from);
    } while (w->node[node].is_gone);
    return node;
}

static inline void say_row(const struct world *w, struct texts *t, uint32_t node)
{
    size_t at = strlen(t->rows);
    at += (size_t)sprintf(t->rows + at, "%s", w->node[node].name);
    for (uint32_t c = 0; c < w->kind->dim; c++) {
        at += (size_t)sprintf(t->rows + at, ",%g", (double)feature_of(w->node[node].features, c));
        assert_true(at + 32 < sizeof t->rows);
    }
    (void)snprintf(t->rows + at, sizeof t->rows - at, "\n");
}

static inline void say_edge(const struct world *w, struct texts *t, const struct edge *edge)
{
    add(t->edges, sizeof t->edges, "%s,%s", w->node[edge->source].name, w->node[edge->target].name);
    if (w->kind->weighted)
        add(t->edges, sizeof t->edges, ",%g", (double)edge->weight);
    if (w->kind->timed)
        add(t->edges, sizeof t->edges, ",%g", edge->time);
    add(t->edges, sizeof t->edges, "\n");
}

static inline void come(struct world *w, struct texts *t, uint32_t source, uint32_t target)
{
    new_edge(w, source, target);
    say_edge(w, t, &w->edge[w->edge_count - 1]);
}

static inline bool joins(const struct world *w, const struct edge *edge, uint32_t source,
                         uint32_t target)
{
    return (edge->source == source && edge->target == target) ||
           (w->kind->undirected && edge->source == target && edge->target == source);
}

/* All edges of the same ends; false when there are none any more. */
static inline bool remove_edges(struct world *w, uint32_t source, uint32_t target)
{
    uint32_t left = 0;
    for (uint32_t e = 0; e < w->edge_count; e++)
        if (!joins(w, &w->edge[e], source, target))
            w->edge[left++] = w->edge[e];
    const bool found = left < w->edge_count;
    w->edge_count = left;
    return found;
}

static inline void remove_nodes(struct world *w, struct texts *t, int version)
{
    uint32_t left = 0;
    for (int i = 0; i < GONE_MAX && version != 2 && !w->kind->keeps_nodes; i++) {
        /* Old ones, and of those that came last. */
        const uint32_t node = draw_node(w, i == 3 ? w->node_count - 4 : 0);
        w->node[node].is_gone = true;
        add(t->gone_nodes, sizeof t->gone_nodes, "%s\n", w->node[node].name);
    }
    for (uint32_t e = 0; e < w->edge_count; e++)
        if (!w->node[w->edge[e].source].is_gone && !w->node[w->edge[e].target].is_gone)
            w->edge[left++] = w->edge[e];
    w->edge_count = left;
}

/* Edges that go, of which some come again at once, and some that are there already. */
static inline void change_edges(struct world *w, struct texts *t)
{
    for (int i = 0; i < 6; i++) {
        /* A self loop that ingest removed is none that could be. */
        const struct edge edge = w->edge[draw(w->edge_count)];
        if (edge.source == edge.target || !remove_edges(w, edge.source, edge.target))
            continue;
        /* What came with this update is not there yet. */
        add(t->gone_edges, sizeof t->gone_edges, "%s,%s\n", w->node[edge.source].name,
            w->node[edge.target].name);
    }
    const uint32_t stays = w->edge_count;
    const char *line = t->gone_edges;
    for (int i = 0; *line; i++, line = strchr(line, '\n') + 1) {
        uint32_t end[2] = {0, 0};
        char name[2][NAME_SIZE];
        assert_int_equal(sscanf(line, "%15[^,],%15[^\n]", name[0], name[1]), 2);
        for (int k = 0; k < 2; k++)
            while (strcmp(w->node[end[k]].name, name[k]) != 0)
                end[k]++;
        if (i % 2)
            come(w, t, end[1], end[0]);
    }
    come(w, t, w->edge[draw(stays)].source, w->edge[draw(stays)].target);
    for (int i = 0; i < 3; i++) {
        const struct edge there = w->edge[draw(stays)];
        come(w, t, there.source, there.target);
    }
    const uint32_t node = draw_node(w, 0);
    come(w, t, node, node);
}

static inline void add_nodes(struct world *w, struct texts *t, int version)
{
    static const char *const split[] = {"train", "valid", "test", ""};
    for (uint32_t i = 0; i < 5; i++) {
        const uint32_t node = w->node_count, other = draw_node(w, 0);
        struct node *new = &w->node[w->node_count++];
        *new = (struct node){.label = (int)draw(CLASSES),
                             .split = (int)draw(4),
                             .features = 5000000 + 10 * (uint32_t)version + i};
        (void)snprintf(new->name, NAME_SIZE, w->kind->ids == NODE_ID_STRING ? "v%u" : "%u",
                       100000000 + 1000 * (unsigned)version + i);
        if (w->kind->links)
            add(t->nodes, sizeof t->nodes, "%s\n", new->name);
        else
            add(t->nodes, sizeof t->nodes, "%s,%s,%d\n", new->name, split[new->split], new->label);
        say_row(w, t, node);
        come(w, t, i % 2 ? node : other, i % 2 ? other : node);
        if (i) {
            come(w, t, node, node - 1);
            come(w, t, node, node - 1);
        }
    }
}

static inline void change_rows(struct world *w, struct texts *t, uint32_t before)
{
    for (int i = 0; i < 3; i++) {
        char start[NAME_SIZE + 2];
        const uint32_t node = i ? draw(before) : before - 1;
        (void)snprintf(start, sizeof start, "%s,", w->node[node].name);
        if (w->node[node].is_gone || strncmp(t->rows, start, strlen(start)) == 0)
            continue;
        w->node[node].features += 1000 + (uint32_t)i;
        say_row(w, t, node);
        break;
    }
}

static inline void update_world(struct world *w, int version, struct texts *t)
{
    const uint32_t before = w->node_count;
    *t = (struct texts){.rows = ""};
    remove_nodes(w, t, version);
    change_edges(w, t);
    add_nodes(w, t, version);
    change_rows(w, t, before);
}

static inline const char *put(const char *name, const char *text)
{
    static char paths[8][FILE_PATH_SIZE];
    static int next;
    if (!*text)
        return NULL;
    char *path = paths[next++ % 8];
    (void)snprintf(path, FILE_PATH_SIZE, "%s", temp_dir_write(&dir, name, text, strlen(text)));
    return path;
}

#endif
