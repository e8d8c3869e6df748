/*
 * ogb_direction - whether the edges of an OGB data set go both ways. OGB's package knows it, but
 * its folders do not say it.
 */
#ifndef STAGES_INGEST_FORMATS_COLLECTIONS_OGB_DIRECTION_H
#define STAGES_INGEST_FORMATS_COLLECTIONS_OGB_DIRECTION_H

#include "stages/ingest/build/dataset_builder.h"

/* Returns the direction by the name of the folder, which OGB's package gives it when it unpacks a
 * set (ogbn_products, ogbg_molhiv); for another name STATED_ONCE_IS_BOTH. */
enum stated_direction ogb_direction_of(const char *folder);

#endif
