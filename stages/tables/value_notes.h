/*
 * value_notes - what readers know and find out about the values of an input while they read it.
 */
#ifndef STAGES_TABLES_VALUE_NOTES_H
#define STAGES_TABLES_VALUE_NOTES_H

#include "common/formats/float_loss.h"
#include "common/formats/time_text.h"

struct value_notes {
    struct time_format time; /* how times of edges are written; the first one narrows it */
    struct float_loss loss;  /* integers that features cannot hold */
};

#endif
