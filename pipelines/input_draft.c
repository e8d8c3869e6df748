#include "pipelines/input_draft.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { COMMENT_COLUMN = 30 };

static void put(struct json_writer *out, const char *format, ...) PRINTF_LIKE(2, 3);

static void put(struct json_writer *out, const char *format, ...)
{
    char line[2048];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    json_put_raw(out, line);
}

/* A line with a comment, which begins in the same column in all of them. */
static void put_setting(struct json_writer *out, const char *line, const char *comment)
{
    put(out, "%-*s# %s\n", COMMENT_COLUMN, line, comment);
}

/* In quotes, as YAML has them. */
static void put_quoted(struct json_writer *out, const char *name, const char *text)
{
    put(out, "  %s: \"", name);
    for (const char *c = text; *c; c++)
        put(out, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
    put(out, "\"\n");
}

static void put_direction(struct json_writer *out, const struct input_facts *facts)
{
    char comment[FACT_SIZE + 80];
    (void)snprintf(comment, sizeof comment,
                   "as the input says%s%s; undirected: messages go both ways",
                   facts->direction[0] ? ": " : "", facts->direction);
    put_setting(out, "  direction: auto", comment);
}

static void put_targets(struct json_writer *out, const struct input_facts *facts)
{
    const bool links = facts->targets == TARGETS_NONE;
    if (links)
        put_setting(out, "  task: link_prediction",
                    "no classes were seen: which edges are there is learnt");
    if (facts->targets == TARGETS_GRAPHS)
        put(out, "  task: graph_classification\n");
    if (facts->targets == TARGETS_GRAPH_NUMBERS)
        put(out, "  task: graph_regression\n");
    if (facts->label_columns[0])
        put_quoted(out, "label_columns", facts->label_columns);
    if (links && facts->has_split)
        put_setting(out, "  edge_split: given", "held-out edges come with the input");
    else if (links)
        put_setting(out, "  edge_split: random 85/5/10", "percent for training, validation, test");
    else if (!facts->has_split)
        put_setting(out, "  split: random 60/20/20", "percent for training, validation, test");
}

static void put_input(struct json_writer *out, const struct input_facts *facts, const char *path)
{
    char format[64];
    (void)snprintf(format, sizeof format, "  format: %s", facts->format_name);
    put(out, "ingest:\n");
    put_setting(out, format, facts->seen);
    put_quoted(out, "path", path);
    put_direction(out, facts);
    if (facts->is_typed) {
        put_setting(out, "  relations: true", "types of nodes and edges are told apart");
        put_setting(out, "  add_reverse: true", "messages go back over a relation, too");
        put(out, "  missing_features: degree+random\n");
    }
    put_targets(out, facts);
}

/* A row of numbers for each node, and DistMult. */
static void put_triples_model(struct json_writer *out)
{
    put(out, "sample:\n");
    put_setting(out, "  fanouts: []", "no layer reads neighbours");
    put(out, "  batch_size: 1024\n");
    put_setting(out, "  negatives: 8", "with thousands of nodes 256 and more are better");
    put(out, "  negative: shared\n  corrupt: both\ntrain-step:\n");
    put_setting(out, "  model: identity", "a row of numbers for each node is learnt");
    put(out, "  features: false\n  embedding: 64\n  hidden: 64\n  decoder: distmult\n"
             "  link_loss: softmax\naggregate:\n  learning_rate: 0.01\ncheckpoint:\n"
             "  metric: mrr\n");
}

static void put_graphs_model(struct json_writer *out, bool are_classes)
{
    put(out, "sample:\n");
    put_setting(out, "  fanouts: [-1, -1, -1]", "all neighbours, one number for each layer");
    put_setting(out, "  batch_size: 64", "graphs");
    put(out,
        "train-step:\n  model: gin\n  readout: sum\n  hidden: 64\naggregate:\n"
        "  learning_rate: 0.01\ncheckpoint:\n  metric: %s\n",
        are_classes ? "accuracy" : "loss");
}

static void put_sampled_model(struct json_writer *out, bool links)
{
    put(out, "sample:\n");
    put_setting(out, "  fanouts: [10, 10]", "neighbours, one number for each layer; -1: all");
    put(out, "  batch_size: 256\n");
    put_setting(out, "  batches_per_round: 1", "mini-batches of one optimizer step");
    put(out, "train-step:\n");
    put_setting(out, "  model: sage", "or gcn, gat, gin, ...: graphmill run --help");
    put(out,
        "  hidden: 64\n%saggregate:\n  optimizer: adam\n  learning_rate: 0.01\ncheckpoint:\n"
        "  metric: %s\n",
        links ? "  decoder: dot\n" : "  dropout: 0.3\n", links ? "roc_auc" : "accuracy");
}

void input_draft_write(const struct input_facts *facts, const char *name, const char *path,
                       struct json_writer *out)
{
    const bool links = facts->targets == TARGETS_NONE;
    put(out,
        "# Written by graphmill init, of what the input shows. Change what you like;\n"
        "# graphmill run --help tells all settings.\nname: %s\nepochs: %d\n",
        name, links ? 10 : 30);
    put_input(out, facts, path);
    put(out, "partition:\n");
    put_setting(out, "  parts: 4", "many more than workers is fine");
    if (links && facts->has_triples)
        put_triples_model(out);
    else if (links || facts->targets == TARGETS_NODES)
        put_sampled_model(out, links);
    else
        put_graphs_model(out, facts->targets == TARGETS_GRAPHS);
}
