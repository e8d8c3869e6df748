/*
 * graphml_reader - a graph in GraphML, plain, gzip or zstd, read as a stream (format: graphml).
 *
 *   <graphml>
 *     <key id="d0" for="node" attr.name="label" attr.type="string"/>
 *     <key id="d1" for="edge" attr.name="weight" attr.type="double"/>
 *     <graph edgedefault="undirected">
 *       <node id="alice"><data key="d0">red</data></node>
 *       <edge source="alice" target="bob"><data key="d1">2.5</data></edge>
 *
 * attr.name determines which keys are read (graphml_keys.h). For nodes: label, class or y, a class
 * by word or number (class_words.h); feat, feat_0, feat_1, ... or x_0, x_1, ..., the numbers of the
 * features, in the order of their keys, for all nodes or none; train_mask, val_mask and test_mask,
 * booleans. For edges: weight; an edge without one has the key's <default>, or 1. The settings
 * label_columns and feature_columns name other keys. Further keys are not read. A label that is
 * different in each node is refused, because it is a name (Gephi and networkx write such labels).
 * These are refused by line: a DOCTYPE (entities), several graphs or graphs in nodes, hyperedges,
 * an edge with a direction of its own that differs.
 *
 * The file is read twice: the first pass reads the ids. Format:
 * http://graphml.graphdrawing.org/specification.html.
 */
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/xml_stream.h"
#include "common/formats/bytes/byte_source.h"
#include "common/formats/bytes/usual_advice.h"
#include "stages/ingest/build/edge_buffer.h"
#include "stages/ingest/build/label_table.h"
#include "stages/ingest/build/nodes/named_nodes.h"
#include "stages/ingest/formats/columns/held_edge_files.h"
#include "stages/ingest/formats/files/graphml_keys.h"
#include "stages/ingest/formats/shared/class_words.h"
#include "stages/ingest/formats/shared/input_format.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TEXT_BYTES_MAX = 4096, PIECE_BYTES = 1 << 16 };

struct members { /* nodes of one split */
    int64_t *node;
    size_t count, capacity;
};

struct graphml { /* the state of one run */
    const struct pipeline_settings *settings;
    struct dataset_builder *builder;
    const char *path;
    struct xml_stream *stream; /* stream of the current pass */
    bool notes_ids;            /* this is the first pass */
    struct graphml_keys keys;
    struct graphml_key *open_key;   /* the key whose <default> may follow; borrowed from keys */
    const struct graphml_key *data; /* key of the current <data>; NULL: none that is read */
    int graph_count;
    bool is_undirected;
    struct named_nodes names;
    struct class_words classes;
    struct label_table labels;
    struct members split[SPLIT_COUNT];
    /* The current node or edge. */
    bool in_node, in_edge;
    int64_t node, source, target, edge_line;
    uint64_t labelled;            /* nodes with a label, counted in the first pass */
    bool has_fractions;           /* some label has a fraction */
    uint64_t unweighed;           /* edges without a weight */
    bool has[GRAPHML_WEIGHT + 1]; /* whether there is a value, by use */
    float *feature;               /* [keys.feature_count], NAN: no value yet */
    float weight;
    struct edge_buffer buffer;
};

static enum error_code wrong(const struct graphml *g, const char *expected, const char *found,
                             struct error *err)
{
    const int64_t line = xml_stream_line(g->stream);
    if (!found)
        return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected %s", g->path, line, expected);
    return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected %s, found '%.80s'", g->path, line,
                     expected, found);
}

static struct field field_of(const char *text)
{
    return (struct field){text, strlen(text)};
}

/* --- values --- */

static enum error_code take_number(const struct graphml *g, const struct graphml_key *key,
                                   const char *text, float *out, struct error *err)
{
    double value = 0.0;
    if (!text_double(text, strlen(text), &value) || !isfinite((float)value))
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": %s: expected a finite number, found "
                         "'%.80s'" ADVISE_NUMBER,
                         g->path, xml_stream_line(g->stream), key->name, text);
    *out = (float)value;
    const struct float_place place = {.path = g->path,
                                      .line = xml_stream_line(g->stream),
                                      .column = (uint64_t)(key - g->keys.key),
                                      .name = key->name};
    float_loss_note_text(&dataset_builder_notes(g->builder)->loss, &place, text, strlen(text),
                         *out);
    return ERROR_NONE;
}

/* Returns whether classes may be words. Several labels, and the targets of a regression, are
 * numbers. */
static bool are_words(const struct graphml *g)
{
    const enum task_kind task = (enum task_kind)g->settings->ingest.task;
    return g->keys.label_count == 1 &&
           (task == TASK_UNKNOWN || task_has_classes(task, TASK_LABELS_NODES));
}

static enum error_code take_label(struct graphml *g, const struct graphml_key *key,
                                  const char *text, struct error *err)
{
    const struct field word = field_of(text);
    if (g->notes_ids) {
        double value = 0.0;
        int64_t whole = 0;
        g->labelled++;
        g->has_fractions |= text_double(text, strlen(text), &value) &&
                            !text_int64(text, strlen(text), &whole) && value != floor(value);
        return are_words(g) ? class_words_note(&g->classes, &word, err) : ERROR_NONE;
    }
    if (!g->labels.column_count)
        return ERROR_NONE;
    double *value = &g->labels.column[key->column];
    if (are_words(g))
        *value = (double)class_words_class(&g->classes, &word);
    else if (!text_double(text, strlen(text), value) || !isfinite(*value))
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64
                         ": %s: expected a finite number, found '%.80s'" ADVISE_NUMBER,
                         g->path, xml_stream_line(g->stream), key->name, text);
    return ERROR_NONE;
}

static enum error_code take_member(struct graphml *g, enum split split, const char *text,
                                   struct error *err)
{
    struct members *members = &g->split[split];
    const struct field field = field_of(text);
    if (field_is(&field, "false") || field_is(&field, "0"))
        return ERROR_NONE;
    if (!field_is(&field, "true") && !field_is(&field, "1"))
        return wrong(g, "true or false, whether the node is in the split", text, err);
    const enum error_code rc =
        memory_grow(&members->node, &members->capacity, members->count + 1, "a split", err);
    if (rc == ERROR_NONE)
        members->node[members->count++] = g->node;
    return rc;
}

static enum error_code take_value(struct graphml *g, const struct graphml_key *key,
                                  const char *text, struct error *err)
{
    g->has[key->use] = true;
    if (g->in_edge)
        return key->use == GRAPHML_WEIGHT && !g->notes_ids
                   ? take_number(g, key, text, &g->weight, err)
                   : ERROR_NONE;
    if (key->use == GRAPHML_LABEL)
        return take_label(g, key, text, err);
    if (g->notes_ids)
        return ERROR_NONE;
    if (key->use == GRAPHML_FEATURE)
        return take_number(g, key, text, &g->feature[key->column], err);
    return key->use >= GRAPHML_TRAIN && key->use <= GRAPHML_TEST
               ? take_member(g, (enum split)(key->use - GRAPHML_TRAIN), text, err)
               : ERROR_NONE;
}

/* --- elements --- */

static enum error_code begin_graph(struct graphml *g, const char *const *attribute,
                                   struct error *err)
{
    const char *direction = graphml_attribute(attribute, "edgedefault");
    if (g->in_node || g->in_edge)
        return wrong(g, "no graph within a node or an edge", NULL, err);
    if (++g->graph_count > 1)
        return wrong(g, "one graph in the file, found a second", NULL, err);
    if (g->notes_ids) {
        const enum error_code rc =
            graphml_keys_settle(&g->keys, g->settings->ingest.label_columns,
                                g->settings->ingest.feature_columns, g->path, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    g->is_undirected = direction && strcmp(direction, "undirected") == 0;
    return g->is_undirected || (direction && strcmp(direction, "directed") == 0)
               ? ERROR_NONE
               : wrong(g, "edgedefault=\"directed\" or \"undirected\" of <graph>",
                       direction ? direction : "nothing", err);
}

/* Clears the values for the node or edge that begins. */
static void forget_values(struct graphml *g)
{
    g->weight = NAN;
    memset(g->has, 0, sizeof g->has);
    for (uint32_t i = 0; g->feature && i < g->keys.feature_count; i++)
        g->feature[i] = NAN;
    for (uint32_t i = 0; i < g->labels.column_count; i++)
        g->labels.column[i] = (double)NAN;
}

static enum error_code begin_node(struct graphml *g, const char *const *attribute,
                                  struct error *err)
{
    const char *id = graphml_attribute(attribute, "id");
    if (g->in_node || g->in_edge || g->graph_count == 0)
        return wrong(g, "<node> in <graph>", NULL, err);
    if (!id || !id[0])
        return wrong(g, "an id of <node>, found none", NULL, err);
    const struct field field = field_of(id);
    g->in_node = true;
    g->node = named_nodes_find(&g->names, &field);
    forget_values(g);
    if (!g->notes_ids)
        return g->node >= 0 ? ERROR_NONE : wrong(g, "the same file as in the first pass", id, err);
    if (g->node >= 0)
        return wrong(g, "each id of a node once", id, err);
    return named_nodes_note(&g->names, &field, "node", g->path, xml_stream_line(g->stream), err);
}

static enum error_code find_end(const struct graphml *g, const char *const *attribute,
                                const char *what, int64_t *node, struct error *err)
{
    const char *id = graphml_attribute(attribute, what);
    if (!id || !id[0])
        return wrong(g, "source and target of <edge>", NULL, err);
    const struct field field = field_of(id);
    *node = g->notes_ids ? 0 : named_nodes_find(&g->names, &field);
    return *node >= 0 ? ERROR_NONE : wrong(g, "the id of a <node> as the end of an edge", id, err);
}

static enum error_code begin_edge(struct graphml *g, const char *const *attribute,
                                  struct error *err)
{
    const char *directed = graphml_attribute(attribute, "directed");
    if (g->in_node || g->in_edge || g->graph_count == 0)
        return wrong(g, "<edge> in <graph>", NULL, err);
    g->in_edge = true;
    g->edge_line = xml_stream_line(g->stream);
    forget_values(g);
    if (directed && (strcmp(directed, "true") == 0) == g->is_undirected)
        return wrong(g, "edges that are all directed, or all undirected, as edgedefault says",
                     directed, err);
    const enum error_code rc = find_end(g, attribute, "source", &g->source, err);
    return rc == ERROR_NONE ? find_end(g, attribute, "target", &g->target, err) : rc;
}

static enum error_code begin_key(struct graphml *g, const char *const *attribute, struct error *err)
{
    const char *expected = NULL;
    if (!g->notes_ids)
        return ERROR_NONE;
    if (g->graph_count)
        return wrong(g, "<key> before <graph>", NULL, err);
    const enum error_code rc = graphml_keys_add(&g->keys, attribute, &expected, err);
    if (rc == ERROR_NONE && expected)
        return wrong(g, expected, graphml_attribute(attribute, "id"), err);
    g->open_key = rc == ERROR_NONE ? &g->keys.key[g->keys.count - 1] : NULL;
    return rc;
}

static enum error_code begin_data(struct graphml *g, const char *const *attribute,
                                  struct error *err)
{
    const char *id = graphml_attribute(attribute, "key");
    g->data = id ? graphml_keys_find(&g->keys, id) : NULL;
    /* data of the graph itself is not read */
    if (!g->in_node && !g->in_edge)
        g->data = NULL;
    else if (!g->data)
        return wrong(g, "the id of a <key> as key of <data>", id ? id : "nothing", err);
    return ERROR_NONE;
}

static enum error_code begin_element(void *context, const char *element,
                                     const char *const *attribute, struct error *err)
{
    struct graphml *g = context;
    if (strcmp(element, "node") == 0)
        return begin_node(g, attribute, err);
    if (strcmp(element, "edge") == 0)
        return begin_edge(g, attribute, err);
    if (strcmp(element, "data") == 0)
        return begin_data(g, attribute, err);
    if (strcmp(element, "key") == 0)
        return begin_key(g, attribute, err);
    if (strcmp(element, "graph") == 0)
        return begin_graph(g, attribute, err);
    if (strcmp(element, "hyperedge") == 0)
        return wrong(g, "edges between two nodes, found a hyperedge", NULL, err);
    return ERROR_NONE;
}

static enum error_code end_key_default(struct graphml *g, const char *text, struct error *err)
{
    if (!g->open_key)
        return ERROR_NONE;
    g->open_key->has_initial = true;
    if (!text_copy(g->open_key->initial, sizeof g->open_key->initial, text))
        return wrong(g, "a <default> of at most 255 bytes", text, err);
    return ERROR_NONE;
}

static bool has_value(const struct graphml *g, const struct graphml_key *key)
{
    return key->use == GRAPHML_LABEL && g->labels.column_count
               ? !isnan(g->labels.column[key->column])
               : g->has[key->use];
}

/* Takes the default labels and splits of a node without values of its own. */
static enum error_code take_defaults(struct graphml *g, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && i < g->keys.count; i++) {
        const struct graphml_key *key = &g->keys.key[i];
        if (key->has_initial && key->use >= GRAPHML_LABEL && key->use <= GRAPHML_TEST &&
            !has_value(g, key))
            rc = take_value(g, key, key->initial, err);
    }
    return rc;
}

/* Fills in the default values of features. */
static enum error_code fill_features(const struct graphml *g, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && i < g->keys.count; i++) {
        const struct graphml_key *key = &g->keys.key[i];
        if (key->use != GRAPHML_FEATURE || !isnan(g->feature[key->column]))
            continue;
        if (key->has_initial)
            rc = take_number(g, key, key->initial, &g->feature[key->column], err);
        else
            rc = error_set(err, ERROR_INPUT,
                           "%s:%" PRId64 ": expected a value of each feature in each node, or a "
                           "<default> of its key, found none of %s",
                           g->path, xml_stream_line(g->stream), key->name);
    }
    return rc;
}

static enum error_code end_node(struct graphml *g, struct error *err)
{
    enum error_code rc = take_defaults(g, err);
    g->in_node = false;
    if (rc == ERROR_NONE && g->labels.column_count && g->has[GRAPHML_LABEL])
        rc = label_table_take(&g->labels, (uint64_t)g->node, xml_stream_line(g->stream), err);
    if (rc != ERROR_NONE || g->notes_ids || !g->keys.feature_count)
        return rc;
    rc = fill_features(g, err);
    return rc == ERROR_NONE
               ? dataset_builder_put_features(g->builder, g->path, xml_stream_line(g->stream),
                                              (uint64_t)g->node, g->feature, g->keys.feature_count,
                                              err)
               : rc;
}

static enum error_code end_edge(struct graphml *g, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    g->in_edge = false;
    if (g->notes_ids)
        return ERROR_NONE;
    for (size_t i = 0; rc == ERROR_NONE && isnan(g->weight) && i < g->keys.count; i++)
        if (g->keys.key[i].use == GRAPHML_WEIGHT && g->keys.key[i].has_initial)
            rc = take_number(g, &g->keys.key[i], g->keys.key[i].initial, &g->weight, err);
    if (g->keys.has_weight && isnan(g->weight)) {
        g->weight = 1.0F;
        g->unweighed++;
    }
    const struct edge_columns_view value = {.width = g->buffer.columns.width,
                                            .data = {[EDGE_WEIGHT] = &g->weight}};
    return rc == ERROR_NONE
               ? edge_buffer_add(&g->buffer, g->edge_line, g->source, g->target, &value, err)
               : rc;
}

static enum error_code end_data(struct graphml *g, const char *text, bool is_cut, struct error *err)
{
    const struct graphml_key *key = g->data;
    g->data = NULL;
    if (!key || key->use == GRAPHML_NOTHING)
        return ERROR_NONE;
    return is_cut ? wrong(g, "a value of at most 4096 bytes", NULL, err)
                  : take_value(g, key, text, err);
}

static enum error_code end_element(void *context, const char *element, const char *text,
                                   bool is_cut, struct error *err)
{
    struct graphml *g = context;
    if (strcmp(element, "data") == 0)
        return end_data(g, text, is_cut, err);
    if (strcmp(element, "node") == 0)
        return end_node(g, err);
    if (strcmp(element, "edge") == 0)
        return end_edge(g, err);
    if (strcmp(element, "default") == 0)
        return end_key_default(g, text, err);
    if (strcmp(element, "key") == 0)
        g->open_key = NULL;
    return ERROR_NONE;
}

/* --- passes --- */

static enum error_code feed_all(struct graphml *g, char *piece, struct error *err)
{
    struct byte_source *source = NULL;
    size_t got = 1;
    enum error_code rc = byte_source_open(g->path, &source, err);
    while (rc == ERROR_NONE && got) {
        rc = byte_source_read(source, piece, PIECE_BYTES, &got, err);
        if (rc == ERROR_NONE)
            rc = xml_stream_feed(g->stream, piece, got, got == 0, err);
    }
    byte_source_close(source);
    return rc;
}

static enum error_code pass(struct graphml *g, bool notes_ids, struct error *err)
{
    const struct xml_visitor visitor = {.context = g,
                                        .begin = begin_element,
                                        .end = end_element,
                                        .text_max = TEXT_BYTES_MAX,
                                        .name = g->path,
                                        .malformed = ERROR_INPUT};
    char *piece = NULL;
    g->notes_ids = notes_ids;
    g->graph_count = 0;
    enum error_code rc = xml_stream_new(&visitor, &g->stream, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&piece, PIECE_BYTES, "a piece of a file", err);
    if (rc == ERROR_NONE)
        rc = feed_all(g, piece, err);
    memory_free(piece);
    xml_stream_free(g->stream);
    g->stream = NULL;
    return rc;
}

/* Refuses keys that have the name of a label by accident: y with fractions is a coordinate, and a
 * label that no two nodes share is a name. */
static enum error_code check_labels(struct graphml *g, struct error *err)
{
    struct graphml_key *label = NULL;
    for (size_t i = 0; i < g->keys.count; i++)
        if (g->keys.key[i].use == GRAPHML_LABEL)
            label = &g->keys.key[i];
    if (!label || g->settings->ingest.label_columns[0] || !are_words(g))
        return ERROR_NONE;
    if (strcmp(label->name, "y") == 0 && g->has_fractions) {
        label->use = GRAPHML_NOTHING;
        g->keys.label_count = 0;
        return ERROR_NONE;
    }
    const uint64_t words = g->classes.words.count;
    if (!pipeline_reads_targets(g->settings) || words != g->names.ids.count || words <= 2 ||
        g->labelled != words)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s: key %s: expected classes, found another word in each of %" PRIu64
                     " nodes, as names are: " ADVICE
                     "write `label_columns: NAME` below `ingest:` with the "
                     "key of the classes, or `task: link_prediction`",
                     g->path, label->name, words);
}

static void say_keys(const struct graphml *g)
{
    char text[512];
    graphml_keys_describe(&g->keys, text, sizeof text);
    if (text[0])
        log_info("%s: %s", g->path, text);
}

static enum error_code read_nodes(struct graphml *g, struct error *err)
{
    named_nodes_init(&g->names, true, 0);
    enum error_code rc = pass(g, true, err);
    if (rc == ERROR_NONE && g->names.ids.count == 0)
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected <graphml> with a <graph> with nodes, found "
                       "none",
                       g->path);
    if (rc == ERROR_NONE)
        rc = check_labels(g, err);
    if (rc == ERROR_NONE)
        rc = class_words_finish(&g->classes, err);
    if (rc != ERROR_NONE)
        return rc;
    say_keys(g);
    named_nodes_finish(&g->names);
    const struct node_ids ids = node_id_assigner_view(&g->names.ids);
    rc = dataset_builder_set_nodes(g->builder, ids.node_count,
                                   g->is_undirected ? STATED_UNDIRECTED : STATED_DIRECTED, err);
    return rc == ERROR_NONE ? dataset_builder_set_ids(g->builder, &ids, err) : rc;
}

static enum error_code prepare(struct graphml *g, struct error *err)
{
    struct edge_widths width = {0};
    width.of[EDGE_WEIGHT] = g->keys.has_weight ? 1 : 0;
    g->labels = (struct label_table){.path = g->path,
                                     .node_count = g->names.ids.count,
                                     .task = (enum task_kind)g->settings->ingest.task};
    enum error_code rc = edge_buffer_init(&g->buffer, g->builder, g->path, &width, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&g->feature, (size_t)g->keys.feature_count + 1, "features of a node", err);
    if (rc == ERROR_NONE && g->keys.label_count && pipeline_reads_targets(g->settings))
        rc = label_table_columns(&g->labels, g->keys.label_count, err);
    return rc;
}

static enum error_code push_targets(const struct graphml *g, struct error *err)
{
    struct split_shares shares;
    enum error_code rc = pipeline_split_shares(g->settings, &shares, err);
    if (rc == ERROR_NONE && g->labels.column_count)
        rc = label_table_push(&g->labels, 0, g->builder, err);
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT && !shares.is_random; s++)
        if (g->split[s].count)
            rc = dataset_builder_set_split(g->builder, (enum split)s, g->path, 0, g->split[s].node,
                                           g->split[s].count, err);
    return rc == ERROR_NONE ? held_edge_files_push(g->settings, &g->names, g->builder, err) : rc;
}

static enum error_code graphml_run(const struct pipeline_settings *settings, uint64_t memory_bytes,
                                   struct dataset_builder *builder, struct error *err)
{
    (void)memory_bytes;
    struct graphml g = {.settings = settings, .builder = builder, .path = settings->ingest.path};
    class_words_init(&g.classes);
    enum error_code rc = read_nodes(&g, err);
    if (rc == ERROR_NONE)
        rc = prepare(&g, err);
    if (rc == ERROR_NONE)
        rc = pass(&g, false, err);
    if (rc == ERROR_NONE && g.unweighed)
        log_warn("%s: %" PRIu64 " edges have no weight, and its key has no <default>: they weigh 1",
                 g.path, g.unweighed);
    if (rc == ERROR_NONE)
        rc = edge_buffer_flush(&g.buffer, err);
    if (rc == ERROR_NONE)
        rc = push_targets(&g, err);
    edge_buffer_release(&g.buffer);
    label_table_release(&g.labels);
    class_words_release(&g.classes);
    named_nodes_release(&g.names);
    graphml_keys_release(&g.keys);
    for (int s = 0; s < SPLIT_COUNT; s++)
        memory_free(g.split[s].node);
    memory_free(g.feature);
    return rc;
}

const struct input_format graphml_format = {
    .is_file = true,
    .advice = {"give nodes a <data> of a key with attr.name=\"label\"",
               "give nodes a <data> of a key with attr.name=\"train_mask\", or write `split: "
               "random 60/20/20` below `ingest:`"},
    .form = "mend it so that it is GraphML of one graph, as networkx.write_graphml() makes it",
    .run = graphml_run,
};
