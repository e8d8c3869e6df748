/*
 * sampler_list - the ways to draw a mini-batch: one row each.
 *
 * ROW(number, name, help): the number in this program, the name in sample.sampler; <name>_row in <name>_sampler.c
 * (that of the neighbour sampler itself is in sampler.c). The help becomes that of the setting.
 */
#ifndef STAGES_SAMPLING_SAMPLER_LIST_H
#define STAGES_SAMPLING_SAMPLER_LIST_H

/* clang-format off */
#define SAMPLER_LIST(ROW)                                                                          \
    ROW(SAMPLER_NEIGHBOR, neighbor, "each as likely as the others, none twice")                    \
    ROW(SAMPLER_WEIGHTED_NEIGHBOR, weighted_neighbor, "by the weight of the edge, none twice")
/* clang-format on */

#define SAMPLER_NUMBER(number, name, help) number,
enum sampler_kind { SAMPLER_LIST(SAMPLER_NUMBER) SAMPLER_COUNT };
#undef SAMPLER_NUMBER

#endif
