/* The exact last step: with the active bounds known, the free variables solve a linear system. */
#include "core.h"

/* Replace the lower half of a matrix by its Cholesky factor; say whether it is regular. Four rows
 * at a time go over those above them. */
static int factorise(double *A, Index n, double least)
{
    for (Index first = 0; first < n; first += 4) {
        Index last = first + 4 <= n ? first + 4 : n;
        Index j = 0;
        if (last - first == 4)
            for (; j < first; j++) {
                double sums[4], pivot = A[j * n + j];
                dot_four(A + first * n, n, A + j * n, j, sums);
                for (Index i = 0; i < 4; i++)
                    A[(first + i) * n + j] = (A[(first + i) * n + j] - sums[i]) / pivot;
            }
        for (Index i = first; i < last; i++) {
            double *row = A + i * n;
            for (Index k = j; k < i; k++)
                row[k] = (row[k] - dot(row, A + k * n, k)) / A[k * n + k];
            double pivot = row[i] - dot(row, row, i);
            if (!(pivot >= least))
                return 0;
            row[i] = sqrt(pivot);
        }
    }
    return 1;
}

static void solve_in_place(const double *factor, Index n, double *b)
{
    for (Index i = 0; i < n; i++)
        b[i] = (b[i] - dot(factor + i * n, b, i)) / factor[i * n + i];
    for (Index i = n - 1; i >= 0; i--) {
        b[i] /= factor[i * n + i];
        for (Index k = 0; k < i; k++)
            b[k] = fused(-factor[i * n + k], b[i], b[k]);
    }
}

typedef struct {
    Index *free, *owner, *member; /* a free variable, its group, its group among those with any */
    double *system, *own, *answers, *schur, *beta, *sizes, *total;
} Space;

/* One step; found is STEPPED, SINGULAR, and *length how far it went. */
static int take_step(const Source *source, const double *scale, Index all_groups,
                     const double *extra, const Boxes *boxes, double *gradient, double *x, Index n,
                     Index n_groups, const Space *space, double *length)
{
    const Index *free = space->free, *owner = space->owner, *member = space->member;
    double *system = space->system, *own = space->own, *answers = space->answers;
    double *schur = space->schur, *beta = space->beta, *sizes = space->sizes;
    double *total = space->total, unit = 0.0;
    /* The system, twice: a factor takes the place of the lower half. Its diagonal apart. */
    for (Index a = 0; a < n; a++) {
        Index i = free[a];
        const double *row = source->values + source->lines[i] * source->stride;
        for (Index b = 0; b < n; b++) {
            Index k = free[b];
            double value = source->columns == NULL ? row[k] : row[source->columns[k]];
            system[a * n + b] =
                scale[owner[a] * all_groups + owner[b]] * source->sign[i] * source->sign[k] * value;
        }
        own[a] = system[a * n + a] + extra[i];
        unit = larger(unit, fabs(own[a]));
    }
    if (!(unit > 0.0))
        return SINGULAR;
    for (Index a = 0; a < n; a++) {
        for (Index b = 0; b < a; b++)
            system[a * n + b] /= unit;
        system[a * n + a] = own[a] / unit;
    }
    if (!factorise(system, n, REGULAR))
        return SINGULAR;
    /* Its answers to the gradient and to one of every group, and by how much of the latter the
     * former is off. */
    memset(answers, 0, (size_t)((n_groups + 1) * n) * sizeof(double));
    memset(schur, 0, (size_t)(n_groups * n_groups) * sizeof(double));
    for (Index g = 0; g < n_groups; g++)
        beta[g] = sizes[g] = total[g] = 0.0;
    for (Index a = 0; a < n; a++) {
        sizes[member[a]] += 1.0;
        total[member[a]] -= gradient[free[a]] / unit;
    }
    for (Index a = 0; a < n; a++) {
        Index g = member[a];
        answers[a] = -gradient[free[a]] / unit - total[g] / sizes[g];
        answers[(1 + g) * n + a] = 1.0;
    }
    for (Index g = 0; g <= n_groups; g++)
        solve_in_place(system, n, answers + g * n);
    for (Index a = 0; a < n; a++) {
        beta[member[a]] += answers[a];
        for (Index g = 0; g < n_groups; g++)
            schur[member[a] * n_groups + g] += answers[(1 + g) * n + a];
    }
    if (!factorise(schur, n_groups, 0.0))
        return SINGULAR;
    solve_in_place(schur, n_groups, beta);
    for (Index g = 0; g < n_groups; g++)
        total[g] = 0.0;
    for (Index a = 0; a < n; a++) {
        for (Index g = 0; g < n_groups; g++)
            answers[a] -= beta[g] * answers[(1 + g) * n + a];
        total[member[a]] += answers[a];
    }
    *length = 1.0;
    for (Index a = 0; a < n; a++) {
        Index k = free[a];
        /* Rounding must not add up in a group's sum. */
        double step = answers[a] - total[member[a]] / sizes[member[a]];
        if (!(fabs(step) < INFINITY))
            return SINGULAR;
        if (step > 0.0)
            *length = lesser(*length, (boxes->upper[k] - x[k]) / step);
        else if (step < 0.0)
            *length = lesser(*length, (boxes->lower[k] - x[k]) / step);
        answers[a] = step;
    }
    for (Index a = 0; a < n; a++) {
        Index k = free[a];
        double step = answers[a], target = x[k] + *length * step;
        /* The quotients that the length is the least of: products would be rounded otherwise. */
        if (step > 0.0 && (boxes->upper[k] - x[k]) / step <= *length)
            target = boxes->upper[k];
        else if (step < 0.0 && (boxes->lower[k] - x[k]) / step <= *length)
            target = boxes->lower[k];
        answers[a] = target - x[k];
        x[k] = target;
    }
    if (*length < 1.0)
        for (Index a = 0; a < n; a++)
            for (Index b = 0; b < n; b++) {
                double value = b > a ? system[a * n + b] : b == a ? own[a] : system[b * n + a];
                gradient[free[a]] += value * answers[b];
            }
    return STEPPED;
}

/* Newton steps on the free variables, each to the first bound met; x and the gradient of those
 * variables are changed. What is found: STEPPED, TOO_MANY free variables, or SINGULAR, a system
 * that is not regular and whose least-norm answer is not worth compiling. */
int take_exact_steps(Call *call, const Source *source, const double *scale, const double *extra,
                     const Boxes *boxes, double *gradient, double *x, Index most_free, int *found)
{
    const Index *starts = boxes->starts;
    Index n = 0, all = boxes->n_groups;
    for (Index k = 0; k < boxes->n; k++)
        n += boxes->lower[k] < x[k] && x[k] < boxes->upper[k];
    *found = n > most_free ? TOO_MANY : STEPPED;
    if (n == 0 || n > most_free)
        return DONE;
    size_t numbers = (size_t)(n * n + n + (all + 1) * n + all * all + 3 * all);
    double *memory = malloc(numbers * sizeof(double) + (size_t)(3 * n) * sizeof(Index));
    if (memory == NULL)
        return NO_MEMORY;
    Space space;
    space.system = memory, space.own = memory + n * n, space.answers = space.own + n;
    space.schur = space.answers + (all + 1) * n, space.beta = space.schur + all * all;
    space.sizes = space.beta + all, space.total = space.sizes + all;
    space.free = (Index *)(space.total + all), space.owner = space.free + n;
    space.member = space.owner + n;
    for (int step = 0; step < (int)EXACT_STEPS; step++) {
        Index count = 0, n_groups = 0;
        for (Index g = 0; g < all; g++) {
            Index code = n_groups;
            for (Index k = starts[g]; k < starts[g + 1]; k++)
                if (boxes->lower[k] < x[k] && x[k] < boxes->upper[k]) {
                    space.free[count] = k, space.owner[count] = g, space.member[count] = code;
                    n_groups = code + 1;
                    count++;
                }
        }
        if (count == 0)
            break;
        double length;
        *found = take_step(source, scale, all, extra, boxes, gradient, x, count, n_groups, &space,
                           &length);
        if (*found != STEPPED || length == 1.0)
            break;
        if (must_stop(call, count * count * count / 6)) {
            free(memory);
            return INTERRUPTED;
        }
    }
    free(memory);
    return DONE;
}

int AT_LEVEL(exact_steps)(Call *call)
{
    const Argument *values = &call->arguments[0];
    Index n = LENGTH(call, 'n');
    Source source = {values->data, values->stride, INDICES(call, 1),
                     call->arguments[2].rows > 0 ? INDICES(call, 2) : NULL, DOUBLES(call, 3)};
    Boxes boxes = {DOUBLES(call, 6), DOUBLES(call, 7), NULL, INDICES(call, 8), n, LENGTH(call, 'g')};
    const double *x = DOUBLES(call, 10);
    int found;
    if (source.columns == NULL && values->columns < n)
        return call->complaint = "rows of the source must have every variable", REFUSED;
    for (Index k = 0; k < n; k++)
        if (boxes.lower[k] < x[k] && x[k] < boxes.upper[k] && source.lines[k] < 0)
            return call->complaint = "the rows of free variables must be there", REFUSED;
    int state = take_exact_steps(call, &source, DOUBLES(call, 4), DOUBLES(call, 5), &boxes,
                                 DOUBLES(call, 9), DOUBLES(call, 10),
                                 call->arguments[11].integer, &found);
    call->results[0] = found;
    return state;
}
