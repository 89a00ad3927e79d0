"""The table of the data sets named in the papers: what each holds and how to get it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from string import ascii_uppercase
from types import MappingProxyType

UCI = "UCI Machine Learning Repository (archive.ics.uci.edu)"
CC_BY = "CC BY 4.0"
RESEARCH = "research use only, not for redistribution"
CAI = "the 32 x 32 crops of Cai et al. (Four Face Databases in Matlab Format)"
AS_TABLE = "; as gzip CSV with a header, the label last in a column `target`, missing fields empty"
AS_LINES = "; as gzip JSON lines with the fields "


@dataclass(frozen=True)
class Entry:
    """What is known of one data set."""

    file: str
    """Name of the file; empty for a set that comes with scikit-learn only."""
    rows: int
    shape: tuple[int, ...]
    """Shape of one row; empty for a text."""
    classes: Mapping[str, int] | Mapping[int, int]
    """Rows of each class; for Reuters the documents with a label of each kind."""
    origin: str
    """Where it comes from: how to get it."""
    licence: str
    sha256: str = ""
    """Of the file our results were computed from. Other files of the same content will do."""
    openml: int | None = None
    """Number of the same set at OpenML, for downloading."""
    openml_labels: Mapping[str, str] = field(default_factory=dict)
    """OpenML's labels, where they differ, and ours."""
    nominal: tuple[str, ...] = ()
    """Features whose numbers are names."""
    note: str = ""


def _each(names: range | str, count: int, **exceptions: int) -> dict[str, int]:
    return {str(name): count for name in names} | exceptions


def _people(n: int, images: int, exceptions: dict[int, int] | None = None) -> dict[int, int]:
    return {person: images for person in range(1, n + 1)} | (exceptions or {})


def _letters(counts: str) -> dict[str, int]:
    return dict(zip(ascii_uppercase, map(int, counts.split()), strict=True))


_ENTRIES = {
    "letter": Entry(
        "letter.csv.gz",
        20000,
        (16,),
        _letters(
            "789 766 736 805 768 775 773 734 755 747 739 761 792 783 753 803 783 758 748 796 813 "
            "764 752 787 786 734"
        ),
        f"Letter Recognition, {UCI}{AS_TABLE}",
        CC_BY,
        "4453f46b6eb1af86ee6e53eaa61d023a7c2d6f4fc43fb2930157427dfbc99679",
        openml=6,
    ),
    "breast_cancer_wisconsin_original": Entry(
        "breast_cancer_wisconsin_original.csv.gz",
        699,
        (9,),
        {"benign": 458, "malignant": 241},
        f"Breast Cancer Wisconsin (Original), {UCI}{AS_TABLE}, without the column of numbers",
        CC_BY,
        "1a26f56b99c435f96ffa2b0ab28c15e8f9464aa826f0980dc5e240f2cebe779c",
        openml=15,
        note="683 complete rows: 444 benign, 239 malignant",
    ),
    "mushroom": Entry(
        "mushroom.csv.gz",
        8124,
        (22,),
        {"e": 4208, "p": 3916},
        f"Mushroom, {UCI}{AS_TABLE}",
        CC_BY,
        "be5a393b241cd77cc4083dd7380590877f830e38eb6a8ac1c0fa5e8be5a90641",
        openml=24,
    ),
    "ionosphere": Entry(
        "ionosphere.csv.gz",
        351,
        (34,),
        {"b": 126, "g": 225},
        f"Ionosphere, {UCI}{AS_TABLE}",
        CC_BY,
        "fddace40f65a12b5f85b250bdc611903abe180f95b3648e160bc4866aaa44ed8",
        openml=59,
    ),
    "sonar": Entry(
        "sonar.csv.gz",
        208,
        (60,),
        {"M": 111, "R": 97},
        f"Connectionist Bench (Sonar, Mines vs. Rocks), {UCI}{AS_TABLE}",
        CC_BY,
        "c608f80fd845f27b4c04f625fa93102e650e99ce085e23525daa9b5489adb9f9",
        openml=40,
        openml_labels={"Mine": "M", "Rock": "R"},
    ),
    "heart_cleveland": Entry(
        "heart_cleveland.csv.gz",
        303,
        (13,),
        {"0": 164, "1": 55, "2": 36, "3": 35, "4": 13},
        f"Heart Disease (processed.cleveland.data), {UCI}{AS_TABLE}",
        CC_BY,
        "b2a6abb64ddcb0d2573d1be28610471d466a085aeac0ad8cf04ffb60e7e6cc8e",
        nominal=("cp", "restecg", "slope", "thal"),
        note="no download: OpenML's heart-c has other class counts; 297 complete rows, 160 with 0",
    ),
    "australian_credit": Entry(
        "australian_credit.csv.gz",
        690,
        (14,),
        {"0": 383, "1": 307},
        f"Statlog (Australian Credit Approval), {UCI}{AS_TABLE}",
        CC_BY,
        "8d8229d0b1ef9421c2d6fac6411be7f4325a8118b02c53884f0415e421045318",
        openml=40981,
    ),
    "house_votes_84": Entry(
        "house_votes_84.csv.gz",
        435,
        (16,),
        {"democrat": 267, "republican": 168},
        f"Congressional Voting Records, {UCI}{AS_TABLE}",
        CC_BY,
        "43cf35a7747aa567579ad004b018b5cf7f89efe8fd02d3dd0bd5baf7bff4c4c3",
        openml=56,
    ),
    "iris": Entry(
        "iris.csv.gz",
        150,
        (4,),
        {"Iris-setosa": 50, "Iris-versicolor": 50, "Iris-virginica": 50},
        f"Iris, {UCI}{AS_TABLE}; comes with scikit-learn",
        CC_BY,
        "35d2c2e595b64928f8720ecb75f9a79442f2ebd49c7e5296eac498df1579fc19",
        note="the UCI text differs from scikit-learn's, which is Fisher's, in three cells",
    ),
    "digits": Entry(
        "",
        1797,
        (64,),
        dict(
            zip(
                map(str, range(10)), (178, 182, 177, 183, 181, 182, 181, 179, 174, 180), strict=True
            )
        ),
        "Optical Recognition of Handwritten Digits (test part); comes with scikit-learn",
        CC_BY,
    ),
    "wdbc": Entry(
        "",
        569,
        (30,),
        {"benign": 357, "malignant": 212},
        "Breast Cancer Wisconsin (Diagnostic); comes with scikit-learn",
        CC_BY,
    ),
    "isolet": Entry(
        "isolet.npz",
        7797,
        (617,),
        _each(ascii_uppercase, 300, F=298, M=299),
        f"ISOLET, {UCI}; as NumPy archive with the arrays X (float32), y (letter) and group (1 to "
        "5, the file a row is from)",
        CC_BY,
        "9d986e33c4847273d998a34a435cafb126b4dd3b70f02baec97549bb45cc7041",
        openml=300,
        openml_labels={str(i + 1): letter for i, letter in enumerate(ascii_uppercase)},
        note="a download has no groups, and another order of rows, so a seed draws other rows",
    ),
    "imports_85": Entry(
        "imports_85.csv.gz",
        205,
        (25,),
        {"-2": 3, "-1": 22, "0": 67, "1": 54, "2": 32, "3": 27},
        f"Automobile, {UCI}{AS_TABLE}, which is symboling",
        CC_BY,
        "f95ea8b0d1fafcad2fd65da2a85b6f16d433bbfb72ae03a29a19b7801cc4e499",
        openml=9,
        note="159 complete rows, 88 with symboling above 0",
    ),
    "wpbc": Entry(
        "wpbc.csv.gz",
        198,
        (33,),
        {"N": 151, "R": 47},
        f"Breast Cancer Wisconsin (Prognostic), {UCI}{AS_TABLE}, without the column of numbers",
        CC_BY,
        "22e91c3048243703a6300bf40aa3b3debf5b63a852b8bf35bbfc8396b0cc81f9",
    ),
    "arrhythmia": Entry(
        "arrhythmia.csv.gz",
        452,
        (279,),
        dict(
            zip(
                ("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "14", "15", "16"),
                (245, 44, 15, 15, 13, 25, 3, 2, 9, 50, 4, 5, 22),
                strict=True,
            )
        ),
        f"Arrhythmia, {UCI}{AS_TABLE}",
        CC_BY,
        "659aa1019b359e22c0b3268a2d206fa7c5131540a87f0be41378186ca6672dd2",
        openml=5,
        note="without the feature angle_J, missing in 376 rows, 420 rows are complete",
    ),
    "20newsgroups": Entry(
        "20newsgroups_bydate.jsonl.gz",
        18846,
        (),
        {
            "alt.atheism": 799,
            "comp.graphics": 973,
            "comp.os.ms-windows.misc": 985,
            "comp.sys.ibm.pc.hardware": 982,
            "comp.sys.mac.hardware": 963,
            "comp.windows.x": 988,
            "misc.forsale": 975,
            "rec.autos": 990,
            "rec.motorcycles": 996,
            "rec.sport.baseball": 994,
            "rec.sport.hockey": 999,
            "sci.crypt": 991,
            "sci.electronics": 984,
            "sci.med": 990,
            "sci.space": 987,
            "soc.religion.christian": 997,
            "talk.politics.guns": 910,
            "talk.politics.mideast": 940,
            "talk.politics.misc": 775,
            "talk.religion.misc": 628,
        },
        f"20 Newsgroups, version bydate (qwone.com/~jason/20Newsgroups){AS_LINES}"
        "id, split, label, text",
        "no formal licence, free for research",
        "b153c9a902b3d85fbe05c5eddd58e4f57ce34668dd28b8ae49938c53f86ec70a",
        note="downloaded by scikit-learn's fetch_20newsgroups; other order of rows than the file",
    ),
    "reuters": Entry(
        "reuters_21578.jsonl.gz",
        21578,
        (),
        {"topics": 11367, "places": 18798, "people": 1156, "orgs": 881, "exchanges": 482},
        f"Reuters-21578, Distribution 1.0, {UCI}{AS_LINES}"
        "id, lewissplit, topics, places, people, orgs, exchanges (lists), text",
        "copyright Reuters and Carnegie Group, free for research only",
        "6fc58f3b467c602009241caa891d4bc83ff15b6b14e96e07f8b6ce6f900cbf95",
    ),
    "webkb": Entry(
        "webkb_4universities.jsonl.gz",
        8282,
        (),
        {
            "course": 930,
            "department": 182,
            "faculty": 1124,
            "other": 3764,
            "project": 504,
            "staff": 137,
            "student": 1641,
        },
        "WebKB, The 4 Universities Data Set, CMU World Wide Knowledge Base (www.cs.cmu.edu/~webkb)"
        f"{AS_LINES}id, label, university, url, text",
        "no formal licence, the pages belong to their authors",
        "9225c418c0b08e545ba2fca75fefae98629d19cf075718ae5740bc34f1802eb9",
    ),
    "ldpa": Entry(
        "ldpa_coarse.csv.gz",
        164860,
        (5,),
        {
            "falling": 2973,
            "lying": 54480,
            "lying down": 6168,
            "on all fours": 5210,
            "sitting": 27244,
            "sitting down": 1706,
            "sitting on the ground": 11779,
            "standing up from lying": 18361,
            "standing up from sitting": 1381,
            "standing up from sitting on the ground": 2848,
            "walking": 32710,
        },
        f"Localization Data for Person Activity, {UCI}{AS_TABLE}; columns sequence, tag, x, y, z",
        CC_BY,
        "6f5f79d78b0c645eddfd9943819f34c3eb5b73c00613d472545fe7910ea3ab2e",
        note="coordinates truncated to one decimal, no time stamps: not the original, so results "
        "on it are not results on LDPA",
    ),
    "ldpa_full_precision": Entry(
        "ldpa_a01_a03_full_precision.csv.gz",
        16486,
        (6,),
        {
            "falling": 270,
            "lying": 6240,
            "lying down": 486,
            "on all fours": 738,
            "sitting": 3021,
            "sitting down": 169,
            "sitting on the ground": 1468,
            "standing up from lying": 1456,
            "standing up from sitting": 95,
            "standing up from sitting on the ground": 262,
            "walking": 2281,
        },
        f"the first tenth of Localization Data for Person Activity, {UCI}{AS_TABLE}; columns "
        "sequence, tag, timestamp, x, y, z",
        CC_BY,
        "0b1e98e6a1bb98e5401e4c4b121a961b2dccf737736835069f441c6ab775fe72",
        note="person A only",
    ),
    "pie": Entry(
        "pie_32x32.npz",
        11554,
        (32, 32),
        _people(68, 170, {38: 164}),
        f"CMU PIE, {CAI}; as NumPy archive with X (n, 32, 32), upright, and y (person)",
        RESEARCH,
        "7321f243403145e036096c71c633cbf0b8496272ed1489c6963a0a7ecbff931a",
        note="decoded from JPEG: mean absolute error 3.6 of 255 on the ten people compared",
    ),
    "pie_pose27": Entry(
        "pie_pose27_32x32.npz",
        2856,
        (32, 32),
        _people(68, 42),
        f"CMU PIE, the frontal pose, {CAI}; as NumPy archive with X (n, 32, 32) and y (person)",
        RESEARCH,
        "630eece9ccc962becdafaa89d9d733cc60145eeec72553379508b1d6fef6b2a0",
    ),
    "yaleb": Entry(
        "yaleb_32x32.npz",
        2414,
        (32, 32),
        _people(38, 64, {11: 60, 12: 59, 13: 60, 14: 63, 15: 62, 16: 63, 17: 63}),
        f"Extended Yale B, cropped, {CAI}; as NumPy archive with X (n, 32, 32) and y (person)",
        RESEARCH,
        "1d91a9824fddd86d7e610639e2311dc51982171d59403ca74cc175e2f2caf349",
    ),
    "yale": Entry(
        "yale_32x32.npz",
        165,
        (32, 32),
        _people(15, 11),
        f"Yale Face Database, {CAI}; as NumPy archive with X (n, 32, 32) and y (person)",
        RESEARCH,
        "a1b0a350cc58a390774277b07d8bf7d13535c54fa3dc0b141c9c2d81c34b50ca",
    ),
    "orl": Entry(
        "orl_32x32.npz",
        400,
        (32, 32),
        _people(40, 10),
        f"ORL (AT&T) faces, {CAI}; as NumPy archive with X (n, 32, 32) and y (person)",
        RESEARCH,
        "46a411b0c5f478962419b2a22f18a5385627f4132e0c3f83f776543bfe907f01",
    ),
}

DATASETS: Mapping[str, Entry] = MappingProxyType(_ENTRIES)
