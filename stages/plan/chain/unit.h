/*
 * unit - one piece of work, named by what it makes and never by who makes it.
 *
 *   ingest   partition                  one each
 *   initialise                          aggregate: weights of version 0
 *   count-walks                         sample: visits of its walks to nodes and edges, made once
 *   sample/<round>/<slot>               a mini-batch
 *   sample-evaluation/<slot>            a mini-batch of validation nodes, made once
 *   train-step/<round>/<slot>           a gradient
 *   step-layer/<round>/<pass>/<slot>    train-step: one layer forward or backward, before the
 *                                       gradient (layer_pipeline.h)
 *   evaluate/<version>/<slot>           train-step: validation of those weights
 *   sum-gradients/<round>/<sum>         aggregate: a range of the gradients of some slots, added up
 *   aggregate/<round>                   weights of version round + 1
 *   seal-rows/<version>/<shard>         train-step: all rows of a shard of learnable embeddings
 *                                       that have changed up to that version
 *   checkpoint/<version>                a snapshot of those weights
 *   infer/<version>/<layer>/<part>      one layer's output for one part; layers count from 1
 *   outputs/<version>                   infer: files for people, and metrics
 *
 * To add a kind, add a row to UNIT_LIST and the struct unit_row that it names.
 */
#ifndef STAGES_PLAN_CHAIN_UNIT_H
#define STAGES_PLAN_CHAIN_UNIT_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */

/* ROW(number, name) lists every kind; <name>_unit is its row (chain/unit_row.h), in
 * units/<stage>_units.c. A kind comes after the kinds that make its inputs. */
#define UNIT_LIST(ROW)                               \
    ROW(UNIT_INGEST, ingest)                         \
    ROW(UNIT_PARTITION, partition)                   \
    ROW(UNIT_INITIALISE, initialise)                 \
    ROW(UNIT_COUNT_WALKS, count_walks)               \
    ROW(UNIT_SAMPLE, sample)                         \
    ROW(UNIT_SAMPLE_EVALUATION, sample_evaluation)   \
    ROW(UNIT_STEP_LAYER, step_layer)                 \
    ROW(UNIT_TRAIN_STEP, train_step)                 \
    ROW(UNIT_EVALUATE, evaluate)                     \
    ROW(UNIT_SUM_GRADIENTS, sum_gradients)           \
    ROW(UNIT_AGGREGATE, aggregate)                   \
    ROW(UNIT_SEAL_ROWS, seal_rows)                   \
    ROW(UNIT_CHECKPOINT, checkpoint)                 \
    ROW(UNIT_INFER, infer)                           \
    ROW(UNIT_OUTPUTS, outputs)

#define UNIT_NUMBER(number, name) number,
enum unit_kind { UNIT_UNKNOWN = 0, UNIT_LIST(UNIT_NUMBER) UNIT_KIND_COUNT };
#undef UNIT_NUMBER
/* clang-format on */

struct unit {
    enum unit_kind kind;
    int64_t round; /* round, or version of the weights; 0 if the kind has neither */
    int32_t slot;  /* slot, part (infer), or shard of embeddings; 0 if the kind has none */
    int32_t layer; /* layer (infer), or pass (step-layer); otherwise 0 */
};

enum { UNIT_NAME_SIZE = 64 };

void unit_name(const struct unit *unit, char name[UNIT_NAME_SIZE]);
/* Fails: ERROR_INVALID if `name` names no unit. */
MUST_CHECK enum error_code unit_parse(const char *name, struct unit *out, struct error *err);
/* Fails: ERROR_INVALID if the program of another stage does the unit. */
MUST_CHECK enum error_code unit_check_stage(const struct unit *unit, const char *stage,
                                            struct error *err);
/* Returns the stage whose program does units of this kind, e.g. "sample". */
const char *unit_stage(enum unit_kind kind);
/* Returns the first kind of unit of this stage; UNIT_UNKNOWN if there is no such stage. */
enum unit_kind unit_of_stage(const char *stage);
bool unit_equal(const struct unit *a, const struct unit *b);

#endif
