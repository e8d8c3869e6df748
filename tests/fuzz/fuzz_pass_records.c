/* fuzz_pass_records - what layers give each other, from arbitrary sections; what a reader lets through is read to its end. */
#include "store/records/round/pass_gradient.h"
#include "store/records/round/pass_output.h"

#include "tests/fuzz/fuzz_record_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"version", "shape",  "value", "part",
                                    "row",     "counts", "loss",  "type"};
static volatile uint8_t touched;

static void touch(const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        touched = ((const uint8_t *)from)[i];
}

static void read_output(const struct record_view *view)
{
    struct pass_output output;
    if (pass_output_decode(view, &output, NULL) != ERROR_NONE)
        return;
    touch(output.value, output.row_count * precision_stride(output.precision, output.column_count) *
                            precision_bytes(output.precision));
}

static void read_gradient(const struct record_view *view)
{
    struct pass_gradient gradient;
    if (pass_gradient_decode(view, &gradient, NULL) != ERROR_NONE)
        return;
    must(gradient.correct_count <= gradient.seed_count);
    touch(gradient.value, gradient.value_count * sizeof *gradient.value);
    for (int i = 0; i < gradient.part_count; i++)
        touch(gradient.part[i].row,
              (size_t)gradient.part[i].row_count * gradient.part[i].column_count * sizeof(float));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct record_view view;
    fuzz_record_view(data, size, RECORD_PASS_OUTPUT, names, sizeof names / sizeof *names, &view);
    read_output(&view);
    view.kind = RECORD_PASS_GRADIENT;
    read_gradient(&view);
    fuzz_record_view_release(&view);
    return 0;
}
