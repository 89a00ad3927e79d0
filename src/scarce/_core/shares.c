/* Shapley values of the columns in a sum of products of one factor a column. */
#include "core.h"

enum { WIDE = 8, PARTS = WIDE / LANES }; /* nodes of a quadrature that go through the columns together */

/* Add the integral over t of sum_i weight_i (k_ij - b_ij) prod_{l != j} (b_il + t (k_il - b_il)), with
 * the factors k of a row and b of its baseline, to each column j. The products without a column are
 * those of the columns before it by those behind it: nothing is divided, so a factor may be 0. */
int AT_LEVEL(add_product_shares)(Call *call)
{
    const Argument *rows = &call->arguments[0], *others = &call->arguments[1];
    const double *weights = DOUBLES(call, 2), *nodes = DOUBLES(call, 3), *widths = DOUBLES(call, 4);
    double *out = DOUBLES(call, 5);
    Index n = LENGTH(call, 'n'), n_columns = LENGTH(call, 'k'), n_nodes = LENGTH(call, 'q');
    Lanes *before = malloc((size_t)(n_columns + 1) * PARTS * sizeof *before);
    Lanes *sums = malloc((size_t)(n_columns + 1) * PARTS * sizeof *sums);
    int done = before == NULL || sums == NULL ? NO_MEMORY : DONE;
    for (Index first = 0; done == DONE && first < n_nodes; first += WIDE) {
        double some[WIDE] = {0.0}, width[WIDE] = {0.0};
        for (Index k = 0; k < WIDE && first + k < n_nodes; k++)
            some[k] = nodes[first + k], width[k] = widths[first + k];
        const Lanes *node = (const Lanes *)some;
        memset(sums, 0, (size_t)n_columns * PARTS * sizeof *sums);
        for (Index i = 0; i < n; i++) {
            const double *ours = (const double *)rows->data + i * rows->stride;
            const double *theirs = (const double *)others->data + i * others->stride;
            Lanes product[PARTS];
            for (int part = 0; part < PARTS; part++)
                product[part] = (Lanes){0.0} + weights[i];
            for (Index j = 0; j < n_columns; j++)
                for (int part = 0; part < PARTS; part++) {
                    before[j * PARTS + part] = product[part];
                    product[part] *= node[part] * (ours[j] - theirs[j]) + theirs[j];
                }
            for (int part = 0; part < PARTS; part++)
                product[part] = (Lanes){0.0} + 1.0;
            for (Index j = n_columns - 1; j >= 0; j--) {
                double change = ours[j] - theirs[j];
                for (int part = 0; part < PARTS; part++) {
                    sums[j * PARTS + part] += before[j * PARTS + part] * product[part] * change;
                    product[part] *= node[part] * change + theirs[j];
                }
            }
        }
        for (Index j = 0; j < n_columns; j++)
            for (int k = 0; k < WIDE; k++)
                out[j] += width[k] * ((const double *)(sums + j * PARTS))[k];
        if (must_stop(call, 4 * WIDE * n * n_columns))
            done = INTERRUPTED;
    }
    free(before), free(sums);
    return done;
}
