/* The part of Python's stable interface (3.11 and later) that the module uses, declared here so that
 * no Python headers are needed to build it. `tests/core` compares it with the real ones. */
#ifndef SCARCE_ABI_H
#define SCARCE_ABI_H

#include <stdint.h>

#if defined(_WIN32)
#define PYTHON_DATA extern __declspec(dllimport)
#define EXPORTED __declspec(dllexport)
#else
#define PYTHON_DATA extern
#define EXPORTED __attribute__((visibility("default")))
#endif

typedef intptr_t Py_ssize_t;
typedef struct {
    Py_ssize_t ob_refcnt;
    void *ob_type;
} PyObject;

typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    char *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
} Py_buffer;

typedef PyObject *(*PyCFunction)(PyObject *, PyObject *);

typedef struct {
    const char *ml_name;
    PyCFunction ml_meth;
    int ml_flags;
    const char *ml_doc;
} PyMethodDef;

typedef struct {
    int slot;
    void *value;
} PyModuleDef_Slot;

typedef struct {
    PyObject ob_base;
    PyObject *(*m_init)(void);
    Py_ssize_t m_index;
    PyObject *m_copy;
} PyModuleDef_Base;

typedef struct {
    PyModuleDef_Base m_base;
    const char *m_name, *m_doc;
    Py_ssize_t m_size;
    PyMethodDef *m_methods;
    PyModuleDef_Slot *m_slots;
    void *m_traverse, *m_clear, *m_free;
} PyModuleDef;

#define METH_FASTCALL 0x0080
#define PyBUF_FORMAT 0x0004
#define PyBUF_STRIDES 0x0018
#define Py_mod_exec 2

PYTHON_DATA PyObject *PyExc_ImportError, *PyExc_TypeError, *PyExc_ValueError;
int PyObject_GetBuffer(PyObject *, Py_buffer *, int);
void PyBuffer_Release(Py_buffer *);
double PyFloat_AsDouble(PyObject *);
PyObject *PyFloat_FromDouble(double);
long long PyLong_AsLongLong(PyObject *);
PyObject *PyLong_FromLongLong(long long);
PyObject *PyErr_Format(PyObject *, const char *, ...);
PyObject *PyErr_NoMemory(void);
PyObject *PyErr_Occurred(void);
int PyErr_CheckSignals(void);
void *PyEval_SaveThread(void);
void PyEval_RestoreThread(void *);
PyObject *PyTuple_New(Py_ssize_t);
int PyTuple_SetItem(PyObject *, Py_ssize_t, PyObject *);
PyObject *Py_BuildValue(const char *, ...);
PyObject *PyCFunction_NewEx(PyMethodDef *, PyObject *, PyObject *);
PyObject *PyCapsule_New(void *, const char *, void (*)(PyObject *));
void *PyCapsule_GetPointer(PyObject *, const char *);
int PyModule_AddObjectRef(PyObject *, const char *, PyObject *);
int PyModule_AddStringConstant(PyObject *, const char *, const char *);
PyObject *PyModuleDef_Init(PyModuleDef *);
void Py_DecRef(PyObject *);

#endif
