"""Words of the field with the page that a search for each must find first, and words we avoid."""

LEADS = {
    "novelty detection": "guide/one_class",
    "anomaly detection": "guide/one_class",
    "outlier": "guide/one_class",
    "outlier detection": "guide/one_class",
    "semi-supervised": "guide/positive_unlabeled",
    "PU learning": "guide/positive_unlabeled",
    "learning from label proportions": "guide/label_proportions",
    "LLP": "guide/label_proportions",
    "covariate shift": "guide/label_proportions",
    "prior shift": "guide/label_proportions",
    "domain adaptation": "guide/related_tasks",
    "transfer learning": "guide/related_tasks",
    "conformal p-values": "guide/false_alarms",
    "false discovery rate": "guide/false_alarms",
    "drift detection": "guide/drift",
    "open-set classification": "guide/open_set",
    "incremental learning": "guide/updates",
    "kernel": "guide/your_own_machine",
    "SVM": "coming_from",
    "SMO": "theory/solver",
    "working set": "theory/solver",
    "out-of-core": "guide/when_the_data_do_not_fit",
}

# What a page or message says, in the words on the right. Names in the code are not prose.
AVOID = {
    r"\bfresh (rows?|samples?|labels?|positives?|ones?)\b": "new",
    r"\bheaps?\b": "pool, group",
    r"\b(can|cannot|could|may) be had\b": "is (not) attainable",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\bprices?\b": "cost",
    r"\b(is|are|be|not) of (the|one) class\b(?! of)": "belongs to the class",
    r"\bin the mean (of|over)\b": "on average over",
    r"\bseconds that pass\b": "wall-clock",
    r"\bone (value|line|label|unit|sum|factor|point|file|column|figure|table|page|answer) a "
    r"(row|group|sample|problem|column|class|paper|family|task)\b": "one ... per ...",
    r"\bwould rather\b": "is better with",
    r"\bheld the truth\b": "covered the truth",
    r"\bfound out by default\b|\bis found out\b|\bare found out\b": "detected",
    r"\bBeside other\b": "Compared with other",
    r"(?<!vector )(?<!virtual )(?<!the same )(?<!tensor )(?<!transfer learning )"
    r"\bmachines?\b(?! learning)": "model",
    r"\bleft-out\b": "held-out",
    r"\bin spreads\b": "in standard deviations",
    r"\btold\b|\bcannot tell\b|\bdo(es)? not tell\b": "reported, given, distinguished",
    r"\bat (its|their) word\b|\bkeeps? (its|their) word\b": "as given, holds",
    r"\bnobody (knows|can)\b": "it is unknown, no ... can",
    r"\b(is|are) (no|what is no) (estimator|sparse matrix|text table|domain|classes)\b": "is not a",
    r"\b(an?|the|this|true|given|predicted|held-out|no|from|'s|group) shares?\b(?! price)"
    r"|\bshares? (of|in|among|given|predicted|alone|to accept)\b": "proportion, fraction",
}
