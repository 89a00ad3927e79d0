/* Sums over many decision trees. */
#include "core.h"

enum { AT_A_TIME = 256 }; /* rows that go down a tree while it is in the cache */

/* Add to every row what the leaf of each tree says of it. */
int AT_LEVEL(add_trees)(Call *call)
{
    const Argument *X = &call->arguments[0];
    const Index *feature = INDICES(call, 1), *left = INDICES(call, 3), *right = INDICES(call, 4);
    const double *threshold = DOUBLES(call, 2), *value = DOUBLES(call, 5);
    const Index *roots = INDICES(call, 6);
    double *out = DOUBLES(call, 7);
    Index n = LENGTH(call, 'n'), n_trees = LENGTH(call, 't'), n_nodes = LENGTH(call, 'm');
    for (Index first = 0; first < n; first += AT_A_TIME) {
        Index last = first + AT_A_TIME < n ? first + AT_A_TIME : n;
        for (Index tree = 0; tree < n_trees; tree++)
            for (Index i = first; i < last; i++) {
                const float *row = (const float *)X->data + i * X->stride;
                Index at = roots[tree], steps = 0;
                while (feature[at] >= 0 && steps++ < n_nodes)
                    at = row[feature[at]] <= threshold[at] ? left[at] : right[at];
                if (feature[at] >= 0) {
                    call->complaint = "a path through a tree does not end";
                    return REFUSED;
                }
                out[i] += value[at];
            }
        if (must_stop(call, 16 * (last - first) * n_trees))
            return INTERRUPTED;
    }
    return DONE;
}

enum { OPEN = 0, FROM_ROW, FROM_BASELINE }; /* where a mixture takes a column from */

/* A branch that waits: mixtures that take a column from the baseline, and how many were settled
 * before. */
typedef struct {
    Index node, settled, column;
} Branch;

/* What a leaf adds to the Shapley values of the columns that a mixture must take from the row (a of
 * them) or from the baseline (b) to reach it: (a - 1)! b! / (a + b)! and a! (b - 1)! / (a + b)!. */
static void add_leaf(double value, const Index *settled, const uint8_t *state, Index a, Index b,
                     double *out)
{
    double ways = 1.0; /* (a + b)! / a! / b! */
    for (Index i = 1; i <= (a < b ? a : b); i++)
        ways *= (double)(a + b - i + 1) / (double)i;
    for (Index i = 0; i < a + b; i++) {
        Index column = settled[i];
        out[column] += state[column] == FROM_ROW ? value / ((double)a * ways)
                                                 : -value / ((double)b * ways);
    }
}

/* Add the Shapley values of the columns in the difference of what trees say of a row and of its
 * baseline. A mixture settles a column where the two part; each leaf is met once. */
int AT_LEVEL(add_tree_shares)(Call *call)
{
    const Argument *X = &call->arguments[0], *Z = &call->arguments[1], *out = &call->arguments[9];
    const Index *columns = INDICES(call, 2), *feature = INDICES(call, 3);
    const double *threshold = DOUBLES(call, 4), *value = DOUBLES(call, 7);
    const Index *left = INDICES(call, 5), *right = INDICES(call, 6), *roots = INDICES(call, 8);
    Index n_trees = LENGTH(call, 't'), n_nodes = LENGTH(call, 'm'), n_columns = LENGTH(call, 'c');
    Branch *waiting = malloc((size_t)(n_columns + 1) * sizeof *waiting);
    Index *settled = malloc((size_t)(n_columns + 1) * sizeof *settled);
    uint8_t *state = calloc((size_t)(n_columns + 1), 1);
    int done = waiting == NULL || settled == NULL || state == NULL ? NO_MEMORY : DONE;
    for (Index i = 0; done == DONE && i < LENGTH(call, 'n'); i++) {
        const float *row = (const float *)X->data + i * X->stride;
        const float *other = (const float *)Z->data + i * Z->stride;
        double *shares = (double *)out->data + i * out->stride;
        for (Index tree = 0; done == DONE && tree < n_trees; tree++) {
            Index n_waiting = 1, n_settled = 0, a = 0, steps = 0;
            waiting[0] = (Branch){roots[tree], 0, -1};
            while (n_waiting > 0 && done == DONE) {
                Branch branch = waiting[--n_waiting];
                while (n_settled > branch.settled) {
                    Index column = settled[--n_settled];
                    a -= state[column] == FROM_ROW;
                    state[column] = OPEN;
                }
                if (branch.column >= 0)
                    state[branch.column] = FROM_BASELINE, settled[n_settled++] = branch.column;
                Index at = branch.node;
                while (feature[at] >= 0 && steps++ < n_nodes) {
                    Index column = columns[feature[at]];
                    int ours = row[feature[at]] <= threshold[at];
                    int theirs = other[feature[at]] <= threshold[at];
                    if (state[column] == OPEN && ours != theirs) {
                        waiting[n_waiting++] =
                            (Branch){theirs ? left[at] : right[at], n_settled, column};
                        state[column] = FROM_ROW, settled[n_settled++] = column, a++;
                    }
                    at = (state[column] == FROM_BASELINE ? theirs : ours) ? left[at] : right[at];
                }
                if (feature[at] >= 0)
                    call->complaint = "a path through a tree does not end", done = REFUSED;
                else
                    add_leaf(value[at], settled, state, a, n_settled - a, shares);
            }
            while (n_settled > 0)
                state[settled[--n_settled]] = OPEN;
        }
        if (done == DONE && must_stop(call, 64 * n_trees))
            done = INTERRUPTED;
    }
    free(waiting), free(settled), free(state);
    return done;
}
