/* The optimum of a program whose rows come and go: steps for its active variables, and what that
 * proves of all of them.
 *
 * Kernel values of active rows are in slots of a square. A change of the normal vector by d moves the
 * gradient of any row by at most |d| sqrt(k(x, x)): variables at a bound that are further than that
 * from leaving it need not be looked at, the others are in doubt.
 */
#include "core.h"

/* Shares of the tolerance that steps aim at, until the gap is closed. */
static const double GOALS[] = {0.5, 0.05, 0.005};

enum { SOLVED = 0, NO_ROOM = 1, NOT_REACHED = 2 };

typedef struct {
    const Index *row_of, *groups;
    const double *last, *field, *lower, *upper, *linear, *sign;
    double *active, *x;
    Index n_slots, n, n_groups;
} Moving;

/* The program of a change of the active variables, sorted by group. */
typedef struct {
    double *lower, *upper, *widths, *linear, *sign, *zeros, *diagonal, *u, *before, *field;
    Index *slots, *starts, *codes, *where;
    Index n;
} Change;

static void sort_slots(const Moving *moving, Index *slots, Index *starts)
{
    Index count = 0;
    for (Index g = 0; g < moving->n_groups; g++) {
        starts[g] = count;
        for (Index k = 0; k < moving->n_slots; k++)
            if (moving->groups[moving->row_of[k]] == g)
                slots[count++] = k;
    }
    starts[moving->n_groups] = count;
}

static void state_change(const Moving *moving, Change *change)
{
    for (Index k = 0; k < change->n; k++) {
        Index slot = change->slots[k], row = moving->row_of[slot];
        change->zeros[k] = change->u[k] = 0.0, change->codes[k] = 0, change->where[k] = -1;
        double x = moving->x[row], sign = moving->sign[row];
        change->before[k] = x, change->sign[k] = sign;
        change->lower[k] = moving->lower[row] - x, change->upper[k] = moving->upper[row] - x;
        change->widths[k] = change->upper[k] - change->lower[k];
        change->linear[k] = fused(sign, moving->active[slot], moving->linear[row]);
    }
}

/* Give what a group lacks to the variables that gain most by it, one after the other. */
static int fill_lacking(const Change *change, Index g, double lacking)
{
    double *u = change->u;
    int grows = lacking > 0.0;
    double left = fabs(lacking);
    while (left > 0.0) {
        Index best = -1;
        double least = INFINITY;
        for (Index k = change->starts[g]; k < change->starts[g + 1]; k++) {
            double room = grows ? change->upper[k] - u[k] : u[k] - change->lower[k];
            double cost = grows ? change->linear[k] : -change->linear[k];
            if (room > 0.0 && cost < least)
                least = cost, best = k;
        }
        if (best < 0)
            return 0;
        double bound = grows ? change->upper[best] : change->lower[best];
        double room = fabs(bound - u[best]);
        if (room > left)
            u[best] += grows ? left : -left, left = 0.0;
        else
            u[best] = bound, left -= room;
    }
    return 1;
}

/* Steps that close the violation of the active variables to the goal. */
static int take_steps(Call *call, const Source *source, const Boxes *boxes, const Change *change,
                      const double *coupling, void *space, double *memory, double aim, Index limit,
                      Index *steps, int *reached)
{
    size_t bytes = (size_t)change->n * sizeof(double);
    State state = {change->u, memory, memory + change->n, memory + 2 * change->n, NULL, NULL};
    StepMatrix matrix = {space, change->n, change->where, coupling, change->zeros, change->diagonal};
    Met met = {{-1, -1}, -1};
    int single = 1;
    memset(state.at, 0, bytes);
    memcpy(state.gradient, change->linear, bytes);
    memcpy(state.local, change->linear, bytes);
    for (Index k = 0; k < change->n; k++)
        change->where[k] = -1;
    return step_down(call, &matrix, &single, source, boxes, &state, aim, limit, steps, &met, reached);
}

/* List the variables that are not active and may have left their conditions; `flags` is memory. Those
 * not listed meet them at the multipliers, so that they change neither m nor M beyond these. */
static Index list_doubts(const Moving *moving, double reach, const double *multipliers,
                         uint8_t *restrict flags, Index *doubt)
{
    Index n = moving->n, count = 0;
    const double *restrict x = moving->x, *restrict field = moving->field;
    const double *restrict lower = moving->lower, *restrict upper = moving->upper;
    const double *restrict linear = moving->linear, *restrict sign = moving->sign;
    if (moving->n_groups == 1) {
        double high = multipliers[0] - reach, low = multipliers[0] + reach;
        for (Index i = 0; i < n; i++) {
            double wanted = -fused(sign[i], field[i], linear[i]);
            flags[i] = ((x[i] < upper[i]) & !(wanted <= high)) | ((x[i] > lower[i]) & !(wanted >= low));
        }
    } else
        for (Index i = 0; i < n; i++) {
            double wanted = -fused(sign[i], field[i], linear[i]), own = multipliers[moving->groups[i]];
            flags[i] = ((x[i] < upper[i]) & !(wanted + reach <= own)) |
                       ((x[i] > lower[i]) & !(wanted - reach >= own));
        }
    for (Index k = 0; k < moving->n_slots; k++)
        flags[moving->row_of[k]] = 0;
    for (Index i = 0; i < n;) {
        uint64_t eight = 1;
        if (i + 8 <= n)
            memcpy(&eight, flags + i, 8);
        if (eight == 0) {
            i += 8;
            continue;
        }
        for (Index end = i + 8 < n ? i + 8 : n; i < end; i++)
            if (flags[i])
                doubt[count++] = i;
    }
    return count;
}

/* Results: SOLVED, NO_ROOM among the active variables for what totals lack, or NOT_REACHED; steps;
 * rows in doubt; of the whole program objective, gap without errors, gap; how far from its conditions
 * a row is that need not be looked at. */
int AT_LEVEL(solve_active)(Call *call)
{
    const Argument *values = &call->arguments[0], *space = &call->arguments[19];
    Index a = LENGTH(call, 'a'), n = LENGTH(call, 'n'), n_groups = LENGTH(call, 'g');
    Moving moving = {.row_of = INDICES(call, 1), .active = DOUBLES(call, 2), .last = DOUBLES(call, 3),
                     .x = DOUBLES(call, 4), .field = DOUBLES(call, 5), .lower = DOUBLES(call, 6),
                     .upper = DOUBLES(call, 7), .linear = DOUBLES(call, 8), .sign = DOUBLES(call, 9),
                     .groups = INDICES(call, 10), .n_slots = a, .n = n, .n_groups = n_groups};
    const double *square = DOUBLES(call, 0);
    double *lacking = DOUBLES(call, 11);
    double value_error = call->arguments[12].number, error = call->arguments[13].number;
    double largest = call->arguments[14].number, quadratic_before = call->arguments[15].number;
    double level = call->arguments[16].number, tol = call->arguments[17].number;
    Index limit = call->arguments[18].integer;
    double *multipliers = DOUBLES(call, 20), *above = DOUBLES(call, 21), *below = DOUBLES(call, 22);
    Index *doubt = INDICES(call, 23);
    if (space->rows < a * a)
        return call->complaint = "space must have room for the square of the slots", REFUSED;
    size_t doubles = (size_t)(13 * a + n_groups * n_groups);
    size_t indices = (size_t)(3 * a + n_groups + 1);
    char *memory = malloc(doubles * sizeof(double) + indices * sizeof(Index) + (size_t)n + 1);
    if (memory == NULL)
        return NO_MEMORY;
    double *room = (double *)memory;
    Change change = {room,         room + a,     room + 2 * a, room + 3 * a, room + 4 * a,
                     room + 5 * a, room + 6 * a, room + 7 * a, room + 8 * a, room + 9 * a,
                     NULL,         NULL,         NULL,         NULL,         a};
    double *scratch = room + 10 * a, *coupling = room + 13 * a;
    change.slots = (Index *)(coupling + n_groups * n_groups);
    change.codes = change.slots + a, change.where = change.codes + a;
    change.starts = change.where + a;
    uint8_t *flags = (uint8_t *)(change.starts + n_groups + 1);
    for (Index k = 0; k < n_groups * n_groups; k++)
        coupling[k] = 1.0;
    sort_slots(&moving, change.slots, change.starts);
    for (Index k = 0; k < a; k++)
        change.diagonal[k] = square[change.slots[k] * (values->stride + 1)];
    Source source = {square, values->stride, change.slots, n_groups == 1 ? NULL : change.slots,
                     change.sign};
    Boxes boxes = {change.lower, change.upper, change.widths, change.starts, a, n_groups};
    ErrorBins bins = {change.codes, &value_error, 1};
    Index steps = 0, doubts = 0;
    int status = NOT_REACHED, failed = DONE;
    double objective = NAN, far = NAN;
    Verdict verdict = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    for (int goal = 0; goal < 3; goal++) {
        int reached = 0;
        state_change(&moving, &change);
        for (Index g = 0; g < n_groups; g++)
            if (!fill_lacking(&change, g, lacking[g])) {
                status = NO_ROOM;
                goto end;
            }
        failed = take_steps(call, &source, &boxes, &change, coupling, space->data, scratch,
                            GOALS[goal] * tol, limit, &steps, &reached);
        if (failed)
            goto end;
        tidy(&boxes, lacking, change.u);
        failed = judge(&source, change.u, change.linear, &boxes, lacking, coupling, change.diagonal,
                       &bins, change.field, multipliers, &verdict);
        if (failed)
            goto end;
        /* The change is taken over; how far the normal vector is from where the field is known. */
        double squared = 0.0, moved = 0.0, quadratic = quadratic_before;
        for (Index g = 0; g < n_groups; g++) {
            above[g] = below[g] = multipliers[g];
            for (Index k = change.starts[g]; k < change.starts[g + 1]; k++) {
                Index slot = change.slots[k], row = moving.row_of[slot];
                double u = change.u[k], sign = change.sign[k];
                double x = u < change.upper[k] ? change.before[k] + u : moving.upper[row];
                moving.x[row] = x = u > change.lower[k] ? x : moving.lower[row];
                moving.active[slot] += change.field[k];
                double since = sign * (x - moving.last[slot]), old = moving.field[row];
                squared += since * (moving.active[slot] - old);
                quadratic += since * (moving.active[slot] + old);
                moved += fabs(since);
                level += moving.linear[row] * (x - change.before[k]);
                lacking[g] -= x - change.before[k];
                double wanted = -fused(sign, moving.active[slot], moving.linear[row]);
                if (x < moving.upper[row])
                    above[g] = larger(above[g], wanted);
                if (x > moving.lower[row])
                    below[g] = lesser(below[g], wanted);
            }
        }
        objective = 0.5 * quadratic + level;
        double size = larger(fabs(objective), fabs(objective - verdict.gap));
        if (verdict.gap <= tol * size && verdict.violation <= tol) {
            far = sqrt(larger(squared + error * moved, 0.0) * largest) + 2.0 * error;
            doubts = list_doubts(&moving, far, multipliers, flags, doubt);
            status = SOLVED;
            break;
        }
        if (steps >= limit)
            break;
    }
end:
    free(memory);
    call->results[0] = status, call->results[1] = (double)steps, call->results[2] = (double)doubts;
    call->results[3] = objective, call->results[4] = verdict.plain_gap, call->results[5] = verdict.gap;
    call->results[6] = far;
    return failed;
}
