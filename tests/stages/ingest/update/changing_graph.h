/*
 * changing_graph - a graph that changes (drawn_updates.h), in the user's view, and how ingest
 * stores it.
 *
 * Include it in one file of a test program.
 */
#ifndef TESTS_STAGES_INGEST_UPDATE_CHANGING_GRAPH_H
#define TESTS_STAGES_INGEST_UPDATE_CHANGING_GRAPH_H

#include "common/base/memory.h"
#include "common/numbers/random.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/update/dataset_versions.h"

#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>

enum { CLASSES = 4, ROOMY = 1 << 28, NAME_SIZE = 24, GONE_MAX = 4 };

/* A kind of graph. With three types it has authors, papers and venues and four relations between
 * them. With one type and relations it has two relations. */
struct kind {
    uint32_t types;      /* 0: one type of nodes and of edges, and no relations */
    bool is_names_only;  /* the types are only names */
    bool adds_reverses;  /* ingest.add_reverse */
    bool says_reverses;  /* the input itself has the reverse of a relation: rev_writes */
    bool makes_features; /* ingest makes the features of types without given ones */
    bool has_prefix;     /* ids begin with the type */
    uint32_t nodes, edges, dim;
    enum node_id_form ids;
    bool undirected, weighted, timed, links, keeps_nodes;
    bool old_times; /* stored as doubles, as in earlier releases */
    enum edge_policy duplicates, self_loops;
    bool labelled;   /* weights are labels, classes from 0 */
    bool given;      /* a list gives the held-out edges, by ends and relation */
    uint32_t graphs; /* how many graphs it begins with; 0: the dataset is one graph */
};

/* Returns a form of graph; each bit of `form` is one property. */
static inline struct kind kind_of(unsigned form)
{
    return (struct kind){.nodes = 300,
                         .edges = 1500,
                         .dim = 3,
                         .ids = (enum node_id_form)(NODE_ID_CONSECUTIVE + (int)(form % 3)),
                         .undirected = form & 1,
                         .weighted = form & 2,
                         .timed = form & 4,
                         .old_times = (form & 5) == 5,
                         .duplicates = form & 8 ? EDGES_REMOVE : EDGES_KEEP,
                         .self_loops = form & 2 ? EDGES_REMOVE : EDGES_KEEP};
}

struct node {
    char name[NAME_SIZE];
    int label, split;  /* split 3: none */
    uint32_t features; /* the number from which the feature row is computed */
    bool is_gone;
    uint32_t type;
    uint32_t graph; /* index in `graph` */
};

struct edge {
    uint32_t source, target; /* nodes, by their index in `node` */
    uint16_t relation;
    float weight;
    int64_t time;
};

struct held_edge {
    struct edge edge; /* by its ends and relation */
    int split;
};

enum { GRAPHS_MAX = 256 };

/* The graph, in the order of the input. Nodes, and graphs of a set, keep their index when others
 * are removed. */
struct world {
    const struct kind *kind;
    struct node *node;
    uint32_t node_count;
    struct edge *edge;
    uint32_t edge_count;
    /* [held_count] listed held-out edges; listed links are no edges of the input */
    struct held_edge *held;
    uint32_t held_count;
    uint32_t *number; /* [node_count] number of each node in the dataset, once it is ingested */
    uint32_t *order;  /* the node of each number */
    uint32_t graph_count;
    uint32_t graph[GRAPHS_MAX]; /* the user's number of each graph */
};

enum { AUTHOR, PAPER, VENUE, TYPES_MAX, RELATIONS_MAX = 4, WRITES = 0, REV_WRITES = 3 };

static const char *const type_names[TYPES_MAX] = {"author", "paper", "venue"};
static const struct edge_type typed_relations[RELATIONS_MAX] = {{"writes", 0, AUTHOR, PAPER},
                                                                {"cites", 0, PAPER, PAPER},
                                                                {"in", 0, PAPER, VENUE},
                                                                {"reviews", 0, AUTHOR, PAPER}};
static const struct edge_type relations_with_reverse[RELATIONS_MAX] = {
    {"writes", 0, AUTHOR, PAPER},
    {"cites", 0, PAPER, PAPER},
    {"in", 0, PAPER, VENUE},
    {"rev_writes", 0, PAPER, AUTHOR}};
static const struct edge_type own_relations[RELATIONS_MAX] = {{"knows", 0, 0, 0},
                                                              {"likes", 0, 0, 0}};

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

/* ---- types
 * --------------------------------------------------------------------------------------- */

static inline uint32_t type_count(const struct kind *kind)
{
    return kind->types ? kind->types : 1;
}

static inline uint32_t relation_count(const struct kind *kind)
{
    return kind->types > 1 ? RELATIONS_MAX : kind->types ? 2 : 1;
}

static inline const struct edge_type *relations_of(const struct kind *kind)
{
    return kind->types < 2       ? own_relations
           : kind->says_reverses ? relations_with_reverse
                                 : typed_relations;
}

/* Returns the number of given feature columns. */
static inline uint32_t dim_of(const struct kind *kind, uint32_t type)
{
    static const uint32_t more[TYPES_MAX] = {1, 0, 0};
    if (kind->types < 2 || kind->is_names_only)
        return kind->dim;
    return type == VENUE ? 0 : kind->dim + more[type];
}

static inline bool has_targets(const struct kind *kind, uint32_t type)
{
    return kind->types < 2 || kind->is_names_only || type == PAPER;
}

/* Draws a type: authors with 3 in 10, papers with 5, venues with 2. If nodes must keep their
 * numbers, only venues are added, because no nodes follow them. */
static inline uint32_t draw_type(const struct kind *kind)
{
    const uint32_t at = kind->keeps_nodes ? 9 : draw(10);
    return kind->types < 2 ? 0 : at < 3 ? AUTHOR : at < 8 ? PAPER : VENUE;
}

/* Draws a relation from one type to another that is no reverse; -1 if there is none. */
static inline int draw_relation(const struct kind *kind, uint32_t source, uint32_t target)
{
    const uint32_t count = relation_count(kind) - kind->says_reverses, first = draw(count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t r = (first + i) % count;
        const struct edge_type *relation = &relations_of(kind)[r];
        if (kind->types < 2 || kind->is_names_only ||
            (relation->source_type == source && relation->target_type == target))
            return (int)r;
    }
    return -1;
}

/* ---- the graph
 * ----------------------------------------------------------------------------------- */

/* Returns the edge of the reverse relation that belongs to an edge of `writes`, and the other way
 * round. */
static inline struct edge turned(const struct edge *edge)
{
    struct edge other = *edge;
    other.source = edge->target;
    other.target = edge->source;
    other.relation = edge->relation == WRITES ? REV_WRITES : WRITES;
    return other;
}

static inline bool has_turned(const struct world *w, const struct edge *edge)
{
    return w->kind->says_reverses && (edge->relation == WRITES || edge->relation == REV_WRITES);
}

/* Returns the next node from `node` on, cyclically, that is in the same graph as the node
 * `other`. */
static inline uint32_t beside(const struct world *w, uint32_t other, uint32_t node)
{
    while (w->node[node].is_gone || w->node[node].graph != w->node[other].graph)
        node = (node + 1) % w->node_count;
    return node;
}

/* Adds an edge. If no relation connects the types this way, the edge is turned round; returns false
 * if none connects them that way either. Edges of a set of graphs stay inside one graph. */
static inline bool new_edge(struct world *w, uint32_t source, uint32_t target)
{
    target = beside(w, source, target);
    int relation = draw_relation(w->kind, w->node[source].type, w->node[target].type);
    if (relation < 0) {
        const uint32_t other = source;
        source = target;
        target = other;
        relation = draw_relation(w->kind, w->node[source].type, w->node[target].type);
    }
    if (relation < 0)
        return false;
    w->edge[w->edge_count++] = (struct edge){.source = source,
                                             .target = target,
                                             .relation = (uint16_t)relation,
                                             .weight = (float)draw(9) - (float)!w->kind->labelled,
                                             .time = draw(3)};
    /* About as many edges come with their reverse as without it, in either relation. */
    struct edge *last = &w->edge[w->edge_count - 1];
    const uint32_t form = has_turned(w, last) ? draw(3) : 0;
    if (form == 1)
        w->edge[w->edge_count++] = turned(last);
    else if (form == 2)
        *last = turned(last);
    return true;
}

static inline bool joins(const struct world *w, const struct edge *edge, const struct edge *other)
{
    return edge->relation == other->relation &&
           ((edge->source == other->source && edge->target == other->target) ||
            (w->kind->undirected && edge->source == other->target &&
             edge->target == other->source));
}

/* Returns whether the edge is a listed held-out edge, or the reverse of one. */
static inline bool is_held(const struct world *w, const struct edge *edge)
{
    const bool turns = has_turned(w, edge) && edge->relation == REV_WRITES;
    const struct edge own = turns ? turned(edge) : *edge;
    for (uint32_t i = 0; i < w->held_count; i++)
        if (joins(w, &w->held[i].edge, &own))
            return true;
    return false;
}

/* Holds out every fifth edge, in turn for validation and test. */
static inline void hold_out(struct world *w)
{
    for (uint32_t e = 0; w->kind->given && e < w->edge_count; e += 5) {
        const struct edge *edge = &w->edge[e];
        const bool is_reverse = has_turned(w, edge) && edge->relation == REV_WRITES;
        if (edge->source != edge->target && !is_reverse && !is_held(w, edge))
            w->held[w->held_count++] = (struct held_edge){*edge, (int)(e / 5 % 2)};
    }
}

static inline void name_node(struct world *w, uint32_t node, const char *stem, uint32_t number)
{
    struct node *of = &w->node[node];
    const bool is_text = w->kind->ids == NODE_ID_STRING;
    (void)snprintf(of->name, NAME_SIZE, "%s%s%s%u", w->kind->has_prefix ? type_names[of->type] : "",
                   w->kind->has_prefix ? ":" : "", is_text ? stem : "", number);
}

static inline void world_begin(struct world *w, const struct kind *kind)
{
    const uint32_t room = kind->nodes + 64;
    *w = (struct world){.kind = kind, .node_count = kind->nodes};
    w->node = memory_alloc(room, sizeof *w->node);
    w->number = memory_alloc(room, sizeof *w->number);
    w->order = memory_alloc(room, sizeof *w->order);
    w->edge = memory_alloc(2 * kind->edges + 512, sizeof *w->edge);
    for (uint32_t i = 0; i < kind->nodes; i++) {
        w->node[i] = (struct node){
            .label = (int)(i % CLASSES), .split = (int)(i % 5 < 3 ? i % 5 : 3), .features = i};
        /* Types are in runs, so that ids that are numbers are those of the dataset. */
        w->node[i].type = i * type_count(kind) / kind->nodes;
        if (!has_targets(kind, w->node[i].type))
            w->node[i].label = -1, w->node[i].split = 3;
        w->node[i].graph = kind->graphs ? i % kind->graphs : 0;
        name_node(w, i, "n", kind->ids == NODE_ID_INTEGER ? 1000 + 7 * i : i);
    }
    for (; w->graph_count < kind->graphs; w->graph_count++)
        w->graph[w->graph_count] = w->graph_count;
    for (uint32_t e = 0; e < kind->edges; e++)
        (void)new_edge(w, draw(kind->nodes), draw(kind->nodes));
    w->held = memory_alloc(w->edge_count + 1, sizeof *w->held);
    hold_out(w);
}

static inline void world_end(struct world *w)
{
    memory_free(w->node);
    memory_free(w->number);
    memory_free(w->order);
    memory_free(w->edge);
    memory_free(w->held);
}

/* ---- the graph as ingest stores it
 * ------------------------------------------------------------------- */

static inline uint32_t number_nodes(struct world *w)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < type_count(w->kind); t++)
        for (uint32_t i = 0; i < w->node_count; i++) {
            if (w->node[i].type != t || w->node[i].is_gone)
                continue;
            w->order[count] = i;
            w->number[i] = count++;
        }
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
    for (uint32_t at = 0; at < count; at++) {
        const char *name = w->node[w->order[at]].name;
        integer[at] = strtoll(name, NULL, 10);
        are_numbers &= integer[at] == at;
        (void)snprintf(text + offset[at], NAME_SIZE, "%s", name);
        offset[at + 1] = offset[at] + strlen(name);
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

/* ---- a set of graphs
 * --------------------------------------------------------------------------------- */

/* Returns the label of a graph; labels and splits of graphs are computed from their index. */
static inline int label_of_graph(uint32_t place)
{
    return (int)(place % CLASSES);
}

static inline int split_of_graph(uint32_t place)
{
    return place % 5 < 3 ? (int)(place % 5) : 3;
}

/* Fills number [graph_count] and its inverse place [graph_count]; returns how many graphs have
 * nodes. */
static inline uint32_t number_graphs(const struct world *w, uint32_t *number, uint32_t *place)
{
    bool has_node[GRAPHS_MAX] = {false};
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->node_count; i++)
        has_node[w->node[i].graph] |= !w->node[i].is_gone;
    for (uint32_t g = 0; g < w->graph_count; g++)
        if (has_node[g]) {
            place[count] = g;
            number[g] = count++;
        }
    return count;
}

static inline void push_graphs(struct dataset_builder *builder, const struct world *w,
                               uint32_t nodes)
{
    struct error err = {0};
    uint32_t number[GRAPHS_MAX], place[GRAPHS_MAX];
    int64_t *graph = memory_alloc(nodes, sizeof *graph);
    const char name[] = "graph_classification";
    int32_t label[GRAPHS_MAX];
    const uint32_t count = number_graphs(w, number, place);
    for (uint32_t k = 0; k < nodes; k++)
        graph[k] = number[w->node[w->order[k]].graph];
    assert_ok(dataset_builder_set_graphs(builder, "graphs", 1, graph, 0, &err), &err);
    for (uint32_t g = 0; g < count; g++)
        label[g] = label_of_graph(place[g]);
    const struct label_rows labels = {
        .task = task_named(name, strlen(name)), .columns = 1, .count = count, .row = label};
    assert_ok(dataset_builder_set_labels(builder, "labels", 1, &labels, &err), &err);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        int64_t member[GRAPHS_MAX];
        uint64_t members = 0;
        for (uint32_t g = 0; g < count; g++)
            if (split_of_graph(place[g]) == s)
                member[members++] = g;
        assert_ok(
            dataset_builder_set_split(builder, (enum split)s, "split", 1, member, members, &err),
            &err);
    }
    memory_free(graph);
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

static inline void push_rows(struct dataset_builder *builder, const struct world *w, uint32_t count)
{
    struct error err = {0};
    float *row = memory_alloc(w->kind->dim + 1, sizeof *row);
    for (uint32_t k = 0; k < count; k++) {
        const struct node *node = &w->node[w->order[k]];
        const uint32_t dim = dim_of(w->kind, node->type);
        for (uint32_t c = 0; c < dim; c++)
            row[c] = feature_of(node->features, c);
        dataset_builder_select_type(builder, node->type);
        if (dim)
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
        if (!w->kind->labelled && is_held(w, edge))
            continue;
        struct edge_piece piece = {.where = "edges",
                                   .first_line = e + 1,
                                   .count = 1,
                                   .source = &source,
                                   .target = &target};
        if (w->kind->weighted) {
            piece.columns.width.of[EDGE_WEIGHT] = 1;
            piece.columns.data[EDGE_WEIGHT] = &edge->weight;
        }
        if (w->kind->types) {
            piece.columns.width.of[EDGE_TYPE] = 1;
            piece.columns.data[EDGE_TYPE] = &edge->relation;
        }
        const double old_time = (double)edge->time;
        if (w->kind->timed) {
            const enum edge_column column = w->kind->old_times ? EDGE_TIME_F64 : EDGE_TIME;
            piece.columns.width.of[column] = 1;
            piece.columns.data[column] = w->kind->old_times ? (const void *)&old_time : &edge->time;
        }
        assert_ok(dataset_builder_add_edges(builder, &piece, &err), &err);
    }
}

static inline void push_held(struct dataset_builder *builder, const struct world *w)
{
    struct error err = {0};
    for (uint32_t i = 0; i < w->held_count; i++) {
        const struct edge *edge = &w->held[i].edge;
        const struct given_edge given = {.where = "held",
                                         .line = i + 1,
                                         .source = w->number[edge->source],
                                         .target = w->number[edge->target],
                                         .type = edge->relation};
        assert_ok(dataset_builder_hold_out(builder, (enum held_out)w->held[i].split, &given, &err),
                  &err);
    }
}

static inline void push_types(struct dataset_builder *builder, const struct world *w)
{
    struct error err = {0};
    struct node_type type[TYPES_MAX] = {{.name = ""}};
    for (uint32_t t = 0, first = 0; t < TYPES_MAX && t < type_count(w->kind); t++) {
        (void)snprintf(type[t].name, sizeof type[t].name, "%s", type_names[t]);
        type[t].first_node = first;
        for (uint32_t i = 0; i < w->node_count; i++)
            type[t].node_count += w->node[i].type == t && !w->node[i].is_gone;
        first += type[t].node_count;
    }
    assert_ok(dataset_builder_set_types(builder, type, type_count(w->kind), relations_of(w->kind),
                                        relation_count(w->kind), &err),
              &err);
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
    if (w->kind->types)
        push_types(builder, w);
    push_ids(builder, w, count);
    if (w->kind->graphs)
        push_graphs(builder, w, count);
    else if (!w->kind->links)
        push_targets(builder, w, count);
    push_held(builder, w);
    push_edges(builder, w);
    push_rows(builder, w, count);
    assert_ok(dataset_builder_finish(builder, NULL, &err), &err);
    dataset_builder_free(builder);
}

#endif
