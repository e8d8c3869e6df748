/*
 * fault_walk - does a unit of a stage with its n-th store call failing, for every n.
 *
 * Whichever call fails, with whatever error, the unit must fail with that error and leak no memory;
 * done again, it must make the same records as a unit that met no failure. A call may also have
 * done its work before it reports a failure, as over a network.
 */
#ifndef TESTS_STAGES_FAULT_WALK_H
#define TESTS_STAGES_FAULT_WALK_H

#include "common/base/memory.h"
#include "store/objects/keys.h"

#include "tests/support/store_faults.h"
#include "tests/support/test.h"

#include <stdio.h>

struct fault_walk {
    void *context;
    struct store *store; /* a store of store_faults */
    const char *prefix;  /* prefix of the keys that are compared */
    enum error_code (*attempt)(void *context, struct error *err);
    void (*undo)(void *context); /* removes the records of an attempt */
};

struct fault_walk_listing {
    struct store *store;
    char text[16384];
};

static inline enum error_code fault_walk_add(void *context, const char *key, bool is_artifact,
                                             struct error *err)
{
    struct fault_walk_listing *listing = context;
    struct record_view view = {0};
    char sum[CHECKSUM_TEXT_SIZE] = "artifact";
    const size_t size = strlen(listing->text);
    const enum error_code rc =
        is_artifact ? ERROR_NONE : store_get(listing->store, key, NULL, &view, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!is_artifact)
        checksum_text(&view.content, sum);
    store_release_record(&view);
    must(size + strlen(key) + sizeof sum + 3 < sizeof listing->text);
    (void)snprintf(listing->text + size, sizeof listing->text - size, "%s %s\n", key, sum);
    return ERROR_NONE;
}

static inline void fault_walk_list(const struct fault_walk *walk, struct fault_walk_listing *out)
{
    struct error err = {0};
    *out = (struct fault_walk_listing){.store = walk->store};
    assert_ok(store_list(walk->store, walk->prefix, fault_walk_add, out, &err), &err);
}

/* Does the unit with one failing call. Returns false if the unit made fewer calls than that. */
static inline bool fault_walk_step(const struct fault_walk *walk,
                                   const struct store_fault_plan *plan,
                                   const struct fault_walk_listing *expected)
{
    static struct fault_walk_listing found;
    struct error err = {0};
    walk->undo(walk->context);
    const long blocks = memory_live_blocks();
    store_faults_plan(plan);
    const enum error_code rc = walk->attempt(walk->context, &err);
    const long failed = store_faults_end();
    if (rc != ERROR_NONE && rc != plan->code)
        fail_msg("call %ld failed with %d, the unit with %d: %s", plan->passed, (int)plan->code,
                 (int)rc, err.message);
    if (memory_live_blocks() != blocks)
        fail_msg("call %ld left %ld blocks", plan->passed, memory_live_blocks() - blocks);
    if (rc != ERROR_NONE)
        assert_ok(walk->attempt(walk->context, &err), &err);
    fault_walk_list(walk, &found);
    assert_string_equal(found.text, expected->text);
    return failed > 0;
}

enum { FAULT_WALK_CODES = 3, FAULT_WALK_FORMS = 3 };

/* Walks with the first codes and forms alone, for units that take long. */
static inline void fault_walk_some(const struct fault_walk *walk, int code_count, int form_count)
{
    static const enum error_code codes[FAULT_WALK_CODES] = {ERROR_IO, ERROR_UNAVAILABLE,
                                                            ERROR_NO_MEMORY};
    static struct fault_walk_listing expected;
    struct error err = {0};
    walk->undo(walk->context);
    assert_ok(walk->attempt(walk->context, &err), &err);
    fault_walk_list(walk, &expected);
    assert_true(strlen(expected.text) > 0);
    for (int c = 0; c < code_count; c++)
        for (int form = 0; form < form_count; form++) {
            /* Forms: the call fails once; fails once after it has done its work; fails from then
             * on. */
            struct store_fault_plan plan = {
                .count = form == 2 ? -1 : 1, .code = codes[c], .after = form == 1};
            while (fault_walk_step(walk, &plan, &expected))
                plan.passed++;
            assert_true(plan.passed > 0);
        }
}

static inline void fault_walk_all(const struct fault_walk *walk)
{
    fault_walk_some(walk, FAULT_WALK_CODES, FAULT_WALK_FORMS);
}

#endif
