#include "stages/ingest/build/dataset_summary.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/plan/model/edge_use.h"
#include "stages/sampling/samplers/sampler.h"
#include "store/records/dataset/dataset_types.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CLASSES_MANY = 1000, CLASSES_SHOWN = 8, CLASSES_REPORTED = 1000, RELATIONS_SHOWN = 40 };

void dataset_summary_release(struct dataset_summary *summary)
{
    memory_free(summary->class_nodes);
    memory_free(summary->class_train);
    dataset_notes_release(&summary->notes);
    *summary = (struct dataset_summary){0};
}

static void count_node(struct dataset_summary *summary, const struct node_targets *targets,
                       uint32_t node)
{
    const struct task *task = task_of(targets->task);
    const void *row = node_targets_row(targets, node);
    const bool is_train = targets->split_of && targets->split_of[node] == 1 + SPLIT_TRAIN;
    uint32_t first = 0, end = summary->class_count;
    if (!task->has_label(row))
        return;
    summary->labelled_nodes++;
    if (task->is_class_number) { /* the label is the one class: no search */
        first = *(const uint32_t *)row;
        end = first + 1;
    }
    for (uint32_t class = first; class < end; class ++) {
        const bool is_in = task->is_in_class(row, class);
        summary->class_nodes[class] += is_in;
        summary->class_train[class] += is_train && is_in;
    }
}

enum error_code dataset_summary_count(struct dataset_summary *summary,
                                      const struct node_targets *targets, struct error *err)
{
    const struct task *task = task_of(targets->task);
    if (!task)
        return ERROR_NONE;
    const uint32_t classes = task->is_in_class ? targets->class_count : 0;
    enum error_code rc = memory_new(&summary->class_nodes, classes, "counts of classes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&summary->class_train, classes, "counts of classes", err);
    summary->class_count = classes;
    for (uint32_t node = 0; rc == ERROR_NONE && node < targets->node_count; node++)
        count_node(summary, targets, node);
    return rc;
}

/* ---- lines ----------------------------------------------------------------------------------- */

struct lines { /* the state of one run */
    const struct dataset_summary *summary;
    const struct dataset_schema *schema;
    const struct pipeline_settings *settings;
    summary_visitor visit;
    void *context;
};

static void say(const struct lines *lines, bool is_warning, const char *format, ...)
    PRINTF_LIKE(3, 4);

static void say(const struct lines *lines, bool is_warning, const char *format, ...)
{
    char text[SUMMARY_LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    lines->visit(lines->context, is_warning, text);
}

static void say_graph(const struct lines *lines)
{
    const struct dataset_schema *schema = lines->schema;
    say(lines, false,
        "graph: %" PRIu32 " nodes (%" PRIu64 " without an edge to another), %" PRIu64
        " edges stored %s out of %" PRIu64 " in the input; %" PRIu64 " self loops, %" PRIu64
        " removed; %" PRIu64 " repeated edges removed",
        schema->node_count, lines->summary->isolated_nodes, schema->edge_count,
        schema->undirected ? "both ways (undirected)" : "one way (directed)",
        schema->input_edge_rows, schema->self_loop_count, schema->removed_self_loops,
        schema->removed_duplicates);
    if (lines->summary->was_made_undirected)
        say(lines, true,
            "the input does not say whether edges go both ways, and lists none in both directions: "
            "each was taken as undirected; if they are directed, add a line `direction: as_given` "
            "below `ingest:`");
    else if (lines->summary->is_one_way)
        say(lines, true,
            "no edge is listed in both directions, and edges were taken as directed (from source "
            "to "
            "target); if they go both ways, add a line `direction: undirected` below `ingest:`, "
            "otherwise `direction: as_given`");
    if (schema->input_edge_rows == 0)
        say(lines, true, "the input has no edges: each node is on its own");
}

/* Lists the columns of the edges. There are no warnings here: the driver reports at each run what
 * its model does not use. */
static void say_columns(const struct lines *lines)
{
    const struct dataset_schema *schema = lines->schema;
    char columns[SUMMARY_LINE_SIZE];
    const struct sampler *sampler = pipeline_sampler(lines->settings);
    struct edge_widths unused = schema->edge_width;
    for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
        if (sampler->needs >> c & 1)
            unused.of[c] = 0;
    /* the relations are not listed as a column */
    if (schema->has_relations)
        unused.of[EDGE_TYPE] = 0;
    edge_widths_text(&unused, columns, sizeof columns);
    if (columns[0])
        say(lines, false,
            "stored with each edge: %s; train-step.edge_weights and train-step.edge_features "
            "decide which of them training uses",
            columns);
    if (schema->negative_weight_count > 0)
        say(lines, false, "%" PRIu64 " edges of the input have a weight below 0, the first in %s",
            schema->negative_weight_count, schema->first_negative_weight);
    if (schema->node_type_count > 1 && !schema->has_relations)
        say(lines, false,
            "the %" PRIu32 " types of nodes share one set of weights: training does not "
            "distinguish them; with `relations: true` below `ingest:` it does",
            schema->node_type_count);
}

/* Writes a line for each node type and relation. */
static void say_relations(const struct lines *lines)
{
    const struct dataset_schema *schema = lines->schema;
    for (uint32_t t = 0; t < schema->node_type_count; t++) {
        const struct node_type *type = &schema->node_type[t];
        if (type->feature_dim)
            say(lines, false, "nodes of type %s: %" PRIu32 ", features: %" PRIu32 " columns, %s",
                type->name, type->node_count, type->feature_dim, lines->summary->feature_origin[t]);
        else
            say(lines, false, "nodes of type %s: %" PRIu32 ", without features", type->name,
                type->node_count);
    }
    for (uint32_t r = 0; r < schema->edge_type_count && r < RELATIONS_SHOWN; r++) {
        const struct edge_type *type = &schema->edge_type[r];
        say(lines, false, "relation %s from %s to %s: %" PRIu64 " edges", type->name,
            schema->node_type[type->source_type].name, schema->node_type[type->target_type].name,
            type->edge_count);
    }
    if (schema->edge_type_count > RELATIONS_SHOWN)
        say(lines, false, "and %" PRIu32 " more relations",
            schema->edge_type_count - RELATIONS_SHOWN);
}

static void say_features(const struct lines *lines)
{
    const struct dataset_schema *schema = lines->schema;
    const struct dataset_summary *summary = lines->summary;
    const bool is_given = strcmp(schema->feature_origin, "given") == 0;
    if (schema->feature_dim == 0) {
        say(lines, false,
            "features: none, as `features: none` below `ingest:` says: a model knows a node only "
            "by its learnt row (train-step.embedding)");
        return;
    }
    say(lines, false, "features: %" PRIu32 " columns, %s; %.1f %% are zero", schema->feature_dim,
        is_given ? "as given" : schema->feature_origin,
        summary->feature_numbers
            ? 100.0 * (double)summary->feature_zeros / (double)summary->feature_numbers
            : 0.0);
    if (!is_given && lines->settings->ingest.features.choice == FEATURES_AUTO)
        say(lines, true,
            "the input has no features: %s were made up for each node; if it has, see which files "
            "were read, otherwise say so with a line `features: %s` below `ingest:`",
            schema->feature_origin, schema->feature_origin);
    if (is_given && summary->feature_numbers && summary->feature_zeros == summary->feature_numbers)
        say(lines, true, "all features are zero");
}

/* Warns of weights of very different sizes if the model reads them. Settings that do not allow
 * training are refused elsewhere. */
static void warn_of_weights(const struct lines *lines)
{
    struct edge_use use;
    char text[EDGE_USE_TEXT_SIZE];
    if (edge_use_check(lines->settings, lines->schema, &use, NULL) == ERROR_NONE &&
        edge_use_weights_differ(lines->settings, lines->schema, &use, text))
        say(lines, true, "%s", text);
}

static void warn_of_rounded(const struct lines *lines)
{
    const struct float_loss *loss = lines->summary->loss;
    char count[32];
    if (!loss || !loss->count)
        return;
    for (int i = 0; i < loss->column_count; i++)
        say(lines, true,
            "%s: a feature or weight is stored in 32-bit floating point, which holds integers up "
            "to 16,777,216",
            loss->first[i].text);
    say(lines, true,
        "%s integers in all were rounded: leave such columns out, or scale them (`feature_columns: "
        "\"NAME: log\"` below `ingest:`); an id is no feature, and a time goes into a column of "
        "times",
        text_count((int64_t)loss->count, count));
}

/* Writes "0: 351, 1: 217, ...". */
static const char *class_sizes(const struct dataset_summary *summary, char text[SUMMARY_LINE_SIZE])
{
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t c = 0; c < summary->class_count && c < CLASSES_SHOWN; c++)
        at += (size_t)snprintf(text + at, SUMMARY_LINE_SIZE - at, "%s%" PRIu32 ": %" PRIu64,
                               c ? ", " : "", c, summary->class_nodes[c]);
    if (summary->class_count > CLASSES_SHOWN)
        (void)snprintf(text + at, SUMMARY_LINE_SIZE - at, ", ...");
    return text;
}

/* Writes "3, 7, 12 and 5 more", the classes whose `count` is 0. Returns how many there are. */
static uint32_t name_empty(const struct dataset_summary *summary, const uint64_t *count,
                           char text[SUMMARY_LINE_SIZE])
{
    uint32_t empty = 0;
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t c = 0; c < summary->class_count; c++) {
        if (count[c] > 0)
            continue;
        if (empty++ < CLASSES_SHOWN)
            at += (size_t)snprintf(text + at, SUMMARY_LINE_SIZE - at, "%s%" PRIu32,
                                   empty > 1 ? ", " : "", c);
    }
    if (empty > CLASSES_SHOWN)
        (void)snprintf(text + at, SUMMARY_LINE_SIZE - at, " and %" PRIu32 " more",
                       empty - CLASSES_SHOWN);
    return empty;
}

static uint32_t classes_with_nodes(const struct dataset_summary *summary)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < summary->class_count; c++)
        count += summary->class_nodes[c] > 0;
    return count;
}

static void warn_of_classes(const struct lines *lines)
{
    const struct dataset_summary *summary = lines->summary;
    char text[SUMMARY_LINE_SIZE];
    const bool is_multi = !task_of(lines->schema->task)->is_class_number;
    const char *subject = task_subject(lines->schema->task);
    const uint32_t used = classes_with_nodes(summary), classes = summary->class_count;
    const uint32_t empty = name_empty(summary, summary->class_nodes, text);
    if (!is_multi && used == 1)
        say(lines, true, "all labels are the same: there is nothing to learn");
    if (!is_multi && used > 10 && used == summary->labelled_nodes)
        say(lines, true,
            "every labelled %s has a class of its own: are these ids rather than labels?", subject);
    if (!is_multi && empty == 1 && classes > 1 && summary->class_nodes[0] == 0)
        say(lines, true,
            "labels begin at 1: class 0 has no %s; subtract 1, or an output is wasted on it",
            subject);
    else if (empty > 0 && (is_multi || empty < classes - 1))
        say(lines, true, "%" PRIu32 " of %" PRIu32 " classes have no %s (%s): is a label wrong?",
            empty, classes, subject, text);
    else if (empty > 0 && used > 0)
        say(lines, true, "the only label is %" PRIu32 ", so there are %" PRIu32 " classes",
            classes - 1, classes);
    if (classes > CLASSES_MANY)
        say(lines, true,
            "%" PRIu32 " classes, because the largest label is %" PRIu32 "; %" PRIu32
            " of them have %ss: is one of the labels an id?",
            classes, classes - 1, used, subject);
    const uint32_t untrained = name_empty(summary, summary->class_train, text);
    if (lines->schema->train_count > 0 && untrained > empty)
        say(lines, true, "%" PRIu32 " classes have no training %s (%s): they cannot be learnt",
            untrained, subject, text);
}

/* Writes "edges of follows", or "edges" for a graph without relations. */
static const char *edges_of(const struct dataset_schema *schema, uint16_t relation,
                            char text[SUMMARY_LINE_SIZE])
{
    (void)snprintf(text, SUMMARY_LINE_SIZE, schema->has_relations ? "edges of %s" : "edges",
                   schema->edge_type[relation].name);
    return text;
}

/* Says whether links are held out in both directions, and why. */
static void say_edges_back(const struct lines *lines)
{
    const struct dataset_schema *schema = lines->schema;
    const struct edges_back *back = &lines->summary->back;
    char edges[SUMMARY_LINE_SIZE], of[SUMMARY_LINE_SIZE];
    if (!back->is_known || !(schema->pairs_together || back->share > 0))
        return;
    say(lines, false,
        "%.1f %% of the %s have an edge back among the %s: an edge and its edge back are held out "
        "%s (ingest.hold_out_reverse: %s)",
        100 * back->share, edges_of(schema, back->relation, edges),
        edges_of(schema, back->back, of),
        schema->pairs_together ? "together, in both directions" : "each by itself",
        schema->pairs_together ? "never holds out each by itself" : "always holds out both");
}

/* Says how many held-out edges are already answered in training. If files hold out edges of which
 * most have their reverse in training, that is likely a slip. */
static void say_overlap(const struct lines *lines)
{
    const struct dataset_schema *schema = lines->schema;
    const struct holdout_overlap *overlap = &lines->summary->overlap;
    const uint64_t held = (uint64_t)schema->valid_count + schema->test_count;
    if (!overlap->is_known || overlap->same + overlap->back == 0)
        return;
    say(lines,
        pipeline_gives_edges(lines->settings) && schema->edge_type_count == 1 &&
            overlap->back > held / 2,
        "%" PRIu64 " of the %" PRIu64
        " held-out edges join two nodes that a training edge joins, too, %" PRIu64
        " of them in the other direction only: a model that repeats training edges scores well on "
        "them",
        overlap->same + overlap->back, held, overlap->back);
}

static void say_repeats(const struct lines *lines)
{
    const struct dataset_summary *summary = lines->summary;
    if (summary->merged_repeats)
        say(lines, false,
            "%" PRIu64 " more edges are held out and are no examples, since each repeats the ends "
            "of an earlier one at another time; with `duplicates: keep` below `ingest:` each is an "
            "example",
            summary->merged_repeats);
    if (summary->side[0])
        say(lines, false,
            "all edges go from %" PRIu32 " nodes to %" PRIu32
            " others: negatives and candidates are nodes of the right side",
            summary->side[0], summary->side[1]);
    /* A graph with few edges has no cycles, and then two groups mean nothing: no warning. */
    if (summary->has_groups)
        say(lines, lines->schema->input_edge_rows >= 2 * (uint64_t)lines->schema->node_count,
            "the nodes make two groups, and no edge joins two nodes of one group, but the input "
            "does not say which group is which: negatives join any two nodes, and many are "
            "recognised by their groups alone; list each edge once, from one group to the other, "
            "or give the groups node types (`relations: true`)");
    if (summary->passed_sources)
        say(lines, false,
            "%" PRIu64 " nodes with three edges or more hold out nothing (leave_one_out): their "
            "last two edges repeat earlier ones",
            summary->passed_sources);
}

static void say_held_edges(const struct lines *lines)
{
    const struct dataset_schema *schema = lines->schema;
    say(lines, false,
        "%s: %" PRIu64 " stored edges to train on, %" PRIu32 " held out for validation, %" PRIu32
        " for the test; labels and splits of nodes are not used",
        task_has(schema->task, TASK_LABELS_EDGES) ? "labels of edges" : "links",
        dataset_pair_count(schema), schema->valid_count, schema->test_count);
    say_edges_back(lines);
    say_overlap(lines);
    say_repeats(lines);
    if (schema->valid_count == 0)
        say(lines, true,
            "no validation edges: training cannot be judged while it runs, and the last weights "
            "are used instead of the best");
    if (schema->test_count == 0)
        say(lines, true, "no test edges: nothing will be measured at the end");
}

static void say_targets(const struct lines *lines)
{
    const struct dataset_schema *schema = lines->schema;
    const struct dataset_summary *summary = lines->summary;
    char sizes[SUMMARY_LINE_SIZE], words[SUMMARY_LINE_SIZE];
    const struct task *task = task_of(schema->task);
    if (!task)
        return;
    if (task_row_has(task, TASK_HOLDS_OUT_EDGES)) {
        say_held_edges(lines);
        return;
    }
    if (summary->graph_count)
        say(lines, false, "graphs: %" PRIu32 " of %.1f nodes on average", summary->graph_count,
            (double)schema->node_count / summary->graph_count);
    task->describe(schema->class_count, words, sizeof words);
    if (task->is_in_class)
        say(lines, false, "labels: %" PRIu64 " %ss with %s (%s)", summary->labelled_nodes,
            task_subject(schema->task), words, class_sizes(summary, sizes));
    else
        say(lines, false, "labels: %" PRIu64 " %ss with %s", summary->labelled_nodes,
            task_subject(schema->task), words);
    say(lines, false, "splits: %" PRIu32 " train, %" PRIu32 " valid, %" PRIu32 " test",
        schema->train_count, schema->valid_count, schema->test_count);
    if (lines->settings->ingest.class_count) /* the dataset is not for training */
        return;
    if (task->is_in_class)
        warn_of_classes(lines);
    if (schema->valid_count == 0)
        say(lines, true,
            "no validation %ss: training cannot be judged while it runs, and the last weights are "
            "used instead of the best",
            task_subject(schema->task));
}

void dataset_summary_lines(const struct dataset_summary *summary,
                           const struct dataset_schema *schema,
                           const struct pipeline_settings *settings, summary_visitor visit,
                           void *context)
{
    const struct lines lines = {summary, schema, settings, visit, context};
    say_graph(&lines);
    if (schema->has_relations)
        say_relations(&lines);
    else
        say_features(&lines);
    warn_of_rounded(&lines);
    warn_of_weights(&lines);
    say_targets(&lines);
    say_columns(&lines);
}

static void put_warning(void *context, bool is_warning, const char *line)
{
    if (is_warning)
        json_put_string(context, NULL, line);
}

static void put_notes(struct json_writer *json, const struct dataset_notes *notes,
                      enum note_kind kind)
{
    for (size_t i = 0; i < notes->count; i++)
        if (notes->note[i].kind == kind)
            json_put_string(json, NULL, notes->note[i].text);
}

void dataset_summary_report(const struct dataset_summary *summary,
                            const struct dataset_schema *schema,
                            const struct pipeline_settings *settings, struct json_writer *json)
{
    json_open_object(json, NULL);
    json_put_int64(json, "isolated_nodes", (int64_t)summary->isolated_nodes);
    json_put_int64(json, "labelled_nodes", (int64_t)summary->labelled_nodes);
    json_open_array(json, "class_nodes");
    for (uint32_t c = 0; c < summary->class_count && c < CLASSES_REPORTED; c++)
        json_put_int64(json, NULL, (int64_t)summary->class_nodes[c]);
    json_close_array(json);
    json_put_double(json, "feature_zero_share",
                    summary->feature_numbers
                        ? (double)summary->feature_zeros / (double)summary->feature_numbers
                        : 0.0);
    json_open_array(json, "input");
    put_notes(json, &summary->notes, NOTE_UNDERSTOOD);
    json_close_array(json);
    json_open_array(json, "warnings");
    put_notes(json, &summary->notes, NOTE_WARNING);
    dataset_summary_lines(summary, schema, settings, put_warning, json);
    json_close_array(json);
    json_close_object(json);
}
