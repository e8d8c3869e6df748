/*
 * drawn_updates - draws random changes of a graph, and writes the files of each update.
 *
 * Include it in one file of a test program.
 */
#ifndef TESTS_STAGES_INGEST_UPDATE_DRAWN_UPDATES_H
#define TESTS_STAGES_INGEST_UPDATE_DRAWN_UPDATES_H

#include "tests/stages/ingest/update/changing_graph.h"

/* ---- a random update
 * --------------------------------------------------------------------------------- */

enum { TEXT_SIZE = 1 << 16 };

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

/* Returns the name of a node in a file that gives its type: every other time without the prefix of
 * the type. */
static inline const char *short_name(const struct world *w, uint32_t node)
{
    const char *name = w->node[node].name;
    return w->kind->has_prefix && draw(2) ? strchr(name, ':') + 1 : name;
}

/* Returns whether a file that may have types has them. One draw decides for all lines of the
 * file. */
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

/* Writes both ends, and the relation by its number, its name or in full. */
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
        add(t->edges, sizeof t->edges, ",%lld", (long long)edge->time);
    add(t->edges, sizeof t->edges, "\n");
}

static inline void come(struct world *w, struct texts *t, uint32_t source, uint32_t target)
{
    uint32_t next = w->edge_count;
    for (bool made = new_edge(w, source, target); made && next < w->edge_count; next++)
        say_edge(w, t, &w->edge[next]);
}

/* Removes all edges with the same ends and relation; returns false if there are none. */
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
    /* Removes old nodes, and nodes that were added last. */
    for (int i = 0; i < GONE_MAX && version != 2 && !w->kind->keeps_nodes; i++)
        remove_node(w, t, version, draw_node(w, i == 3 ? w->node_count - 4 : 0));
    /* Removes all nodes of a graph, which may have been added lately. */
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

/* Removes edges, some of which are added again at once, and adds some that exist already. */
static inline void change_edges(struct world *w, struct texts *t)
{
    struct edge gone[6];
    uint32_t gone_count = 0;
    for (int i = 0; i < 6; i++) {
        /* Skips a self loop that ingest has removed, which no update could remove, and a single
         * reverse that ingest has held out. */
        struct edge edge = w->edge[draw(w->edge_count)];
        if (has_turned(w, &edge) && edge.relation == REV_WRITES)
            edge = turned(&edge);
        if (edge.source == edge.target || !remove_edges(w, &edge))
            continue;
        /* Edges that this update adds cannot be removed by it. */
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

/* Begins two graphs, in ascending order of the user's numbers: one with a new number, one with the
 * number of a removed graph. */
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

/* Returns the graph of the i-th added node: an existing one, or one of the two that begin. */
static inline uint32_t graph_of_new(const struct world *w, uint32_t i, uint32_t other)
{
    return i % 2 == 0 ? w->graph_count - 1 - i / 2 % 2 : w->node[other].graph;
}

/* Writes the graph of the i-th node after id and type. Split and label come with the graph's first
 * node, and sometimes with another one. */
static inline void say_graph(const struct world *w, struct texts *t, uint32_t i, uint32_t graph)
{
    static const char *const split[] = {"train", "valid", "test", ""};
    add(t->nodes, sizeof t->nodes, ",%u", w->graph[graph]);
    if (i % 2 == 0 && (i < 4 || draw(2)))
        add(t->nodes, sizeof t->nodes, ",%s,%d", split[split_of_graph(graph)],
            label_of_graph(graph));
    add(t->nodes, sizeof t->nodes, "\n");
}

/* Writes the line of the i-th added node. */
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
