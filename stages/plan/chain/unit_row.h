/*
 * unit_row - everything that the program knows about a kind of unit: one row for each kind, in
 * units/<stage>_units.c.
 *
 * Naming, chain, retention, repair, watch, timing and replay of units read these rows and never ask
 * for a kind by its name.
 */
#ifndef STAGES_PLAN_CHAIN_UNIT_ROW_H
#define STAGES_PLAN_CHAIN_UNIT_ROW_H

#include "common/base/error.h"
#include "stages/plan/chain/chain_state.h"
#include "stages/plan/chain/schedule.h"
#include "stages/plan/chain/unit.h"
#include "stages/plan/chain/unit_list.h"
#include "store/objects/keys.h"

#include <stdbool.h>
#include <stdint.h>

/* The number `round` of a unit counts one of these. */
enum unit_line {
    LINE_NONE,     /* nothing: it has no number */
    LINE_ROUNDS,   /* rounds of training */
    LINE_VERSIONS, /* versions of the weights that have a snapshot */
    /* The one version that inference uses; known when the run has ended. */
    LINE_WEIGHTS
};

/* How long the run keeps the unit's records. */
enum unit_retention {
    /* All the time, or made before there is a run. */
    RETAINED_TO_THE_END,
    RETAINED_ROUNDS, /* from the oldest kept version on (retention_rule.h) */
    /* Like RETAINED_ROUNDS, plus the versions from which those rounds start (schedule_base()). */
    RETAINED_BASES,
    /* Like RETAINED_ROUNDS, plus the sampling pass that those rounds use. */
    RETAINED_PASSES,
    RETAINED_SNAPSHOTS /* from the oldest kept version on, and the best */
};

struct unit_row {
    const char *name, *stage;
    enum unit_line line;
    /* The name of a unit has these numbers after its round or version. */
    bool has_layer, has_slot;
    /* Units of one round and layer do not all wait for the same number of units. */
    bool slots_wait_differently;
    /* The option of `graphmill replay STAGE` that means this kind; NULL: the kind that replay takes
     * without an option. */
    const char *replay_option;
    /* The unit's record can be made again from others that are kept as long. */
    bool recomputable;
    bool is_made_of_weights; /* it reads weights of a version that it does not wait for itself */
    /* It reads rows of learnable embeddings, of the version that is its round's number. */
    bool reads_embeddings;
    bool may_end_run; /* its record says whether */
    enum unit_retention retention;
    bool is_in_snapshot; /* a snapshot of that version holds its records, too */
    /* A run that takes a snapshot over takes these records of its version over, too. */
    bool is_beside_snapshot;
    /* The folder of the run with its records and none of another kind; NULL if they lie with
     * others. */
    const char *folder;
    /* The kind that makes these records for version 0. The unit of round r then makes version r +
     * 1, so its records lie at its own number + 1. UNIT_UNKNOWN: they lie at its own number. */
    enum unit_kind begun_by;

    /* The functions below are NULL for ingest and partition, which come before a run. */

    /* Checks that the run has a unit with these numbers. `weights_version` is for inference; -1
     * before the run has ended. Fails: ERROR_INVALID; the message says which units exist. */
    enum error_code (*check)(const struct schedule *s, const struct unit *unit,
                             int64_t weights_version, struct error *err);
    /* Appends the units that must be done before it. `last_version` is that of the snapshot that
     * ends the run. NULL: it waits for nothing. */
    enum error_code (*waits_for)(const struct schedule *s, const struct unit *unit,
                                 int64_t last_version, struct unit_list *out, struct error *err);
    /* Appends the units whose records it reads and does not wait for, because they were done long
     * before. NULL: none. */
    enum error_code (*reads)(const struct schedule *s, const struct unit *unit,
                             struct unit_list *out, struct error *err);
    /* Appends the units that wait for it. `weights_version` is set for a checkpoint that ends the
     * run, and -1 otherwise. NULL: none. */
    enum error_code (*sets_free)(const struct schedule *s, const struct unit *unit,
                                 int64_t weights_version, struct unit_list *out, struct error *err);
    /* Returns the version v so that the unit reads weights of versions v + 1 to unit->round. NULL:
     * it reads none of its own. */
    int64_t (*reads_weights_after)(const struct schedule *s, const struct unit *unit);
    /* Returns the key of the record whose presence says that it is done. With an artifact that is
     * the artifact's manifest. */
    struct key (*output)(const struct schedule *s, const char *run_id, const struct unit *unit);
    struct key (*artifact)(const struct schedule *s, const char *run_id, const struct unit *unit);
    /* Returns the key of a second record, which is written before that one. NULL, or an empty key:
     * there is only one. */
    struct key (*companion)(const struct schedule *s, const char *run_id, const struct unit *unit);
    /* Returns whether the companion is a choice and not a result: it stays when the unit is done
     * again (chosen_base.h). NULL: no. */
    bool (*companion_is_chosen)(const struct schedule *s);
    /* Return the count and the keys of further records, such as the ranges of a gradient. They are
     * written before that one and kept as long. NULL: none. */
    int (*piece_count)(const struct schedule *s);
    struct key (*piece)(const char *run_id, const struct unit *unit, int index);
    /* Returns the first number whose companion is kept when records are kept from `oldest` on.
     * NULL: `oldest`. */
    int64_t (*companion_oldest)(const struct schedule *s, int64_t oldest);
    /* Returns the number of slots at this number of its line; for infer the number of parts. NULL:
     * one. */
    int32_t (*slot_count)(const struct schedule *s, int64_t number);
    /* Returns the number of layers at each number, counted from 1, each with all its slots. NULL:
     * one; or, for infer, those of its one version. */
    int32_t (*layer_count)(const struct schedule *s);
    /* Return the nearest number of its line, before or after `number`, that has units. Below 0:
     * there is none before. NULL: every number has units. */
    int64_t (*number_before)(const struct schedule *s, int64_t number);
    int64_t (*number_after)(const struct schedule *s, int64_t number);
    /* Returns whether the newest snapshot covers the unit, so that its record may have been
     * pruned. */
    bool (*is_covered)(const struct schedule *s, const struct chain_state *state,
                       const struct unit *unit);
    /* It is done only when covered, whatever record is there: its commit is the ref. */
    bool done_when_covered;
};

const struct unit_row *unit_row_of(enum unit_kind kind);

bool unit_companion_is_chosen(const struct unit_row *row, const struct schedule *s);

/* The checks that rows share: whether the run has these numbers. Fails: ERROR_INVALID. */
MUST_CHECK enum error_code unit_check_round(const struct schedule *s, int64_t round,
                                            struct error *err);
MUST_CHECK enum error_code unit_check_number(int32_t number, int32_t count, const char *what,
                                             struct error *err);
MUST_CHECK enum error_code unit_check_slot(const struct schedule *s, const struct unit *unit,
                                           int64_t weights_version, struct error *err);
MUST_CHECK enum error_code unit_check_version(const struct schedule *s, int64_t version,
                                              struct error *err);
/* Returns whether aggregate's step of a round waits for the weights that it changes. In the usual
 * case it need not: its gradients are made from these weights, so they wait for them. It must if
 * sums come between, or if the gradients are made from older weights. */
bool unit_step_waits_for_weights(const struct schedule *s);
/* Appends the unit that makes weights `version`. */
MUST_CHECK enum error_code unit_list_add_maker(struct unit_list *out, int64_t version,
                                               struct error *err);
/* Appends the unit after which weights `version` may be used, for the step of a round and what
 * follows it. */
MUST_CHECK enum error_code unit_list_add_weights(struct unit_list *out, const struct schedule *s,
                                                 int64_t version, struct error *err);
/* Append the first unit of the step of a slot, and of all slots of a round; nothing for a round
 * that the run does not have. */
MUST_CHECK enum error_code unit_list_add_step(struct unit_list *out, const struct schedule *s,
                                              int64_t round, int32_t slot, struct error *err);
MUST_CHECK enum error_code unit_list_add_steps(struct unit_list *out, const struct schedule *s,
                                               int64_t round, struct error *err);
/* Appends the units that the step of the unit's slot waits for before it begins: mini-batch and
 * weights. */
MUST_CHECK enum error_code unit_list_add_inputs(struct unit_list *out, const struct schedule *s,
                                                const struct unit *unit, struct error *err);
/* Appends the units whose records a later pass of a step reads without waiting for them: its
 * mini-batch, and the passes earlier than the one before `pass`. */
MUST_CHECK enum error_code unit_list_add_passes(struct unit_list *out, const struct schedule *s,
                                                const struct unit *unit, int32_t pass,
                                                struct error *err);
int32_t unit_evaluation_slots(const struct schedule *s, int64_t version);

#endif
