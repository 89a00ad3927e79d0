/* What every file of the core shares: types, limits, the arguments of a call.
 *
 * Variables are the signed ones, x = sign * alpha, in which every equality reads "the sum of x over
 * a group = its total". They are sorted by group: `starts` holds where the groups begin, and the
 * end. A variable may grow (it is *up*) below its upper bound and shrink (*low*) above its lower
 * one; with m = max over up of -gradient and M = min over low of -gradient a group is optimal when
 * m <= M.
 */
#ifndef SCARCE_CORE_H
#define SCARCE_CORE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t Index;

/* Each computing file is compiled once for every CPU level; its names end in the level's. */
#define JOINED_(a, b) a##_##b
#define JOINED(a, b) JOINED_(a, b)
#define AT_LEVEL(name) JOINED(name, LEVEL)

/* Limits that Python needs too: the module has each under its name. */
#define CONSTANTS(EACH)                                                                            \
    /* Share of a box, or of its group's mass if that is less, within which a value is at a bound: \
     * sums leave rounding errors. */                                                              \
    EACH(AT_BOUND, 1e-12)                                                                          \
    /* Share of a group's mass by which its equality may be off before it is mended. */            \
    EACH(BALANCED, 1e-13)                                                                          \
    /* Relative infeasibility that is rounding. */                                                 \
    EACH(FEASIBLE, 1e-11)                                                                          \
    /* Share of an objective's terms below which its value is rounding. */                         \
    EACH(ROUNDED_OBJECTIVE, 1e-12)                                                                 \
    /* Rounding of a slope, as a share of its terms. */                                            \
    EACH(ROUNDED_SLOPE, 7.105427357601002e-15)                                                     \
    /* Share of a linear term that a slope has to be known to. */                                  \
    EACH(RESOLVED, 1e-6)                                                                           \
    /* Share of its terms up to which a gradient is rounding. */                                   \
    EACH(ROUNDED_GRADIENT, 1e-14)                                                                  \
    /* Share of the tolerance that pairwise steps aim at. */                                       \
    EACH(GOAL, 0.3)                                                                                \
    /* Multiple of that goal at which the exact step is tried first. */                            \
    EACH(EARLY, 30.0)                                                                              \
    /* Share of the goal below which no better bounds are looked for. */                           \
    EACH(EXACT, 1e-6)                                                                              \
    /* Share of a violation by which rounding may move the gradient while steps close it. */       \
    EACH(LOST, 0.1)                                                                                \
    /* Steps per variable after which the exact gradient is asked for at the latest. */            \
    EACH(FOLLOWED, 4.0)                                                                            \
    /* Free variables for which a rank-revealing factorisation costs little. */                    \
    EACH(MOST_FREE, 256.0)                                                                         \
    /* Free variables beyond which steps to the goal take less time than two systems. */           \
    EACH(EARLY_FREE, 160.0)                                                                        \
    /* Smallest squared pivot, the matrix's largest diagonal entry being 1, of a regular system. */ \
    EACH(REGULAR, 1e-8)                                                                            \
    /* Exact steps in a row. */                                                                    \
    EACH(EXACT_STEPS, 8.0)                                                                         \
    /* Pairwise steps of a small program, after which the loop goes on. */                         \
    EACH(MOST_PAIRWISE, 20000.0)                                                                   \
    /* Goals that are tried to close the duality gap of a small program. */                        \
    EACH(MOST_GOALS, 3.0)

#define AS_CONSTANT(name, value) static const double name = value;
CONSTANTS(AS_CONSTANT)

enum { CHUNK = 64 }; /* variables per partial maximum; rows in a packed block */

/* What a register holds, wherever it lies in memory. */
#if defined(__AVX512F__)
enum { LANES = 8 };
#elif defined(__AVX__)
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif
typedef double Lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));

/* An argument: an array of one or two dimensions, or a number. */
typedef struct {
    void *data;
    void *copy;          /* of data across its borders; NULL for none */
    Index rows, columns; /* columns is 1 for one dimension */
    Index stride;        /* items from one row to the next */
    char type;           /* 'd' 'f' 'l' 'i' 'b' */
    double number;
    Index integer;
} Argument;

enum { MOST_ARGUMENTS = 40, MOST_RESULTS = 8 };

typedef struct Call {
    Argument arguments[MOST_ARGUMENTS];
    Index size[26]; /* what the letters of the dimensions stand for */
    char real;      /* 'd' or 'f', what "r" stands for */
    char index;     /* 'l' or 'i', what "j" stands for */
    double results[MOST_RESULTS];
    const char *complaint; /* of a call that is REFUSED */
    Index worked;          /* operations since the last look at the keyboard, about */
    void *thread;
} Call;

enum { DONE = 0, REFUSED, NO_MEMORY, INTERRUPTED };

typedef int (*Entry)(Call *);

typedef struct {
    const char *name, *parameters, *results;
    Entry entry;
} Function;

/* Operations after which a long loop looks whether somebody pressed Ctrl-C. */
enum { PATIENT = 1 << 26 };
int is_interrupted(Call *call); /* takes the GIL for a moment; in module.c */

static inline int must_stop(Call *call, Index work)
{
    call->worked += work;
    if (call->worked < PATIENT)
        return 0;
    call->worked = 0;
    return is_interrupted(call);
}

#define LENGTH(call, letter) ((call)->size[(letter) - 'a'])
#define DOUBLES(call, i) ((double *)(call)->arguments[i].data)
#define INDICES(call, i) ((Index *)(call)->arguments[i].data)
#define BYTES(call, i) ((uint8_t *)(call)->arguments[i].data)

typedef struct {
    const double *lower, *upper, *widths;
    const Index *starts;
    Index n, n_groups;
} Boxes;

/* The exact matrix sign_i values[lines_i, columns_k] sign_k, from which steps copy rows. A line is
 * -1 for a row that is absent. Without columns (NULL) they are the variables themselves. */
typedef struct {
    const double *values;
    Index stride;
    const Index *lines, *columns;
    const double *sign;
} Source;

/* The matrix scale[g_i, g_j] values[where[i], j] plus extra on the diagonal; where is -1 for a row
 * that is absent, diagonal is that of the whole. Values are float or double. */
typedef struct {
    void *values;
    Index stride;
    Index *where;
    const double *scale, *extra, *diagonal;
} StepMatrix;

/* What ends a run of steps early: a pair without curvature and without a bound, a missing row. */
typedef struct {
    Index pair[2], row;
} Met;

/* a * b + c, rounded once where the level can: what is fused is in the text, not the compiler's choice,
 * and levels that can give the same bits. */
static inline double fused(double a, double b, double c)
{
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double lesser(double a, double b) { return a < b ? a : b; }
static inline int starts_are_whole(const Index *starts, Index n_groups, Index n)
{
    return starts[0] == 0 && starts[n_groups] == n;
}

/* Sums and scans of loose.c, whose order of additions the compiler may choose. */
#define dot AT_LEVEL(dot)
#define dot_four AT_LEVEL(dot_four)
double dot(const double *a, const double *b, Index n);
void dot_four(const double *a, Index stride, const double *b, Index n, double *sums);
#define scan_float AT_LEVEL(scan_float)
#define scan_double AT_LEVEL(scan_double)
#define partner_float AT_LEVEL(partner_float)
#define partner_double AT_LEVEL(partner_double)
#define SCANS(REAL, scan, partner)                                                                 \
    void scan(REAL *gradient, const REAL *row_i, const REAL *row_j, REAL delta,                    \
              const REAL *closed_up, const REAL *closed_low, Index n, REAL closed, REAL *tops,     \
              REAL *bottoms);                                                                      \
    Index partner(const REAL *gradient, const REAL *row, REAL twice, const REAL *own, REAL own_i,  \
                  REAL top, const REAL *closed_low, Index n, REAL tiny);
SCANS(float, scan_float, partner_float)
SCANS(double, scan_double, partner_double)

/* Pieces of the whole of a small program, which Python also calls one by one. */
#define steps_float AT_LEVEL(steps_float)
#define steps_double AT_LEVEL(steps_double)
#define follow AT_LEVEL(follow)
#define take_exact_steps AT_LEVEL(take_exact_steps)
#define tidy AT_LEVEL(tidy)
#define judge AT_LEVEL(judge)
Index steps_float(Call *, const StepMatrix *, const Boxes *, const Source *, double *gradient,
                  double *x, double tol, Index most, Met *met, int held);
Index steps_double(Call *, const StepMatrix *, const Boxes *, const Source *, double *gradient,
                   double *x, double tol, Index most, Met *met, int held);
int follow(const Source *, const double *scale, const double *extra, const Boxes *, const double *x,
           double *at, double *moved, double *gradient, const uint8_t *fixed, double worst[2]);
enum { SINGULAR = -1, TOO_MANY = 0, STEPPED = 1 };
int take_exact_steps(Call *, const Source *, const double *scale, const double *extra,
                     const Boxes *, double *gradient, double *x, Index most_free, int *found);
void tidy(const Boxes *, const double *totals, double *x);

/* A point, the one that the gradient belongs to, and both as steps have them. */
typedef struct {
    double *x, *at, *gradient, *local, *before, *scratch;
} State;

#define step_down AT_LEVEL(step_down)
int step_down(Call *, StepMatrix *, int *single, const Source *, const Boxes *, State *, double aim,
              Index limit, Index *steps, Met *met, int *reached);

/* What a judgement holds, beside the multipliers. */
typedef struct {
    double objective, plain_gap; /* the gap without any error */
    double gap, relative_gap, violation, infeasibility, relative_infeasibility;
} Verdict;

/* Bounds of the errors of kernel values: the bin of every variable, a table for two bins. */
typedef struct {
    const Index *codes;
    const double *errors;
    Index n_bins;
} ErrorBins;

int judge(const Source *, const double *x, const double *linear, const Boxes *,
          const double *totals, const double *coupling, const double *diagonal, const ErrorBins *,
          double *field, double *multipliers, Verdict *verdict);

#endif
