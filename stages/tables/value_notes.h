/*
 * value_notes - facts about the values of an input that readers know or find out while they read
 * it.
 */
#ifndef STAGES_TABLES_VALUE_NOTES_H
#define STAGES_TABLES_VALUE_NOTES_H

#include "common/formats/text/float_loss.h"
#include "common/formats/text/time_text.h"

struct value_notes {
    struct time_format time; /* how times of edges are written; the first time narrows it */
    struct float_loss loss;  /* integers that features cannot hold */
};

#endif
