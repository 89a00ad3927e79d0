/* Rows of matrices: copied, transposed, added up, compared by their differences. */
#include "core.h"

#define GATHER(FROM, TO, suffix)                                                                   \
    static void gather_##suffix(const Argument *values, const Index *rows, const Index *columns,   \
                                const Argument *out)                                               \
    {                                                                                              \
        for (Index i = 0; i < out->rows; i++) {                                                    \
            const FROM *restrict row = (const FROM *)values->data + rows[i] * values->stride;      \
            TO *restrict into = (TO *)out->data + i * out->stride;                                 \
            for (Index j = 0; j < out->columns; j++)                                               \
                into[j] = (TO)row[columns[j]];                                                     \
        }                                                                                          \
    }
GATHER(float, float, ff)
GATHER(float, double, fd)
GATHER(double, float, df)
GATHER(double, double, dd)

int AT_LEVEL(gather_block)(Call *call)
{
    const Argument *values = &call->arguments[0], *out = &call->arguments[3];
    const Index *rows = INDICES(call, 1), *columns = INDICES(call, 2);
    if (values->type == 'f')
        (out->type == 'f' ? gather_ff : gather_fd)(values, rows, columns, out);
    else
        (out->type == 'f' ? gather_df : gather_dd)(values, rows, columns, out);
    return DONE;
}

/* Add some rows times their weights to `out`, four at a time: it is read less often. */
#define ADD_ROWS(REAL, suffix)                                                                     \
    static void add_rows_##suffix(const Argument *values, const Index *rows, Index count,          \
                                  const double *weights, double *restrict out)                     \
    {                                                                                              \
        const REAL *data = values->data;                                                           \
        Index n = values->columns, j = 0;                                                          \
        for (; j + 4 <= count; j += 4) {                                                           \
            const REAL *restrict A = data + rows[j] * values->stride;                              \
            const REAL *restrict B = data + rows[j + 1] * values->stride;                          \
            const REAL *restrict C = data + rows[j + 2] * values->stride;                          \
            const REAL *restrict D = data + rows[j + 3] * values->stride;                          \
            double a = weights[j], b = weights[j + 1], c = weights[j + 2], d = weights[j + 3];     \
            for (Index k = 0; k < n; k++)                                                          \
                out[k] += fused(a, A[k], b * B[k]) + fused(c, C[k], d * D[k]);                     \
        }                                                                                          \
        for (; j < count; j++) {                                                                   \
            const REAL *restrict A = data + rows[j] * values->stride;                              \
            for (Index k = 0; k < n; k++)                                                          \
                out[k] = fused(weights[j], A[k], out[k]);                                          \
        }                                                                                          \
    }
ADD_ROWS(float, float)
ADD_ROWS(double, double)

int AT_LEVEL(add_rows)(Call *call)
{
    (call->real == 'f' ? add_rows_float : add_rows_double)(
        &call->arguments[0], INDICES(call, 1), LENGTH(call, 'p'), DOUBLES(call, 2),
        DOUBLES(call, 3));
    return DONE;
}

/* In small squares that stay in the nearest cache. */
#define TRANSPOSE(REAL, suffix)                                                                    \
    static void transpose_##suffix(const Argument *tile, const Argument *out)                      \
    {                                                                                              \
        const REAL *from = tile->data;                                                             \
        REAL *to = out->data;                                                                      \
        for (Index top = 0; top < tile->rows; top += 16)                                           \
            for (Index left = 0; left < tile->columns; left += 16)                                 \
                for (Index j = left; j < tile->columns && j < left + 16; j++)                      \
                    for (Index i = top; i < tile->rows && i < top + 16; i++)                       \
                        to[j * out->stride + i] = from[i * tile->stride + j];                      \
    }
TRANSPOSE(float, float)
TRANSPOSE(double, double)

int AT_LEVEL(copy_transposed)(Call *call)
{
    (call->real == 'f' ? transpose_float : transpose_double)(&call->arguments[0],
                                                             &call->arguments[1]);
    return DONE;
}

/* Distances of rows to the columns of a panel, from differences. */
#define DISTANCES(REAL, name, OF)                                                                  \
    static void name(const Argument *X, const Argument *panel, const Argument *out)                \
    {                                                                                              \
        for (Index i = 0; i < X->rows; i++) {                                                      \
            const REAL *row = (const REAL *)X->data + i * X->stride;                               \
            REAL *restrict into = (REAL *)out->data + i * out->stride;                             \
            for (Index j = 0; j < out->columns; j++)                                               \
                into[j] = 0;                                                                       \
            for (Index k = 0; k < X->columns; k++) {                                               \
                const REAL *restrict others = (const REAL *)panel->data + k * panel->stride;       \
                REAL value = row[k];                                                               \
                for (Index j = 0; j < out->columns; j++) {                                         \
                    REAL difference = value - others[j];                                           \
                    into[j] += OF(difference);                                                     \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
#define SQUARE(x) ((x) * (x))
#define SIZE(x) ((x) < 0 ? -(x) : (x))
DISTANCES(float, squares_float, SQUARE)
DISTANCES(double, squares_double, SQUARE)
DISTANCES(float, city_float, SIZE)
DISTANCES(double, city_double, SIZE)

int AT_LEVEL(distances)(Call *call)
{
    const Argument *X = &call->arguments[0], *panel = &call->arguments[1];
    const Argument *out = &call->arguments[3];
    if (call->arguments[2].integer)
        (call->real == 'f' ? squares_float : squares_double)(X, panel, out);
    else
        (call->real == 'f' ? city_float : city_double)(X, panel, out);
    return DONE;
}

/* Add the weighted values right of the diagonal, and half of those on it, to the groups' cells.
 * Rows are sorted by group: those of one group are added up first, along the columns, and only
 * their sum is sorted into the cells. */
int AT_LEVEL(add_group_sums)(Call *call)
{
    const Argument *tile = &call->arguments[0], *out = &call->arguments[6];
    Index first_row = call->arguments[1].integer, first_column = call->arguments[2].integer;
    const Index *codes = INDICES(call, 3);
    const double *weights = DOUBLES(call, 4);
    double *restrict buffer = DOUBLES(call, 5);
    Index columns = tile->columns, n = LENGTH(call, 'n');
    if (first_row < 0 || first_column < 0 || first_row > n - tile->rows ||
        first_column > n - columns || call->arguments[5].rows < columns)
        return call->complaint = "the tile must lie inside the rows, and fit into the buffer",
               REFUSED;
    for (Index i = 0; i < tile->rows; i++) {
        Index at = first_row + i, diagonal = at - first_column;
        const double *restrict row = (const double *)tile->data + i * tile->stride;
        double weight = weights[at];
        if (i == 0 || codes[at] != codes[at - 1])
            for (Index j = 0; j < columns; j++)
                buffer[j] = 0.0;
        if (diagonal >= 0 && diagonal < columns)
            buffer[diagonal] += 0.5 * weight * row[diagonal];
        for (Index j = diagonal + 1 > 0 ? diagonal + 1 : 0; j < columns; j++)
            buffer[j] = fused(weight, row[j], buffer[j]);
        if (i == tile->rows - 1 || codes[at] != codes[at + 1]) {
            double *sums = (double *)out->data + codes[at] * out->stride;
            for (Index j = 0; j < columns; j++)
                sums[codes[first_column + j]] += weights[first_column + j] * buffer[j];
        }
    }
    return DONE;
}

/* Add every row of the tile, times its weight, to the row of its group. */
int AT_LEVEL(add_row_sums)(Call *call)
{
    const Argument *tile = &call->arguments[0], *out = &call->arguments[3];
    const Index *codes = INDICES(call, 1);
    const double *weights = DOUBLES(call, 2);
    for (Index i = 0; i < tile->rows; i++) {
        const double *restrict row = (const double *)tile->data + i * tile->stride;
        double *restrict sums = (double *)out->data + codes[i] * out->stride, weight = weights[i];
        for (Index j = 0; j < tile->columns; j++)
            sums[j] = fused(weight, row[j], sums[j]);
    }
    return DONE;
}
