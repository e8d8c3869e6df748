/* render_pod - the Pod of a stage, in pieces that all forms have in common. */
#ifndef PIPELINES_RENDER_POD_H
#define PIPELINES_RENDER_POD_H

#include "pipelines/render/render_run.h"

/* securityContext and automountServiceAccountToken, of a Pod. */
void render_pod_security(struct yaml_writer *w);
/* volumes: of a Pod; scratch as large as the stage has it, the password of Redis where it needs one. */
void render_volumes(struct yaml_writer *w, const struct render_run *run,
                    const struct render_stage *stage);
/* The fields of a container behind its name, image to volumeMounts. `command` runs the stage; NULL: `script` does, by sh. */
void render_container(struct yaml_writer *w, const struct render_run *run,
                      const struct render_stage *stage, const char *command, const char *script);
/* The options of a stage's program, one after the other to `put`; the name of the worker is the form's to say. */
void render_arguments(const struct render_run *run, const struct render_stage *stage,
                      void (*put)(void *context, const char *argument), void *context);
/* From `template:` of a Job to the name of its container; and from behind that container to the end of the document. */
enum template_kind {
    TEMPLATE_OF_JOB,
    TEMPLATE_OF_EXPORTER, /* of a Deployment, and Prometheus is told of it */
};
void render_template_head(struct yaml_writer *w, const struct render_run *run,
                          const char *component, enum template_kind kind);
void render_template_end(struct yaml_writer *w, const struct render_run *run,
                         const struct render_stage *stage);
bool render_stage_loops(const struct render_stage *stage);

#endif
