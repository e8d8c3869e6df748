/*
 * dgl_csv_meta - the files of a DGL CSVDataset, as its meta.yaml lists them.
 */
#ifndef STAGES_INGEST_FORMATS_FOLDERS_DGL_CSV_META_H
#define STAGES_INGEST_FORMATS_FOLDERS_DGL_CSV_META_H

#include "common/base/error.h"
#include "common/base/yaml.h"
#include "common/files/file.h"
#include "common/formats/text/delimited.h"

#include <stdint.h>

enum { DGL_CSV_FILES_MAX = 128 };

struct dgl_csv_file {
    char path[FILE_PATH_SIZE];
    const char *type;                 /* for nodes: ntype, or "_N" */
    char relation[512];               /* for edges: "user:likes:item" */
    const char *id, *source, *target; /* names of columns */
    int line;                         /* line in meta.yaml */
};

struct dgl_csv_meta { /* {0} is releasable */
    char path[FILE_PATH_SIZE];
    struct yaml_node *root;
    enum delimiter delimiter;
    struct dgl_csv_file *nodes, *edges; /* [node_count], [edge_count] */
    uint32_t node_count, edge_count;
};

/* Reads meta.yaml of the folder. Fails: ERROR_NOT_FOUND; ERROR_INPUT naming file and line, what was
 * expected and found. */
MUST_CHECK enum error_code dgl_csv_meta_read(const char *folder, struct dgl_csv_meta *meta,
                                             struct error *err);
void dgl_csv_meta_release(struct dgl_csv_meta *meta);

#endif
