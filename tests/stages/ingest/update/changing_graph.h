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

enum { CLASSES = 4, ROOMY = 1 << 28, TEXT_SIZE = 1 << 16, NAME_SIZE = 24, GONE_MAX = 4 };

/* A kind of graph. With three types it is one of authors, papers and venues and four relations between them, with one that is told apart of
 * one type and two relations. */
struct kind {
    uint32_t types;      /* 0: nodes and edges of one type */
    bool is_names_only;  /* types are names that nothing computes with */
    bool adds_reverses;  /* ingest.add_reverse */
    bool says_reverses;  /* the input has a relation that is the reverse of another: rev_writes */
    bool makes_features; /* of types that have none that are given */
    bool has_prefix;     /* ids begin with types */
    uint32_t nodes, edges, dim;
    enum node_id_form ids;
    bool undirected, weighted, timed, links, keeps_nodes;
    enum edge_policy duplicates, self_loops;
    bool labelled;   /* weights are labels, classes from 0 on */
    bool given;      /* a list says which edges are held out, by their ends and relations */
    uint32_t graphs; /* that it begins with; 0: it is one */
};

struct node {
    char name[NAME_SIZE];
    int label, split;  /* 3: none */
    uint32_t features; /* what its row is made of */
    bool is_gone;
    uint32_t type;
    uint32_t graph; /* its place in `graph` */
};

struct edge {
    uint32_t source, target; /* nodes, by their places in `node` */
    uint16_t relation;
    float weight;
    double time;
};

struct held_edge {
    struct edge edge; /* its ends and relation */
    int split;
};

enum { GRAPHS_MAX = 256 };

/* The graph, in the order of the input; nodes, and graphs of a set, keep their places when others go. */
struct world {
    const struct kind *kind;
    struct node *node;
    uint32_t node_count;
    struct edge *edge;
    uint32_t edge_count;
    struct held_edge
        *held; /* [held_count] that are given; links of them are no edges of the input */
    uint32_t held_count;
    uint32_t *number; /* [node_count] in a dataset, once it is ingested */
    uint32_t *order;  /* the other way */
    uint32_t graph_count;
    uint32_t graph[GRAPHS_MAX]; /* what each is called */
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

/* ---- types --------------------------------------------------------------------------------------- */

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

/* Columns that are given. */
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

/* Of the types in turn: 0 to 3 authors and venues to 5 papers. Nodes that are to keep their numbers have none but venues behind them. */
static inline uint32_t draw_type(const struct kind *kind)
{
    const uint32_t at = kind->keeps_nodes ? 9 : draw(10);
    return kind->types < 2 ? 0 : at < 3 ? AUTHOR : at < 8 ? PAPER : VENUE;
}

/* A relation from one type to another, which is no reverse; -1: there is none. */
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

/* ---- the graph ----------------------------------------------------------------------------------- */

/* The edge of the reverse of writes that goes with one of writes, and the other way. */
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

/* The next node from `node` on, round and round, that is in the graph of another one. */
static inline uint32_t beside(const struct world *w, uint32_t other, uint32_t node)
{
    while (w->node[node].is_gone || w->node[node].graph != w->node[other].graph)
        node = (node + 1) % w->node_count;
    return node;
}

/* Of types that no relation connects this way, the other way; false: that neither. Edges of a set of graphs stay inside one. */
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
    /* As many alone as with the other, either way. */
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

/* Whether it is one of those that are given to be held out, or the reverse of one. */
static inline bool is_held(const struct world *w, const struct edge *edge)
{
    const bool turns = has_turned(w, edge) && edge->relation == REV_WRITES;
    const struct edge own = turns ? turned(edge) : *edge;
    for (uint32_t i = 0; i < w->held_count; i++)
        if (joins(w, &w->held[i].edge, &own))
            return true;
    return false;
}

/* Every fifth edge, in turn for validation and test. */
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
        /* One behind the other: ids that are numbers are those of the dataset. */
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

/* ---- what ingest makes of it ------------------------------------------------------------------------ */

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

/* ---- a set of graphs --------------------------------------------------------------------------------- */

/* Labels and splits of graphs follow from their places. */
static inline int label_of_graph(uint32_t place)
{
    return (int)(place % CLASSES);
}

static inline int split_of_graph(uint32_t place)
{
    return place % 5 < 3 ? (int)(place % 5) : 3;
}

/* number [graph_count], place [graph_count] the other way; returns how many have nodes. */
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
        if (w->kind->timed) {
            piece.columns.width.of[EDGE_TIME] = 1;
            piece.columns.data[EDGE_TIME] = &edge->time;
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

/* What a file calls a node whose type it says: without the type before it, every other time. */
static inline const char *short_name(const struct world *w, uint32_t node)
{
    const char *name = w->node[node].name;
    return w->kind->has_prefix && draw(2) ? strchr(name, ':') + 1 : name;
}

/* Whether a file that need not say types does: what is drawn for one holds for all its lines. */
static inline bool says_type(const struct world *w, const char *text)
{
    return w->kind->types > 1 && strncmp(text, "id,type", 7) == 0;
}

static inline void say_row(const struct world *w, struct texts *t, uint32_t node)
{
    const uint32_t dim = dim_of(w->kind, w->node[node].type);
    if (dim == 0)
        return;
    if (!*t->rows && w->kind->types > 1 && draw(2))
        add(t->rows, sizeof t->rows, "id,type,x\n");
    const bool typed = says_type(w, t->rows);
    add(t->rows, sizeof t->rows, "%s%s%s", typed ? short_name(w, node) : w->node[node].name,
        typed ? "," : "", typed ? type_names[w->node[node].type] : "");
    size_t at = strlen(t->rows);
    for (uint32_t c = 0; c < dim; c++) {
        at += (size_t)sprintf(t->rows + at, ",%g", (double)feature_of(w->node[node].features, c));
        assert_true(at + 32 < sizeof t->rows);
    }
    (void)snprintf(t->rows + at, sizeof t->rows - at, "\n");
}

/* Both ends, and the relation by its number, its name or all three. */
static inline void say_ends(const struct world *w, char *text, size_t size, const struct edge *edge)
{
    const bool is_known = !w->kind->is_names_only && w->kind->types > 1;
    const struct edge_type *relation = &relations_of(w->kind)[edge->relation];
    add(text, size, "%s,%s", is_known ? short_name(w, edge->source) : w->node[edge->source].name,
        is_known ? short_name(w, edge->target) : w->node[edge->target].name);
    if (!w->kind->types)
        return;
    const uint32_t form = draw(is_known ? 3 : 2);
    if (form == 0)
        add(text, size, ",%u", edge->relation);
    else if (form == 1)
        add(text, size, ",%s", relation->name);
    else
        add(text, size, ",%s:%s:%s", type_names[relation->source_type], relation->name,
            type_names[relation->target_type]);
}

static inline void say_edge(const struct world *w, struct texts *t, const struct edge *edge)
{
    if (!*t->edges && w->kind->types)
        add(t->edges, sizeof t->edges, "src,dst,etype%s%s\n", w->kind->weighted ? ",weight" : "",
            w->kind->timed ? ",time" : "");
    say_ends(w, t->edges, sizeof t->edges, edge);
    if (w->kind->weighted)
        add(t->edges, sizeof t->edges, ",%g", (double)edge->weight);
    if (w->kind->timed)
        add(t->edges, sizeof t->edges, ",%g", edge->time);
    add(t->edges, sizeof t->edges, "\n");
}

static inline void come(struct world *w, struct texts *t, uint32_t source, uint32_t target)
{
    uint32_t next = w->edge_count;
    for (bool made = new_edge(w, source, target); made && next < w->edge_count; next++)
        say_edge(w, t, &w->edge[next]);
}

/* All edges of the same ends and relation; false when there are none any more. */
static inline bool remove_edges(struct world *w, const struct edge *like)
{
    uint32_t left = 0;
    for (uint32_t e = 0; e < w->edge_count; e++)
        if (!joins(w, &w->edge[e], like))
            w->edge[left++] = w->edge[e];
    const bool found = left < w->edge_count;
    w->edge_count = left;
    left = 0;
    for (uint32_t i = 0; i < w->held_count; i++)
        if (!joins(w, &w->held[i].edge, like))
            w->held[left++] = w->held[i];
    w->held_count = left;
    return found;
}

static inline void remove_node(struct world *w, struct texts *t, int version, uint32_t node)
{
    w->node[node].is_gone = true;
    if (!*t->gone_nodes && w->kind->types > 1 && version % 2)
        add(t->gone_nodes, sizeof t->gone_nodes, "id,type\n");
    const bool typed = says_type(w, t->gone_nodes);
    add(t->gone_nodes, sizeof t->gone_nodes, "%s%s%s\n",
        typed ? short_name(w, node) : w->node[node].name, typed ? "," : "",
        typed ? type_names[w->node[node].type] : "");
}

static inline void remove_nodes(struct world *w, struct texts *t, int version)
{
    uint32_t left = 0;
    /* Old ones, and of those that came last. */
    for (int i = 0; i < GONE_MAX && version != 2 && !w->kind->keeps_nodes; i++)
        remove_node(w, t, version, draw_node(w, i == 3 ? w->node_count - 4 : 0));
    /* All of a graph, be it one that came. */
    const bool goes = w->kind->graphs && version != 2;
    const uint32_t like = goes ? draw_node(w, version % 3 ? 0 : w->node_count - 5) : 0;
    for (uint32_t i = 0; goes && i < w->node_count; i++)
        if (!w->node[i].is_gone && w->node[i].graph == w->node[like].graph)
            remove_node(w, t, version, i);
    for (uint32_t e = 0; e < w->edge_count; e++)
        if (!w->node[w->edge[e].source].is_gone && !w->node[w->edge[e].target].is_gone)
            w->edge[left++] = w->edge[e];
    w->edge_count = left;
    left = 0;
    for (uint32_t i = 0; i < w->held_count; i++)
        if (!w->node[w->held[i].edge.source].is_gone && !w->node[w->held[i].edge.target].is_gone)
            w->held[left++] = w->held[i];
    w->held_count = left;
}

static inline void say_gone(const struct world *w, struct texts *t, const struct edge *edge)
{
    if (!*t->gone_edges && w->kind->types)
        add(t->gone_edges, sizeof t->gone_edges, "source,target,relation\n");
    say_ends(w, t->gone_edges, sizeof t->gone_edges, edge);
    add(t->gone_edges, sizeof t->gone_edges, "\n");
}

/* Edges that go, of which some come again at once, and some that are there already. */
static inline void change_edges(struct world *w, struct texts *t)
{
    struct edge gone[6];
    uint32_t gone_count = 0;
    for (int i = 0; i < 6; i++) {
        /* A self loop that ingest removed is none that could be, nor is a reverse alone that it held out. */
        struct edge edge = w->edge[draw(w->edge_count)];
        if (has_turned(w, &edge) && edge.relation == REV_WRITES)
            edge = turned(&edge);
        if (edge.source == edge.target || !remove_edges(w, &edge))
            continue;
        /* What came with this update is not there yet. */
        say_gone(w, t, &edge);
        const struct edge other = turned(&edge);
        if (has_turned(w, &edge) && (w->kind->keeps_nodes || w->kind->given) &&
            remove_edges(w, &other))
            say_gone(w, t, &other);
        gone[gone_count++] = edge;
    }
    const uint32_t stays = w->edge_count;
    for (uint32_t i = 1; i < gone_count; i += 2)
        come(w, t, gone[i].target, gone[i].source);
    come(w, t, w->edge[draw(stays)].source, w->edge[draw(stays)].target);
    for (int i = 0; i < 3; i++) {
        const struct edge there = w->edge[draw(stays)];
        come(w, t, there.source, there.target);
    }
    const uint32_t node = draw_node(w, 0);
    come(w, t, node, node);
}

/* Two graphs that come, in ascending order of what they are called: one of a new number, one of that of a graph that went. */
static inline void begin_graphs(struct world *w, int version)
{
    uint32_t number[GRAPHS_MAX], place[GRAPHS_MAX], names[2] = {5000 + (uint32_t)version, 1000};
    const uint32_t count = w->kind->graphs ? number_graphs(w, number, place) : 0;
    if (!w->kind->graphs)
        return;
    names[1] += (uint32_t)version;
    for (uint32_t g = 0; g < w->graph_count; g++) {
        bool is_there = false;
        for (uint32_t k = 0; k < count; k++)
            is_there |= w->graph[place[k]] == w->graph[g];
        if (!is_there)
            names[1] = w->graph[g];
    }
    assert_true(w->graph_count + 2 <= GRAPHS_MAX && names[0] != names[1]);
    w->graph[w->graph_count++] = names[names[1] < names[0]];
    w->graph[w->graph_count++] = names[names[1] > names[0]];
}

/* The graph of the i-th node that comes: one that is there, or one of the two that begin. */
static inline uint32_t graph_of_new(const struct world *w, uint32_t i, uint32_t other)
{
    return i % 2 == 0 ? w->graph_count - 1 - i / 2 % 2 : w->node[other].graph;
}

/* Behind the id and the type of the i-th. Split and label with the first node, and at times with a further one. */
static inline void say_graph(const struct world *w, struct texts *t, uint32_t i, uint32_t graph)
{
    static const char *const split[] = {"train", "valid", "test", ""};
    add(t->nodes, sizeof t->nodes, ",%u", w->graph[graph]);
    if (i % 2 == 0 && (i < 4 || draw(2)))
        add(t->nodes, sizeof t->nodes, ",%s,%d", split[split_of_graph(graph)],
            label_of_graph(graph));
    add(t->nodes, sizeof t->nodes, "\n");
}

/* The i-th node that comes. */
static inline void say_node(const struct world *w, struct texts *t, uint32_t i, uint32_t node)
{
    static const char *const split[] = {"train", "valid", "test", ""};
    const struct node *new = &w->node[node];
    const bool typed = w->kind->types > 1;
    if (!*t->nodes && typed)
        add(t->nodes, sizeof t->nodes, "id,type%s%s\n", w->kind->graphs ? ",graph" : "",
            w->kind->links ? "" : ",split,label");
    add(t->nodes, sizeof t->nodes, "%s%s%s", typed ? short_name(w, node) : new->name,
        typed ? "," : "", typed ? type_names[new->type] : "");
    if (w->kind->graphs)
        say_graph(w, t, i, new->graph);
    else if (w->kind->links || !has_targets(w->kind, new->type))
        add(t->nodes, sizeof t->nodes, "\n");
    else
        add(t->nodes, sizeof t->nodes, ",%s,%d\n", split[new->split], new->label);
}

static inline void add_nodes(struct world *w, struct texts *t, int version)
{
    begin_graphs(w, version);
    for (uint32_t i = 0; i < 5; i++) {
        const uint32_t node = w->node_count, other = draw_node(w, 0);
        struct node *new = &w->node[w->node_count++];
        *new = (struct node){.label = (int)draw(CLASSES),
                             .split = (int)draw(4),
                             .features = 5000000 + 10 * (uint32_t)version + i,
                             .type = draw_type(w->kind),
                             .graph = w->kind->graphs ? graph_of_new(w, i, other) : 0};
        name_node(w, node, "v", 100000000 + 1000 * (unsigned)version + i);
        if (!has_targets(w->kind, new->type))
            new->label = -1, new->split = 3;
        say_node(w, t, i, node);
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
        const uint32_t node = i ? draw(before) : before - 1;
        if (w->node[node].is_gone || !dim_of(w->kind, w->node[node].type))
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
