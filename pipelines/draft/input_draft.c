#include "pipelines/draft/input_draft.h"

#include "pipelines/draft/draft_text.h"

static void put_targets(struct json_writer *out, const struct input_facts *facts)
{
    static const char percent[] = "percent for training, validation, test";
    const bool links = facts->targets == TARGETS_NONE;
    if (links)
        draft_put_setting(out, "task", "link_prediction",
                          "no classes were seen: which edges are there is learnt");
    if (facts->targets == TARGETS_GRAPHS)
        draft_put(out, "  task: graph_classification\n");
    if (facts->targets == TARGETS_GRAPH_NUMBERS)
        draft_put(out, "  task: graph_regression\n");
    if (facts->label_columns[0])
        draft_put_text(out, "label_columns", facts->label_columns);
    if (links && facts->has_split)
        draft_put_setting(out, "edge_split", "given", "held-out edges come with the input");
    else if (links)
        draft_put_setting(out, "edge_split", "random 85/5/10", "%s", percent);
    else if (!facts->has_split)
        draft_put_setting(out, "split", "random 60/20/20", "%s", percent);
}

static void put_input(struct json_writer *out, const struct input_facts *facts, const char *path)
{
    draft_put(out, "ingest:\n");
    draft_put_setting(out, "format", facts->format_name, "%s", facts->seen);
    draft_put_text(out, "path", path);
    draft_put_setting(out, "direction", "auto",
                      "as the input says%s%s; undirected: messages go both ways",
                      facts->direction[0] ? ": " : "", facts->direction);
    if (facts->names_types) {
        draft_put_setting(out, "relations", "true", "types of nodes and edges are told apart");
        draft_put_setting(out, "add_reverse", "true", "messages go back over a relation, too");
        draft_put(out, "  missing_features: degree+random\n");
    }
    put_targets(out, facts);
}

/* Writes the model for triples: learnable embeddings, scored by DistMult. */
static void put_triples_model(struct json_writer *out)
{
    draft_put(out, "sample:\n");
    draft_put_setting(out, "fanouts", "[]", "no layer reads neighbours");
    draft_put(out, "  batch_size: 1024\n");
    draft_put_setting(out, "negatives", "8", "with thousands of nodes 256 and more are better");
    draft_put(out, "  negative: shared\n  corrupt: both\ntrain-step:\n");
    draft_put_setting(out, "model", "identity", "a row of numbers for each node is learnt");
    draft_put(out, "  features: false\n  embedding: 64\n  hidden: 64\n  decoder: distmult\n"
                   "  link_loss: softmax\naggregate:\n  learning_rate: 0.01\ncheckpoint:\n"
                   "  metric: mrr\n");
}

static void put_graphs_model(struct json_writer *out, bool are_classes)
{
    draft_put(out, "sample:\n");
    draft_put_setting(out, "fanouts", "[-1, -1, -1]", "all neighbours, one number for each layer");
    draft_put_setting(out, "batch_size", "64", "graphs");
    draft_put(out,
              "train-step:\n  model: gin\n  readout: sum\n  hidden: 64\naggregate:\n"
              "  learning_rate: 0.01\ncheckpoint:\n  metric: %s\n",
              are_classes ? "accuracy" : "loss");
}

void input_draft_write(const struct input_facts *facts, const char *name, const char *path,
                       struct json_writer *out)
{
    const bool links = facts->targets == TARGETS_NONE;
    draft_begin(out, "the input shows", name, links);
    put_input(out, facts, path);
    draft_put_partition(out);
    if (links && facts->has_triples)
        put_triples_model(out);
    else if (links || facts->targets == TARGETS_NODES)
        draft_put_sampled_model(out, links);
    else
        put_graphs_model(out, facts->targets == TARGETS_GRAPHS);
}
