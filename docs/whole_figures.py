"""What the gallery shows of an example: its figure when the last block has drawn on it.

sphinx-gallery by itself takes, and closes, a figure after every block, so that panels which are
drawn later stay empty.
"""

from sphinx_gallery.py_source_parser import split_code_and_text_blocks
from sphinx_gallery.scrapers import matplotlib_scraper


def whole_figures(block, block_vars, gallery_conf):
    """Return the text that shows the figures, after the last block; nothing before."""
    _, blocks = split_code_and_text_blocks(block_vars["src_file"])
    last = [each for each in blocks if each.type == "code"][-1]
    if block.lineno != last.lineno:
        return ""
    return matplotlib_scraper(block, block_vars, gallery_conf)
