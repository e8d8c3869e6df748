/*
 * unit_row - all that the program knows of a kind of unit: one row each, in units/<stage>_units.c.
 *
 * Names, the chain, what is kept, repaired, watched, timed and replayed read these rows and ask for no kind by its name.
 */
#ifndef STAGES_PLAN_UNITS_UNIT_ROW_H
#define STAGES_PLAN_UNITS_UNIT_ROW_H

#include "common/base/error.h"
#include "stages/plan/chain_state.h"
#include "stages/plan/schedule.h"
#include "stages/plan/unit.h"
#include "stages/plan/unit_list.h"
#include "store/objects/keys.h"

#include <stdbool.h>
#include <stdint.h>

/* What the number `round` of a unit counts. */
enum unit_line {
    LINE_NONE,     /* it has none */
    LINE_ROUNDS,   /* rounds of training */
    LINE_VERSIONS, /* versions of the weights that a snapshot is made of */
    LINE_WEIGHTS   /* the one version that inference takes; known when the run has ended */
};

/* How long the run keeps its records. */
enum unit_retention {
    RETAINED_TO_THE_END, /* or made before there is a run */
    RETAINED_ROUNDS,     /* from the oldest version on that is kept (retention_rule.h) */
    RETAINED_BASES,      /* and those that the rounds from there on start from (schedule_base()) */
    RETAINED_PASSES,     /* and those of the sampling pass that serves that version's rounds */
    RETAINED_SNAPSHOTS   /* from that version on, and the best */
};

struct unit_row {
    const char *name, *stage;
    enum unit_line line;
    bool has_layer, has_slot; /* numbers in its name, behind the one of its line */
    bool
        slots_wait_differently; /* those of a round, and of a layer, do not all wait for as many units */
    const char *replay_option; /* of `graphmill replay STAGE`; NULL: what is meant without one */
    bool recomputable;         /* its record can be made again from others that are kept as long */
    bool is_made_of_weights;   /* of a version that it does not wait for itself */
    bool
        reads_embeddings; /* rows of learnable embeddings, in the version that is its round's number */
    bool may_end_run;     /* its record says whether */
    enum unit_retention retention;
    bool is_in_snapshot; /* a snapshot of that version holds its records, too */
    bool
        is_beside_snapshot; /* whoever takes a snapshot over takes these records of its version over, too */
    const char *
        folder; /* of the run, where its records lie and none of another kind; NULL where they lie among others */
    /* Aggregate of round r makes version r + 1: its records lie one further on the line than its own number, and this
     * kind makes those of version 0. UNIT_UNKNOWN: they lie at its own number. */
    enum unit_kind begun_by;

    /* The rest is NULL for ingest and partition, which come before a run. */

    /* Are its numbers such as the run has? `weights_version`: of inference, -1 before the run has ended.
     * Fails: ERROR_INVALID saying what there is. */
    enum error_code (*check)(const struct schedule *s, const struct unit *unit,
                             int64_t weights_version, struct error *err);
    /* What must be done before it. `last_version`: of the snapshot that ends the run. NULL: nothing. */
    enum error_code (*waits_for)(const struct schedule *s, const struct unit *unit,
                                 int64_t last_version, struct unit_list *out, struct error *err);
    /* What it reads and does not wait for, because that was done long before. NULL: nothing. */
    enum error_code (*reads)(const struct schedule *s, const struct unit *unit,
                             struct unit_list *out, struct error *err);
    /* What waits for it. `weights_version`: of a checkpoint that ends the run; else -1. NULL: nothing. */
    enum error_code (*sets_free)(const struct schedule *s, const struct unit *unit,
                                 int64_t weights_version, struct unit_list *out, struct error *err);
    /* Reads the weights of the versions behind this one, up to unit->round. NULL: none of its own. */
    int64_t (*reads_weights_after)(const struct schedule *s, const struct unit *unit);
    /* The record whose presence says that it is done; with an artifact, that one's seal. */
    struct key (*output)(const struct schedule *s, const char *run_id, const struct unit *unit);
    struct key (*artifact)(const struct schedule *s, const char *run_id, const struct unit *unit);
    /* A second record, which is written before that one. NULL, or an empty key: there is one only. */
    struct key (*companion)(const struct schedule *s, const char *run_id, const struct unit *unit);
    /* Is that no result but a choice, which stays when the unit is done again (chosen_base.h)? NULL: no. */
    bool (*companion_is_chosen)(const struct schedule *s);
    /* Records beside that one, which are written before it and as old, such as the ranges of a gradient. NULL: none. */
    int (*piece_count)(const struct schedule *s);
    struct key (*piece)(const char *run_id, const struct unit *unit, int index);
    /* The first number whose companion is kept when records are kept from `oldest` on. NULL: `oldest`. */
    int64_t (*companion_oldest)(const struct schedule *s, int64_t oldest);
    /* Slots of the units at this number of its line; of infer the parts. NULL: one. */
    int32_t (*slot_count)(const struct schedule *s, int64_t number);
    /* Layers at each number, from 1, each with all its slots. NULL: one, or those of infer, which one version has. */
    int32_t (*layer_count)(const struct schedule *s);
    /* The numbers of its line that have units. NULL: all of the line. Before the first: below 0. */
    int64_t (*number_before)(const struct schedule *s, int64_t number);
    int64_t (*number_after)(const struct schedule *s, int64_t number);
    /* Does the newest snapshot cover it, so that its record may be pruned by now? */
    bool (*is_covered)(const struct schedule *s, const struct chain_state *state,
                       const struct unit *unit);
    bool done_when_covered; /* and not before, whatever record is there: its commit is the switch */
};

const struct unit_row *unit_row_of(enum unit_kind kind);

bool unit_companion_is_chosen(const struct unit_row *row, const struct schedule *s);

/* For the rows: are these numbers of the run? Fails: ERROR_INVALID. */
MUST_CHECK enum error_code unit_check_round(const struct schedule *s, int64_t round,
                                            struct error *err);
MUST_CHECK enum error_code unit_check_number(int32_t number, int32_t count, const char *what,
                                             struct error *err);
MUST_CHECK enum error_code unit_check_slot(const struct schedule *s, const struct unit *unit,
                                           int64_t weights_version, struct error *err);
MUST_CHECK enum error_code unit_check_version(const struct schedule *s, int64_t version,
                                              struct error *err);
/* The step of a round starts from weights of which its gradients are made, so that these lead to them. Where they are added
 * up first, or made of older ones, it waits for the weights itself. */
bool unit_step_waits_for_weights(const struct schedule *s);
/* The unit that makes weights `version`. */
MUST_CHECK enum error_code unit_list_add_maker(struct unit_list *out, int64_t version,
                                               struct error *err);
/* What the step of a round, or what follows it, waits for: that weights `version` may be used. */
MUST_CHECK enum error_code unit_list_add_weights(struct unit_list *out, const struct schedule *s,
                                                 int64_t version, struct error *err);
/* What the step of a slot begins with, and of all slots of a round; none of a round that the run does not have. */
MUST_CHECK enum error_code unit_list_add_step(struct unit_list *out, const struct schedule *s,
                                              int64_t round, int32_t slot, struct error *err);
MUST_CHECK enum error_code unit_list_add_steps(struct unit_list *out, const struct schedule *s,
                                               int64_t round, struct error *err);
/* What the step of the unit's slot waits for before it begins: mini-batch and weights. */
MUST_CHECK enum error_code unit_list_add_inputs(struct unit_list *out, const struct schedule *s,
                                                const struct unit *unit, struct error *err);
/* What a later pass of a step reads, and does not wait for: its mini-batch, and the passes before the one before `pass`. */
MUST_CHECK enum error_code unit_list_add_passes(struct unit_list *out, const struct schedule *s,
                                                const struct unit *unit, int32_t pass,
                                                struct error *err);
int32_t unit_evaluation_slots(const struct schedule *s, int64_t version);

#endif
