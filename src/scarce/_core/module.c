/* The Python module: arguments are checked against the parameters that functions.def declares
 * (type, dimensions, strides, lengths, ranges of indices), and the GIL is released. */
#include "abi.h"
#include "core.h"

enum { MOST_FUNCTIONS = 64 };

typedef struct {
    char name[24];
    char type;    /* of functions.def */
    int written;  /* whether the array is an output */
    int n_dims;   /* 0 for a number */
    struct {
        char letter;   /* 0 for a fixed length, '*' for any */
        Index more;    /* n + 1: 1; a fixed length itself */
        int or_none;   /* n? */
    } dims[2];
    char range, limit; /* '<' '~' '^' and the letter behind it */
} Parameter;

typedef struct {
    const Function *function;
    Parameter parameters[MOST_ARGUMENTS];
    int n_parameters;
    PyMethodDef method;
} Bound;

static Bound bound[MOST_FUNCTIONS];

const Function *functions_of_cpu(const char **level);

int is_interrupted(Call *call)
{
    PyEval_RestoreThread(call->thread);
    int caught = PyErr_CheckSignals() != 0;
    call->thread = PyEval_SaveThread();
    return caught;
}

/* Read the parameters of a function as they are declared. */
static int read_parameters(Bound *b)
{
    const char *at = b->function->parameters;
    while (*at != 0) {
        if (*at == ' ') {
            at++;
            continue;
        }
        if (b->n_parameters == MOST_ARGUMENTS)
            return 0;
        Parameter *p = &b->parameters[b->n_parameters++];
        size_t length = 0;
        while (*at != ':' && length + 1 < sizeof p->name)
            p->name[length++] = *at++;
        if (*at++ != ':')
            return 0;
        if (*at == '=')
            p->written = 1, at++;
        p->type = *at++;
        if (*at == '[') {
            do {
                at++;
                int d = p->n_dims++;
                if (d == 2)
                    return 0;
                if (*at >= '0' && *at <= '9')
                    p->dims[d].more = *at++ - '0';
                else
                    p->dims[d].letter = *at++;
                if (*at == '+')
                    p->dims[d].more = at[1] - '0', at += 2;
                if (*at == '?')
                    p->dims[d].or_none = 1, at++;
            } while (*at == ',');
            if (*at++ != ']')
                return 0;
            if (*at == '<' || *at == '~' || *at == '^')
                p->range = at[0], p->limit = at[1], at += 2;
        }
    }
    return 1;
}

static const char *type_name(char type)
{
    switch (type) {
    case 'd': return "float64";
    case 'f': return "float32";
    case 'l': return "int64";
    case 'b': return "bool";
    case 'j': return "int32 or int64";
    default: return "float32 or float64";
    }
}

/* The letter of what a buffer holds, 0 if it is none of ours. */
static char type_of(const Py_buffer *view)
{
    const char *format = view->format == NULL ? "B" : view->format;
    if (*format == '@' || *format == '=' || *format == '<')
        format++;
    if (format[0] == 0 || format[1] != 0)
        return 0;
    switch (*format) {
    case 'd': return 'd';
    case 'f': return 'f';
    case '?': return 'b';
    case 'i': case 'l': case 'q': return view->itemsize == 8 ? 'l' : view->itemsize == 4 ? 'i' : 0;
    default: return 0;
    }
}

static int type_fits(Call *call, char wanted, char type)
{
    switch (wanted) {
    case 's': return type == 'd' || type == 'f';
    case 'r':
        if (call->real == 0 && (type == 'd' || type == 'f'))
            call->real = type;
        return type == call->real && type != 0;
    case 'j':
        if (call->index == 0 && (type == 'l' || type == 'i'))
            call->index = type;
        return type == call->index && type != 0;
    default: return type == wanted;
    }
}

/* Put a copy in the place of an array whose items lie across their borders, as those do that came
 * in a buffer with a header (from other processes, for instance); 0 if there is no memory. */
static int align(Call *call, int i, const Py_buffer *view)
{
    Argument *a = &call->arguments[i];
    if (a->rows == 0 || a->columns == 0)
        return 1;
    size_t items = (size_t)((a->rows - 1) * a->stride + a->columns);
    a->copy = malloc(items * (size_t)view->itemsize);
    if (a->copy == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    a->data = memcpy(a->copy, view->buf, items * (size_t)view->itemsize);
    return 1;
}

/* Take one argument; 0 with an exception set if it is not what was declared. */
static int take_argument(Call *call, const Bound *b, int i, PyObject *given, Py_buffer *view)
{
    const Parameter *p = &b->parameters[i];
    Argument *a = &call->arguments[i];
    const char *function = b->function->name;
    if (p->n_dims == 0) {
        if (p->type == 'D')
            a->number = PyFloat_AsDouble(given);
        else
            a->integer = PyLong_AsLongLong(given);
        if (PyErr_Occurred() == NULL)
            return 1;
        PyErr_Format(PyExc_TypeError, "%s: %s must be %s", function, p->name,
                     p->type == 'D' ? "a number" : "an integer of at most 64 bits");
        return 0;
    }
    if (PyObject_GetBuffer(given, view, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
        view->obj = NULL;
        PyErr_Format(PyExc_TypeError, "%s: %s must be an array of %s", function, p->name,
                     type_name(p->type));
        return 0;
    }
    if (p->written && view->readonly) {
        PyErr_Format(PyExc_ValueError, "%s: %s is written to, and must not be read-only", function,
                     p->name);
        return 0;
    }
    a->type = type_of(view);
    if (!type_fits(call, p->type, a->type)) {
        PyErr_Format(PyExc_TypeError, "%s: %s must be %s, got format '%s'", function, p->name,
                     type_name(p->type), view->format == NULL ? "B" : view->format);
        return 0;
    }
    if (view->ndim != p->n_dims) {
        PyErr_Format(PyExc_ValueError, "%s: %s must have %d dimensions, got %d", function, p->name,
                     p->n_dims, view->ndim);
        return 0;
    }
    Py_ssize_t last = view->ndim - 1;
    a->data = view->buf;
    int crosses = (uintptr_t)view->buf % (uintptr_t)view->itemsize != 0;
    if (crosses && p->written) {
        PyErr_Format(PyExc_ValueError, "%s: %s must be aligned to its items of %lld bytes", function,
                     p->name, (long long)view->itemsize);
        return 0;
    }
    a->rows = view->shape[0], a->columns = last == 0 ? 1 : view->shape[1];
    a->stride = last == 0 ? 1 : view->strides[0] / view->itemsize;
    int packed = view->shape[last] <= 1 || view->strides[last] == view->itemsize;
    int rows_fit = last == 0 || view->shape[0] <= 1 ||
                   (view->strides[0] % view->itemsize == 0 && a->stride >= a->columns) ||
                   (!p->written && view->strides[0] == 0);
    if (!packed || !rows_fit) {
        PyErr_Format(PyExc_ValueError, "%s: %s must be contiguous along its last dimension", function,
                     p->name);
        return 0;
    }
    for (int d = 0; d < p->n_dims; d++) {
        Index seen = view->shape[d], more = p->dims[d].more;
        char letter = p->dims[d].letter;
        if (letter == '*' || (p->dims[d].or_none && seen == 0))
            continue;
        Index *size = letter == 0 ? NULL : &LENGTH(call, letter);
        if (size != NULL && *size < 0)
            *size = seen > more ? seen - more : 0;
        Index wanted = size == NULL ? more : *size + more;
        if (seen != wanted) {
            PyErr_Format(PyExc_ValueError, "%s: dimension %d of %s must be %lld, got %lld", function,
                         d, p->name, (long long)wanted, (long long)seen);
            return 0;
        }
    }
    return !crosses || align(call, i, view);
}

/* Look at every index; 0 with an exception set if one lies outside its range. */
static int indices_fit(Call *call, const Bound *b, int i)
{
    const Parameter *p = &b->parameters[i];
    if (p->range == 0)
        return 1;
    const Index *values = call->arguments[i].data;
    Index n = call->arguments[i].rows, limit = LENGTH(call, p->limit), least = p->range == '~' ? -1 : 0;
    Index most = p->range == '^' ? limit : limit - 1, before = 0;
    for (Index k = 0; k < n; k++) {
        int wrong = values[k] < least || values[k] > most;
        if (p->range == '^')
            wrong = wrong || values[k] < before, before = values[k];
        if (wrong) {
            PyErr_Format(PyExc_ValueError, "%s: %s must lie in %lld .. %lld%s, got %lld at %lld",
                         b->function->name, p->name, (long long)least, (long long)most,
                         p->range == '^' ? " and not fall" : "", (long long)values[k],
                         (long long)k);
            return 0;
        }
    }
    return 1;
}

static PyObject *one_result(char kind, double value)
{
    return kind == 'i' ? PyLong_FromLongLong((long long)value) : PyFloat_FromDouble(value);
}

static PyObject *results_of(const Call *call, const char *kinds)
{
    Py_ssize_t n = (Py_ssize_t)strlen(kinds);
    if (n == 0)
        return Py_BuildValue("");
    if (n == 1)
        return one_result(kinds[0], call->results[0]);
    PyObject *all = PyTuple_New(n);
    for (Py_ssize_t k = 0; all != NULL && k < n; k++) {
        PyObject *one = one_result(kinds[k], call->results[k]);
        if (one == NULL || PyTuple_SetItem(all, k, one) != 0) {
            Py_DecRef(all);
            return NULL;
        }
    }
    return all;
}

static PyObject *run(PyObject *self, PyObject *const *given, Py_ssize_t count)
{
    const Bound *b = PyCapsule_GetPointer(self, NULL);
    if (b == NULL)
        return NULL;
    if (count != b->n_parameters)
        return PyErr_Format(PyExc_TypeError, "%s takes %d arguments, got %lld", b->function->name,
                            b->n_parameters, (long long)count);
    Call call;
    Py_buffer views[MOST_ARGUMENTS];
    PyObject *answer = NULL;
    int state = DONE, taken = 0, fits = 1;
    memset(&call, 0, sizeof call);
    for (int k = 0; k < 26; k++)
        call.size[k] = -1;
    while (fits && taken < count) {
        views[taken].obj = NULL;
        fits = take_argument(&call, b, taken, given[taken], &views[taken]);
        taken++;
    }
    for (int i = 0; fits && i < count; i++)
        fits = indices_fit(&call, b, i);
    if (fits) {
        call.thread = PyEval_SaveThread();
        state = b->function->entry(&call);
        PyEval_RestoreThread(call.thread);
        if (state == DONE)
            answer = results_of(&call, b->function->results);
        else if (state == NO_MEMORY)
            PyErr_NoMemory();
        else if (state == REFUSED)
            PyErr_Format(PyExc_ValueError, "%s: %s", b->function->name, call.complaint);
        /* else INTERRUPTED: the exception is set */
    }
    while (taken-- > 0) {
        free(call.arguments[taken].copy);
        if (b->parameters[taken].n_dims > 0 && views[taken].obj != NULL)
            PyBuffer_Release(&views[taken]);
    }
    return answer;
}

static int add_functions(PyObject *module, const Function *functions)
{
    for (int k = 0; functions[k].name != NULL; k++) {
        Bound *b = &bound[k];
        if (k == MOST_FUNCTIONS)
            return 0;
        if (b->function == NULL) {
            b->function = &functions[k];
            if (!read_parameters(b))
                return 0;
            b->method = (PyMethodDef){functions[k].name, (PyCFunction)(void (*)(void))run,
                                      METH_FASTCALL, functions[k].parameters};
        }
        PyObject *capsule = PyCapsule_New(b, NULL, NULL);
        PyObject *function = capsule == NULL ? NULL : PyCFunction_NewEx(&b->method, capsule, NULL);
        if (capsule != NULL)
            Py_DecRef(capsule);
        int failed = function == NULL || PyModule_AddObjectRef(module, functions[k].name, function);
        if (function != NULL)
            Py_DecRef(function);
        if (failed)
            return 0;
    }
    return 1;
}

static int add_number(PyObject *module, const char *name, double value)
{
    PyObject *number = PyFloat_FromDouble(value);
    int failed = number == NULL || PyModule_AddObjectRef(module, name, number) != 0;
    if (number != NULL)
        Py_DecRef(number);
    return failed;
}

static int fill_module(PyObject *module)
{
    const char *level;
    const Function *functions = functions_of_cpu(&level);
    if (!add_functions(module, functions)) {
        if (PyErr_Occurred() == NULL)
            PyErr_Format(PyExc_ImportError, "a function of functions.def is not well declared");
        return -1;
    }
#define ADD_CONSTANT(name, value)                                                                  \
    if (add_number(module, #name, name) != 0)                                                      \
        return -1;
    CONSTANTS(ADD_CONSTANT)
    if (PyModule_AddStringConstant(module, "LEVEL", level) != 0)
        return -1;
    return PyModule_AddStringConstant(module, "SOURCES", SOURCES);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)fill_module}, {0, NULL}};
static PyModuleDef definition = {
    {{1, NULL}, NULL, 0, NULL}, "scarce._core._library", NULL, 0, NULL, slots, NULL, NULL, NULL};

EXPORTED PyObject *PyInit__library(void);
PyObject *PyInit__library(void) { return PyModuleDef_Init(&definition); }
