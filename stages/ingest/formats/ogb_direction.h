/*
 * ogb_direction - whether the edges of an OGB data set go both ways, which OGB's package says and its folders do not.
 */
#ifndef STAGES_INGEST_FORMATS_OGB_DIRECTION_H
#define STAGES_INGEST_FORMATS_OGB_DIRECTION_H

#include "stages/ingest/build/dataset_builder.h"

/* By the name of the folder, as OGB calls it when it unpacks a set (ogbn_products, ogbg_molhiv); of another name
 * STATED_ONCE_IS_BOTH. */
enum stated_direction ogb_direction_of(const char *folder);

#endif
