/* A small program from its first point to its certificate, and the pieces of that. */
#include "core.h"

/* sums += the rows times their weights, four at a time so that the sums are read less often. */
static void add_rows(double *restrict sums, const double *const *rows, const double *weights,
                     Index count, const Index *columns, Index n)
{
    Index j = 0;
    if (columns != NULL) {
        for (; j < count; j++)
            for (Index k = 0; k < n; k++)
                sums[k] = fused(weights[j], rows[j][columns[k]], sums[k]);
        return;
    }
    for (; j + 4 <= count; j += 4) {
        const double *restrict A = rows[j], *restrict B = rows[j + 1];
        const double *restrict C = rows[j + 2], *restrict D = rows[j + 3];
        double a = weights[j], b = weights[j + 1], c = weights[j + 2], d = weights[j + 3];
        for (Index k = 0; k < n; k++)
            sums[k] += fused(a, A[k], b * B[k]) + fused(c, C[k], d * D[k]);
    }
    for (; j < count; j++) {
        const double *restrict A = rows[j];
        for (Index k = 0; k < n; k++)
            sums[k] = fused(weights[j], A[k], sums[k]);
    }
}

/* How far a gradient is from optimal: the largest m - M of all variables, and of those that are not
 * fixed. */
static void find_worst(const Boxes *boxes, const double *x, const double *gradient,
                       const uint8_t *fixed, double worst[2])
{
    double total = 0.0;
    worst[0] = worst[1] = -INFINITY;
    for (Index g = 0; g < boxes->n_groups; g++) {
        double m[2] = {-INFINITY, -INFINITY}, M[2] = {INFINITY, INFINITY};
        for (Index k = boxes->starts[g]; k < boxes->starts[g + 1]; k++) {
            double wanted = -gradient[k];
            total += fabs(wanted);
            int both = fixed == NULL || !fixed[k] ? 2 : 1;
            if (x[k] < boxes->upper[k])
                for (int which = 0; which < both; which++)
                    m[which] = larger(m[which], wanted);
            if (x[k] > boxes->lower[k])
                for (int which = 0; which < both; which++)
                    M[which] = lesser(M[which], wanted);
        }
        for (int which = 0; which < 2; which++)
            worst[which] = larger(worst[which], m[which] - M[which]);
    }
    if (!(total < INFINITY)) /* no comparison with NaN would be true */
        worst[0] = worst[1] = INFINITY;
}

/* Bring a gradient from the point `at` to x, and say how far that is from optimal. Only rows of
 * variables that have moved are taken; `moved`, if given, adds up by how much. */
int follow(const Source *source, const double *scale, const double *extra, const Boxes *boxes,
           const double *x, double *at, double *moved, double *gradient, const uint8_t *fixed,
           double worst[2])
{
    const Index *starts = boxes->starts;
    Index n = boxes->n, n_groups = boxes->n_groups;
    double *sums = malloc((size_t)(2 * n + 1) * sizeof(double) + (size_t)n * sizeof(double *));
    if (sums == NULL)
        return NO_MEMORY;
    double *weights = sums + n;
    const double **rows = (const double **)(weights + n + 1);
    for (Index h = 0; h < n_groups; h++) {
        Index count = 0;
        for (Index k = starts[h]; k < starts[h + 1]; k++) {
            double change = x[k] - at[k];
            if (change == 0.0)
                continue;
            rows[count] = source->values + source->lines[k] * source->stride;
            weights[count++] = source->sign[k] * change;
            gradient[k] += extra[k] * change;
            if (moved != NULL)
                moved[k] += fabs(change);
            at[k] = x[k];
        }
        if (count == 0)
            continue;
        memset(sums, 0, (size_t)n * sizeof(double));
        add_rows(sums, rows, weights, count, source->columns, n);
        for (Index g = 0; g < n_groups; g++) {
            double factor = scale[g * n_groups + h];
            for (Index k = starts[g]; k < starts[g + 1]; k++)
                gradient[k] += factor * source->sign[k] * sums[k];
        }
    }
    free(sums);
    find_worst(boxes, x, gradient, fixed, worst);
    return DONE;
}

/* Put values at a bound up to rounding there; give what rounding took from a total back. */
void tidy(const Boxes *boxes, const double *totals, double *x)
{
    const double *lower = boxes->lower, *upper = boxes->upper;
    for (Index g = 0; g < boxes->n_groups; g++) {
        double mass = 0.0, total = 0.0, most = -1.0;
        Index best = -1;
        for (Index k = boxes->starts[g]; k < boxes->starts[g + 1]; k++)
            mass += fabs(x[k]);
        for (Index k = boxes->starts[g]; k < boxes->starts[g + 1]; k++) {
            double near = AT_BOUND * lesser(boxes->widths[k], mass);
            if (x[k] <= lower[k] + near)
                x[k] = lower[k];
            else if (x[k] >= upper[k] - near)
                x[k] = upper[k];
            total += x[k];
            double room = lesser(x[k] - lower[k], upper[k] - x[k]);
            if (room > most)
                most = room, best = k;
        }
        double missing = totals[g] - total;
        if (fabs(missing) > BALANCED * mass && most > fabs(missing))
            x[best] += missing;
    }
}

/* The point next to zero, each group's variables moved in order to its total. */
static void fill_groups(const Boxes *boxes, const double *totals, double *x)
{
    for (Index g = 0; g < boxes->n_groups; g++) {
        double missing = totals[g], mass = fabs(totals[g]);
        for (Index k = boxes->starts[g]; k < boxes->starts[g + 1]; k++) {
            x[k] = larger(lesser(boxes->upper[k], 0.0), boxes->lower[k]);
            missing -= x[k];
            mass += fabs(x[k]);
        }
        if (fabs(missing) <= 1e-12 * mass)
            continue;
        for (Index k = boxes->starts[g]; k < boxes->starts[g + 1]; k++) {
            double bound = missing > 0.0 ? boxes->upper[k] : boxes->lower[k];
            double room = fabs(bound - x[k]);
            if (room >= fabs(missing)) {
                x[k] += missing;
                break;
            }
            x[k] = bound;
            missing -= missing > 0.0 ? room : -room;
        }
    }
    tidy(boxes, totals, x);
}

/* Pairwise steps to `aim` by single precision rows, led by the exact gradient; double precision
 * when single gets lost. Returns DONE, an error, and whether it got there. */
int step_down(Call *call, StepMatrix *matrix, int *single, const Source *source,
              const Boxes *boxes, State *state, double aim, Index limit, Index *steps, Met *met,
              int *reached)
{
    Index n = boxes->n, taken = 0, most = 0;
    double seen = INFINITY;
    for (;;) {
        double worst[2];
        int failed = follow(source, matrix->scale, matrix->extra, boxes, state->x, state->at, NULL,
                            state->gradient, NULL, worst);
        if (failed)
            return failed;
        *reached = worst[0] <= aim;
        if (*reached)
            return DONE;
        /* Steps that end by themselves have closed what they see. */
        int lost = !(worst[0] < (taken < most ? 0.5 * seen : seen));
        for (Index k = 0; k < n; k++) {
            if (boxes->lower[k] < state->x[k] && state->x[k] < boxes->upper[k] && seen < INFINITY)
                lost = lost || !(fabs(state->local[k] - state->gradient[k]) <= LOST * seen);
            state->local[k] = state->gradient[k];
        }
        if (!(worst[0] < INFINITY) || *steps >= limit || met->pair[0] >= 0 || (lost && !*single))
            return DONE;
        if (lost) {
            *single = 0;
            for (Index k = 0; k < n; k++)
                matrix->where[k] = -1;
        }
        most = (Index)FOLLOWED * n < limit - *steps ? (Index)FOLLOWED * n : limit - *steps;
        seen = worst[0];
        taken = (*single ? steps_float : steps_double)(call, matrix, boxes, source, state->local,
                                                       state->x, aim, most, met, 0);
        if (taken < 0)
            return (int)-taken;
        *steps += taken;
    }
}

/* Steps, the exact step, and again while that finds better bounds. What is found: STEPPED, TOO_MANY
 * free variables for it, SINGULAR if there is no such step or steps do not get there. */
static int descend(Call *call, StepMatrix *matrix, int *single, const Source *source,
                   const Boxes *boxes, const double *totals, State *state, double goal, Index limit,
                   Index *steps, int *found)
{
    Index n = boxes->n;
    Met met = {{-1, -1}, -1};
    double aim = EARLY * goal, last = INFINITY, worst[2]; /* last: what the exact step left */
    double *x = state->x, *before = state->before;
    size_t bytes = (size_t)n * sizeof(double);
    for (;;) {
        int reached, failed = step_down(call, matrix, single, source, boxes, state, aim, limit,
                                        steps, &met, &reached);
        if (failed)
            return failed;
        *found = SINGULAR;
        if (!reached)
            return DONE;
        tidy(boxes, totals, x);
        failed = follow(source, matrix->scale, matrix->extra, boxes, x, state->at, NULL,
                        state->gradient, NULL, worst);
        if (failed)
            return failed;
        memcpy(before, x, bytes);
        memcpy(state->scratch, state->gradient, bytes);
        Index most = (Index)(aim > goal ? EARLY_FREE : MOST_FREE);
        failed = take_exact_steps(call, source, matrix->scale, matrix->extra, boxes, state->scratch,
                                  x, most, found);
        if (failed)
            return failed;
        if (*found == STEPPED) {
            double mass = 0.0;
            tidy(boxes, totals, x);
            failed = follow(source, matrix->scale, matrix->extra, boxes, x, state->at, NULL,
                            state->gradient, NULL, worst);
            if (failed)
                return failed;
            for (Index k = 0; k < n; k++)
                mass += fabs(x[k]) * matrix->diagonal[k];
            if (worst[0] <= larger(EXACT * goal, ROUNDED_GRADIENT * mass))
                return DONE;
            if (worst[0] < 0.5 * last) {
                /* Some bounds were wrong ones: steps find others, and there is another exact step. */
                aim = lesser(aim, 0.1 * worst[0]), last = worst[0];
                continue;
            }
            if (worst[0] <= goal)
                return DONE;
        }
        if (aim <= goal) {
            memcpy(x, before, bytes);
            *found = *found < TOO_MANY ? *found : TOO_MANY;
            return follow(source, matrix->scale, matrix->extra, boxes, x, state->at, NULL,
                          state->gradient, NULL, worst);
        }
        aim = goal, last = 0.0;
    }
}

/* Solve and judge; x holds a feasible point at first, if `given`, and the solution then. Results:
 * whether it is proved to be optimal, steps, and the verdict. */
int AT_LEVEL(solve_small)(Call *call)
{
    const Argument *values = &call->arguments[0], *space = &call->arguments[16];
    Index n = LENGTH(call, 'n'), n_groups = LENGTH(call, 'g');
    Source source = {values->data, values->stride, INDICES(call, 1),
                     call->arguments[2].rows > 0 ? INDICES(call, 2) : NULL, DOUBLES(call, 3)};
    const double *diagonal = DOUBLES(call, 4), *extra = DOUBLES(call, 5);
    const double *linear = DOUBLES(call, 6), *totals = DOUBLES(call, 11);
    const double *coupling = DOUBLES(call, 12);
    Boxes boxes = {DOUBLES(call, 7), DOUBLES(call, 8), DOUBLES(call, 9), INDICES(call, 10),
                   n, n_groups};
    ErrorBins bins = {INDICES(call, 13), DOUBLES(call, 14), LENGTH(call, 'k')};
    double *x = DOUBLES(call, 15), *field = DOUBLES(call, 17), *multipliers = DOUBLES(call, 18);
    double tol = call->arguments[19].number, share = 1.0;
    Index limit = call->arguments[20].integer, steps = 0;
    int given = (int)call->arguments[21].integer, optimal = 0, curved = 0, failed = DONE;
    if (!starts_are_whole(boxes.starts, n_groups, n))
        return call->complaint = "starts must begin with 0 and end with the number of variables",
               REFUSED;
    if (space->rows < n * n)
        return call->complaint = "space must have room for the square of the variables", REFUSED;
    if (source.columns == NULL && values->columns < n)
        return call->complaint = "rows of the matrix must have every variable", REFUSED;
    double *memory = malloc((size_t)(6 * n + 1) * sizeof(double) + (size_t)n * sizeof(Index));
    if (memory == NULL)
        return NO_MEMORY;
    State state = {x, memory, memory + n, memory + 2 * n, memory + 3 * n, memory + 4 * n};
    double *own = memory + 5 * n;
    Index *where = (Index *)(own + n + 1);
    if (!given)
        fill_groups(&boxes, totals, x);
    for (Index g = 0; g < n_groups; g++)
        for (Index k = boxes.starts[g]; k < boxes.starts[g + 1]; k++) {
            own[k] = coupling[g * n_groups + g] * diagonal[k] + extra[k];
            state.at[k] = 0.0, state.gradient[k] = state.local[k] = linear[k], where[k] = -1;
            curved = curved || extra[k] != 0.0;
        }
    StepMatrix matrix = {space->data, n, where, coupling, extra, own};
    Verdict verdict = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    int single = 1;
    for (int goals = 0; goals < (int)MOST_GOALS; goals++) {
        int found;
        failed = descend(call, &matrix, &single, &source, &boxes, totals, &state,
                         share * GOAL * tol, limit, &steps, &found);
        if (failed || found == SINGULAR || steps >= limit || curved)
            break;
        failed = judge(&source, x, linear, &boxes, totals, coupling, diagonal, &bins, field,
                       multipliers, &verdict);
        if (failed)
            break;
        optimal = verdict.violation <= tol && verdict.relative_gap <= tol &&
                  verdict.relative_infeasibility <= FEASIBLE;
        if (optimal || !(verdict.relative_gap > tol))
            break;
        share *= lesser(0.3, larger(1e-3, 0.3 * tol / verdict.relative_gap));
    }
    free(memory);
    call->results[0] = optimal, call->results[1] = (double)steps;
    call->results[2] = verdict.objective, call->results[3] = verdict.plain_gap;
    call->results[4] = verdict.relative_gap, call->results[5] = verdict.violation;
    call->results[6] = verdict.infeasibility, call->results[7] = verdict.relative_infeasibility;
    return failed;
}

int AT_LEVEL(follow_steps)(Call *call)
{
    const Argument *values = &call->arguments[0];
    Index n = LENGTH(call, 'n');
    Source source = {values->data, values->stride, INDICES(call, 1),
                     call->arguments[2].rows > 0 ? INDICES(call, 2) : NULL, DOUBLES(call, 3)};
    Boxes boxes = {DOUBLES(call, 6), DOUBLES(call, 7), NULL, INDICES(call, 8), n, LENGTH(call, 'g')};
    const double *x = DOUBLES(call, 9), *at = DOUBLES(call, 10);
    if (source.columns == NULL && values->columns < n)
        return call->complaint = "rows of the source must have every variable", REFUSED;
    for (Index k = 0; k < n; k++)
        if (x[k] != at[k] && source.lines[k] < 0)
            return call->complaint = "the rows of variables that moved must be there", REFUSED;
    return follow(&source, DOUBLES(call, 4), DOUBLES(call, 5), &boxes, x, DOUBLES(call, 10),
                  DOUBLES(call, 11), DOUBLES(call, 12), BYTES(call, 13), call->results);
}

int AT_LEVEL(tidy_point)(Call *call)
{
    Boxes boxes = {DOUBLES(call, 0), DOUBLES(call, 1), DOUBLES(call, 2), INDICES(call, 3),
                   LENGTH(call, 'n'), LENGTH(call, 'g')};
    tidy(&boxes, DOUBLES(call, 4), DOUBLES(call, 5));
    return DONE;
}

int AT_LEVEL(first_point)(Call *call)
{
    Boxes boxes = {DOUBLES(call, 0), DOUBLES(call, 1), DOUBLES(call, 2), INDICES(call, 3),
                   LENGTH(call, 'n'), LENGTH(call, 'g')};
    fill_groups(&boxes, DOUBLES(call, 4), DOUBLES(call, 5));
    return DONE;
}
