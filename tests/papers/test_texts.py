"""Texts as a reader sees them."""

import numpy as np
import pytest
from scipy import sparse

from papers.data import Dataset, load_dataset, page_text, plain_texts, tfidf

PAGE = """MIME-Version: 1.0\r
Content-Type: text/html\r
\r
<HTML><head><title>CS 414</title><script>var secret = "<b>";</script></head>
<!-- hidden <b>comment</b> -->
<body>Systems &amp; Networks: 3 < 4 <a
href="x.html">Notes</a></body></html>
"""


def corpus(name, *texts):
    data = np.empty(len(texts), dtype=object)
    data[:] = texts
    return Dataset(name, data, np.array(["a"] * len(texts)))


def test_page():
    assert page_text(PAGE) == "CS 414 Systems & Networks: 3 < 4 Notes"


def test_page_without_header():
    assert page_text("<p>One\n\ntwo</p>") == "One two"


def test_message_loses_header():
    message = "From: someone\nNewsgroups: sci.med\n\nFirst line.\n\nSecond line."
    assert plain_texts(corpus("20newsgroups", message)) == ["First line.\n\nSecond line."]


def test_reuters_is_left_alone():
    assert plain_texts(corpus("reuters", "A: b\n\nc")) == ["A: b\n\nc"]


def test_other_sets_are_no_texts():
    with pytest.raises(ValueError, match="got 'iris'"):
        plain_texts(load_dataset("iris"))


def test_tfidf_by_hand():
    rows = tfidf(["apple apple pear", "apple fig9 THE", "pear"], min_df=1)
    assert sparse.issparse(rows)
    assert rows.format == "csr"
    assert rows.shape == (3, 2)  # apple, pear: no stop word, no "fig9"
    # Both words are in two of three texts: equal weights, and counts enter as 1 + log.
    weight = np.array([1 + np.log(2), 1.0])
    np.testing.assert_allclose(rows[[0]].toarray()[0], weight / np.linalg.norm(weight))


def test_rare_words_are_left_out():
    assert tfidf(["red apple", "red pear", "red fig"], min_df=3).shape == (3, 1)


def test_webkb(scarce_data):
    webkb = load_dataset("webkb", data_home=scarce_data)
    texts = plain_texts(webkb)
    assert len(texts) == 8282
    assert texts[0].startswith("CS414 Home Page CS414: Systems Programming")
    assert not any("Content-Type: text/html" in text for text in texts)
    assert sum("</a>" in text.lower() for text in texts) < 20  # tags left open
