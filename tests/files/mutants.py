"""Changes of a model file: of numbers, shapes, types, names, members; checksums stay right."""

import io
import json
import zipfile

import numpy as np

NUMBERS = (
    *(0, -1, 1, 2, 41, 10**6, 10**8, 2**31 - 1, 2**40, -(2**31), 0.5),
    *(float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 1e-320, 1e160),
)
JSON_LEAVES = (
    *("0", "-1", "3", "1000000", "100000000", "NaN", "Infinity", "1e308", "-0.5", "null", "true"),
    *('"rbf"', '"precomputed"', '"linear"', '"poly"', '"training"', '"x"', '""', "[]"),
)
STRANGERS = (
    *(("os", "system"), ("builtins", "eval"), ("subprocess", "Popen"), ("pickle", "loads")),
    *(("sklearn.svm._classes", "SVC"), ("numpy", "memmap"), ("pathlib", "Path")),
    *(("scipy.sparse", "csr_matrix"), ("scarce", "DriftMonitor"), ("scarce", "SVC")),
)
LOADERS = (
    *("ObjectNode", "FunctionNode", "MethodNode", "TypeNode", "PartialNode", "ReduceNode"),
    *(
        "JsonNode",
        "NdArrayNode",
        "SparseMatrixNode",
        "DictNode",
        "ListNode",
        "BytesNode",
        "nothing",
    ),
)
FAR = ("../../../../etc/passwd", "/etc/passwd", "schema.json", "scarce.json", "")
MANY_BYTES = 120_000_000  # of one value, which pack to a thousandth
TYPES = ("<f4", ">f8", "<i4", "<i8", "<i2", "<u8", "?", "<c16", "<U3", "S4", "<f2", "<f16", "V8")


def mutant(content, random):
    """Return a changed file and what was changed."""
    members = _members(content)
    arrays = [name for name in members if name.endswith(".npy")]
    changes = [_schema_leaf, _schema_key, _schema_swap, _stranger, _card, _member, _bytes]
    if arrays:
        changes += [_array] * 8
    change = changes[random.integers(len(changes))]
    told = change(members, arrays, random)
    return _packed(members), told


def _members(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _packed(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def _array(members, arrays, random):
    name = arrays[random.integers(len(arrays))]
    values = np.load(io.BytesIO(members[name]))
    change = ALTERED[random.integers(len(ALTERED))]
    with np.errstate(all="ignore"):
        try:
            altered = change(values, random)
        except (TypeError, ValueError, IndexError, OverflowError):
            altered = np.zeros(0)
    out = io.BytesIO()
    np.save(out, altered, allow_pickle=False)
    members[name] = out.getvalue()
    kinds = [f"{each.dtype}{each.shape}" for each in (values, altered)]
    return f"{change.__name__} of {name}: {' to '.join(kinds)}"


def one_value(values, random):
    altered = values.copy()
    altered.flat[random.integers(values.size)] = NUMBERS[random.integers(len(NUMBERS))]
    return altered


def all_values(values, random):
    altered = values.copy()
    altered[...] = NUMBERS[random.integers(len(NUMBERS))]
    return altered


def alternating(values, random):
    """Return the largest numbers of either sign, whose sums are NaN."""
    signs = np.where(np.arange(values.size) % 2, 1.0, -1.0)
    return (1e308 * signs).reshape(values.shape).astype(values.dtype)


def scaled(values, random):
    return (values * random.choice([0, -1, 1e3, 1e200, 1e-200])).astype(values.dtype)


def shorter(values, random):
    return np.delete(values, random.integers(values.shape[-1]), axis=-1)


def fewer_rows(values, random):
    return values[: random.integers(len(values))]


def longer(values, random):
    return np.concatenate([values, values[..., :1]], axis=-1)


def much_longer(values, random):
    return np.resize(values, (*values.shape[:-1], 10_000))


def flat(values, random):
    return values.ravel()


def deeper(values, random):
    return values[None]


def turned(values, random):
    return np.asfortranarray(values) if random.random() < 0.5 else values.T


def empty(values, random):
    return values[:0]


def shuffled(values, random):
    return random.permutation(values, axis=-1)


def of_another_type(values, random):
    return values.astype(TYPES[random.integers(len(TYPES))])


ALTERED = (
    *(
        one_value,
        one_value,
        one_value,
        all_values,
        alternating,
        scaled,
        shorter,
        fewer_rows,
        longer,
    ),
    *(much_longer, flat, deeper, turned, empty, shuffled, of_another_type),
)


def _nodes(tree, found=None):
    """Return every (container, key) of a JSON tree."""
    found = [] if found is None else found
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        found.append((tree, key))
        if isinstance(value, dict | list):
            _nodes(value, found)
    return found


def _schema_leaf(members, arrays, random):
    tree = json.loads(members["schema.json"])
    leaves = [
        (box, key)
        for box, key in _nodes(tree)
        if key == "content" and isinstance(box[key], str) and box.get("__loader__") == "JsonNode"
    ]
    box, key = leaves[random.integers(len(leaves))]
    before, box[key] = box[key], JSON_LEAVES[random.integers(len(JSON_LEAVES))]
    box["__id__"] = 1  # equal values share one, and with it what it stands for
    members["schema.json"] = json.dumps(tree).encode()
    return f"schema: a value {before[:40]} to {box[key]}"


def _schema_key(members, arrays, random):
    tree = json.loads(members["schema.json"])
    nodes = [(box, key) for box, key in _nodes(tree) if isinstance(box, dict)]
    box, key = nodes[random.integers(len(nodes))]
    value = box.pop(key)
    if random.random() < 0.5:
        other = nodes[random.integers(len(nodes))][1]
        box[other] = value
        told = f"schema: {key} renamed to {other}"
    else:
        told = f"schema: {key} removed"
    members["schema.json"] = json.dumps(tree).encode()
    return told


def _schema_swap(members, arrays, random):
    """Swap two parts of the description: arrays, learners, classes, numbers."""
    tree = json.loads(members["schema.json"])
    nodes = _nodes(tree)
    kind = random.choice(["file", "__class__", "content", "any"])
    nodes = [each for each in nodes if kind in ("any", each[1])] or nodes
    (box, key), (other, place) = (nodes[random.integers(len(nodes))] for _ in range(2))
    try:
        box[key], other[place] = other[place], box[key]
        members["schema.json"] = json.dumps(tree).encode()
    except (KeyError, IndexError, ValueError, RecursionError):
        return "nothing"
    return f"schema: {key} and {place} swapped"


def _stranger(members, arrays, random):
    """Ask for a class, a way of loading or a file that is none of the model's."""
    tree = json.loads(members["schema.json"])
    key = random.choice(["__class__", "__loader__", "file"])
    boxes = [box for box, each in _nodes(tree) if each == key and isinstance(box, dict)]
    if not boxes:
        return "nothing"
    box = boxes[random.integers(len(boxes))]
    if key == "__class__":
        box["__module__"], box[key] = STRANGERS[random.integers(len(STRANGERS))]
    else:
        box[key] = str(random.choice(LOADERS if key == "__loader__" else FAR))
    members["schema.json"] = json.dumps(tree).encode()
    return f"schema: {key} of {box.get('__module__')} is {box[key]}"


def _card(members, arrays, random):
    tree = json.loads(members["scarce.json"])
    nodes = _nodes(tree)
    box, key = nodes[random.integers(len(nodes))]
    box[key] = json.loads(JSON_LEAVES[random.integers(len(JSON_LEAVES))])
    members["scarce.json"] = json.dumps(tree).encode()
    return f"card: {key} to {box[key]!r}"


def _member(members, arrays, random):
    names = list(members)
    name, other = (names[random.integers(len(names))] for _ in range(2))
    kind = random.choice(["removed", "copied", "traversal", "nested", "bomb"])
    if kind == "removed":
        del members[name]
    elif kind == "copied":
        members[name] = members[other]
    elif kind == "traversal":
        members["../" * 8 + "tmp/traversal"] = members.pop(name)
    elif kind == "nested":
        members[name] = _packed({"a.npy": members[other]})
    else:
        members[name] = members[other] + bytes(MANY_BYTES)
    return f"member {name} {kind} ({other})"


def _bytes(members, arrays, random):
    names = list(members)
    name = names[random.integers(len(names))]
    content = bytearray(members[name])
    # The header of an array above all.
    end = len(content) if random.random() < 0.5 else min(len(content), 128)
    for _ in range(random.integers(1, 4)):
        content[random.integers(end)] = random.integers(256)
    members[name] = bytes(content)
    return f"bytes of {name}"
