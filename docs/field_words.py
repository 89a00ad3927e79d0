"""Words of the field with the page that a search for each must find first, and words we avoid."""

LEADS = {
    "novelty detection": "guide/one_class",
    "anomaly detection": "guide/one_class",
    "outlier": "guide/one_class",
    "outlier detection": "guide/one_class",
    "semi-supervised": "guide/positive_unlabeled",
    "PU learning": "guide/positive_unlabeled",
    "learning from label proportions": "guide/shares",
    "LLP": "guide/shares",
    "covariate shift": "guide/shares",
    "prior shift": "guide/shares",
    "domain adaptation": "guide/related_tasks",
    "transfer learning": "guide/related_tasks",
    "conformal p-values": "guide/false_alarms",
    "false discovery rate": "guide/false_alarms",
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
    r"\b(is|are) of the class\b": "belongs to the class",
    r"(?<!vector )(?<!virtual )(?<!the same )(?<!tensor )\bmachines?\b(?! learning)": "model",
    r"\bleft-out\b": "held-out",
    r"\bin spreads\b": "in standard deviations",
}
