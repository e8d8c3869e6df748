#include "pipelines/questions/glossary.h"

#include "common/base/text.h"
#include "pipelines/questions/reference_page.h"

#include <stdio.h>

enum { WORD_COLUMNS = 16 };

/* clang-format off */
static const struct {
    const char *word, *meaning;
} words[] = {
    {"aggregate",
     "The stage that adds up the gradients of a round and makes one step of the optimizer."},
    {"artifact",
     "A file or a folder in the store, such as the topology of a part. It is published "
     "whole under its name, and a manifest has its hashes."},
    {"book",
     "The record that describes a partition: parts, ranges of nodes, widths. It is written "
     "last, so a partition with a book is complete."},
    {"chain",
     "The rules that say which unit waits for which (stages/plan/chain/chain.h)."},
    {"dataset",
     "What ingest makes of the input: edges, features, labels, splits and ids, checked and "
     "counted. Its id is a hash of the content and of the settings of ingest."},
    {"delta",
     "The record of what an update changed in a dataset, or in the parts of a partition."},
    {"edge cut",
     "A partition that puts each node into one part. An edge between two parts is cut."},
    {"embedding",
     "A row of numbers of a node. With train-step.embedding it is learnt and is an input "
     "of the model; embeddings.npy has the rows that the model computes. The code also "
     "calls the learnt ones learnable rows."},
    {"environment",
     "Versions, kernels and instruction set that the bits of a run depend on. A run goes "
     "on only in the environment it was started in."},
    {"epoch",
     "One pass over the training nodes, edges or graphs."},
    {"event",
     "An edge with a time, where links or labels of edges are split by time."},
    {"fan-out",
     "The number of neighbours of a node that are kept at a hop (sample.fanouts)."},
    {"gradient",
     "The record of the change to the weights that one micro-batch asks for."},
    {"halo",
     "The nodes of other parts that are neighbours of a part's nodes."},
    {"lease",
     "The time for which a worker holds a unit in the queue. It is a hint: two workers of "
     "one unit write the same bytes."},
    {"manifest",
     "The record with the hashes of an artifact's files. Code and keys call it a seal "
     "(topology_seal, shard_seal, outputs_seal)."},
    {"micro-batch",
     "The mini-batch of one slot: one of the sample.batches_per_round mini-batches whose "
     "gradients make one optimizer step."},
    {"mini-batch",
     "The record that sample writes and train-step reads: seeds, the neighbourhood that "
     "was drawn for them, nodes by type and edges by relation."},
    {"negative",
     "A pair of nodes that is no edge, which link prediction learns beside the edges."},
    {"node type",
     "A kind of node in a heterogeneous graph. Its nodes have features of one width."},
    {"part",
     "One piece of a partition. Its edges are one topology file, and its features one "
     "shard for each node type."},
    {"partition",
     "A dataset that was cut into parts by one method with one setting of parts."},
    {"pipeline file",
     "The YAML file with the settings of a run, in a section for each stage."},
    {"plan",
     "The record that fixes settings, partition and environment of a run. A run exists as "
     "soon as its plan does."},
    {"record",
     "A checksummed value in the store under a name. It is written once, whole, and never "
     "changed."},
    {"ref",
     "A name in the store whose value may be exchanged, such as current_snapshot. Code and "
     "the folder of the store call it a switch."},
    {"relation",
     "An edge type of a heterogeneous graph: a name, a source node type and a target node "
     "type. Every graph has at least one."},
    {"replay",
     "The computation of one unit again from stored records, and the comparison of the "
     "bytes."},
    {"round",
     "One optimizer step: its micro-batches, their gradients, the sum, and the next "
     "version of the weights."},
    {"run",
     "One training with one pipeline file on one partition. Its id is a hash of everything "
     "that its bits depend on."},
    {"sampler",
     "The rule by which mini-batches are drawn (sample.sampler)."},
    {"scratch",
     "A local folder for files that a process needs while it works. Nothing in it is "
     "needed twice."},
    {"seed",
     "A node, edge or graph that a mini-batch is drawn for. The setting `seed` is the key "
     "of every random draw."},
    {"shard",
     "The rows of features or labels of one node type in one part (RocksDB); also one "
     "piece of the embeddings (aggregate.embedding_policy)."},
    {"slot",
     "The number of a micro-batch in its round, from 0. A worker never has a slot of its "
     "own."},
    {"snapshot",
     "A version of the weights that is complete and validated, from which a run can go on. "
     "A run has one every checkpoint.every_epochs epochs."},
    {"split",
     "The nodes, edges or graphs for training, those for validation, or those for the "
     "test."},
    {"stage",
     "One of the seven programs: ingest, partition, sample, train-step, aggregate, "
     "checkpoint, infer."},
    {"staleness",
     "The number of rounds by which the weights of a gradient are older than the weights "
     "that it changes (aggregate.staleness)."},
    {"store",
     "The place of all records and artifacts: a folder, a bucket of S3, a Redis Cluster, "
     "or two of these."},
    {"topology",
     "The edges of a part, by target node, in one sealed LMDB file."},
    {"unit",
     "One piece of work that a worker claims, does and publishes, such as one slot of one "
     "round. Its records are a function of its inputs."},
    {"version",
     "The number of rounds that made the weights. A version of a dataset is what an update "
     "made of the dataset before."},
    {"vertex cut",
     "A partition that puts each edge into one part. A node has a replica in each part "
     "that has one of its edges; one replica is the master."},
    {"worker",
     "A process of a stage. Any number of workers may come and go; no bit depends on them."},
};
/* clang-format on */
enum { WORD_COUNT = sizeof words / sizeof *words };

void glossary_print(void)
{
    for (int i = 0; i < WORD_COUNT; i++) {
        printf("%-*s ", WORD_COLUMNS - 1, words[i].word);
        text_print_wrapped(words[i].meaning, WORD_COLUMNS);
    }
}

void glossary_print_markdown(void)
{
    printf("# Glossary\n\nOne idea has one word. `graphmill help glossary` prints this page on a "
           "terminal.\n\n| word | meaning |\n| --- | --- |\n");
    for (int i = 0; i < WORD_COUNT; i++) {
        printf("| %s | ", words[i].word);
        reference_print_cell(words[i].meaning);
        printf(" |\n");
    }
}
