"""From raw messages and pages to tf-idf rows."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Any

from papers.data._dataset import Dataset

HEADER = re.compile(r"\A.*?(?:\r?\n){2}", re.DOTALL)
INVISIBLE = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
TAG = re.compile(r"<[/!?a-z][^>]*>", re.IGNORECASE)
SPACE = re.compile(r"\s+")
WORD = r"(?u)\b[a-z][a-z]+\b"


def plain_texts(dataset: Dataset) -> list[str]:
    """Return the texts of a corpus as a reader sees them.

    Web pages lose the MIME header (up to the first empty line), comments, scripts and tags;
    entities are decoded. News messages lose their header, which names the group. Reuters texts
    are plain already.

    Parameters
    ----------
    dataset : Dataset
        A corpus from `load_dataset`: "webkb", "20newsgroups" or "reuters".

    Returns
    -------
    list of str
    """
    if dataset.name == "webkb":
        return [page_text(text) for text in dataset.data]
    if dataset.name == "20newsgroups":
        return [HEADER.sub("", text, count=1) for text in dataset.data]
    if dataset.name == "reuters":
        return list(dataset.data)
    raise ValueError(f"dataset must be webkb, 20newsgroups or reuters, got {dataset.name!r}")


def page_text(raw: str) -> str:
    r"""Return the words of a web page stored with its MIME header.

    Parameters
    ----------
    raw : str
        Header, empty line, HTML. A text without a header is taken as HTML.

    Returns
    -------
    str
        One line.

    Examples
    --------
    >>> from papers.data import page_text
    >>> page_text("Content-Type: text/html\r\n\r\n<b>Cats</b> &amp; <!-- no -->dogs")
    'Cats & dogs'
    """
    body = HEADER.sub("", raw, count=1) if re.match(r"[\w -]+:", raw) else raw
    visible = TAG.sub(" ", INVISIBLE.sub(" ", body))
    return SPACE.sub(" ", html.unescape(visible)).strip()


def tfidf(texts: Iterable[str], *, min_df: int = 3, max_features: int | None = None) -> Any:
    """Return texts as sparse rows of unit length.

    Words are runs of two or more letters in lower case, without scikit-learn's English stop words
    and those in fewer than `min_df` texts, weighted by 1 + log(count) and the inverse document
    frequency. Labels play no part.

    Parameters
    ----------
    texts : iterable of str
        The texts, all that will be compared.
    min_df : int, default=3
        Least number of texts a word must be in.
    max_features : int, default=None
        Keep only so many words, the most frequent. None keeps all.

    Returns
    -------
    CSR matrix, shape (n_texts, n_words)

    Examples
    --------
    >>> from papers.data import tfidf
    >>> tfidf(["red apple", "green apple", "green pear"], min_df=1).shape
    (3, 4)
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(
        min_df=min_df,
        max_features=max_features,
        sublinear_tf=True,
        stop_words="english",
        token_pattern=WORD,
    ).fit_transform(texts)


def binary_words(texts: Iterable[str], *, min_df: int = 3) -> Any:
    """Return which words texts have, as sparse rows of unit length.

    Words are runs of two or more letters, digits or underscores in lower case, also within tags and
    addresses, without those in fewer than `min_df` texts.

    Parameters
    ----------
    texts : iterable of str
        The texts as they are stored.
    min_df : int, default=3
        Least number of texts a word must be in.

    Returns
    -------
    CSR matrix, shape (n_texts, n_words)

    Examples
    --------
    >>> from papers.data import binary_words
    >>> binary_words(["<b>red</b> red 42", "<b>42"], min_df=1).toarray().round(2)
    array([[0.71, 0.71],
           [1.  , 0.  ]])
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    words = CountVectorizer(binary=True, min_df=min_df, dtype=float, token_pattern=r"(?u)\b\w\w+\b")
    return normalize(words.fit_transform(texts))
