/* Second-order pairwise steps on the variables whose rows are there. */
#include "core.h"

static const double LEAST = 1e-300;  /* floor of a pair's curvature where both entries are zero */
static const double LONGEST = 1e6;   /* growth by a step without curvature and without a bound */

/* Copy a row of the source to line i, with its signs, in the arithmetic of the steps. */
#define COPY_ROW(REAL, suffix)                                                                     \
    static void copy_row_##suffix(const Source *source, Index i, Index n, const StepMatrix *matrix) \
    {                                                                                              \
        const double *restrict row = source->values + source->lines[i] * source->stride;           \
        const double *restrict sign = source->sign;                                                \
        REAL *restrict into = (REAL *)matrix->values + i * matrix->stride;                         \
        double own = sign[i];                                                                      \
        if (source->columns == NULL)                                                               \
            for (Index k = 0; k < n; k++)                                                          \
                into[k] = (REAL)(own * sign[k] * row[k]);                                          \
        else                                                                                       \
            for (Index k = 0; k < n; k++)                                                          \
                into[k] = (REAL)(own * sign[k] * row[source->columns[k]]);                         \
        matrix->where[i] = i;                                                                      \
    }
COPY_ROW(float, float)
COPY_ROW(double, double)

#define REAL float
#define NAMED(name) name##_float
#define CLOSED 1e30f  /* in place of infinity, which loose arithmetic must not meet */
#define WIDE 1e29
#define TINY 1e-7f    /* floor of a pair's curvature, as a share of its two diagonal entries */
#include "steps.inc"
#undef REAL
#undef NAMED
#undef CLOSED
#undef WIDE
#undef TINY
#define REAL double
#define NAMED(name) name##_double
#define CLOSED 1e307
#define WIDE 1e306
#define TINY 1e-12
#include "steps.inc"

int AT_LEVEL(pairwise_steps)(Call *call)
{
    const Argument *values = &call->arguments[0], *source_values = &call->arguments[9];
    Index n = LENGTH(call, 'n');
    StepMatrix matrix = {values->data, values->stride, INDICES(call, 1),
                         DOUBLES(call, 2), DOUBLES(call, 3), DOUBLES(call, 4)};
    Boxes boxes = {DOUBLES(call, 5), DOUBLES(call, 6), DOUBLES(call, 7), INDICES(call, 8),
                   n, LENGTH(call, 'g')};
    int has_source = call->arguments[10].rows > 0;
    Source source = {source_values->data, source_values->stride, INDICES(call, 10),
                     call->arguments[11].rows > 0 ? INDICES(call, 11) : NULL, DOUBLES(call, 12)};
    Index *told = INDICES(call, 17);
    Met met = {{told[0], told[1]}, -1};
    if (!starts_are_whole(boxes.starts, boxes.n_groups, n))
        return call->complaint = "starts must begin with 0 and end with the number of variables",
               REFUSED;
    if (has_source && n > 0) {
        if (values->rows < n)
            return call->complaint = "values must have a row for every variable of a source",
                   REFUSED;
        if (call->arguments[12].rows != n)
            return call->complaint = "signs must have one entry for every variable", REFUSED;
        if (source.columns == NULL && source_values->columns < n)
            return call->complaint = "rows of the source must have every variable", REFUSED;
    }
    Index taken = (call->real == 'f' ? steps_float : steps_double)(
        call, &matrix, &boxes, has_source ? &source : NULL, DOUBLES(call, 13), DOUBLES(call, 14),
        call->arguments[15].number, call->arguments[16].integer, &met,
        (int)call->arguments[18].integer);
    told[0] = met.pair[0], told[1] = met.pair[1], told[2] = met.row;
    if (taken < 0)
        return (int)-taken;
    call->results[0] = (double)taken;
    return DONE;
}
