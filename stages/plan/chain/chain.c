#include "stages/plan/chain/chain.h"

#include "stages/plan/chain/unit_row.h"

enum error_code chain_check_unit(const struct schedule *s, const struct unit *unit,
                                 int64_t weights_version, struct error *err)
{
    const bool is_kind = unit->kind > UNIT_UNKNOWN && unit->kind < UNIT_KIND_COUNT;
    const struct unit_row *row = is_kind ? unit_row_of(unit->kind) : NULL;
    if (row && row->check)
        return row->check(s, unit, weights_version, err);
    return error_set(err, ERROR_INVALID, "not a unit of a run");
}

enum error_code chain_prerequisites(const struct schedule *s, const struct unit *unit,
                                    int64_t last_version, struct unit_list *out, struct error *err)
{
    const struct unit_row *row = unit_row_of(unit->kind);
    return row->waits_for ? row->waits_for(s, unit, last_version, out, err) : ERROR_NONE;
}

enum error_code chain_reads(const struct schedule *s, const struct unit *unit,
                            struct unit_list *out, struct error *err)
{
    const struct unit_row *row = unit_row_of(unit->kind);
    return row->reads ? row->reads(s, unit, out, err) : ERROR_NONE;
}

int64_t chain_prerequisite_count(const struct schedule *s, const struct unit *unit)
{
    struct unit_list list = {.only_counts = true};
    must(chain_prerequisites(s, unit, 0, &list, NULL) == ERROR_NONE);
    return list.count;
}

enum error_code chain_successors(const struct schedule *s, const struct unit *unit,
                                 int64_t weights_version, struct unit_list *out, struct error *err)
{
    const struct unit_row *row = unit_row_of(unit->kind);
    return row->sets_free ? row->sets_free(s, unit, weights_version, out, err) : ERROR_NONE;
}

enum error_code chain_roots(const struct schedule *s, struct unit_list *out, struct error *err)
{
    enum error_code rc = unit_list_add_slots(out, UNIT_INITIALISE, 0, 1, err);
    if (rc == ERROR_NONE)
        rc = unit_list_add_slots(out, UNIT_SAMPLE_EVALUATION, 0, s->evaluation_slot_count, err);
    if (rc == ERROR_NONE && s->counts_walks) /* the first mini-batches wait for it */
        return unit_list_add_slots(out, UNIT_COUNT_WALKS, 0, 1, err);
    return rc == ERROR_NONE ? unit_list_add_first_samples(out, s, err) : rc;
}

struct key chain_output_key(const struct schedule *s, const char *run_id, const struct unit *unit)
{
    return unit_row_of(unit->kind)->output(s, run_id, unit);
}
